//! Dashboards: one-time codes, cookies, and the word that proves a change is the dashboard's own.

use crate::auth::{Caller, Via};
use crate::error::ServeError;
use crate::keys;
use crate::limits;
use reins_core::Secret;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// Codes that wait and dashboards that are signed in. In memory: a restart signs everybody out.
#[derive(Debug, Default)]
pub(crate) struct SignIns {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    codes: VecDeque<(Instant, [u8; 32], Caller)>,
    open: VecDeque<Open>,
}

/// A dashboard that is signed in.
#[derive(Clone, Debug)]
struct Open {
    until: Instant,
    cookie: [u8; 32],
    csrf: Secret<String>,
    caller: Caller,
}

/// What a sign-in gives.
pub(crate) struct SignedIn {
    pub(crate) cookie: Secret<String>,
    pub(crate) caller: Caller,
}

impl SignIns {
    /// A code that signs in once, with the rights of who asked for it.
    pub(crate) fn code(&self, caller: Caller) -> Result<Secret<String>, ServeError> {
        let code = keys::secret("")?;
        let mut inner = self.inner();
        if inner.codes.len() >= limits::CODES {
            inner.codes.pop_front();
        }
        let until = Instant::now() + limits::CODE_LIVES;
        inner.codes.push_back((until, keys::hash(code.expose()), caller));
        Ok(code)
    }

    /// Uses a code up.
    pub(crate) fn open(&self, code: &str) -> Result<SignedIn, ServeError> {
        let (hash, now) = (keys::hash(code), Instant::now());
        let (cookie, csrf) = (keys::secret("")?, keys::secret("")?);
        let mut inner = self.inner();
        inner.codes.retain(|(until, ..)| *until > now);
        let found = inner.codes.iter().position(|(_, known, _)| *known == hash);
        let (.., mut caller) =
            found.and_then(|at| inner.codes.remove(at)).ok_or(ServeError::WrongCode)?;
        caller.via = Via::Cookie { csrf: csrf.clone() };
        if inner.open.len() >= limits::SIGN_INS {
            inner.open.pop_front();
        }
        let hash = keys::hash(cookie.expose());
        let until = now + limits::SIGNED_IN;
        inner.open.push_back(Open { until, cookie: hash, csrf, caller: caller.clone() });
        Ok(SignedIn { cookie, caller })
    }

    /// Who a cookie belongs to.
    pub(crate) fn caller(&self, cookie: &str) -> Option<Caller> {
        let (hash, now) = (keys::hash(cookie), Instant::now());
        let mut inner = self.inner();
        inner.open.retain(|open| open.until > now);
        let open = inner.open.iter().find(|open| open.cookie == hash)?;
        let mut caller = open.caller.clone();
        caller.via = Via::Cookie { csrf: open.csrf.clone() };
        Some(caller)
    }

    /// Signs out.
    pub(crate) fn close(&self, cookie: &str) {
        let hash = keys::hash(cookie);
        self.inner().open.retain(|open| open.cookie != hash);
    }

    /// Every section leaves whole values.
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
