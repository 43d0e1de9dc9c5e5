//! Why an act was not done, in stable codes and plain words. Page text never becomes part of them.

use crate::error::BrowserError;
use crate::page_call::AskError;
use crate::report::{Stop, Why};
use reins_cdp::{CallError, LostCause};
use reins_core::{Outcome, Refusal, Unknown, UnknownCause};
use serde::Deserialize;

/// What the page script answers when it can't do something.
#[derive(Debug, Deserialize)]
pub(crate) struct No {
    pub(crate) no: String,
    /// The number of the element that is in the way.
    #[serde(default)]
    pub(crate) by: u32,
    #[serde(default)]
    what: Option<String>,
    #[serde(default)]
    options: Vec<String>,
}

const LOOK: &str = "Take a new snapshot and use its refs.";

pub(crate) fn refused(
    code: &'static str,
    message: impl Into<String>,
    next: &'static str,
) -> Outcome {
    Outcome::Refused(Refusal::new(code, message, next))
}

pub(crate) fn unknown(cause: UnknownCause, message: impl Into<String>) -> Outcome {
    Outcome::Unknown(Unknown { cause, message: message.into() })
}

impl No {
    /// The refusal it stands for.
    pub(crate) fn outcome(self) -> Outcome {
        match self.no.as_str() {
            "detached" => refused("detached", "the element is no longer in the page", LOOK),
            "stale_ref" => refused(
                "stale_ref",
                "the element does something else now than when it was read",
                LOOK,
            ),
            "disabled" => refused(
                "disabled",
                "the element is disabled, so the page would ignore it",
                "Do first what enables it, or choose another element.",
            ),
            "not_visible" => refused(
                "not_visible",
                "the element is not visible, so it cannot be reached",
                "Open or scroll to what contains it first.",
            ),
            "covered" => covered(),
            "is_frame" => refused(
                "is_frame",
                "the element is a frame, not something in it",
                "Use the ref of an element inside the frame.",
            ),
            "not_editable" => refused(
                "not_editable",
                "no text can be typed into the element",
                "Use the ref of a text field, or send keys with press_key.",
            ),
            "read_only" => refused(
                "read_only",
                "the field is read-only",
                "Change it the way the page means it, or leave it.",
            ),
            "no_focus" => refused(
                "no_focus",
                "the page did not let the element have the focus",
                "Click it first, then try again.",
            ),
            "focus_moved" => refused("stale_ref", "the focus moved since the page was read", LOOK),
            "bad_value" => Outcome::Refused(Refusal::new(
                "bad_value",
                "the field does not accept that value",
                format!("It takes the form {}.", self.what.unwrap_or_default()),
            )),
            "not_a_select" => refused(
                "not_a_select",
                "the element is not a native select",
                "Click it, and then click the option in the list that opens.",
            ),
            "no_option" => Outcome::Refused(Refusal::new(
                "no_option",
                "there is no such option",
                format!("Choose from: {}.", self.options.join(" | ")),
            )),
            "one_option" => {
                refused("one_option", "only one option can be chosen here", "Give exactly one.")
            }
            _ => refused("page", "the page could not do that", LOOK),
        }
    }
}

pub(crate) fn covered() -> Outcome {
    refused(
        "covered",
        "something else lies over the element, so a click would not reach it",
        "Close or move what covers it first (see the effects for which element it is).",
    )
}

pub(crate) fn tab_in_use() -> Outcome {
    refused(
        "tab_in_use",
        "another act in this tab has not ended",
        "Wait for it, or use another tab.",
    )
}

pub(crate) fn stopped_before() -> Outcome {
    refused("stopped", "the turn was stopped before anything was sent", "Nothing was done.")
}

pub(crate) fn stopped_after() -> Outcome {
    unknown(UnknownCause::Stopped, "the turn was stopped while the act was under way")
}

/// An error before anything was dispatched.
pub(crate) fn cannot(error: &BrowserError) -> Outcome {
    Outcome::Refused(Refusal::new(error.code(), error.to_string(), "Nothing was sent to the page."))
}

/// The page script gave no answer while nothing had been dispatched yet.
pub(crate) fn not_asked(error: AskError) -> Outcome {
    match error {
        AskError::Replaced => {
            refused("stale_ref", "the document was replaced since it was read", LOOK)
        }
        AskError::Busy(_) => refused(
            "page_busy",
            "the page is busy: its script does not answer, so nothing was sent",
            "Try again later, or navigate elsewhere.",
        ),
        other => cannot(&other.into()),
    }
}

/// A command that dispatches something failed.
pub(crate) fn lost(error: &CallError) -> Outcome {
    match error {
        CallError::NotSent(e) => {
            refused("not_sent", format!("nothing was sent: {e}"), "Try again.")
        }
        CallError::Lost(lost) => match &lost.cause {
            LostCause::Deadline => {
                unknown(UnknownCause::Deadline, "the browser did not answer in time")
            }
            LostCause::Crashed => {
                unknown(UnknownCause::RendererCrashed, "the page crashed meanwhile")
            }
            LostCause::Withdrawn => stopped_after(),
            other => unknown(UnknownCause::ConnectionLost, other.to_string()),
        },
        CallError::Answered { message, .. } => unknown(
            UnknownCause::ProtocolError,
            format!("the browser answered with an error: {message}"),
        ),
        CallError::Malformed { detail, .. } => unknown(UnknownCause::ProtocolError, detail.clone()),
    }
}

/// The guard inside the page cancelled the gesture.
pub(crate) fn cancelled(stop: Stop) -> Outcome {
    let so_far = if stop.partly {
        " The page saw the beginning of the gesture, but not its end."
    } else {
        " The page saw nothing of it."
    };
    let (code, what) = match stop.why {
        Why::Missed | Why::Elsewhere => {
            ("covered", "something else was under the pointer at the moment of the press.")
        }
        Why::Slipped => {
            ("covered", "something else came under the pointer before the button was released.")
        }
        Why::Gone => ("stale_ref", "the page removed or replaced the element during the gesture."),
        Why::Changed => ("stale_ref", "the page changed what the element does during the gesture."),
        Why::Focus => ("stale_ref", "the page moved the focus away before the key went down."),
        Why::Abandoned => ("stopped", "the gesture was given up."),
        Why::Other => ("stale_ref", "the element was no longer what was approved."),
    };
    refused(code, format!("{what}{so_far}"), LOOK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reins_cdp::{CloseReason, Lost, NotSent, NotSentCause};

    const METHOD: &str = "Input.dispatchMouseEvent";

    /// what was not written is refused; what was written and not answered is unknown.
    #[test]
    fn a053_not_sent_is_refused_and_a055_lost_is_unknown() {
        for cause in [
            NotSentCause::Deadline,
            NotSentCause::SessionGone,
            NotSentCause::Withdrawn,
            NotSentCause::QueueFull,
            NotSentCause::Closed(CloseReason::Ended),
        ] {
            let error = NotSent { method: METHOD, cause }.into();
            assert!(matches!(lost(&error), Outcome::Refused(r) if r.code == "not_sent"));
        }
        for (cause, expected) in [
            (LostCause::Deadline, UnknownCause::Deadline),
            (LostCause::Crashed, UnknownCause::RendererCrashed),
            (LostCause::Withdrawn, UnknownCause::Stopped),
            (LostCause::SessionGone, UnknownCause::ConnectionLost),
            (LostCause::Closed(CloseReason::Ended), UnknownCause::ConnectionLost),
        ] {
            let error = Lost { method: METHOD, cause }.into();
            assert!(matches!(lost(&error), Outcome::Unknown(u) if u.cause == expected));
        }
    }
}
