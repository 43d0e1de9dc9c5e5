//! `reins run`: the agent in a terminal.

use crate::attach::{self, Attachment};
use crate::cli::RunArgs;
use crate::critic::ModelCritic;
use crate::drive::Drive;
use crate::exit;
use crate::model;
use crate::past::{Past, Settings};
use crate::record::{Keep, Note, Record};
use crate::steps::{Show, Steps, print_json};
use crate::thinking;
use crate::trace::Traced;
use anyhow::{Result, bail};
use reins_agent::{RunEnd, RunReport};
use reins_control::{Control, ControlOptions, TurnStart};
use reins_models::{Metered, Model};
use reins_store::{ConversationDraft, Phase, Store, StoreError};
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::SystemTime;

/// Characters of a task that a list of runs may show.
const TITLE_CHARS: usize = 500;

/// What a run is to do.
pub(crate) enum Task {
    /// The person's words.
    New(String),
    /// What a run that was cut off was to do, and maybe more words.
    Resume(Option<String>),
    /// Only what waits: the last run was done, with this answer, and its process ended before it said so.
    Rest(String),
}

/// What a run begins with.
pub(crate) struct Begin {
    pub(crate) store: Store,
    /// The conversation that it goes on with.
    pub(crate) past: Option<Past>,
    pub(crate) task: Task,
    /// What it was started with, to be kept; `None` leaves what is kept of an earlier run.
    pub(crate) settings: Option<Settings>,
    /// Files of the person.
    pub(crate) attached: Vec<Attachment>,
}

/// Runs one task and ends with a code that says how it went.
pub(crate) async fn main(args: RunArgs, detailed: bool) -> Result<ExitCode> {
    let json = args.json;
    last_event(json, start(args, detailed).await)
}

/// What could not even begin ends with an event, too: a script reads no stderr.
pub(crate) fn last_event(json: bool, ended: Result<ExitCode>) -> Result<ExitCode> {
    if let (true, Err(error)) = (json, &ended) {
        print_json(&json!({"event": "end", "exit": exit::FAILED, "note": format!("{error:#}")}));
    }
    ended
}

async fn start(args: RunArgs, detailed: bool) -> Result<ExitCode> {
    // What cannot be attached is told before anything begins.
    let attached = attach::read(&args.attach)?;
    let store = model::store(&args.browser.data_dir()?)?;
    let past = match &args.session {
        None => None,
        Some(name) => match store.find_conversation(name.to_string()).await {
            Ok(about) => Some(Past::read(&store, about).await?),
            Err(StoreError::NoSuchConversation { .. }) => None,
            Err(error) => return Err(error.into()),
        },
    };
    if let Some(past) = &past
        && past.cut_off()
    {
        let id = &past.about.id;
        bail!(
            "'{id}' was cut off in the middle of its last task. Go on with it first: reins resume {id}"
        );
    }
    let settings = Some(Settings::of(&args)?);
    let task = Task::New(args.task.clone());
    go(args, Begin { store, past, task, settings, attached }, detailed).await
}

/// Runs a task of a new or of a kept conversation.
pub(crate) async fn go(args: RunArgs, begin: Begin, detailed: bool) -> Result<ExitCode> {
    let show = if args.json { Show::Json } else { Show::Rows };
    let chosen =
        model::choose(&begin.store, args.model.as_deref(), args.base_url.as_deref()).await?;
    let mut mind = thinking::mind(&args.thinking, &begin.store, &chosen, args.url.clone()).await?;
    // Whoever asks the model spends from the same allowance (W-272).
    let model: Arc<dyn Model> = match args.allow_cost {
        Some(allowed) => {
            let metered = Metered::new(chosen.client, allowed)?;
            if let Some(decision) = mind.decision.take() {
                mind.decision = Some(Arc::new(metered.also(decision)?));
            }
            Arc::new(metered)
        }
        None => chosen.client,
    };
    let options = ControlOptions {
        critic: Some(Arc::new(ModelCritic(Arc::clone(&model)))),
        strict_clicks: args.strict_clicks,
        ..args.browser.options()?
    };
    let control = Control::open(options).await?;
    let record = record(&args, &begin).await?;
    let mut steps = Steps::begin(control.clone(), turn(&args, &begin), show);
    steps.record.clone_from(&record);
    if let Some(record) = &record {
        control.confide_in(Arc::new(record.clone()));
    }
    steps.terminal.show_details(detailed);
    match show {
        Show::Rows => steps.terminal.say(&chosen.sentence),
        Show::Json => print_json(&json!({
            "event": "model", "text": chosen.sentence,
            "run": record.as_ref().map(|record| record.id().as_str()),
        })),
    }
    for line in control.interrupted().await {
        steps.terminal.say(&line);
    }
    let traced = |model: Arc<dyn Model>| -> Arc<dyn Model> {
        match &record {
            Some(record) => Arc::new(Traced { model, record: record.clone() }),
            None => model,
        }
    };
    mind.decision = mind.decision.take().map(&traced);
    let model = traced(model);
    let report =
        Drive { args: &args, begin: &begin, steps: &steps, show }.to_the_end(model, mind).await;
    control.close().await;
    if let Some(record) = &record
        && let Err(error) = close(record, &report).await
    {
        steps.terminal.say(&format!("The end of this run could not be kept: {error}"));
    }
    Ok(ExitCode::from(tell(&steps, show, &report)))
}

/// Where the run is kept, unless the person wants nothing to be kept.
async fn record(args: &RunArgs, begin: &Begin) -> Result<Option<Record>> {
    if args.keep == Keep::Nothing && begin.past.is_none() {
        return Ok(None);
    }
    let settings = begin.settings.as_ref().map(serde_json::to_string).transpose()?;
    let id = match &begin.past {
        Some(past) => begin.store.claim_conversation(past.about.id.clone(), settings).await?.id,
        None => {
            let draft = ConversationDraft {
                name: args.session.clone(),
                task: args.task.chars().take(TITLE_CHARS).collect(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                settings: settings.unwrap_or_default(),
                at: SystemTime::now(),
            };
            begin.store.begin_conversation(draft).await?
        }
    };
    let record = Record::new(begin.store.clone(), id, args.keep);
    if let Some(past) = &begin.past {
        record.leave_out_typed(&past.typed_without_end()).await?;
    }
    for file in &begin.attached {
        record.note(&Note::Attached(file.clone())).await?;
    }
    Ok(Some(record))
}

/// The turn of the run: the person's own words name its sites. A run that is taken up has the words of
/// its task and of its corrections.
fn turn(args: &RunArgs, begin: &Begin) -> TurnStart {
    let mut urls: Vec<String> = args.url.iter().cloned().collect();
    let message = match (&begin.task, &begin.past) {
        (Task::New(words), _) => words.clone(),
        (task, past) => {
            let mut words = past.as_ref().map(Past::words).unwrap_or_default();
            if let Task::Resume(Some(more)) = task {
                words.push('\n');
                words.push_str(more);
            }
            words
        }
    };
    urls.extend(begin.past.as_ref().and_then(|past| past.opened.clone()));
    TurnStart { message: Some(message), urls, cap: None }
}

/// Keeps how a run ended.
async fn close(record: &Record, report: &RunReport) -> Result<(), StoreError> {
    let usage = &report.usage;
    record
        .note(&Note::Bill {
            requests: report.requests,
            input: usage.input,
            cached: usage.cached,
            output: usage.output,
            cost: report.cost.map(|cost| cost.to_string()),
        })
        .await?;
    let phase = match &report.end {
        RunEnd::Done { .. } => Phase::Done,
        RunEnd::Stopped => Phase::Stopped,
        RunEnd::StepLimit { .. } => Phase::Unfinished,
        RunEnd::Failed { code, .. } if is_unfinished(code) => Phase::Unfinished,
        RunEnd::Failed { .. } => Phase::Failed,
    };
    record.end(phase).await
}

/// Ends of the loop itself, unlike those of the model's server or the disk.
fn is_unfinished(code: &str) -> bool {
    matches!(code, "going_in_circles" | "no_step_worked" | "no_answer")
}

/// Says how it ended; returns the exit code.
fn tell(steps: &Steps, show: Show, report: &RunReport) -> u8 {
    let (code, answer, note) = match &report.end {
        RunEnd::Done { answer } => (exit::DONE, Some(answer.as_str()), None),
        RunEnd::Stopped => {
            (exit::STOPPED, None, Some("You stopped it. Nothing more was done.".to_owned()))
        }
        RunEnd::StepLimit { so_far } => (
            exit::UNFINISHED,
            Some(so_far.as_str()).filter(|so_far| !so_far.trim().is_empty()),
            Some(
                "It used up its tool calls and is not finished. --steps N allows more.".to_owned(),
            ),
        ),
        RunEnd::Failed { code, message, answer } => {
            let exit = if is_unfinished(code) { exit::UNFINISHED } else { exit::FAILED };
            (exit, answer.as_deref(), Some(format!("not done ({code}): {message}")))
        }
    };
    let (count, failed) = steps.counts();
    let usage = &report.usage;
    match show {
        Show::Json => print_json(&json!({
            "event": "end",
            "exit": code,
            "answer": answer,
            "note": note,
            "run": steps.record.as_ref().map(|record| record.id().as_str()),
            "steps": count,
            "failed": failed,
            "requests": report.requests,
            "input_tokens": usage.input,
            "cached_tokens": usage.cached,
            "output_tokens": usage.output,
            "cost": report.cost.map(|cost| cost.to_string()),
        })),
        Show::Rows => {
            if let Some(answer) = answer {
                steps.terminal.answer(answer);
            }
            if let Some(note) = note {
                steps.terminal.say(&format!("\n{note}"));
            }
            if let Some(record) = steps.record.as_ref().filter(|_| code != exit::DONE) {
                steps.terminal.say(&format!("Go on with: reins resume {}", record.id()));
            }
            let cost = report.cost.map(|cost| format!(", {cost}")).unwrap_or_default();
            let failed = if failed == 0 { String::new() } else { format!(" ({failed} failed)") };
            steps.terminal.say(&format!(
                "\n{count} steps{failed}, {} tokens in ({} cached), {} out{cost}",
                usage.input, usage.cached, usage.output
            ));
        }
    }
    code
}
