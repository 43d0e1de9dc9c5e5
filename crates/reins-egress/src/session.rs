//! One browser's part of the proxy: its credentials, its policy, what it moved and what was refused.

use crate::answers::Answers;
use crate::error::EgressError;
use crate::limits::IN_FLIGHT;
use crate::meter::{Allowance, Meter, Spent};
use crate::network::Network;
use crate::policy::Policy;
use crate::refusal::{Log, Reason, Refusals};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use reins_core::Secret;
use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// What a browser needs to use the proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// The name.
    pub user: String,
    /// The password. It is in nobody's command line or environment.
    pub password: Secret<String>,
}

/// Random bytes of a password: nobody guesses it, however fast loopback answers.
const PASSWORD: usize = 32;

impl Login {
    fn new(number: u64) -> Result<Self, EgressError> {
        let mut bytes = [0; PASSWORD];
        getrandom::fill(&mut bytes).map_err(EgressError::Random)?;
        let password = Secret::new(URL_SAFE_NO_PAD.encode(bytes));
        Ok(Self { user: format!("session-{number}"), password })
    }

    /// Compares in a time that does not tell how much was right.
    fn is(&self, user: &str, password: &str) -> bool {
        let known = self.password.expose().as_bytes();
        let given = password.as_bytes();
        let differs = known.iter().zip(given).fold(0, |differs, (a, b)| differs | (a ^ b));
        user == self.user && known.len() == given.len() && differs == 0
    }
}

/// Reads `Basic` credentials.
pub(crate) fn read_basic(header: &str) -> Option<(String, Secret<String>)> {
    let (scheme, rest) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(rest.trim()).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.to_owned(), Secret::new(password.to_owned())))
}

/// What one browser may do, and what it did.
pub(crate) struct Session {
    login: Login,
    pub(crate) policy: Policy,
    pub(crate) network: Network,
    pub(crate) answers: Answers,
    /// Names of the app that have only led to public addresses.
    pub(crate) settled: Mutex<HashSet<String>>,
    pub(crate) places: Arc<Semaphore>,
    pub(crate) over: CancellationToken,
    meter: Meter,
    log: Mutex<Log>,
    passed: AtomicU64,
}

impl Session {
    pub(crate) fn new(
        number: u64,
        policy: Policy,
        allowance: Allowance,
        network: Network,
        over: CancellationToken,
    ) -> Result<Self, EgressError> {
        Ok(Self {
            login: Login::new(number)?,
            policy,
            network,
            answers: Answers::default(),
            settled: Mutex::default(),
            places: Arc::new(Semaphore::new(IN_FLIGHT)),
            over,
            meter: Meter::new(allowance),
            log: Mutex::default(),
            passed: AtomicU64::new(0),
        })
    }

    pub(crate) fn login(&self) -> &Login {
        &self.login
    }

    pub(crate) fn is_logged_in(&self, user: &str, password: &str) -> bool {
        self.login.is(user, password)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.is_cancelled()
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.meter.is_spent()
    }

    /// Counts bytes before they are passed on.
    pub(crate) fn count(&self, bytes: usize) -> Result<Duration, Spent> {
        self.meter.take(bytes, self.network.clock.now())
    }

    pub(crate) fn pass(&self) {
        self.passed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refuse(&self, host: &str, reason: Reason) {
        let first = self.log().note(host, reason, self.network.clock.wall());
        if first {
            tracing::info!(session = %self.login.user, host = ?host, %reason, "a request was refused");
        }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session that is open. It ends with this value: its connections are cut and its credentials are void.
pub struct OpenSession {
    pub(crate) session: Arc<Session>,
    pub(crate) forget: Box<dyn Fn(&str) + Send + Sync>,
}

/// What a session has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Requests and tunnels that were let through.
    pub passed: u64,
    /// Bytes of bodies and tunnels, both directions.
    pub bytes: u64,
}

impl OpenSession {
    /// What the browser logs in with.
    pub fn login(&self) -> &Login {
        self.session.login()
    }

    /// What was refused so far, for people to read.
    pub fn refusals(&self) -> Refusals {
        self.session.log().list()
    }

    /// What was moved so far.
    pub fn usage(&self) -> Usage {
        Usage {
            passed: self.session.passed.load(Ordering::Relaxed),
            bytes: self.session.meter.moved(),
        }
    }
}

impl fmt::Debug for OpenSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenSession").field("login", self.login()).finish_non_exhaustive()
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        (self.forget)(&self.session.login.user);
        self.session.over.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_random_hidden_and_exact() {
        let (a, b) = (Login::new(1).unwrap(), Login::new(2).unwrap());
        assert_ne!(a.password, b.password);
        assert!(a.password.expose().len() >= 43, "32 bytes");
        assert!(!format!("{a:?}").contains(a.password.expose().as_str()));
        assert!(a.is("session-1", a.password.expose()));
        for (user, password) in [
            ("session-1", ""),
            ("session-1", b.password.expose().as_str()),
            ("session-2", a.password.expose()),
            ("session-1", &format!("{}x", a.password.expose())),
            ("session-1", &a.password.expose()[..42]),
        ] {
            assert!(!a.is(user, password));
        }
        let header = format!("basic {}", STANDARD.encode("u:p:w"));
        let (user, password) = read_basic(&header).unwrap();
        assert_eq!((user.as_str(), password.expose().as_str()), ("u", "p:w"));
        for bad in ["", "Basic", "Basic !!!", "Bearer dTpw", "Basic dQ=="] {
            assert!(read_basic(bad).is_none(), "{bad}");
        }
    }
}
