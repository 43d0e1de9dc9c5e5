//! The dedicated browser: one that the person starts for Reins, on a profile of its own, and that
//! stays when Reins goes (A-010…A-025).
//!
//! Nothing but the profile directory is configured. Chromium writes where it listens into a file
//! there; the file is read at every use, and the path of the endpoint in it is the browser's
//! identity, new with each start.

use crate::browser::{Browser, Closing, Keep};
use crate::containment::Containment;
use crate::error::BrowserError;
use crate::find::{Places, find};
use crate::profile::{personal, prepare};
use crate::start_error::StartError;
use crate::tab_info::OpenedBy;
use reins_cdp::{ConnectError, Connection};
use reins_core::BrowserId;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

/// The file that Chromium writes: the port, and the path of the browser's endpoint.
const PORT_FILE: &str = "DevToolsActivePort";

/// The file has two short lines. More is not read.
const PORT_FILE_BYTES: u64 = 1024;

/// A browser on this machine accepts at once, or it is stuck.
const CONNECTING: Duration = Duration::from_secs(10);

/// Where the dedicated browser listens.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Endpoint {
    port: u16,
    /// The last part of the path.
    id: String,
}

impl Endpoint {
    /// What the port file says now. `None` if it says nothing usable.
    fn read(profile: &Path) -> Option<Self> {
        let file = std::fs::File::open(profile.join(PORT_FILE)).ok()?;
        let mut text = String::new();
        file.take(PORT_FILE_BYTES).read_to_string(&mut text).ok()?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Option<Self> {
        let (port, path) = text.split_once('\n')?;
        let id = path.trim().strip_prefix("/devtools/browser/")?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let port = port.trim().parse().ok().filter(|port| *port != 0)?;
        (!id.is_empty() && id.chars().all(plain)).then(|| Self { port, id: id.to_owned() })
    }

    fn url(&self) -> String {
        format!("ws://127.0.0.1:{}/devtools/browser/{}", self.port, self.id)
    }
}

/// Lets go of the browser at the end, and looks whether it is still the same before each use.
struct Attached {
    profile: PathBuf,
    id: String,
}

impl Keep for Attached {
    fn end(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {})
    }

    fn closing(&self) -> Closing {
        Closing::LetGo
    }

    fn verify(&self) -> Result<(), StartError> {
        match Endpoint::read(&self.profile) {
            Some(endpoint) if endpoint.id == self.id => Ok(()),
            Some(_) => Err(StartError::Replaced),
            None => Err(not_running(&self.profile)),
        }
    }
}

impl Browser {
    /// Attaches to the dedicated browser that runs on `profile`. Its tabs are the person's; it
    /// stays open when we let go of it.
    ///
    /// # Errors
    /// [`BrowserError::Start`]: it does not run (with the command that starts it), the profile is
    /// the person's own, or it does not accept us. Nothing was sent then.
    pub async fn attach(profile: &Path, containment: Containment) -> Result<Self, BrowserError> {
        if let Some(browser) = std::env::home_dir().and_then(|home| personal(profile, &home)) {
            let dir = profile.to_owned();
            return Err(StartError::PersonalProfile { dir, browser }.into());
        }
        let Some(endpoint) = Endpoint::read(profile) else {
            // So that the browser that is started next fetches nothing ahead.
            prepare(profile, None, false)?;
            return Err(not_running(profile).into());
        };
        let connection = Connection::websocket(&endpoint.url(), CONNECTING).await;
        let connection = connection.map_err(|error| match error {
            // The file outlives a browser that crashed. Whoever has the port now does not know
            // the path, and a closed port knows nothing.
            ConnectError::Handshake { .. } => not_running(profile),
            error => StartError::Connect(error),
        })?;
        let id = BrowserId::new(endpoint.id.clone());
        let keeper = Attached { profile: profile.to_owned(), id: endpoint.id };
        Self::over(connection, id, containment, OpenedBy::Person, Box::new(keeper)).await
    }
}

/// The identity of the dedicated browser that runs on `profile`, by its port file alone.
pub(crate) fn running(profile: &Path) -> Result<BrowserId, StartError> {
    let endpoint = Endpoint::read(profile).ok_or_else(|| not_running(profile))?;
    // The file outlives a browser that crashed.
    let address = (std::net::Ipv4Addr::LOCALHOST, endpoint.port).into();
    std::net::TcpStream::connect_timeout(&address, CONNECTING)
        .map(|_| BrowserId::new(endpoint.id))
        .map_err(|_| not_running(profile))
}

fn not_running(profile: &Path) -> StartError {
    StartError::NotRunning { profile: profile.to_owned(), command: start_command(profile) }
}

/// The command that starts the dedicated browser on this machine (A-012).
pub fn start_command(profile: &Path) -> String {
    let found = find(None, &Places::here()).map(|found| found.path).ok();
    command(profile, found.as_deref(), cfg!(target_os = "macos"))
}

fn command(profile: &Path, program: Option<&Path>, macos: bool) -> String {
    let program = match program {
        Some(program) => quoted(&program.to_string_lossy()),
        None if macos => "open -na 'Google Chrome' --args".to_owned(),
        None => "chromium".to_owned(),
    };
    let profile = quoted(&profile.to_string_lossy());
    format!(
        "{program} --user-data-dir={profile} --remote-debugging-port=0 --no-first-run \
         --no-default-browser-check"
    )
}

/// Text as one word of a POSIX shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A014, A021: port and identity come from the file, and nothing else is accepted from it.
    #[test]
    fn a014_a021_the_port_file_is_read_strictly() {
        let endpoint = Endpoint::parse("43211\n/devtools/browser/2b-9F\n").unwrap();
        assert_eq!(endpoint, Endpoint { port: 43211, id: "2b-9F".into() });
        assert_eq!(endpoint.url(), "ws://127.0.0.1:43211/devtools/browser/2b-9F");
        for text in [
            "",
            "43211",
            "43211\n",
            "0\n/devtools/browser/a",
            "99999\n/devtools/browser/a",
            "43211\n/devtools/browser/",
            "43211\n/devtools/page/a",
            "43211\n/devtools/browser/a@evil.example/",
            "43211@evil.example\n/devtools/browser/a",
        ] {
            assert_eq!(Endpoint::parse(text), None, "{text:?}");
        }
    }

    /// A012: the command is one a person can paste, whatever the path.
    #[test]
    fn a012_the_start_command_survives_a_shell() {
        let profile = Path::new("/home/o'neil/my data");
        let program = Path::new("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome");
        let text = command(profile, Some(program), true);
        let words = std::process::Command::new("/bin/sh")
            .args(["-c", &format!("printf '%s\\n' {text}")])
            .output()
            .unwrap();
        let words = String::from_utf8(words.stdout).unwrap();
        assert_eq!(
            words.lines().collect::<Vec<_>>(),
            [
                program.to_str().unwrap(),
                "--user-data-dir=/home/o'neil/my data",
                "--remote-debugging-port=0",
                "--no-first-run",
                "--no-default-browser-check",
            ]
        );
        assert!(command(profile, None, false).starts_with("chromium --user-data-dir="));
        assert!(command(profile, None, true).starts_with("open -na 'Google Chrome' --args "));
    }
}
