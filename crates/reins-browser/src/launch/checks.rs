//! What is looked at before a browser is started. `reins doctor` asks the same.

use super::LaunchOptions;
use super::plan::Machine;
use crate::find::{Found, Places, find};
use crate::profile::{self, Profile};
use crate::start_error::StartError;

/// The browser that the options mean.
pub(crate) fn browser(options: &LaunchOptions) -> Result<Found, StartError> {
    find(options.binary.as_deref(), &Places::here())
}

/// Whether Chromium can have its sandbox, as far as it can be told without starting it.
pub(crate) fn sandbox(options: &LaunchOptions) -> Result<(), StartError> {
    let as_root = cfg!(target_os = "linux") && nix::unistd::geteuid().is_root();
    if as_root && !options.no_sandbox { Err(StartError::SandboxAsRoot) } else { Ok(()) }
}

/// Whether windows can be shown here.
pub fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(target_os = "macos") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// Whether a window can be shown, if one is wanted.
pub(crate) fn display(options: &LaunchOptions) -> Result<(), StartError> {
    if options.headless || has_display() { Ok(()) } else { Err(StartError::NoDisplay) }
}

/// Whether the profile can be used.
pub(crate) fn profile(options: &LaunchOptions) -> Result<(), StartError> {
    match &options.profile {
        Profile::Temporary => {
            let base = std::env::temp_dir();
            tempfile::tempfile_in(&base)
                .map(drop)
                .map_err(|source| StartError::ProfileUnusable { dir: base, source })
        }
        Profile::Persistent(dir) => {
            profile::prepare(dir, std::env::home_dir().as_deref(), options.headless)
        }
    }
}

/// Renderers of heavy pages need more than the 64 MiB that containers give `/dev/shm` by default;
/// they crash without. Chromium can use files instead.
#[cfg(target_os = "linux")]
const SHARED_MEMORY: u64 = 256 * 1024 * 1024;

#[cfg(target_os = "linux")]
pub(crate) fn machine() -> Machine {
    let shared = nix::sys::statvfs::statvfs("/dev/shm");
    let bytes = shared.map_or(0, |s| s.blocks() * s.fragment_size());
    Machine { small_shared_memory: bytes < SHARED_MEMORY }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn machine() -> Machine {
    Machine::default()
}

/// What a browser that ended at once meant, where its last words are known.
pub(crate) fn explained(said: &str) -> Option<StartError> {
    let says = |words: &[&str]| words.iter().any(|words| said.contains(words));
    if says(&["Running as root without --no-sandbox"]) {
        Some(StartError::SandboxAsRoot)
    } else if says(&["No usable sandbox", "SUID sandbox helper binary was found, but is not"]) {
        Some(StartError::NoSandbox)
    } else if says(&["Missing X server or $DISPLAY", "cannot open display"]) {
        Some(StartError::NoDisplay)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_of_a_browser_become_the_check_that_would_have_said_so() {
        let root = "[0100/000000.1:ERROR:content/browser/zygote_host_impl_linux.cc:101] Running as \
            root without --no-sandbox is not supported. See https://crbug.com/638180.";
        assert_eq!(explained(root).unwrap().code(), "sandbox_as_root");
        let none = "FATAL:zygote_host_impl_linux.cc(128)] No usable sandbox! If you are running \
            on Ubuntu 23.10+ or another Linux distro that has disabled unprivileged user namespaces";
        assert_eq!(explained(none).unwrap().code(), "no_sandbox");
        assert!(explained("error while loading shared libraries: libnss3.so").is_none());
    }
}
