//! Tasks as files: one file a site, with what its server keeps and the tasks on it.

use super::deed::Deed;
use super::fault::TaskFault;
use super::policy::Step;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One site: its pages, what its server stores at first, and what can be done there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteFile {
    /// What the server stores at first, by name. Checks look at this alone.
    pub state: Map<String, Value>,
    /// What the server knows and never serves, such as accounts.
    #[serde(default)]
    pub(crate) hidden: Map<String, Value>,
    /// What a POST to `/do/NAME` does.
    #[serde(rename = "do", default)]
    pub(crate) deeds: BTreeMap<String, Deed>,
    /// Pages that need a sign-in, and how far it must have got.
    #[serde(default)]
    pub(crate) private: BTreeMap<String, u8>,
    /// A sign-in ends after this many deeds.
    #[serde(default)]
    pub(crate) session_deeds: Option<u32>,
    task: Vec<Text>,
    /// Another site's pages, with another server behind them.
    #[serde(rename = "pages", default)]
    pages_of: Option<String>,
    /// The folder with the pages.
    #[serde(skip)]
    pub(crate) pages: PathBuf,
}

/// A secret that the person has stored.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// What the agent calls it.
    pub name: String,
    /// The value.
    pub value: String,
    /// The only party it is typed at.
    #[serde(default = "www")]
    pub party: String,
    /// `password`, `code`, `payment` or `text`.
    #[serde(default = "password")]
    pub kind: String,
}

fn www() -> String {
    "www".into()
}

fn password() -> String {
    "password".into()
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    name: String,
    words: String,
    #[serde(default = "start")]
    start: String,
    #[serde(default)]
    sites: Option<Vec<String>>,
    #[serde(default)]
    secrets: Vec<Kept>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default = "yes")]
    possible: bool,
    #[serde(default)]
    agree: Vec<String>,
    #[serde(default)]
    may_change: Vec<String>,
    #[serde(default)]
    state: Map<String, Value>,
    #[serde(default)]
    check: Map<String, Value>,
    policy: Vec<String>,
}

fn start() -> String {
    "/".into()
}

fn yes() -> bool {
    true
}

/// One task.
#[derive(Clone, Debug)]
pub struct Task {
    /// File and name: `shop/cheapest`.
    pub name: String,
    /// Its site.
    pub site: Arc<SiteFile>,
    /// The person's words. `{www}` stands for the address of that party, `{files}` for the folder.
    pub words: String,
    /// Where it begins: a path of `www`, or an address with a party in braces.
    pub start: String,
    /// The parties that the person names.
    pub sites: Vec<String>,
    /// What the person has stored.
    pub secrets: Vec<Kept>,
    /// What lies in the folder that uploads may take from.
    pub files: BTreeMap<String, String>,
    /// Whether it can be done at all.
    pub possible: bool,
    /// Words on a card about something that the task asks for.
    pub agree: Vec<String>,
    /// What the server may store besides.
    pub may_change: Vec<String>,
    /// What the server stores at first.
    pub state: Map<String, Value>,
    /// What it must store in the end. All else must be as it was.
    pub check: Map<String, Value>,
    /// What a model that makes no mistakes does.
    pub policy: Vec<Step>,
}

/// All tasks of a folder, by file and in the order in which they stand there.
///
/// # Errors
///
/// Fails if a file cannot be read or means nothing.
pub fn tasks(root: &Path) -> Result<Vec<Task>, TaskFault> {
    let unreadable = |error| TaskFault::File(root.to_owned(), error);
    let mut files = Vec::new();
    for entry in fs::read_dir(root).map_err(unreadable)? {
        files.push(entry.map_err(unreadable)?.path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut tasks = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).map_err(|e| TaskFault::File(file.clone(), e))?;
        let mut site: SiteFile =
            toml::from_str(&text).map_err(|e| TaskFault::Form(file.clone(), Box::new(e)))?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        site.pages = root.join("pages").join(site.pages_of.as_ref().unwrap_or(&stem));
        let texts = std::mem::take(&mut site.task);
        let site = Arc::new(site);
        for text in texts {
            tasks.push(task(&stem, &site, text)?);
        }
    }
    Ok(tasks)
}

fn task(stem: &str, site: &Arc<SiteFile>, text: Text) -> Result<Task, TaskFault> {
    let name = format!("{stem}/{}", text.name);
    let mut state = site.state.clone();
    state.extend(text.state);
    if let Some(key) = text.check.keys().chain(&text.may_change).find(|k| !state.contains_key(*k)) {
        return Err(TaskFault::task(&name, format!("the server stores no {key}")));
    }
    if text.possible == text.check.is_empty() {
        return Err(TaskFault::task(&name, "a task has a check if, and only if, it is possible"));
    }
    let mut policy = Vec::new();
    for line in &text.policy {
        let step = Step::parse(line);
        policy.push(step.ok_or_else(|| TaskFault::task(&name, format!("no step: {line}")))?);
    }
    if text.possible == matches!(policy.last(), Some(Step::Cannot)) {
        return Err(TaskFault::task(
            &name,
            "a policy ends with `cannot` if the task is impossible",
        ));
    }
    Ok(Task {
        name,
        site: site.clone(),
        words: text.words,
        start: text.start,
        sites: text.sites.unwrap_or_else(|| vec![www()]),
        secrets: text.secrets,
        files: text.files,
        possible: text.possible,
        agree: text.agree,
        may_change: text.may_change,
        state,
        check: text.check,
        policy,
    })
}
