//! Which element of a tab has the focus, through all frames.

use crate::error::BrowserError;
use crate::owners;
use crate::page_call::ask;
use crate::tab::Tab;
use reins_core::{NodeKey, NodeNumber};
use std::time::Duration;

/// A page that takes longer is busy.
const ASKING: Duration = Duration::from_secs(3);

/// The focused element. A focused frame without a focused element in it counts as none, but names
/// the frame: keys go there.
pub(crate) async fn focused(tab: &Tab) -> Result<Option<NodeKey>, BrowserError> {
    let mut frame = tab.state().main.clone();
    let mut found = None;
    loop {
        let Some((world, document)) = tab.world(&frame) else { return Ok(found) };
        let number: u32 = ask(&world, "__reins.focused()", false, ASKING).answer().await?;
        let key = NodeKey {
            tab: tab.id.clone(),
            frame: frame.clone(),
            document,
            node: NodeNumber(number),
        };
        found = Some(key);
        if number == 0 {
            return Ok(found);
        }
        owners::find_all(tab, ASKING).await;
        let inner = {
            let state = tab.state();
            state
                .frames
                .values()
                .filter(|f| f.parent.as_ref() == Some(&frame))
                .find(|f| state.owner(&f.id) == Some(NodeNumber(number)))
                .map(|f| f.id.clone())
        };
        match inner {
            Some(inner) => frame = inner,
            None => return Ok(found),
        }
    }
}
