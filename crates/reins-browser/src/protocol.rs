//! The protocol names this room uses, held against the installed browser by a test.

pub(crate) mod input;
pub(crate) mod inspect;
pub(crate) mod page;
pub(crate) mod storage;
pub(crate) mod target;

use reins_cdp::wire::Named;

/// Every name declared here.
pub fn names() -> impl Iterator<Item = &'static [Named]> {
    [target::NAMES, page::NAMES, input::NAMES, inspect::NAMES, storage::NAMES].into_iter()
}
