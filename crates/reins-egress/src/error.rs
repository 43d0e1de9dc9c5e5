//! What can go wrong before any request: a request itself is answered, refused or fails like any on the web.

use std::io;
use thiserror::Error;

/// Why there is no proxy.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EgressError {
    /// No port on loopback could be opened.
    #[error("the proxy for this browser cannot listen on this machine: {0}")]
    Listen(#[source] io::Error),
    /// The system gave no randomness for the session's password.
    #[error("the system gives no random numbers: {0}")]
    Random(#[source] getrandom::Error),
}

impl EgressError {
    /// The stable code used in results.
    pub fn code(&self) -> &'static str {
        match self {
            EgressError::Listen(_) => "egress_listen",
            EgressError::Random(_) => "egress_random",
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            EgressError::Listen(_) => {
                "see that loopback is up and that programs may open ports on it"
            }
            EgressError::Random(_) => "see that this system has a working source of randomness",
        }
    }
}
