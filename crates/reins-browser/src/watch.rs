//! The guardian: what outlives us for a moment, to clean up after us.
//!
//! A process that is killed cannot clean up, so each browser gets a tiny second process. It holds a
//! pipe from us and sleeps in a read. When the pipe ends without a word, however we ended, it kills
//! the browser's process group and removes its temporary profile. It is a POSIX shell, because that
//! costs a tenth of what another instance of our own program would.

use nix::errno::Errno;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// Reads the number of the browser's process group, then waits for the end. A second line means
/// that everything is gone already.
///
/// - A process that still leads the group must name our profile on its command line (a dead one
///   has none): a number is never trusted alone.
/// - Chromium ends by itself when its pipe closes, and one that was started in the very moment
///   that we were killed may be unknown here. It may write while it ends, and on a busy machine it may
///   only be about to begin, so the removal is repeated until no process names the directory and it
///   stays away. The pattern goes in by a pipe and stands in two pieces, so that neither the search nor
///   this shell is taken for the browser.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM PIPE
group=
read -r group
if read -r _; then exit 0; fi
if [ -n "$group" ]; then
  if [ -d /proc/self ]; then
    line=$(tr '\0' ' ' 2>/dev/null < "/proc/$group/cmdline")
  else
    line=$(ps -o args= -p "$group" 2>/dev/null)
  fi
  case "$line" in
    ''|*"$1"*) kill -s KILL -- "-$group" 2>/dev/null ;;
  esac
fi
[ "$2" = keep ] && exit 0
named() { printf '%s' "--user-data""-dir=$1" | grep -qsFf - /proc/[0-9]*/cmdline; }
away=0
tries=0
while [ "$away" -lt 3 ] && [ "$tries" -lt 200 ]; do
  if [ -e "$1" ]; then rm -rf -- "$1" 2>/dev/null; away=0
  elif named "$1"; then away=0
  else away=$((away + 1)); fi
  tries=$((tries + 1))
  sleep 0.1
done
"#;

/// Our end of a guardian. Dropping it without [`Guardian::release`] makes it act.
#[derive(Debug)]
pub(crate) struct Guardian {
    shell: Child,
    pipe: Option<ChildStdin>,
}

impl Guardian {
    /// Starts one for a browser on `profile`. With `temporary` the directory goes too.
    pub(crate) fn start(profile: &Path, temporary: bool) -> io::Result<Self> {
        use std::os::unix::process::CommandExt;
        let mut shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "reins-guardian"])
            .arg(profile)
            .arg(if temporary { "remove" } else { "keep" })
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

    /// Tells it whom to end.
    pub(crate) fn watch(&mut self, group: u32) -> io::Result<()> {
        let pipe = self.pipe.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(pipe, "{group}")
    }

    /// Everything is gone: lets the guardian go. Blocks until it has, which is at once.
    pub(crate) fn release(mut self) -> io::Result<()> {
        if let Some(mut pipe) = self.pipe.take() {
            // A line for the group, if it was never told, and one for the end. In one write: it
            // may be gone after the first.
            pipe.write_all(b"\n\n")?;
        }
        self.shell.wait().map(drop)
    }
}

/// Tells the leader of a process group to end by itself. That it is gone already is no error.
pub(crate) fn terminate(group: u32) -> io::Result<()> {
    use nix::sys::signal::{Signal, kill};
    let leader = i32::try_from(group).map_err(io::Error::other)?;
    match kill(nix::unistd::Pid::from_raw(leader), Signal::SIGTERM) {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

/// Ends a whole process group at once. That it is gone already is no error.
pub(crate) fn kill_group(group: u32) -> io::Result<()> {
    use nix::sys::signal::{Signal, killpg};
    let group = i32::try_from(group).map_err(io::Error::other)?;
    match killpg(nix::unistd::Pid::from_raw(group), Signal::SIGKILL) {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        // macOS says so of a group that has only dead members.
        Err(Errno::EPERM) if cfg!(target_os = "macos") => Ok(()),
        Err(e) => Err(e.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::path::PathBuf;

    /// A process group of two that names `profile` on its command line, and the profile.
    fn browser(base: &Path, named: bool) -> (Child, PathBuf) {
        let profile = base.join("a 'strange' \"name\" $HOME;*");
        std::fs::create_dir_all(profile.join("Default")).unwrap();
        let child = Command::new("/bin/sh")
            .args(["-c", "sleep 600 & wait", "chromium"])
            .arg(if named { profile.as_os_str() } else { "other".as_ref() })
            .process_group(0)
            .spawn()
            .unwrap();
        (child, profile)
    }

    fn die(mut guardian: Guardian) {
        drop(guardian.pipe.take());
        guardian.shell.wait().unwrap();
    }

    #[test]
    fn when_we_die_the_group_is_killed_and_the_profile_removed_whatever_its_name() {
        let base = tempfile::tempdir().unwrap();
        let (mut child, profile) = browser(base.path(), true);
        let mut guardian = Guardian::start(&profile, true).unwrap();
        guardian.watch(child.id()).unwrap();
        die(guardian);
        assert!(!child.wait().unwrap().success());
        assert!(!profile.exists());
        assert!(base.path().exists());
    }

    #[test]
    fn when_we_die_before_the_group_is_known_the_profile_still_goes() {
        let base = tempfile::tempdir().unwrap();
        let profile = base.path().join("profile");
        std::fs::create_dir(&profile).unwrap();
        die(Guardian::start(&profile, true).unwrap());
        assert!(!profile.exists());
    }

    #[test]
    fn a_persistent_profile_and_a_group_of_another_are_left_alone() {
        let base = tempfile::tempdir().unwrap();
        let (mut child, profile) = browser(base.path(), false);
        let mut guardian = Guardian::start(&profile, false).unwrap();
        guardian.watch(child.id()).unwrap();
        die(guardian);
        assert!(profile.exists());
        assert!(child.try_wait().unwrap().is_none(), "a process that is not ours was killed");
        kill_group(child.id()).unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_released_guardian_touches_nothing() {
        let base = tempfile::tempdir().unwrap();
        let (mut child, profile) = browser(base.path(), true);
        for told in [true, false] {
            let mut guardian = Guardian::start(&profile, true).unwrap();
            if told {
                guardian.watch(child.id()).unwrap();
            }
            guardian.release().unwrap();
            assert!(profile.exists() && child.try_wait().unwrap().is_none());
        }
        kill_group(child.id()).unwrap();
        child.wait().unwrap();
        kill_group(child.id()).unwrap();
    }
}
