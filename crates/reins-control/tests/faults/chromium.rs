//! The same in a real Chromium, judged by what its pages' server counted. `REINS_FAULTS=all` plays a
//! hundred runs instead of a dozen; `REINS_FAULT_SEED=n` plays one again.

use crate::plan::Dice;
use crate::record::{Record, Row};
use crate::run::{End, options};
use crate::support::{find_ref, is_root};
use futures_util::future::{BoxFuture, FutureExt};
use reins_browser::Browser;
use reins_cdp::Connection;
use reins_cdp::testing::{Chromium, chrome};
use reins_control::{
    Answerer, BrowserSource, CallRequest, CardAnswer, Control, GivenBrowser, Level, Question,
    TurnStart, tool,
};
use reins_core::{Outcome, OwnerId, SessionId};
use reins_testing::{Page, Site};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fault {
    KillRenderer,
    KillBrowser,
    Cut,
    Stop,
    Cancel,
    Drop,
}

const FAULTS: &[Fault] =
    &[Fault::KillRenderer, Fault::KillBrowser, Fault::Cut, Fault::Stop, Fault::Cancel, Fault::Drop];

/// When it happens: so long after the call began or the person said yes, or when the form has reached its
/// server.
#[derive(Clone, Copy, Debug)]
enum When {
    Begun(Duration),
    Agreed(Duration),
    Arrived,
}

/// How the form goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Scene {
    Page,
    /// The form is in a frame.
    Frame,
    /// Its answer opens in a window.
    Window,
    /// The page asks first, and what sends the form is the answer.
    Dialog,
}

const SCENES: &[Scene] = &[Scene::Page, Scene::Frame, Scene::Window, Scene::Dialog];

const LEVELS: &[Level] = &[Level::Auto, Level::Careful, Level::Ask];

impl Scene {
    /// The step that sends the form.
    fn tool(self) -> &'static str {
        if self == Self::Dialog { "handle_dialog" } else { "click" }
    }

    fn pages(self) -> [(&'static str, Page); 3] {
        let form = |more: &str| {
            format!(
                "<title>Shop</title><form action=/sign method=post{more}><button>Sign up</button></form>"
            )
        };
        let form = match self {
            Self::Page | Self::Frame => form(""),
            Self::Window => form(" target=_blank"),
            Self::Dialog => form(" onsubmit=\"return confirm('Sure?')\""),
        };
        let first = if self == Self::Frame { "<iframe src=/form></iframe>" } else { &form };
        [
            ("/", Page::html(first)),
            ("/form", Page::html(&form)),
            ("/sign", Page::html("<title>Thanks</title><h1>Thanks</h1>")),
        ]
    }
}

/// Long enough for a form that was sent to reach its server on a busy machine.
const SOON: Duration = Duration::from_secs(10);

/// Always says yes, and counts.
struct Person(watch::Sender<usize>);

impl Answerer for Person {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, CardAnswer> {
        self.0.send_modify(|yes| *yes += 1);
        std::future::ready(CardAnswer::Allow).boxed()
    }
}

/// A browser behind a connection that can be cut.
struct Cut {
    browsers: Mutex<Vec<Chromium>>,
    cut: watch::Sender<u64>,
}

impl Cut {
    async fn give(
        self: Arc<Self>,
        containment: reins_browser::Containment,
    ) -> Result<Browser, reins_browser::BrowserError> {
        let chromium = Chromium::start(&chrome().expect("a Chromium")).await.unwrap();
        let url = chromium.url();
        let address = url.trim_start_matches("ws://").split('/').next().unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let near = listener.local_addr().unwrap().to_string();
        let url = url.replace(&address, &near);
        let mut cut = self.cut.subscribe();
        tokio::spawn(async move {
            let (mut ours, _) = listener.accept().await.unwrap();
            let mut theirs = TcpStream::connect(address).await.unwrap();
            tokio::select! {
                _ = tokio::io::copy_bidirectional(&mut ours, &mut theirs) => {}
                _ = cut.changed() => {}
            }
        });
        self.browsers.lock().await.push(chromium);
        let connection = Connection::websocket(&url, SOON).await.unwrap();
        let browser = Browser::adopt(connection, containment).await?;
        browser.first_tab(SOON).await?;
        Ok(browser)
    }
}

/// Processes started by this one, with their command lines.
fn processes() -> Vec<(i32, String)> {
    let mut parents = HashMap::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let mut after = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let (state, parent) = (after.next().unwrap_or("Z").to_owned(), after.next());
        if state != "Z"
            && let Some(parent) = parent.and_then(|p| p.parse::<i32>().ok())
        {
            parents.insert(pid, parent);
        }
    }
    let me = i32::try_from(std::process::id()).unwrap();
    let ours = |mut pid: i32| {
        while let Some(parent) = parents.get(&pid) {
            if *parent == me {
                return true;
            }
            pid = *parent;
        }
        false
    };
    let line =
        |pid: i32| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    parents
        .keys()
        .copied()
        .filter(|pid| ours(*pid))
        .map(|pid| (pid, line(pid).replace('\0', " ")))
        .collect()
}

/// Kills the processes that fit.
fn kill(fits: impl Fn(&str) -> bool) {
    for (pid, _) in processes().into_iter().filter(|(_, line)| fits(line)) {
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::SIGKILL);
    }
}

fn is_browser(line: &str) -> bool {
    line.contains("--remote-debugging") && !line.contains("--type=")
}

fn is_renderer(line: &str) -> bool {
    line.contains("--type=renderer")
}

struct Desk {
    control: Control,
    site: Site,
    scene: Scene,
    person: Person,
    owner: OwnerId,
    session: SessionId,
    cut: Arc<Cut>,
    button: String,
    /// Questions of the page that were answered with no.
    dismissed: usize,
    /// How each click ended, how many forms had arrived by then, and how many yeses were given for it.
    clicks: Vec<(End, usize, usize)>,
}

impl Desk {
    async fn open((fault, scene, level): (Fault, Scene, Level), dir: &std::path::Path) -> Self {
        let cut = Arc::new(Cut { browsers: Mutex::default(), cut: watch::Sender::new(0) });
        let giving = cut.clone();
        let source = if fault == Fault::Cut {
            BrowserSource::Given(GivenBrowser::new(move |containment| {
                giving.clone().give(containment).boxed()
            }))
        } else {
            BrowserSource::Launch {
                binary: None,
                headless: true,
                profile: None,
                no_sandbox: is_root(),
            }
        };
        let control = Control::open(options(dir, level, source));
        Self {
            control: control.await.unwrap(),
            site: Site::start(scene.pages()).await.unwrap(),
            scene,
            person: Person(watch::Sender::new(0)),
            owner: OwnerId::new("test"),
            session: SessionId::new("main"),
            cut,
            button: String::new(),
            dismissed: 0,
            clicks: Vec::new(),
        }
    }

    /// A new turn that shows the page with the button; or what was said instead.
    async fn begin(&mut self) -> Option<String> {
        let start = TurnStart {
            message: Some(format!("sign up at {}", self.site.url("/"))),
            ..TurnStart::default()
        };
        self.control.begin_turn(&self.session, &self.owner, start);
        let mut text = String::new();
        // A browser that was just killed may need the next call to be noticed.
        for _ in 0..3 {
            if self.scene == Scene::Dialog {
                // A question that was left open keeps the page from going on.
                let no = json!({"accept": false});
                let left = self.call("handle_dialog", no, CancellationToken::new()).await;
                let closed = left.is_ok_and(|reply| reply.outcome == Some(Outcome::Completed));
                self.dismissed += usize::from(closed);
            }
            let reply = self
                .call("navigate", json!({"url": self.site.url("/")}), CancellationToken::new())
                .await;
            text = reply.map_or_else(|error| error.to_string(), |reply| reply.whole_text());
            if text.contains("Sign up") {
                self.button = find_ref(&text, "button", "Sign up");
                return None;
            }
        }
        Some(text)
    }

    async fn call(
        &self,
        name: &str,
        arguments: Value,
        cancel: CancellationToken,
    ) -> Result<reins_control::Reply, reins_control::ControlError> {
        let (owner, session, cards) = (&self.owner, &self.session, &self.person);
        let tool = tool(name).unwrap();
        self.control.call(CallRequest { tool, arguments, owner, session, cards, cancel }).await
    }

    fn sent(&self) -> usize {
        self.site.requests("/sign")
    }

    /// Sends the form, while something goes wrong. How the step that sends it ends.
    async fn clicked(&self, fault: Option<(Fault, When)>) -> End {
        let mut arguments = json!({"ref": self.button});
        if self.scene == Scene::Dialog {
            let asked = self.call("click", arguments, CancellationToken::new()).await;
            if !asked.is_ok_and(|reply| reply.outcome == Some(Outcome::Completed)) {
                return End::Error("no_question".into());
            }
            arguments = json!({"accept": true});
        }
        let cancel = CancellationToken::new();
        let mut agreed = self.person.0.subscribe();
        let clicking = self.call(self.scene.tool(), arguments, cancel.clone());
        tokio::pin!(clicking);
        let strikes = async {
            let Some((fault, when)) = fault else { return std::future::pending().await };
            match when {
                // The moment is what the seed chooses: time itself is the fault's place.
                When::Begun(wait) => tokio::time::sleep(wait).await,
                When::Agreed(wait) => {
                    // As above.
                    if agreed.changed().await.is_ok() {
                        tokio::time::sleep(wait).await;
                    }
                }
                When::Arrived => {
                    self.site.wait_for(SOON, |seen| seen.path == "/sign").await;
                }
            }
            match fault {
                Fault::KillRenderer => kill(is_renderer),
                Fault::KillBrowser => kill(is_browser),
                Fault::Cut => self.cut.cut.send_modify(|n| *n += 1),
                Fault::Stop => {
                    let turn = self.control.current_turn(&self.session).unwrap();
                    self.control.stop(&self.session, turn);
                }
                Fault::Cancel => cancel.cancel(),
                Fault::Drop => return,
            }
            std::future::pending().await
        };
        let answer = tokio::select! {
            answer = &mut clicking => Some(answer),
            () = strikes => None,
        };
        match answer {
            None => End::Dropped,
            Some(Err(error)) => End::Error(error.code().to_owned()),
            Some(Ok(reply)) => match reply.outcome {
                None => End::Read,
                Some(Outcome::Completed) => End::Completed,
                Some(Outcome::Refused(refusal)) => End::Refused(refusal.code.to_owned()),
                Some(Outcome::Unknown(unknown)) => End::Unknown(unknown.cause.code().to_owned()),
            },
        }
    }

    async fn click(&mut self, fault: Option<(Fault, When)>) {
        let agreed = *self.person.0.borrow();
        let end = self.clicked(fault).await;
        let before = self.clicks.last().map_or(0, |(_, sent, _)| *sent);
        if !matches!(end, End::Refused(_) | End::Error(_)) && self.sent() == before {
            // What is on its way shall count for this click and not for the next.
            let limit = if end == End::Completed { SOON } else { Duration::from_millis(300) };
            let want = before + 1;
            let site = &self.site;
            let arrived = async {
                while site.requests("/sign") < want {
                    site.wait_for(Duration::from_millis(20), |_| false).await;
                }
            };
            let _ = tokio::time::timeout(limit, arrived).await;
        }
        self.clicks.push((end, self.sent(), *self.person.0.borrow() - agreed));
    }
}

/// What does not hold after a run.
async fn play(seed: u64) -> (Fault, Vec<End>, Vec<String>) {
    let mut dice = Dice::new(seed);
    let fault = FAULTS[usize::try_from(seed).unwrap() % FAULTS.len()];
    let when = match dice.between(0, 4) {
        0 => When::Arrived,
        1 => When::Begun(Duration::from_millis(dice.between(0, 120))),
        _ => When::Agreed(Duration::from_millis(dice.between(0, 80))),
    };
    let dir = tempfile::tempdir().unwrap();
    let mut problems = Vec::new();
    let number = usize::try_from(seed).unwrap();
    let scene = SCENES[(number + number / FAULTS.len()) % SCENES.len()];
    let level = dice.one_of(LEVELS);
    let mut desk = Desk::open((fault, scene, level), dir.path()).await;
    let record = Record::new(dir.path());
    match desk.begin().await {
        Some(text) => problems.push(format!("the page does not open at first: {text}")),
        None => {
            desk.click(Some((fault, when))).await;
            // The same in the same turn: it needs a yes of its own, or is not done.
            desk.click(None).await;
            match desk.begin().await {
                Some(text) => problems.push(format!("the page does not open again: {text}")),
                None => desk.click(None).await,
            }
        }
    }
    if desk.clicks.last().is_none_or(|(end, ..)| *end != End::Completed) {
        problems.push("afterwards a click does not work".into());
    }
    desk.control.close().await;
    desk.cut.browsers.lock().await.clear();
    let left: Vec<_> =
        processes().into_iter().filter(|(_, line)| is_browser(line) || is_renderer(line)).collect();
    if !left.is_empty() {
        problems.push(format!("processes are left: {left:?}"));
    }
    let mut sent = 0;
    for (end, sent_now, cards) in &desk.clicks {
        let effects = sent_now - sent;
        sent = *sent_now;
        let fits = match end {
            End::Completed => effects == 1,
            End::Refused(_) | End::Error(_) | End::Read => effects == 0,
            End::Unknown(_) | End::Dropped => effects <= 1,
        };
        if !fits || effects > *cards {
            problems.push(format!("{end:?} with {effects} forms and {cards} yeses"));
        }
    }
    if desk.sent() != sent {
        problems.push("a form went out after its call had ended".into());
    }
    let rows: Vec<Row> =
        record.after(0).into_iter().filter(|row| row.tool == scene.tool()).collect();
    let recorded =
        |what: &str| rows.iter().filter(|row| row.outcome.as_deref() == Some(what)).count();
    let told = |fits: fn(&End) -> bool| desk.clicks.iter().filter(|(end, ..)| fits(end)).count();
    let dropped = told(|end| *end == End::Dropped);
    let (completed, unknown) =
        (told(|e| *e == End::Completed), told(|e| matches!(e, End::Unknown(_))));
    let completed = completed + desk.dismissed;
    let fits = (completed..=completed + dropped).contains(&recorded("completed"))
        && (unknown..=unknown + dropped).contains(&recorded("unknown"))
        && rows.iter().all(|row| row.outcome.is_some());
    if !fits {
        problems.push(format!("recorded otherwise than told: {rows:?}"));
    }
    let ends: Vec<End> = desk.clicks.iter().map(|(end, ..)| end.clone()).collect();
    let problems = problems
        .into_iter()
        .map(|p| format!("seed {seed} {scene:?} {level:?} {fault:?} {when:?} {ends:?}: {p}"))
        .collect();
    (fault, ends, problems)
}

/// whatever is killed in the middle of a step that sends a form, from a page, a frame, into a window
/// or behind a question of the page, and at every level, the form is sent at most once, each time with a yes of
/// its own, and never behind a word that says it was not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r173_a055_faults_in_a_real_chromium() {
    let one = std::env::var("REINS_FAULT_SEED").ok().map(|seed| seed.parse().unwrap());
    let all = std::env::var_os("REINS_FAULTS").is_some_and(|which| which == "all");
    let seeds = one.map_or(0..if all { 100 } else { 12 }, |seed| seed..seed + 1);
    let (mut failed, mut faults) = (Vec::new(), HashSet::new());
    let mut firsts: HashMap<String, usize> = HashMap::new();
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let (fault, ends, problems) = play(seed).await;
        faults.insert(fault);
        if let Some(first) = ends.first() {
            *firsts.entry(format!("{fault:?} {first:?}")).or_default() += 1;
        }
        failed.extend(problems);
    }
    let mut firsts: Vec<_> = firsts.into_iter().collect();
    firsts.sort();
    eprintln!("{count} runs: {firsts:#?}");
    assert!(failed.is_empty(), "{} of {count} runs: {failed:#?}", failed.len());
    assert!(count == 1 || faults.len() == FAULTS.len());
}
