//! Counts what a session moves, and slows it down to its rate.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::time::Sleep;

use crate::session::Session;
use std::sync::Arc;

/// How much a session may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Bytes in both directions together, of bodies and tunnels.
    pub bytes: u64,
    /// Bytes per second in both directions together; `None` means as fast as it goes.
    pub rate: Option<u64>,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { bytes: crate::limits::SESSION_BYTES, rate: None }
    }
}

#[derive(Debug)]
pub(crate) struct Meter {
    allowance: Allowance,
    moved: AtomicU64,
    /// When everything that was moved so far is paid for, at the session's rate.
    paid: Mutex<Option<Instant>>,
}

/// The session has moved as many bytes as it may.
#[derive(Debug, thiserror::Error)]
#[error("this session has moved as many bytes as it may")]
pub(crate) struct Spent;

impl Meter {
    pub(crate) fn new(allowance: Allowance) -> Self {
        Self { allowance, moved: AtomicU64::new(0), paid: Mutex::default() }
    }

    pub(crate) fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.moved() >= self.allowance.bytes
    }

    /// Counts bytes before they are passed on; tells how long to wait with the next ones.
    pub(crate) fn take(&self, bytes: usize, now: Instant) -> Result<Duration, Spent> {
        let bytes = bytes as u64;
        let before = self.moved.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.allowance.bytes {
            return Err(Spent);
        }
        let Some(rate) = self.allowance.rate else { return Ok(Duration::ZERO) };
        let price = Duration::from_secs_f64(bytes as f64 / rate.max(1) as f64);
        let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        let from = paid.map_or(now, |paid| paid.max(now));
        let until = from + price;
        *paid = Some(until);
        Ok(until.saturating_duration_since(now))
    }
}

/// A body that is counted on its way, may not be silent forever, and ends with its session.
pub(crate) struct Metered<B> {
    body: B,
    session: Arc<Session>,
    /// Until when nothing more is passed on, or when silence has lasted too long.
    wait: Option<Pin<Box<Sleep>>>,
    silence: Pin<Box<Sleep>>,
    /// Held as long as the body: the place of its request among those under way.
    _place: Option<tokio::sync::OwnedSemaphorePermit>,
}

impl<B> Metered<B> {
    pub(crate) fn new(
        body: B,
        session: Arc<Session>,
        place: Option<tokio::sync::OwnedSemaphorePermit>,
    ) -> Self {
        let silence = Box::pin(tokio::time::sleep(crate::limits::SILENCE));
        Self { body, session, wait: None, silence, _place: place }
    }
}

type BodyError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
#[error("nothing came for too long, or the session ended")]
struct Over;

impl<B: Body<Data = Bytes> + Unpin> Body for Metered<B>
where
    B::Error: Into<BodyError>,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        if this.session.is_over() {
            return Poll::Ready(Some(Err(Box::new(Over))));
        }
        if let Some(wait) = &mut this.wait {
            if wait.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            this.wait = None;
        }
        match Pin::new(&mut this.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                match this.session.count(bytes) {
                    Ok(Duration::ZERO) => {}
                    Ok(wait) => this.wait = Some(Box::pin(tokio::time::sleep(wait))),
                    Err(spent) => return Poll::Ready(Some(Err(Box::new(spent)))),
                }
                let next = tokio::time::Instant::now() + crate::limits::SILENCE;
                this.silence.as_mut().reset(next);
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(error.into()))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => match this.silence.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(Some(Err(Box::new(Over)))),
                Poll::Pending => Poll::Pending,
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_end_and_the_rate_is_kept_over_time() {
        let meter = Meter::new(Allowance { bytes: 1_000, rate: Some(100) });
        let start = Instant::now();
        assert_eq!(meter.take(50, start).unwrap(), Duration::from_millis(500));
        assert_eq!(meter.take(50, start).unwrap(), Duration::from_secs(1));
        // A pause pays for itself but saves nothing up.
        let later = start + Duration::from_secs(60);
        assert_eq!(meter.take(100, later).unwrap(), Duration::from_secs(1));
        assert!(!meter.is_spent());
        assert!(meter.take(801, later).is_err());
        assert!(meter.is_spent());
    }
}
