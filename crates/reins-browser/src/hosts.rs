//! What the page script cannot see by itself: closed shadow roots, element internals and listeners.
//! They are fetched for just the elements concerned and handed to the script, as [`reins_page::needs`] tells.

use crate::frame::World;
use crate::page_call::{AskError, ask, ask_error, call, object, release};
use crate::protocol::page::{
    CallArgument, CallFunctionOn, CaptureDom, DiscardSearch, Evaluate, GetPartialAxTree,
    PerformSearch, ResolveNode,
};
use futures_util::future::join_all;
use reins_cdp::{Pending, Session};
use reins_core::NodeNumber;
use reins_page::needs;
use std::time::Duration;

/// The browser's count of everything in a session's documents, shadow trees included.
pub(crate) struct Counting {
    session: Session,
    pending: Pending<crate::protocol::page::Found>,
}

impl Counting {
    pub(crate) fn begin(session: &Session, deadline: Duration) -> Self {
        let pending = session.post(PerformSearch { query: "<" }, deadline);
        Self { session: session.clone(), pending }
    }

    /// The count; `None` when the page is busy or gone.
    pub(crate) async fn end(self) -> Option<u32> {
        let found = self.pending.await.ok()?;
        let discard = DiscardSearch { search_id: &found.search_id };
        drop(self.session.post(discard, Duration::from_secs(5)));
        Some(found.result_count)
    }
}

/// Fetches the closed roots of the document's suspects and hands them over. How many were new.
pub(crate) async fn adopt(world: &World, excess: Option<u32>, deadline: Duration) -> u64 {
    adopt_from(world, excess, deadline).await.unwrap_or(0)
}

async fn adopt_from(world: &World, excess: Option<u32>, deadline: Duration) -> Option<u64> {
    let session = &world.session;
    let excess = excess.map_or(-1, i64::from);
    let suspects = call("suspects", &excess);
    let listed = Evaluate {
        expression: &suspects,
        return_by_value: false,
        unique_context_id: Some(&world.unique),
        serialization_options: Some(needs::serialization()),
        ..Evaluate::default()
    };
    let listed = session.call_raw("Runtime.evaluate", listed, deadline).await.ok()?;
    let ids = needs::closed_roots(std::str::from_utf8(listed.bytes()).ok()?);
    hand_over(world, ids, needs::ADOPT, deadline).await
}

/// Calls a function of the page script with nodes that it cannot reach by itself.
async fn hand_over(
    world: &World,
    nodes: Vec<i64>,
    function: &str,
    deadline: Duration,
) -> Option<u64> {
    let session = &world.session;
    let resolved: Vec<_> = nodes
        .into_iter()
        .map(|backend_node_id| {
            let resolve = ResolveNode { backend_node_id, execution_context_id: world.number };
            session.post(resolve, deadline)
        })
        .collect();
    let objects: Vec<String> = join_all(resolved)
        .await
        .into_iter()
        .filter_map(|node| node.ok()?.object.object_id)
        .collect();
    let call = CallFunctionOn {
        function_declaration: function,
        // Any object of the same world will do; it says where the function runs.
        object_id: objects.first()?,
        arguments: objects
            .iter()
            .map(|object| CallArgument { object_id: Some(object), ..CallArgument::default() })
            .collect(),
        return_by_value: true,
    };
    let answer = session.run(call, deadline).await;
    for object in &objects {
        release(session, object);
    }
    answer.ok()?.result.value?.as_u64()
}

/// Which elements listen for clicks, in all frames of a session.
pub(crate) async fn listeners(session: &Session, deadline: Duration) -> Option<needs::Listeners> {
    let snapshot = CaptureDom { computed_styles: &[] };
    let answer = session.call_raw("DOMSnapshot.captureSnapshot", snapshot, deadline).await.ok()?;
    answer.parse().ok()
}

/// Hands over the elements of a frame that listen for clicks. How many were new.
pub(crate) async fn tell_listeners(world: &World, found: Vec<i64>, deadline: Duration) -> u64 {
    if found.is_empty() {
        let told = ask(world, "__reins.tellListeners()", false, deadline);
        return told.answer().await.unwrap_or(0);
    }
    hand_over(world, found, needs::TELL_LISTENERS, deadline).await.unwrap_or(0)
}

/// Roles and names that custom elements have by their internals, told to the script.
/// Whether anything was told.
pub(crate) async fn internals(
    world: &World,
    wanted: &[NodeNumber],
    deadline: Duration,
) -> Result<bool, AskError> {
    if wanted.is_empty() {
        return Ok(false);
    }
    let told = join_all(wanted.iter().map(|number| internal(world, *number, deadline))).await;
    let told = told.into_iter().collect::<Result<Vec<_>, _>>()?;
    let _: serde_json::Value =
        ask(world, &call("tellInternals", &told), false, deadline).answer().await?;
    Ok(told.iter().any(|(_, role, label)| !role.is_empty() || !label.is_empty()))
}

async fn internal(
    world: &World,
    number: NodeNumber,
    deadline: Duration,
) -> Result<(u32, String, String), AskError> {
    let mut told = (number.0, String::new(), String::new());
    let Some(object_id) = object(world, &call("node", &number.0), deadline).await? else {
        return Ok(told);
    };
    let tree = GetPartialAxTree { object_id: &object_id, fetch_relatives: false };
    let tree = world.session.run(tree, deadline).await;
    release(&world.session, &object_id);
    let tree = tree.map_err(|error| ask_error(error, deadline))?;
    let text = |value: Option<&crate::protocol::page::AxValue>| {
        value.and_then(|v| v.value.as_ref()?.as_str()).unwrap_or_default().to_owned()
    };
    if let Some(node) = tree.nodes.first() {
        told.1 = text(node.role.as_ref());
        // A name that is made of the content is computed from the content.
        let content = node.name.as_ref().and_then(|n| n.sources.as_ref()).is_some_and(|all| {
            all.iter().any(|s| s.r#type == "contents" && s.superseded != Some(true))
        });
        if !content {
            told.2 = text(node.name.as_ref());
        }
    }
    Ok(told)
}
