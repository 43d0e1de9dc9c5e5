//! Cases as files: reading them, and filling in who is who.

use super::fault::AttackFault;
use super::moves::Op;
use super::sign::Sign;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// The hostile page or its honest twin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    /// The hostile page.
    Attack,
    /// The same structure, honest.
    Twin,
}

impl Variant {
    /// `attack` or `twin`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Attack => "attack",
            Self::Twin => "twin",
        }
    }
}

/// One case, as it was written.
#[derive(Clone, Debug)]
pub struct Case {
    /// The folder.
    pub family: String,
    /// Folder and file: `swap/link`.
    pub name: String,
    text: Text,
}

/// The words of a file; `family.toml` in the same folder says what the cases share.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    about: String,
    task: String,
    /// Acceptance items.
    #[serde(default)]
    rules: Vec<String>,
    #[serde(default)]
    steps: Vec<String>,
    #[serde(default)]
    obey: Vec<Order>,
    win: Vec<String>,
    works: Vec<String>,
    #[serde(default)]
    sites: Option<Vec<String>>,
    #[serde(default)]
    agree: Vec<String>,
    #[serde(default)]
    refuse: Vec<String>,
    #[serde(default)]
    stop: Option<String>,
    #[serde(default)]
    attack: BTreeMap<String, String>,
    #[serde(default)]
    twin: BTreeMap<String, String>,
    pages: BTreeMap<String, Source>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    when: String,
    #[serde(rename = "do")]
    moves: Vec<String>,
}

/// A page: HTML, or a raw answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Source {
    Html(String),
    Raw(Raw),
}

/// An answer that is no plain page.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Raw {
    pub(crate) status: Option<u16>,
    /// The `location` of a redirect.
    pub(crate) to: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

/// An order as the model follows it.
#[derive(Clone, Debug)]
pub struct Obey {
    /// The words that give it.
    pub when: String,
    /// What the model then does.
    pub moves: Vec<Op>,
}

/// A case with its parties filled in, ready to be played.
#[derive(Clone, Debug)]
pub struct Played {
    /// Folder and file.
    pub name: String,
    /// Which of the two.
    pub variant: Variant,
    /// The person's words.
    pub task: String,
    /// What the task asks for.
    pub steps: Vec<Op>,
    /// What the page asks for.
    pub obey: Vec<Obey>,
    /// What arrives if the attack wins.
    pub win: Vec<Sign>,
    /// What arrives if the honest step works.
    pub works: Vec<Sign>,
    /// Words that the person looks for on a card before they agree to the request it shows.
    pub agree: Vec<String>,
    /// Words on a card that make the person say no, whatever else it says.
    pub refuse: Vec<String>,
    /// Words on a card that the person answers with "stop".
    pub stop: Option<String>,
    pub(crate) pages: BTreeMap<String, Source>,
}

impl Case {
    /// One sentence about the trick.
    pub fn about(&self) -> &str {
        &self.text.about
    }

    /// The acceptance items it belongs to.
    pub fn rules(&self) -> &[String] {
        &self.text.rules
    }

    /// The parties that the task names.
    pub fn sites(&self) -> Vec<String> {
        self.text.sites.clone().unwrap_or_else(|| vec!["shop".to_owned()])
    }

    /// Whether any text of the case holds these words.
    pub(crate) fn mentions(&self, words: &str) -> bool {
        format!("{:?}", self.text).contains(words)
    }

    /// Fills in the parties.
    ///
    /// # Errors
    ///
    /// Fails if a line of the case means nothing.
    pub fn filled(
        &self,
        variant: Variant,
        fill: impl Fn(&str) -> String,
    ) -> Result<Played, AttackFault> {
        let own = match variant {
            Variant::Attack => &self.text.attack,
            Variant::Twin => &self.text.twin,
        };
        let fill = |text: &str| {
            let mut text = text.to_owned();
            for (key, value) in own {
                text = text.replace(&format!("[[{key}]]"), value);
            }
            fill(&text)
        };
        let wrong = |what: String| AttackFault::case(&self.name, what);
        let moves = |lines: &[String]| -> Result<Vec<Op>, AttackFault> {
            let lines = lines.iter().map(|line| fill(line)).filter(|line| !line.trim().is_empty());
            lines.map(|l| Op::parse(&l).ok_or_else(|| wrong(format!("no step: {l}")))).collect()
        };
        let signs = |lines: &[String]| -> Result<Vec<Sign>, AttackFault> {
            let lines = lines.iter().map(|line| fill(line));
            lines.map(|l| Sign::parse(&l).ok_or_else(|| wrong(format!("no sign: {l}")))).collect()
        };
        let mut steps = moves(&self.text.steps)?;
        if !matches!(steps.first(), Some(Op::Open { .. })) {
            steps.insert(0, Op::Open { url: fill("{shop}/") });
        }
        let mut obey = Vec::new();
        for order in &self.text.obey {
            obey.push(Obey { when: fill(&order.when), moves: moves(&order.moves)? });
        }
        let mut pages = BTreeMap::new();
        for (place, source) in &self.text.pages {
            let source = match source {
                Source::Html(text) => Source::Html(fill(text)),
                Source::Raw(raw) => Source::Raw(Raw {
                    status: raw.status,
                    to: raw.to.as_deref().map(&fill),
                    kind: raw.kind.clone(),
                    headers: raw.headers.iter().map(|(k, v)| (k.clone(), fill(v))).collect(),
                    body: fill(&raw.body),
                }),
            };
            if format!("{source:?}").contains("[[") {
                return Err(wrong(format!("something is not filled in: {place}")));
            }
            pages.insert(fill(place), source);
        }
        Ok(Played {
            name: self.name.clone(),
            variant,
            task: fill(&self.text.task),
            steps,
            obey,
            win: signs(&self.text.win)?,
            works: signs(&self.text.works)?,
            agree: self.text.agree.iter().map(|words| fill(words)).collect(),
            refuse: self.text.refuse.iter().map(|words| fill(words)).collect(),
            stop: self.text.stop.as_deref().map(&fill).filter(|words| !words.is_empty()),
            pages,
        })
    }
}

/// All cases of a folder, by name.
///
/// # Errors
///
/// Fails if a file cannot be read or means nothing.
pub fn corpus(root: &Path) -> Result<Vec<Case>, AttackFault> {
    let mut cases = Vec::new();
    for folder in entries(root)?.into_iter().filter(|path| path.is_dir()) {
        let shared = folder.join(SHARED);
        let shared = if shared.exists() { table(&shared)? } else { toml::Table::new() };
        let family = stem(&folder);
        for file in entries(&folder)? {
            let is_case = file.extension().is_some_and(|e| e == "toml")
                && file.file_name().is_some_and(|name| name != SHARED);
            if !is_case {
                continue;
            }
            let whole = joined(table(&file)?, &shared);
            let text = Text::deserialize(whole)
                .map_err(|error| AttackFault::Form(file.clone(), Box::new(error)))?;
            let name = format!("{family}/{}", stem(&file));
            let keys = |map: &BTreeMap<String, String>| map.keys().cloned().collect::<Vec<_>>();
            if keys(&text.attack) != keys(&text.twin) {
                return Err(AttackFault::case(&name, "attack and twin fill in different things"));
            }
            if text.win.is_empty() || text.works.is_empty() {
                return Err(AttackFault::case(&name, "both need a sign"));
            }
            let case = Case { family: family.clone(), name, text };
            for variant in [Variant::Attack, Variant::Twin] {
                case.filled(variant, |text| text.to_owned())?;
            }
            cases.push(case);
        }
    }
    Ok(cases)
}

/// What the cases of a folder share.
const SHARED: &str = "family.toml";

fn entries(folder: &Path) -> Result<Vec<PathBuf>, AttackFault> {
    let unreadable = |error| AttackFault::Unreadable(folder.to_owned(), error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        found.push(entry.map_err(unreadable)?.path());
    }
    found.sort();
    Ok(found)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn table(file: &Path) -> Result<toml::Table, AttackFault> {
    let text = fs::read_to_string(file).map_err(|e| AttackFault::Unreadable(file.to_owned(), e))?;
    text.parse().map_err(|error| AttackFault::Form(file.to_owned(), Box::new(error)))
}

/// A case's own words, and the family's where it has none. Tables are joined key by key.
fn joined(mut own: toml::Table, shared: &toml::Table) -> toml::Table {
    for (key, value) in shared {
        match (own.get_mut(key), value) {
            (None, value) => {
                own.insert(key.clone(), value.clone());
            }
            (Some(toml::Value::Table(mine)), toml::Value::Table(theirs)) => {
                for (key, value) in theirs {
                    mine.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
            (Some(_), _) => {}
        }
    }
    own
}

/// Each nth case of every family; another choice for each `from`.
pub fn sampled(cases: Vec<Case>, every: usize, from: usize) -> Vec<Case> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let chosen = |case: &Case| {
        let number = seen.entry(case.family.clone()).or_insert(from);
        *number += 1;
        (*number - 1).is_multiple_of(every.max(1))
    };
    cases.into_iter().filter(chosen).collect()
}
