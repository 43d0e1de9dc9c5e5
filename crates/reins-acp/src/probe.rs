//! Where agents are: on the PATH of the person's login shell, asked for once and only when an
//! agent is wanted.

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessSession};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::sync::OnceCell;

/// A shell that takes longer to start than this has a start file that waits for something.
const SHELL_PATIENCE: Duration = Duration::from_secs(5);

/// Start files print greetings; the environment stands between two of these.
const MARK: &str = "reins-path-mark";

/// More than any environment; a start file that prints without end is cut off.
const MOST_OUTPUT: u64 = 1024 * 1024;

/// Finds programs, and remembers where to look.
#[derive(Debug, Default)]
pub struct Probe {
    shell: Option<PathBuf>,
    path: OnceCell<OsString>,
}

impl Probe {
    /// Looks on the PATH of the login shell of the person who runs us.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks this shell instead.
    pub fn with_shell(shell: impl Into<PathBuf>) -> Self {
        Self { shell: Some(shell.into()), path: OnceCell::new() }
    }

    /// Looks just here, and asks no shell.
    pub fn with_path(path: impl Into<OsString>) -> Self {
        Self { shell: None, path: OnceCell::new_with(Some(path.into())) }
    }

    /// The login shell's PATH. The first call starts the shell, later ones remember.
    pub async fn path(&self) -> &OsStr {
        self.path.get_or_init(|| login_path(self.shell.clone())).await
    }

    /// The first program of this name on the PATH.
    pub async fn find(&self, program: &str) -> Option<PathBuf> {
        let path = self.path().await.to_owned();
        let program = program.to_owned();
        // A directory on a dead network mount may block for long.
        tokio::task::spawn_blocking(move || {
            std::env::split_paths(&path)
                .filter(|folder| folder.is_absolute())
                .map(|folder| folder.join(&program))
                .find(|file| is_program(file))
        })
        .await
        .ok()
        .flatten()
    }
}

/// Whether a path names a file that may be run.
pub(crate) fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

async fn login_path(shell: Option<PathBuf>) -> OsString {
    let shell = shell.or_else(login_shell);
    if let Some(shell) = shell {
        // Many people set their PATH in a file that only interactive shells read.
        for flags in ["-ilc", "-lc"] {
            if let Some(path) = ask(&shell, flags).await {
                return path;
            }
        }
        tracing::warn!(shell = %shell.display(), "the login shell did not tell its PATH, so our own is used");
    }
    std::env::var_os("PATH").unwrap_or_default()
}

fn login_shell() -> Option<PathBuf> {
    let set = std::env::var_os("SHELL").map(PathBuf::from).filter(|shell| is_program(shell));
    set.or_else(|| {
        let user = nix::unistd::User::from_uid(nix::unistd::getuid()).ok()??;
        Some(user.shell).filter(|shell| is_program(shell))
    })
}

/// Asks a shell for its environment. The shell leads a session of its own: an interactive one would
/// otherwise take the terminal from us, or be stopped for trying to.
async fn ask(shell: &Path, flags: &str) -> Option<OsString> {
    let mut command = Command::new(shell);
    command
        .arg(flags)
        .arg(format!("echo {MARK}; env; echo {MARK}"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut command = CommandWrap::from(command);
    command.wrap(ProcessSession).wrap(KillOnDrop);
    let mut child = command.spawn().ok()?;
    let stdout = child.stdout().take()?;
    let mut said = Vec::new();
    let reading = async {
        let mut limited = stdout.take(MOST_OUTPUT);
        let mut chunk = [0; 4096];
        // Something in the start file may keep the pipe open, so its end is not waited for.
        while let Ok(n @ 1..) = limited.read(&mut chunk).await {
            said.extend_from_slice(&chunk[..n]);
            if path_in(&said).is_some() {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(SHELL_PATIENCE, reading).await;
    end(child.as_mut());
    path_in(&said)
}

fn end(child: &mut dyn ChildWrapper) {
    // Dropping it kills, too; this reaches what the start file started as well.
    if let Err(error) = child.start_kill() {
        tracing::debug!(%error, "the login shell had ended already");
    }
}

/// The PATH between the two marks, once both are there.
fn path_in(said: &[u8]) -> Option<OsString> {
    let mut lines = said.split_inclusive(|byte| *byte == b'\n');
    lines.find(|line| line.trim_ascii() == MARK.as_bytes())?;
    let mut path = None;
    for line in lines {
        let line = line.strip_suffix(b"\n")?;
        if line.trim_ascii() == MARK.as_bytes() {
            return path;
        }
        if let Some(value) = line.strip_prefix(b"PATH=") {
            path = Some(OsString::from_vec(value.to_vec()));
        }
    }
    None
}

/// A path as a person gave it, checked. Looking at the file may block, so it is done on a
/// thread for that.
pub(crate) async fn given(path: PathBuf) -> Result<PathBuf, crate::AcpError> {
    let bad = |path: &Path, reason| crate::AcpError::Path { path: path.to_owned(), reason };
    if !path.is_absolute() {
        return Err(bad(&path, "it is not absolute"));
    }
    if path.as_os_str().as_bytes().contains(&0) {
        return Err(bad(&path, "it holds a NUL"));
    }
    let looked = path.clone();
    match tokio::task::spawn_blocking(move || is_program(&looked)).await {
        Ok(true) => Ok(path),
        _ => Err(bad(&path, "there is no file that may be run")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(dir: &Path, script: &str) -> PathBuf {
        let file = dir.join("shell");
        std::fs::write(
            &file,
            format!("#!/bin/sh\necho run >> {}\n{script}", dir.join("runs").display()),
        )
        .unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    fn runs(dir: &Path) -> usize {
        std::fs::read_to_string(dir.join("runs")).unwrap_or_default().lines().count()
    }

    /// nothing is started until an agent is looked for; then the shell is asked
    /// once, whatever its start files print.
    #[tokio::test]
    async fn r071_the_login_shell_is_asked_once_and_only_when_needed() {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let tool = bin.join("agent-x");
        std::fs::write(&tool, "").unwrap();
        let script = format!(
            "echo 'Welcome! PATH=/wrong'\nexport PATH={}:/usr/bin:/bin\nshift\neval \"$1\"\n",
            bin.display()
        );
        let probe = Probe::with_shell(shell(dir.path(), &script));
        assert_eq!(runs(dir.path()), 0);
        assert_eq!(probe.find("agent-x").await, None, "it may not be run");
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(probe.find("agent-x").await, Some(tool));
        assert_eq!(probe.find("agent-y").await, None);
        assert_eq!(runs(dir.path()), 1);
    }

    /// A shell that cannot answer costs nothing but the answer.
    #[tokio::test]
    async fn r071_a_shell_that_fails_leaves_our_own_path() {
        let dir = tempfile::tempdir().unwrap();
        let probe = Probe::with_shell(shell(dir.path(), "echo no; exit 3\n"));
        assert_eq!(probe.path().await, std::env::var_os("PATH").unwrap_or_default());
        assert_eq!(runs(dir.path()), 2);
    }

    #[test]
    fn r071_only_what_stands_between_both_marks_counts() {
        let said = |text: &str| path_in(text.as_bytes()).map(|p| p.into_string().unwrap());
        assert_eq!(said("PATH=/a\nreins-path-mark\nX=1\nPATH=/b:/c\n"), None, "cut off");
        assert_eq!(
            said("hi\nreins-path-mark\nX=1\nPATH=/b:/c\nreins-path-mark\nPATH=/d"),
            Some("/b:/c".into())
        );
    }

    /// a path that is given must be absolute and a program.
    #[tokio::test]
    async fn r072_given_paths_are_checked() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("agent");
        std::fs::write(&file, "").unwrap();
        for (path, word) in [
            (PathBuf::from("agent"), "not absolute"),
            (dir.path().join("none"), "no file"),
            (dir.path().to_owned(), "no file"),
            (file.clone(), "no file"),
        ] {
            let error = given(path).await.unwrap_err();
            assert_eq!(error.code(), "agent_path");
            assert!(error.to_string().contains(word), "{error}");
        }
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(given(file.clone()).await.unwrap(), file);
    }
}
