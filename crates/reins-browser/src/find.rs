//! Finding the browser that the person already has.

use crate::start_error::StartError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The oldest version that can be driven: the first whose headless mode is the whole browser
/// (`--headless=new`).
pub const OLDEST_MAJOR: u32 = 112;

/// A browser on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The program to start.
    pub path: PathBuf,
    /// Its name, for people.
    pub name: &'static str,
    /// Whether it was asked for by path or by the environment.
    pub asked: bool,
}

/// What finding depends on.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The environment's `CHROME`.
    pub chrome: Option<OsString>,
    /// The environment's `PATH`.
    pub path: Option<OsString>,
    /// The person's home directory.
    pub home: Option<PathBuf>,
    /// Where the file system begins. `/` but for tests.
    pub root: PathBuf,
}

impl Places {
    /// This machine's.
    pub fn here() -> Self {
        Self {
            chrome: std::env::var_os("CHROME").filter(|v| !v.is_empty()),
            path: std::env::var_os("PATH"),
            home: std::env::home_dir(),
            root: PathBuf::from("/"),
        }
    }

    fn within(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

/// Real programs, best first. Distributions put a shell script in front of theirs, which costs some
/// 30 ms of a start and only adds desktop integration.
#[cfg(not(target_os = "macos"))]
const PROGRAMS: &[(&str, &str)] = &[
    ("Chromium", "/usr/lib/chromium/chromium"),
    ("Chromium", "/usr/lib64/chromium-browser/chromium-browser"),
    ("Chromium", "/usr/lib64/chromium/chromium"),
    ("Chromium", "/usr/lib/chromium-browser/chromium-browser"),
    ("Chrome", "/opt/google/chrome/chrome"),
    ("Chrome", "/opt/google/chrome-beta/chrome"),
    ("Chrome", "/opt/google/chrome-unstable/chrome"),
    ("Edge", "/opt/microsoft/msedge/msedge"),
    ("Brave", "/opt/brave.com/brave/brave"),
];

#[cfg(target_os = "macos")]
const PROGRAMS: &[(&str, &str)] = &[
    ("Chrome", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
    ("Chromium", "/Applications/Chromium.app/Contents/MacOS/Chromium"),
    (
        "Chrome for Testing",
        "/Applications/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
    ),
    ("Edge", "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge"),
    ("Brave", "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser"),
];

/// Names on the `PATH`, for everything that is installed elsewhere.
const COMMANDS: &[(&str, &str)] = &[
    ("Chromium", "chromium"),
    ("Chromium", "chromium-browser"),
    ("Chrome", "google-chrome"),
    ("Chrome", "google-chrome-stable"),
    ("Chrome for Testing", "chrome"),
    ("Edge", "microsoft-edge"),
    ("Edge", "microsoft-edge-stable"),
    ("Brave", "brave-browser"),
];

/// Where test tools keep the Chrome for Testing they fetched: cache, folder of versions, and the
/// program within a version.
const CACHES: &[(&str, &[&str])] = &[
    (
        ".cache/puppeteer/chrome",
        &[
            "chrome-linux64/chrome",
            "chrome-mac-arm64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
            "chrome-mac-x64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
        ],
    ),
    (".cache/ms-playwright", &["chrome-linux64/chrome", "chrome-linux/chrome"]),
    (
        "Library/Caches/ms-playwright",
        &[
            "chrome-mac-arm64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
            "chrome-mac/Chromium.app/Contents/MacOS/Chromium",
        ],
    ),
];

/// The browser to use: the one asked for, else the environment's `CHROME`, else the first found.
///
/// # Errors
/// The one asked for is no program, or none was found.
pub fn find(asked: Option<&Path>, places: &Places) -> Result<Found, StartError> {
    let asked = asked.map(Path::to_owned).or_else(|| places.chrome.clone().map(PathBuf::from));
    if let Some(asked) = asked {
        let path = if asked.components().count() == 1 {
            on_path(&asked, places).ok_or(StartError::NotAProgram(asked))?
        } else {
            asked
        };
        if !is_program(&path) {
            return Err(StartError::NotAProgram(path));
        }
        let name = name_of(&path);
        return Ok(Found { path, name, asked: true });
    }
    let installed = PROGRAMS.iter().map(|(name, path)| (*name, places.within(path)));
    let personal = personal_applications(places);
    let commands = COMMANDS
        .iter()
        .filter_map(|(name, command)| Some((*name, on_path(Path::new(command), places)?)));
    installed
        .chain(personal)
        .chain(commands)
        .find(|(_, path)| is_program(path))
        .or_else(|| cached(places).map(|path| ("Chrome for Testing", path)))
        .map(|(name, path)| Found { path, name, asked: false })
        .ok_or(StartError::NotFound)
}

/// Applications a person installed for themself only.
fn personal_applications(places: &Places) -> Vec<(&'static str, PathBuf)> {
    let Some(home) = places.home.as_ref().filter(|_| cfg!(target_os = "macos")) else {
        return Vec::new();
    };
    let within_home = |path: &str| home.join(path.trim_start_matches('/'));
    PROGRAMS.iter().map(|(name, path)| (*name, within_home(path))).collect()
}

fn cached(places: &Places) -> Option<PathBuf> {
    let home = places.home.as_ref()?;
    CACHES.iter().find_map(|(cache, programs)| {
        let mut versions: Vec<_> = std::fs::read_dir(home.join(cache))
            .ok()?
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .collect();
        // Newest first: numbers compare as numbers.
        versions.sort_by_key(|path| std::cmp::Reverse(numbers(path)));
        versions
            .iter()
            .flat_map(|version| programs.iter().map(move |program| version.join(program)))
            .find(|path| is_program(path))
    })
}

fn numbers(path: &Path) -> Vec<u64> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect()
}

fn on_path(command: &Path, places: &Places) -> Option<PathBuf> {
    let path = places.path.as_ref()?;
    std::env::split_paths(path).map(|dir| dir.join(command)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// What a program asked for is called, by its file name.
fn name_of(path: &Path) -> &'static str {
    let name = path.to_string_lossy().to_lowercase();
    let known = [
        ("chrome for testing", "Chrome for Testing"),
        ("chromium", "Chromium"),
        ("msedge", "Edge"),
        ("edge", "Edge"),
        ("brave", "Brave"),
        ("chrome", "Chrome"),
    ];
    known.iter().find(|(part, _)| name.contains(part)).map_or("Chromium", |(_, name)| name)
}

/// The number in what a browser prints, such as `Chromium 156.0.8078.108 built on Debian`.
pub(crate) fn version_number(text: &str) -> Option<&str> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.').find(|part| part.contains('.'))
}

/// The major number of a version.
pub(crate) fn major(text: &str) -> Option<u32> {
    version_number(text)?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn program(root: &Path, path: &str) -> PathBuf {
        let path = root.join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn places(root: &Path) -> Places {
        Places {
            chrome: None,
            path: Some(root.join("bin").into()),
            home: Some(root.join("home")),
            root: root.to_owned(),
        }
    }

    #[test]
    fn what_was_asked_for_wins_and_is_never_replaced_by_another() {
        let dir = tempfile::tempdir().unwrap();
        let mut places = places(dir.path());
        program(dir.path(), PROGRAMS[0].1);
        let chrome = program(dir.path(), "elsewhere/google-chrome");
        let brave = program(dir.path(), "bin/brave");
        places.chrome = Some(chrome.clone().into());
        let found = find(None, &places).unwrap();
        assert_eq!((found.path, found.name, found.asked), (chrome, "Chrome", true));
        let found = find(Some(Path::new("brave")), &places).unwrap();
        assert_eq!((found.path, found.name), (brave, "Brave"));
        let missing = dir.path().join("nothing");
        let error = find(Some(&missing), &places).unwrap_err();
        assert_eq!(error.code(), "browser_not_a_program");
        let error = find(Some(dir.path()), &places).unwrap_err();
        assert!(error.to_string().contains("is not a program"), "{error}");
    }

    #[test]
    fn the_program_itself_is_taken_before_the_script_in_front_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let places = places(dir.path());
        assert_eq!(find(None, &places).unwrap_err().code(), "browser_not_found");
        let script = program(dir.path(), "bin/chromium");
        assert_eq!(find(None, &places).unwrap().path, script);
        let real = program(dir.path(), PROGRAMS[0].1);
        let found = find(None, &places).unwrap();
        assert_eq!((found.path, found.asked), (real, false));
    }

    #[test]
    fn the_newest_fetched_chrome_for_testing_is_the_last_resort() {
        let dir = tempfile::tempdir().unwrap();
        let places = places(dir.path());
        for version in ["linux-99.0.1.2", "linux-131.0.6778.85", "linux-131.0.6778.204"] {
            program(
                dir.path(),
                &format!("home/.cache/puppeteer/chrome/{version}/chrome-linux64/chrome"),
            );
        }
        let found = find(None, &places).unwrap();
        assert_eq!(found.name, "Chrome for Testing");
        assert!(found.path.to_string_lossy().contains("131.0.6778.204"), "{found:?}");
    }

    #[test]
    fn the_major_version_is_read_from_what_browsers_print() {
        for (text, expected) in [
            ("Chromium 156.0.8078.108 built on Debian GNU/Linux 12 (bookworm)", Some(156)),
            ("Google Chrome 131.0.6778.204", Some(131)),
            ("HeadlessChrome/109.0.1", Some(109)),
            ("Brave Browser 143.1.85.99", Some(143)),
            ("nothing", None),
        ] {
            assert_eq!(major(text), expected, "{text}");
        }
    }
}
