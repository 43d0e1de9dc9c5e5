//! The critic's question, built so that no page text can reach it (R-186…R-190).

use crate::approve::{ApprovedAction, Basis};
use crate::assess::{Assessment, RiskKind, Way};
use crate::block::in_frame;
use crate::card::PendingCard;
use crate::decide::Prepared;
use crate::plain::{clip_middle, plain_text};
use crate::reason::{Question, Wording};
use reins_core::{Action, DocumentOrigin, Origin};
use thiserror::Error;

/// Bytes of the person's goal that the critic sees.
const GOAL_BYTES: usize = 4_000;

/// A longer answer of the critic is no answer.
const VERDICT_BYTES: usize = 4_096;

/// Bytes of the critic's reason on a card.
const REASON_BYTES: usize = 200;

macro_rules! closed_list {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal),+ $(,)? } else $other:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the names are the standard's own")]
        pub enum $name { $($variant,)+ $other }

        impl $name {
            /// The entry for a text, or the one that stands for everything else.
            pub fn of(text: &str) -> Self {
                match text { $($text => Self::$variant,)+ _ => Self::$other }
            }

            /// The entry's own fixed text.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ Self::$other => "other" }
            }
        }
    };
}

closed_list! {
    /// The roles that the critic may hear of.
    CriticRole {
        Button = "button", Checkbox = "checkbox", Combobox = "combobox", Link = "link",
        Listbox = "listbox", MenuItem = "menuitem", Option = "option", Radio = "radio",
        SearchBox = "searchbox", Slider = "slider", SpinButton = "spinbutton", Switch = "switch",
        Tab = "tab", TextBox = "textbox", TreeItem = "treeitem",
    } else Other
}

closed_list! {
    /// The tools that the critic may hear of.
    CriticTool {
        Check = "check", Click = "click", GoBack = "go_back", GoForward = "go_forward",
        Navigate = "navigate", OpenTab = "open_tab", PressKey = "press_key", Reload = "reload",
        SelectOption = "select_option", Type = "type",
    } else Other
}

/// What kind of control it is, told to the critic as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ControlType {
    NoControl = 0,
    TextField = 1,
    Check = 2,
    Select = 3,
    Link = 4,
    Other = 5,
}

/// One question to the critic. It holds the person's own words, entries of closed lists, numbers,
/// booleans and canonical origins, and has no field that a label, name, path or text could be in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriticQuestion {
    goal: String,
    tool: CriticTool,
    role: CriticRole,
    control: ControlType,
    document: Option<Origin>,
    top: Option<Origin>,
    destination: Option<Origin>,
    in_frame: bool,
    cross_site: bool,
    follows_link: bool,
}

impl CriticQuestion {
    pub(crate) fn new(action: &Action, step: &Assessment<'_>) -> Self {
        let target = action.target();
        let named = |document: &DocumentOrigin| document.named_as().cloned();
        let document = target.and_then(|target| named(&target.origin));
        let destination = step.destination().and_then(|leads| leads.origin.clone());
        Self {
            goal: String::new(),
            tool: CriticTool::of(action.verb()),
            role: CriticRole::of(target.map_or("", |target| target.role.as_str())),
            control: control_type(action, step),
            top: target.and_then(|target| named(&target.top)),
            in_frame: target.is_some_and(in_frame),
            cross_site: matches!((&document, &destination), (Some(from), Some(to)) if from.site() != to.site()),
            follows_link: matches!(step.destination(), Some(leads) if matches!(leads.way, Way::Link(_))),
            document,
            destination,
        }
    }

    /// The question as lines of `name: value`, for the provider's prompt.
    pub fn to_text(&self) -> String {
        let origin = |origin: &Option<Origin>| match origin {
            Some(origin) => origin.to_string(),
            None => "none".to_owned(),
        };
        format!(
            "goal: {}\ntool: {}\nrole: {}\ncontrol: {}\ndocument: {}\ntop: {}\ndestination: {}\nin_frame: {}\ncross_site: {}\nfollows_link: {}\n",
            self.goal,
            self.tool.as_str(),
            self.role.as_str(),
            self.control as u8,
            origin(&self.document),
            origin(&self.top),
            origin(&self.destination),
            self.in_frame,
            self.cross_site,
            self.follows_link,
        )
    }
}

fn control_type(action: &Action, step: &Assessment<'_>) -> ControlType {
    match action {
        Action::Type { .. } => ControlType::TextField,
        Action::Check { .. } => ControlType::Check,
        Action::Select { .. } => ControlType::Select,
        _ if matches!(step.destination(), Some(leads) if matches!(leads.way, Way::Link(_))) => {
            ControlType::Link
        }
        _ if action.target().is_some_and(crate::assess::is_native_check) => ControlType::Check,
        _ if action.target().is_some_and(|target| target.editable) => ControlType::TextField,
        _ if action.target().is_none() => ControlType::NoControl,
        _ => ControlType::Other,
    }
}

/// What the critic may say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CriticVerdict {
    /// The step may run.
    Allow,
    /// The person shall be asked.
    Escalate {
        /// Why, in the critic's words, made plain and bounded.
        reason: Option<String>,
    },
}

/// Why an answer of the critic is none. Every one of these becomes a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum VerdictError {
    /// It is neither allow nor escalate.
    #[error("the safety check gave no valid answer")]
    Invalid,
    /// It is longer than 4096 bytes.
    #[error("the safety check answered too much")]
    TooLong,
    /// The provider failed.
    #[error("the safety check failed")]
    Provider,
    /// No answer within 4 seconds.
    #[error("the safety check did not answer in time")]
    Deadline,
}

impl VerdictError {
    /// The stable code.
    pub fn code(self) -> &'static str {
        match self {
            VerdictError::Invalid => "critic_invalid",
            VerdictError::TooLong => "critic_too_long",
            VerdictError::Provider => "critic_failed",
            VerdictError::Deadline => "critic_deadline",
        }
    }
}

impl CriticVerdict {
    /// Reads an answer: `allow`, or `escalate` with an optional reason after a colon. Anything
    /// else is no answer.
    pub fn parse(answer: &str) -> Result<Self, VerdictError> {
        if answer.len() > VERDICT_BYTES {
            return Err(VerdictError::TooLong);
        }
        let answer = answer.trim();
        if answer == "allow" {
            return Ok(CriticVerdict::Allow);
        }
        let reason = match answer.strip_prefix("escalate") {
            Some("") => return Ok(CriticVerdict::Escalate { reason: None }),
            Some(rest) => rest.strip_prefix(':').ok_or(VerdictError::Invalid)?,
            None => return Err(VerdictError::Invalid),
        };
        let reason = clip_middle(&plain_text(reason), REASON_BYTES);
        Ok(CriticVerdict::Escalate { reason: (!reason.is_empty()).then_some(reason) })
    }
}

/// A low-risk step that waits for the critic.
#[derive(Debug)]
#[must_use = "the step waits for a verdict"]
pub struct PendingCheck {
    pub(crate) prepared: Prepared,
    pub(crate) wording: Wording,
    pub(crate) question: CriticQuestion,
}

impl PendingCheck {
    /// The question, with the person's goal put in.
    pub fn question(&self, goal: &str) -> CriticQuestion {
        CriticQuestion { goal: clip_middle(&plain_text(goal), GOAL_BYTES), ..self.question.clone() }
    }

    /// Turns the verdict into an approval, or into a card that says what held the step.
    #[expect(clippy::result_large_err, reason = "the card is an ordinary answer, not an error")]
    pub fn decide(
        self,
        verdict: Result<CriticVerdict, VerdictError>,
    ) -> Result<ApprovedAction, PendingCard> {
        let held = match verdict {
            Ok(CriticVerdict::Allow) => return Ok(self.prepared.approve(Basis::Critic)),
            Ok(CriticVerdict::Escalate { reason }) => {
                reason.unwrap_or_else(|| "the safety check held this step".to_owned())
            }
            Err(error) => error.to_string(),
        };
        let question = Question { held: Some(held), ..Question::confirm(RiskKind::Critic) };
        Err(self.prepared.ask(&self.wording, question))
    }
}
