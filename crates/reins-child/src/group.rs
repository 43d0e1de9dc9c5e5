//! Ends of process groups, and of what left its group.

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::io;

fn pid(number: u32) -> io::Result<Pid> {
    i32::try_from(number).map(Pid::from_raw).map_err(io::Error::other)
}

/// Tells the leader of a process group to end by itself. That it is gone already is no error.
///
/// # Errors
///
/// Fails if the process is not ours.
pub fn terminate(group: u32) -> io::Result<()> {
    match kill(pid(group)?, Signal::SIGTERM) {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Ends a whole process group at once. That it is gone already is no error.
///
/// # Errors
///
/// Fails if the group is not ours.
pub fn kill_group(group: u32) -> io::Result<()> {
    match killpg(pid(group)?, Signal::SIGKILL) {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        // macOS says so of a group that has only dead members.
        Err(Errno::EPERM) if cfg!(target_os = "macos") => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Ends every process of ours that has `name=value` in its environment, wherever it went, and says how
/// many there were. Where there is no `/proc` it finds none.
pub fn kill_marked(name: &str, value: &str) -> usize {
    let wanted = format!("{name}={value}");
    let me = std::process::id();
    let Ok(all) = std::fs::read_dir("/proc") else { return 0 };
    let marked = all.flatten().filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse::<u32>().ok().filter(|it| *it != me)?;
        // Only our own user's processes can be read at all.
        let environment = std::fs::read(entry.path().join("environ")).ok()?;
        let marked = environment.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes());
        marked.then(|| pid(number).ok()).flatten()
    });
    // One that is gone by now needs no end.
    marked.filter(|stray| kill(*stray, Signal::SIGKILL).is_ok()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    #[test]
    fn a_group_ends_with_all_that_is_in_it_and_once_only() {
        let mut leader = Command::new("/bin/sh")
            .args(["-c", "sleep 600 & wait"])
            .process_group(0)
            .spawn()
            .unwrap();
        kill_group(leader.id()).unwrap();
        assert!(!leader.wait().unwrap().success());
        kill_group(leader.id()).unwrap();
        terminate(leader.id()).unwrap();
    }

    #[test]
    fn what_left_its_group_is_found_by_its_mark() {
        let mark = format!("{}-stray", std::process::id());
        let mut stray = Command::new("/bin/sh")
            .args(["-c", "read _"])
            .stdin(std::process::Stdio::piped())
            .env("REINS_CHILD_TEST", &mark)
            .process_group(0)
            .spawn()
            .unwrap();
        assert_eq!(kill_marked("REINS_CHILD_TEST", "another"), 0);
        if cfg!(target_os = "linux") {
            assert_eq!(kill_marked("REINS_CHILD_TEST", &mark), 1);
        } else {
            stray.kill().unwrap();
        }
        assert!(!stray.wait().unwrap().success());
    }
}
