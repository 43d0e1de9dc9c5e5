//! What a run tells: rows and words on a terminal, or every event as a JSON line.

use crate::steer;
use crate::steps::{Show, print_json};
use crate::terminal::Terminal;
use reins_agent::{AgentEvent, Shortening};
use reins_core::{Outcome, RunState, StepFinish, TurnEvent};
use serde_json::{Value, json};

/// Shows one event. Steps are shown as rows by the calls themselves; here come the model's own words.
pub(crate) fn shown(terminal: &Terminal, show: Show, event: AgentEvent) {
    match show {
        Show::Json => {
            if let Some(event) = json_of(&event) {
                print_json(&event);
            }
        }
        Show::Rows => match event {
            AgentEvent::Notice(text) => terminal.say(&text),
            AgentEvent::Text(text) => terminal.words(&text),
            AgentEvent::TextVoid => terminal.words_void(),
            AgentEvent::Turn(TurnEvent::StepFinished(_))
            | AgentEvent::Turn(TurnEvent::State { state: RunState::Working, .. }) => {
                terminal.status("    thinking …");
            }
            AgentEvent::Corrected { text, .. } => terminal.row(&format!("    taken in: {text}")),
            AgentEvent::Waiting(waiting) => {
                let told = steer::told(&waiting);
                if !told.is_empty() {
                    terminal.say(&told);
                }
            }
            // A mode that was not picked comes as a notice, too, and a plan was on its card.
            AgentEvent::Mode(_)
            | AgentEvent::Plan(_)
            | AgentEvent::Shortened(_)
            | AgentEvent::Reasoning(_)
            | AgentEvent::Usage { .. }
            | AgentEvent::Turn(_) => {}
        },
    }
}

/// An event as JSON. Fields are only ever added.
fn json_of(event: &AgentEvent) -> Option<Value> {
    Some(match event {
        AgentEvent::Notice(text) => json!({"event": "notice", "text": text}),
        AgentEvent::Text(text) => json!({"event": "text", "text": text}),
        AgentEvent::TextVoid => json!({"event": "text_void"}),
        AgentEvent::Reasoning(text) => json!({"event": "reasoning", "text": text}),
        AgentEvent::Usage { last, total, cost } => json!({
            "event": "usage", "input": total.input, "cached": total.cached, "output": total.output,
            "last": {"input": last.input, "cached": last.cached, "output": last.output},
            "cost": cost.map(|cost| cost.to_string()),
        }),
        AgentEvent::Corrected { correction, revision, text } => json!({
            "event": "correction", "state": "applied", "correction": correction.0,
            "revision": revision.0, "text": text,
        }),
        AgentEvent::Mode(route) => json!({
            "event": "mode", "mode": route.mode.as_str(), "source": route.source.as_str(),
            "ms": u64::try_from(route.took.as_millis()).unwrap_or(u64::MAX),
        }),
        AgentEvent::Plan(text) => json!({"event": "plan", "text": text}),
        AgentEvent::Shortened(how) => json!({
            "event": "shortened",
            "how": match how {
                Shortening::OldPages => "old_pages",
                Shortening::Pictures => "pictures",
                Shortening::Summary => "summary",
                Shortening::Emergency => "emergency",
            },
        }),
        AgentEvent::Waiting(waiting) => {
            let waiting = waiting.iter().map(|waiting| {
                json!({"message": waiting.message.0, "text": waiting.text, "paused": waiting.paused})
            });
            json!({"event": "waiting", "messages": waiting.collect::<Vec<_>>()})
        }
        AgentEvent::Turn(event) => turn_json(event),
    })
}

/// What the browser's side tells of a turn, by the same way as what the agent tells.
pub(crate) fn turn_told(terminal: &Terminal, show: Show, event: TurnEvent) {
    match (show, &event) {
        (Show::Json, _) => print_json(&turn_json(&event)),
        (Show::Rows, TurnEvent::Paused { reason, .. }) => {
            terminal.say(&format!("Paused: {reason}."));
        }
        (Show::Rows, TurnEvent::Resumed { .. }) => terminal.row("    goes on"),
        // A card is shown by whoever reads its answer.
        (Show::Rows, _) => {}
    }
}

fn turn_json(event: &TurnEvent) -> Value {
    match event {
        TurnEvent::State { state, .. } => json!({"event": "state", "state": word(*state)}),
        TurnEvent::StepStarted { step, tool, arguments, element, .. } => json!({
            "event": "step_started", "step": step.0, "tool": tool, "arguments": arguments,
            "element": element,
        }),
        TurnEvent::StepFinished(finish) => finished(finish),
        TurnEvent::Summary(summary) => json!({
            "event": "summary", "steps": summary.steps, "failures": summary.failures,
            "confirmations": summary.confirmations,
        }),
        TurnEvent::Paused { reason, .. } => json!({"event": "paused", "reason": reason}),
        TurnEvent::Resumed { .. } => json!({"event": "resumed"}),
        TurnEvent::Asked { title, detail, risk, sites, note, .. } => json!({
            "event": "asked", "title": title, "detail": detail, "risk": risk, "sites": sites, "note": note,
        }),
    }
}

fn finished(finish: &StepFinish) -> Value {
    let code = match &finish.outcome {
        Outcome::Completed => None,
        Outcome::Refused(refusal) => Some(refusal.code),
        Outcome::Unknown(unknown) => Some(unknown.cause.code()),
    };
    json!({
        "event": "step_finished",
        "step": finish.step.0,
        "outcome": finish.outcome.word(),
        "code": code,
        "result": finish.result,
        "ms": u64::try_from(finish.took.as_millis()).unwrap_or(u64::MAX),
        "verdict": finish.verdict,
        "approved": finish.approved,
    })
}

fn word(state: RunState) -> &'static str {
    match state {
        RunState::Working => "working",
        RunState::Waiting => "waiting",
        RunState::Paused => "paused",
        RunState::Stopped => "stopped",
        RunState::Done => "done",
        RunState::Error => "error",
    }
}
