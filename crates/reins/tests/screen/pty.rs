//! The program on a terminal of 80 columns.

use nix::pty::{Winsize, openpty};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Far more than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

pub struct Screen {
    child: Child,
    keys: File,
    shown: Arc<(Mutex<Shown>, Condvar)>,
}

#[derive(Default)]
struct Shown {
    text: String,
    over: bool,
}

impl Screen {
    /// Starts the program as the leader of a session of its own on that terminal, as a login does.
    pub fn start(data: &Path, args: &[&str], env: &[(&str, &str)]) -> Self {
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(Some(&size), None).unwrap();
        let end = |slave: &std::os::fd::OwnedFd| Stdio::from(slave.try_clone().unwrap());
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait", env!("CARGO_BIN_EXE_reins")]).args(args);
        command.env("REINS_DATA_DIR", data).env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
        command.env_remove("NO_COLOR").env_remove("REINS_DEBUG").env_remove("LC_ALL");
        if crate::support::is_root() {
            command.env("REINS_NO_SANDBOX", "1");
        }
        command.envs(env.iter().copied());
        command.stdin(end(&pty.slave)).stdout(end(&pty.slave)).stderr(end(&pty.slave));
        let child = command.spawn().unwrap();
        drop(command);
        drop(pty.slave);
        let mut master = File::from(pty.master);
        let keys = master.try_clone().unwrap();
        let shown = Arc::<(Mutex<Shown>, Condvar)>::default();
        let writing = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            let mut all = Vec::new();
            // The last one that had the terminal open is gone: an error on Linux.
            while let Ok(count @ 1..) = master.read(&mut bytes) {
                all.extend_from_slice(&bytes[..count]);
                writing.0.lock().unwrap().text = String::from_utf8_lossy(&all).into_owned();
                writing.1.notify_all();
            }
            writing.0.lock().unwrap().over = true;
            writing.1.notify_all();
        });
        Self { child, keys, shown }
    }

    /// Types.
    pub fn type_keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until something was shown so often.
    pub fn wait_for(&self, text: &str, times: usize) {
        self.until(|shown| shown.text.matches(text).count() >= times, text);
    }

    fn until(&self, done: impl Fn(&Shown) -> bool, what: &str) {
        let shown = self.shown.0.lock().unwrap();
        let (shown, waited) = self
            .shown
            .1
            .wait_timeout_while(shown, PATIENCE, |shown| !done(shown) && !shown.over)
            .unwrap();
        assert!(!waited.timed_out() && done(&shown), "no {what:?} in:\n{}", shown.text);
    }

    /// The exit code, and everything that was shown.
    pub fn end(mut self) -> (i32, String) {
        self.until(|shown| shown.over, "end");
        let code = self.child.wait().unwrap().code().unwrap();
        let shown = self.shown.0.lock().unwrap();
        (code, shown.text.clone())
    }
}
