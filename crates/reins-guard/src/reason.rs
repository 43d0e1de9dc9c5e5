//! The words on a card (R-166…R-168).

use crate::assess::{Assessment, RiskKind, Way};
use crate::card::{Card, CardKind, Grants};
use crate::facts::Facts;
use crate::host::KnownHosts;
use crate::plain::{clip_middle, plain_text};
use crate::title::title;
use reins_core::{Action, DocumentOrigin, Origin, Submission};
use url::Url;

/// Bytes of an address on a card.
const ADDRESS_BYTES: usize = 160;

/// Bytes of a form's path on a card.
const PATH_BYTES: usize = 60;

/// Bytes of a button's caption in a sentence.
const CAPTION_BYTES: usize = 60;

/// What a card says, taken from the action while it could still be read.
#[derive(Debug)]
pub(crate) struct Wording {
    title: String,
    /// Where the step happens.
    place: String,
    /// Where it leads.
    leads: Option<String>,
    /// Whether that sentence says enough to stand alone: for forms and links.
    leads_alone: bool,
    sites: Vec<String>,
    /// What the hosts on the card are compared with.
    known: KnownHosts,
}

/// Everything else that a card says.
pub(crate) struct Question {
    pub(crate) kind: CardKind,
    pub(crate) risk: RiskKind,
    /// The critic's reason, if it held the step.
    pub(crate) held: Option<String>,
    /// What else the person should know, for its own sentence.
    pub(crate) aside: Option<&'static str>,
    pub(crate) always_offer: Option<Origin>,
    pub(crate) grants: Grants,
}

impl Question {
    /// The plain question about one step.
    pub(crate) fn confirm(risk: RiskKind) -> Self {
        let grants = Grants::default();
        Self { kind: CardKind::Confirm, risk, held: None, aside: None, always_offer: None, grants }
    }
}

impl Wording {
    pub(crate) fn new(action: &Action, step: &Assessment<'_>, facts: &Facts<'_>) -> Self {
        let known = known(facts);
        let place = match action.target() {
            Some(target) => place(&target.origin, &target.top, &known),
            // An address acts where it leads.
            None => match step.destination().and_then(|destination| destination.origin.clone()) {
                Some(origin) => known.shown(&origin),
                None => place(&facts.tab.origin, &facts.tab.origin, &known),
            },
        };
        let mut sites: Vec<Origin> = step.documents.iter().filter_map(|at| web(at)).collect();
        sites.extend(step.destinations.iter().filter_map(|destination| destination.origin.clone()));
        sites.sort();
        sites.dedup();
        let (leads, leads_alone) = leads(step, &known);
        Self {
            title: title(action, facts),
            place,
            leads,
            leads_alone,
            sites: sites.iter().map(|site| known.shown(site)).collect(),
            known,
        }
    }

    /// Puts the card together.
    pub(crate) fn card(&self, question: &Question) -> Card {
        let Question { kind, risk, held, aside, always_offer, grants } = question;
        let (kind, risk) = (*kind, *risk);
        let mut detail = Vec::new();
        match (held, risk_word(risk)) {
            (Some(held), _) => detail.push(sentence(held)),
            (None, Some(word)) => detail.push(format!("This may {word} on {}.", self.place)),
            (None, None) if self.leads.is_some() && self.leads_alone && stands_aside(risk) => {}
            (None, None) => detail.push(self.reason(risk, grants)),
        }
        detail.extend(self.leads.clone());
        if kind == CardKind::Plan {
            detail.push(match self.hosts(&grants.planned) {
                Some(hosts) => format!(
                    "Allowing also covers later low-risk steps on {hosts} for this request; risky ones still ask."
                ),
                None => "Later risky steps still ask.".to_owned(),
            });
        } else if let Some(hosts) = self.hosts(&grants.asked) {
            detail.push(format!(
                "Allowing also covers other low-risk steps on {hosts} in this session."
            ));
        }
        detail.extend(aside.iter().copied().map(sentence));
        Card {
            kind,
            title: self.title.clone(),
            detail: detail.join(" "),
            risk,
            sites: self.sites.clone(),
            always_offer: always_offer.clone(),
            note: held.as_deref().or(*aside).map(str::to_owned),
        }
    }

    /// The guard's own reason.
    fn reason(&self, risk: RiskKind, grants: &Grants) -> String {
        let nobody = |origins: &[Origin]| match self.hosts(origins) {
            Some(hosts) => format!("Nobody named {hosts}."),
            None => {
                "A frame that a script built belongs to no site that could be named.".to_owned()
            }
        };
        let fixed = match risk {
            RiskKind::UnnamedSite | RiskKind::NewSite | RiskKind::CrossOrigin => {
                return nobody(&grants.asked);
            }
            RiskKind::Resubmit => "Loading this page again may send its form again.",
            RiskKind::History => "It goes through the history of the tab.",
            RiskKind::Unclassified => "Nothing tells what this does.",
            RiskKind::Clipboard => "It uses your clipboard.",
            RiskKind::Dialog => "The page asked a question, and this answers it.",
            RiskKind::Submit => "It submits something.",
            RiskKind::Enter => "Enter may submit something.",
            RiskKind::Critic => "The safety check held this step.",
            _ => "It can change something.",
        };
        fixed.to_owned()
    }

    fn hosts(&self, origins: &[Origin]) -> Option<String> {
        let hosts: Vec<String> = origins.iter().map(|origin| self.known.shown(origin)).collect();
        (!hosts.is_empty()).then(|| hosts.join(" and "))
    }
}

/// The words for risks that need no explanation.
fn risk_word(risk: RiskKind) -> Option<&'static str> {
    Some(match risk {
        RiskKind::Purchase => "buy, book, pay or transfer something",
        RiskKind::Send => "send or publish something",
        RiskKind::Delete => "delete or reset something",
        RiskKind::Upload => "upload a file",
        RiskKind::Download => "download a file",
        RiskKind::KeptSecret => "use a secret that you keep with Reins",
        RiskKind::SensitiveField => "use a password, one-time code or payment field",
        RiskKind::SignIn => "sign in or out, or authorise something",
        RiskKind::Subscription => "start or end a subscription",
        _ => return None,
    })
}

/// Whether where a step leads says all that the guard's reason would.
fn stands_aside(risk: RiskKind) -> bool {
    matches!(risk, RiskKind::Submit | RiskKind::Enter | RiskKind::CrossOrigin | RiskKind::Change)
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let head: String = letters.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
    let rest = letters.as_str();
    let end = if rest.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    format!("{head}{rest}{end}")
}

/// The hosts that the person has to do with.
pub(crate) fn known(facts: &Facts<'_>) -> KnownHosts {
    let turn = facts.turn;
    let ruled = facts.rules.iter().map(|(origin, _)| origin);
    let named = turn.named.iter().chain(&turn.planned).chain(&turn.asked);
    KnownHosts::new(named.chain(ruled).chain(facts.tab.origin.named_as()))
}

fn web(document: &DocumentOrigin) -> Option<Origin> {
    match document {
        DocumentOrigin::Web(origin) | DocumentOrigin::Sandboxed(origin) => Some(origin.clone()),
        DocumentOrigin::ScriptBuilt | DocumentOrigin::Browser => None,
    }
}

fn place(document: &DocumentOrigin, top: &DocumentOrigin, known: &KnownHosts) -> String {
    let host = |origin| known.shown(origin);
    let own = match document {
        DocumentOrigin::Web(origin) => host(origin),
        DocumentOrigin::Sandboxed(origin) => format!("a sandboxed page of {}", host(origin)),
        DocumentOrigin::ScriptBuilt => "a page that a script built".to_owned(),
        DocumentOrigin::Browser => "a page of the browser".to_owned(),
    };
    match web(top) {
        Some(top) if web(document).as_ref() != Some(&top) => {
            format!("{own}, a frame of {}", host(&top))
        }
        _ => own,
    }
}

/// Where a step leads, and whether that sentence can stand alone.
fn leads(step: &Assessment<'_>, known: &KnownHosts) -> (Option<String>, bool) {
    let Some(destination) = step.destination() else { return (None, false) };
    let Some(origin) = &destination.origin else { return (None, false) };
    let host = known.shown_with_port(origin);
    let own = step.documents.last().and_then(|document| web(document));
    match &destination.way {
        Way::Form(form) => {
            let by = pressed_by_enter(step, form);
            (Some(format!("It sends the form to {host}{}{by}.", path(destination.url))), true)
        }
        Way::Link(_) if own.as_ref() != Some(origin) => {
            (Some(format!("It leads to {host}.")), true)
        }
        Way::Link(_) => (None, false),
        Way::Address | Way::History | Way::Reload => {
            (Some(format!("The address is {}.", shown_address(destination.url))), false)
        }
    }
}

/// The path that a form is sent to, where it says more than the host.
fn path(url: &str) -> String {
    match Url::parse(url) {
        Ok(parsed) if parsed.path() != "/" => {
            format!(" at {}", clip_middle(&plain_text(parsed.path()), PATH_BYTES))
        }
        _ => String::new(),
    }
}

/// Enter in a field presses a button that the step does not name.
fn pressed_by_enter(step: &Assessment<'_>, form: &Submission) -> String {
    let caption = form.submitter.as_deref().map(plain_text).unwrap_or_default();
    if !step.risks.contains(&RiskKind::Enter) || caption.is_empty() {
        return String::new();
    }
    format!(" with the button “{}”", clip_middle(&caption, CAPTION_BYTES))
}

/// An address without the part before an `@`, which only serves to look like a host.
pub(crate) fn shown_address(url: &str) -> String {
    let plain = match Url::parse(url) {
        Ok(mut parsed) => {
            // These fail for addresses that have no host, and those have no such part.
            let _ = parsed.set_username("");
            let _ = parsed.set_password(None);
            plain_text(parsed.as_str())
        }
        Err(_) => plain_text(url),
    };
    clip_middle(&plain, ADDRESS_BYTES)
}
