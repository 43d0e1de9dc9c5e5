//! The task of the browser itself: tabs come and go, downloads run.

use crate::arm::arm_tab;
use crate::browser::Inner;
use crate::containment::Popups;
use crate::downloads::{self, Saving};
use crate::event::BrowserEvent;
use crate::fence::{WindowVerdict, shown};
use crate::held::reads;
use crate::interception;
use crate::journal;
use crate::protocol::page::RequestPaused;
use crate::protocol::target::{
    AttachedToTarget, CloseTarget, DetachedFromTarget, DownloadProgress, DownloadWillBegin,
    TargetInfo, TargetInfoChanged,
};
use crate::recording_task;
use crate::tab::{ARMING, Tab};
use crate::tab_info::OpenedBy;
use crate::tab_task;
use crate::windows::{self, close, refuse_everything, refuse_request};
use crate::workers;
use reins_cdp::{Event, EventError, Events, Session};
use reins_core::TabId;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// The events of the browser's own session.
pub(crate) const METHODS: &[&str] = &[
    AttachedToTarget::METHOD,
    DetachedFromTarget::METHOD,
    TargetInfoChanged::METHOD,
    DownloadWillBegin::METHOD,
    DownloadProgress::METHOD,
    RequestPaused::METHOD,
];

/// Runs until the connection ends or nobody holds the browser any more.
pub(crate) async fn run(browser: Weak<Inner>, mut events: Events) {
    let mut saving = Saving::default();
    while let Some(event) = events.next().await {
        let Some(browser) = browser.upgrade() else { return };
        if let Err(error) = take(&browser, &event, &mut saving) {
            tracing::warn!(%error, "an event of the browser was skipped");
        }
    }
    let Some(browser) = browser.upgrade() else { return };
    let reason = browser
        .connection
        .close_reason()
        .map_or_else(|| "its events ended".to_owned(), |reason| reason.to_string());
    // Whatever ended the events: without them nothing of the browser is known any more.
    browser.connection.close();
    browser.outlet.finish(BrowserEvent::Gone { reason });
}

fn take(browser: &Arc<Inner>, event: &Event, saving: &mut Saving) -> Result<(), EventError> {
    match event.method() {
        AttachedToTarget::METHOD => attached(browser, event.parse()?),
        DetachedFromTarget::METHOD => {
            let gone: DetachedFromTarget = event.parse()?;
            browser.workers().remove(&gone.session_id);
            browser.closing().gone(&gone.session_id);
            if let Some(tab) = browser.remove(&gone.session_id) {
                workers::update(browser);
                browser.outlet.send(BrowserEvent::TabClosed { tab: tab.id.clone() });
            }
        }
        TargetInfoChanged::METHOD => {
            let TargetInfo { target_id, title, .. } =
                event.parse::<TargetInfoChanged>()?.target_info;
            if let Ok(tab) = browser.tab(&TabId::new(target_id)) {
                tab.state().title = title;
                tab.changed();
            }
        }
        RequestPaused::METHOD => windows::judge(browser, &event.parse()?),
        DownloadWillBegin::METHOD => saving.begin(browser, event.parse()?),
        DownloadProgress::METHOD => downloads::progress(browser, saving, event.parse()?),
        _ => {}
    }
    Ok(())
}

fn attached(browser: &Arc<Inner>, attached: AttachedToTarget) {
    let session = browser.connection.session(&attached.session_id);
    if attached.target_info.r#type != "page" {
        if attached.target_info.r#type == "service_worker"
            && browser.containment.refuses_service_workers()
        {
            // It waits and never runs (S-150).
            let id = &attached.target_info.target_id;
            drop(browser.root.post(CloseTarget { target_id: id }, ARMING));
            return;
        }
        // Service and shared workers: attached so that nothing runs unwatched.
        hold_worker(browser, &session);
        workers::attached(browser, attached);
        return;
    }
    let info = attached.target_info;
    let id = TabId::new(info.target_id.as_str());
    let opener = opener(browser, &info);
    if attached.waiting_for_debugger
        && let OpenedBy::Page(by) = &opener
        && browser.containment.popups == Popups::Refuse
    {
        match by.as_ref().and_then(|by| browser.tab(by).ok()) {
            Some(tab) => refuse_window(browser, &session, &info, &tab),
            None => close(browser, &session, &info, true),
        }
        return;
    }
    let window = match &opener {
        OpenedBy::Page(Some(by)) if attached.waiting_for_debugger => {
            browser.tab(by).ok().map(|by| {
                let verdict = by.state().judge_window();
                (verdict, by)
            })
        }
        _ => None,
    };
    if let Some((WindowVerdict::Refused, by)) = &window {
        refuse_window(browser, &session, &info, by);
        return;
    }
    let tab = Arc::new(Tab::new(
        id.clone(),
        opener.clone(),
        session.clone(),
        &info.url,
        browser.containment.clone(),
        browser.outlet.clone(),
        Arc::downgrade(browser),
    ));
    let blank = |url: &str| url.is_empty() || url == "about:blank";
    let asked = match &opener {
        OpenedBy::Page(Some(by)) => {
            browser.tab(by).ok().and_then(|by| by.state().window_asked.take())
        }
        _ => None,
    };
    {
        let mut state = tab.state();
        state.title = info.title;
        // What it opened before it was watched nobody knows.
        state.held.channel = !attached.waiting_for_debugger;
        state.expects = attached.waiting_for_debugger
            && (!blank(&info.url) || asked.is_some_and(|url| !blank(&url)));
    }
    if let Some((verdict, by)) = window {
        if let WindowVerdict::Expected(hold) = verdict {
            tab.state().hold_window(hold);
        }
        by.relate(&tab);
    }
    tokio::spawn(tab_task::run(tab.clone(), session.tree_events(tab_task::METHODS)));
    journal::start(&tab);
    if let Some(recording) = browser.recording() {
        recording_task::start(&tab, &recording);
    }
    arm_tab(&tab);
    browser.add(tab);
    let by = match opener {
        OpenedBy::Page(by) => by,
        OpenedBy::Person | OpenedBy::Agent => None,
    };
    if let Some(opener) = by.as_ref().and_then(|by| browser.tab(by).ok()) {
        opener.state().tell_opened(id.clone());
        opener.changed();
    }
    browser.outlet.send(BrowserEvent::TabOpened { tab: id, opener: by });
}

/// A worker that comes up while what a page sends is held may have been made for sending in its place:
/// what it sends cannot be asked about, so it is refused.
fn hold_worker(browser: &Inner, session: &Session) {
    let Some(tab) = browser.all_tabs().into_iter().find(|tab| tab.state().fence.holds_any()) else {
        return;
    };
    let mut requests = session.events(&[RequestPaused::METHOD]);
    drop(session.post(refuse_everything(), ARMING));
    let session = session.clone();
    tokio::spawn(async move {
        while let Some(event) = requests.next().await {
            let Ok(paused) = event.parse::<RequestPaused>() else { continue };
            if reads(&paused.request.method) {
                interception::go_on(&session, &paused.request_id);
                continue;
            }
            let what = format!(
                "a worker of this page tried to send something to {}; refused",
                shown(&paused.request.url)
            );
            refuse_request(&session, &event);
            tab.state().tell_refused(what);
            tab.changed();
        }
    });
}

/// A window that shows nothing and never will.
fn refuse_window(browser: &Inner, session: &Session, info: &TargetInfo, by: &Tab) {
    let mut state = by.state();
    let asked = state.window_asked.take();
    let empty = asked.as_deref().unwrap_or(&info.url);
    close(browser, session, info, !["", "about:blank"].contains(&empty));
    let what = asked.filter(|url| !url.is_empty()).unwrap_or_else(|| info.url.clone());
    let what = if what.is_empty() { "an empty page".to_owned() } else { shown(&what) };
    state.tell_refused(format!("this page tried to open a new window for {what}; refused"));
    drop(state);
    by.changed();
}

/// Who opened a tab. A link that opens one without an opener is told by the act under way.
fn opener(browser: &Inner, info: &TargetInfo) -> OpenedBy {
    if let Some(opener) = &info.opener_id {
        return OpenedBy::Page(Some(TabId::new(opener.as_str())));
    }
    if browser.creating.load(Ordering::Relaxed) > 0 {
        return OpenedBy::Agent;
    }
    let mut acting =
        browser.all_tabs().into_iter().filter(|tab| tab.acting.available_permits() == 0);
    match (acting.next(), acting.next()) {
        (Some(only), None) => OpenedBy::Page(Some(only.id.clone())),
        (Some(_), Some(_)) => OpenedBy::Page(None),
        (None, _) => browser.first.clone(),
    }
}
