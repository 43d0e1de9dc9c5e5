//! What can go wrong with a model, and what to do about it.

use crate::price::Cost;
use std::time::Duration;
use thiserror::Error;

/// A failure of a provider. Each message says what happened and what to do next; none holds a key.
#[derive(Debug, Error)]
pub enum ModelError {
    /// The address may not be used.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// Nothing answered.
    #[error(
        "no model server answers at {address}; start it or check the address and your connection"
    )]
    Unreachable {
        /// Where.
        address: String,
        /// The transport's own words, for the log.
        #[source]
        source: Option<TransportError>,
    },
    /// The provider does not take the key.
    #[error(
        "{provider} refuses the key ({status}): {said}; check the key and what it may be used for"
    )]
    WrongKey {
        /// Whose key.
        provider: String,
        /// The HTTP status.
        status: u16,
        /// What the server said.
        said: String,
    },
    /// A provider that needs a key was used without.
    #[error("{provider} needs a key; set {variable}, or keep one with `reins providers add {id}`")]
    NoKey {
        /// Which provider.
        provider: String,
        /// Its name for commands.
        id: String,
        /// The environment variable it is read from.
        variable: String,
    },
    /// The key holds what no key holds, so it was not sent.
    #[error(
        "the key for {provider} holds a space, a line break or another sign that no key has; set it again"
    )]
    UnusableKey {
        /// Whose key.
        provider: String,
    },
    /// Something answered, but no model server of this format.
    #[error("{address} is no such model server ({what}); check the address and its path")]
    WrongAddress {
        /// Where.
        address: String,
        /// What was seen.
        what: String,
    },
    /// The server wants the request sent elsewhere. Never followed: the key would go along.
    #[error("{address} redirects to {to}; use that address if you trust it")]
    Redirected {
        /// Where we asked.
        address: String,
        /// Where it points, without query.
        to: String,
    },
    /// The server does not have this model.
    #[error("there is no model '{model}' at {address}: {said}; choose one that it lists")]
    NoSuchModel {
        /// The model.
        model: String,
        /// The server.
        address: String,
        /// What the server said.
        said: String,
    },
    /// The conversation is longer than the model reads.
    #[error(
        "the conversation is too long for this model: {said}; start a new one or choose a model with a larger window"
    )]
    ContextTooLong {
        /// What the server said.
        said: String,
    },
    /// Too many requests, even after waiting.
    #[error("{provider} is limiting requests: {said}; wait{} and try again", after(.retry_after))]
    RateLimited {
        /// Which provider.
        provider: String,
        /// The wait it asks for.
        retry_after: Option<Duration>,
        /// What it said.
        said: String,
    },
    /// The account is empty.
    #[error("{provider} says that the account has no credit left: {said}")]
    OutOfCredit {
        /// Which provider.
        provider: String,
        /// What it said.
        said: String,
    },
    /// The server failed, even after trying again.
    #[error("the model server failed{}: {said}; try again later or use another model", number(*.status))]
    ServerFailed {
        /// The HTTP status; 0 if it came within the stream.
        status: u16,
        /// The wait it asks for.
        retry_after: Option<Duration>,
        /// What it said.
        said: String,
    },
    /// The server does not accept the request.
    #[error("the model server refuses the request ({status}): {said}")]
    Rejected {
        /// The HTTP status.
        status: u16,
        /// What it said.
        said: String,
    },
    /// The answer ended too early, also when fetched again without streaming.
    #[error("the answer of the model broke off ({what}); try again")]
    BrokenStream {
        /// What was seen.
        what: String,
    },
    /// The answer is not what this format allows.
    #[error(
        "the model server's answer cannot be read ({what}); check that the address speaks this format"
    )]
    Malformed {
        /// What was seen.
        what: String,
    },
    /// One event or the answer as a whole is larger than anything honest.
    #[error("the model server sent more than {limit} bytes at once; the answer was dropped")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// Nothing came for too long.
    #[error("the model server has said nothing for {} s; it may be overloaded or stuck", .after.as_secs())]
    Stalled {
        /// How long we waited.
        after: Duration,
    },
    /// The person's allowance does not cover another request (W-272).
    #[error("the run has cost {spent} of the {allowed} that it may; allow more with --allow-cost")]
    AllowanceUsedUp {
        /// What was spent.
        spent: Cost,
        /// What may be.
        allowed: Cost,
    },
    /// An allowance was set and nobody knows what the model costs.
    #[error(
        "no price is known for {model}, so no allowance can be kept; leave --allow-cost out, or choose a model with a known price"
    )]
    NoPrice {
        /// The model.
        model: String,
    },
}

impl ModelError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            ModelError::Address(_) => "bad_address",
            ModelError::Unreachable { .. } => "unreachable",
            ModelError::WrongKey { .. } => "wrong_key",
            ModelError::NoKey { .. } => "no_key",
            ModelError::UnusableKey { .. } => "unusable_key",
            ModelError::WrongAddress { .. } => "wrong_address",
            ModelError::Redirected { .. } => "redirected",
            ModelError::NoSuchModel { .. } => "no_such_model",
            ModelError::ContextTooLong { .. } => "context_too_long",
            ModelError::RateLimited { .. } => "rate_limited",
            ModelError::OutOfCredit { .. } => "out_of_credit",
            ModelError::ServerFailed { .. } => "server_failed",
            ModelError::Rejected { .. } => "rejected",
            ModelError::BrokenStream { .. } => "broken_stream",
            ModelError::Malformed { .. } => "malformed",
            ModelError::TooLarge { .. } => "too_large",
            ModelError::Stalled { .. } => "stalled",
            ModelError::AllowanceUsedUp { .. } => "allowance_used_up",
            ModelError::NoPrice { .. } => "no_price",
        }
    }

    /// Whether sending the same request again, before anything came, may help.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(
            self,
            ModelError::Unreachable { .. }
                | ModelError::RateLimited { .. }
                | ModelError::ServerFailed { .. }
        )
    }

    /// Whether the stream itself was at fault, so that asking without streaming may help.
    pub(crate) fn is_broken_stream(&self) -> bool {
        matches!(self, ModelError::BrokenStream { .. } | ModelError::Malformed { .. })
    }
}

fn number(status: u16) -> String {
    if status == 0 { String::new() } else { format!(" ({status})") }
}

fn after(wait: &Option<Duration>) -> String {
    wait.map(|wait| format!(" {} s", wait.as_secs().max(1))).unwrap_or_default()
}

/// Why an address may not be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum AddressError {
    /// It does not parse.
    #[error("'{0}' is not an address; write it like https://host/v1")]
    NotAbsolute(String),
    /// Everyone has an own address there.
    #[error("{provider} has no address for all; give yours with --base-url, or set {variable}")]
    Missing {
        /// Which provider.
        provider: String,
        /// The environment variable that it is read from.
        variable: String,
    },
    /// Only https, and http on this machine.
    #[error("'{0}' would send the key unprotected; use https (http is only for localhost)")]
    NotEncrypted(String),
    /// No credentials in it. The address is not repeated: it holds them.
    #[error("the address holds a user name or password; take them out and give the key separately")]
    HoldsCredentials,
    /// No query and no fragment. The address is not repeated: it may hold a key.
    #[error("the address holds a '?' or '#' part; take it out")]
    HoldsQuery,
}

/// What the transport itself reports.
#[derive(Debug, Error)]
pub enum TransportError {
    /// No connection came about.
    #[error("no connection")]
    Connect(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The connection ended or failed after the request began.
    #[error("the connection failed")]
    Broken(#[source] Box<dyn std::error::Error + Send + Sync>),
}
