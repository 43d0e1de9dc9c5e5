//! One keyboard for cards and lines.

use nix::sys::termios::{FlushArg, tcflush};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A card has given way long enough when it is looked again.
const CARD_WAIT: Duration = Duration::from_millis(50);

/// Who may read what is typed: a card before anybody else.
#[derive(Debug, Default)]
pub(crate) struct Keyboard {
    cards: AtomicUsize,
    reading: Mutex<()>,
}

impl Keyboard {
    /// Reads with `read`, unless a card is open; then waits a moment and gives `None`.
    pub(crate) fn unless_asked<R>(&self, read: impl FnOnce() -> R) -> Option<R> {
        if self.cards.load(Ordering::SeqCst) == 0 {
            let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
            if self.cards.load(Ordering::SeqCst) == 0 {
                return Some(read());
            }
        }
        std::thread::sleep(CARD_WAIT);
        None
    }

    /// Reads with `read` for a card. What was typed before the card was there cannot be its answer, so it
    /// is dropped.
    pub(crate) fn for_a_card<R>(&self, read: impl FnOnce() -> R) -> R {
        self.cards.fetch_add(1, Ordering::SeqCst);
        let answer = {
            let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
            // Where stdin is no terminal nothing was typed.
            let _ = tcflush(std::io::stdin(), FlushArg::TCIFLUSH);
            read()
        };
        self.cards.fetch_sub(1, Ordering::SeqCst);
        answer
    }
}
