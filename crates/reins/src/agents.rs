//! `reins agents`: which agents are installed, whether they work, and what is kept about them.

use crate::agent_run::bare;
use crate::agent_tools::EchoTools;
use crate::browser_flags::data_dir;
use crate::cli::{AgentsArgs, AgentsCommand};
use crate::exit;
use anyhow::{Context, Result};
use reins_acp::{AcpError, Agents, Launch, Overrides, Probe, Prompt, Recipe, recipe, recipes};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;

/// The file of what is kept about agents, inside the data directory.
const FILE: &str = "agents.toml";

/// What is kept about agents: no secrets, so a file that people can read and write.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Kept(BTreeMap<String, KeptAgent>);

/// What is kept about one.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeptAgent {
    /// Where its program is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<PathBuf>,
    /// Its model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
}

impl Kept {
    pub(crate) fn read(data: &Path) -> Result<Self> {
        let file = data.join(FILE);
        match std::fs::read_to_string(&file) {
            Ok(text) => toml::from_str(&text)
                .with_context(|| format!("{} does not read; mend or delete it", file.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => {
                Err(error).with_context(|| format!("{} could not be read", file.display()))
            }
        }
    }

    pub(crate) fn of(&self, id: &str) -> KeptAgent {
        self.0.get(id).cloned().unwrap_or_default()
    }

    /// Written beside and moved over: a crash leaves the old or the new file.
    fn write(&self, data: &Path) -> Result<()> {
        std::fs::create_dir_all(data)?;
        let (file, next) = (data.join(FILE), data.join(format!("{FILE}.new")));
        std::fs::write(&next, toml::to_string(self)?)?;
        std::fs::rename(&next, &file)
            .with_context(|| format!("{} could not be written", file.display()))
    }
}

/// The recipe of a name.
pub(crate) fn named(name: &str) -> Result<&'static Recipe, AcpError> {
    recipe(name).ok_or_else(|| AcpError::Unknown(name.to_owned()))
}

/// A prompt without tools and model.
pub(crate) fn prompt(data: &Path) -> Result<Prompt> {
    use etcetera::BaseStrategy;
    let base = etcetera::choose_base_strategy().context("no home directory; set HOME")?;
    let cache = base.cache_dir().join("reins").join("agents");
    let shim = std::env::current_exe().context("the path of this program is not known")?;
    Ok(bare(data, &cache, shim))
}

/// Lists, checks or sets.
pub(crate) async fn main(args: AgentsArgs) -> Result<ExitCode> {
    let data = data_dir(args.data_dir.as_deref())?;
    match args.command {
        AgentsCommand::List => list(&data).await,
        AgentsCommand::Doctor { name, echo } => doctor(&data, name.as_deref(), echo).await,
        AgentsCommand::Set { name, path, model } => set(&data, &name, path, model),
    }
}

/// Looks on the PATH and starts no agent.
async fn list(data: &Path) -> Result<ExitCode> {
    let (kept, probe) = (Kept::read(data)?, Probe::new());
    let mut out = std::io::stdout().lock();
    for recipe in recipes() {
        let KeptAgent { path, model } = kept.of(recipe.id);
        let found = Launch::find(recipe, &Overrides { path, command: None }, &probe).await;
        let (sign, place) = match &found {
            Ok(launch) => ("ok", launch.own_program().display().to_string()),
            Err(AcpError::Missing { program, .. }) => {
                ("--", format!("no {program} on the PATH of your login shell"))
            }
            Err(error) => ("--", error.code().to_owned()),
        };
        writeln!(out, "{sign} {:<9} {:<15} {place}", recipe.id, recipe.name)?;
        match found {
            Ok(_) => {}
            Err(AcpError::Missing { install, .. }) => {
                writeln!(out, "             {install}")?;
                continue;
            }
            Err(error) => {
                writeln!(out, "             {error}")?;
                continue;
            }
        }
        writeln!(out, "             off: {}", recipe.off)?;
        if let Some(model) = model {
            writeln!(out, "             model: {model}")?;
        }
    }
    writeln!(
        out,
        "\nUse one with `reins run --agent NAME \"…\"`; `reins agents doctor NAME` starts it and shows its models."
    )?;
    Ok(ExitCode::from(exit::DONE))
}

/// Starts agents, without a prompt unless `echo` is set, and says what is wrong with them.
async fn doctor(data: &Path, name: Option<&str>, echo: bool) -> Result<ExitCode> {
    let (kept, probe) = (Kept::read(data)?, Probe::new());
    let chosen: Vec<&'static Recipe> = match name {
        Some(name) => vec![named(name)?],
        None => recipes().iter().collect(),
    };
    let (mut well, mut found) = (true, false);
    for recipe in chosen {
        let overrides = Overrides { path: kept.of(recipe.id).path, command: None };
        let launch = match Launch::find(recipe, &overrides, &probe).await {
            Ok(launch) => launch,
            Err(_) if name.is_none() => continue,
            Err(error) => return Err(error.into()),
        };
        found = true;
        let model = kept.of(recipe.id).model;
        well &= examined(data, recipe, &launch, model, echo).await?;
    }
    if !found {
        writeln!(
            std::io::stdout().lock(),
            "no agent is installed; `reins agents list` says how to get one"
        )?;
    }
    Ok(ExitCode::from(if well && found { exit::DONE } else { exit::FAILED }))
}

/// One agent: starts, is signed in, offers these models.
async fn examined(
    data: &Path,
    recipe: &Recipe,
    launch: &Launch,
    model: Option<String>,
    echo: bool,
) -> Result<bool> {
    let started = Instant::now();
    let agents = Agents::new();
    let stop = async {
        crate::mcp::interrupted().await;
        agents.current().map(|run| agents.stop(run));
        std::future::pending::<()>().await;
    };
    let work = async {
        let checked = agents.begin().check(launch, prompt(data)?).await;
        let echoed = match &checked {
            Ok(_) if echo => Some(echoed(data, launch, model, &agents).await?),
            _ => None,
        };
        anyhow::Ok((checked, echoed))
    };
    let (checked, echoed) = tokio::select! {
        done = work => done?,
        () = stop => return Ok(false),
    };
    let mut out = std::io::stdout().lock();
    let checked = match checked {
        Ok(checked) => checked,
        Err(error) => {
            writeln!(out, "-- {:<9} {} ({error})", recipe.id, error.code())?;
            return Ok(false);
        }
    };
    let seconds = started.elapsed().as_secs_f64();
    writeln!(out, "ok {:<9} {}, ready after {seconds:.1} s", recipe.id, checked.agent)?;
    for model in &checked.offer.models {
        let sign = if checked.offer.current.as_ref() == Some(&model.id) { '*' } else { ' ' };
        writeln!(out, "           {sign} {}  {}", model.id, model.name)?;
    }
    match echoed {
        None => Ok(true),
        Some(None) => {
            writeln!(out, "             its model called our tool and got the answer")?;
            Ok(true)
        }
        Some(Some(problem)) => {
            writeln!(out, "             {problem}")?;
            Ok(false)
        }
    }
}

/// Has the agent's model call a harmless tool. Returns what went wrong, if anything.
async fn echoed(
    data: &Path,
    launch: &Launch,
    model: Option<String>,
    agents: &Agents,
) -> Result<Option<String>> {
    let (heard, mut hears) = mpsc::channel(HEARD);
    let (events, mut said) = mpsc::channel(HEARD);
    let text = "reins 4711".to_owned();
    let ask = format!(
        "Call the tool echo of the MCP server reins_run with the text \"{text}\", then answer with what it gave back."
    );
    let tools = Arc::new(EchoTools { heard });
    let prompt = Prompt { tools: Some(tools), model, ..prompt(data)? };
    let run = agents.begin().prompt(launch, prompt, async { Some(ask) }, events);
    let silent = async { while said.recv().await.is_some() {} };
    let (answer, ()) = tokio::join!(run, silent);
    Ok(match (answer, hears.try_recv()) {
        (Err(error), _) => Some(error.to_string()),
        (Ok(_), Ok(heard)) if heard == text => None,
        (Ok(answer), _) => Some(format!("its model did not call our tool; it said: {answer}")),
    })
}

/// A model may call the tool a few times.
const HEARD: usize = 64;

/// Keeps an agent's path or model; an empty word forgets it.
fn set(data: &Path, name: &str, path: Option<PathBuf>, model: Option<String>) -> Result<ExitCode> {
    let recipe = named(name)?;
    let mut kept = Kept::read(data)?;
    let mut agent = kept.of(recipe.id);
    if let Some(path) = path {
        agent.path = Some(path).filter(|path| !path.as_os_str().is_empty());
    }
    if let Some(model) = model {
        agent.model = Some(model).filter(|model| !model.is_empty());
    }
    let word = |value: Option<&str>| value.unwrap_or("its own choice").to_owned();
    let told = format!(
        "{}: path {}, model {}",
        recipe.name,
        word(agent.path.as_deref().and_then(Path::to_str)),
        word(agent.model.as_deref())
    );
    if agent == KeptAgent::default() {
        kept.0.remove(recipe.id);
    } else {
        kept.0.insert(recipe.id.to_owned(), agent);
    }
    kept.write(data)?;
    writeln!(std::io::stdout().lock(), "{told}")?;
    Ok(ExitCode::from(exit::DONE))
}

/// The hidden subcommand that an agent starts as its MCP server.
pub(crate) async fn shim() -> Result<ExitCode> {
    reins_acp::shim().await?;
    Ok(ExitCode::from(exit::DONE))
}
