//! How to get a browser on this system (S-011). Reins itself downloads nothing: it names the system's
//! own package command, or runs it when told to.

use std::io;
use std::process::Command;

/// Where Chrome can be had for every desktop system.
const CHROME_PAGE: &str = "https://www.google.com/chrome/";

/// What to do to get a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallPlan {
    /// Commands in order, each as its words. Empty where a person has to do it by hand.
    pub commands: Vec<Vec<String>>,
    /// What to know, or to do by hand.
    pub note: String,
}

/// What the plan depends on.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// `/etc/os-release`, where there is one.
    pub os_release: String,
    /// macOS.
    pub macos: bool,
    /// Whether Homebrew is there.
    pub homebrew: bool,
    /// Whether we run as root, and need no `sudo`.
    pub root: bool,
}

impl System {
    /// This one.
    pub fn here() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self {
            os_release: std::fs::read_to_string("/etc/os-release").unwrap_or_default(),
            macos: cfg!(target_os = "macos"),
            homebrew: std::env::split_paths(&path).any(|dir| dir.join("brew").is_file()),
            root: nix::unistd::geteuid().is_root(),
        }
    }

    /// The system and those it descends from, nearest first.
    fn names(&self) -> Vec<&str> {
        let field = |name| {
            self.os_release
                .lines()
                .filter_map(|line| line.split_once('='))
                .find(|(key, _)| *key == name)
                .map_or("", |(_, value)| value.trim_matches('"'))
        };
        field("ID").split_whitespace().chain(field("ID_LIKE").split_whitespace()).collect()
    }
}

/// How to get a browser on this system.
pub fn install_plan(system: &System) -> InstallPlan {
    if system.macos {
        return if system.homebrew {
            // Homebrew asks for the password itself and refuses to run under sudo.
            plan(true, &["brew install --cask google-chrome"], "installs Chrome with Homebrew")
        } else {
            by_hand(format!("download Chrome from {CHROME_PAGE}, or Chromium or Edge"))
        };
    }
    let names = system.names();
    for name in names {
        let commands: &[&str] = match name {
            "ubuntu" => {
                return by_hand(format!(
                    "Ubuntu's own package is a snap, which is shut off from the profiles that Reins \
                     makes; download Chrome's .deb from {CHROME_PAGE} and install it with \
                     `sudo apt-get install ./google-chrome-stable_current_amd64.deb`"
                ));
            }
            "debian" => &["apt-get update", "apt-get install --yes chromium chromium-sandbox"],
            "fedora" => &["dnf install --assumeyes chromium"],
            "arch" => &["pacman -S --noconfirm chromium"],
            "alpine" => &["apk add chromium"],
            "suse" | "opensuse" => &["zypper --non-interactive install chromium"],
            _ => continue,
        };
        return plan(system.root, commands, "installs Chromium with the system's packages");
    }
    by_hand(format!("install Chromium with the system's packages, or Chrome from {CHROME_PAGE}"))
}

fn plan(root: bool, commands: &[&str], note: &str) -> InstallPlan {
    let sudo = if root { None } else { Some("sudo") };
    let words =
        |command: &&str| sudo.into_iter().chain(command.split(' ')).map(str::to_owned).collect();
    InstallPlan { commands: commands.iter().map(words).collect(), note: note.to_owned() }
}

fn by_hand(note: String) -> InstallPlan {
    InstallPlan { commands: Vec::new(), note }
}

impl InstallPlan {
    /// Runs the commands on this terminal, until one fails. Returns whether all went well; what went
    /// wrong they have said themselves.
    ///
    /// # Errors
    /// A command could not be started.
    pub fn run(&self) -> io::Result<bool> {
        for command in &self.commands {
            let Some((program, args)) = command.split_first() else { continue };
            if !Command::new(program).args(args).status()?.success() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(os_release: &str, root: bool) -> InstallPlan {
        install_plan(&System { os_release: os_release.to_owned(), root, ..System::default() })
    }

    fn lines(plan: &InstallPlan) -> Vec<String> {
        plan.commands.iter().map(|words| words.join(" ")).collect()
    }

    #[test]
    fn the_systems_own_packages_are_named() {
        let debian = "PRETTY_NAME=\"Debian GNU/Linux 12\"\nID=debian\n";
        assert_eq!(
            lines(&on(debian, false)),
            ["sudo apt-get update", "sudo apt-get install --yes chromium chromium-sandbox"]
        );
        assert_eq!(lines(&on(debian, true))[0], "apt-get update");
        let mint = "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n";
        assert!(on(mint, false).commands.is_empty());
        let raspbian = "ID=raspbian\nID_LIKE=debian\n";
        assert_eq!(lines(&on(raspbian, true)).len(), 2);
        assert_eq!(
            lines(&on("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n", true)),
            ["zypper --non-interactive install chromium"]
        );
        for unknown in ["", "ID=plan9\n"] {
            let plan = on(unknown, true);
            assert!(plan.commands.is_empty() && plan.note.contains(CHROME_PAGE));
        }
    }

    #[test]
    fn macos_uses_homebrew_where_it_is_and_names_the_download_elsewhere() {
        let system = System { macos: true, homebrew: true, ..System::default() };
        assert_eq!(lines(&install_plan(&system)), ["brew install --cask google-chrome"]);
        let plan = install_plan(&System { homebrew: false, ..system });
        assert!(plan.commands.is_empty() && plan.note.contains(CHROME_PAGE));
    }

    #[test]
    fn a_command_that_fails_ends_the_plan() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("mark");
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let touch = words(&format!("touch {}", mark.display()));
        let note = String::new();
        let plan = InstallPlan { commands: vec![words("false"), touch.clone()], note };
        assert!(!plan.run().unwrap());
        assert!(!mark.exists());
        let plan = InstallPlan { commands: vec![words("true"), touch], ..plan };
        assert!(plan.run().unwrap());
        assert!(mark.exists());
    }
}
