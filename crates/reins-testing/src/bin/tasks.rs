//! Plays the task suite: `tasks play` with scripted policies, `tasks serve` for drivers of models.
//! Paths are from the root of the repository.

use reins_testing::command::{end, say, value};
use reins_testing::tasks::{
    TaskFault, TaskPlan, TaskServer, TaskStage, cards, claims_done, play_tasks, summary, tasks,
};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use thiserror::Error;

const SUITE: &str = "tests/tasks";

#[derive(Debug, Error)]
enum Failure {
    #[error(
        "usage: tasks play [--program FILE] [--only TEXT] [--out FILE] [--tell] [--strict-clicks] | serve"
    )]
    Usage,
    #[error(transparent)]
    Fault(#[from] TaskFault),
    #[error("{}", .0.display())]
    File(PathBuf, #[source] std::io::Error),
    #[error("stdin or stdout")]
    Pipe(#[from] std::io::Error),
    #[error("no JSON of the right form")]
    Json(#[from] serde_json::Error),
    #[error("not every task is solved")]
    Unsolved,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let done = match (runtime, arguments.split_first()) {
        (Ok(runtime), Some((verb, rest))) => match verb.as_str() {
            "play" => runtime.block_on(play(rest)),
            "serve" => runtime.block_on(serve()),
            _ => Err(Failure::Usage),
        },
        (Err(error), _) => Err(Failure::Pipe(error)),
        (Ok(_), None) => Err(Failure::Usage),
    };
    end(done)
}

async fn play(arguments: &[String]) -> Result<(), Failure> {
    let only = value(arguments, "--only");
    let mut chosen = tasks(Path::new(SUITE))?;
    chosen.retain(|task| only.is_none_or(|only| task.name.contains(only)));
    let data = std::env::temp_dir().join(format!("reins-tasks-{}", std::process::id()));
    let program = Path::new(value(arguments, "--program").unwrap_or("target/debug/reins"));
    let browsers = chosen.len().min(2);
    let strict = arguments.iter().any(|argument| argument == "--strict-clicks");
    let plays = play_tasks(&TaskPlan { program, data: &data, browsers, strict }, &chosen).await;
    // What is left behind harms nobody.
    drop(std::fs::remove_dir_all(&data));
    let plays = plays?;
    let tell = arguments.iter().any(|argument| argument == "--tell");
    for play in &plays {
        let word = if play.solved { "solved" } else { "MISSED" };
        say(&format!(
            "{word} {}: {} calls, {} cards, {} ms",
            play.task,
            play.calls,
            play.cards.len(),
            play.millis
        ))?;
        if tell || !play.solved {
            let cards = play.cards.iter().map(|c| format!("[{}] {}", c.answer, c.text));
            let lines = play.misses.iter().chain(&play.notes).chain(&play.fault).cloned();
            for line in lines.chain(cards.map(|card| card.replace('\n', " | "))) {
                say(&format!("    {}", line.replace('\n', "\n      ")))?;
            }
        }
    }
    if let Some(out) = value(arguments, "--out") {
        let text = serde_json::to_string_pretty(&plays)?;
        std::fs::write(out, text).map_err(|error| Failure::File(out.into(), error))?;
    }
    say(&summary(&plays))?;
    say(&cards(&plays))?;
    if plays.iter().all(|play| play.solved) { Ok(()) } else { Err(Failure::Unsolved) }
}

/// One JSON request a line, one answer a line: `{"tasks":null}`, `{"stage":["shop/cheapest","DIR"]}`,
/// `{"card":[1,"what it says"]}`, `{"end":[1,true,"the agent's last words"]}`.
async fn serve() -> Result<(), Failure> {
    let server = TaskServer::start().await?;
    let mut stages: HashMap<u64, TaskStage> = HashMap::new();
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.map_err(Failure::Pipe)?)?;
        let answer = answer(&request, &server, &mut stages)?;
        say(&answer.to_string())?;
    }
    Ok(())
}

fn answer(
    request: &Value,
    server: &TaskServer,
    stages: &mut HashMap<u64, TaskStage>,
) -> Result<Value, Failure> {
    let Some((verb, given)) = request.as_object().and_then(|map| map.iter().next()) else {
        return Err(Failure::Usage);
    };
    let word = |at: usize| given.get(at).and_then(Value::as_str).unwrap_or_default();
    let stage = || {
        let number = given.get(0).and_then(Value::as_u64).unwrap_or_default();
        stages.get(&number).ok_or(Failure::Usage)
    };
    match verb.as_str() {
        "tasks" => {
            let all = tasks(Path::new(SUITE))?;
            Ok(json!(all.iter().map(|task| &task.name).collect::<Vec<_>>()))
        }
        "stage" => {
            let all = tasks(Path::new(SUITE))?;
            let task = all.iter().find(|task| task.name == word(0)).ok_or(Failure::Usage)?;
            let stage = server.stage(task);
            let told = stage.set_up(Path::new(word(1)))?;
            stages.insert(stage.number().into(), stage);
            Ok(told)
        }
        "card" => Ok(json!({"allow": stage()?.person_allows(word(1))})),
        "end" => {
            let stage = stage()?;
            let misses = stage.misses();
            let well = given.get(1).and_then(Value::as_bool).unwrap_or_default();
            let claimed = claims_done(well, word(2));
            server.end(stage);
            let possible = stage.task.possible;
            let right = misses.is_empty();
            Ok(json!({
                "solved": right && claimed == possible,
                "claimed": claimed,
                "false_success": claimed && !(possible && right),
                "possible": possible,
                "misses": misses,
            }))
        }
        _ => Err(Failure::Usage),
    }
}
