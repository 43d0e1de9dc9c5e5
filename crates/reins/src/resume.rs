//! `reins resume`: goes on with a run that was cut off, or with a conversation that ended.

use crate::browser_flags::data_dir;
use crate::model;
use crate::past::{Past, Settings};
use crate::run::{self, Begin, Task};
use anyhow::{Result, bail};
use clap::Args;
use reins_store::{Phase, Store, StoredConversation};
use std::path::PathBuf;
use std::process::ExitCode;

/// The newest runs among which the one to go on with is looked for.
const LOOKED_AT: u32 = 100;

/// What the model is told when a run that ended is taken up without new words.
const GO_ON: &str = "Go on with the task.";

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Its id, the beginning of its id, or its name; without one the newest run that is not done
    run: Option<String>,
    /// Something to say to it
    words: Option<String>,
    /// Another model
    #[arg(long)]
    model: Option<String>,
    /// Print events as JSON lines on stdout
    #[arg(long)]
    json: bool,
    /// Take corrections as JSON lines on stdin
    #[arg(long)]
    input: bool,
    /// Tool calls allowed from here on
    #[arg(long)]
    steps: Option<u32>,
    /// Where Reins keeps its own data
    #[arg(long, value_name = "DIR", env = "REINS_DATA_DIR")]
    data_dir: Option<PathBuf>,
}

pub(crate) async fn main(args: ResumeArgs, detailed: bool) -> Result<ExitCode> {
    let json = args.json;
    run::last_event(json, start(args, detailed).await)
}

async fn start(args: ResumeArgs, detailed: bool) -> Result<ExitCode> {
    let data = data_dir(args.data_dir.as_deref())?;
    let store = model::store(&data)?;
    let about = match args.run {
        Some(word) => store.find_conversation(word).await?,
        None => newest(&store).await?,
    };
    let mut run = Settings::restore(&about.settings)?;
    run.browser.data_dir = Some(data);
    run.json = args.json;
    run.input = args.input;
    run.model = args.model.or(run.model);
    run.steps = args.steps.unwrap_or(run.steps);
    let past = Past::read(&store, about).await?;
    let task = match (past.cut_off(), args.words) {
        (true, words) => Task::Resume(words),
        (false, Some(words)) => Task::New(words),
        (false, None) if past.about.phase == Phase::Interrupted && past.answer().is_some() => {
            Task::Rest(past.answer().unwrap_or_default())
        }
        (false, None) if past.about.phase == Phase::Done => {
            bail!("that run is done. Say what to do next: reins resume {} \"…\"", past.about.id)
        }
        (false, None) => Task::New(GO_ON.to_owned()),
    };
    let begin = Begin { store, past: Some(past), task, settings: None, attached: Vec::new() };
    run::go(run, begin, detailed).await
}

/// The newest run that nobody works on and that is not done.
async fn newest(store: &Store) -> Result<StoredConversation> {
    let runs = store.conversations(LOOKED_AT).await?;
    let open = |run: &StoredConversation| !matches!(run.phase, Phase::Done | Phase::Working);
    match runs.into_iter().find(open) {
        Some(run) => Ok(run),
        None => bail!("no run waits to be taken up; `reins runs list` shows all"),
    }
}
