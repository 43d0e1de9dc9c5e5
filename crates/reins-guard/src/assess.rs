//! Reads an action by its structure: what it does, where, and what can go wrong.

use crate::facts::{DialogKind, Facts};
use crate::keys::{KeyEffect, key_effect};
use crate::words::{address_risk, caption_risk, submission_risk};
use reins_core::{
    Action, DocumentOrigin, FormMethod, Gesture, Link, MouseButton, Origin, Sensitivity,
    Submission, TargetRecord,
};
use std::collections::BTreeSet;
use std::fmt;

/// A kind of risk, or another reason to ask. Ordered from the least to the most telling: a card
/// names the most telling one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RiskKind {
    /// Can change something, at a level that asks for that.
    Change,
    /// The critic held it, or there is none.
    Critic,
    /// Input on a site that nobody named.
    UnnamedSite,
    /// Leads to a site that nobody named.
    CrossOrigin,
    /// Opens an address that nobody named.
    NewSite,
    /// Loads a page again whose form would be sent again.
    Resubmit,
    /// Goes through the tab's history.
    History,
    /// Nothing tells what it does.
    Unclassified,
    /// Uses the person's clipboard.
    Clipboard,
    /// Answers a question that the page asked.
    Dialog,
    /// A submit control.
    Submit,
    /// Enter in a field.
    Enter,
    /// Starts or ends a subscription.
    Subscription,
    /// Signs in or authorises.
    SignIn,
    /// Sends or publishes something.
    Send,
    /// Downloads a file.
    Download,
    /// Gives a file away.
    Upload,
    /// Deletes something.
    Delete,
    /// Buys, pays, books or transfers.
    Purchase,
    /// A password, one-time code or payment field.
    SensitiveField,
    /// A secret that the person keeps with Reins.
    KeptSecret,
}

impl RiskKind {
    /// The kind as events spell it.
    pub fn code(self) -> &'static str {
        match self {
            RiskKind::Change => "change",
            RiskKind::Critic => "critic",
            RiskKind::UnnamedSite => "unnamed_site",
            RiskKind::CrossOrigin => "cross_origin",
            RiskKind::NewSite => "new_site",
            RiskKind::Resubmit => "resubmit",
            RiskKind::History => "history",
            RiskKind::Unclassified => "unclassified",
            RiskKind::Clipboard => "clipboard",
            RiskKind::Dialog => "dialog",
            RiskKind::Submit => "submit",
            RiskKind::Enter => "enter",
            RiskKind::Subscription => "subscription",
            RiskKind::SignIn => "sign_in",
            RiskKind::Send => "send",
            RiskKind::Download => "download",
            RiskKind::Upload => "upload",
            RiskKind::Delete => "delete",
            RiskKind::Purchase => "purchase",
            RiskKind::SensitiveField => "sensitive_field",
            RiskKind::KeptSecret => "kept_secret",
        }
    }
}

impl fmt::Display for RiskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// What a step does at most, by its structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    /// Looks, moves, or handles the agent's own tabs.
    Look,
    /// Opens an address.
    Open,
    /// Puts something into a page.
    Input,
}

/// Where a step leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Destination<'a> {
    pub(crate) url: &'a str,
    /// Its origin, if it is a web address.
    pub(crate) origin: Option<Origin>,
    pub(crate) way: Way<'a>,
}

/// How a step leads there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Way<'a> {
    /// An address that the caller gave.
    Address,
    /// Back or forward.
    History,
    /// The same document again.
    Reload,
    /// A link of the page.
    Link(&'a Link),
    /// A form of the page.
    Form(&'a Submission),
}

/// A step as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Assessment<'a> {
    pub(crate) effect: Effect,
    /// What the risky list has against it. Not empty: it asks at every level.
    pub(crate) risks: BTreeSet<RiskKind>,
    /// The documents it acts in.
    pub(crate) documents: Vec<&'a DocumentOrigin>,
    /// Where it can lead. The first is what it is asked for; an element can do more than one.
    pub(crate) destinations: Vec<Destination<'a>>,
}

impl<'a> Assessment<'a> {
    fn new(effect: Effect) -> Self {
        Self { effect, risks: BTreeSet::new(), documents: Vec::new(), destinations: Vec::new() }
    }

    fn risk(mut self, kind: RiskKind) -> Self {
        self.risks.insert(kind);
        self
    }

    fn risks(mut self, kinds: impl IntoIterator<Item = RiskKind>) -> Self {
        self.risks.extend(kinds);
        self
    }

    fn within(mut self, target: &'a TargetRecord) -> Self {
        self.documents.push(&target.top);
        if target.origin != target.top {
            self.documents.push(&target.origin);
        }
        self
    }

    fn leads(mut self, url: &'a str, way: Way<'a>) -> Self {
        let origin = Origin::parse(url).ok();
        self.destinations.push(Destination { url, origin, way });
        self
    }

    /// Where it leads first.
    pub(crate) fn destination(&self) -> Option<&Destination<'a>> {
        self.destinations.first()
    }

    /// The kind a card names.
    pub(crate) fn main_risk(&self) -> Option<RiskKind> {
        self.risks.last().copied()
    }
}

/// Reads an action.
pub(crate) fn assess<'a>(action: &'a Action, facts: &'a Facts<'a>) -> Assessment<'a> {
    match action {
        Action::SwitchTab { .. }
        | Action::CloseTab { .. }
        | Action::OpenTab { url: None }
        | Action::Scroll { .. }
        | Action::Pointer { gesture: Gesture::Hover, .. } => Assessment::new(Effect::Look),
        Action::Navigate { url, .. } | Action::OpenTab { url: Some(url) } => {
            let step = Assessment::new(Effect::Open).leads(url, Way::Address);
            // An address that the person gave is what they want opened.
            if facts.turn.given(url) { step } else { step.risks(address_risk(url)) }
        }
        Action::History { destination, .. } => {
            let step = Assessment::new(Effect::Open).risk(RiskKind::History);
            match destination {
                Some(url) => step.leads(url, Way::History),
                None => step,
            }
        }
        Action::Reload { url, .. } => {
            let step = Assessment::new(Effect::Open).leads(url, Way::Reload);
            if facts.tab.reload_resubmits { step.risk(RiskKind::Resubmit) } else { step }
        }
        Action::Pointer { target, gesture: gesture @ Gesture::Click { .. } } => {
            let step = click(target, *gesture);
            let downloads = holds_alt(action) && target.link.is_some();
            step.risks(downloads.then_some(RiskKind::Download))
        }
        Action::Drag { from, to } => {
            Assessment::new(Effect::Input).within(from).within(to).risk(RiskKind::Unclassified)
        }
        Action::Type { target, text, kept, keys, enter, .. } => {
            let text = text.expose();
            let mut step = Assessment::new(Effect::Input).within(target).risks(secret(target));
            if kept.is_some() {
                step = step.risk(RiskKind::KeptSecret);
            }
            if !target.editable && !is_native_value(target) {
                step = step.risk(RiskKind::Unclassified);
            }
            // As key presses, a line break is Enter, and a tab leaves for another field.
            let breaks = *keys && text.contains(['\n', '\r']);
            if *keys && text.contains('\t') {
                step = step.risk(RiskKind::Unclassified);
            }
            if *enter || breaks { entered(step, target) } else { step }
        }
        Action::Select { target, options } => {
            let step = Assessment::new(Effect::Input).within(target).risks(secret(target));
            let step = step.risks(options.iter().filter_map(|option| caption_risk(option)));
            if target.tag == "select" { step } else { step.risk(RiskKind::Unclassified) }
        }
        Action::Check { target, .. } => {
            let step = Assessment::new(Effect::Input).within(target).risks(secret(target));
            if is_native_check(target) {
                step.risks(caption_risk(&target.name))
            } else {
                click_into(step, target)
            }
        }
        Action::Press { target, chord, .. } => {
            press(target.as_ref(), key_effect(chord, target.as_ref()), facts)
        }
        Action::Upload { target, .. } => {
            Assessment::new(Effect::Input).within(target).risk(RiskKind::Upload)
        }
        Action::AnswerDialog { accept, .. } => dialog(*accept, facts),
    }
}

/// Whether Alt is held, with which following a link downloads what it leads to.
pub(crate) fn holds_alt(action: &Action) -> bool {
    match action {
        Action::Pointer { gesture: Gesture::Click { modifiers, .. }, .. } => modifiers.alt,
        Action::Press { chord, .. } => chord.modifiers.alt,
        _ => false,
    }
}

/// Whether an element is a native checkbox or radio button. A role alone is only what the page
/// says of itself.
pub(crate) fn is_native_check(target: &TargetRecord) -> bool {
    target.tag == "input" && matches!(target.input_type.as_deref(), Some("checkbox" | "radio"))
}

/// Whether an element is a native control that holds a value without being typed into: like a field, it only
/// keeps what it is given.
fn is_native_value(target: &TargetRecord) -> bool {
    target.tag == "input" && matches!(target.input_type.as_deref(), Some("range" | "color"))
}

/// Whether an element is a native submit control, image inputs included. A button without a form is one
/// by default only: it submits nothing, and nothing tells what its script does.
pub(crate) fn is_submit_control(target: &TargetRecord) -> bool {
    target.submission.is_some()
        || matches!(
            (target.tag.as_str(), target.input_type.as_deref()),
            ("input", Some("submit" | "image"))
        )
}

/// Whether a link's address only says that it has none, so that a click just runs the page's
/// own handlers.
pub(crate) fn is_void_address(url: &str) -> bool {
    let Some(script) = url.trim().strip_prefix("javascript:") else { return false };
    let script = script.replace("%20", " ");
    matches!(script.trim_matches([' ', ';']), "" | "void(0)" | "void 0" | "void (0)" | "void(null)")
}

/// A submission that sends something: a dialog's form does not, and one without an address of
/// its own in a script-built document has nowhere to send to.
pub(crate) fn sends(submission: &Submission) -> bool {
    submission.method != FormMethod::Dialog && !submission.action.starts_with("about:")
}

fn click(target: &TargetRecord, gesture: Gesture) -> Assessment<'_> {
    let Gesture::Click { button, .. } = gesture else { return Assessment::new(Effect::Look) };
    let step = Assessment::new(Effect::Input).within(target).risks(secret(target));
    if button == MouseButton::Right {
        return step.risk(RiskKind::Unclassified);
    }
    click_into(step, target)
}

fn click_into<'a>(step: Assessment<'a>, target: &'a TargetRecord) -> Assessment<'a> {
    let mut step = step.risks(caption_risk(&target.name));
    let mut classified = is_native_check(target);
    if is_submit_control(target) {
        classified = true;
        step = step.risk(RiskKind::Submit);
        step = submits(step, target.submission.as_ref());
    }
    if let Some(link) = &target.link {
        if is_void_address(&link.url) {
            classified = false;
        } else {
            step = step.leads(&link.url, Way::Link(link)).risks(address_risk(&link.url));
            if link.download {
                step = step.risk(RiskKind::Download);
            }
            if step.risks.is_empty() && !classified && reads_as_link(&target.role) {
                step.effect = Effect::Open;
            }
            classified |= reads_as_link(&target.role);
        }
    }
    if classified { step } else { step.risk(RiskKind::Unclassified) }
}

/// Whether a role leaves a link a link. A link that calls itself a button is a button.
fn reads_as_link(role: &str) -> bool {
    !matches!(
        role,
        "button"
            | "switch"
            | "checkbox"
            | "radio"
            | "combobox"
            | "textbox"
            | "searchbox"
            | "slider"
            | "spinbutton"
            | "listbox"
            | "option"
            | "menuitemcheckbox"
            | "menuitemradio"
            | "scrollbar"
    )
}

fn submits<'a>(step: Assessment<'a>, submission: Option<&'a Submission>) -> Assessment<'a> {
    let Some(submission) = submission else { return step };
    let step = step.risks(submission.submitter.as_deref().and_then(caption_risk));
    if !sends(submission) {
        return step;
    }
    let risk = submission_risk(&submission.action);
    step.leads(&submission.action, Way::Form(submission)).risks(risk)
}

fn entered<'a>(step: Assessment<'a>, target: &'a TargetRecord) -> Assessment<'a> {
    let step = submits(step.risk(RiskKind::Enter), target.enter.as_ref());
    if target.editable { step } else { click_into(step, target) }
}

fn press<'a>(
    target: Option<&'a TargetRecord>,
    effect: KeyEffect,
    facts: &'a Facts<'a>,
) -> Assessment<'a> {
    if effect == KeyEffect::View {
        return Assessment::new(Effect::Look);
    }
    let mut step = Assessment::new(Effect::Input);
    match target {
        Some(target) if effect == KeyEffect::Move => step = step.within(target),
        Some(target) => step = step.within(target).risks(secret(target)),
        None => step.documents.push(&facts.tab.origin),
    }
    match (effect, target) {
        (KeyEffect::View | KeyEffect::Move | KeyEffect::Edit, _) => step,
        (KeyEffect::Enter, Some(target)) => entered(step, target),
        (KeyEffect::Enter, None) => step.risk(RiskKind::Enter),
        (KeyEffect::Activate, Some(target)) => click_into(step, target),
        (KeyEffect::Clipboard, _) => step.risk(RiskKind::Clipboard),
        (KeyEffect::Activate | KeyEffect::Unknown, _) => step.risk(RiskKind::Unclassified),
    }
}

fn dialog<'a>(accept: bool, facts: &'a Facts<'a>) -> Assessment<'a> {
    match &facts.tab.dialog {
        _ if !accept => Assessment::new(Effect::Look),
        Some(dialog) if dialog.kind == DialogKind::Alert => Assessment::new(Effect::Look),
        Some(dialog) => Assessment::new(Effect::Input)
            .risk(RiskKind::Dialog)
            .risks(caption_risk(&dialog.message)),
        None => Assessment::new(Effect::Input).risk(RiskKind::Dialog),
    }
}

fn secret(target: &TargetRecord) -> Option<RiskKind> {
    match target.sensitivity {
        Sensitivity::None => None,
        Sensitivity::Password | Sensitivity::OneTimeCode | Sensitivity::Payment => {
            Some(RiskKind::SensitiveField)
        }
        Sensitivity::File => Some(RiskKind::Upload),
    }
}
