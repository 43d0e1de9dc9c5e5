//! The command that boots an app: a process group of its own, a check whether it answers, and its last lines.

use crate::app::App;
use crate::clock::stamp;
use crate::limits;
use crate::room::Room;
use crate::session::lock;
use reins_store::{SandboxPhase, StoredSandbox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::time::Instant;

/// One line of a boot command.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LogLine {
    /// Counted from 1.
    pub n: u64,
    /// When it came, RFC 3339.
    pub at: String,
    /// `stdout` or `stderr`.
    pub stream: String,
    /// What it says.
    pub text: String,
}

/// The last lines of a boot command.
#[derive(Debug, Default)]
pub(crate) struct Logs {
    kept: Mutex<(u64, VecDeque<LogLine>)>,
}

impl Logs {
    fn push(&self, at: String, stream: &str, text: String) {
        let mut kept = lock(&self.kept);
        kept.0 += 1;
        let n = kept.0;
        if kept.1.len() >= limits::LOG_LINES {
            kept.1.pop_front();
        }
        kept.1.push_back(LogLine { n, at, stream: stream.to_owned(), text });
    }

    /// Lines after one, and where to go on.
    pub(crate) fn after(&self, n: u64) -> (Vec<LogLine>, u64) {
        let kept = lock(&self.kept);
        let lines: Vec<LogLine> =
            kept.1.iter().filter(|line| line.n > n).take(limits::LOG_PAGE).cloned().collect();
        let next = lines.last().map_or(n, |line| line.n);
        (lines, next)
    }
}

/// What a booted app gets of our environment. Everything else may be a key or a token of ours (S-143).
const PASSED_ON: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR",
    "TZ",
];

/// Runs the command, and ends its whole group when we are gone, however we went: then nobody holds the
/// other end of its stdin any more.
const GUARDED: &str = "exec 3<&0 </dev/null
sh -c \"$1\" 3<&- &
app=$!
( read -r _ <&3; kill -KILL 0 ) &
guard=$!
exec 3<&-
wait $app
code=$?
kill -KILL $guard 2>/dev/null
exit $code";

/// Boots a sandbox's app and watches over it until the sandbox ends.
pub(crate) async fn boot(app: Arc<App>, room: Arc<Room>, sandbox: StoredSandbox) {
    let Some(command) = sandbox.command.clone() else { return };
    let spawned = start(&command, sandbox.cwd.as_deref());
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            let place = sandbox.cwd.as_deref().unwrap_or("the daemon's directory");
            settle(&app, &sandbox, Some(format!("the command did not start in {place}: {error}")))
                .await;
            return;
        }
    };
    let keep = child.stdin.take();
    for (stream, name) in [
        (child.stdout.take().map(|s| Box::new(s) as Box<dyn AsyncRead + Send + Unpin>), "stdout"),
        (child.stderr.take().map(|s| Box::new(s) as Box<dyn AsyncRead + Send + Unpin>), "stderr"),
    ] {
        if let Some(stream) = stream {
            app.tasks.spawn(follow(app.clone(), room.clone(), stream, name));
        }
    }
    let group = child.id();
    let ready = async {
        match answers(&app, &sandbox).await {
            true => settle(&app, &sandbox, None).await,
            false => {
                let after = app.config.sandboxes.boot_timeout_s;
                let url = sandbox.ready_url.as_deref().unwrap_or(&sandbox.app_url);
                settle(
                    &app,
                    &sandbox,
                    Some(format!("nothing answered at {url} within {after} s of the boot")),
                )
                .await;
            }
        }
        std::future::pending::<()>().await;
    };
    let ended = tokio::select! {
        biased;
        () = room.boot.cancelled() => None,
        () = app.stop.cancelled() => None,
        ended = child.wait() => Some(ended),
        () = ready => None,
    };
    if let Some(ended) = ended {
        let how = match ended {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        settle(&app, &sandbox, Some(format!("the command ended ({how})"))).await;
    }
    finish(group, &mut child).await;
    drop(keep);
}

fn start(command: &str, cwd: Option<&str>) -> std::io::Result<Child> {
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", GUARDED, "sh", command])
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| PASSED_ON.iter().any(|known| name == known)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if let Some(cwd) = cwd {
        shell.current_dir(cwd);
    }
    shell.spawn()
}

/// Asks the whole group to end, and ends what is left of it.
async fn finish(group: Option<u32>, child: &mut Child) {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;
    let Some(group) = group.and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw) else {
        return;
    };
    // An error means that nobody is left.
    let _ = killpg(group, Signal::SIGTERM);
    let _ = tokio::time::timeout(limits::BOOT_END, child.wait()).await;
    let _ = killpg(group, Signal::SIGKILL);
    let _ = child.wait().await;
}

/// Where the sandbox stands now.
async fn settle(app: &App, sandbox: &StoredSandbox, error: Option<String>) {
    let phase = if error.is_some() { SandboxPhase::Failed } else { SandboxPhase::Ready };
    if let Err(error) = app.store.set_sandbox_phase(sandbox.id.clone(), phase, error).await {
        tracing::error!(%error, sandbox = %sandbox.id, "where a sandbox stands could not be kept");
    }
}

/// Until the app answers; `false` if it never does.
async fn answers(app: &App, sandbox: &StoredSandbox) -> bool {
    let url = sandbox.ready_url.as_deref().unwrap_or(&sandbox.app_url);
    let until = Instant::now() + Duration::from_secs(app.config.sandboxes.boot_timeout_s);
    while Instant::now() < until {
        let look = app.http.get(url).timeout(limits::READY_LOOK).send().await;
        if look.is_ok_and(|answer| !answer.status().is_server_error()) {
            return true;
        }
        // There is no event for an app that begins to listen.
        tokio::time::sleep(limits::READY_EVERY).await;
    }
    false
}

async fn follow(
    app: Arc<App>,
    room: Arc<Room>,
    stream: Box<dyn AsyncRead + Send + Unpin>,
    name: &'static str,
) {
    let mut reader = BufReader::with_capacity(limits::LOG_LINE_BYTES, stream);
    let mut line = Vec::new();
    loop {
        let read = reader.fill_buf().await;
        let (used, ends) = match read {
            Ok([]) | Err(_) => break,
            Ok(bytes) => match bytes.iter().position(|byte| *byte == b'\n') {
                Some(at) => {
                    take(&mut line, &bytes[..at]);
                    (at + 1, true)
                }
                None => {
                    take(&mut line, bytes);
                    (bytes.len(), false)
                }
            },
        };
        reader.consume(used);
        if ends {
            room.logs.push(stamp(app.clock.now()), name, plain(&line));
            line.clear();
        }
    }
    if !line.is_empty() {
        room.logs.push(stamp(app.clock.now()), name, plain(&line));
    }
}

/// A line without an end costs no more than the longest that is kept.
fn take(line: &mut Vec<u8>, bytes: &[u8]) {
    let room = limits::LOG_LINE_BYTES.saturating_sub(line.len());
    line.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

/// Without what could command a terminal.
fn plain(line: &[u8]) -> String {
    String::from_utf8_lossy(line).chars().filter(|c| !c.is_control() || *c == '\t').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_say_where_to_go_on() {
        let logs = Logs::default();
        for n in 0..limits::LOG_LINES + 5 {
            logs.push(String::new(), "stdout", n.to_string());
        }
        let (first, next) = logs.after(0);
        assert_eq!(first.len(), limits::LOG_PAGE);
        assert_eq!(first.first().map(|line| line.n), Some(6));
        let (more, _) = logs.after(next);
        assert_eq!(more.first().map(|line| line.n), Some(next + 1));
        let mut line = Vec::new();
        take(&mut line, &vec![b'x'; limits::LOG_LINE_BYTES * 2]);
        assert_eq!(line.len(), limits::LOG_LINE_BYTES);
        assert_eq!(plain(b"a\x1b[31mb\tc"), "a[31mb\tc");
    }
}
