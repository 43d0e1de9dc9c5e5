//! Every bound of the proxy, each with its reason.

use std::time::Duration;

/// How long a looked-up answer counts (S-X11). Pages load much in one go from few names; an attacker's change
/// of mind is judged again after this.
pub const ANSWER_LIFE: Duration = Duration::from_secs(60);

/// How long a failed look-up counts, so that a page that asks in a loop costs the resolver little.
pub const FAILURE_LIFE: Duration = Duration::from_secs(5);

/// Names a session remembers answers for. A page can make up names without end.
pub const ANSWERS: usize = 1_024;

/// Addresses of one answer that are judged. A longer answer is refused: what was not judged is not dialled, and no
/// honest name has as many.
pub const ADDRESSES: usize = 64;

/// Addresses of one answer that are dialled before giving up.
pub const DIALLED: usize = 6;

/// How long a look-up may take; the system's own patience is about this long.
pub const LOOKUP: Duration = Duration::from_secs(10);

/// Look-ups under way at once, all sessions together: each holds a thread.
pub const LOOKUPS: usize = 16;

/// How long connecting may take, all addresses together.
pub const DIAL: Duration = Duration::from_secs(20);

/// The next address is tried when one has not answered for this long (RFC 8305 recommends 250 ms).
pub const NEXT_ADDRESS: Duration = Duration::from_millis(250);

/// How long the head of a request may take, and how long a connection may wait for its next one.
pub const REQUEST_HEAD: Duration = Duration::from_secs(60);

/// How long a server may take to begin its answer. Chromium itself gives up after five minutes.
pub const ANSWER_HEAD: Duration = Duration::from_secs(310);

/// How long a tunnel or a body may be silent. Chats and event streams are for hours without a word.
pub const SILENCE: Duration = Duration::from_secs(2 * 60 * 60);

/// How long the second half of a tunnel may be silent after the first has ended.
pub const HALF_CLOSED: Duration = Duration::from_secs(60);

/// How long a server's kept connection may take to be ready for the next request before a new one is made.
pub const READY: Duration = Duration::from_millis(500);

/// Bytes of a request's head. Chromium sends cookies of up to 180 KiB to one site.
pub const REQUEST_HEAD_BYTES: usize = 256 << 10;

/// Bytes of an answer's head; Chromium refuses larger ones.
pub const ANSWER_HEAD_BYTES: usize = 256 << 10;

/// Header lines of a head.
pub const HEADERS: usize = 512;

/// Bytes that are moved through a tunnel at a time, and held for it in each direction.
pub const CHUNK: usize = 16 << 10;

/// Connections to the proxy at once, all sessions together.
pub const CONNECTIONS: usize = 2_048;

/// Requests and tunnels of one session at once. Chromium keeps 32 connections to a proxy, and 255 for sockets.
pub const IN_FLIGHT: usize = 512;

/// What a session may move in both directions together, unless it is given another bound.
pub const SESSION_BYTES: u64 = 16 << 30;

/// Kinds of refusals a session keeps: each host, port and reason once.
pub const REFUSALS: usize = 256;

/// Bytes of a refused host that are kept. Names end at 253.
pub const SHOWN_HOST: usize = 260;

/// How long stopping waits for connections to let go; what is left is dropped.
pub const STOP: Duration = Duration::from_secs(1);
