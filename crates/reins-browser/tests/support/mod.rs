//! Acts as a pinned session does them: everything on this machine is the app.

#![allow(dead_code, reason = "each test binary uses a part")]

use reins_browser::{Acted, Browser, TabInfo};
use reins_core::{Action, StepId, TurnId};
use reins_guard::{
    CriticState, Decision, Downloads, Facts, Holding, Level, Moment, Policy, SiteRules, TabFacts,
    TurnFacts, evaluate,
};
use tokio_util::sync::CancellationToken;

/// Opens an address on this machine in a tab.
pub(crate) async fn open(browser: &Browser, tab: &TabInfo, url: &str) -> Acted {
    act(browser, tab, Action::Navigate { tab: tab.id.clone(), url: url.to_owned() }).await
}

/// Does one thing.
pub(crate) async fn act(browser: &Browser, tab: &TabInfo, action: Action) -> Acted {
    let app = ["http://127.0.0.1:*", "http://localhost:*"].map(|origin| origin.parse().unwrap());
    let facts = Facts {
        policy: &Policy::Pinned(app.to_vec()),
        level: Level::Auto,
        rules: &SiteRules::default(),
        turn: &TurnFacts::default(),
        tab: TabFacts::agents(reins_browser::document_origin(&tab.url)),
        published: None,
        downloads: Downloads::Allowed,
        user_message_visible: false,
        critic: CriticState::Missing,
        holding: Holding::Never,
        moment: Moment { turn: TurnId(1), step: StepId(1), stops: 0 },
    };
    match evaluate(action, &facts) {
        Decision::Allow(approved) => browser.act(approved, CancellationToken::new()).await,
        other => panic!("the guard does not allow it: {other:?}"),
    }
}
