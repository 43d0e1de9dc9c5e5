//! The words on a card (R-166…R-168).

use crate::assess::{Assessment, RiskKind, Way, history_word};
use crate::card::{Card, CardKind, Grants};
use crate::facts::Facts;
use crate::host::shown_host;
use crate::plain::{clip_middle, plain_text};
use reins_core::{Action, Gesture, MouseButton, Origin, TargetRecord};

/// Bytes of an element's caption on a card.
const CAPTION_BYTES: usize = 80;

/// Bytes of an address on a card.
const ADDRESS_BYTES: usize = 160;

/// What a card says, taken from the action while it could still be read.
#[derive(Debug)]
pub(crate) struct Wording {
    title: String,
    place: Option<Origin>,
    leads: Option<String>,
    sites: Vec<String>,
}

impl Wording {
    pub(crate) fn new(action: &Action, step: &Assessment<'_>, facts: &Facts<'_>) -> Self {
        let place = match action.target() {
            Some(target) => target.origin.named_as().or(target.top.named_as()),
            None => facts.tab.origin.named_as(),
        };
        let mut sites: Vec<Origin> =
            step.documents.iter().filter_map(|document| document.named_as().cloned()).collect();
        sites.extend(step.destination.as_ref().and_then(|destination| destination.origin()));
        sites.sort();
        sites.dedup();
        Self {
            title: title(action),
            place: place.cloned(),
            leads: leads(step, place),
            sites: sites.iter().map(shown_host).collect(),
        }
    }
}

/// Puts a card together.
pub(crate) fn card(
    wording: &Wording,
    kind: CardKind,
    risk: RiskKind,
    note: Option<&str>,
    always_offer: Option<Origin>,
    _grants: &Grants,
) -> Card {
    let place = wording.place.as_ref().map_or("this page".to_owned(), shown_host);
    let word = risk_word(risk);
    let mut detail = match (note, word) {
        (Some(note), _) => sentence(note),
        (None, Some(word)) => format!("This may {word} on {place}."),
        (None, None) if wording.leads.is_some() && kind == CardKind::Confirm => String::new(),
        (None, None) => sentence(reason(risk)),
    };
    if let Some(leads) = &wording.leads {
        if !detail.is_empty() {
            detail.push(' ');
        }
        detail.push_str(leads);
    }
    Card {
        kind,
        title: wording.title.clone(),
        detail,
        risk,
        sites: wording.sites.clone(),
        always_offer,
        note: note.map(str::to_owned),
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let head = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{head}{}.", letters.as_str().trim_end_matches('.'))
}

/// The words for risks that need no explanation.
fn risk_word(risk: RiskKind) -> Option<&'static str> {
    Some(match risk {
        RiskKind::Purchase => "buy, book, pay or transfer something",
        RiskKind::Send => "send or publish something",
        RiskKind::Delete => "delete something",
        RiskKind::Upload => "upload a file",
        RiskKind::Download => "download a file",
        RiskKind::SensitiveField => "use a password, one-time code or payment field",
        RiskKind::SignIn => "sign in or authorise something",
        RiskKind::Subscription => "start or end a subscription",
        _ => return None,
    })
}

/// The guard's own reason.
fn reason(risk: RiskKind) -> &'static str {
    match risk {
        RiskKind::UnnamedSite => "nobody named this site",
        RiskKind::CrossOrigin => "it leads to a site that nobody named",
        RiskKind::NewSite => "nobody named this site",
        RiskKind::Resubmit => "loading this page again sends its form again",
        RiskKind::History => "it goes through the history of the tab",
        RiskKind::Unclassified => "nothing tells what this does",
        RiskKind::Clipboard => "it uses your clipboard",
        RiskKind::Dialog => "the page asked a question",
        RiskKind::Submit => "it submits something",
        RiskKind::Enter => "enter may submit something",
        RiskKind::Critic => "the safety check held this step",
        _ => "it can change something",
    }
}

fn leads(step: &Assessment<'_>, place: Option<&Origin>) -> Option<String> {
    let destination = step.destination.as_ref()?;
    let origin = destination.origin()?;
    let host = format!("{}:{}", origin.host(), origin.port());
    match &destination.way {
        Way::Form(_) => Some(format!("It sends the form to {host}.")),
        Way::Link(_) if Some(&origin) != place => Some(format!("It leads to {host}.")),
        Way::Link(_) => None,
        Way::Address | Way::History | Way::Reload => {
            Some(format!("The address is {}.", shown(destination.url, ADDRESS_BYTES)))
        }
    }
}

fn shown(text: &str, bytes: usize) -> String {
    clip_middle(&plain_text(text), bytes)
}

fn element(target: &TargetRecord) -> String {
    let role = shown(&target.role, CAPTION_BYTES);
    match shown(&target.name, CAPTION_BYTES) {
        name if name.is_empty() => format!("a {role} without a name"),
        name => format!("the {role} “{name}”"),
    }
}

fn title(action: &Action) -> String {
    match action {
        Action::Navigate { .. } => "Open an address?".to_owned(),
        Action::OpenTab { .. } => "Open a tab?".to_owned(),
        Action::History { step, .. } => format!("Go {}?", history_word(*step)),
        Action::Reload { .. } => "Load the page again?".to_owned(),
        Action::SwitchTab { .. } => "Switch tabs?".to_owned(),
        Action::CloseTab { .. } => "Close the tab?".to_owned(),
        Action::Pointer { target, gesture: Gesture::Hover } => {
            format!("Point at {}?", element(target))
        }
        Action::Pointer { target, gesture: Gesture::Click { button, .. } } => match button {
            MouseButton::Right => format!("Right-click {}?", element(target)),
            MouseButton::Left | MouseButton::Middle => format!("Click {}?", element(target)),
        },
        Action::Drag { from, to } => format!("Drag {} onto {}?", element(from), element(to)),
        Action::Type { target, enter: true, .. } => {
            format!("Type into {} and press Enter?", element(target))
        }
        Action::Type { target, .. } => format!("Type into {}?", element(target)),
        Action::Select { target, .. } => format!("Choose in {}?", element(target)),
        Action::Check { target, checked: true } => format!("Check {}?", element(target)),
        Action::Check { target, checked: false } => format!("Uncheck {}?", element(target)),
        Action::Press { target: Some(target), chord, .. } => {
            format!("Press {chord} in {}?", element(target))
        }
        Action::Press { chord, .. } => format!("Press {chord}?"),
        Action::Scroll { .. } => "Scroll?".to_owned(),
        Action::Upload { target, files } => {
            format!("Give {} file(s) to {}?", files.len(), element(target))
        }
        Action::AnswerDialog { accept: true, .. } => "Accept the page's dialog?".to_owned(),
        Action::AnswerDialog { .. } => "Dismiss the page's dialog?".to_owned(),
    }
}
