//! Durable state in one embedded SQLite file: receipts, site rules, kept secrets, model
//! providers, and the conversations of the agent.
//!
//! Several Reins processes may share the file. Each has one writer thread with a bounded queue;
//! callers await its answers and hold no lock. A receipt is on the disk before
//! [`Store::begin`] returns, so an act is never sent unrecorded.

mod conversations;
mod database;
mod error;
mod key;
mod owner;
mod providers;
mod receipt;
mod rules;
mod seal;
mod secrets;
mod writer;

pub use conversations::{
    ConversationDraft, ConversationName, ConversationNameError, Phase, StoredConversation,
    StoredEntry,
};
pub use error::StoreError;
pub use key::{KeyPlace, Keyring, key_place};
pub use providers::{ProviderName, ProviderNameError, StoredProvider};
pub use receipt::{OpenReceipt, Receipt, ReceiptDraft, ReceiptEnd};
pub use rules::StoredRule;
pub use secrets::StoredSecret;
pub use writer::{Durability, Store};
