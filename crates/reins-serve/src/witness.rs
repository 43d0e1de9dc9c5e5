//! What goes along with every browser of the daemon: its recording and its live view.

use crate::clock::{Clock, stamp};
use crate::error::ServeError;
use crate::events::{EventLog, Step};
use crate::keeper::{self, Keeper};
use crate::live::{
    self, EndCause, Live, LiveEvent, LiveOptions, NoPassage, Passage, Ticket, TicketRequest,
};
use crate::session::MAIN;
use axum::extract::{FromRequestParts, Request, WebSocketUpgrade};
use axum::response::{IntoResponse, Response};
use reins_browser::Browser;
use reins_control::{Control, Tool};
use reins_core::{SandboxId, Secret, SessionId, TabId, TenantId};
use reins_record::{
    Action, CutShort, Kind, Kinds, Library, Options, RecordingAbout, RecordingId, Takeover,
    masked_arguments,
};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A browser that has just started, before its first page.
pub(crate) struct Begun {
    /// Its session.
    pub(crate) session: SessionId,
    /// Where it belongs.
    pub(crate) sandbox: SandboxId,
    /// Whose it is.
    pub(crate) tenant: TenantId,
    /// The app's address.
    pub(crate) app_url: String,
    /// The street to it.
    pub(crate) control: Control,
    /// The browser itself.
    pub(crate) browser: Browser,
    /// The secret of this start: what signs tickets derives from it (S-085).
    pub(crate) token: Secret<String>,
    /// Which kinds are recorded, as the start asked for.
    pub(crate) record: Value,
    /// Whether it has a window, at which someone may act by hand.
    pub(crate) window: bool,
    /// Values of `Host` that are the daemon's own (S-088).
    pub(crate) hosts: Vec<String>,
    /// Origins whose pages may open a live view (S-088).
    pub(crate) origins: Vec<String>,
    /// The live view's address, if one is offered; none where the daemon has no port.
    pub(crate) live_url: Option<String>,
    /// The events of its sandbox.
    pub(crate) events: Arc<EventLog>,
}

/// Gives each browser its recording and its live view.
#[derive(Debug)]
pub(crate) struct Witnesses {
    /// Where recordings are kept.
    pub(crate) library: Library,
    /// Tells the time.
    pub(crate) clock: Arc<dyn Clock>,
}

impl Witnesses {
    /// Begins to go along with a browser.
    pub(crate) async fn begin(&self, begun: Begun) -> Result<Witness, ServeError> {
        let keeper = self.keeper(&begun).await?.map(Arc::new);
        let live = begun.live_url.clone().map(|url| (self.live(&begun, keeper.clone()), url));
        Ok(Witness { control: begun.control, clock: self.clock.clone(), keeper, live })
    }

    /// Begins the recording that the start asked for.
    async fn keeper(&self, begun: &Begun) -> Result<Option<Keeper>, ServeError> {
        let kinds = kinds(&begun.record);
        if !(kinds.rrweb || kinds.frames || kinds.console) {
            return Ok(None);
        }
        let id: RecordingId = begun.session.as_str().parse().map_err(not_recorded)?;
        let about = RecordingAbout {
            tenant: begun.tenant.to_string(),
            sandbox_id: begun.sandbox.to_string(),
            app_url: begun.app_url.clone(),
            started_at_ms: crate::clock::millis(self.clock.now()),
            kinds,
        };
        let (events, recording) = (begun.events.clone(), id.to_string());
        let cut = move |cut: &CutShort| {
            let about =
                json!({"recording_id": recording, "status": "cut_short", "reason": cut.reason});
            events.push("recording", &about);
        };
        let options = Options {
            secrets: vec![begun.token.clone()],
            on_cut: Some(Box::new(cut)),
            ..Options::default()
        };
        let opened = keeper::open(&self.library, id.clone(), about, options).await;
        let recorder = opened.map_err(not_recorded)?;
        Keeper::begin(id, recorder, &begun.browser, kinds).map(Some).map_err(not_recorded)
    }

    fn live(&self, begun: &Begun, keeper: Option<Arc<Keeper>>) -> Live {
        let clock = self.clock.clone();
        Live::start(LiveOptions {
            session: begun.session.to_string(),
            token: begun.token.clone(),
            source: Arc::new(begun.browser.clone()),
            origins: begun.origins.clone(),
            hosts: begun.hosts.clone(),
            window: begun.window,
            wait: None,
            told: told(begun.events.clone(), begun.control.clone(), keeper),
            clock: Arc::new(move || clock.now()),
        })
    }
}

/// Which kinds a start asks for. Pictures cost the machine all the time, so they are taken only on request.
fn kinds(wish: &Value) -> Kinds {
    let wants =
        |kind: &str, otherwise| wish.get(kind).and_then(Value::as_bool).unwrap_or(otherwise);
    Kinds {
        rrweb: wants("rrweb", true),
        frames: wants("frames", false),
        console: wants("console", true),
    }
}

fn not_recorded(error: impl std::fmt::Display) -> ServeError {
    ServeError::impossible(
        "not_recorded",
        format!(
            "the browser was not started, because it could not be recorded: {error}. Mend that, or start it with every kind under `record` switched off"
        ),
    )
}

/// Tells takeovers to who follows the sandbox, and to the recording (S-105).
fn told(events: Arc<EventLog>, control: Control, keeper: Option<Arc<Keeper>>) -> live::Told {
    Arc::new(move |event| {
        let (at, state, who, why) = match event {
            LiveEvent::TakeoverStarted { at, who } => (at, "started", who, None),
            LiveEvent::TakeoverEnded { at, who, cause } => (at, "ended", who, Some(cause)),
        };
        let why = why.map(EndCause::word);
        let about = json!({"state": state, "source": LiveEvent::SOURCE, "who": who, "why": why, "at": stamp(at)});
        events.push("takeover", &about);
        if why.is_some() {
            // The person's own input has paused the turn; they are done.
            control.resume(&SessionId::new(MAIN));
        }
        if let Some(keeper) = &keeper {
            let takeover = match why {
                None => Takeover::TakeoverStarted { who },
                Some(why) => Takeover::TakeoverEnded { who, why: why.to_owned() },
            };
            keeper.note(at, tab_of(&control), Kind::Takeover(takeover));
        }
    })
}

/// The tab that the agent works in, once it works in one.
fn tab(control: &Control) -> Option<TabId> {
    control.current_tab(&SessionId::new(MAIN))
}

/// The same for a recording, where what happens in no tab has an empty one.
fn tab_of(control: &Control) -> TabId {
    tab(control).unwrap_or_else(|| TabId::new(String::new()))
}

/// Goes along with one browser.
#[derive(Debug)]
pub(crate) struct Witness {
    control: Control,
    clock: Arc<dyn Clock>,
    keeper: Option<Arc<Keeper>>,
    live: Option<(Live, String)>,
}

impl Witness {
    /// The id of what is recorded of it.
    pub(crate) fn recording_id(&self) -> Option<String> {
        self.keeper.as_ref().map(|keeper| keeper.id().to_string())
    }

    /// Where it can be watched.
    pub(crate) fn live_url(&self) -> Option<String> {
        self.live.as_ref().map(|(_, url)| url.clone())
    }

    /// A ticket for the live view and its address; `None` where there is none.
    pub(crate) fn ticket(&self, request: &TicketRequest) -> Option<(Ticket, String)> {
        self.live.as_ref().map(|(live, url)| (live.issue(request), url.clone()))
    }

    /// Answers an upgrade to the live view; `None` where there is none. Where the request comes from is checked there: pages
    /// of more origins than the daemon's own may watch (S-088), and the ticket is the first message.
    pub(crate) async fn connect(&self, request: Request) -> Option<Response> {
        let (live, _) = self.live.as_ref()?;
        let (mut parts, _) = request.into_parts();
        Some(match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
            Ok(upgrade) => live.serve(upgrade, &parts.headers, &parts.uri),
            Err(rejection) => rejection.into_response(),
        })
    }

    /// Waits until a changing call may go ahead; the person cannot take over while the passage lives.
    pub(crate) async fn pass(
        &self,
        tool: &'static Tool,
        cancel: &CancellationToken,
    ) -> Result<Option<Passage>, NoPassage> {
        match &self.live {
            Some((live, _)) => live.gate().pass(tool.name, cancel).await.map(Some),
            None => Ok(None),
        }
    }

    /// A step began or ended. The arguments are as the agent gave them: typed values are in them.
    pub(crate) fn step(&self, step: &Step, arguments: &Value) {
        if let (Some((live, _)), Some(current)) = (&self.live, tab(&self.control)) {
            live.follow(&current);
        }
        let Some(keeper) = &self.keeper else { return };
        let action = Action {
            id: step.id.to_string(),
            tool: step.tool.clone(),
            label: step.label.clone(),
            outcome: step.outcome.clone(),
            arguments: masked_arguments(arguments),
            ms: step.ms,
            error: step.error.clone(),
        };
        keeper.note(self.clock.now(), tab_of(&self.control), Kind::Action(action));
    }

    /// The browser ends, for this reason. Waited for, within the drain.
    pub(crate) async fn end(&self, reason: &str) {
        // The live view first: what it tells of a takeover's end belongs to the recording.
        if let Some((live, _)) = &self.live {
            live.stop().await;
        }
        if let Some(keeper) = &self.keeper {
            keeper.end(reason, self.clock.now()).await;
        }
    }
}
