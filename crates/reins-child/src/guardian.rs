//! What outlives us for a moment, to clean up after us.
//!
//! A process that is killed cannot clean up, so there is a tiny second one. It holds a pipe from us and
//! sleeps in a read. When the pipe ends without a word, however we ended, it acts. It is a POSIX shell,
//! because that costs a tenth of what another instance of our own program would.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Our end of a guardian. Dropping it without [`Guardian::release`] makes it act.
#[derive(Debug)]
pub struct Guardian {
    shell: Child,
    pipe: Option<ChildStdin>,
}

impl Guardian {
    /// Starts one with a script for `/bin/sh` and its arguments `$1`, `$2`, …
    ///
    /// The script must ignore signals, read from its input, end if a line tells it that everything is
    /// gone, and act if the input ends before.
    ///
    /// # Errors
    ///
    /// Fails if there is no shell or no room for a process.
    pub fn start<A: AsRef<OsStr>>(
        script: &str,
        arguments: impl IntoIterator<Item = A>,
    ) -> io::Result<Self> {
        use std::os::unix::process::CommandExt;
        let mut shell = Command::new("/bin/sh")
            .args(["-c", script, "reins-guardian"])
            .args(arguments)
            // Keys of the environment are not for it.
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
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

    /// Tells it something, as a line.
    ///
    /// # Errors
    ///
    /// Fails if it is gone.
    pub fn tell(&mut self, line: &str) -> io::Result<()> {
        let pipe = self.pipe.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(pipe, "{line}")
    }

    /// Everything is gone: lets the guardian go. Blocks until it has, which is at once.
    ///
    /// # Errors
    ///
    /// Fails if it was gone before.
    pub fn release(mut self) -> io::Result<()> {
        if let Some(mut pipe) = self.pipe.take() {
            // A line for what it may still wait to be told, and one for the end. In one write: it may
            // be gone after the first.
            pipe.write_all(b"\n\n")?;
        }
        self.shell.wait().map(drop)
    }

    /// Makes it act, as if we had been killed, and waits until it has.
    ///
    /// # Errors
    ///
    /// Fails if its end cannot be awaited.
    pub fn act(mut self) -> io::Result<()> {
        drop(self.pipe.take());
        self.shell.wait().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOUCH: &str = r#"trap '' HUP INT QUIT TERM PIPE; read -r _ || : > "$1""#;

    #[test]
    fn it_acts_when_we_die_and_not_when_it_was_released() {
        let folder = tempfile::tempdir().unwrap();
        let sign = folder.path().join("it's a \"sign\"");
        Guardian::start(TOUCH, [&sign]).unwrap().release().unwrap();
        assert!(!sign.exists());
        let mut told = Guardian::start(TOUCH, [&sign]).unwrap();
        told.tell("gone").unwrap();
        told.act().unwrap();
        assert!(!sign.exists());
        Guardian::start(TOUCH, [&sign]).unwrap().act().unwrap();
        assert!(sign.exists());
    }
}
