//! Every bound of the daemon, with its reason.

use std::time::Duration;

/// A sandbox's browser stops this long before the sandbox, so that its last events still arrive (S-108).
pub const STOP_BEFORE_EXPIRY: Duration = Duration::from_secs(30);

/// What a stop waits for the last answers, events and the browser's end (S-X14).
pub const DRAIN: Duration = Duration::from_secs(5);

/// How often a running browser's minutes are noted, for the case that nobody is left to say them. A killed
/// daemon loses at most this much, and minutes are rounded up anyway.
pub const HEARTBEAT: Duration = Duration::from_secs(15);

/// How often expiries are looked at. It must be well below [`STOP_BEFORE_EXPIRY`].
pub const REAPER_EVERY: Duration = Duration::from_secs(5);

/// An expired sandbox is shown this long, so that people see what became of it; then its row goes. What its
/// browsers ran stays.
pub const EXPIRED_KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A tool call may take this long (S-X10). Tools have shorter deadlines of their own.
pub const CALL: Duration = Duration::from_secs(120);

/// A request's body (S-X10).
pub const BODY_BYTES: usize = 4 * 1024 * 1024;

/// Of a larger body this much is taken before it is refused, so that its sender hears why.
pub const OVERSIZED_BYTES: usize = 4 * BODY_BYTES;

/// Names of sandboxes, tokens and tenants: a column of a list.
pub const NAME_CHARS: usize = 80;

/// Addresses are longer than names, but not pages of text.
pub const URL_CHARS: usize = 2_048;

/// A boot command is a line, not a program.
pub const COMMAND_CHARS: usize = 4_096;

/// A task for the agent.
pub const TASK_CHARS: usize = 20_000;

/// Events of a sandbox that are kept for viewers who come back.
pub const EVENTS_KEPT: usize = 500;

/// Of one text in an event.
pub const EVENT_TEXT: usize = 300;

/// Event streams of one sandbox at once; each holds a connection.
pub const STREAMS: usize = 16;

/// An idle event stream says that it lives, below what proxies cut at.
pub const STREAM_PULSE: Duration = Duration::from_secs(15);

/// Lines kept of a boot command.
pub const LOG_LINES: usize = 2_000;

/// Of one line kept; the rest of it is dropped.
pub const LOG_LINE_BYTES: usize = 4 * 1024;

/// Lines in one answer.
pub const LOG_PAGE: usize = 500;

/// Between two looks at whether the booted app answers.
pub const READY_EVERY: Duration = Duration::from_millis(250);

/// One look at whether the booted app answers.
pub const READY_LOOK: Duration = Duration::from_secs(5);

/// A boot command that was told to end gets this long before it is killed.
pub const BOOT_END: Duration = Duration::from_secs(5);

/// Questions of one sandbox that wait for a person at once; more are answered with no.
pub const CARDS: usize = 32;

/// A one-time code for the dashboard.
pub const CODE_LIVES: Duration = Duration::from_secs(10 * 60);

/// Codes that were not used yet. The oldest goes first.
pub const CODES: usize = 64;

/// A dashboard stays signed in this long.
pub const SIGNED_IN: Duration = Duration::from_secs(12 * 60 * 60);

/// Dashboards signed in at once. The oldest goes first.
pub const SIGN_INS: usize = 256;

/// Wrong tokens and codes that are looked at per second, over all callers: guessing 256 bits is hopeless,
/// and looking costs a disk read.
pub const WRONG_PER_SECOND: u32 = 10;

/// Callers whose rate is remembered at once.
pub const RATED: usize = 4_096;

/// Sessions in one answer about usage.
pub const USAGE_ROWS: u32 = 1_000;

/// Runs in one answer.
pub const RUN_ROWS: u32 = 200;

/// Steps that a run's answer holds.
pub const RUN_STEPS: usize = 500;

/// Tries to tell the usage hook at once; what it does not take is told again later and at the next start.
pub const HOOK_TRIES: u32 = 3;

/// After the first failed try; doubled with each.
pub const HOOK_PAUSE: Duration = Duration::from_millis(500);

/// An answer of the hook.
pub const HOOK_BYTES: usize = 64 * 1024;

/// How often untold usage is told again.
pub const UNTOLD_EVERY: Duration = Duration::from_secs(60);

/// Untold sessions looked at together.
pub const UNTOLD: u32 = 100;

/// The settings of a single session, from stdin or a file.
pub const ORDER_BYTES: u64 = 64 * 1024;

/// A person may take this long to answer a card before the call gives up.
pub const CARD: Duration = Duration::from_secs(10 * 60);

/// Rules for sites that a tenant may set: more than anyone writes by hand.
pub const SITE_RULES: usize = 500;

/// Recordings in one answer.
pub const RECORDINGS_PAGE: usize = 100;

/// Recorded events in one answer if nothing is said.
pub const EVENTS_PAGE: usize = 1_000;

/// How often recordings that are too old or too many are looked for.
pub const RETAIN_EVERY: Duration = Duration::from_secs(10 * 60);
