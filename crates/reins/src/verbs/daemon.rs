//! The daemon: accepts verbs, calls tools, and leaves when nothing is left to keep.

use super::limits::{DAEMON_IDLE, LINE_BYTES};
use super::place::{Place, is_own};
use super::rooms::{Rooms, failed};
use super::wire::{Answer, Ask, Call, Done, Image, Line, Request};
use crate::exit;
use crate::mcp::interrupted;
use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use futures_util::future::BoxFuture;
use reins_control::{Answerer, CallRequest, CardAnswer, Question, Reply, tool};
use serde_json::Value;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Mutex, mpsc};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
pub(crate) struct DaemonArgs {
    #[arg(long, value_name = "DIR")]
    data_dir: PathBuf,
}

/// Said on stdout once the socket is there.
pub(super) const READY: &str = "ready";

/// How to allow a step when nobody was there to be asked.
const NOBODY: &str = "run the same verb in a terminal and answer there, or let the person allow the site with `reins rules add always SITE`; \
     a session can also be begun with --site ORIGIN, or with --app ORIGIN for a browser that opens this app only";

/// Runs until it is not needed any more.
pub(crate) async fn main(args: DaemonArgs) -> Result<ExitCode> {
    // Out of the terminal that happened to start it: a closed window is not the end of a session.
    if let Err(error) = nix::unistd::setsid() {
        tracing::debug!(%error, "already a session of its own");
    }
    let place = Place::at(&args.data_dir)?;
    let Some(only) = place.only()? else {
        return Ok(ExitCode::from(exit::DONE));
    };
    let listener = place.listen(&only)?;
    {
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "{READY}")
            .and_then(|()| stdout.flush())
            .context("nobody waits for the daemon")?;
    }
    let rooms = Arc::new(Rooms::new(args.data_dir));
    let mut leave = Instant::now() + DAEMON_IDLE;
    let mut look = leave;
    let signal = interrupted();
    tokio::pin!(signal);
    loop {
        tokio::select! {
            () = &mut signal => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    leave = Instant::now() + DAEMON_IDLE;
                    if is_own(&stream) {
                        tokio::spawn(serve(Arc::clone(&rooms), stream));
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "no connection can be taken any more");
                    break;
                }
            },
            () = rooms.moved.notified() => {
                leave = Instant::now() + DAEMON_IDLE;
                look = leave;
            }
            () = sleep_until(look) => {
                let next = rooms.sweep().await;
                if !rooms.in_use() && Instant::now() >= leave {
                    break;
                }
                look = next.unwrap_or(leave).max(Instant::now());
            }
        }
    }
    // First out of sight, so that the next verb starts another.
    place.leave();
    rooms.close(None).await;
    drop(only);
    Ok(ExitCode::from(exit::DONE))
}

async fn serve(rooms: Arc<Rooms>, stream: UnixStream) {
    let (read, write) = stream.into_split();
    let mut lines = BufReader::new(read.take(LINE_BYTES as u64));
    let writer = Writer(Mutex::new(write));
    let Some(request) = next::<Request>(&mut lines).await else { return };
    let answer = match request.ask {
        Ask::Sessions => Line::Sessions(rooms.list()),
        Ask::Close { session } => Line::Closed(rooms.close(session.as_deref()).await),
        Ask::Call(_) if request.version != env!("CARGO_PKG_VERSION") => failed(
            "other_version",
            format!(
                "the sessions are kept by Reins {}, and this is {}. Close them with `reins close --all` and begin again",
                env!("CARGO_PKG_VERSION"),
                request.version
            ),
        ),
        Ask::Call(call) => make(&rooms, *call, lines, &writer).await,
    };
    writer.say(&answer).await;
}

/// Makes one tool call. When the other side goes away, the call is cancelled.
async fn make(rooms: &Arc<Rooms>, call: Call, lines: Lines, writer: &Writer) -> Line {
    let Some(tool) = tool(&call.tool) else {
        return failed("unknown_tool", format!("there is no tool named '{}'", call.tool));
    };
    let stay = match rooms.enter(&call.session, &call.setup) {
        Ok(stay) => stay,
        Err(line) => return line,
    };
    let cancel = CancellationToken::new();
    let (answers_in, answers) = mpsc::channel(1);
    let listening = tokio::spawn(listen(lines, answers_in, cancel.clone()));
    let cards = Cards { can_ask: call.can_ask, writer, answers: Mutex::new(answers) };
    let answer = async {
        let control = tokio::select! {
            control = rooms.control(&stay.room, &call.setup) => control?,
            () = cancel.cancelled() => return Err(failed("cancelled", "the call was cancelled")),
        };
        let request = CallRequest {
            tool,
            arguments: Value::Object(call.arguments),
            owner: &stay.room.owner,
            session: &stay.room.session,
            cards: &cards,
            cancel: cancel.clone(),
        };
        match control.call(request).await {
            Ok(reply) => Ok(Line::Done(done(reply))),
            Err(error) => Err(failed(error.code(), error.to_string())),
        }
    };
    let line = answer.await.unwrap_or_else(|line| line);
    listening.abort();
    line
}

/// Answers to cards, until the other side goes away.
async fn listen(mut lines: Lines, answers: mpsc::Sender<Answer>, cancel: CancellationToken) {
    while let Some(answer) = next::<Answer>(&mut lines).await {
        // One card is open at a time; an answer to none is dropped.
        if answers.try_send(answer).is_err() {
            tracing::debug!("an answer to no card");
        }
    }
    cancel.cancel();
}

fn done(reply: Reply) -> Done {
    Done {
        text: reply.whole_text(),
        failed: reply.failed(),
        images: reply
            .pictures
            .iter()
            .map(|picture| Image {
                mime: picture.mime.to_owned(),
                base64: STANDARD.encode(&picture.bytes),
            })
            .collect(),
        structured: reply.facts,
    }
}

/// Cards at the other end of the connection.
struct Cards<'a> {
    can_ask: bool,
    writer: &'a Writer,
    answers: Mutex<mpsc::Receiver<Answer>>,
}

impl Answerer for Cards<'_> {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, CardAnswer> {
        Box::pin(async move {
            if !self.can_ask {
                return CardAnswer::NoOne(NOBODY.into());
            }
            let mut answers = self.answers.lock().await;
            // What was typed before the card was there cannot be its answer.
            while answers.try_recv().is_ok() {}
            let card = Line::Card { text: question.plain_text(), always: question.offers_always() };
            self.writer.say(&card).await;
            match answers.recv().await {
                Some(Answer::Allow) => CardAnswer::Allow,
                Some(Answer::Always) => CardAnswer::Always,
                Some(Answer::Skip) => CardAnswer::Deny,
                Some(Answer::Stop) | None => CardAnswer::Stop,
            }
        })
    }
}

type Lines = BufReader<tokio::io::Take<OwnedReadHalf>>;

async fn next<T: serde::de::DeserializeOwned>(lines: &mut Lines) -> Option<T> {
    let mut line = String::new();
    match lines.read_line(&mut line).await {
        Ok(1..) => match serde_json::from_str(&line) {
            Ok(value) => Some(value),
            Err(error) => {
                tracing::warn!(%error, "a line that is none of ours");
                None
            }
        },
        _ => None,
    }
}

struct Writer(Mutex<OwnedWriteHalf>);

impl Writer {
    async fn say(&self, line: &Line) {
        let Ok(mut text) = serde_json::to_string(line) else { return };
        text.push('\n');
        if let Err(error) = self.0.lock().await.write_all(text.as_bytes()).await {
            tracing::debug!(%error, "the verb is gone");
        }
    }
}
