//! Blocks: what no level, rule or answer overrides (R-143…R-148). Evaluated before a decision
//! and again at dispatch.

use crate::assess::{Assessment, Destination, Way, holds_alt};
use crate::facts::{Downloads, Facts, Policy};
use crate::refuse::{RefusalCode, quoted};
use reins_core::{Action, DocumentOrigin, Origin, OriginError, Refusal, TargetRecord, web_url};

/// The first block that an action runs into.
pub(crate) fn block(
    action: &Action,
    step: &Assessment<'_>,
    facts: &Facts<'_>,
) -> Result<(), Refusal> {
    tab(action, facts)?;
    documents(action, facts)?;
    for destination in &step.destinations {
        scheme(destination)?;
        never_origin(destination.origin.as_ref(), facts)?;
        inside_app(action, destination, facts)?;
        if matches!(facts.policy, Policy::Guarded) {
            as_published(action, destination, facts)?;
            known(destination, facts)?;
        }
    }
    download(action, step, facts)
}

/// The elements an action names.
pub(crate) fn targets(action: &Action) -> impl Iterator<Item = &TargetRecord> {
    let second = match action {
        Action::Drag { to, .. } => Some(&**to),
        _ => None,
    };
    action.target().into_iter().chain(second)
}

fn tab(action: &Action, facts: &Facts<'_>) -> Result<(), Refusal> {
    if matches!(action, Action::OpenTab { .. }) || facts.tab.opened_by_agent {
        return Ok(());
    }
    if matches!(action, Action::CloseTab { .. }) {
        return Err(RefusalCode::UserTab.refusal(
            "this tab was opened by the person, and only they close it",
            "Leave it open. Tabs that you opened can be closed.",
        ));
    }
    if facts.tab.handed_over {
        return Ok(());
    }
    Err(RefusalCode::NotYourTab.refusal(
        "this tab was neither handed over by the person nor opened by you",
        "Open a tab of your own, or ask the person to hand this one over.",
    ))
}

/// Whether an action acts inside the documents of a tab, not just with the tab.
fn acts_inside(action: &Action) -> bool {
    !matches!(action, Action::OpenTab { .. } | Action::SwitchTab { .. } | Action::CloseTab { .. })
}

fn documents(action: &Action, facts: &Facts<'_>) -> Result<(), Refusal> {
    if !acts_inside(action) {
        return Ok(());
    }
    let documents = targets(action)
        .flat_map(|target| [&target.top, &target.origin])
        .chain(std::iter::once(&facts.tab.origin));
    let into_page =
        !matches!(action, Action::Navigate { .. } | Action::History { .. } | Action::Reload { .. });
    for document in documents {
        never(facts.rules.never_document(document))?;
        if into_page && *document == DocumentOrigin::Browser {
            return Err(RefusalCode::BrowserPage.refusal(
                "this is a page of the browser itself, and nothing is done there",
                "Navigate to a web page first.",
            ));
        }
    }
    Ok(())
}

fn never(rule: Option<&Origin>) -> Result<(), Refusal> {
    let Some(origin) = rule else { return Ok(()) };
    Err(RefusalCode::NeverRule.refusal(
        format!("the person's site rules say never for {}", origin.host()),
        "Reading there is still possible. Only the person can change the rule.",
    ))
}

fn never_origin(origin: Option<&Origin>, facts: &Facts<'_>) -> Result<(), Refusal> {
    never(origin.and_then(|origin| facts.rules.never(origin)))
}

///
fn scheme(destination: &Destination<'_>) -> Result<(), Refusal> {
    if destination.origin.is_some() { Ok(()) } else { web(destination.url) }
}

fn web(url: &str) -> Result<(), Refusal> {
    let refusal = match web_url(url) {
        Ok(_) => return Ok(()),
        Err(OriginError::NotWeb(scheme)) => format!(
            "addresses that begin with '{}:' are never opened; only http and https are",
            quoted(&scheme)
        ),
        Err(OriginError::NotAbsolute(text)) => {
            format!("'{}' is not an absolute http or https address", quoted(&text))
        }
    };
    Err(RefusalCode::BlockedUrlScheme
        .refusal(refusal, "Use an absolute http or https address, or another control on the page."))
}

fn inside_app(
    action: &Action,
    destination: &Destination<'_>,
    facts: &Facts<'_>,
) -> Result<(), Refusal> {
    let Policy::Pinned(app) = facts.policy else { return Ok(()) };
    if !reaches_top(action, destination) {
        return Ok(());
    }
    let origin = &destination.origin;
    if origin.as_ref().is_some_and(|origin| app.iter().any(|pattern| pattern.matches(origin))) {
        return Ok(());
    }
    Err(RefusalCode::OutsideApp.refusal(
        format!(
            "this session may open only its app, and '{}' is outside it",
            quoted(destination.url)
        ),
        "Stay within the app. Only whoever started the session can allow more, with `--app`.",
    ))
}

/// Whether a destination can become a tab's main document. A plain link or form inside a frame
/// moves just the frame.
fn reaches_top(action: &Action, destination: &Destination<'_>) -> bool {
    let frame = match &destination.way {
        Way::Link(link) => &link.target,
        Way::Form(form) => &form.target,
        Way::Address | Way::History | Way::Reload => return true,
    };
    let framed = action.target().is_some_and(in_frame);
    !framed || !(frame.is_empty() || frame.eq_ignore_ascii_case("_self"))
}

/// Whether an element is inside a frame. A tab's main frame has the tab's own id.
pub(crate) fn in_frame(target: &TargetRecord) -> bool {
    target.node.frame.as_str() != target.node.tab.as_str()
}

/// the link or form must lead where it led when the model saw it.
fn as_published(
    action: &Action,
    destination: &Destination<'_>,
    facts: &Facts<'_>,
) -> Result<(), Refusal> {
    let (Some(published), Some(target)) = (&facts.published, action.target()) else {
        return Ok(());
    };
    let same = match &destination.way {
        Way::Link(_) => published.shows_link(target.link.as_ref()),
        // Enter submits the form of the field, which is published with its submit control.
        Way::Form(_) => {
            target.submission.is_none() || published.submission == target.submission.as_ref()
        }
        Way::Address | Way::History | Way::Reload => true,
    };
    if same {
        return Ok(());
    }
    Err(RefusalCode::StaleRef.refusal(
        "this element leads elsewhere than when you last saw it",
        "Take a new snapshot and look where it leads now.",
    ))
}

/// the address must come from the person or from a link that the model was shown.
fn known(destination: &Destination<'_>, facts: &Facts<'_>) -> Result<(), Refusal> {
    let known = match &destination.way {
        Way::Address => !facts.user_message_visible || facts.turn.knows(destination.url),
        Way::Link(_) => facts.published.is_some() || facts.turn.knows(destination.url),
        Way::Form(_) | Way::History | Way::Reload => true,
    };
    if known {
        return Ok(());
    }
    Err(RefusalCode::UnknownUrl.refusal(
        format!(
            "the address '{}' came neither from the person nor from a link you were shown",
            quoted(destination.url)
        ),
        "Use the exact address of a link in a snapshot, or ask the person for the address.",
    ))
}

fn download(action: &Action, step: &Assessment<'_>, facts: &Facts<'_>) -> Result<(), Refusal> {
    if facts.downloads == Downloads::Allowed {
        return Ok(());
    }
    let downloads = step.destinations.iter().any(|destination| match destination.way {
        Way::Link(link) => link.download || holds_alt(action),
        _ => false,
    });
    if !downloads {
        return Ok(());
    }
    Err(RefusalCode::Download.refusal(
        "this would download a file, and downloads are refused in this session",
        "Read the content in the page instead, or ask the person to download it.",
    ))
}
