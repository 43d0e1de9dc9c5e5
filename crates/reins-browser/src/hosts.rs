//! Closed shadow roots: the protocol can reach them where page script cannot. They are handed to the
//! page script once per document, and it looks into them like into open ones.

use crate::frame::World;
use crate::page_call::{object, release};
use crate::protocol::page::{
    CallArgument, CallFunctionOn, DescribeNode, GetProperties, ResolveNode,
};
use futures_util::future::join_all;
use std::time::Duration;

/// Hands over each root by its own host.
const ADOPT: &str = "function(...roots){let n=0;for(const r of roots){\
    if(__reins.adoptRoot(__reins.number(r.host),r))n++}return n}";

/// At most this many hosts are asked for in one capture; the next one asks for more.
const HOSTS: usize = 400;

/// Fetches the closed roots of all elements that may have one. Whether any was found.
pub(crate) async fn adopt(world: &World, deadline: Duration) -> bool {
    let Ok(Some(list)) = object(world, "__reins.suspects()", deadline).await else { return false };
    let adopted = adopt_from(world, &list, deadline).await;
    release(&world.session, &list);
    adopted.unwrap_or(0) > 0
}

async fn adopt_from(world: &World, list: &str, deadline: Duration) -> Option<u64> {
    let session = &world.session;
    let properties = GetProperties { object_id: list, own_properties: true };
    let elements = session.run(properties, deadline).await.ok()?.result;
    let hosts = elements.iter().filter(|p| p.name.parse::<usize>().is_ok());
    let described: Vec<_> = hosts
        .filter_map(|p| p.value.as_ref()?.object_id.as_deref())
        .take(HOSTS)
        .map(|object_id| session.post(DescribeNode { object_id, depth: 0, pierce: true }, deadline))
        .collect();
    let resolved: Vec<_> = join_all(described)
        .await
        .into_iter()
        .filter_map(|d| d.ok()?.node.shadow_roots)
        .flatten()
        .filter(|root| root.shadow_root_type.as_deref() == Some("closed"))
        .map(|root| {
            let resolve = ResolveNode {
                backend_node_id: root.backend_node_id,
                execution_context_id: world.number,
            };
            session.post(resolve, deadline)
        })
        .collect();
    let roots: Vec<String> =
        join_all(resolved).await.into_iter().filter_map(|r| r.ok()?.object.object_id).collect();
    let first = roots.first()?;
    let adopt = CallFunctionOn {
        function_declaration: ADOPT,
        object_id: first,
        arguments: roots
            .iter()
            .map(|root| CallArgument { object_id: Some(root), ..CallArgument::default() })
            .collect(),
        return_by_value: true,
    };
    let adopted = session.run(adopt, deadline).await.ok()?.result.value?.as_u64();
    for root in &roots {
        release(session, root);
    }
    adopted
}
