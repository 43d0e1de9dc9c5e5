//! One browser, one site, one tab; and the same way from a ref to an act that control goes.

#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use reins_browser::{Acted, Browser, BrowserEvent, CaptureRequest, Containment, Effects, TabInfo};
use reins_cdp::Connection;
use reins_cdp::testing::{Chromium, chrome};
use reins_core::{
    Action, DocumentOrigin, Gesture, Modifiers, MouseButton, NodeKey, Outcome, Secret, StepId,
    TabId, TargetRecord, TurnId, TypeMode,
};
use reins_guard::{
    CriticState, Decision, Downloads, Facts, Holding, Level, Moment, Policy, SiteRules, TabFacts,
    TurnFacts, evaluate,
};
use reins_page::{PublishOptions, RefRegistry, assemble};
pub(crate) use reins_testing::{Page, Site};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub(crate) const LONG: Duration = Duration::from_secs(30);

/// What a test has in hand.
pub(crate) struct World {
    pub(crate) browser: Browser,
    pub(crate) site: Site,
    pub(crate) tab: TabId,
    refs: std::sync::Mutex<RefRegistry>,
    pub(crate) chromium: Chromium,
}

impl World {
    pub(crate) async fn start<'a>(pages: impl IntoIterator<Item = (&'a str, Page)>) -> Self {
        Self::contained(pages, Containment::default()).await
    }

    pub(crate) async fn contained<'a>(
        pages: impl IntoIterator<Item = (&'a str, Page)>,
        containment: Containment,
    ) -> Self {
        let site = Site::start(pages).await.unwrap();
        let program = chrome().expect("a Chromium: set CHROME to its path");
        let chromium = Chromium::start(&program).await.unwrap();
        let connection = Connection::websocket(&chromium.url(), LONG).await.unwrap();
        let browser = Browser::adopt(connection, containment).await.unwrap();
        let tab = browser.first_tab(LONG).await.unwrap().id;
        Self { browser, site, tab, refs: std::sync::Mutex::default(), chromium }
    }

    /// Acts as a pinned session does: everything on this machine is the app.
    pub(crate) async fn act(&self, action: Action) -> Acted {
        self.act_until(action, CancellationToken::new()).await
    }

    pub(crate) async fn act_until(&self, action: Action, cancel: CancellationToken) -> Acted {
        let app = ["http://127.0.0.1:*", "http://localhost:*"].map(|o| o.parse().unwrap());
        let policy = Policy::Pinned(app.to_vec());
        let rules = SiteRules::default();
        let turn = TurnFacts::default();
        let dialog = action.tab().and_then(|tab| self.browser.tab_info(tab).ok()?.dialog);
        let url = self.info().map_or(String::new(), |info| info.url);
        let mut tab = TabFacts::agents(
            action.target().map_or_else(|| reins_browser::document_origin(&url), |t| t.top.clone()),
        );
        tab.dialog = dialog.map(|dialog| reins_guard::DialogFacts {
            kind: match dialog.kind {
                reins_browser::DialogKind::Alert => reins_guard::DialogKind::Alert,
                reins_browser::DialogKind::Confirm => reins_guard::DialogKind::Confirm,
                reins_browser::DialogKind::Prompt => reins_guard::DialogKind::Prompt,
                reins_browser::DialogKind::BeforeUnload => reins_guard::DialogKind::BeforeUnload,
            },
            message: dialog.message,
        });
        let facts = Facts {
            policy: &policy,
            level: Level::Auto,
            rules: &rules,
            turn: &turn,
            tab,
            published: None,
            downloads: Downloads::Allowed,
            user_message_visible: false,
            critic: CriticState::Missing,
            holding: Holding::Never,
            moment: Moment { turn: TurnId(1), step: StepId(1), stops: 0 },
        };
        match evaluate(action, &facts) {
            Decision::Allow(approved) => self.browser.act(approved, cancel).await,
            other => panic!("the guard does not allow it: {other:?}"),
        }
    }

    pub(crate) fn info(&self) -> Option<TabInfo> {
        self.browser.tab_info(&self.tab).ok()
    }

    pub(crate) async fn go(&self, path: &str) -> Acted {
        self.open(&self.site.url(path)).await
    }

    pub(crate) async fn open(&self, url: &str) -> Acted {
        self.act(Action::Navigate { tab: self.tab.clone(), url: url.to_owned() }).await
    }

    /// The page as a model would see it.
    pub(crate) async fn text(&self) -> String {
        self.text_of(&self.tab).await
    }

    pub(crate) async fn text_of(&self, tab: &TabId) -> String {
        self.text_within(tab, LONG).await
    }

    /// The same; what does not answer within `limit` is left out and said.
    pub(crate) async fn text_within(&self, tab: &TabId, limit: Duration) -> String {
        let request = CaptureRequest { budget: 200_000, full: true, known: Vec::new() };
        let read = self.browser.capture(tab, &request, limit).await.unwrap();
        let snapshot =
            assemble(tab.clone(), read.info.url, read.info.title, read.frames, read.notes);
        let options = PublishOptions { full: true, hard_bytes: 4 << 20, ..Default::default() };
        self.refs.lock().unwrap().publish(&snapshot, &options).text
    }

    /// The element whose line holds `"name"`, or `role "name"`.
    pub(crate) async fn find(&self, name: &str) -> NodeKey {
        self.find_in(&self.tab, name).await
    }

    pub(crate) async fn find_in(&self, tab: &TabId, name: &str) -> NodeKey {
        let text = self.text_of(tab).await;
        let (role, name) = name.split_once(':').unwrap_or(("", name));
        let wanted =
            if role.is_empty() { format!("\"{name}\"") } else { format!("{role} \"{name}\"") };
        let mut refs = text.match_indices(&wanted).filter_map(|(at, _)| {
            let line = text[at..].lines().next()?;
            Some(line.split_once("[ref=")?.1.split_once(']')?.0.to_owned())
        });
        let r = refs.next().unwrap_or_else(|| panic!("no {wanted} in:\n{text}"));
        let refs = self.refs.lock().unwrap();
        refs.lookup(r.parse().unwrap()).expect("a published ref").key.clone()
    }

    pub(crate) async fn record(&self, name: &str) -> TargetRecord {
        let key = self.find(name).await;
        self.browser.record(&key).await.unwrap()
    }

    pub(crate) async fn click(&self, name: &str) -> Acted {
        let target = self.record(name).await;
        self.act(click(target)).await
    }

    pub(crate) async fn fill(&self, name: &str, text: &str) -> Acted {
        let target = self.record(name).await;
        self.act(fill(target, text)).await
    }

    pub(crate) async fn press(&self, chord: &str) -> Acted {
        let target = self.browser.focused(&self.tab).await.unwrap();
        let chord = chord.parse().unwrap();
        self.act(Action::Press { tab: self.tab.clone(), target, chord }).await
    }

    pub(crate) async fn hit(&self, key: &str) -> bool {
        self.site.wait_hit(key, Duration::from_secs(5)).await
    }

    /// Evaluates in the page's own world, through a connection of the test's own.
    pub(crate) async fn eval(&self, expression: &str) -> serde_json::Value {
        let connection = Connection::websocket(&self.chromium.url(), LONG).await.unwrap();
        let params = serde_json::json!({"targetId": self.tab.as_str(), "flatten": true});
        let attached: serde_json::Value =
            connection.root().call("Target.attachToTarget", params, LONG).await.unwrap();
        let session = connection.session(attached["sessionId"].as_str().unwrap());
        let params = serde_json::json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let value: serde_json::Value =
            session.call("Runtime.evaluate", params, LONG).await.unwrap();
        value["result"]["value"].clone()
    }

    /// The person clicks into the page, and Reins has noticed.
    pub(crate) async fn person_clicks(&self) {
        let mut events = self.browser.events();
        let (_connection, person) = self.stranger().await;
        for kind in ["mousePressed", "mouseReleased"] {
            let event = serde_json::json!({"type": kind, "x": 5, "y": 5, "button": "left", "clickCount": 1});
            let _: serde_json::Value =
                person.call("Input.dispatchMouseEvent", event, LONG).await.unwrap();
        }
        let noticed = async {
            while !matches!(events.next().await, Some(BrowserEvent::PersonInput { .. })) {}
        };
        tokio::time::timeout(LONG, noticed).await.expect("what the person did is noticed");
    }

    /// A second connection, for input that Reins did not announce.
    pub(crate) async fn stranger(&self) -> (Connection, reins_cdp::Session) {
        let connection = Connection::websocket(&self.chromium.url(), LONG).await.unwrap();
        let params = serde_json::json!({"targetId": self.tab.as_str(), "flatten": true});
        let attached: serde_json::Value =
            connection.root().call("Target.attachToTarget", params, LONG).await.unwrap();
        let session = connection.session(attached["sessionId"].as_str().unwrap());
        (connection, session)
    }
}

pub(crate) fn click(target: TargetRecord) -> Action {
    click_with(target, MouseButton::Left, 1, Modifiers::default())
}

pub(crate) fn click_with(
    target: TargetRecord,
    button: MouseButton,
    count: u8,
    modifiers: Modifiers,
) -> Action {
    Action::Pointer { target, gesture: Gesture::Click { button, count, modifiers } }
}

pub(crate) fn fill(target: TargetRecord, text: &str) -> Action {
    Action::Type {
        target,
        text: Secret::new(text.to_owned()),
        kept: None,
        mode: TypeMode::Replace,
        keys: false,
        enter: false,
    }
}

/// The act was done.
#[track_caller]
pub(crate) fn done(acted: &Acted) -> &Effects {
    assert!(matches!(acted.outcome, Outcome::Completed), "{acted:?}");
    &acted.effects
}

/// The act was refused with this code.
#[track_caller]
pub(crate) fn refused(acted: &Acted, code: &str) {
    match &acted.outcome {
        Outcome::Refused(refusal) => assert_eq!(refusal.code, code, "{acted:?}"),
        other => panic!("not refused: {other:?} {:?}", acted.effects),
    }
}

/// The origin of a page of the site.
pub(crate) fn origin(url: &str) -> DocumentOrigin {
    reins_browser::document_origin(url)
}
