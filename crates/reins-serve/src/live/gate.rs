//! The agent's way past a person who drives: its changing calls wait, and end without being made (S-068…S-072).

use super::limits::{AGENT_WAIT, AGENT_WAIT_MAX};
use super::room::Room;
use super::takeover::PassageId;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use thiserror::Error;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// Where an agent's changing calls pass. Reading ones need not (S-070).
#[derive(Clone)]
pub struct Gate {
    room: Arc<Room>,
    wait: Duration,
}

/// The right to change the page, until it is dropped. Whoever takes over waits for it.
#[must_use = "the step is over when this is dropped"]
pub struct Passage {
    room: Arc<Room>,
    id: PassageId,
}

/// A person holds the browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBy {
    /// Who, as the viewers see them.
    pub held_by: String,
    /// Since when.
    pub since: SystemTime,
    /// How long the call waited, in milliseconds.
    pub waited_ms: u64,
}

/// Why a call did not pass. Nothing was done.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoPassage {
    /// A person did not hand back in time (S-069).
    #[error(
        "{} is using this browser, so nothing was done. Read the page meanwhile, or try again when they have handed it back",
        .0.held_by
    )]
    HeldBy(HeldBy),
    /// The browser stopped during the wait (S-072).
    #[error(
        "the browser stopped while the call waited for a person to hand it back; nothing was done. Start a new one"
    )]
    BrowserStopped,
    /// The caller took the call back.
    #[error(
        "the call was cancelled while it waited for a person to hand the browser back; nothing was done"
    )]
    Cancelled,
}

impl NoPassage {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::HeldBy(_) => "held_by_person",
            Self::BrowserStopped => "browser_stopped",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Gate {
    pub(crate) fn new(room: Arc<Room>, wait: Option<Duration>) -> Self {
        Self { room, wait: wait.unwrap_or(AGENT_WAIT).min(AGENT_WAIT_MAX) }
    }

    /// Lets a changing call pass, at once or when the person hands back. `tool` is what the person is told.
    ///
    /// # Errors
    /// They did not hand back in time, the browser stopped, or the call was cancelled.
    pub async fn pass(&self, tool: &str, cancel: &CancellationToken) -> Result<Passage, NoPassage> {
        let mut changes = self.room.changes();
        if let Some(passage) = self.try_pass(tool)? {
            return Ok(passage);
        }
        let began = Instant::now();
        let until = began + self.wait;
        let Some(number) = self.room.wait(tool) else { return Err(self.held(began)) };
        let _line = InLine { room: &self.room, number };
        loop {
            if let Some(passage) = self.try_pass(tool)? {
                return Ok(passage);
            }
            tokio::select! {
                biased;
                () = self.room.stop.cancelled() => return Err(NoPassage::BrowserStopped),
                () = cancel.cancelled() => return Err(NoPassage::Cancelled),
                changed = timeout_at(until, changes.changed()) => match changed {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return Err(NoPassage::BrowserStopped),
                    Err(_) => return Err(self.held(began)),
                },
            }
        }
    }

    fn try_pass(&self, tool: &str) -> Result<Option<Passage>, NoPassage> {
        if self.room.stop.is_cancelled() {
            return Err(NoPassage::BrowserStopped);
        }
        let now = self.room.now();
        let mut state = self.room.state();
        state.takeover.pass_time(now);
        if !state.takeover.is_free() {
            return Ok(None);
        }
        let id = state.takeover.begin(tool, now);
        Ok(Some(Passage { room: self.room.clone(), id }))
    }

    fn held(&self, began: Instant) -> NoPassage {
        let now = self.room.now();
        let state = self.room.state();
        let (held_by, since) = match state.takeover.holder(now) {
            Some((name, since)) => (name.to_owned(), since),
            None => ("a person".to_owned(), now.wall),
        };
        let waited = now.instant.saturating_duration_since(began).as_millis();
        let waited_ms = u64::try_from(waited).unwrap_or(u64::MAX);
        NoPassage::HeldBy(HeldBy { held_by, since, waited_ms })
    }
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gate(waits {:?})", self.wait)
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.room.end(self.id);
    }
}

impl std::fmt::Debug for Passage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Passage({:?})", self.id)
    }
}

/// A call in the line, until it passes or gives up.
struct InLine<'a> {
    room: &'a Room,
    number: u64,
}

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        self.room.waited(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::takeover::{Person, Take, ViewerId};
    use tokio::time::{advance, sleep};

    const ANN: ViewerId = ViewerId(1);

    fn room() -> Arc<Room> {
        let start = Instant::now();
        Room::new(Arc::new(move || SystemTime::UNIX_EPOCH + start.elapsed()))
    }

    fn ann() -> Person {
        Person { subject: "ann".into(), name: "Ann".into() }
    }

    /// S-068: a call that waits goes on when the person hands back.
    #[tokio::test(start_paused = true)]
    async fn s068_a_changing_call_waits_for_hand_back() {
        let room = room();
        let gate = Gate::new(room.clone(), None);
        let never = CancellationToken::new();
        drop(gate.pass("click", &never).await.unwrap());
        assert_eq!(room.take(ANN, ann()), Take::Drives);
        let waits = tokio::spawn({
            let gate = gate.clone();
            async move { gate.pass("click", &CancellationToken::new()).await }
        });
        sleep(Duration::from_secs(19)).await;
        assert_eq!(room.shown(ANN).waiting.unwrap().tool, "click");
        room.hand_back(ANN);
        let passage = waits.await.unwrap().unwrap();
        assert_eq!(room.shown(ANN).waiting, None);
        // And now the person waits for the step.
        assert!(matches!(room.take(ANN, ann()), Take::WaitsFor { .. }));
        drop(passage);
        assert!(room.drives(ANN));
    }

    /// S-069, S-071, S-X07: after 20 seconds it says who, since when, and how long it waited; at most 45.
    #[tokio::test(start_paused = true)]
    async fn s069_s071_a_call_that_waited_too_long_names_the_holder() {
        for (set, waits) in [(None, 20), (Some(3), 3), (Some(600), 45)] {
            let room = room();
            let gate = Gate::new(room.clone(), set.map(Duration::from_secs));
            advance(Duration::from_secs(5)).await;
            room.take(ANN, ann());
            let began = Instant::now();
            let error = gate.pass("click", &CancellationToken::new()).await.unwrap_err();
            assert_eq!(began.elapsed().as_secs(), waits);
            assert_eq!(error.code(), "held_by_person");
            assert!(error.to_string().contains("Ann"), "{error}");
            let NoPassage::HeldBy(held) = error else { panic!("{error:?}") };
            assert_eq!((held.held_by.as_str(), held.waited_ms), ("Ann", waits * 1_000));
            assert_eq!(crate::clock::stamp(held.since), "1970-01-01T00:00:05.000Z");
            assert_eq!(room.shown(ANN).waiting, None);
        }
    }

    /// S-072: the wait ends with the browser, and with the caller.
    #[tokio::test(start_paused = true)]
    async fn s072_the_wait_ends_when_the_browser_stops_or_the_caller_gives_up() {
        let room = room();
        let gate = Gate::new(room.clone(), None);
        room.take(ANN, ann());
        let cancel = CancellationToken::new();
        let (pass, ()) = tokio::join!(gate.pass("click", &cancel), async {
            sleep(Duration::from_secs(1)).await;
            cancel.cancel();
        });
        assert_eq!(pass.unwrap_err(), NoPassage::Cancelled);
        let began = Instant::now();
        let never = CancellationToken::new();
        let (pass, ()) = tokio::join!(gate.pass("click", &never), async {
            sleep(Duration::from_secs(1)).await;
            room.stop.cancel();
        });
        let error = pass.unwrap_err();
        assert_eq!(error.code(), "browser_stopped");
        assert_eq!(began.elapsed().as_secs(), 1);
        assert_eq!(gate.pass("click", &never).await.unwrap_err(), NoPassage::BrowserStopped);
    }

    /// S-067: a person whose connection broke keeps the agent waiting for ten seconds, not longer.
    #[tokio::test(start_paused = true)]
    async fn s067_the_agent_goes_on_when_the_grace_is_over() {
        let room = room();
        let gate = Gate::new(room.clone(), None);
        room.take(ANN, ann());
        room.leave(ANN, false);
        let never = CancellationToken::new();
        let began = Instant::now();
        // The hub lets time pass where there is one.
        let (passed, ()) = tokio::join!(gate.pass("click", &never), async {
            while let (_, Some(next)) = room.pass_time() {
                tokio::time::sleep_until(next).await;
            }
        });
        drop(passed.unwrap());
        assert_eq!(began.elapsed().as_secs(), 10);
    }

    /// Calls that wait cost a bounded line.
    #[tokio::test(start_paused = true)]
    async fn s068_the_line_of_waiting_calls_is_bounded() {
        let room = room();
        let gate = Gate::new(room.clone(), None);
        room.take(ANN, ann());
        let all: Vec<_> = (0..=crate::live::limits::WAITING_CALLS)
            .map(|_| {
                let gate = gate.clone();
                tokio::spawn(async move { gate.pass("click", &CancellationToken::new()).await })
            })
            .collect();
        let mut at_once = 0;
        for one in all {
            match one.await.unwrap() {
                Err(NoPassage::HeldBy(held)) if held.waited_ms == 0 => at_once += 1,
                Err(NoPassage::HeldBy(held)) => assert_eq!(held.waited_ms, 20_000),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(at_once, 1);
    }
}
