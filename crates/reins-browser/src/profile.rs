//! Profile directories: temporary ones that go with their browser, and persistent ones.

use crate::preferences;
use crate::start_error::StartError;
use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How temporary profiles are called. Only directories with this name are ever swept.
const PREFIX: &str = "reins-profile-";

/// The file in a temporary profile that its owner holds locked while it lives. A lock ends with
/// its process, however that ends, and cannot be taken for another process with the same number.
const OWNER: &str = "reins-owner";

/// A directory without an owner file is being made right now, unless it is older.
const BEING_MADE: Duration = Duration::from_secs(60);

/// Which profile a browser runs on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// A fresh one that is removed with the browser.
    #[default]
    Temporary,
    /// A directory that stays. It is made if need be.
    Persistent(PathBuf),
}

/// A temporary profile directory, owned by this process.
#[derive(Debug)]
pub(crate) struct TemporaryProfile {
    dir: PathBuf,
    _owner: File,
}

impl TemporaryProfile {
    /// Makes one below `base`, readable by nobody else.
    pub(crate) fn make(base: &Path, headless: bool) -> Result<Self, StartError> {
        let unusable = |source| StartError::ProfileUnusable { dir: base.to_owned(), source };
        loop {
            let dir = tempfile::Builder::new()
                .prefix(PREFIX)
                .permissions(fs::Permissions::from_mode(0o700))
                .tempdir_in(base)
                .map_err(unusable)?;
            let owner = File::create(dir.path().join(OWNER)).map_err(unusable)?;
            match owner.try_lock() {
                Ok(()) => {
                    preferences::write_new(dir.path(), headless).map_err(unusable)?;
                    return Ok(Self { dir: dir.keep(), _owner: owner });
                }
                // A sweep of another process was quicker: it takes the directory away.
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(source)) => return Err(unusable(source)),
            }
        }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Removes it. The processes that used it must have ended, and may be just ending.
    pub(crate) fn remove(self) -> io::Result<()> {
        remove(&self.dir)
    }
}

/// The folder within a profile that its browser gets for temporary files. Chromium leaves some there
/// when it is killed, so they must lie where they are removed.
const TEMPORARY_FILES: &str = "reins-tmp";

/// Chromium puts a socket below its temporary files, and the path of a socket is limited: to 104 bytes
/// on macOS and 108 on Linux. This is what Chromium adds to the folder's path.
const SOCKET_PATH: usize = if cfg!(target_os = "linux") { 108 } else { 104 };
const SOCKET_NAME: usize = "/org.chromium.Chromium.XXXXXX/SingletonSocket".len();

/// Makes the folder for temporary files, empty. `None` where its path is too long for Chromium.
pub(crate) fn temporary_files(profile: &Path) -> io::Result<Option<PathBuf>> {
    let dir = profile.join(TEMPORARY_FILES);
    if dir.as_os_str().len() + SOCKET_NAME >= SOCKET_PATH {
        return Ok(None);
    }
    remove(&dir)?;
    make_private(&dir)?;
    Ok(Some(dir))
}

/// Removes what a browser on a profile that stays left among its temporary files.
pub(crate) fn remove_temporary_files(profile: &Path) -> io::Result<()> {
    remove(&profile.join(TEMPORARY_FILES))
}

/// Tries of a removal while processes that still end may write once more, and the pause between.
const REMOVALS: u32 = 100;
const REMOVAL_PAUSE: Duration = Duration::from_millis(10);

fn remove(dir: &Path) -> io::Result<()> {
    let mut last = Ok(());
    for _ in 0..REMOVALS {
        last = match fs::remove_dir_all(dir) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other,
        };
        if last.is_ok() {
            return last;
        }
        std::thread::sleep(REMOVAL_PAUSE);
    }
    last
}

/// Removes the temporary profiles below `base` whose owners are dead. Returns how many.
pub(crate) fn sweep(base: &Path) -> usize {
    let Ok(entries) = fs::read_dir(base) else { return 0 };
    entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX))
        .filter(|entry| entry.file_type().is_ok_and(|t| t.is_dir()))
        .filter(|entry| sweep_one(&entry.path()))
        .count()
}

fn sweep_one(dir: &Path) -> bool {
    let owner = match File::open(dir.join(OWNER)) {
        Ok(owner) => owner,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let age = fs::metadata(dir).and_then(|m| m.modified()).ok();
            let age = age.and_then(|made| SystemTime::now().duration_since(made).ok());
            return age.is_some_and(|age| age > BEING_MADE) && remove(dir).is_ok();
        }
        // Another person's.
        Err(_) => return false,
    };
    if owner.try_lock().is_err() {
        return false;
    }
    // The owner is dead. A browser that outlived it is ended by its guardian, so only a profile
    // that nobody uses is removed here; the next sweep finds the rest.
    let free = match holder(dir) {
        Ok(None) => true,
        // Numbers of processes are used again; ours are always started with the profile's name.
        Ok(Some(_)) => holding(dir).is_some_and(|pid| is_other_program(pid, dir)),
        Err(_) => false,
    };
    free && remove(dir).is_ok()
}

/// Checks a persistent profile and makes it if need be.
pub(crate) fn prepare(dir: &Path, home: Option<&Path>, headless: bool) -> Result<(), StartError> {
    let unusable = |source| StartError::ProfileUnusable { dir: dir.to_owned(), source };
    if let Some(browser) = home.and_then(|home| personal(dir, home)) {
        return Err(StartError::PersonalProfile { dir: dir.to_owned(), browser });
    }
    make_private(dir).map_err(unusable)?;
    match holder(dir) {
        Ok(None) => {}
        Ok(Some(holder)) => {
            return Err(StartError::ProfileInUse { dir: dir.to_owned(), holder });
        }
        Err(source) => return Err(unusable(source)),
    }
    preferences::add(dir, headless).map_err(unusable)?;
    tempfile::tempfile_in(dir).map(drop).map_err(unusable)
}

/// Makes a directory that only its owner can read, unless it is there already.
fn make_private(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Where people's own browsers keep their profiles, below the home directory.
const PERSONAL: &[(&str, &str)] = &[
    ("Chromium", ".config/chromium"),
    ("Chrome", ".config/google-chrome"),
    ("Chrome", ".config/google-chrome-beta"),
    ("Chrome", ".config/google-chrome-unstable"),
    ("Edge", ".config/microsoft-edge"),
    ("Brave", ".config/BraveSoftware"),
    ("Chromium", "snap/chromium"),
    ("Chromium", ".var/app/org.chromium.Chromium"),
    ("Chrome", ".var/app/com.google.Chrome"),
    ("Chrome", "Library/Application Support/Google"),
    ("Chromium", "Library/Application Support/Chromium"),
    ("Edge", "Library/Application Support/Microsoft Edge"),
    ("Brave", "Library/Application Support/BraveSoftware"),
];

/// The browser whose personal profile `dir` is, lies in, or contains.
pub(crate) fn personal(dir: &Path, home: &Path) -> Option<&'static str> {
    let dir = resolved(dir);
    PERSONAL.iter().find_map(|(browser, place)| {
        let place = resolved(&home.join(place));
        (dir.starts_with(&place) || place.starts_with(&dir)).then_some(*browser)
    })
}

/// The path with links and `..` followed, also where its end does not exist yet.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut real = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            real.pop();
            continue;
        }
        real.push(part);
        if let Ok(followed) = real.canonicalize() {
            real = followed;
        }
    }
    real
}

/// Who uses a profile, by the mark that Chromium leaves: a link to `host-process`. A mark whose
/// process is dead counts for nothing; Chromium itself replaces it.
pub(crate) fn holder(dir: &Path) -> io::Result<Option<String>> {
    let Some(mark) = mark(dir)? else { return Ok(None) };
    let Some((host, pid)) = parts(&mark) else { return Ok(Some(mark)) };
    let ours = nix::unistd::gethostname().is_ok_and(|name| name.to_string_lossy() == host);
    if !ours {
        return Ok(Some(format!("process {pid} on {host}")));
    }
    if !is_alive(pid) {
        return Ok(None);
    }
    Ok(Some(match program(pid) {
        Some(name) => format!("process {pid} ({name})"),
        None => format!("process {pid}"),
    }))
}

fn mark(dir: &Path) -> io::Result<Option<String>> {
    match fs::read_link(dir.join("SingletonLock")) {
        Ok(mark) => Ok(Some(mark.to_string_lossy().into_owned())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Host and process of a mark.
fn parts(mark: &str) -> Option<(&str, i32)> {
    let (host, pid) = mark.rsplit_once('-')?;
    Some((host, pid.parse().ok()?))
}

/// The process in the mark of a profile.
fn holding(dir: &Path) -> Option<i32> {
    parts(&mark(dir).ok()??).map(|(_, pid)| pid)
}

/// Whether a process that runs is surely not the browser of a profile of ours, where the system tells.
fn is_other_program(pid: i32, dir: &Path) -> bool {
    let Ok(line) = fs::read(format!("/proc/{pid}/cmdline")) else { return false };
    let Some(name) = dir.file_name() else { return false };
    // A program that has just begun has no words yet.
    !line.is_empty() && !String::from_utf8_lossy(&line).contains(&*name.to_string_lossy())
}

/// A process that nobody has asked after yet is as dead as any: not every first process of a container asks.
fn is_alive(pid: i32) -> bool {
    if matches!(kill(Pid::from_raw(pid), None), Err(Errno::ESRCH)) {
        return false;
    }
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name before the state may hold anything.
    !stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

/// The program of a process, where the system tells.
fn program(pid: i32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_sweep_removes_what_dead_owners_left_and_nothing_else() {
        let base = tempfile::tempdir().unwrap();
        let live = TemporaryProfile::make(base.path(), true).unwrap();
        let dead = TemporaryProfile::make(base.path(), true).unwrap();
        let dead_dir = dead.dir().to_owned();
        fs::create_dir_all(dead_dir.join("Default/Cache")).unwrap();
        drop(dead);
        let new = base.path().join("reins-profile-new");
        fs::create_dir(&new).unwrap();
        let other = base.path().join("someone-else");
        fs::create_dir(&other).unwrap();
        let linked = base.path().join("reins-profile-link");
        symlink(&other, &linked).unwrap();

        assert_eq!(sweep(base.path()), 1);
        assert!(!dead_dir.exists());
        assert!(live.dir().exists() && new.exists() && other.exists() && linked.exists());
        let dir = live.dir().to_owned();
        live.remove().unwrap();
        assert!(!dir.exists());
    }

    /// Regression: a browser that ended with its owner and its guardian left a number behind which another process had by
    /// then, or which still stood there because nobody had asked after it; its profile stayed.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_number_that_is_used_again_or_never_asked_after_holds_no_profile() {
        let base = tempfile::tempdir().unwrap();
        let host = nix::unistd::gethostname().unwrap().into_string().unwrap();
        let mut dead = std::process::Command::new("true").spawn().unwrap();
        while is_alive(dead.id().cast_signed()) {
            std::thread::yield_now();
        }
        for pid in [std::process::id(), dead.id()] {
            let profile = TemporaryProfile::make(base.path(), true).unwrap();
            symlink(format!("{host}-{pid}"), profile.dir().join("SingletonLock")).unwrap();
            drop(profile);
            assert_eq!(sweep(base.path()), 1, "{pid}");
        }
        dead.wait().unwrap();
        let kept = TemporaryProfile::make(base.path(), true).unwrap();
        let name = kept.dir().file_name().unwrap().to_owned();
        let mut browser = std::process::Command::new("sh")
            .args(["-c", "read _"])
            .arg(name)
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        symlink(format!("{host}-{}", browser.id()), kept.dir().join("SingletonLock")).unwrap();
        drop(kept);
        assert_eq!(sweep(base.path()), 0, "a browser that still uses it");
        drop(browser.stdin.take());
        browser.wait().unwrap();
        assert_eq!(sweep(base.path()), 1);
    }

    #[test]
    fn a_temporary_profile_is_private() {
        let base = tempfile::tempdir().unwrap();
        let profile = TemporaryProfile::make(base.path(), true).unwrap();
        let mode = fs::metadata(profile.dir()).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0);
    }

    /// A010: the person's own browsers are off limits, also by a link or a folder within.
    #[test]
    fn a010_personal_profiles_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let chrome = home.path().join(".config/google-chrome");
        fs::create_dir_all(chrome.join("Default")).unwrap();
        let link = home.path().join("innocent");
        symlink(&chrome, &link).unwrap();
        for dir in [
            chrome.clone(),
            chrome.join("Default"),
            chrome.join("New"),
            link.clone(),
            link.join("New"),
            home.path().join(".config"),
            home.path().to_owned(),
            home.path().join("other/../.config/google-chrome"),
        ] {
            let error = prepare(&dir, Some(home.path()), false).unwrap_err();
            assert_eq!(error.code(), "personal_profile", "{}", dir.display());
        }
        let own = home.path().join(".local/share/reins/browser");
        prepare(&own, Some(home.path()), false).unwrap();
        assert_eq!(fs::metadata(&own).unwrap().permissions().mode() & 0o077, 0);
    }

    #[test]
    fn a_profile_in_use_says_who_holds_it_and_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let host = nix::unistd::gethostname().unwrap().to_string_lossy().into_owned();
        let lock = dir.path().join("SingletonLock");
        symlink(format!("{host}-{}", std::process::id()), &lock).unwrap();
        let error = prepare(dir.path(), None, false).unwrap_err();
        assert_eq!(error.code(), "profile_in_use");
        assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
        assert!(error.remedy().contains("close that browser"));

        fs::remove_file(&lock).unwrap();
        symlink("elsewhere.example-17", &lock).unwrap();
        let error = prepare(dir.path(), None, false).unwrap_err();
        assert!(error.to_string().contains("process 17 on elsewhere.example"), "{error}");

        // A dead process holds nothing.
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let dead = child.id();
        child.wait().unwrap();
        fs::remove_file(&lock).unwrap();
        symlink(format!("{host}-{dead}"), &lock).unwrap();
        prepare(dir.path(), None, false).unwrap();
    }

    #[test]
    fn a_profile_that_cannot_be_written_is_named() {
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("file");
        fs::write(&file, "").unwrap();
        let error = prepare(&file.join("profile"), None, false).unwrap_err();
        assert_eq!(error.code(), "profile_unusable");
        assert!(error.to_string().contains("file/profile"), "{error}");
    }
}
