//! A call under way.

use crate::error::{CallError, Lost, LostCause, NotSent, NotSentCause};
use crate::message::Reply;
use crate::router::{Answer, Fail, Handle};
use serde::de::DeserializeOwned;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep, sleep_until};

/// A command that was queued, whose answer is still to come. Await it for the answer.
///
/// Dropping it forgets the answer; the command itself is still written. [`Pending::withdraw`]
/// takes it back where that is still possible.
#[must_use = "await it for the answer, or drop it with `drop` to forget the answer"]
pub struct Pending<R> {
    raw: RawPending,
    answer: PhantomData<fn() -> R>,
}

impl<R> Pending<R> {
    pub(crate) fn new(raw: RawPending) -> Self {
        Self { raw, answer: PhantomData }
    }

    /// Whether the command was handed to the transport. What was not can be withdrawn.
    pub fn is_written(&self) -> bool {
        self.raw.wait.as_ref().is_some_and(|w| w.handle.router.is_written(w.id))
    }
}

impl<R: DeserializeOwned> Pending<R> {
    /// Stops waiting, and says exactly what is known: the answer if it is here already,
    /// [`CallError::NotSent`] if the command was still queued (it is taken out and never written),
    /// else [`CallError::Lost`].
    ///
    /// # Errors
    /// As above.
    pub fn withdraw(self) -> Result<R, CallError> {
        self.raw.withdraw()?.parse()
    }
}

impl<R: DeserializeOwned> Future for Pending<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.raw.poll_reply(cx).map(|reply| reply?.parse())
    }
}

/// The same without a type.
pub(crate) struct RawPending {
    method: &'static str,
    /// `None` once it has ended.
    wait: Option<Wait>,
    refused: Option<NotSentCause>,
    /// Whether dropping it takes the command back where that is still possible.
    withdraw_on_drop: bool,
}

struct Wait {
    id: u64,
    handle: Arc<Handle>,
    answer: oneshot::Receiver<Answer>,
    deadline: Instant,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl RawPending {
    pub(crate) fn new(
        method: &'static str,
        handle: Arc<Handle>,
        deadline: Instant,
        queued: Result<(u64, oneshot::Receiver<Answer>), NotSentCause>,
    ) -> Self {
        let (wait, refused) = match queued {
            Ok((id, answer)) => (Some(Wait { id, handle, answer, deadline, sleep: None }), None),
            Err(cause) => (None, Some(cause)),
        };
        Self { method, wait, refused, withdraw_on_drop: false }
    }

    pub(crate) fn withdraw_on_drop(mut self) -> Self {
        self.withdraw_on_drop = true;
        self
    }

    fn not_sent(&self, cause: NotSentCause) -> CallError {
        NotSent { method: self.method, cause }.into()
    }

    fn lost(&self, cause: LostCause) -> CallError {
        Lost { method: self.method, cause }.into()
    }

    fn finish(&mut self, answer: Answer) -> Result<Reply, CallError> {
        self.wait = None;
        match answer {
            Ok((result, seq)) => Ok(Reply { method: self.method, result, seq }),
            Err(Fail::NotSent(cause)) => Err(self.not_sent(cause)),
            Err(Fail::Lost(cause)) => Err(self.lost(cause)),
            Err(Fail::Answered { code, message }) => {
                Err(CallError::Answered { method: self.method, code, message })
            }
            Err(Fail::TooLarge) => Err(CallError::Malformed {
                method: self.method,
                detail: format!("over {} bytes", crate::framing::MESSAGE_BYTES),
            }),
        }
    }

    pub(crate) fn poll_reply(&mut self, cx: &mut Context<'_>) -> Poll<Result<Reply, CallError>> {
        if let Some(cause) = self.refused.take() {
            return Poll::Ready(Err(self.not_sent(cause)));
        }
        let Some(wait) = &mut self.wait else {
            // Polled again after it ended: there is nothing left to hear.
            return Poll::Ready(Err(self.lost(LostCause::Withdrawn)));
        };
        if let Poll::Ready(answer) = Pin::new(&mut wait.answer).poll(cx) {
            let answer = answer.unwrap_or(Err(Fail::Lost(LostCause::Withdrawn)));
            return Poll::Ready(self.finish(answer));
        }
        let deadline = wait.deadline;
        let sleep = wait.sleep.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if sleep.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        let written = wait.handle.router.forget(wait.id, true);
        self.wait = None;
        Poll::Ready(Err(if written {
            self.lost(LostCause::Deadline)
        } else {
            self.not_sent(NotSentCause::Deadline)
        }))
    }

    fn withdraw(mut self) -> Result<Reply, CallError> {
        if let Some(cause) = self.refused.take() {
            return Err(self.not_sent(cause));
        }
        let Some(mut wait) = self.wait.take() else {
            return Err(self.lost(LostCause::Withdrawn));
        };
        let written = wait.handle.router.forget(wait.id, true);
        // The answer may have come just before.
        if let Ok(answer) = wait.answer.try_recv() {
            return self.finish(answer);
        }
        Err(if written {
            self.lost(LostCause::Withdrawn)
        } else {
            self.not_sent(NotSentCause::Withdrawn)
        })
    }
}

impl Drop for RawPending {
    fn drop(&mut self) {
        if let Some(wait) = self.wait.take() {
            wait.handle.router.forget(wait.id, self.withdraw_on_drop);
        }
    }
}
