//! A real Chromium on a debugging port, for tests that need its WebSocket or its description of
//! the protocol. The product itself drives browsers over pipes.

use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// Where a Chromium usually is, after the environment's `CHROME`.
const USUAL: &[&str] = &[
    "/usr/lib/chromium/chromium",
    "/usr/bin/chromium",
    "/usr/bin/google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/// Long enough for a busy machine: a start takes well under a second on an idle one.
const START: Duration = Duration::from_secs(60);

/// The Chromium that tests use: the environment's `CHROME`, else the usual places.
pub fn chrome() -> Option<PathBuf> {
    std::env::var_os("CHROME")
        .map(PathBuf::from)
        .or_else(|| USUAL.iter().map(PathBuf::from).find(|p| p.exists()))
}

/// A headless Chromium that ends, with its profile, when this is dropped.
pub struct Chromium {
    address: String,
    path: String,
    dir: PathBuf,
    /// Whether the profile goes with the browser.
    own: bool,
    child: Child,
}

impl Chromium {
    /// Starts the browser and waits until its port answers. Its sandbox is off, since tests often
    /// run as root; use it with pages of the test only.
    ///
    /// # Errors
    /// It could not be started, or printed no address.
    pub async fn start(program: &Path) -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("reins-cdp-test-{}-{n}", std::process::id()));
        Self::begin(program, &dir, true).await
    }

    /// The same on a profile directory that stays.
    ///
    /// # Errors
    /// As for [`Chromium::start`].
    pub async fn start_on(program: &Path, profile: &Path) -> io::Result<Self> {
        Self::begin(program, profile, false).await
    }

    async fn begin(program: &Path, dir: &Path, own: bool) -> io::Result<Self> {
        // Chromium leaves files where temporary files go when it is killed: there they go too.
        std::fs::create_dir_all(dir)?;
        let mut child = Command::new(program)
            .env("TMPDIR", dir)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update"])
            .args(["--remote-debugging-port=0", "about:blank"])
            .arg(format!("--user-data-dir={}", dir.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stderr = child.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let url = tokio::time::timeout(START, listening(stderr)).await??;
        let (address, path) = url
            .strip_prefix("ws://")
            .and_then(|rest| rest.split_once('/'))
            .ok_or_else(|| io::Error::other("an address in another form"))?;
        Ok(Self {
            address: address.to_owned(),
            path: format!("/{path}"),
            dir: dir.to_owned(),
            own,
            child,
        })
    }

    /// The address of the browser's own endpoint.
    pub fn url(&self) -> String {
        format!("ws://{}{}", self.address, self.path)
    }

    /// What the browser says its protocol is.
    ///
    /// # Errors
    /// The port does not answer, or not with JSON.
    pub async fn description(&self) -> io::Result<Value> {
        let mut stream = TcpStream::connect(&self.address).await?;
        let request = format!(
            "GET /json/protocol HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.address
        );
        stream.write_all(request.as_bytes()).await?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).await?;
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
            if line.trim_end().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).await?;
        Ok(serde_json::from_slice(&body)?)
    }

    /// Kills the browser and waits until it is gone.
    ///
    /// # Errors
    /// The system does not let it be killed.
    pub async fn kill(mut self) -> io::Result<()> {
        self.child.kill().await
    }

    /// The process id of the browser.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.start_kill();
        if !self.own {
            return;
        }
        // Its processes may still write while they end, on a busy machine for seconds.
        for _ in 0..500 {
            if std::fs::remove_dir_all(&self.dir).is_ok() || !self.dir.exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

async fn listening(stderr: tokio::process::ChildStderr) -> io::Result<String> {
    let mut lines = BufReader::new(stderr).lines();
    while let Some(line) = lines.next_line().await? {
        if let Some((_, url)) = line.split_once("DevTools listening on ") {
            let url = url.trim().to_owned();
            // The browser must not stop at a full pipe.
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return Ok(url);
        }
    }
    Err(io::Error::other("the browser ended without printing its address"))
}
