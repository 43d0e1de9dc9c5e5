//! Durable state in one embedded SQLite file: receipts, site rules and kept secrets.
//!
//! Several Reins processes may share the file. Each has one writer thread with a bounded queue;
//! callers await its answers and hold no lock. A receipt is on the disk before
//! [`Store::begin`] returns, so an act is never sent unrecorded.

mod database;
mod error;
mod owner;
mod receipt;
mod rules;
mod secrets;
mod writer;

pub use error::StoreError;
pub use receipt::{OpenReceipt, Receipt, ReceiptDraft, ReceiptEnd};
pub use rules::StoredRule;
pub use secrets::StoredSecret;
pub use writer::Store;
