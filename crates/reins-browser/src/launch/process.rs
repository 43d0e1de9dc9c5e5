//! The browser's process while it is ours.

use crate::browser::{Closing, Keep};
use crate::profile::{TemporaryProfile, remove_temporary_files, temporary_files};
use crate::start_error::StartError;
use crate::watch::guardian;
use command_fds::{CommandFdExt, FdMapping};
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessGroup};
use reins_child::{Guardian, Tail};
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::sync::watch;
use tokio::time::timeout;

/// Chromium reads commands on this fd and writes answers on the next.
const COMMANDS_FD: i32 = 3;
const ANSWERS_FD: i32 = 4;

/// How long a browser may take to write down its profile once it was told to end.
const WRITING_DOWN: Duration = Duration::from_secs(2);

/// A started browser: its ends of the wire, and what keeps it.
pub(crate) struct Started {
    pub(crate) answers: pipe::Receiver,
    pub(crate) commands: pipe::Sender,
    pub(crate) process: Process,
}

/// Keeps a browser's process. Dropped, or told to, it ends the process group and what belongs to it.
pub(crate) struct Process {
    /// Told `true` to end.
    end: watch::Sender<bool>,
    ended: watch::Receiver<Option<ExitStatus>>,
    gone: watch::Receiver<bool>,
    temporary: bool,
    said: Tail,
}

impl Process {
    /// How the browser ended, if it has.
    pub(crate) async fn ended(&self) -> ExitStatus {
        let mut ended = self.ended.clone();
        loop {
            if let Some(status) = *ended.borrow_and_update() {
                return status;
            }
            if ended.changed().await.is_err() {
                return ExitStatus::default();
            }
        }
    }

    /// The last the browser wrote on its error output.
    pub(crate) fn said(&self) -> String {
        self.said.text()
    }
}

impl Keep for Arc<Process> {
    fn end(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            self.end.send_replace(true);
            let mut gone = self.gone.clone();
            // An error means that the task is gone, and with it the process: its guardian acts.
            let _ = gone.wait_for(|gone| *gone).await;
        })
    }

    fn closing(&self) -> Closing {
        if self.temporary { Closing::Ended } else { Closing::Asked }
    }
}

/// Starts the program with its wire on fds 3 and 4, in a process group of its own, watched over by a
/// guardian. The profile is removed once all of it has ended.
pub(crate) fn start(
    program: &Path,
    args: &[OsString],
    dir: &Path,
    temporary: Option<TemporaryProfile>,
) -> Result<Started, StartError> {
    let spawn = |source| StartError::Spawn { program: program.to_owned(), source };
    let (commands_read, commands_write) = io::pipe().map_err(spawn)?;
    let (answers_read, answers_write) = io::pipe().map_err(spawn)?;
    let commands = pipe::Sender::from_owned_fd(commands_write.into()).map_err(spawn)?;
    let answers = pipe::Receiver::from_owned_fd(answers_read.into()).map_err(spawn)?;

    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    for (name, _) in std::env::vars_os().filter(|(name, _)| super::plan::stays_here(name)) {
        command.env_remove(name);
    }
    // Otherwise its crash handler keeps its files among those of the person's own browser.
    command.env("BREAKPAD_DUMP_LOCATION", dir.join("Crash Reports"));
    let unusable = |source| StartError::ProfileUnusable { dir: dir.to_owned(), source };
    if let Some(files) = temporary_files(dir).map_err(unusable)? {
        command.env("TMPDIR", files);
    }
    let mapping = |fd: OwnedFd, child_fd| FdMapping { parent_fd: fd, child_fd };
    command
        .fd_mappings(vec![
            mapping(commands_read.into(), COMMANDS_FD),
            mapping(answers_write.into(), ANSWERS_FD),
        ])
        .map_err(|e| spawn(io::Error::other(e)))?;
    let mut command = CommandWrap::from(command);
    command.wrap(ProcessGroup::leader());

    // Before the browser, so that there is no moment in which nobody would clean up.
    let mut guardian = guardian(dir, temporary.is_some()).map_err(spawn)?;
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(source) => {
            drop(guardian.release());
            drop(temporary.map(TemporaryProfile::remove));
            return Err(spawn(source));
        }
    };
    // The mapping holds the browser's ends until the command goes; ours would never see its end.
    drop(command);
    let group = child.id();
    if let Some(group) = group
        && let Err(error) = guardian.tell(&group.to_string())
    {
        tracing::warn!(%error, "the guardian of the browser is gone");
    }
    let said = Tail::default();
    if let Some(stderr) = child.stderr().take() {
        tokio::spawn(said.clone().listen(stderr));
    }
    let (end, end_told) = watch::channel(false);
    let (ended_set, ended) = watch::channel(None);
    let (gone_set, gone) = watch::channel(false);
    let process = Process { end, ended, gone, temporary: temporary.is_some(), said };
    let kept = Kept { child, group, guardian, dir: dir.to_owned(), temporary };
    tokio::spawn(kept.keep(end_told, ended_set, gone_set));
    Ok(Started { answers, commands, process })
}

struct Kept {
    child: Box<dyn ChildWrapper>,
    group: Option<u32>,
    guardian: Guardian,
    dir: PathBuf,
    temporary: Option<TemporaryProfile>,
}

impl Kept {
    async fn keep(
        mut self,
        mut end: watch::Receiver<bool>,
        ended: watch::Sender<Option<ExitStatus>>,
        gone: watch::Sender<bool>,
    ) {
        // Told to, or nobody holds the browser any more.
        let told = async {
            let _ = end.wait_for(|end| *end).await;
        };
        let status = tokio::select! {
            status = self.child.wait() => status,
            () = told => {
                self.ask().await;
                self.kill();
                self.child.wait().await
            }
        };
        // Helpers may outlive a browser that crashed.
        self.kill();
        let status = status.unwrap_or_else(|error| {
            tracing::warn!(%error, "the end of the browser could not be awaited");
            ExitStatus::default()
        });
        ended.send_replace(Some(status));
        let Self { guardian, dir, temporary, .. } = self;
        let cleaned = tokio::task::spawn_blocking(move || {
            match temporary {
                Some(profile) => profile.remove()?,
                None => remove_temporary_files(&dir)?,
            }
            guardian.release()
        });
        if let Ok(Err(error)) = cleaned.await {
            tracing::warn!(%error, "something of the browser was left behind");
        }
        gone.send_replace(true);
    }

    /// Chromium writes down what it has on SIGTERM, without asking any page. With a profile that
    /// goes away there is nothing to write.
    async fn ask(&mut self) {
        if self.temporary.is_some() {
            return;
        }
        if let Some(Err(error)) = self.group.map(reins_child::terminate) {
            tracing::debug!(%error, "the browser could not be told to end");
        }
        // Its status is asked for again after the kill that follows in any case.
        drop(timeout(WRITING_DOWN, self.child.wait()).await);
    }

    fn kill(&self) {
        if let Some(Err(error)) = self.group.map(reins_child::kill_group) {
            tracing::warn!(%error, "the browser's processes could not be ended");
        }
    }
}
