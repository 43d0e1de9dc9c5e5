//! Bounds of the live view, with the reason beside each.

use std::time::Duration;

/// A ticket is asked for just before it is used (S-084).
pub const TICKET_LIFE: Duration = Duration::from_secs(30);

/// A ticket that claims to live longer is not ours (S-X06).
pub const TICKET_LIFE_MAX: Duration = Duration::from_secs(60);

/// Clocks of two machines differ by this much (S-X06).
pub const CLOCK_SKEW: Duration = Duration::from_secs(5);

/// Characters of a ticket (S-X06): ours are shorter, and nothing longer is worth reading.
pub const TICKET_CHARS: usize = 2_048;

/// Characters of a name that others see (S-X06).
pub const NAME_CHARS: usize = 80;

/// Tickets of one session that were issued and not used. The oldest is forgotten beyond.
pub const TICKETS_OUT: usize = 256;

/// A viewer without a ticket by then is not a viewer (S-X02).
pub const TICKET_DEADLINE: Duration = Duration::from_secs(5);

/// Connections that have shown no ticket yet. Each costs a socket for [`TICKET_DEADLINE`].
pub const UNKNOWN_CONNECTIONS: usize = 16;

/// A message of a viewer (S-X02). Their longest, a pasted text, is far shorter.
pub const MESSAGE_BYTES: usize = 64 * 1024;

/// What is read of a viewer at once. The usual 128 KiB for each would be most of what a viewer costs.
pub const READ_BUFFER: usize = 8 * 1024;

/// Viewers of one session (S-X02).
pub const VIEWERS: usize = 8;

/// A viewer who has not taken this much of what was sent is skipped (S-X03).
pub const BEHIND_BYTES: usize = 2 * 1024 * 1024;

/// A viewer who has not taken this many frames is skipped: on a slow line two megabytes are seconds of past.
pub const BEHIND_FRAMES: usize = 8;

/// How often a viewer who was skipped is looked at again (S-X03). One who catches up is served at once.
pub const CATCH_UP: Duration = Duration::from_millis(250);

/// How often a quiet viewer is asked for a sign of life.
pub const PING: Duration = Duration::from_secs(5);

/// A viewer who gives none for this long is gone, and control with them.
pub const LOST: Duration = Duration::from_secs(20);

/// How long one write to a viewer may take to be given to the system.
pub const WRITE: Duration = Duration::from_secs(20);

/// How long control waits for someone whose connection broke (S-067).
pub const GRACE: Duration = Duration::from_secs(10);

/// How long a person at the window may pause before the agent goes on.
pub const WINDOW_QUIET: Duration = Duration::from_secs(10);

/// Input that was sent for a driver is told by the page a moment later, and is not someone at the window.
pub const ECHO: Duration = Duration::from_secs(2);

/// How long an agent's call waits for the person (S-X07).
pub const AGENT_WAIT: Duration = Duration::from_secs(20);

/// It never waits longer, whatever is set (S-X07).
pub const AGENT_WAIT_MAX: Duration = Duration::from_secs(45);

/// How long taking over waits for the step of the agent that is under way.
pub const TAKE_WAIT: Duration = Duration::from_secs(10);

/// Calls that wait for a person at once. One session's agents are fewer.
pub const WAITING_CALLS: usize = 64;

/// Characters of a text (S-X09).
pub const TEXT_CHARS: usize = 2_000;

/// Characters of a key's name and of its place (S-X09).
pub const KEY_CHARS: usize = 32;

/// CSS pixels that one turn of the wheel scrolls (S-X09).
pub const WHEEL: f64 = 10_000.0;

/// Messages of one viewer in a second. A pointer at 120 Hz with keys and a wheel stays under it.
pub const MESSAGES_A_SECOND: u32 = 400;

/// Messages that are none of ours, from one viewer, before it is sent away.
pub const NONSENSE: u32 = 8;

/// Input that waits to be sent to the page. Moves of the pointer take the place of those before them.
pub const INPUT_QUEUE: usize = 128;

/// Input that the page has been sent and has not handled yet. A page that is stuck takes no more.
pub const INPUT_FLYING: usize = 16;

/// Characters that are copied at once. A page's selection can be all of it.
pub const COPY_CHARS: usize = 100_000;

/// A screen nobody looks at goes on for so long: a reload of the dashboard costs no new start.
pub const UNWATCHED: Duration = Duration::from_secs(5);

/// Looking at a tab fails while it is being closed or has just crashed; then it is tried again.
pub const LOOK_AGAIN: Duration = Duration::from_millis(500);
