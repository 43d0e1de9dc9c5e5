//! Nothing of a browser stays behind, however its owner or it ends: start and stop cycles with
//! faults mixed in.
//!
//! Each cycle has an owner process of its own, which is this same program: that is why it brings its own
//! `main` instead of the usual harness. 40 cycles by default; `REINS_CYCLES=200` for the long run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a failed step must stop the test, and the owner process talks on stdout"
)]

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use reins_browser::{Browser, LaunchOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use tokio::io::AsyncBufReadExt;

/// How an owner and its browser come to their end.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Close,
    Drop,
    Leave,
    Terminate,
    Interrupt,
    KillOwner,
    KillOwnerWhileStarting,
    KillOwnerAndGuardian,
    KillBrowser,
    KillRenderers,
    StopBrowserThenClose,
    StopBrowserThenKillOwner,
    GiveUpStarting,
}

const FAULTS: &[Fault] = &[
    Fault::Close,
    Fault::KillOwner,
    Fault::KillBrowser,
    Fault::GiveUpStarting,
    Fault::Terminate,
    Fault::KillOwnerWhileStarting,
    Fault::KillRenderers,
    Fault::Interrupt,
    Fault::StopBrowserThenClose,
    Fault::Drop,
    Fault::StopBrowserThenKillOwner,
    Fault::Leave,
    Fault::KillOwnerAndGuardian,
];

/// Long enough for a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(60);

/// The owner of one browser, with a directory for temporary files that only it uses.
struct Owner {
    base: PathBuf,
    child: Child,
    words: ChildStdin,
    says: BufReader<ChildStdout>,
}

impl Owner {
    fn start(base: &Path, give_up_after: Option<Duration>) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(OWNER).env("TMPDIR", base).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(limit) = give_up_after {
            command.arg(limit.as_millis().to_string());
        }
        let mut child = command.spawn().unwrap();
        let words = child.stdin.take().unwrap();
        let says = BufReader::new(child.stdout.take().unwrap());
        Self { base: base.to_owned(), child, words, says }
    }

    fn ready(base: &Path) -> Self {
        let mut owner = Self::start(base, None);
        owner.hear("ready");
        owner
    }

    fn hear(&mut self, word: &str) {
        let mut line = String::new();
        self.says.read_line(&mut line).unwrap();
        assert_eq!(line.trim_end(), word);
    }

    fn say(&mut self, word: &str) {
        writeln!(self.words, "{word}").unwrap();
        self.hear(word);
    }

    fn signal(&self, signal: Signal) {
        send(self.child.id(), signal);
    }

    /// The browser itself: it leads its group and names the profile.
    fn browser(&self) -> u32 {
        let of_us = |p: &&Process| p.line.contains("--user-data-dir=") && p.pid == p.group;
        let all = processes(&self.base);
        all.iter().find(of_us).expect("a browser").pid
    }

    fn finish(mut self) -> Child {
        drop(self.words);
        // What it still has to say must not hold it up.
        let mut rest = String::new();
        while self.says.read_line(&mut rest).is_ok_and(|n| n > 0) {}
        self.child
    }
}

fn pid(number: u32) -> Pid {
    Pid::from_raw(number.try_into().unwrap())
}

fn send(to: u32, signal: Signal) {
    // It may have ended by itself.
    let _ = kill(pid(to), signal);
}

#[derive(Debug)]
struct Process {
    pid: u32,
    group: u32,
    line: String,
}

/// The processes that name `base` on their command line, and all in the groups of those.
fn processes(base: &Path) -> Vec<Process> {
    let all: Vec<Process> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| process(&entry.ok()?.path()))
        .collect();
    let base = base.to_str().unwrap();
    let groups: Vec<u32> = all.iter().filter(|p| p.line.contains(base)).map(|p| p.group).collect();
    all.into_iter().filter(|p| groups.contains(&p.group)).collect()
}

/// A process that runs. The dead whom their parent has not asked after yet count for nothing.
fn process(dir: &Path) -> Option<Process> {
    let pid = dir.file_name()?.to_str()?.parse().ok()?;
    let line = std::fs::read(dir.join("cmdline")).ok()?;
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    let [state, _, group] = stat(dir)?;
    (state != "Z").then_some(Process { pid, group: group.parse().ok()?, line })
}

/// State, parent and group. They come after the name, which may hold anything.
fn stat(dir: &Path) -> Option<[String; 3]> {
    let stat = std::fs::read_to_string(dir.join("stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().map(str::to_owned);
    Some([fields.next()?, fields.next()?, fields.next()?])
}

/// Dead children that a parent has not asked after.
fn zombies(of: u32) -> usize {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| stat(&entry.ok()?.path()))
        .filter(|[state, parent, _]| state == "Z" && *parent == of.to_string())
        .count()
}

fn members(group: u32) -> usize {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| process(&entry.ok()?.path()))
        .filter(|p| p.group == group)
        .count()
}

fn profiles(base: &Path) -> Vec<String> {
    std::fs::read_dir(base)
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect()
}

/// Waits until nothing of the cycle is left, and fails naming what is.
fn nothing_left(base: &Path, group: Option<u32>, fault: Fault, but_profiles: bool) {
    let start = Instant::now();
    loop {
        let running = processes(base);
        let grouped = group.map_or(0, members);
        let left = if but_profiles { Vec::new() } else { profiles(base) };
        if running.is_empty() && grouped == 0 && left.is_empty() {
            return;
        }
        assert!(
            start.elapsed() < PATIENCE,
            "after {fault:?}: {running:#?}, {grouped} in the group, profiles {left:?}"
        );
        // The end of a process that is not our child has no event; look again.
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn cycle(fault: Fault, round: u64) {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path();
    // Another moment of the start in each round.
    let moment = Duration::from_millis(round * 37 % 700);
    let mut group = None;
    match fault {
        Fault::GiveUpStarting => {
            let owner = Owner::start(base, Some(moment));
            assert!(owner.finish().wait().unwrap().success());
        }
        Fault::KillOwnerWhileStarting => {
            let owner = Owner::start(base, None);
            // The moment of the fault is what this cycle varies.
            std::thread::sleep(moment);
            owner.signal(Signal::SIGKILL);
            owner.finish().wait().unwrap();
        }
        _ => {
            let mut owner = Owner::ready(base);
            let browser = owner.browser();
            group = Some(browser);
            assert!(members(browser) > 2, "a browser has several processes");
            match fault {
                Fault::Close => owner.say("close"),
                Fault::Drop => owner.say("drop"),
                Fault::Terminate => owner.signal(Signal::SIGTERM),
                Fault::Interrupt => owner.signal(Signal::SIGINT),
                Fault::KillOwner => owner.signal(Signal::SIGKILL),
                Fault::KillOwnerAndGuardian => {
                    for p in processes(base).iter().filter(|p| p.line.contains("reins-guardian")) {
                        send(p.pid, Signal::SIGKILL);
                    }
                    owner.signal(Signal::SIGKILL);
                }
                Fault::KillBrowser => {
                    send(browser, Signal::SIGKILL);
                    owner.say("gone");
                    owner.say("close");
                }
                Fault::KillRenderers => {
                    for p in processes(base).iter().filter(|p| p.line.contains("--type=renderer")) {
                        send(p.pid, Signal::SIGKILL);
                    }
                    owner.say("close");
                }
                Fault::StopBrowserThenClose => {
                    send(browser, Signal::SIGSTOP);
                    owner.say("close");
                }
                Fault::StopBrowserThenKillOwner => {
                    send(browser, Signal::SIGSTOP);
                    owner.signal(Signal::SIGKILL);
                }
                Fault::Leave | Fault::GiveUpStarting | Fault::KillOwnerWhileStarting => {}
            }
            if matches!(fault, Fault::Close | Fault::KillBrowser | Fault::StopBrowserThenClose) {
                // Not soon, but when `close` returns.
                assert_eq!(profiles(base), Vec::<String>::new(), "{fault:?}");
                assert_eq!(kill(pid(browser), None), Err(Errno::ESRCH), "{fault:?}");
                assert_eq!(zombies(owner.child.id()), 0, "{fault:?}");
            }
            owner.finish().wait().unwrap();
        }
    }
    let unguarded = matches!(fault, Fault::KillOwnerAndGuardian);
    nothing_left(base, group, fault, unguarded);
    if unguarded {
        // Both are dead, so the profile is the next start's to remove.
        let mut next = Owner::ready(base);
        let start = Instant::now();
        while profiles(base).len() > 1 {
            assert!(start.elapsed() < PATIENCE, "the leftover was not swept");
            // The sweep runs in another process; look again.
            std::thread::sleep(Duration::from_millis(20));
        }
        next.say("close");
        next.finish().wait().unwrap();
        nothing_left(base, None, fault, false);
    }
}

/// The owner's side: starts a browser, says `ready`, and does what it is told, one word a line.
async fn own(give_up_after: Option<Duration>) {
    let options = LaunchOptions {
        headless: true,
        no_sandbox: nix::unistd::geteuid().is_root(),
        ..LaunchOptions::default()
    };
    if let Some(limit) = give_up_after {
        drop(tokio::time::timeout(limit, Browser::launch(options)).await);
        return;
    }
    let mut browser = Some(Browser::launch(options).await.unwrap());
    println!("ready");
    let mut words = tokio::io::BufReader::new(tokio::io::stdin()).lines();
    while let Some(word) = words.next_line().await.unwrap() {
        match (word.as_str(), &browser) {
            ("close", Some(browser)) => browser.close().await,
            ("drop", _) => browser = None,
            ("gone", Some(browser)) => {
                let mut events = browser.events();
                while !browser.is_gone() && events.next().await.is_some() {}
            }
            _ => panic!("no such word: {word}"),
        }
        println!("{word}");
    }
}

const OWNER: &str = "--owner";
const NAME: &str = "nothing_is_left_behind_by_many_starts_and_stops_with_faults";

fn nothing_is_left_behind_by_many_starts_and_stops_with_faults() {
    let cycles = std::env::var("REINS_CYCLES").map_or(40, |n| n.parse().expect("a number"));
    for (round, fault) in (0..cycles).zip(FAULTS.iter().cycle()) {
        let start = Instant::now();
        cycle(*fault, round);
        println!("cycle {round}: {fault:?} in {:?}", start.elapsed());
    }
}

/// What test runners ask of a program: its list of tests, or to run those that fit a name.
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = args.iter().position(|arg| arg == OWNER) {
        let limit = args.get(at + 1).map(|ms| Duration::from_millis(ms.parse().unwrap()));
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(own(limit));
        runtime.shutdown_background();
        return;
    }
    if args.iter().any(|arg| arg == "--list") {
        if !args.iter().any(|arg| arg == "--ignored") {
            println!("{NAME}: test");
        }
        return;
    }
    let wanted = args.iter().find(|arg| !arg.starts_with("--"));
    if cfg!(target_os = "linux") && wanted.is_none_or(|wanted| NAME.contains(wanted.as_str())) {
        nothing_is_left_behind_by_many_starts_and_stops_with_faults();
    }
}
