//! `reins runs`: what was kept of earlier runs, shown, followed, exported and deleted.

use crate::browser_flags::data_dir;
use crate::exit;
use crate::model;
use crate::past;
use crate::record::Note;
use crate::replay::{self, Entry, Privacy};
use crate::steps::print_json;
use crate::terminal::{Sign, Terminal, plain};
use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use console::Term;
use reins_agent::JournalEvent;
use reins_store::{Phase, Store, StoredConversation, StoredEntry};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

/// How often a followed run is looked at: soon enough for somebody who watches, and nearly free.
const LOOK: Duration = Duration::from_millis(250);

/// Entries read at once while following.
const PORTION: u32 = 200;

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    command: RunsCommand,
    /// Where Reins keeps its own data
    #[arg(long, value_name = "DIR", env = "REINS_DATA_DIR", global = true)]
    data_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum RunsCommand {
    /// The newest runs, one line each
    List {
        /// How many
        #[arg(long, default_value_t = 20)]
        limit: u32,
        /// As JSON lines
        #[arg(long)]
        json: bool,
    },
    /// What happened in a run
    Show {
        /// Its id, the beginning of its id, or its name
        run: String,
        /// Go on showing while it runs
        #[arg(long, short)]
        follow: bool,
        /// Every entry as a JSON line
        #[arg(long)]
        json: bool,
    },
    /// Write a run out as Markdown or JSON
    Export {
        /// Its id, the beginning of its id, or its name
        run: String,
        /// In which form
        #[arg(long, value_enum, default_value_t = Form::Markdown)]
        format: Form,
        /// How much of it
        #[arg(long, value_enum, default_value_t = Privacy::Words)]
        privacy: Privacy,
        /// Into this file instead of stdout
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Forget runs, and overwrite them on the disk
    Delete {
        /// Ids, beginnings of ids, or names
        #[arg(required_unless_present = "older_than")]
        runs: Vec<String>,
        /// All that nothing was written to for so many days
        #[arg(long, value_name = "DAYS", conflicts_with = "runs")]
        older_than: Option<u64>,
    },
}

/// The form of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// To read
    Markdown,
    /// For programs
    Json,
}

pub(crate) async fn main(args: RunsArgs, detailed: bool) -> Result<ExitCode> {
    let store = model::store(&data_dir(args.data_dir.as_deref())?)?;
    match args.command {
        RunsCommand::List { limit, json } => list(&store, limit, json).await?,
        RunsCommand::Show { run, follow, json } => {
            let about = store.find_conversation(run).await?;
            show(&store, about, (follow, json, detailed)).await?;
        }
        RunsCommand::Export { run, format, privacy, output } => {
            let about = store.find_conversation(run).await?;
            let entries = past::all(&store, &about).await?;
            let text = match format {
                Form::Markdown => replay::as_markdown(&about, &entries, privacy),
                Form::Json => format!("{:#}\n", replay::as_json(&about, &entries, privacy)),
            };
            replay::write_out(output.as_deref(), &text)?;
        }
        RunsCommand::Delete { runs, older_than } => delete(&store, runs, older_than).await?,
    }
    store.flush().await?;
    Ok(ExitCode::from(exit::DONE))
}

async fn list(store: &Store, limit: u32, json: bool) -> Result<()> {
    let runs = store.conversations(limit).await?;
    if json {
        for run in &runs {
            print_json(&json!({
                "id": run.id.as_str(),
                "name": run.name.as_ref().map(ToString::to_string),
                "task": run.task,
                "phase": run.phase.word(),
                "created_at": replay::stamp(run.created_at),
                "updated_at": replay::stamp(run.updated_at),
                "entries": run.entries,
                "recorded_by": run.version,
            }));
        }
        return Ok(());
    }
    let terminal = Terminal::on(Term::stdout());
    if runs.is_empty() {
        terminal.say("No runs are kept.");
    }
    let now = SystemTime::now();
    for run in &runs {
        let age = age(now, run.updated_at);
        let name = run.name.as_ref().map(|name| format!("[{name}] ")).unwrap_or_default();
        let task = replay::first_line(&run.task);
        terminal.row(&format!("{}  {:<11} {age:>4}  {name}{task}", run.id, run.phase.word()));
    }
    Ok(())
}

/// How long ago, in four columns.
fn age(now: SystemTime, at: SystemTime) -> String {
    let seconds = now.duration_since(at).map_or(0, |since| since.as_secs());
    match seconds {
        0..60 => "now".to_owned(),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

async fn show(
    store: &Store,
    mut about: StoredConversation,
    (follow, json, detailed): (bool, bool, bool),
) -> Result<()> {
    let terminal = Terminal::on(Term::stdout());
    terminal.show_details(detailed);
    if !json {
        let name = about.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        terminal.say(&format!("{}{name}, {}", about.id, replay::stamp(about.created_at)));
    }
    let mut seen = 0;
    loop {
        let entries = store.journal(about.id.clone(), seen, PORTION).await?;
        for entry in &entries {
            seen = entry.seq;
            if json {
                print_json(&replay::json_of(entry, Privacy::Full));
            } else {
                shown(entry, &terminal);
            }
        }
        if !entries.is_empty() {
            continue;
        }
        // Whatever it wrote before its end is there by now.
        if !follow || about.phase != Phase::Working {
            break;
        }
        tokio::time::sleep(LOOK).await;
        about = store.find_conversation(about.id.to_string()).await?;
    }
    if !json {
        terminal.say(&format!("({})", about.phase.word()));
    }
    Ok(())
}

/// One entry as its run showed it.
fn shown(entry: &StoredEntry, terminal: &Terminal) {
    match replay::read(entry) {
        Entry::Event(event) => match *event {
            JournalEvent::Person { text, .. } => terminal.say(&format!("\n> {text}\n")),
            JournalEvent::CorrectionQueued { text, .. }
            | JournalEvent::MessageQueued { text, .. } => terminal.say(&format!("> {text}")),
            JournalEvent::Resumed { .. } => terminal.say("(taken up again)"),
            JournalEvent::Plan { text } => terminal.say(&text),
            JournalEvent::Reply { text, .. } if !text.trim().is_empty() => {
                terminal.markdown(text.trim());
            }
            JournalEvent::StepEnded(ended) => {
                let sign = match ended.outcome.as_str() {
                    "unknown" => Sign::Unknown,
                    _ if ended.worked => Sign::Done,
                    _ => Sign::Refused,
                };
                let mut lines = ended.text.lines().map(str::to_owned);
                let first = lines.next().unwrap_or_default();
                let line = first.strip_prefix("completed: ").unwrap_or(&first).to_owned();
                let took = Duration::from_millis(ended.took_ms);
                terminal.step(ended.step, sign, &line, took, lines.collect());
            }
            JournalEvent::StepSkipped { text, .. } => {
                terminal.row(&format!("    -- {}", replay::first_line(&text)));
            }
            JournalEvent::End { how, .. } => terminal.say(&format!("({how})")),
            _ => {}
        },
        Entry::Note(Note::Attached(file)) => {
            terminal.say(&format!("(attached: {})", plain(&file.name)));
        }
        Entry::Note(_) | Entry::Unknown => {}
    }
}

async fn delete(store: &Store, words: Vec<String>, older_than: Option<u64>) -> Result<()> {
    let mut runs = Vec::new();
    if let Some(days) = older_than {
        let limit = SystemTime::now().checked_sub(Duration::from_secs(days.saturating_mul(86_400)));
        let old = |run: &StoredConversation| limit.is_some_and(|limit| run.updated_at < limit);
        let all = store.conversations(u32::MAX).await?;
        runs.extend(all.into_iter().filter(|run| run.phase != Phase::Working && old(run)));
    }
    // All are found before any is gone.
    for word in words {
        runs.push(store.find_conversation(word).await?);
    }
    if let Some(busy) = runs.iter().find(|run| run.phase == Phase::Working) {
        bail!("{} is still running; nothing was deleted", busy.id);
    }
    let mut out = std::io::stdout().lock();
    for run in runs {
        store.delete_conversation(run.id.clone()).await?;
        writeln!(out, "{} is deleted", run.id)?;
    }
    Ok(())
}
