//! Limits of this crate, each with its reason.

use std::time::Duration;

/// One server-sent event. A tool call's fragment is some bytes; a whole call with a long text some
/// kilobytes. A server that sends more in one event is broken or hostile.
pub const EVENT_BYTES: usize = 1024 * 1024;

/// A whole answer, streamed or not. Far above any model's output limit.
pub const ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// What is read of an error answer. Enough for every provider's message.
pub const ERROR_BYTES: usize = 64 * 1024;

/// What a server says about a failure is shown up to this many bytes.
pub const SAID_BYTES: usize = 400;

/// Opening a connection. Longer means that nothing is there.
pub const CONNECT: Duration = Duration::from_secs(10);

/// Until the first byte. A small machine reads a long prompt at 50 tokens a second and says nothing
/// meanwhile.
pub const FIRST_BYTE: Duration = Duration::from_secs(300);

/// Between two pieces of a stream that has begun. Providers send pings at least every 30 s.
pub const STALL: Duration = Duration::from_secs(60);

/// After the answer's last event some servers leave the connection open instead of ending it.
pub const AFTER_END: Duration = Duration::from_secs(2);

/// Times that a request is sent again after 429, 5xx or a failed connection, before the first token.
pub const RETRIES: u32 = 3;

/// Times that a request is sent again in another form. More than everything that a server may refuse
/// one after the other.
pub const CHANGES: u32 = 12;

/// The first wait before sending again; it doubles each time.
pub const BACKOFF: Duration = Duration::from_millis(500);

/// A server that asks for a longer wait than this is reported instead of waited for.
pub const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// One request of a connection check or a model list.
pub const CHECK: Duration = Duration::from_secs(10);

/// A probe for a model server on this machine: a listening one answers in a few milliseconds.
pub const PROBE: Duration = Duration::from_millis(400);

/// Models shown of one server.
pub const MODELS_LISTED: usize = 200;

/// How long a fetched model list is good.
pub const MODELS_CACHED: Duration = Duration::from_secs(5 * 60);

/// A model list. The largest public one (some hundred models with descriptions) is under 2 MiB.
pub const LIST_BYTES: usize = 8 * 1024 * 1024;
