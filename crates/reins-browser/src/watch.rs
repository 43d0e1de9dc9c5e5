//! What the guardian of a browser does once we were killed: it ends the browser's process group and
//! removes its temporary profile.

use reins_child::Guardian;
use std::io;
use std::path::Path;

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

/// Starts one for a browser on `profile`. With `temporary` the directory goes too. Its first line must be
/// the browser's process group.
pub(crate) fn guardian(profile: &Path, temporary: bool) -> io::Result<Guardian> {
    let what = if temporary { "remove" } else { "keep" };
    Guardian::start(SCRIPT, [profile.as_os_str(), what.as_ref()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use reins_child::kill_group;
    use std::os::unix::process::CommandExt;
    use std::path::PathBuf;
    use std::process::{Child, Command};

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

    #[test]
    fn when_we_die_the_group_is_killed_and_the_profile_removed_whatever_its_name() {
        let base = tempfile::tempdir().unwrap();
        let (mut child, profile) = browser(base.path(), true);
        let mut watcher = guardian(&profile, true).unwrap();
        watcher.tell(&child.id().to_string()).unwrap();
        watcher.act().unwrap();
        assert!(!child.wait().unwrap().success());
        assert!(!profile.exists());
        assert!(base.path().exists());
    }

    #[test]
    fn when_we_die_before_the_group_is_known_the_profile_still_goes() {
        let base = tempfile::tempdir().unwrap();
        let profile = base.path().join("profile");
        std::fs::create_dir(&profile).unwrap();
        guardian(&profile, true).unwrap().act().unwrap();
        assert!(!profile.exists());
    }

    #[test]
    fn a_persistent_profile_and_a_group_of_another_are_left_alone() {
        let base = tempfile::tempdir().unwrap();
        let (mut child, profile) = browser(base.path(), false);
        let mut watcher = guardian(&profile, false).unwrap();
        watcher.tell(&child.id().to_string()).unwrap();
        watcher.act().unwrap();
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
            let mut watcher = guardian(&profile, true).unwrap();
            if told {
                watcher.tell(&child.id().to_string()).unwrap();
            }
            watcher.release().unwrap();
            assert!(profile.exists() && child.try_wait().unwrap().is_none());
        }
        kill_group(child.id()).unwrap();
        child.wait().unwrap();
        kill_group(child.id()).unwrap();
    }
}
