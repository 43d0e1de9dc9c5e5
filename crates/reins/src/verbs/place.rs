//! Where the daemon listens: an owner-only folder in the data directory, one daemon at a time.

use anyhow::{Context, Result, bail};
use nix::fcntl::{Flock, FlockArg};
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tokio::net::{UnixListener, UnixStream};

/// Longer paths do not fit a socket's address.
const PATH_BYTES: usize = 100;

/// The daemon's folder.
#[derive(Clone, Debug)]
pub(super) struct Place {
    dir: PathBuf,
}

impl Place {
    /// Makes the folder if need be, and sees to it that nobody else can enter.
    pub(super) fn at(data_dir: &Path) -> Result<Self> {
        let dir = data_dir.join("verbs");
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&dir)
            .with_context(|| format!("{} could not be made", dir.display()))?;
        let about = dir.metadata()?;
        if about.uid() != nix::unistd::geteuid().as_raw() {
            bail!("{} belongs to someone else; set another --data-dir", dir.display());
        }
        std::fs::set_permissions(&dir, Permissions::from_mode(0o700))?;
        let place = Self { dir };
        if place.socket().as_os_str().len() > PATH_BYTES {
            bail!(
                "the path {} is too long for a socket; set a shorter --data-dir",
                place.dir.display()
            );
        }
        Ok(place)
    }

    fn socket(&self) -> PathBuf {
        self.dir.join("socket")
    }

    /// What the daemon had to say, for people who look for it.
    pub(super) fn log(&self) -> Result<File> {
        let path = self.dir.join("daemon.log");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(&path).with_context(|| format!("{} could not be written", path.display()))
    }

    /// A connection to the daemon, if one is there.
    pub(super) async fn connect(&self) -> Option<UnixStream> {
        let stream = UnixStream::connect(self.socket()).await.ok()?;
        is_own(&stream).then_some(stream)
    }

    /// Held while starting a daemon, so that two verbs start one.
    pub(super) fn starting(&self) -> Result<Flock<File>> {
        lock(&self.dir.join("starting"), FlockArg::LockExclusive)?
            .context("another verb is starting the daemon; try again")
    }

    /// Held by the daemon for its whole life; `None` if there is one already.
    pub(super) fn only(&self) -> Result<Option<Flock<File>>> {
        lock(&self.dir.join("daemon"), FlockArg::LockExclusiveNonblock)
    }

    /// Listens. Only for who holds the lock: a socket that is there was left by a daemon that was killed.
    pub(super) fn listen(&self, _only: &Flock<File>) -> Result<UnixListener> {
        match std::fs::remove_file(self.socket()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let listener = UnixListener::bind(self.socket())
            .with_context(|| format!("{} could not be opened", self.socket().display()))?;
        std::fs::set_permissions(self.socket(), Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    /// Takes the socket away.
    pub(super) fn leave(&self) {
        if let Err(error) = std::fs::remove_file(self.socket()) {
            tracing::warn!(%error, "the socket could not be removed");
        }
    }
}

fn lock(path: &Path, how: FlockArg) -> Result<Option<Flock<File>>> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let file =
        options.open(path).with_context(|| format!("{} could not be opened", path.display()))?;
    match Flock::lock(file, how) {
        Ok(lock) => Ok(Some(lock)),
        Err((_, nix::errno::Errno::EWOULDBLOCK)) => Ok(None),
        Err((_, error)) => {
            Err(error).with_context(|| format!("{} could not be locked", path.display()))
        }
    }
}

/// Whether the other end runs as the same user.
pub(super) fn is_own(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == nix::unistd::geteuid().as_raw())
}
