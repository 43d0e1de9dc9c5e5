//! Beginning, counting, pausing and stopping turns (R-118… …R-195).

use crate::control::{Control, TurnStart};
use crate::error::ControlError;
use crate::session::{Session, Turn};
use reins_browser::TurnEnds;
use reins_core::{Origin, OwnerId, SessionId, StepId, TurnId, web_url};
use reins_guard::TurnFacts;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Where nobody can be asked to resume, the agent may go on once the person has left the tab
/// alone this long.
pub(crate) const PERSON_QUIET: Duration = Duration::from_secs(10);

impl Control {
    /// Begins a turn for an owner and ends any other turn of the session: whoever loses it is
    /// told at their next call.
    pub fn begin_turn(&self, session: &SessionId, owner: &OwnerId, start: TurnStart) -> TurnId {
        let session = self.session(session);
        let id = TurnId(self.inner.turns.fetch_add(1, Ordering::Relaxed) + 1);
        let mut facts = TurnFacts {
            named: self.inner.options.named.iter().cloned().collect(),
            ..TurnFacts::default()
        };
        name(
            &mut facts,
            start.urls.iter().chain(&addresses(start.message.as_deref().unwrap_or(""))),
        );
        let turn = Turn {
            id,
            owner: owner.clone(),
            calls: 0,
            cap: start.cap,
            user_message: start.message.is_some(),
            goal: start.message,
            facts,
            level: self.inner.options.level,
            stop: CancellationToken::new(),
            stopped: CancellationToken::new(),
            paused: None,
        };
        let mut state = session.state();
        state.stops += 1;
        if let Some(turn) = &mut state.turn {
            turn.stop.cancel();
        }
        state.refs.begin_turn();
        state.turn = Some(turn);
        id
    }

    /// The person said more while the turn goes on: what they name counts as named, and what they want
    /// is what they said last (W-091). Words for another turn than the current one have no effect.
    pub fn also_said(&self, session: &SessionId, turn: TurnId, message: &str) {
        let session = self.session(session);
        let mut state = session.state();
        if let Some(turn) = state.turn.as_mut().filter(|current| current.id == turn) {
            name(&mut turn.facts, addresses(message).iter());
            let goal = turn.goal.get_or_insert_default();
            goal.push_str("\n\n");
            goal.push_str(message);
        }
    }

    /// Stops the turn of a session: the act under way is cancelled, nothing more is sent.
    /// A stop that names another turn than the current one has no effect.
    pub fn stop(&self, session: &SessionId, turn: TurnId) {
        let session = self.session(session);
        let mut state = session.state();
        if let Some(current) = state.turn.as_ref().filter(|current| current.id == turn) {
            // First what tells the ends apart.
            current.stopped.cancel();
            current.stop.cancel();
            state.stops += 1;
        }
    }

    /// Lets a paused turn go on.
    pub fn resume(&self, session: &SessionId) {
        let session = self.session(session);
        if let Some(turn) = session.state().turn.as_mut() {
            turn.paused = None;
        }
        session.resumed.notify_waiters();
    }

    /// Whether the person's own input holds the turn of a session up.
    pub fn is_paused(&self, session: &SessionId) -> bool {
        held_until(&self.session(session)).is_some()
    }

    /// Returns once a paused turn may go on: the person said so, or left the tab alone for a while.
    pub async fn until_resumed(&self, session: &SessionId) {
        let session = self.session(session);
        loop {
            // Before the look, so that nothing is missed between the two.
            let resumed = session.resumed.notified();
            let Some(until) = held_until(&session) else { return };
            tokio::select! {
                () = resumed => {}
                () = tokio::time::sleep_until(until.into()) => {}
            }
        }
    }
}

/// Takes addresses that the person gave into the facts of a turn.
fn name<'a>(facts: &mut TurnFacts, urls: impl Iterator<Item = &'a String>) {
    for url in urls {
        if let Ok(url) = web_url(url) {
            facts.named.extend(Origin::of(&url));
            facts.approved_urls.insert(url.to_string());
        }
    }
}

/// Whether a call may start now; counts it, and says which step it is.
pub(crate) fn admit(
    session: &Session,
    owner: &OwnerId,
) -> Result<(TurnEnds, StepId), ControlError> {
    let mut state = session.state();
    let turn = state.turn.as_mut().ok_or(ControlError::NoTurn)?;
    if turn.owner != *owner {
        return Err(ControlError::TurnLost);
    }
    if turn.stop.is_cancelled() {
        return Err(ControlError::Stopped);
    }
    if turn.held_until().is_some() {
        return Err(ControlError::Paused);
    }
    turn.paused = None;
    if let Some(cap) = turn.cap
        && turn.calls >= cap
    {
        return Err(ControlError::StepCap(cap));
    }
    turn.calls += 1;
    let ends = TurnEnds { ended: turn.stop.child_token(), stopped: turn.stopped.clone() };
    Ok((ends, StepId(turn.calls)))
}

/// When a turn that the person's own input holds up may go on by itself.
fn held_until(session: &Session) -> Option<Instant> {
    session.state().turn.as_ref().and_then(Turn::held_until)
}

impl Turn {
    fn held_until(&self) -> Option<Instant> {
        let until = self.paused? + PERSON_QUIET;
        (Instant::now() < until).then_some(until)
    }
}

/// Marks the turn as paused by the person's own input.
pub(crate) fn pause(session: &Session) {
    let mut state = session.state();
    state.stops += 1;
    if let Some(turn) = state.turn.as_mut() {
        turn.paused = Some(Instant::now());
    }
}

/// The web addresses in a person's message, with or without a scheme where it is unmistakable.
pub(crate) fn addresses(message: &str) -> Vec<String> {
    message
        .split(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '\'' | '`' | '(' | ')'))
        .map(|word| word.trim_end_matches(['.', ',', ';', ':', '!', '?', ']', '}']))
        .filter_map(|word| {
            if word.starts_with("http://") || word.starts_with("https://") {
                return web_url(word).ok().map(|url| url.to_string());
            }
            // A bare host counts only with a dot, a known suffix and no "@" (an e-mail address).
            let host = word.split(['/', ':', '?', '#']).next()?;
            let is_host = host.contains('.')
                && !word.contains('@')
                && host.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-'))
                && reins_core::has_known_suffix(host);
            is_host.then(|| web_url(&format!("https://{word}")).ok().map(|url| url.to_string()))?
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// only what the person wrote counts as their address.
    #[test]
    fn r147_addresses_in_a_message() {
        for (message, found) in [
            ("open https://example.com/a?b=c, please", vec!["https://example.com/a?b=c"]),
            ("go to example.com and mail a@b.example.com", vec!["https://example.com/"]),
            ("see (http://127.0.0.1:8080/x).", vec!["http://127.0.0.1:8080/x"]),
            ("version 1.2.3 of the file notes.txt", vec![]),
            ("javascript:alert(1) data:text/html,x", vec![]),
        ] {
            assert_eq!(addresses(message), found, "{message}");
        }
    }
}
