//! The tools of one run, on a socket that only this run's agent can use (R-109…R-116).
//!
//! The directory and the socket are the owner's alone, whoever connects must be the same user, and
//! the first line must be the run's secret. The agent gets the secret in the environment of the shim
//! that it starts, so it stands in no process list.

use crate::error::AcpError;
use crate::permission::Served;
use crate::place::private_folder;
use crate::shim::{SECRET, SHIM, SOCKET};
use futures_util::future::BoxFuture;
use reins_core::Secret;
use serde_json::{Value, json};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// What agents call our server. Not `reins`: people have that in their agent's own configuration,
/// and an agent that knows two servers of one name leaves one out.
pub const SERVER: &str = "reins_run";

/// The tools that a run hands to its agent. The run owns them: they live as long as anything of its
/// server does.
pub trait Tools: Send + Sync + 'static {
    /// The names that are advertised.
    fn names(&self) -> Vec<String>;

    /// Serves one connection until it ends.
    fn serve(self: Arc<Self>, stream: UnixStream) -> BoxFuture<'static, ()>;

    /// Calls begun so far, and calls under way. A call that waits for a card's answer is under way:
    /// its agent is silent for a good reason.
    fn calls(&self) -> (u64, u64);
}

/// Socket paths end here on the system with the shortest ones.
const LONGEST_PATH: usize = 103;

/// Agents open one connection, some a second one to list the tools.
const MOST_CONNECTIONS: usize = 8;

/// How long a connection may take to say its secret. The shim says it at once.
const SECRET_PATIENCE: Duration = Duration::from_secs(5);

/// A directory without a socket may belong to a run that is just starting.
const STARTING: Duration = Duration::from_secs(60);

/// The running server. Dropped, it is over: connections end, the directory goes.
pub(crate) struct ToolServer {
    dir: PathBuf,
    socket: PathBuf,
    secret: Secret<String>,
    names: Vec<String>,
    stop: CancellationToken,
    pub(crate) tools: Arc<dyn Tools>,
}

impl ToolServer {
    /// Starts to listen, and removes what dead runs left.
    pub(crate) fn start(tools: Arc<dyn Tools>, base: &Path, token: &str) -> Result<Self, AcpError> {
        let (dir, socket) = place(base, token);
        let failed = |source| AcpError::Serve { dir: dir.clone(), source };
        let secret = Secret::new(random().map_err(failed)?);
        clean(base, &shorter());
        private_folder(&dir).map_err(failed)?;
        let listener = UnixListener::bind(&socket).map_err(failed)?;
        std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o600))
            .map_err(failed)?;
        let stop = CancellationToken::new();
        let door = Door {
            secret: Secret::new(secret.expose().clone()),
            tools: Arc::clone(&tools),
            stop: stop.clone(),
            free: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
        };
        tokio::spawn(door.open(listener));
        Ok(Self { dir, socket, secret, names: tools.names(), stop, tools })
    }

    /// The entry for `session/new`: our own shim over stdio.
    pub(crate) fn entry(&self, program: &Path, mark: &str) -> Value {
        let variable = |name: &str, value: &str| json!({"name": name, "value": value});
        json!({
            "name": SERVER,
            "command": program.to_string_lossy(),
            "args": [SHIM],
            "env": [
                variable(SOCKET, &self.socket.to_string_lossy()),
                variable(SECRET, self.secret.expose()),
                variable(crate::process::RUN_MARK, mark),
            ],
        })
    }

    /// What is advertised.
    pub(crate) fn served(&self) -> Served<'_> {
        Served { server: SERVER, tools: &self.names }
    }
}

impl Drop for ToolServer {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Err(error) = std::fs::remove_dir_all(&self.dir) {
            tracing::debug!(%error, "the directory of the run's tools was gone already");
        }
    }
}

struct Door {
    secret: Secret<String>,
    tools: Arc<dyn Tools>,
    stop: CancellationToken,
    free: Arc<Semaphore>,
}

impl Door {
    async fn open(self, listener: UnixListener) {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = self.stop.cancelled() => return,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a connection of the agent could not be taken");
                    // Nothing but a lack of file descriptors ends up here; it passes.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            let Ok(free) = Arc::clone(&self.free).try_acquire_owned() else {
                tracing::warn!("the agent opens more connections than it needs; one was closed");
                continue;
            };
            let (tools, stop) = (Arc::clone(&self.tools), self.stop.clone());
            let expected = Secret::new(self.secret.expose().clone());
            tokio::spawn(async move {
                let serve = async {
                    match admitted(stream, expected.expose()).await {
                        Some(stream) => tools.serve(stream).await,
                        None => tracing::warn!(
                            "a connection that is not of this run's agent was closed"
                        ),
                    }
                };
                tokio::select! {
                    () = serve => {}
                    () = stop.cancelled() => {}
                }
                drop(free);
            });
        }
    }
}

/// Lets a connection in: the same user, and the run's secret as its first line.
async fn admitted(mut stream: UnixStream, secret: &str) -> Option<UnixStream> {
    let peer = stream.peer_cred().ok()?;
    if peer.uid() != nix::unistd::geteuid().as_raw() {
        return None;
    }
    let mut said = vec![0; secret.len() + 1];
    let read = tokio::time::timeout(SECRET_PATIENCE, stream.read_exact(&mut said)).await;
    read.ok()?.ok()?;
    let wanted = secret.bytes().chain(std::iter::once(b'\n'));
    // All bytes are looked at, so that the time taken tells nothing.
    let differing = said.iter().zip(wanted).fold(0, |sum, (a, b)| sum | (a ^ b));
    (differing == 0).then_some(stream)
}

/// 32 random bytes in hexadecimal.
pub(crate) fn random() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Directory and socket of a run; in a shorter place where the path would be too long.
fn place(base: &Path, token: &str) -> (PathBuf, PathBuf) {
    let dir = base.join(token);
    let socket = dir.join("s");
    if socket.as_os_str().as_bytes().len() <= LONGEST_PATH {
        return (dir, socket);
    }
    let dir = PathBuf::from(format!("{}{token}", shorter().display()));
    let socket = dir.join("s");
    (dir, socket)
}

/// What the names of short directories begin with.
fn shorter() -> PathBuf {
    PathBuf::from(format!("/tmp/reins-run-{}-", nix::unistd::geteuid()))
}

/// Removes directories of runs whose socket no longer answers.
fn clean(base: &Path, short: &Path) {
    let inside = std::fs::read_dir(base).into_iter().flatten().flatten().map(|entry| entry.path());
    let begins = short.file_name().unwrap_or_default().as_bytes().to_owned();
    let beside = std::fs::read_dir(short.parent().unwrap_or(base)).into_iter().flatten().flatten();
    let beside = beside.filter(|entry| entry.file_name().as_bytes().starts_with(&begins));
    for dir in inside.chain(beside.map(|entry| entry.path())) {
        if is_left_over(&dir) {
            tracing::debug!(dir = %dir.display(), "a run left its directory behind");
            // Just what a run puts there: anything else keeps the directory.
            let _ = std::fs::remove_file(dir.join("s"));
            let _ = std::fs::remove_dir(&dir);
        }
    }
}

fn is_left_over(dir: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let Ok(about) = dir.symlink_metadata() else { return false };
    if !about.is_dir() || about.uid() != nix::unistd::geteuid().as_raw() {
        return false;
    }
    match std::os::unix::net::UnixStream::connect(dir.join("s")) {
        Ok(_) => false,
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => true,
        Err(_) => {
            about.modified().ok().and_then(|at| at.elapsed().ok()).is_some_and(|old| old > STARTING)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};
    use tokio::io::AsyncWriteExt;

    #[derive(Default)]
    struct Echo(AtomicU64);

    impl Tools for Echo {
        fn names(&self) -> Vec<String> {
            vec!["echo".into()]
        }

        fn serve(self: Arc<Self>, mut stream: UnixStream) -> BoxFuture<'static, ()> {
            Box::pin(async move {
                self.0.fetch_add(1, Ordering::Relaxed);
                let (mut read, mut write) = stream.split();
                tokio::io::copy(&mut read, &mut write).await.unwrap();
            })
        }

        fn calls(&self) -> (u64, u64) {
            (self.0.load(Ordering::Relaxed), 0)
        }
    }

    async fn says(socket: &Path, words: &[u8]) -> Vec<u8> {
        let mut stream = UnixStream::connect(socket).await.unwrap();
        stream.write_all(words).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut back = Vec::new();
        // A connection that is closed with something unread is reset.
        let _ = stream.read_to_end(&mut back).await;
        back
    }

    /// the owner's alone, and nothing without the secret, which stands in no
    /// argument.
    #[tokio::test]
    async fn r112_only_who_knows_the_runs_secret_reaches_its_tools() {
        let base = tempfile::tempdir().unwrap();
        let tools = Arc::new(Echo::default());
        let server = ToolServer::start(tools.clone(), base.path(), "t1").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&server.dir), mode(&server.socket)), (0o700, 0o600));
        let secret = server.secret.expose().clone();
        let wrong = format!("{}\nhello", "0".repeat(secret.len()));
        assert_eq!(says(&server.socket, wrong.as_bytes()).await, b"");
        assert_eq!(says(&server.socket, b"{\"jsonrpc\":\"2.0\",\"id\":1}\n").await, b"");
        assert_eq!(says(&server.socket, format!("{secret} hello\n").as_bytes()).await, b"");
        assert_eq!(tools.calls().0, 0, "nothing of them reached the tools");
        assert_eq!(says(&server.socket, format!("{secret}\nhello").as_bytes()).await, b"hello");
        let entry = server.entry(Path::new("/bin/reins"), "mark");
        assert!(!entry["args"].to_string().contains(&secret) && entry["args"] == json!([SHIM]));
        assert!(entry["env"].to_string().contains(&secret));
    }

    /// the server lives exactly as long as its run, its connections too.
    #[tokio::test]
    async fn r113_the_end_of_a_run_ends_its_connections() {
        let base = tempfile::tempdir().unwrap();
        let tools = Arc::new(Echo::default());
        let server = ToolServer::start(tools.clone(), base.path(), "t1").unwrap();
        let mut stream = UnixStream::connect(&server.socket).await.unwrap();
        stream.write_all(format!("{}\nx", server.secret.expose()).as_bytes()).await.unwrap();
        let mut one = [0];
        stream.read_exact(&mut one).await.unwrap();
        let dir = server.dir.clone();
        drop(server);
        assert!(!dir.exists());
        assert_eq!(stream.read(&mut one).await.unwrap(), 0, "the connection has ended");
    }

    /// a path that is too long for a socket gets a short one; R-114: what dead runs left
    /// goes, what runs, or is not a run's, stays.
    #[tokio::test]
    async fn r114_leftovers_go_and_the_living_stay() {
        let base = tempfile::tempdir().unwrap();
        let alive = ToolServer::start(Arc::new(Echo::default()), base.path(), "alive").unwrap();
        let dead = base.path().join("dead");
        std::fs::create_dir(&dead).unwrap();
        drop(std::os::unix::net::UnixListener::bind(dead.join("s")).unwrap());
        let other = base.path().join("other");
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join("file"), "").unwrap();
        let long = base.path().join("x".repeat(LONGEST_PATH));
        let short = ToolServer::start(Arc::new(Echo::default()), &long, "short").unwrap();
        assert!(short.socket.as_os_str().len() <= LONGEST_PATH && short.socket.exists());
        let next = ToolServer::start(Arc::new(Echo::default()), base.path(), "next").unwrap();
        assert!(!dead.exists() && alive.socket.exists() && next.socket.exists());
        assert!(other.join("file").exists() && short.socket.exists());
    }
}
