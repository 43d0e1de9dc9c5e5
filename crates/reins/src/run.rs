//! `reins run`: the agent in a terminal.

use crate::cli::RunArgs;
use crate::critic::ModelCritic;
use crate::exit;
use crate::model;
use crate::steps::{Show, Steps, print_json};
use crate::toolbox::Bridge;
use anyhow::Result;
use reins_agent::{Agent, AgentEvent, AgentOptions, Opening, RunEnd, RunReport};
use reins_control::{Control, ControlOptions, TurnStart};
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Events wait here for the screen; the run waits rather than lose one.
const EVENTS: usize = 256;

/// Runs one task and ends with a code that says how it went.
pub(crate) async fn main(args: RunArgs) -> Result<ExitCode> {
    let show = if args.json { Show::Json } else { Show::Rows };
    let chosen = {
        let store = model::store(&args.browser.data_dir()?)?;
        model::choose(&store, args.model.as_deref(), args.base_url.as_deref()).await?
    };
    let options = ControlOptions {
        critic: Some(Arc::new(ModelCritic(Arc::clone(&chosen.client)))),
        strict_clicks: args.strict_clicks,
        ..args.browser.options()?
    };
    let control = Control::open(options).await?;
    let urls: Vec<String> = args.url.iter().cloned().collect();
    let start = TurnStart { message: Some(args.task.clone()), urls, cap: None };
    let steps = Steps::begin(control.clone(), start, show);
    match show {
        Show::Rows => steps.terminal.say(&chosen.sentence),
        Show::Json => print_json(&json!({"event": "model", "text": chosen.sentence})),
    }
    for line in control.interrupted().await {
        steps.terminal.say(&line);
    }
    let report = drive(&args, &steps, chosen.client).await;
    control.close().await;
    Ok(ExitCode::from(tell(&steps, show, &report)))
}

/// Runs the agent, shows its events, and turns Ctrl-C into a stop.
async fn drive(
    args: &RunArgs,
    steps: &Steps,
    client: std::sync::Arc<dyn reins_models::Model>,
) -> RunReport {
    let show = if args.json { Show::Json } else { Show::Rows };
    let opening = Opening {
        calls: args.url.iter().map(|url| ("navigate".to_owned(), json!({"url": url}))).collect(),
    };
    let options = AgentOptions {
        turn: steps.turn(),
        calls: args.steps,
        reasoning: args.reasoning.map(Into::into).unwrap_or_default(),
        ..AgentOptions::default()
    };
    let bridge = Bridge { steps, uploads: !args.browser.upload_root.is_empty() };
    let mut agent = Agent::new(client, bridge, options);
    let (sender, mut events) = mpsc::channel(EVENTS);
    let cancel = CancellationToken::new();
    let run = async {
        let report = agent.run(&args.task, &opening, &sender, &cancel).await;
        drop(sender);
        report
    };
    let screen = async {
        while let Some(event) = events.recv().await {
            shown(steps, show, event);
        }
    };
    let stop = async {
        crate::mcp::interrupted().await;
        steps.stop();
        cancel.cancel();
    };
    // The run ends by itself also when it is stopped, and its report is the truth.
    let ended = async { tokio::join!(run, screen) };
    tokio::pin!(ended, stop);
    tokio::select! {
        (report, ()) = &mut ended => report,
        () = &mut stop => ended.await.0,
    }
}

/// Steps are shown by the calls themselves; here come the model's own words.
fn shown(steps: &Steps, show: Show, event: AgentEvent) {
    match (show, event) {
        (Show::Rows, AgentEvent::Notice(text)) => steps.terminal.say(&text),
        (Show::Json, AgentEvent::Notice(text)) => {
            print_json(&json!({"event": "notice", "text": text}));
        }
        (Show::Json, AgentEvent::Text(text)) => {
            print_json(&json!({"event": "text", "text": text}));
        }
        (Show::Json, AgentEvent::TextVoid) => print_json(&json!({"event": "text_void"})),
        (Show::Json, AgentEvent::Usage { total, .. }) => print_json(&json!({
            "event": "usage", "input": total.input, "cached": total.cached, "output": total.output,
        })),
        // Rows show the whole answer at the end; thoughts and states are for richer screens.
        _ => {}
    }
}

/// Says how it ended; returns the exit code.
fn tell(steps: &Steps, show: Show, report: &RunReport) -> u8 {
    let (code, answer, note) = match &report.end {
        RunEnd::Done { answer } => (exit::DONE, Some(answer.as_str()), None),
        RunEnd::Stopped => {
            (exit::STOPPED, None, Some("You stopped it. Nothing more was done.".to_owned()))
        }
        RunEnd::StepLimit => (
            exit::UNFINISHED,
            None,
            Some(
                "It used up its tool calls and is not finished. --steps N allows more.".to_owned(),
            ),
        ),
        RunEnd::Failed { code, message, answer } => {
            let exit = match *code {
                "going_in_circles" | "no_step_worked" | "no_answer" => exit::UNFINISHED,
                _ => exit::FAILED,
            };
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
                // The answer is the product's output; a closed pipe needs no message.
                let _ = writeln!(std::io::stdout().lock(), "\n{answer}");
            }
            if let Some(note) = note {
                steps.terminal.say(&format!("\n{note}"));
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
