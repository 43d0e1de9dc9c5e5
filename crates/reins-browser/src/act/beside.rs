//! Before input reaches a document: other tabs that it can speak to are held as well, so that none of them
//! sends for it what it may not send itself.

use super::widen::widen;
use crate::browser::Browser;
use crate::fence::Hold;
use crate::tab::Tab;
use futures_util::future::join_all;
use reins_core::DocumentId;
use std::sync::Arc;

/// Holds the documents of other tabs that the touched ones can speak to. Ends when it is in force.
pub(crate) async fn hold(browser: &Browser, tab: &Arc<Tab>, hold: &Hold, touched: &[DocumentId]) {
    if touched.is_empty() || !hold.reaches {
        return;
    }
    let (sites, hold) = {
        let state = tab.state();
        (state.sites_of(touched), hold.clone().sending(state.common_sends(touched)))
    };
    let others = browser.inner.all_tabs().into_iter().filter(|other| other.id != tab.id);
    let widened = others.filter_map(|other| {
        let related = tab.is_related(&other);
        let documents = other.state().stand_beside(&hold, &sites, related);
        (!documents.is_empty()).then_some(async move { widen(&other, &documents).await })
    });
    join_all(widened.collect::<Vec<_>>()).await;
}
