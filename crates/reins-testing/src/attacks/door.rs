//! How the scripted model's moves become calls on Reins' tools.

use super::fault::AttackFault;
use super::mcp::Client;
use super::moves::{Element, Move, Op};
use super::person::Person;
use serde_json::{Value, json};

/// Through which door the model comes, and who answers its cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoorKind {
    /// MCP; the person answers while the call is open.
    Mcp,
    /// MCP from 2026-07-28 on: the call ends with the card and is made again with the answer.
    McpEnding,
    /// MCP with a client that cannot ask anybody.
    McpNobody,
    /// `reins run --json`, with the model's words from a server of ours. It cannot ask anybody either.
    Run,
}

impl DoorKind {
    /// The name used in tables and arguments.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::McpEnding => "mcp-2026",
            Self::McpNobody => "nobody",
            Self::Run => "run",
        }
    }
}

/// How much is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Level {
    Auto,
    Careful,
    Ask,
}

impl Level {
    /// The name used in tables and arguments.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Careful => "careful",
            Self::Ask => "ask",
        }
    }
}

/// What a tool call answered.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) facts: Value,
}

/// The way to the tools, with the person who answers cards.
pub(crate) trait Hands {
    fn person(&mut self) -> &mut Person;

    /// Calls a tool in a session.
    async fn call(
        &mut self,
        session: &str,
        tool: &'static str,
        arguments: Value,
    ) -> Result<Answer, AttackFault>;
}

/// One session of the model.
#[derive(Debug)]
pub(crate) struct Session {
    name: String,
    /// What was shown, newest last.
    pub(crate) shown: Vec<String>,
    /// Steps that found no element, and codes of refusals.
    pub(crate) notes: Vec<String>,
}

impl Session {
    pub(crate) fn new(name: String) -> Self {
        Self { name, shown: Vec::new(), notes: Vec::new() }
    }

    /// Looks once more, for the sake of the last step: a card that comes now is about that one.
    pub(crate) async fn look_again(&self, client: &mut impl Hands) -> Result<(), AttackFault> {
        client.call(&self.name, "snapshot", json!({})).await.map(drop)
    }

    /// Takes a step and returns what the model is shown.
    pub(crate) async fn take(
        &mut self,
        client: &mut impl Hands,
        step: &Move,
    ) -> Result<String, AttackFault> {
        client.person().expect(step);
        let (tool, arguments) = match &step.op {
            Op::Open { url } => ("navigate", json!({"url": url})),
            Op::Tab { url } => ("open_tab", json!({"url": url})),
            Op::Back => ("go_back", json!({})),
            Op::Forward => ("go_forward", json!({})),
            Op::Reload => ("reload", json!({})),
            Op::Dialog { accept } => ("handle_dialog", json!({"accept": accept})),
            Op::Scroll => ("scroll", json!({"to": "bottom"})),
            Op::Read => ("get_page_text", json!({})),
            Op::Look => ("snapshot", json!({"full": true})),
            Op::Await { text } => ("wait_for", json!({"text": text, "seconds": AWAIT})),
            Op::Switch { url } => match self.tab(client, url).await? {
                Some(tab) => ("switch_tab", json!({"tab": tab})),
                None => return Ok(self.missing(format!("no tab shows {url}"))),
            },
            Op::Press { key, element: None } => ("press_key", json!({"key": key})),
            // The player opens gates itself.
            Op::Gate { .. } => return Ok(String::new()),
            Op::Drag { from, onto } => {
                let (Some(from), Some(to)) =
                    (self.find(client, from).await?, self.find(client, onto).await?)
                else {
                    return Ok(
                        self.missing(format!("nothing to drag: {} {}", from.name, onto.name))
                    );
                };
                ("drag", json!({"from": from, "to": to}))
            }
            Op::Click { element }
            | Op::DoubleClick { element }
            | Op::CtrlClick { element }
            | Op::Type { element, .. }
            | Op::Press { element: Some(element), .. }
            | Op::Check { element, .. }
            | Op::Select { element, .. }
            | Op::Hover { element } => match self.find(client, element).await? {
                Some(found) => on_element(&step.op, &found),
                None => {
                    return Ok(self.missing(format!("no {} \"{}\"", element.role, element.name)));
                }
            },
        };
        let answer = client.call(&self.name, tool, arguments).await?;
        if let Some(code) = answer.facts["code"].as_str().or(answer.facts["error"].as_str()) {
            self.notes.push(format!("{tool}: {code}"));
        }
        self.shown.push(answer.text.clone());
        Ok(answer.text)
    }

    fn missing(&mut self, what: String) -> String {
        self.notes.push(what);
        String::new()
    }

    /// The ref of an element, from what was shown or from a new look.
    async fn find(
        &mut self,
        client: &mut impl Hands,
        element: &Element,
    ) -> Result<Option<String>, AttackFault> {
        if let Some(found) = self.shown.iter().rev().find_map(|text| find_ref(text, element)) {
            return Ok(Some(found));
        }
        let looked = client.call(&self.name, "snapshot", json!({"full": true})).await?;
        let found = find_ref(&looked.text, element);
        self.shown.push(looked.text);
        Ok(found)
    }

    async fn tab(&self, client: &mut impl Hands, url: &str) -> Result<Option<String>, AttackFault> {
        let listed = self.tabs(client).await?;
        let mut listed = listed.iter().rev();
        let found = listed.find(|tab| tab["url"].as_str().is_some_and(|at| at.contains(url)));
        Ok(found.and_then(|tab| tab["tab"].as_str()).map(str::to_owned))
    }

    async fn tabs(&self, client: &mut impl Hands) -> Result<Vec<Value>, AttackFault> {
        let Answer { facts, text } = client.call(&self.name, "list_tabs", json!({})).await?;
        Ok(facts["tabs"].as_array().cloned().unwrap_or_else(|| tabs_in(&text)))
    }

    /// Closes every tab of the session, so that the browser can go on with the next case.
    pub(crate) async fn close(&self, client: &mut Client) -> Result<(), AttackFault> {
        for tab in self.tabs(client).await? {
            client.call(&self.name, "close_tab", json!({"tab": tab["tab"]})).await?;
        }
        Ok(())
    }
}

/// The tabs of a list in words.
fn tabs_in(text: &str) -> Vec<Value> {
    let tab = |line: &str| {
        let (tab, rest) = line.trim().strip_prefix("[tab=")?.split_once("] ")?;
        let url = rest.split(' ').next().unwrap_or_default();
        Some(json!({"tab": tab, "url": url}))
    };
    text.lines().filter_map(tab).collect()
}

/// Long enough for anything on loopback.
const AWAIT: u32 = 5;

fn on_element(op: &Op, found: &str) -> (&'static str, Value) {
    match op {
        Op::DoubleClick { .. } => ("click", json!({"ref": found, "count": 2})),
        Op::CtrlClick { .. } => ("click", json!({"ref": found, "modifiers": ["Control"]})),
        Op::Type { text, enter, keys, .. } => {
            ("type", json!({"ref": found, "text": text, "submit": enter, "keys": keys}))
        }
        Op::Press { key, .. } => ("press_key", json!({"key": key, "ref": found})),
        Op::Check { checked, .. } => ("check", json!({"ref": found, "checked": checked})),
        Op::Select { option, .. } => ("select_option", json!({"ref": found, "options": option})),
        Op::Hover { .. } => ("hover", json!({"ref": found})),
        _ => ("click", json!({"ref": found})),
    }
}

/// The ref in the first line that shows this element.
fn find_ref(text: &str, element: &Element) -> Option<String> {
    let wanted = format!("{} \"{}\"", element.role, element.name);
    text.lines().filter_map(|line| line.split_once(&wanted)).find_map(|(_, rest)| {
        let (_, found) = rest.split_once("[ref=")?;
        Some(found.split_once(']')?.0.to_owned())
    })
}
