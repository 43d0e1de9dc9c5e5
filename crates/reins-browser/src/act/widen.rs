//! Before input reaches a document: what it knows is asked, and all its requests wait for our word.

use super::step::ASKING;
use crate::arm::hold_everything;
use crate::page_call::ask;
use crate::protocol::page::BypassServiceWorker;
use crate::reach::Widening;
use crate::sockets;
use crate::tab::Tab;
use futures_util::future::{join, join_all};
use reins_core::DocumentId;
use std::sync::Arc;

/// What the markup of a document names for itself to load from. In our world a page cannot bend this.
const NAMED: &str = "(()=>{const s=new Set();for(const e of document.querySelectorAll(\
    'script[src],link[href],img[src],iframe[src],source[src],video[src],audio[src],embed[src],object[data]'\
    )){const u=e.src||e.href||e.data;if(typeof u==='string'&&u.startsWith('http'))try{s.add(new URL(u).origin)}\
    catch{}if(s.size>500)break}return[...s]})()";

/// Widens what is held for documents that are about to be touched. Ends when it is in force. Costs
/// something only the first time in a document.
pub(crate) async fn widen(tab: &Arc<Tab>, documents: &[DocumentId]) {
    if documents.is_empty() {
        return;
    }
    let limited = tab.browser.upgrade().is_some_and(|browser| browser.limits_workers());
    let Widening { sessions, around, unknown } = tab.state().widen(documents, limited);
    for session in &around {
        drop(session.post(BypassServiceWorker { bypass: true }, ASKING));
    }
    let held: Vec<_> =
        sessions.iter().map(|session| session.post(hold_everything(), ASKING)).collect();
    let asked = unknown.iter().filter_map(|frame| {
        let (world, document) = tab.world(frame)?;
        Some(async move {
            let named = ask(&world, NAMED, false, ASKING).answer::<Vec<String>>().await;
            (document, named.unwrap_or_default())
        })
    });
    let (_, named) = join(join_all(held), join_all(asked)).await;
    {
        let mut state = tab.state();
        for (document, named) in named {
            state.survey(&document, &named);
        }
    }
    sockets::update(tab);
}
