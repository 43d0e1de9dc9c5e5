//! Bounds of the endpoint.

use std::time::Duration;

/// What one session's endpoint takes (S-X10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// Protocol sessions at once. An agent has one; more are forgotten ones.
    pub sessions: usize,
    /// A protocol session that is silent this long ends.
    pub idle: Duration,
    /// One request, from its first byte to the end of its call. Longer than any tool takes by itself.
    pub request: Duration,
    /// A request's body, in bytes. Calls are small; files are given by path.
    pub body_bytes: usize,
    /// Text of one answer, in bytes. Snapshots are far smaller; this holds whatever comes.
    pub answer_bytes: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            sessions: 8,
            idle: Duration::from_secs(30 * 60),
            request: Duration::from_secs(120),
            body_bytes: 4 * 1024 * 1024,
            answer_bytes: 256 * 1024,
        }
    }
}
