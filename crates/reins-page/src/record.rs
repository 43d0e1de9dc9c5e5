//! The record of one element, read just before an act.

use crate::capture::{FrameMeta, parse_records};
use crate::error::PageError;
use crate::name::Namer;
use crate::role;
use reins_core::{
    DocumentOrigin, FormMethod, Link, NodeKey, NodeNumber, Sensitivity, Submission, TabId,
    TargetRecord,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Deserialize)]
struct Facts<'a> {
    n: u32,
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    link: Option<LinkFacts>,
    #[serde(default)]
    submission: Option<SubmissionFacts>,
    #[serde(default)]
    enter: Option<SubmissionFacts>,
    #[serde(borrow, default)]
    secret: Cow<'a, str>,
    #[serde(default)]
    editable: bool,
    #[serde(default)]
    disabled: bool,
    #[serde(default)]
    seal: String,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(borrow)]
    s: &'a RawValue,
}

#[derive(Deserialize)]
struct LinkFacts {
    url: String,
    target: String,
    download: bool,
}

/// A submission as the page script writes it.
#[derive(Deserialize)]
pub(crate) struct SubmissionFacts {
    action: String,
    method: String,
    target: String,
    enctype: String,
    #[serde(default)]
    caption: Option<String>,
}

impl From<SubmissionFacts> for Submission {
    fn from(facts: SubmissionFacts) -> Self {
        Submission {
            action: facts.action,
            method: match facts.method.to_ascii_lowercase().as_str() {
                "post" => FormMethod::Post,
                "dialog" => FormMethod::Dialog,
                _ => FormMethod::Get,
            },
            target: facts.target,
            enctype: facts.enctype,
            submitter: facts.caption,
        }
    }
}

/// Reads the submission that a capture gives with a submitting control.
pub(crate) fn submission(json: &str) -> Option<Submission> {
    serde_json::from_str::<SubmissionFacts>(json).ok().map(Submission::from)
}

/// Builds the record of the element that the page script's `facts` was asked about.
///
/// # Errors
/// [`PageError::Gone`] when `facts` answered with nothing: the element has left its document.
pub fn record(
    tab: &TabId,
    meta: &FrameMeta,
    top: &DocumentOrigin,
    facts_json: &str,
) -> Result<TargetRecord, PageError> {
    if facts_json.is_empty() {
        return Err(PageError::Gone);
    }
    let facts: Facts<'_> = serde_json::from_str(facts_json).map_err(PageError::Damaged)?;
    let tree = parse_records(facts.tags, facts.s)?;
    let node = NodeNumber(facts.n);
    let id = *tree.by_number.get(&node).ok_or(PageError::Gone)?;
    let role = role::role(&tree, id);
    let name = Namer::exact(&tree).name(id, role).text;
    let name = if name.is_empty() && matches!(role, "generic" | "none") && tree.tag(id) != "section"
    {
        Namer::exact(&tree).text(id)
    } else {
        name
    };
    let sensitivity = match &*facts.secret {
        "password" => Sensitivity::Password,
        "otp" => Sensitivity::OneTimeCode,
        "payment" => Sensitivity::Payment,
        "file" => Sensitivity::File,
        _ => Sensitivity::None,
    };
    Ok(TargetRecord {
        node: NodeKey {
            tab: tab.clone(),
            frame: meta.frame.clone(),
            document: meta.document.clone(),
            node,
        },
        origin: meta.origin.clone(),
        top: top.clone(),
        tag: tree.tag(id).to_owned(),
        input_type: (!facts.kind.is_empty()).then_some(facts.kind),
        role: role.to_owned(),
        name,
        link: facts.link.map(|link| Link {
            url: link.url,
            target: link.target,
            download: link.download,
        }),
        submission: facts.submission.map(Submission::from),
        enter: facts.enter.map(Submission::from),
        sensitivity,
        editable: facts.editable,
        disabled: facts.disabled,
        seal: facts.seal,
    })
}
