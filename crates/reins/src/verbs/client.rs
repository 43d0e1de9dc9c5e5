//! The side that someone types at: one request, printed small.

use super::daemon::READY;
use super::limits::{ANSWER, CLOSE, LINE_BYTES, START};
use super::place::Place;
use super::table::Verb;
use super::wire::{About, Answer, Ask, Call, Done, Line, Request};
use crate::browser_flags;
use crate::exit;
use crate::terminal::{Terminal, TerminalCards};
use anyhow::{Context, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use reins_control::CardAnswer;
use serde_json::{Map, Value, json};
use std::io::{IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::time::timeout;

#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Where Reins keeps its own data
    #[arg(long, value_name = "DIR", env = "REINS_DATA_DIR", hide = true)]
    data_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CloseArgs {
    /// Which session
    #[arg(long, value_name = "NAME", env = "REINS_SESSION", default_value = "main")]
    session: String,
    /// All sessions
    #[arg(long, conflicts_with = "session")]
    all: bool,
    /// Where Reins keeps its own data
    #[arg(long, value_name = "DIR", env = "REINS_DATA_DIR", hide = true)]
    data_dir: Option<PathBuf>,
}

/// One verb.
pub(crate) async fn run(verb: Verb) -> Result<ExitCode> {
    let data_dir = browser_flags::data_dir(verb.common.data_dir.as_deref())?;
    let place = Place::at(&data_dir)?;
    let terminal = Terminal::new();
    let cards = TerminalCards::on(&terminal);
    let call = Call {
        session: verb.common.session.clone(),
        tool: verb.entry.tool.to_owned(),
        arguments: verb.arguments,
        setup: verb.common.browser.setup()?,
        can_ask: cards.can_ask(),
    };
    let mut talk = Talk::with(&place, &data_dir).await?;
    talk.ask(Ask::Call(Box::new(call))).await?;
    let json = verb.common.json;
    let line = loop {
        match talk.next(ANSWER).await? {
            Line::Card { text, always } => {
                let answer = match cards.put(&text, always).await {
                    CardAnswer::Allow => Answer::Allow,
                    CardAnswer::Always => Answer::Always,
                    CardAnswer::Deny => Answer::Skip,
                    _ => Answer::Stop,
                };
                talk.say(&answer).await?;
            }
            line => break line,
        }
    };
    match line {
        Line::Done(done) => show(done, verb.out.as_deref(), &data_dir, json),
        Line::Failed { code, message } => refuse(&code, &message, json),
        _ => bail!("the daemon answered something else; close it with `reins close --all`"),
    }
}

/// `reins sessions`.
pub(crate) async fn sessions(args: SessionsArgs) -> Result<ExitCode> {
    let data_dir = browser_flags::data_dir(args.data_dir.as_deref())?;
    let place = Place::at(&data_dir)?;
    let list = match place.connect().await {
        None => Vec::new(),
        Some(stream) => {
            let mut talk = Talk::on(stream);
            talk.ask(Ask::Sessions).await?;
            match talk.next(CLOSE).await? {
                Line::Sessions(list) => list,
                _ => bail!("the daemon answered something else; close it with `reins close --all`"),
            }
        }
    };
    let mut stdout = std::io::stdout().lock();
    if args.json {
        writeln!(stdout, "{}", json!({"sessions": list}))?;
    } else if list.is_empty() {
        writeln!(stdout, "no session is open; `reins open URL` begins one")?;
    }
    for About { session, policy, busy, idle_s } in list.iter().filter(|_| !args.json) {
        let since = if *busy { "at work".to_owned() } else { format!("idle for {idle_s} s") };
        writeln!(stdout, "{session} ({policy}, {since})")?;
    }
    Ok(ExitCode::from(exit::DONE))
}

/// `reins close`.
pub(crate) async fn close(args: CloseArgs) -> Result<ExitCode> {
    let data_dir = browser_flags::data_dir(args.data_dir.as_deref())?;
    let place = Place::at(&data_dir)?;
    let closed = match place.connect().await {
        None => 0,
        Some(stream) => {
            let mut talk = Talk::on(stream);
            let session = (!args.all).then(|| args.session.clone());
            talk.ask(Ask::Close { session }).await?;
            match talk.next(CLOSE * 2).await? {
                Line::Closed(count) => count,
                _ => bail!("the daemon answered something else"),
            }
        }
    };
    let mut stdout = std::io::stdout().lock();
    match (closed, args.all) {
        (0, true) => writeln!(stdout, "no session was open")?,
        (0, false) => writeln!(stdout, "no session {} was open", args.session)?,
        (1, false) => writeln!(stdout, "closed session {}", args.session)?,
        (count, _) => writeln!(stdout, "closed {count} session(s)")?,
    }
    Ok(ExitCode::from(exit::DONE))
}

/// One connection.
struct Talk {
    lines: BufReader<tokio::io::Take<OwnedReadHalf>>,
    write: tokio::net::unix::OwnedWriteHalf,
}

/// Pictures come in lines.
const ANSWER_BYTES: u64 = 16 * LINE_BYTES as u64;

impl Talk {
    fn on(stream: UnixStream) -> Self {
        let (read, write) = stream.into_split();
        Self { lines: BufReader::new(read.take(ANSWER_BYTES)), write }
    }

    /// A connection to the daemon, which is started if there is none.
    async fn with(place: &Place, data_dir: &Path) -> Result<Self> {
        if let Some(stream) = place.connect().await {
            return Ok(Self::on(stream));
        }
        let waiting = place.clone();
        let starting = tokio::task::spawn_blocking(move || waiting.starting()).await??;
        // Another verb may have started it meanwhile.
        let stream = match place.connect().await {
            Some(stream) => stream,
            None => {
                start(place, data_dir).await?;
                place.connect().await.context(
                    "the daemon that keeps sessions could not be reached; look at verbs/daemon.log in the data directory",
                )?
            }
        };
        drop(starting);
        Ok(Self::on(stream))
    }

    async fn ask(&mut self, ask: Ask) -> Result<()> {
        self.say(&Request { version: env!("CARGO_PKG_VERSION").to_owned(), ask }).await
    }

    async fn say(&mut self, value: &impl serde::Serialize) -> Result<()> {
        let mut line = serde_json::to_string(value)?;
        line.push('\n');
        let sent = self.write.write_all(line.as_bytes()).await;
        sent.context("the daemon that keeps sessions is gone; call again")
    }

    async fn next(&mut self, limit: Duration) -> Result<Line> {
        let mut line = String::new();
        let read = timeout(limit, self.lines.read_line(&mut line)).await.with_context(|| {
            format!(
                "no answer within {} s; look with `reins snapshot`, or end the session with `reins close`",
                limit.as_secs()
            )
        })?;
        if read.context("the daemon could not be read")? == 0 {
            bail!(
                "the session ended in the middle of this call, which may have happened; look before you repeat it"
            );
        }
        serde_json::from_str(&line).context("the daemon answered something else")
    }
}

/// Starts the daemon and waits until it listens.
async fn start(place: &Place, data_dir: &Path) -> Result<()> {
    let program = std::env::current_exe().context("the program itself was not found")?;
    let mut child = tokio::process::Command::new(program)
        .arg("verbs-daemon")
        .arg("--data-dir")
        .arg(data_dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(place.log()?)
        .current_dir("/")
        .spawn()
        .context("the daemon that keeps sessions could not be started")?;
    let stdout = child.stdout.take().context("the daemon has no output")?;
    let mut line = String::new();
    let read = timeout(START, BufReader::new(stdout).read_line(&mut line)).await;
    if read.is_ok_and(|read| read.is_ok()) && line.trim() == READY {
        return Ok(());
    }
    bail!(
        "the daemon that keeps sessions did not start; verbs/daemon.log in {} says why",
        data_dir.display()
    )
}

fn show(done: Done, out: Option<&Path>, data_dir: &Path, json: bool) -> Result<ExitCode> {
    let mut paths = Vec::new();
    for (at, image) in done.images.iter().enumerate() {
        let bytes = STANDARD.decode(&image.base64).context("the picture is damaged")?;
        let path = match out {
            Some(path) if at == 0 => std::path::absolute(path)?,
            _ => picture_path(data_dir, &image.mime)?,
        };
        std::fs::write(&path, bytes)
            .with_context(|| format!("{} could not be written", path.display()))?;
        paths.push(path.to_string_lossy().into_owned());
    }
    let mut stdout = std::io::stdout().lock();
    if json {
        let mut whole = Map::from_iter([("text".to_owned(), json!(done.text))]);
        if let Some(outcome) = done.structured.get("outcome") {
            whole.insert("outcome".into(), outcome.clone());
        }
        whole.insert("structured".into(), Value::Object(done.structured));
        if !paths.is_empty() {
            whole.insert("images".into(), json!(paths));
        }
        writeln!(stdout, "{}", Value::Object(whole))?;
    } else {
        writeln!(stdout, "{}", done.text)?;
        for path in paths {
            writeln!(stdout, "{path}")?;
        }
    }
    Ok(ExitCode::from(if done.failed { exit::FAILED } else { exit::DONE }))
}

fn refuse(code: &str, message: &str, json: bool) -> Result<ExitCode> {
    if json {
        let error = json!({"error": {"code": code, "message": message}});
        writeln!(std::io::stdout().lock(), "{error}")?;
    } else {
        writeln!(std::io::stderr().lock(), "error ({code}): {message}")?;
    }
    Ok(ExitCode::from(exit::FAILED))
}

/// A file of its own for a picture that nobody named.
fn picture_path(data_dir: &Path, mime: &str) -> Result<PathBuf> {
    let dir = data_dir.join("pictures");
    std::fs::create_dir_all(&dir)
        .with_context(|| format!("{} could not be made", dir.display()))?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let stamp = now.map_or(0, |now| now.as_millis());
    let ending = if mime == "image/png" { "png" } else { "jpg" };
    Ok(dir.join(format!("{stamp}-{}.{ending}", std::process::id())))
}

impl TerminalCards<'_> {
    /// Whether someone is there to answer.
    fn can_ask(&self) -> bool {
        std::io::stdin().is_terminal() && self.is_on_a_terminal()
    }
}
