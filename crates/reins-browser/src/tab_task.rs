//! The task of a tab: one event after the other into the state, and what has to be done at once.

use crate::arm::{arm_child, hold_documents, hold_everything};
use crate::containment::TopLevel;
use crate::event::BrowserEvent;
use crate::fence::{DocumentRequest, Verdict, shown};
use crate::held::{self, keep};
use crate::journal;
use crate::markup;
use crate::owners;
use crate::protocol::page as wire;
use crate::protocol::target::{AttachedToTarget, DetachedFromTarget};
use crate::reach::ResourceRequest;
use crate::report::{BINDING, Said};
use crate::sockets::{self, Reached};
use crate::tab::{ARMING, Tab};
use crate::tab_info::{Dialog, DialogKind, OpenedBy};
use crate::tab_state::{FileChooser, TabState};
use crate::traffic::Refused;
use reins_cdp::{Event, EventError, Events, Session};
use reins_core::{FrameId, Origin};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

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
    let mut children = Children::new(&tab);
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

/// Sessions of a tab, by their id on the wire.
struct Children<'a> {
    tab: &'a Arc<Tab>,
    sessions: HashMap<String, Session>,
    /// Those among them of workers, whose requests are their documents' too.
    workers: HashSet<String>,
}

impl<'a> Children<'a> {
    fn new(tab: &'a Arc<Tab>) -> Self {
        let own = tab.session.id().unwrap_or_default().to_owned();
        Self { tab, sessions: HashMap::from([(own, tab.session.clone())]), workers: HashSet::new() }
    }

    fn take(&mut self, event: &Event) {
        let Some(session) = event.session().and_then(|id| self.sessions.get(id)).cloned() else {
            return;
        };
        if let Err(error) = self.apply(event, &session) {
            tracing::warn!(%error, "an event was skipped");
        }
    }

    fn apply(&mut self, event: &Event, session: &Session) -> Result<(), EventError> {
        let tab = self.tab;
        match event.method() {
            AttachedToTarget::METHOD => self.attached(event.parse()?),
            DetachedFromTarget::METHOD => {
                let gone: DetachedFromTarget = event.parse()?;
                self.sessions.remove(&gone.session_id);
                self.workers.remove(&gone.session_id);
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
            wire::RequestPaused::METHOD => self.judge(event.parse()?, session),
            wire::AuthRequired::METHOD => self.no_password(&event.parse()?, session),
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
                if session.id().is_some_and(|id| self.workers.contains(id)) => {}
            _ => note(&mut tab.state(), event, session, tab)?,
        }
        Ok(())
    }

    fn attached(&mut self, attached: AttachedToTarget) {
        let child = self.tab.connection.session(&attached.session_id);
        // What a touched document makes is held as the document is.
        let wide = self.tab.state().starts_wide(&attached.session_id);
        let worker = attached.target_info.r#type != "iframe";
        self.tab.state().children.insert(attached.session_id.clone(), (child.clone(), worker));
        self.tab.dress(&child, worker);
        // Workers of a document go by its rules.
        if wide
            && !worker
            && let Some(sites) = self.tab.state().limit_new(&child)
        {
            drop(child.post(sockets::limit(Reached::Sockets, Some(&sites)), ARMING));
        }
        let records = self.tab.containment.records;
        arm_child(&child, &attached.target_info.r#type, wide, records);
        if worker {
            self.workers.insert(attached.session_id.clone());
        }
        self.sessions.insert(attached.session_id, child);
    }

    fn said(&self, event: &Event, session: &Session) -> Result<(), EventError> {
        let called: wire::BindingCalled = event.parse()?;
        let Ok(said) = serde_json::from_str::<Said>(&called.payload) else { return Ok(()) };
        if called.name != BINDING {
            return Ok(());
        }
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
        if person.is_some() {
            state.release(&frame);
        }
        drop(state);
        if person.is_some() {
            drop(held::fail_all(self.tab, "you took over the page"));
            narrow(self.tab);
            sockets::update(self.tab);
        }
        if let Some(kind) = person {
            self.tab.emit(BrowserEvent::PersonInput { tab: self.tab.id.clone(), kind });
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

    /// A site asks for a name and a password by HTTP. Chromium's own window for them would hold the page
    /// up, and only the person can answer it: where the agent works it does not come (W-625).
    fn no_password(&self, asked: &wire::AuthRequired, session: &Session) {
        let tab = self.tab;
        let mut state = tab.state();
        let persons = state.opened_by == OpenedBy::Person || state.is_persons();
        if !persons {
            let wire::AuthChallenge { origin, realm } = &asked.auth_challenge;
            state.tell_refused(format!(
                "{} asks for a name and a password (HTTP authentication, \"{}\"); it was given none",
                shown(origin),
                shown(realm)
            ));
        }
        drop(state);
        let response = if persons { "Default" } else { "CancelAuth" };
        let answer = wire::ContinueWithAuth {
            request_id: &asked.request_id,
            auth_challenge_response: wire::AuthAnswer { response },
        };
        drop(session.post(answer, ARMING));
        tab.changed();
    }

    /// Holds the top level to its app, and documents to what was approved. Frames inside an app are
    /// its own affair.
    fn judge(&self, paused: wire::RequestPaused, session: &Session) {
        let tab = self.tab;
        if markup::is_answer(&paused) {
            markup::read(tab, session, paused);
            return;
        }
        let url = paused.request.url.as_str();
        let frame = FrameId::new(paused.frame_id.as_str());
        let main = paused.frame_id == tab.id.as_str();
        let document = paused.resource_type == "Document";
        let outside = match &tab.containment.top_level {
            TopLevel::Only(patterns) if main && document => Origin::parse(url)
                .map_or(true, |origin| !patterns.iter().any(|p| p.matches(&origin))),
            TopLevel::Any | TopLevel::Only(_) => false,
        };
        if outside {
            let what = format!("{} is outside the app this browser is pinned to", shown(url));
            note_refused(tab, session, &paused, Some(&what));
            tab.state().tell_refused(what);
            refuse(session, &paused.request_id, "BlockedByClient");
            return;
        }
        let method = paused.request.method.as_str();
        let network = paused.network_id.as_deref();
        let redirected = paused.redirected_request_id.is_some();
        let request = DocumentRequest { frame: &frame, url, method, document: network, redirected };
        let (verdict, persons, heir) = if document {
            let related = tab.related_hold();
            let mut state = tab.state();
            let verdict = state.judge_document(request, related.as_ref());
            let alone = main && related.is_none() && !redirected;
            let heir = main && network.is_some_and(|id| state.fence.leads_to_heir(id));
            (verdict, alone && state.may_be_persons(network), heir)
        } else {
            let id = session.id().unwrap_or_default();
            let request = ResourceRequest { session: id, frame: &frame, network, url, method };
            (tab.state().judge_resource(request), false, false)
        };
        match verdict {
            Verdict::Pass => {
                let id = session.id().unwrap_or_default();
                let waits = tab.state().must_wait(id, &paused, document.then_some(request));
                match waits {
                    Some(hold) => keep(tab, session, paused, &hold),
                    None if heir => lead_on(tab, session, paused, persons),
                    None => go_on(session, &paused.request_id),
                }
            }
            Verdict::Refuse(what) if persons => {
                let (tab, session) = (tab.clone(), session.clone());
                tokio::spawn(async move {
                    if by_person(&tab, &paused.request.url).await {
                        tab.state().released_to(&paused);
                        go_on(&session, &paused.request_id);
                        return;
                    }
                    note_refused(&tab, &session, &paused, what.as_deref());
                    told(&tab, what);
                    refuse(&session, &paused.request_id, "Aborted");
                });
            }
            Verdict::Refuse(what) => {
                note_refused(tab, session, &paused, what.as_deref());
                told(tab, what);
                // The page stays as it is: an aborted navigation shows no error page.
                let reason = if document { "Aborted" } else { "BlockedByClient" };
                refuse(session, &paused.request_id, reason);
            }
        }
    }
}

fn told(tab: &Tab, what: Option<String>) {
    if let Some(what) = what {
        tab.state().tell_refused(what);
        tab.changed();
    }
}

/// For who inspects the page. `None`: it was told before.
fn note_refused(tab: &Tab, session: &Session, paused: &wire::RequestPaused, why: Option<&str>) {
    let request = Refused {
        network: paused.network_id.as_deref(),
        method: &paused.request.method,
        url: &paused.request.url,
        kind: &paused.resource_type,
        why: why.unwrap_or("this page is held to the sites that were approved; refused"),
    };
    journal::refused(tab, session, &request);
}

pub(crate) fn go_on(session: &Session, request: &str) {
    let go_on = wire::ContinueRequest { request_id: request, ..Default::default() };
    drop(session.post(go_on, ARMING));
}

fn refuse(session: &Session, request: &str, error_reason: &str) {
    drop(session.post(wire::FailRequest { request_id: request, error_reason }, ARMING));
}

/// Lets a held document's tab go on to the next one, which inherits what it is held to, unless the person
/// leads it there.
fn lead_on(tab: &Arc<Tab>, session: &Session, paused: wire::RequestPaused, persons: bool) {
    let (tab, session) = (tab.clone(), session.clone());
    tokio::spawn(async move {
        if persons && by_person(&tab, &paused.request.url).await {
            tab.state().released_to(&paused);
            go_on(&session, &paused.request_id);
            return;
        }
        if tab.state().is_widened(session.id().unwrap_or_default()) {
            drop(session.post(wire::BypassServiceWorker { bypass: true }, ARMING));
            drop(session.post(hold_everything(), ARMING));
        }
        // What its server names there, the next page knows.
        let request_id = &paused.request_id;
        let read = wire::ContinueRequest { request_id, intercept_response: Some(true) };
        drop(session.post(read, ARMING));
    });
}

/// How long the word that a page asked for a navigation may take longer than the navigation itself. Its
/// process says so first, but by another pipe. It cannot be asked: while a navigation is under way
/// Chromium holds back all commands for the page.
const WORD: Duration = Duration::from_millis(500);

/// Whether no page asked for the main frame's navigation under way.
async fn by_person(tab: &Tab, url: &str) -> bool {
    let asked = |state: &mut TabState| state.page_asked(url).then_some(());
    tab.until(tokio::time::Instant::now() + WORD, asked).await.is_none()
}

/// Lets sessions hold documents only, when nothing touched is shown any more.
/// What waits would be let go by that, so it is answered first.
pub(crate) fn narrow(tab: &Tab) {
    let sessions = {
        let mut state = tab.state();
        if state.held.any() {
            return;
        }
        state.narrow()
    };
    for session in sessions {
        drop(session.post(hold_documents(), ARMING));
        drop(session.post(wire::BypassServiceWorker { bypass: false }, ARMING));
    }
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
            state.chooser = Some(FileChooser {
                session: session.clone(),
                node: e.backend_node_id,
                several: e.mode == "selectMultiple",
                since,
            });
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

/// The world a binding was called in.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct CalledIn {
    execution_context_id: i64,
}
