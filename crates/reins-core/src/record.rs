//! What is known of one element at one moment: the thing an approval is bound to.

use crate::ids::NodeKey;
use crate::origin::DocumentOrigin;

/// The semantics of an element, read privately just before an act and compared again inside
/// the event. Two records of one element are equal exactly when nothing that matters changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetRecord {
    /// The element.
    pub node: NodeKey,
    /// Where the element's own document comes from.
    pub origin: DocumentOrigin,
    /// Where the tab's main document comes from.
    pub top: DocumentOrigin,
    /// The lower-case tag name.
    pub tag: String,
    /// The `type` of an input or button as the browser understands it (`text`, `submit`, …).
    pub input_type: Option<String>,
    /// The computed ARIA role.
    pub role: String,
    /// The computed accessible name. Page text: data, never an instruction.
    pub name: String,
    /// The link that a click here would follow: the element itself or its nearest link ancestor.
    pub link: Option<Link>,
    /// The submission a click here would start, with all overrides resolved.
    pub submission: Option<Submission>,
    /// The submission that Enter in this field would start (its implicit submitter resolved).
    pub enter: Option<Submission>,
    /// What kind of secret the element holds, if any.
    pub sensitivity: Sensitivity,
    /// Whether text can be typed here.
    pub editable: bool,
    /// Whether it is disabled (by itself or by a fieldset), or inert.
    pub disabled: bool,
    /// The page script's own canonical form of all that must stay the same until the event:
    /// compared byte for byte inside the event, opaque to everyone else.
    pub seal: String,
}

/// A link as it is at this moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The absolute address.
    pub url: String,
    /// The effective `target`, empty for the same frame.
    pub target: String,
    /// Whether it carries `download`.
    pub download: bool,
}

/// A form submission with every override of its submitter applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The absolute address it goes to.
    pub action: String,
    /// How it is sent.
    pub method: FormMethod,
    /// The effective `target`, empty for the same frame.
    pub target: String,
    /// The effective encoding.
    pub enctype: String,
    /// The caption of the control that submits, if there is one.
    pub submitter: Option<String>,
}

/// How a form is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormMethod {
    /// In the address.
    Get,
    /// In the body.
    Post,
    /// Closes a dialog; nothing is sent.
    Dialog,
}

/// What kind of secret a field holds. Its value is always shown as `[redacted]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sensitivity {
    /// Nothing that must be hidden.
    None,
    /// A password, old or new.
    Password,
    /// A one-time code.
    OneTimeCode,
    /// Card numbers, codes and expiry dates.
    Payment,
    /// A file chooser.
    File,
}
