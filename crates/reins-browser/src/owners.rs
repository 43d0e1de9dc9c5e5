//! Which iframe element a frame sits in, as the page script of the parent numbers it.

use crate::frame::World;
use crate::page_call::release;
use crate::protocol::page::{CallFunctionOn, GetFrameOwner, ResolveNode};
use crate::tab::Tab;
use futures_util::future::join_all;
use reins_core::{DocumentId, FrameId, NodeNumber};
use std::sync::Arc;
use std::time::Duration;

/// Gives the element's number to whoever holds it; called on the element.
const NUMBER: &str = "function(){return __reins.number(this)}";

/// Finds a frame's element ahead of time, so that reading and acting need not wait for it.
pub(crate) fn prefetch(tab: &Arc<Tab>, frame: &FrameId) {
    if *frame == FrameId::new(tab.id.as_str()) || tab.state().owner(frame).is_some() {
        return;
    }
    let (tab, frame) = (tab.clone(), frame.clone());
    tokio::spawn(async move { find(&tab, &frame, PREFETCH).await });
}

/// Nobody waits for it; when the parent is busy, it is found when needed.
const PREFETCH: Duration = Duration::from_secs(5);

/// The numbers of all frames that have none yet, found at once.
pub(crate) async fn find_all(tab: &Tab, deadline: Duration) {
    let missing: Vec<FrameId> = {
        let state = tab.state();
        let all = state.frames.values().filter(|f| f.parent.is_some());
        all.filter(|f| state.owner(&f.id).is_none()).map(|f| f.id.clone()).collect()
    };
    join_all(missing.iter().map(|frame| find(tab, frame, deadline))).await;
}

/// The number of the element that a frame sits in. `None`: it cannot be told now.
pub(crate) async fn find(tab: &Tab, frame: &FrameId, deadline: Duration) -> Option<NodeNumber> {
    let (world, document) = {
        let state = tab.state();
        if let Some(known) = state.owner(frame) {
            return Some(known);
        }
        let parent = state.frames.get(frame)?.parent.clone()?;
        let document = state.frames.get(&parent)?.document.clone()?;
        (state.worlds.get(&parent)?.clone(), document)
    };
    let number = resolve(&world, frame, deadline).await?;
    note(tab, frame, document, number);
    Some(number)
}

async fn resolve(world: &World, frame: &FrameId, deadline: Duration) -> Option<NodeNumber> {
    let owner = GetFrameOwner { frame_id: frame.as_str() };
    let owner = world.session.run(owner, deadline).await.ok()?;
    let node =
        ResolveNode { backend_node_id: owner.backend_node_id, execution_context_id: world.number };
    let object_id = world.session.run(node, deadline).await.ok()?.object.object_id?;
    let number = CallFunctionOn {
        function_declaration: NUMBER,
        object_id: &object_id,
        arguments: Vec::new(),
        return_by_value: true,
    };
    let called = world.session.run(number, deadline).await;
    release(&world.session, &object_id);
    let number = called.ok()?.result.value?.as_u64()?;
    u32::try_from(number).ok().map(NodeNumber)
}

fn note(tab: &Tab, frame: &FrameId, parent: DocumentId, number: NodeNumber) {
    if let Some(frame) = tab.state().frames.get_mut(frame) {
        frame.owner = Some((parent, number));
    }
}
