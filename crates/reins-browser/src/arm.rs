//! Arming: everything that watches a target is in place before its first script runs.

use crate::containment::{Containment, Records, Unheld};
use crate::protocol::inspect::LogEnable;
use crate::protocol::page::{
    AddBinding, AddScript, DomEnable, Evaluate, FetchEnable, GetFrameTree, InterceptFileChooser,
    NetworkEnable, PageEnable, RequestPattern, RunIfWaiting, RuntimeEnable, SetFocusEmulation,
};
use crate::protocol::target::auto_attach;
use crate::recording::Recording;
use crate::report::BINDING;
use crate::tab::{ARMING, Tab};
use reins_cdp::Session;
use std::sync::Arc;

/// Bodies of answers that Chromium keeps in each process of a tab, the oldest going first. One that is
/// larger is data that nobody reads as text.
const SOME_BODIES: NetworkEnable =
    NetworkEnable { max_total_buffer_size: 16 << 20, max_resource_buffer_size: 4 << 20 };

fn bodies(records: Records) -> NetworkEnable {
    match records {
        Records::Nothing => NetworkEnable::without_bodies(),
        Records::LogAndTraffic => SOME_BODIES,
    }
}

/// Takes from a window what sends and cannot be held. These are properties of its global object; nothing else
/// that a page gets leads to them.
const TAKE: &str = "for(const n of['WebTransport','RTCPeerConnection','webkitRTCPeerConnection'])delete globalThis[n]";

/// The same in a worker. One that waits for its start does not have it yet and gets it after that, unless its
/// place is taken for good.
const TAKE_FROM_WORKER: &str =
    "Object.defineProperty(globalThis,'WebTransport',{value:undefined});0";

/// In every document that the session will show, and in those that it shows, before their scripts run.
pub(crate) fn take_unheld(session: &Session, unheld: Unheld) {
    if unheld == Unheld::Taken {
        // No name: the page's own world.
        let script = AddScript { source: TAKE, world_name: "", run_immediately: true };
        drop(session.post(script, ARMING));
    }
}

/// In a worker that waits for its start.
pub(crate) fn take_unheld_from_worker(session: &Session, kind: &str, unheld: Unheld) {
    if unheld == Unheld::Taken && kind.ends_with("worker") {
        let expression = TAKE_FROM_WORKER;
        let take = Evaluate { expression, return_by_value: true, ..Evaluate::default() };
        drop(session.post(take, ARMING));
    }
}

/// Arms a tab and lets it run. Written in one go; the tab is `armed` once all of it is answered.
pub(crate) fn arm_tab(tab: &Arc<Tab>) {
    let session = &tab.session;
    let recording = tab.browser.upgrade().and_then(|browser| browser.recording());
    watch_frames(session, &tab.containment, recording.as_deref());
    let focus = SetFocusEmulation { enabled: true };
    // A background tab must behave as a visible one, since we never bring it to the front.
    drop(session.post(focus, ARMING));
    // The top level's requests come to the tab's own session, whichever frame starts them.
    drop(session.post(hold_documents(), ARMING));
    let tree = session.post(GetFrameTree {}, ARMING);
    let ran = session.post(RunIfWaiting {}, ARMING);
    let tab = tab.clone();
    tokio::spawn(async move {
        let tree = tree.await;
        if let Ok(answer) = tree {
            tab.state().take_tree(&answer.frame_tree, &tab.session);
        }
        if let Err(error) = ran.await {
            tracing::debug!(tab = %tab.id, %error, "a tab went away while it was armed");
        }
        tab.state().armed = true;
        tab.changed();
    });
}

/// Arms a frame in another process, or a worker, and lets it run.
pub(crate) fn arm_child(
    session: &Session,
    kind: &str,
    wide: bool,
    containment: &Containment,
    recording: Option<&Recording>,
) {
    if kind == "iframe" {
        watch_frames(session, containment, recording);
        drop(session.post(if wide { hold_everything() } else { hold_documents() }, ARMING));
    } else {
        let records = containment.records;
        take_unheld_from_worker(session, kind, containment.unheld);
        // Sockets of workers are seen only there.
        drop(session.post(bodies(records), ARMING));
        if records == Records::LogAndTraffic {
            drop(session.post(RuntimeEnable {}, ARMING));
            drop(session.post(LogEnable {}, ARMING));
        }
        drop(session.post(auto_attach(), ARMING));
    }
    drop(session.post(RunIfWaiting {}, ARMING));
}

fn watch_frames(session: &Session, containment: &Containment, recording: Option<&Recording>) {
    let records = containment.records;
    let script = AddScript {
        source: reins_page::SCRIPT,
        world_name: reins_page::WORLD,
        run_immediately: true,
    };
    drop(session.post(PageEnable {}, ARMING));
    // The order matters. Worlds that are made before script is enabled get no binding, and a window
    // that a page opened on its own site keeps its first world for the document it goes to.
    drop(session.post(RuntimeEnable {}, ARMING));
    let binding = AddBinding { name: BINDING, execution_context_name: reins_page::WORLD };
    drop(session.post(binding, ARMING));
    drop(session.post(script, ARMING));
    take_unheld(session, containment.unheld);
    drop(session.post(bodies(records), ARMING));
    if records == Records::LogAndTraffic {
        drop(session.post(LogEnable {}, ARMING));
    }
    // Needed by the count that finds closed shadow roots.
    drop(session.post(DomEnable {}, ARMING));
    drop(session.post(auto_attach(), ARMING));
    drop(session.post(InterceptFileChooser { enabled: true }, ARMING));
    if let Some(recording) = recording {
        recording.install(session, records == Records::LogAndTraffic);
    }
}

/// Documents wait for our word.
pub(crate) fn hold_documents() -> FetchEnable<'static> {
    let patterns = vec![RequestPattern { resource_type: Some("Document") }];
    FetchEnable { patterns, handle_auth_requests: true }
}

/// Every request waits for our word.
pub(crate) fn hold_everything() -> FetchEnable<'static> {
    let patterns = vec![RequestPattern { resource_type: None }];
    FetchEnable { patterns, handle_auth_requests: true }
}
