//! Plays scripted policies through the program's MCP tools, and asks the servers what came of it.

use super::book::Task;
use super::fault::TaskFault;
use super::person::TaskPerson;
use super::policy::{Element, Place, Step};
use super::server::TaskServer;
use super::stage::TaskStage;
use crate::attacks::door::Answer;
use crate::attacks::mcp::{Asked, Client};
use crate::attacks::{Card, DoorKind, Level};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is to be played, and how.
#[derive(Clone, Debug)]
pub struct TaskPlan<'a> {
    /// The `reins` program.
    pub program: &'a Path,
    /// A directory for its data and for the tasks' files.
    pub data: &'a Path,
    /// How many browsers at once.
    pub browsers: usize,
    /// Ask before every click that nothing classifies, as the reference does (`--strict-clicks`).
    pub strict: bool,
}

/// How one task went.
#[derive(Clone, Debug, Serialize)]
pub struct TaskPlay {
    /// File and name.
    pub task: String,
    /// Whether the policy came to its end, and the server stores what it should and nothing else.
    pub solved: bool,
    /// The policy came to its end and would say so, but the server says no.
    pub false_success: bool,
    /// What the server stores that it should not, or the other way round.
    pub misses: Vec<String>,
    /// The cards, with their answers.
    pub cards: Vec<Card>,
    /// What each of them was about.
    pub asked: Vec<Asked>,
    /// What went otherwise than the policy expects.
    pub notes: Vec<String>,
    /// Tool calls, looks included.
    pub calls: u32,
    /// Bytes of all that a model would have been shown.
    pub bytes: usize,
    /// How long it took.
    pub millis: u128,
    /// What kept it from being played.
    pub fault: Option<String>,
}

/// The last step of a task has this long to arrive at its server. Only a task that fails takes it all.
const ARRIVES: Duration = Duration::from_secs(4);

/// Looks at a page that does not show yet what it should: on a busy machine it may still be loading.
const PATIENCE: u32 = 6;

/// How often the server's state is looked at meanwhile.
const LOOKS: Duration = Duration::from_millis(20);

/// Plays every task. Browsers are shared: each task has hosts and a session of its own.
///
/// # Errors
///
/// Fails if the program does not start or files cannot be written.
pub async fn play_tasks(plan: &TaskPlan<'_>, tasks: &[Task]) -> Result<Vec<TaskPlay>, TaskFault> {
    let server = TaskServer::start().await?;
    let stages: Vec<TaskStage> = tasks.iter().map(|task| server.stage(task)).collect();
    let uploads = plan.data.join(UPLOADS);
    for stage in &stages {
        write_files(stage, &files_of(&uploads, stage))?;
    }
    let shared = Arc::new(Mutex::new(stages.iter().cloned().collect::<VecDeque<_>>()));
    let work = |number: usize| work(plan, plan.data.join(number.to_string()), &stages, &shared);
    let mut plays = match plan.browsers {
        0 | 1 => work(0).await?,
        _ => {
            let (first, second) = tokio::join!(work(0), work(1));
            [first?, second?].concat()
        }
    };
    plays.sort_by_key(|play| tasks.iter().position(|task| task.name == play.task));
    Ok(plays)
}

/// The only folder that uploads may take from.
pub(crate) const UPLOADS: &str = "uploads";

pub(crate) fn files_of(uploads: &Path, stage: &TaskStage) -> PathBuf {
    uploads.join(stage.number.to_string())
}

/// Lays out the files of a task. A name that climbs out lies where uploads may not take from.
pub(crate) fn write_files(stage: &TaskStage, folder: &Path) -> Result<(), TaskFault> {
    let failed = |file: &Path| {
        let file = file.to_owned();
        move |error| TaskFault::File(file, error)
    };
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    for (name, text) in &stage.task.files {
        let file = folder.join(name);
        std::fs::write(&file, text).map_err(failed(&file))?;
    }
    Ok(())
}

/// Keeps the secrets of a task, as a person does on the command line.
fn keep_secrets(plan: &TaskPlan<'_>, data: &Path, stage: &TaskStage) -> Result<(), TaskFault> {
    for kept in &stage.task.secrets {
        let origin = stage.filled(&format!("{{{}}}", kept.party));
        let failed = || TaskFault::Secret(stage.task.name.clone());
        let mut child = Command::new(plan.program)
            .args(["secrets", "set", &kept.name, "--origin", &origin, "--kind", &kept.kind])
            .arg("--data-dir")
            .arg(data)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|_| failed())?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(kept.value.as_bytes()).map_err(|_| failed())?;
        }
        if !child.wait().is_ok_and(|ended| ended.success()) {
            return Err(failed());
        }
    }
    Ok(())
}

async fn work(
    plan: &TaskPlan<'_>,
    data: PathBuf,
    stages: &[TaskStage],
    waiting: &Mutex<VecDeque<TaskStage>>,
) -> Result<Vec<TaskPlay>, TaskFault> {
    for stage in stages {
        keep_secrets(plan, &data, stage)?;
    }
    let sites: Vec<String> = stages.iter().flat_map(TaskStage::sites).collect();
    let uploads = plan.data.join(UPLOADS);
    let mut more = vec!["--upload-root".to_owned(), uploads.to_string_lossy().into_owned()];
    if plan.strict {
        more.push("--strict-clicks".to_owned());
    }
    let mut plays = Vec::new();
    let mut client: Option<Client<TaskPerson>> = None;
    loop {
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some(stage) = next else { break };
        let program = match client.as_mut() {
            Some(open) => open,
            None => {
                let how = (DoorKind::Mcp, Level::Auto);
                client.insert(Client::start(plan.program, &data, how, &sites, &more).await?)
            }
        };
        program.person = TaskPerson::of(&stage);
        let folder = files_of(&uploads, &stage).to_string_lossy().into_owned();
        let mut player = Player::new(&stage, folder);
        let begun = Instant::now();
        let played = player.play(program).await;
        let ended = match &played {
            Ok(true) => arrives(&stage).await,
            _ => stage.misses(),
        };
        let complete = matches!(played, Ok(true));
        let fault = match played {
            Err(fault) => Some(fault.to_string()),
            Ok(_) => player.close(program).await.err().map(|fault| fault.to_string()),
        };
        plays.push(TaskPlay {
            task: stage.task.name.clone(),
            solved: complete && ended.is_empty(),
            false_success: complete && stage.task.possible && !ended.is_empty(),
            misses: ended,
            cards: std::mem::take(&mut program.person.cards),
            asked: std::mem::take(&mut program.asked),
            notes: player.notes,
            calls: player.calls,
            bytes: player.bytes,
            millis: begun.elapsed().as_millis(),
            fault: fault.clone(),
        });
        if fault.is_some() {
            client = None;
        }
    }
    if let Some(client) = client {
        client.close().await;
    }
    Ok(plays)
}

/// Waits until the server stores what it should, for a while.
async fn arrives(stage: &TaskStage) -> Vec<String> {
    let limit = Instant::now() + ARRIVES;
    loop {
        let misses = stage.misses();
        if misses.is_empty() || Instant::now() > limit {
            return misses;
        }
        tokio::time::sleep(LOOKS).await;
    }
}

/// The policy at work.
struct Player<'a> {
    stage: &'a TaskStage,
    session: String,
    folder: String,
    /// What was shown, newest last.
    shown: Vec<String>,
    /// The code of the last answer, if it was a refusal or an error.
    code: Option<String>,
    notes: Vec<String>,
    calls: u32,
    bytes: usize,
}

impl<'a> Player<'a> {
    fn new(stage: &'a TaskStage, folder: String) -> Self {
        Self {
            stage,
            session: format!("task-{}", stage.number),
            folder,
            shown: Vec::new(),
            code: None,
            notes: Vec::new(),
            calls: 0,
            bytes: 0,
        }
    }

    /// Whether every step went as the policy expects.
    async fn play(&mut self, client: &mut Client<TaskPerson>) -> Result<bool, TaskFault> {
        let start = self.stage.start();
        self.call(client, "navigate", json!({"url": start})).await?;
        let steps = self.stage.task.policy.clone();
        for (number, step) in steps.iter().enumerate() {
            let may_fail = matches!(steps.get(number + 1), Some(Step::Refused { .. }));
            if !self.step(client, step).await? || (self.code.is_some() && !may_fail) {
                let code = self.code.take().unwrap_or_default();
                let last = self.shown.last().cloned().unwrap_or_default();
                self.notes.push(format!("step {number} {step:?} {code}\n{last}"));
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes a step. False if there is nothing to take it on or it shows something else.
    async fn step(
        &mut self,
        client: &mut Client<TaskPerson>,
        step: &Step,
    ) -> Result<bool, TaskFault> {
        let stage = self.stage;
        match step {
            Step::Expect { text } => {
                for _ in 0..PATIENCE {
                    if self.shown.last().is_some_and(|shown| shown.contains(text.as_str())) {
                        return Ok(true);
                    }
                    self.call(client, "wait_for_settle", json!({})).await?;
                    self.look(client).await?;
                }
                return Ok(self.shown.last().is_some_and(|shown| shown.contains(text.as_str())));
            }
            Step::Refused { code } => return Ok(self.code.take().as_ref() == Some(code)),
            Step::Cannot => return Ok(true),
            Step::Switch { url } => {
                let Some(tab) = self.tab(client, &stage.filled(url)).await? else {
                    return Ok(false);
                };
                self.shown.clear();
                self.call(client, "switch_tab", json!({"tab": tab})).await?;
                return Ok(true);
            }
            Step::Drag { from, onto } => {
                let (Some(from), Some(to)) =
                    (self.find(client, from).await?, self.find(client, onto).await?)
                else {
                    return Ok(false);
                };
                self.call(client, "drag", json!({"from": from, "to": to})).await?;
                return Ok(true);
            }
            _ => {}
        }
        let Some((tool, arguments, element, times)) = self.call_of(step) else { return Ok(false) };
        for _ in 0..times {
            if !self.on(client, tool, arguments.clone(), element).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The tool, its arguments without the ref, the element, and how often.
    fn call_of<'s>(
        &self,
        step: &'s Step,
    ) -> Option<(&'static str, Value, Option<&'s Element>, u32)> {
        let stage = self.stage;
        let place = |place: &'s Place| match place {
            Place::Page => None,
            Place::On(element) => Some(element),
        };
        Some(match step {
            Step::Open { url } => ("navigate", json!({"url": stage.filled(url)}), None, 1),
            Step::Tab { url } => ("open_tab", json!({"url": stage.filled(url)}), None, 1),
            Step::Click { element, button, count, held } => {
                let mut arguments = json!({});
                if *button != "left" {
                    arguments["button"] = json!(button);
                }
                if *count > 1 {
                    arguments["count"] = json!(count);
                }
                if let Some(held) = held {
                    arguments["modifiers"] = json!([held]);
                }
                ("click", arguments, Some(element), 1)
            }
            Step::Type { element, text, how } => {
                let mut arguments = json!({"text": text});
                match *how {
                    "keys" => arguments["keys"] = json!(true),
                    "enter" => arguments["submit"] = json!(true),
                    "append" => arguments["append"] = json!(true),
                    _ => {}
                }
                ("type", arguments, Some(element), 1)
            }
            Step::Secret { element, name } => ("type", json!({"secret": name}), Some(element), 1),
            Step::Press { key, times, place: at } => {
                ("press_key", json!({"key": key}), place(at), *times)
            }
            Step::Check { element, checked } => {
                ("check", json!({"checked": checked}), Some(element), 1)
            }
            Step::Select { element, options } => {
                ("select_option", json!({"options": options}), Some(element), 1)
            }
            Step::Hover { element } => ("hover", json!({}), Some(element), 1),
            Step::Upload { element, files } => {
                let paths: Vec<String> =
                    files.iter().map(|file| format!("{}/{file}", self.folder)).collect();
                ("upload", json!({"paths": paths}), Some(element), 1)
            }
            Step::Back => ("go_back", json!({}), None, 1),
            Step::Reload => ("reload", json!({}), None, 1),
            Step::Dialog { accept, text: None } => {
                ("handle_dialog", json!({"accept": accept}), None, 1)
            }
            Step::Dialog { accept, text: Some(text) } => {
                ("handle_dialog", json!({"accept": accept, "text": text}), None, 1)
            }
            Step::CloseTab => ("close_tab", json!({}), None, 1),
            Step::Await { text } => ("wait_for", json!({"text": text}), None, 1),
            Step::Download => ("wait_for", json!({"download": true}), None, 1),
            Step::Find { text } => ("find_in_page", json!({"text": text}), None, 1),
            Step::Gone { text } => ("wait_for", json!({"gone": text}), None, 1),
            Step::Scroll { to, place: at } => ("scroll", json!({"to": to}), place(at), 1),
            Step::Drag { .. }
            | Step::Switch { .. }
            | Step::Expect { .. }
            | Step::Refused { .. }
            | Step::Cannot => return None,
        })
    }

    /// Calls a tool on an element, and once more after a look if the ref was void.
    async fn on(
        &mut self,
        client: &mut Client<TaskPerson>,
        tool: &str,
        mut arguments: Value,
        element: Option<&Element>,
    ) -> Result<bool, TaskFault> {
        if let Some(element) = element {
            let Some(found) = self.find(client, element).await? else { return Ok(false) };
            arguments["ref"] = json!(found);
        }
        self.call(client, tool, arguments.clone()).await?;
        if let Some(element) = element
            && self.code.as_deref() == Some("stale_ref")
        {
            self.look(client).await?;
            let Some(found) = self.shown.last().and_then(|text| element.find(text)) else {
                return Ok(false);
            };
            arguments["ref"] = json!(found);
            self.call(client, tool, arguments).await?;
        }
        Ok(true)
    }

    async fn call(
        &mut self,
        client: &mut Client<TaskPerson>,
        tool: &str,
        arguments: Value,
    ) -> Result<(), TaskFault> {
        let Answer { text, facts } = client.call(&self.session, tool, arguments).await?;
        self.calls += 1;
        self.bytes += text.len();
        self.code = facts["code"].as_str().or(facts["error"].as_str()).map(str::to_owned);
        self.shown.push(text);
        Ok(())
    }

    async fn look(&mut self, client: &mut Client<TaskPerson>) -> Result<(), TaskFault> {
        self.call(client, "snapshot", json!({"full": true})).await
    }

    /// The ref of an element, from what was shown last or from a new look.
    async fn find(
        &mut self,
        client: &mut Client<TaskPerson>,
        element: &Element,
    ) -> Result<Option<String>, TaskFault> {
        if element.after.is_none() {
            let shown = self.shown.iter().rev();
            if let Some(found) = shown.filter_map(|text| element.find(text)).next() {
                return Ok(Some(found));
            }
        }
        for _ in 0..PATIENCE {
            self.look(client).await?;
            let found = self.shown.last().and_then(|text| element.find(text));
            if found.is_some() {
                return Ok(found);
            }
            self.call(client, "wait_for_settle", json!({})).await?;
        }
        self.notes.push(format!("no {}", element.told()));
        Ok(None)
    }

    async fn tabs(&self, client: &mut Client<TaskPerson>) -> Result<Vec<Value>, TaskFault> {
        let Answer { facts, .. } = client.call(&self.session, "list_tabs", json!({})).await?;
        Ok(facts["tabs"].as_array().cloned().unwrap_or_default())
    }

    async fn tab(
        &mut self,
        client: &mut Client<TaskPerson>,
        url: &str,
    ) -> Result<Option<String>, TaskFault> {
        for _ in 0..PATIENCE {
            self.calls += 1;
            let tabs = self.tabs(client).await?;
            let mut tabs = tabs.iter().rev();
            let found = tabs.find(|tab| tab["url"].as_str().is_some_and(|at| at.contains(url)));
            if let Some(tab) = found.and_then(|tab| tab["tab"].as_str()) {
                return Ok(Some(tab.to_owned()));
            }
            self.call(client, "wait_for_settle", json!({})).await?;
        }
        Ok(None)
    }

    /// Closes every tab of the session, so that the browser can go on with the next task.
    async fn close(&self, client: &mut Client<TaskPerson>) -> Result<(), TaskFault> {
        for tab in self.tabs(client).await? {
            client.call(&self.session, "close_tab", json!({"tab": tab["tab"]})).await?;
        }
        Ok(())
    }
}
