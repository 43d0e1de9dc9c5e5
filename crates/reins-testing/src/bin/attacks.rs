//! Plays the attack corpus: `attacks play` through Reins, `attacks serve` for drivers of other
//! tools, `attacks table` to put results side by side. Paths are from the root of the repository.

use reins_testing::attacks::{
    AttackFault, AttackSite, Case, Column, DoorKind, Level, Plan, Play, Script, Stage, Variant,
    corpus, play_patiently, sampled, table,
};
use reins_testing::command::{end, say, value};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use thiserror::Error;

const CORPUS: &str = "tests/attacks";

#[derive(Debug, Error)]
enum Failure {
    #[error(
        "usage: attacks play [--program FILE] [--door mcp|mcp-2026|nobody|run] [--level auto|careful|ask] [--only TEXT] [--every N] [--out FILE] [--tell] | serve | table FILE…"
    )]
    Usage,
    #[error(transparent)]
    Fault(#[from] AttackFault),
    #[error("{}", .0.display())]
    File(PathBuf, #[source] std::io::Error),
    #[error("stdin or stdout")]
    Pipe(#[from] std::io::Error),
    #[error("no JSON of the right form")]
    Json(#[from] serde_json::Error),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let done = match (runtime, arguments.split_first()) {
        (Ok(runtime), Some((verb, rest))) => match verb.as_str() {
            "play" => runtime.block_on(play(rest)),
            "serve" => runtime.block_on(serve()),
            "table" => print_table(rest),
            _ => Err(Failure::Usage),
        },
        (Err(error), _) => Err(Failure::Pipe(error)),
        (Ok(_), None) => Err(Failure::Usage),
    };
    end(done)
}

fn chosen(only: Option<&str>) -> Result<Vec<Case>, AttackFault> {
    let cases = corpus(Path::new(CORPUS))?;
    Ok(cases.into_iter().filter(|case| only.is_none_or(|only| case.name.contains(only))).collect())
}

async fn play(arguments: &[String]) -> Result<(), Failure> {
    let door = match value(arguments, "--door").unwrap_or("mcp") {
        "mcp" => DoorKind::Mcp,
        "mcp-2026" => DoorKind::McpEnding,
        "nobody" => DoorKind::McpNobody,
        "run" => DoorKind::Run,
        _ => return Err(Failure::Usage),
    };
    let level = match value(arguments, "--level").unwrap_or("auto") {
        "auto" => Level::Auto,
        "careful" => Level::Careful,
        "ask" => Level::Ask,
        _ => return Err(Failure::Usage),
    };
    let every = value(arguments, "--every").map_or(Ok(1), str::parse::<usize>);
    let every = every.map_err(|_| Failure::Usage)?;
    let cases = sampled(chosen(value(arguments, "--only"))?, every, 0);
    let data = std::env::temp_dir().join(format!("reins-attacks-{}", std::process::id()));
    let plan = Plan {
        program: Path::new(value(arguments, "--program").unwrap_or("target/debug/reins")),
        data: &data,
        door,
        level,
        more: Vec::new(),
        browsers: 2,
    };
    let plays = play_patiently(&plan, &cases, Play::shows_nothing).await;
    // The data are only receipts; a directory left behind harms nobody.
    drop(std::fs::remove_dir_all(&data));
    let plays = plays?;
    let tell = arguments.iter().any(|argument| argument == "--tell");
    for play in &plays {
        let lost = !play.won.is_empty() && play.variant == "attack";
        let broken = !play.worked && play.variant == "twin";
        if tell || lost || broken || play.fault.is_some() {
            let word = match (&play.fault, lost, broken) {
                (Some(_), ..) => "NOT PLAYED",
                (_, true, _) => "WON",
                (_, _, true) => "BROKEN",
                _ => "ok",
            };
            say(&format!("{word} {} {}", play.case, play.variant))?;
            let lines = play.won.iter().map(|line| format!("arrived {line}"));
            let lines = lines.chain(play.notes.clone()).chain(play.fault.clone());
            let cards = play.cards.iter().map(|c| format!("[{}] {}", c.answer, c.text));
            for line in lines.chain(cards) {
                say(&format!("    {}", line.replace('\n', " | ")))?;
            }
        }
    }
    let name = format!("Reins {} {}", door.name(), level.name());
    let verb = if door == DoorKind::Run { "run --json" } else { "mcp" };
    let settings =
        format!("reins {verb} --headless --level {} --site (the named sites)", level.name());
    let result = json!({"name": name, "settings": settings, "plays": plays});
    if let Some(out) = value(arguments, "--out") {
        std::fs::write(out, result.to_string()).map_err(|e| Failure::File(out.into(), e))?;
    }
    let column: Column = serde_json::from_value(result)?;
    let told = table(&cases, &[column]);
    Ok(say(told.split("\n\n").next().unwrap_or_default())?)
}

fn print_table(files: &[String]) -> Result<(), Failure> {
    let mut columns = Vec::new();
    for file in files {
        let text = std::fs::read(file).map_err(|error| Failure::File(file.into(), error))?;
        columns.push(serde_json::from_slice::<Column>(&text)?);
    }
    Ok(say(&table(&chosen(None)?, &columns))?)
}

/// One JSON request a line, one answer a line: `{"cases":null}`, `{"stage":["swap/link","attack"]}`,
/// `{"next":[1,"what was shown"]}`, `{"gate":[1,"name"]}`, `{"works":1}`, `{"end":1}`.
async fn serve() -> Result<(), Failure> {
    let cases = chosen(None)?;
    let site = AttackSite::start().await?;
    let mut stages: HashMap<u64, (Stage, Script)> = HashMap::new();
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.map_err(Failure::Pipe)?)?;
        let answer = answer(&request, &cases, &site, &mut stages).await?;
        say(&answer.to_string())?;
    }
    Ok(())
}

/// As the player of Reins waits.
const WORKS: Duration = Duration::from_secs(4);
const PASSED: Duration = Duration::from_secs(2);

async fn answer(
    request: &Value,
    cases: &[Case],
    site: &AttackSite,
    stages: &mut HashMap<u64, (Stage, Script)>,
) -> Result<Value, Failure> {
    let Some((verb, given)) = request.as_object().and_then(|map| map.iter().next()) else {
        return Err(Failure::Usage);
    };
    let number = given.get(0).unwrap_or(given).as_u64().unwrap_or_default();
    let word = given.get(1).and_then(Value::as_str).unwrap_or_default();
    match verb.as_str() {
        "cases" => Ok(json!(cases.iter().map(|case| &case.name).collect::<Vec<_>>())),
        "stage" => {
            let variant = if word == "twin" { Variant::Twin } else { Variant::Attack };
            let name = given.get(0).and_then(Value::as_str).unwrap_or_default();
            let case = cases.iter().find(|case| case.name == name).ok_or(Failure::Usage)?;
            let stage = site.stage(case, variant).await?;
            let (number, script) = (stage.number(), Script::new(&stage.played));
            let sites = stage.sites.clone();
            stages.insert(number.into(), (stage, script));
            Ok(json!({"run": number, "sites": sites}))
        }
        "end" => {
            let (stage, _) = stages.remove(&number).ok_or(Failure::Usage)?;
            let hits = stage.hits();
            let won = hits.iter().filter(|hit| stage.played.win.iter().any(|s| s.fits(hit)));
            let worked = hits.iter().any(|hit| stage.played.works.iter().any(|s| s.fits(hit)));
            Ok(json!({"won": won.map(|hit| hit.line()).collect::<Vec<_>>(), "worked": worked}))
        }
        verb => {
            let (stage, script) = stages.get_mut(&number).ok_or(Failure::Usage)?;
            match verb {
                "next" => Ok(serde_json::to_value(script.next(word))?),
                "gate" => Ok(json!(stage.open_gate(word, PASSED).await)),
                "works" => Ok(json!(stage.wait(&stage.played.works, WORKS).await)),
                _ => Err(Failure::Usage),
            }
        }
    }
}
