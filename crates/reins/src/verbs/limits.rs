//! Bounds of the daemon.

use std::time::Duration;

/// A session that nobody calls this long is closed: an agent that is gone cannot say so.
pub(super) const SESSION_IDLE: Duration = Duration::from_secs(30 * 60);

/// Without a session the daemon leaves after this; the next verb is often near.
pub(super) const DAEMON_IDLE: Duration = Duration::from_secs(10);

/// Each session has a browser of its own, some hundred megabytes.
pub(super) const MOST_SESSIONS: usize = 16;

/// A request's first line. Arguments are typed by hand or by a model.
pub(super) const LINE_BYTES: usize = 1024 * 1024;

/// The daemon answers within this, cards aside; no tool takes longer by itself. After it, the verb gives up and
/// says so instead of hanging.
pub(super) const ANSWER: Duration = Duration::from_secs(150);

/// A daemon that starts opens a file and a socket.
pub(super) const START: Duration = Duration::from_secs(10);

/// Closing ends a browser and never waits for a page.
pub(super) const CLOSE: Duration = Duration::from_secs(15);
