//! What goes wrong in a run, where, and what the page's server and the person saw of it.

use reins_control::Control;
use reins_core::SessionId;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The browser is killed, or its connection fails.
    Gone,
    /// The page's process dies.
    Crash,
    /// The tab is closed by someone.
    TabClosed,
    /// The browser stands still from here on and reads nothing.
    Hang,
    /// One command is done, but never answered.
    Mute,
    /// One command is neither done nor answered.
    Swallow,
    /// One answer has another form than it should.
    WrongForm,
    /// One command is done, and answered with an error.
    Error,
    /// One answer is not readable at all.
    Garbage,
    /// The person stops the turn.
    Stop,
    /// The caller cancels.
    Cancel,
    /// The person uses the page.
    Person,
    /// The caller's future is dropped.
    Drop,
    /// The record of acts can't be begun.
    NoBegin,
    /// The end of acts can't be recorded.
    NoFinish,
    /// The card is refused, answered late, handed back, or never answered.
    Card(Card),
    /// Nothing.
    None,
}

/// How the person takes a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Card {
    Allow,
    Late,
    Deny,
    Stop,
    Later,
    NoOne,
    Never,
}

/// Faults that happen in the browser or while it works.
pub const BROWSER: &[Fault] = &[
    Fault::Gone,
    Fault::Crash,
    Fault::TabClosed,
    Fault::Hang,
    Fault::Mute,
    Fault::Swallow,
    Fault::WrongForm,
    Fault::Error,
    Fault::Garbage,
    Fault::Stop,
    Fault::Cancel,
    Fault::Person,
];

/// Those that happen elsewhere.
pub const ELSEWHERE: &[Fault] = &[
    Fault::NoBegin,
    Fault::NoFinish,
    Fault::Card(Card::Late),
    Fault::Card(Card::Deny),
    Fault::Card(Card::Stop),
    Fault::Card(Card::Later),
    Fault::Card(Card::NoOne),
    Fault::Card(Card::Never),
];

/// Where it goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// When the browser has read its n-th command and done nothing yet.
    Command(u64),
    /// Before the browser sends its n-th message, be it an answer or an event.
    Message(u64),
    /// At the n-th time that this call is polled.
    Poll { call: usize, nth: u64 },
    /// During this call.
    Call(usize),
}

/// What arrived: what the page's server, and the page, would say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The browser took a navigation or a reload.
    Navigation,
    /// The mouse button came up on the button or link.
    Click(u64),
    /// Text came into the field.
    Text,
}

#[derive(Debug, Default)]
pub struct Ledger {
    /// Which call brought what about.
    pub effects: Vec<(usize, Effect)>,
    /// Requests for documents that went out: the call, the method and the address.
    pub requests: Vec<(usize, String, String)>,
    /// Which call put a card, and how it was answered.
    pub cards: Vec<(usize, Card)>,
    /// The call under way.
    pub call: usize,
    pub commands: u64,
    pub messages: u64,
    /// Whether the fault has happened.
    pub fired: bool,
}

/// All that a run's parts share.
pub struct Shared {
    pub fault: Fault,
    pub at: At,
    /// Room of the pipe in each direction.
    pub capacity: usize,
    ledger: Mutex<Ledger>,
    control: Mutex<Option<Control>>,
    cancel: Mutex<CancellationToken>,
    pub session: SessionId,
    /// Set when the run is over: whoever stands still may end.
    pub over: watch::Sender<bool>,
}

impl Shared {
    pub fn new(fault: Fault, at: At, capacity: usize) -> Self {
        Self {
            fault,
            at,
            capacity,
            ledger: Mutex::default(),
            control: Mutex::default(),
            cancel: Mutex::default(),
            session: SessionId::new("main"),
            over: watch::Sender::new(false),
        }
    }

    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set_control(&self, control: Option<Control>) {
        *self.control.lock().unwrap_or_else(PoisonError::into_inner) = control;
    }

    /// Begins a call with a token of its own.
    pub fn begin_call(&self) -> (usize, CancellationToken) {
        let token = CancellationToken::new();
        *self.cancel.lock().unwrap_or_else(PoisonError::into_inner) = token.clone();
        let mut ledger = self.ledger();
        ledger.call += 1;
        (ledger.call, token)
    }

    pub fn cancel(&self) {
        self.cancel.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }

    /// The person stops whatever turn there is.
    pub fn stop(&self) {
        let control = self.control.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(control) = control
            && let Some(turn) = control.current_turn(&self.session)
        {
            control.stop(&self.session, turn);
        }
    }

    /// Counts a command. Whether the fault happens at it.
    pub fn at_command(&self) -> bool {
        let mut ledger = self.ledger();
        ledger.commands += 1;
        let hit = !ledger.fired && self.at == At::Command(ledger.commands);
        ledger.fired |= hit;
        hit
    }

    /// Counts a message. Whether the fault happens before it.
    pub fn at_message(&self) -> bool {
        let mut ledger = self.ledger();
        ledger.messages += 1;
        let hit = !ledger.fired && self.at == At::Message(ledger.messages);
        ledger.fired |= hit;
        hit
    }

    /// Whether the fault happens during a call that is now under way.
    pub fn during(&self, call: usize) -> bool {
        let mut ledger = self.ledger();
        let hit = !ledger.fired && self.at == At::Call(call);
        ledger.fired |= hit;
        hit
    }

    pub fn effect(&self, call: usize, effect: Effect) {
        self.ledger().effects.push((call, effect));
    }
}

/// Numbers from a seed, the same on every machine.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// One of `from..=to`.
    pub fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to.saturating_sub(from) + 1)
    }

    pub fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[usize::try_from(self.next() % list.len() as u64).unwrap()]
    }
}
