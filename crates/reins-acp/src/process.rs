//! The agent's process: a session of its own, and an end that reaches everything it started.

use crate::error::AcpError;
use crate::recipe::Prepared;
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use reins_child::{Guardian, Tail, kill_group, kill_marked};
use std::io;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{ChildStdin as Stdin, ChildStdout as Stdout, Command};
use tokio::task::JoinHandle;

/// How much of its error output a person is shown.
const TOLD_CHARS: usize = 300;

/// Marks every process of a run, also one that left its process group. No secret.
pub(crate) const RUN_MARK: &str = "REINS_AGENT_RUN";

/// A running agent. Dropped, it is killed with all it started (R-074).
#[derive(Debug)]
pub(crate) struct Process {
    child: Option<Box<dyn ChildWrapper>>,
    group: Option<u32>,
    guardian: Option<Guardian>,
    mark: String,
    said: Tail,
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
        let group = child.id();
        let said = Tail::default();
        let stderr = child.stderr().take();
        let listening = stderr.map(|stderr| tokio::spawn(said.clone().listen(stderr)));
        let ends = child.stdin().take().zip(child.stdout().take());
        let guardian = match group
            .map(|group| Guardian::start(GUARDIAN, [group.to_string()]))
            .transpose()
        {
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
        if let Some(Err(error)) = self.group.map(kill_group) {
            tracing::warn!(%error, "the agent's process group could not be ended");
        }
        let strays = kill_marked(RUN_MARK, &self.mark);
        if strays > 0 {
            tracing::debug!(strays, "processes of the agent had left its group");
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

/// Kills the group `$1` when we were killed and could not do it.
const GUARDIAN: &str =
    r#"trap '' HUP INT QUIT TERM PIPE; read -r _ || kill -s KILL -- "-$1" 2>/dev/null"#;
