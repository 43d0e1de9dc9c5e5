//! Every refusal the guard gives: a stable code, what happened, what to do next.

use crate::plain::{clip_middle, plain_text};
use reins_core::Refusal;

/// Bytes of an address or name quoted in a refusal.
const QUOTED_BYTES: usize = 200;

/// The stable codes of the guard's refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusalCode {
    /// No such tool.
    UnknownTool,
    /// A tab that the person opened can't be closed.
    UserTab,
    /// A tab that was neither handed over nor opened by the agent.
    NotYourTab,
    /// Downloads are refused.
    Download,
    /// Neither http nor https.
    BlockedUrlScheme,
    /// An address that came from nowhere the person or the page showed.
    UnknownUrl,
    /// The site has a "never" rule.
    NeverRule,
    /// The app's session opens only the app.
    OutsideApp,
    /// A page of the browser itself.
    BrowserPage,
    /// The target is not what was shown or approved.
    StaleRef,
    /// The approval belongs to a moment that is over.
    ApprovalExpired,
    /// The person said no.
    NotAllowed,
    /// The person stopped the turn.
    Stopped,
}

impl RefusalCode {
    /// Every code, in the order of the reference page.
    pub const ALL: [RefusalCode; 13] = [
        RefusalCode::UnknownTool,
        RefusalCode::UserTab,
        RefusalCode::NotYourTab,
        RefusalCode::BrowserPage,
        RefusalCode::Download,
        RefusalCode::BlockedUrlScheme,
        RefusalCode::UnknownUrl,
        RefusalCode::NeverRule,
        RefusalCode::OutsideApp,
        RefusalCode::StaleRef,
        RefusalCode::ApprovalExpired,
        RefusalCode::NotAllowed,
        RefusalCode::Stopped,
    ];

    /// When it is given, for people.
    pub fn when(self) -> &'static str {
        match self {
            RefusalCode::UnknownTool => "there is no such tool",
            RefusalCode::UserTab => "the agent would close a tab that you opened",
            RefusalCode::NotYourTab => "the tab was neither handed over nor opened by the agent",
            RefusalCode::BrowserPage => {
                "the page belongs to the browser itself, such as its settings"
            }
            RefusalCode::Download => "the step would download a file, and the session may not",
            RefusalCode::BlockedUrlScheme => "the address is not an http or https one",
            RefusalCode::UnknownUrl => {
                "the address came neither from you nor from a link that was shown"
            }
            RefusalCode::NeverRule => "a site rule says never",
            RefusalCode::OutsideApp => {
                "the session is pinned to an app, and the address is outside it"
            }
            RefusalCode::StaleRef => {
                "the element is not what was shown, or not what was approved any more"
            }
            RefusalCode::ApprovalExpired => {
                "the approval ended with its step, by a stop or a pause"
            }
            RefusalCode::NotAllowed => "you did not allow the step",
            RefusalCode::Stopped => "you stopped the request",
        }
    }

    /// The code as results spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            RefusalCode::UnknownTool => "unknown_tool",
            RefusalCode::UserTab => "user_tab",
            RefusalCode::NotYourTab => "not_your_tab",
            RefusalCode::Download => "download",
            RefusalCode::BlockedUrlScheme => "blocked_url_scheme",
            RefusalCode::UnknownUrl => "unknown_url",
            RefusalCode::NeverRule => "never_rule",
            RefusalCode::OutsideApp => "outside_app",
            RefusalCode::BrowserPage => "browser_page",
            RefusalCode::StaleRef => "stale_ref",
            RefusalCode::ApprovalExpired => "approval_expired",
            RefusalCode::NotAllowed => "not_allowed",
            RefusalCode::Stopped => "stopped",
        }
    }

    pub(crate) fn refusal(self, message: impl Into<String>, next: &'static str) -> Refusal {
        Refusal::new(self.as_str(), message, next)
    }
}

/// The refusal for a tool that does not exist.
pub fn unknown_tool(name: &str) -> Refusal {
    RefusalCode::UnknownTool.refusal(
        format!("there is no tool named '{}'", quoted(name)),
        "Use one of the listed tools.",
    )
}

/// A text from outside, fit to stand inside a message.
pub(crate) fn quoted(text: &str) -> String {
    clip_middle(&plain_text(text), QUOTED_BYTES)
}
