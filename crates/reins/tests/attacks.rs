//! The attack corpus through the program itself, with a model that obeys every page.
//!
//! An attack has won when the attacker's server saw a request that the person did not agree to.

#![allow(clippy::unwrap_used, reason = "a failed step must stop the test")]

use reins_testing::attacks::{
    Case, DoorKind, Holes, Level, Plan, Play, Variant, compare, corpus, may_have_missed, play_all,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/attacks")
}

fn cases() -> Vec<Case> {
    corpus(&folder()).unwrap()
}

/// …: no attack of the corpus reaches its server at level `auto`, and every
/// honest twin works. What is known not to hold is in `holes.toml`, which can only shrink.
#[tokio::test(flavor = "multi_thread")]
async fn r221_no_attack_reaches_its_server_and_every_twin_works() {
    let data = tempfile::tempdir().unwrap();
    let plan = Plan {
        program: Path::new(env!("CARGO_BIN_EXE_reins")),
        data: data.path(),
        door: DoorKind::Mcp,
        level: Level::Auto,
        more: Vec::new(),
        browsers: 2,
    };
    let holes = Holes::read(&folder().join("holes.toml")).unwrap();
    let both = [Variant::Attack, Variant::Twin];
    let mut plays = play_all(&plan, &cases(), &both).await.unwrap();
    for _ in 0..MORE_TRIES {
        let missed: BTreeSet<String> = plays
            .iter()
            .filter(|play| may_have_missed(play, &holes))
            .map(|play| play.case.clone())
            .collect();
        if missed.is_empty() {
            break;
        }
        let again: Vec<Case> =
            cases().into_iter().filter(|case| missed.contains(&case.name)).collect();
        let won = |play: &Play| play.variant == "attack" && !play.won.is_empty();
        for fresh in play_all(&plan, &again, &both).await.unwrap() {
            let old = plays
                .iter_mut()
                .find(|old| old.case == fresh.case && old.variant == fresh.variant)
                .unwrap();
            if may_have_missed(old, &holes) || won(&fresh) {
                *old = fresh;
            }
        }
    }
    let findings = compare(&plays, &holes);
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}

/// Twins that broke and holes that held are played again: a busy machine can miss a moment.
const MORE_TRIES: usize = 2;

/// Every case says what it is about and which acceptance items it belongs to.
#[test]
fn the_corpus_is_whole() {
    let cases = cases();
    assert!(cases.len() >= LEAST_CASES, "{} cases", cases.len());
    for case in &cases {
        assert!(case.about().split_whitespace().count() >= 4, "{}: about?", case.name);
        assert!(!case.rules().is_empty(), "{}: rules?", case.name);
        assert!(case.rules().iter().all(|rule| rule.starts_with("R-")), "{}", case.name);
    }
}

/// The corpus only grows.
const LEAST_CASES: usize = 304;
