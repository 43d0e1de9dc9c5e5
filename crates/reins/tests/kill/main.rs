//! `kill -9` at seeded points of a run, then `reins resume`: nothing is sent twice, and no correction is
//! lost or applied twice.
//!
//! The real program, a real Chromium, and servers that count what reaches them. The point is the n-th
//! thing that happens: an entry of the journal, a receipt, a request to the page or to the model.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]
#![allow(unreachable_pub, reason = "a test binary")]

mod events;
mod model;
mod shop;
#[path = "../support/mod.rs"]
mod support;

use events::{Events, Follower};
use model::Model;
use serde_json::{Value, json};
use shop::Shop;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

/// Seeds of `make test`; `REINS_KILLS=all` takes all of them, and `REINS_KILLS=7` just that one.
const FEW: std::ops::RangeInclusive<u64> = 1..=3;
const ALL: std::ops::RangeInclusive<u64> = 1..=50;

/// The task names four parcels, and a correction a fifth.
const TASK: &str = "send parcel 1, send parcel 2, send parcel 3, send parcel 4";
const CORRECTION: &str = "and send parcel 5 as well";

/// Far more than any run takes on a busy machine. A run that hangs fails.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(300);

/// One process of the program, to its end.
struct Ran {
    /// Its events, as far as they came.
    lines: Vec<Value>,
    /// Its exit code, unless it was killed.
    code: Option<i32>,
}

impl Ran {
    fn accepted(&self) -> bool {
        self.lines.iter().any(|line| line["event"] == "correction" && line["state"] == "kept")
    }
}

struct World {
    events: Arc<Events>,
    shop: Shop,
    model: Model,
    data: tempfile::TempDir,
}

impl World {
    async fn new() -> Self {
        let events = Arc::<Events>::default();
        let shop = Shop::start(Arc::clone(&events)).await;
        let model = Model::start(Arc::clone(&events)).await;
        Self { events, shop, model, data: tempfile::tempdir().unwrap() }
    }

    /// The first process. It gets the correction when `correct_at` things have happened.
    async fn run(&self, correct_at: u64, kill_at: u64) -> Ran {
        let (page, app) =
            (format!("http://{}/", self.shop.address), format!("http://{}", self.shop.address));
        let args = [
            "run",
            TASK,
            "--json",
            "--input",
            "--headless",
            "--url",
            &page,
            "--app",
            &app,
            "--base-url",
            &self.model.base,
            "--model",
            "scripted",
        ];
        self.process(&args, Some(correct_at), kill_at).await
    }

    async fn resume(&self, kill_at: u64) -> Ran {
        self.process(&["resume", "--json"], None, kill_at).await
    }

    async fn process(&self, args: &[&str], correct_at: Option<u64>, kill_at: u64) -> Ran {
        let mut child = start(self.data.path(), args);
        self.events.arm(child.id().unwrap(), kill_at);
        let follower = Follower::start(self.data.path(), Arc::clone(&self.events));
        let mut stdin = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut heard = Vec::new();
        let mut to_correct = correct_at;
        let read = async {
            // A line that the kill cut in two is none.
            while let Ok(Some(line)) = lines.next_line().await {
                heard.extend(serde_json::from_str::<Value>(&line));
                if to_correct.is_some_and(|at| self.events.count() >= at) {
                    to_correct = None;
                    let line = format!("{}\n", json!({"correct": CORRECTION}));
                    // It may be dead already.
                    let _ = stdin.write_all(line.as_bytes()).await;
                }
            }
        };
        tokio::time::timeout(PATIENCE, read).await.expect("the program hangs");
        let code = child.wait().await.unwrap().code();
        drop(follower);
        Ran { lines: heard, code }
    }
}

fn start(data: &Path, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reins"));
    command.args(args).env("REINS_DATA_DIR", data).env_remove("REINS_DEBUG");
    if support::is_root() {
        command.env("REINS_NO_SANDBOX", "1");
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap()
}

/// A number below `below` for a seed and a purpose.
fn drawn(seed: u64, purpose: u64, below: u64) -> u64 {
    let mut x =
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ purpose.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) % below.max(1)
}

/// What must hold after a run and all its resumptions.
fn check(world: &World, seed: u64, ran: &[Ran]) {
    let told = || {
        let steps = ran.iter().flat_map(|ran| &ran.lines);
        let steps: Vec<&Value> = steps
            .filter(|line| line["event"] == "step_finished")
            .map(|line| &line["result"])
            .collect();
        format!(
            "seed {seed}: sent {:?}, steps {steps:#?}, model saw {:#?}",
            world.shop.sent(),
            world.model.last()
        )
    };
    let sent = world.shop.sent();
    assert!(sent.values().all(|times| *times == 1), "sent twice. {}", told());
    let last = ran.last().unwrap();
    let end = last.lines.last().unwrap();
    assert_eq!((last.code, &end["event"]), (Some(0), &json!("end")), "{end:?} {}", told());
    assert!((1..=4).all(|parcel| sent.contains_key(&parcel)), "not all sent. {}", told());
    let said = world.model.last().iter().filter(|text| text.contains(CORRECTION)).count();
    if ran[0].accepted() {
        assert_eq!(said, 1, "a correction was lost or told twice. {}", told());
        assert!(sent.contains_key(&5), "a correction was lost. {}", told());
    } else {
        assert!(said <= 1, "a correction was told twice. {}", told());
    }
}

/// Undisturbed, the run sends everything once, takes the correction in, and says how much there is to
/// count.
async fn undisturbed() -> u64 {
    let world = World::new().await;
    let ran = world.run(12, 0).await;
    assert!(ran.accepted(), "{:#?}", ran.lines);
    let total = world.events.count();
    check(&world, 0, &[ran]);
    total
}

#[tokio::test(flavor = "multi_thread")]
async fn w082_killed_at_any_point_nothing_is_sent_twice_and_no_correction_is_lost() {
    let seeds = match std::env::var("REINS_KILLS").as_deref() {
        Ok("all") => ALL,
        Ok(seed) => seed.parse().map(|seed| seed..=seed).unwrap(),
        Err(_) => FEW,
    };
    let all = seeds == ALL;
    let total = undisturbed().await;
    let (mut accepted, mut killed, mut unknown) = (0, 0, 0);
    for seed in seeds {
        let world = World::new().await;
        let kill_at = 1 + drawn(seed, 1, total);
        let correct_at = drawn(seed, 2, total);
        let mut ran = vec![world.run(correct_at, kill_at).await];
        if ran[0].code.is_none() && nothing_was_kept(&world).await {
            // Killed before there was anything to go on with.
            assert!(world.shop.sent().is_empty());
            continue;
        }
        if ran[0].code.is_none() && seed.is_multiple_of(3) {
            // And once more while it goes on.
            ran.push(world.resume(1 + drawn(seed, 3, total / 2)).await);
        }
        if ran.last().unwrap().code.is_none() {
            ran.push(world.resume(0).await);
        }
        check(&world, seed, &ran);
        accepted += usize::from(ran[0].accepted());
        killed += ran.iter().filter(|ran| ran.code.is_none()).count();
        unknown += usize::from(world.model.last().iter().any(|text| text.contains("unknown")));
        writeln!(
            std::io::stderr(),
            "seed {seed}: killed at {kill_at} of {total}, {} processes, corrected at {correct_at} ({}): {:?}",
            ran.len(),
            ran[0].accepted(),
            world.shop.sent()
        )
        .unwrap();
    }
    if all {
        // The seeds reach every kind of point.
        assert!(killed >= 45 && accepted >= 5 && unknown >= 3, "{killed} {accepted} {unknown}");
    }
}

async fn nothing_was_kept(world: &World) -> bool {
    let store = reins_store::Store::open(world.data.path().join("reins.db")).unwrap();
    store.conversations(1).await.unwrap().is_empty()
}
