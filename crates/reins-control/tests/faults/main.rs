//! Fault injection at each await of the street: something goes wrong at a seeded point of a run, and every
//! act still ends as exactly one of completed, refused and unknown (DESIGN 4), is sent at most once, and
//! leaves nothing behind. `REINS_FAULT_SEED=n` plays one run again and tells all of it,
//! `REINS_FAULT_FROM=n` plays other seeds.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]
#![allow(
    unreachable_pub,
    clippy::print_stderr,
    reason = "a test program has no readers but the person who runs it"
)]

mod browser;
mod check;
mod chromium;
mod page;
mod plan;
mod record;
mod run;
#[path = "../support/mod.rs"]
mod support;

use check::check;
use plan::Fault;
use record::Record;
use run::seeded;
use std::collections::HashSet;
use std::io::Write;
use std::sync::mpsc;
use std::time::Duration;

/// Runs of each part.
const RUNS: u64 = 250;

/// A run takes some hundredths of a second. One that never ends is named.
const STUCK: Duration = Duration::from_secs(60);

/// Ends the process when no run has ended for long.
struct Watch(mpsc::Sender<u64>);

impl Watch {
    fn start() -> Self {
        let (runs, ended) = mpsc::channel();
        std::thread::spawn(move || {
            let mut seed = None;
            loop {
                match ended.recv_timeout(STUCK) {
                    Ok(next) => seed = Some(next),
                    Err(mpsc::RecvTimeoutError::Disconnected) => return,
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        // Not by a macro: those are held back until the test ends.
                        let words = format!("REINS_FAULT_SEED={seed:?} does not end\n");
                        std::io::stderr().write_all(words.as_bytes()).unwrap();
                        std::process::abort();
                    }
                }
            }
        });
        Self(runs)
    }
}

/// A directory in memory where there is one: what takes time here is the disk.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Plays a part of the thousand runs.
fn part(number: u64) {
    let dir = directory();
    reins_store::Store::open(dir.path().join("reins.db")).unwrap();
    let record = Record::new(dir.path());
    let mut calm = run::Calm::new();
    if let Some(seed) = std::env::var_os("REINS_FAULT_SEED") {
        let seed = seed.into_string().unwrap().parse().unwrap();
        let report = seeded(seed, &record, &mut calm);
        let problems = check(&report);
        assert!(problems.is_empty(), "seed {seed}: {problems:#?}\n{report:#?}");
        return;
    }
    let (mut faults, mut ends, mut failed) = (HashSet::<Fault>::new(), HashSet::new(), Vec::new());
    let watch = Watch::start();
    let from = std::env::var("REINS_FAULT_FROM").map_or(0, |from| from.parse().unwrap());
    for seed in from + number * RUNS..from + (number + 1) * RUNS {
        watch.0.send(seed).unwrap();
        let report = seeded(seed, &record, &mut calm);
        let (fault, at) = report.fault.unwrap();
        faults.insert(fault);
        ends.extend(report.told.iter().map(|told| std::mem::discriminant(&told.end)));
        let problems = check(&report);
        if !problems.is_empty() {
            let told: Vec<_> = report.told.iter().map(|t| (t.what, &t.end)).collect();
            let level = report.level;
            failed.push(format!(
                "REINS_FAULT_SEED={seed} {level:?} {fault:?} {at:?} {told:?}: {problems:#?}"
            ));
        }
    }
    assert!(failed.is_empty(), "{} of {RUNS} runs: {}", failed.len(), failed.join("\n"));
    // The runs say nothing unless all of it occurred.
    assert!(faults.len() >= plan::BROWSER.len() + 4, "{faults:?}");
    assert_eq!(ends.len(), 6, "completed, refused, unknown, error, read and dropped");
}

#[test]
fn r173_a055_a056_every_act_ends_as_exactly_one_outcome_1() {
    part(0);
}

#[test]
fn r173_a055_a056_every_act_ends_as_exactly_one_outcome_2() {
    part(1);
}

#[test]
fn r173_a055_a056_every_act_ends_as_exactly_one_outcome_3() {
    part(2);
}

#[test]
fn r173_a055_a056_every_act_ends_as_exactly_one_outcome_4() {
    part(3);
}
