//! The agent's process: a session of its own, and an end that reaches everything it started.

use crate::error::AcpError;
use crate::recipe::Prepared;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command as StdCommand, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStdin as Stdin, ChildStdout as Stdout, Command};
use tokio::task::JoinHandle;

/// How much of the agent's error output is kept: enough for the reason of a failed start.
const SAID_BYTES: usize = 8 * 1024;

/// How much of it a person is shown.
const TOLD_CHARS: usize = 300;

/// Marks every process of a run, also one that left its process group. No secret.
pub(crate) const RUN_MARK: &str = "REINS_AGENT_RUN";

/// A running agent. Dropped, it is killed with all it started (R-074).
#[derive(Debug)]
pub(crate) struct Process {
    child: Option<Box<dyn ChildWrapper>>,
    group: Option<Pid>,
    guardian: Option<Guardian>,
    mark: String,
    said: Said,
    listening: Option<JoinHandle<()>>,
}

/// How long the last words of an agent that is gone are waited for.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Both ends of the agent's protocol.
pub(crate) struct Ends {
    pub(crate) stdin: Stdin,
    pub(crate) stdout: Stdout,
}

impl Process {
    /// Starts the agent, with nothing of our environment but what was prepared.
    pub(crate) fn start(prepared: &Prepared, mark: &str) -> Result<(Self, Ends), AcpError> {
        let failed = |source| AcpError::Start { program: prepared.program.clone(), source };
        let mut command = Command::new(&prepared.program);
        command
            .args(&prepared.args)
            .current_dir(&prepared.scratch)
            .env_clear()
            .envs(prepared.environment.iter().map(|(name, value)| (name, value)))
            .env(RUN_MARK, mark)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut command = CommandWrap::from(command);
        // A session is a group, too, and it has no terminal to read what the person types.
        command.wrap(ProcessSession);
        let mut child = command.spawn().map_err(failed)?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        let said = Said::default();
        let stderr = child.stderr().take();
        let listening = stderr.map(|stderr| tokio::spawn(said.clone().listen(stderr)));
        let ends = child.stdin().take().zip(child.stdout().take());
        let guardian = match group.map(Guardian::start).transpose() {
            Ok(guardian) => guardian,
            Err(error) => {
                tracing::warn!(%error, "the agent has no guardian and may outlive us if we are killed");
                None
            }
        };
        let process =
            Self { child: Some(child), group, guardian, mark: mark.to_owned(), said, listening };
        let (stdin, stdout) = ends.ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?;
        Ok((process, Ends { stdin, stdout }))
    }

    /// What it wrote last on its error output, for an error's message: empty, or with a colon.
    fn said(&self) -> String {
        let said = self.said.text();
        let from = said.char_indices().rev().nth(TOLD_CHARS).map_or(0, |(at, _)| at);
        let said = crate::reply::plain(&said[from..]);
        if said.is_empty() { String::new() } else { format!(": {said}") }
    }

    /// Ends the agent and all it started, waits until it is gone, and returns its last words.
    pub(crate) async fn end(mut self) -> String {
        self.kill();
        if let Some(mut child) = self.child.take()
            && let Err(error) = child.wait().await
        {
            tracing::debug!(%error, "the agent's end could not be awaited");
        }
        // Once the group is gone, what left it in the last moment is found, too.
        self.kill();
        self.release();
        if let Some(listening) = self.listening.take() {
            // A stray that was just killed may have held the pipe.
            let _ = tokio::time::timeout(LAST_WORDS, listening).await;
        }
        self.said()
    }

    fn kill(&self) {
        if let Some(group) = self.group {
            match killpg(group, Signal::SIGKILL) {
                Ok(()) | Err(Errno::ESRCH) => {}
                // macOS says so of a group that has only dead members.
                Err(Errno::EPERM) if cfg!(target_os = "macos") => {}
                Err(error) => {
                    tracing::warn!(%error, "the agent's process group could not be ended")
                }
            }
        }
        for stray in strays(&self.mark) {
            tracing::debug!(%stray, "a process of the agent had left its group");
            let _ = kill(stray, Signal::SIGKILL);
        }
    }

    fn release(&mut self) {
        if let Some(guardian) = self.guardian.take()
            && let Err(error) = guardian.release()
        {
            tracing::debug!(%error, "the agent's guardian was gone already");
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        self.kill();
        self.release();
        // Reaped in the background; without a runtime the program is about to end anyway.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = child.wait().await;
            });
        }
    }
}

/// Processes of ours that carry the run's mark in their environment, wherever they went.
fn strays(mark: &str) -> Vec<Pid> {
    let wanted = format!("{RUN_MARK}={mark}");
    let me = std::process::id();
    let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
    all.flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse::<u32>().ok().filter(|pid| *pid != me)?;
            // Only our own user's processes can be read at all.
            let environment = std::fs::read(entry.path().join("environ")).ok()?;
            let marked = environment.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes());
            marked.then(|| i32::try_from(pid).ok().map(Pid::from_raw)).flatten()
        })
        .collect()
}

/// What outlives us for a moment: a shell that sleeps on a pipe from us and kills the group when the
/// pipe ends without a word, because then we were killed and could not do it.
#[derive(Debug)]
struct Guardian {
    shell: Child,
    pipe: Option<ChildStdin>,
}

const GUARDIAN: &str =
    r#"trap '' HUP INT QUIT TERM PIPE; read -r _ || kill -s KILL -- "-$1" 2>/dev/null"#;

impl Guardian {
    fn start(group: Pid) -> io::Result<Self> {
        use std::os::unix::process::CommandExt;
        let mut shell = StdCommand::new("/bin/sh")
            .args(["-c", GUARDIAN, "reins-guardian", &group.to_string()])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            // Its own group: a Ctrl-C on the terminal is not for it.
            .process_group(0)
            .spawn()?;
        let pipe = shell.stdin.take();
        Ok(Self { shell, pipe })
    }

    fn release(mut self) -> io::Result<()> {
        if let Some(mut pipe) = self.pipe.take() {
            pipe.write_all(b"\n")?;
        }
        self.shell.wait().map(drop)
    }
}

/// The tail of what the agent writes on its error output. Read for good: an agent whose error
/// output is full stops.
#[derive(Clone, Debug, Default)]
struct Said(Arc<Mutex<VecDeque<u8>>>);

impl Said {
    async fn listen(self, mut stderr: impl AsyncRead + Unpin) {
        let mut chunk = [0; 1024];
        while let Ok(n @ 1..) = stderr.read(&mut chunk).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(&chunk[..n]);
            let over = kept.len().saturating_sub(SAID_BYTES);
            kept.drain(..over);
        }
    }

    fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}
