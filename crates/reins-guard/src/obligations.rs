//! What the browser must hold a page to while an approved action is live, and after it on every
//! document it touched (R-174…R-181). Plain data and pure judgements.

use crate::assess::{Assessment, Way, is_void_address};
use crate::block::in_frame;
use crate::facts::{Downloads, Facts, Policy};
use crate::host::same_site;
use reins_core::{
    Action, DocumentOrigin, FormMethod, FrameId, Gesture, MouseButton, Origin, OriginPattern, Rule,
    Sends, TargetRecord,
};
use url::Url;

/// What containment enforces for one approved action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obligations {
    /// Which document requests may start, in which frames.
    pub navigation: Navigation,
    /// Origins that a redirect may end at, together with the rest of their sites.
    pub redirects: Vec<Origin>,
    /// Whether a window may open.
    pub popups: Popups,
    /// Whether a download may start.
    pub downloads: Downloads,
    /// Whether the page may be given files. Pickers themselves are always refused.
    pub files: bool,
    /// What becomes of requests that can change something.
    pub sending: Sending,
    /// Where the person lets documents of single origins send to, other than where all may.
    pub sends: Vec<(Origin, Sends)>,
}

/// What becomes of requests that can change something, and that a step starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// The person agreed to the step, and they are part of it.
    Agreed,
    /// Nothing new: what an earlier step's page is held to stays.
    AsBefore,
    /// Each waits until the person agrees to it.
    Held,
}

/// Which document requests an approved action may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Navigation {
    /// This one request, or none.
    Exact(ExpectedRequest),
    /// Any address of exactly these origins: the step leads nowhere by itself, but the page may
    /// move within what was approved.
    Within(Vec<Origin>),
    /// The top level stays within the app.
    App(Vec<OriginPattern>),
}

/// The request that an approved link, form or address starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedRequest {
    /// The absolute address, without its fragment.
    pub url: String,
    /// Whether the query is not known before: a form sent by GET puts its fields there.
    pub any_query: bool,
    /// How it is sent. Never `Dialog`.
    pub method: FormMethod,
    /// Where the answer goes.
    pub frame: FrameTarget,
}

/// The frame that an approved request loads into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameTarget {
    /// The main frame of the tab that the action names.
    Main,
    /// The element's own frame.
    Own(FrameId),
    /// The parent of the element's own frame.
    Parent(FrameId),
    /// A new tab.
    NewTab,
    /// The frame of this name, or a new tab if there is none.
    Named(String),
}

/// Whether a window may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Popups {
    /// None.
    Refused,
    /// One, for the expected request and nothing else.
    One,
}

/// What to do with a document request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestVerdict {
    /// It is what was approved.
    Pass,
    /// It is not.
    Refuse,
}

impl Obligations {
    /// Judges the first request of a navigation in the frame that was approved for it.
    pub fn first_request(&self, url: &str, method: &str) -> RequestVerdict {
        let passes = match &self.navigation {
            Navigation::Exact(expected) => expected.matches(url, method),
            Navigation::Within(origins) => {
                Origin::parse(url).is_ok_and(|origin| origins.contains(&origin))
            }
            Navigation::App(patterns) => Origin::parse(url)
                .is_ok_and(|origin| patterns.iter().any(|pattern| pattern.matches(&origin))),
        };
        if passes { RequestVerdict::Pass } else { RequestVerdict::Refuse }
    }

    /// Judges a redirect of that request: by site, since the exact request has reached its
    /// server already.
    pub fn redirect(&self, url: &str) -> RequestVerdict {
        let Ok(origin) = Origin::parse(url) else { return RequestVerdict::Refuse };
        let passes = match &self.navigation {
            Navigation::App(patterns) => patterns.iter().any(|pattern| pattern.matches(&origin)),
            Navigation::Exact(_) | Navigation::Within(_) => {
                self.redirects.iter().any(|from| same_site(from, &origin))
            }
        };
        if passes { RequestVerdict::Pass } else { RequestVerdict::Refuse }
    }
}

impl ExpectedRequest {
    /// Whether a request is the expected one. Fragments are not sent, so they don't count.
    pub fn matches(&self, url: &str, method: &str) -> bool {
        let (Ok(mut asked), Ok(mut expected)) = (Url::parse(url), Url::parse(&self.url)) else {
            return false;
        };
        asked.set_fragment(None);
        expected.set_fragment(None);
        if self.any_query {
            asked.set_query(None);
            expected.set_query(None);
        }
        let wanted = if self.method == FormMethod::Post { "POST" } else { "GET" };
        asked == expected && method.eq_ignore_ascii_case(wanted)
    }
}

/// The obligations of an action.
pub(crate) fn obligations(
    action: &Action,
    step: &Assessment<'_>,
    facts: &Facts<'_>,
) -> Obligations {
    let mut origins = approved_origins(action, step, facts);
    let expected = expected_request(action, step);
    let mut redirects = origins.clone();
    redirects.extend(expected.as_ref().and_then(|request| Origin::parse(&request.url).ok()));
    for list in [&mut origins, &mut redirects] {
        list.sort();
        list.dedup();
    }
    let opens = matches!(
        expected,
        Some(ExpectedRequest { frame: FrameTarget::NewTab | FrameTarget::Named(_), .. })
    );
    Obligations {
        navigation: match (facts.policy, expected) {
            (Policy::Pinned(app), _) => Navigation::App(app.clone()),
            (Policy::Guarded, Some(request)) => Navigation::Exact(request),
            (Policy::Guarded, None) => Navigation::Within(origins),
        },
        redirects,
        popups: if opens { Popups::One } else { Popups::Refused },
        downloads: facts.downloads,
        files: matches!(action, Action::Upload { .. }),
        sending: Sending::AsBefore,
        sends: facts.rules.sends().map(|(origin, sends)| (origin.clone(), sends.clone())).collect(),
    }
}

/// The origins that a step happens at, and those that the person named for this turn.
fn approved_origins(action: &Action, step: &Assessment<'_>, facts: &Facts<'_>) -> Vec<Origin> {
    let turn = facts.turn;
    let always = facts.rules.iter().filter(|(_, rule)| *rule == Rule::Always);
    let mut origins: Vec<Origin> = turn
        .named
        .iter()
        .chain(&turn.planned)
        .chain(&turn.asked)
        .chain(always.map(|(origin, _)| origin))
        .cloned()
        .collect();
    origins.extend(step.documents.iter().filter_map(|document| web_origin(document)));
    if !matches!(action, Action::OpenTab { .. }) {
        origins.extend(web_origin(&facts.tab.origin));
    }
    origins.retain(|origin| facts.rules.never(origin).is_none());
    origins
}

fn web_origin(document: &DocumentOrigin) -> Option<Origin> {
    match document {
        DocumentOrigin::Web(origin) | DocumentOrigin::Sandboxed(origin) => Some(origin.clone()),
        DocumentOrigin::ScriptBuilt | DocumentOrigin::Browser => None,
    }
}

fn expected_request(action: &Action, step: &Assessment<'_>) -> Option<ExpectedRequest> {
    let destination = step.destination()?;
    let url = without_fragment(destination.url);
    let get = FormMethod::Get;
    let (any_query, method, frame) = match &destination.way {
        Way::Address if matches!(action, Action::OpenTab { .. }) => {
            (false, get, FrameTarget::NewTab)
        }
        Way::Address | Way::History => (false, get, FrameTarget::Main),
        // A reload may send a form again; the card said so.
        Way::Reload => return None,
        Way::Link(link) if is_void_address(&link.url) => return None,
        Way::Link(link) => {
            let frame = if opens_new_tab(action) {
                FrameTarget::NewTab
            } else {
                frame(&link.target, action.target()?)
            };
            (false, get, frame)
        }
        Way::Form(form) => (form.method == get, form.method, frame(&form.target, action.target()?)),
    };
    Some(ExpectedRequest { url, any_query, method, frame })
}

fn without_fragment(url: &str) -> String {
    match Url::parse(url) {
        Ok(mut parsed) => {
            parsed.set_fragment(None);
            parsed.into()
        }
        Err(_) => url.to_owned(),
    }
}

/// Whether the gesture itself asks for a new tab: the middle button, or Control, Meta or Shift.
fn opens_new_tab(action: &Action) -> bool {
    let Action::Pointer { gesture: Gesture::Click { button, modifiers, .. }, .. } = action else {
        return false;
    };
    *button == MouseButton::Middle || modifiers.control || modifiers.meta || modifiers.shift
}

fn frame(name: &str, target: &TargetRecord) -> FrameTarget {
    let own = || {
        if in_frame(target) {
            FrameTarget::Own(target.node.frame.clone())
        } else {
            FrameTarget::Main
        }
    };
    match name.to_ascii_lowercase().as_str() {
        "" | "_self" => own(),
        "_top" => FrameTarget::Main,
        "_parent" if in_frame(target) => FrameTarget::Parent(target.node.frame.clone()),
        "_parent" => FrameTarget::Main,
        "_blank" => FrameTarget::NewTab,
        _ => FrameTarget::Named(name.to_owned()),
    }
}
