//! The task of a tab: one event after the other into the state, and what has to be done at once.

use crate::arm::arm_child;
use crate::event::BrowserEvent;
use crate::held;
use crate::interception::{self, narrow};
use crate::owners;
use crate::protocol::page as wire;
use crate::protocol::target::{AttachedToTarget, DetachedFromTarget};
use crate::report::{BINDING, Said};
use crate::sockets::{self, Reached};
use crate::tab::{ARMING, Tab};
use crate::tab_info::{Dialog, DialogKind};
use crate::tab_state::{FileChooser, TabState};
use reins_cdp::{Event, EventError, Events, Session};
use reins_core::FrameId;
use std::sync::Arc;
use std::time::Instant;

/// The events a tab lives by, its frames' and workers' included.
pub(crate) const METHODS: &[&str] = &[
    AttachedToTarget::METHOD,
    DetachedFromTarget::METHOD,
    wire::FrameAttached::METHOD,
    wire::FrameDetached::METHOD,
    wire::FrameNavigated::METHOD,
    wire::NavigatedWithin::METHOD,
    wire::StartedNavigating::METHOD,
    wire::RequestedNavigation::METHOD,
    wire::SocketCreated::METHOD,
    wire::TransportCreated::METHOD,
    wire::ScheduledNavigation::METHOD,
    wire::ClearedNavigation::METHOD,
    wire::StartedLoading::METHOD,
    wire::StoppedLoading::METHOD,
    PARSED,
    LOADED,
    wire::DialogOpening::METHOD,
    wire::DialogClosed::METHOD,
    wire::FileChooserOpened::METHOD,
    wire::WindowOpen::METHOD,
    wire::ContextCreated::METHOD,
    wire::ContextDestroyed::METHOD,
    wire::ContextsCleared::METHOD,
    wire::BindingCalled::METHOD,
    wire::RequestWillBeSent::METHOD,
    wire::LoadingFinished::METHOD,
    wire::LoadingFailed::METHOD,
    wire::RequestPaused::METHOD,
    wire::AuthRequired::METHOD,
    wire::TargetCrashed::METHOD,
];

const PARSED: &str = "Page.domContentEventFired";
const LOADED: &str = "Page.loadEventFired";

/// Runs until the tab's session ends.
pub(crate) async fn run(tab: Arc<Tab>, mut events: Events) {
    let children = Children { tab: &tab };
    while let Some(event) = events.next().await {
        children.take(&event);
        // What is here already is one change for those who wait.
        while let Some(event) = events.try_next() {
            children.take(&event);
        }
        tab.changed();
    }
    {
        let mut state = tab.state();
        state.closed = true;
        state.tick();
    }
    tab.changed();
}

/// Carries out what the events of a tab's sessions ask for.
struct Children<'a> {
    tab: &'a Arc<Tab>,
}

impl Children<'_> {
    fn take(&self, event: &Event) {
        let Some(session) = event.session().and_then(|id| self.tab.session_of(id)) else { return };
        if let Err(error) = self.apply(event, &session) {
            tracing::warn!(%error, "an event was skipped");
        }
    }

    fn apply(&self, event: &Event, session: &Session) -> Result<(), EventError> {
        let tab = self.tab;
        match event.method() {
            AttachedToTarget::METHOD => self.attached(event.parse()?),
            DetachedFromTarget::METHOD => {
                let gone: DetachedFromTarget = event.parse()?;
                tab.state().session_gone(&gone.session_id);
                sockets::moved(tab);
            }
            wire::FrameNavigated::METHOD => {
                let navigated: wire::FrameNavigated = event.parse()?;
                let kind: NavigationKind = event.parse()?;
                let restored = kind.r#type == "BackForwardCacheRestore";
                let mut state = tab.state();
                state.frame_navigated(&navigated.frame, session, restored);
                if restored {
                    state.restored(&FrameId::new(navigated.frame.id.as_str()));
                }
                drop(state);
                sockets::moved(tab);
            }
            wire::ContextCreated::METHOD => {
                let created: wire::ContextCreated = event.parse()?;
                if created.context.name == reins_page::WORLD {
                    let frame = FrameId::new(created.context.aux_data.frame_id.as_str());
                    tab.state().world_created(&created.context, session);
                    owners::prefetch(tab, &frame);
                    sockets::shows(tab, &frame, false);
                }
            }
            wire::BindingCalled::METHOD => self.said(event, session)?,
            wire::DialogOpening::METHOD => self.dialog(event.parse()?, session),
            wire::RequestPaused::METHOD => interception::judge(tab, event.parse()?, session),
            wire::AuthRequired::METHOD => interception::no_password(tab, &event.parse()?, session),
            wire::TargetCrashed::METHOD => {
                tab.state().renderer_crashed(session);
                if session.id() == tab.session.id() {
                    tab.emit(BrowserEvent::TabCrashed { tab: tab.id.clone() });
                }
            }
            wire::DialogClosed::METHOD => {
                tab.state().dialog = None;
                tab.emit(BrowserEvent::DialogClosed { tab: tab.id.clone() });
            }
            // The last words of the document before have been said.
            PARSED if session.id() == tab.session.id() => {
                note(&mut tab.state(), event, session, tab)?;
                narrow(tab);
                let main = tab.state().main.clone();
                sockets::shows(tab, &main, true);
            }
            // They are told of the document as well, and not waited for.
            wire::RequestWillBeSent::METHOD
            | wire::LoadingFinished::METHOD
            | wire::LoadingFailed::METHOD
                if session.id().is_some_and(|id| tab.state().is_worker(id)) => {}
            _ => note(&mut tab.state(), event, session, tab)?,
        }
        Ok(())
    }

    fn attached(&self, attached: AttachedToTarget) {
        let child = self.tab.connection.session(&attached.session_id);
        if attached.target_info.r#type == "service_worker"
            && self.tab.containment.refuses_service_workers()
        {
            // The browser's own task ends it, before it runs.
            return;
        }
        // What a touched document makes is held as the document is.
        let wide = self.tab.state().starts_wide(&attached.session_id);
        let worker = attached.target_info.r#type != "iframe";
        self.tab.state().children.insert(attached.session_id, (child.clone(), worker));
        self.tab.dress(&child, worker);
        // Workers of a document go by its rules.
        if wide
            && !worker
            && let Some(sites) = self.tab.state().limit_new(&child)
        {
            drop(child.post(sockets::limit(Reached::Sockets, Some(&sites)), ARMING));
        }
        let recording = self.tab.browser.upgrade().and_then(|browser| browser.recording());
        let kind = &attached.target_info.r#type;
        arm_child(&child, kind, wide, &self.tab.containment, recording.as_deref());
    }

    fn said(&self, event: &Event, session: &Session) -> Result<(), EventError> {
        // A recorder's payload is megabytes and not for this task.
        if event.parse::<CalledWhat<'_>>()?.name != BINDING {
            return Ok(());
        }
        let called: wire::BindingCalled = event.parse()?;
        let Ok(said) = serde_json::from_str::<Said>(&called.payload) else { return Ok(()) };
        let called: CalledIn = event.parse()?;
        let mut state = self.tab.state();
        let frame = state
            .worlds
            .iter()
            .find(|(_, w)| {
                w.number == called.execution_context_id && w.session.id() == session.id()
            })
            .map(|(frame, _)| frame.clone());
        let Some(frame) = frame else { return Ok(()) };
        state.tick();
        let person = state.report.note(&frame, said);
        drop(state);
        if let Some(kind) = person {
            person_acted(self.tab, &frame, kind);
        }
        Ok(())
    }

    fn dialog(&self, opening: wire::DialogOpening, session: &Session) {
        let tab = self.tab;
        let mut state = tab.state();
        let now = state.tick();
        let kind = match opening.r#type.as_str() {
            "confirm" => DialogKind::Confirm,
            "prompt" => DialogKind::Prompt,
            "beforeunload" => DialogKind::BeforeUnload,
            _ => DialogKind::Alert,
        };
        if kind == DialogKind::BeforeUnload
            && state.may_leave.take().is_some_and(|until| Instant::now() < until)
        {
            // Our own navigation: the permission is used up by this (W-622).
            state.left = Some(now);
            drop(state);
            let leave = wire::HandleDialog { accept: true, ..Default::default() };
            drop(session.post(leave, ARMING));
            return;
        }
        let dialog = Dialog {
            kind,
            message: opening.message,
            default: opening.default_prompt.unwrap_or_default(),
            url: opening.url,
        };
        state.dialog = Some((dialog.clone(), session.clone()));
        drop(state);
        tab.emit(BrowserEvent::DialogOpened { tab: tab.id.clone(), dialog });
    }
}

/// The person's own input reached a frame: it is theirs again, and nothing of it waits any more.
pub(crate) fn person_acted(tab: &Arc<Tab>, frame: &FrameId, kind: String) {
    tab.state().release(frame);
    drop(held::fail_all(tab, "you took over the page"));
    narrow(tab);
    sockets::update(tab);
    tab.emit(BrowserEvent::PersonInput { tab: tab.id.clone(), kind });
}

/// Events that only change the state.
fn note(
    state: &mut TabState,
    event: &Event,
    session: &Session,
    tab: &Tab,
) -> Result<(), EventError> {
    let own = session.id() == tab.session.id();
    let id = || session.id().unwrap_or_default();
    match event.method() {
        wire::FrameAttached::METHOD => {
            let e: wire::FrameAttached = event.parse()?;
            let (frame, parent) = (FrameId::new(e.frame_id), FrameId::new(e.parent_frame_id));
            state.frame_attached(frame, parent, session);
        }
        wire::FrameDetached::METHOD => {
            let e: wire::FrameDetached = event.parse()?;
            state.frame_detached(&FrameId::new(e.frame_id), e.reason.as_deref(), session);
        }
        wire::NavigatedWithin::METHOD => {
            let e: wire::NavigatedWithin = event.parse()?;
            state.moved_within(&e.frame_id, e.url);
        }
        wire::StartedNavigating::METHOD => state.started_navigating(event.parse()?),
        wire::ScheduledNavigation::METHOD => {
            let e: wire::ScheduledNavigation = event.parse()?;
            state.scheduled(&e.frame_id, true);
            state.asked_to_navigate(&FrameId::new(e.frame_id), &e.url, session.id());
        }
        wire::ClearedNavigation::METHOD => {
            state.scheduled(&event.parse::<wire::ClearedNavigation>()?.frame_id, false);
        }
        wire::StartedLoading::METHOD => {
            state.loading(&event.parse::<wire::StartedLoading>()?.frame_id, true);
        }
        wire::StoppedLoading::METHOD => {
            state.loading(&event.parse::<wire::StoppedLoading>()?.frame_id, false);
        }
        PARSED if own => {
            state.tick();
            state.parsed = true;
        }
        wire::RequestedNavigation::METHOD => {
            let e: wire::RequestedNavigation = event.parse()?;
            state.asked_to_navigate(&FrameId::new(e.frame_id), &e.url, session.id());
        }
        wire::SocketCreated::METHOD => {
            state.socket_opened(session.id(), &event.parse::<wire::SocketCreated>()?.url);
        }
        wire::TransportCreated::METHOD => {
            state.transport_opened(session.id(), &event.parse::<wire::TransportCreated>()?.url);
        }
        LOADED if own => {
            state.tick();
            state.loaded = true;
        }
        wire::FileChooserOpened::METHOD => {
            let e: wire::FileChooserOpened = event.parse()?;
            let since = state.tick();
            let several = e.mode == "selectMultiple";
            state.chooser = Some(FileChooser {
                session: session.clone(),
                node: e.backend_node_id,
                several,
                since,
            });
            tab.emit(BrowserEvent::FilesWanted { tab: tab.id.clone(), several });
        }
        wire::WindowOpen::METHOD => {
            state.window_asked = Some(event.parse::<wire::WindowOpen>()?.url);
        }
        wire::ContextDestroyed::METHOD => {
            let e: wire::ContextDestroyed = event.parse()?;
            state.worlds_gone(session, Some(&e.execution_context_unique_id));
        }
        wire::ContextsCleared::METHOD => state.worlds_gone(session, None),
        wire::RequestWillBeSent::METHOD => state.request_began(id(), event.parse()?),
        wire::LoadingFinished::METHOD => {
            state.request_ended(id(), event.parse::<wire::LoadingFinished>()?.request_id);
        }
        wire::LoadingFailed::METHOD => {
            state.request_ended(id(), event.parse::<wire::LoadingFailed>()?.request_id);
        }
        _ => {}
    }
    Ok(())
}

/// `type` of `Page.frameNavigated`, which older browsers leave out.
#[derive(serde::Deserialize)]
struct NavigationKind {
    #[serde(default)]
    r#type: String,
}

/// Which binding was called.
#[derive(serde::Deserialize)]
struct CalledWhat<'a> {
    name: &'a str,
}

/// The world a binding was called in.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct CalledIn {
    execution_context_id: i64,
}
