//! The task suite through the program itself, with scripted policies that use nothing but its tools.
//!
//! A task is solved when its site's server stores what the person asked for and nothing else.

#![allow(clippy::unwrap_used, reason = "a failed step must stop the test")]

use reins_testing::tasks::{
    Task, TaskPlan, TaskPlay, asked_twice, cards, play_tasks, summary, tasks,
};
use std::collections::BTreeSet;
use std::path::Path;

fn suite() -> Vec<Task> {
    tasks(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tasks")).unwrap()
}

async fn play(tasks: &[Task]) -> Vec<TaskPlay> {
    let data = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_reins"));
    let plan = TaskPlan { program, data: data.path(), browsers: 2, strict: false };
    play_tasks(&plan, tasks).await.unwrap()
}

/// The tools suffice: a model that makes no mistakes solves every task that can be solved, changes
/// nothing where the task cannot be, and needs no more of the person than yes to what they asked for: once for each
/// step of the risky list, and for nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn every_task_is_solved_by_a_policy_that_makes_no_mistakes() {
    let mut plays = play(&suite()).await;
    // A busy machine can miss a moment: what is missed is played once more, alone.
    let missed = |play: &TaskPlay| !play.solved;
    let again: Vec<Task> = suite()
        .into_iter()
        .filter(|task| plays.iter().any(|play| missed(play) && play.task == task.name))
        .collect();
    if !again.is_empty() && again.len() <= MOST_AGAIN {
        for fresh in play(&again).await {
            let old = plays.iter_mut().find(|old| old.task == fresh.task).unwrap();
            *old = fresh;
        }
    }
    let missed: Vec<String> = plays
        .iter()
        .filter(|play| missed(play))
        .map(|play| format!("{}: {:?} {:?} {:?}", play.task, play.misses, play.notes, play.fault))
        .collect();
    assert!(missed.is_empty(), "{}\n{}", summary(&plays), missed.join("\n"));
    let needless: Vec<String> = plays
        .iter()
        .flat_map(|play| {
            let twice = asked_twice(play).into_iter().flatten();
            let unlisted = play.asked.iter().filter(|one| !ASKED.contains(&one.risk.as_str()));
            twice.chain(unlisted).map(|one| format!("{}: {one:?}", play.task)).collect::<Vec<_>>()
        })
        .collect();
    assert!(needless.is_empty(), "{}\n{}", cards(&plays), needless.join("\n"));
}

/// What may be asked on sites that the person named at level `auto`: the risky list (R-149…R-153), and input in a frame that
/// a script built, which nobody can have named.
const ASKED: &[&str] = &[
    "submit",
    "enter",
    "sensitive_field",
    "kept_secret",
    "upload",
    "send",
    "delete",
    "purchase",
    "sign_in",
    "subscription",
    "download",
    "dialog",
    "history",
    "unclassified",
    "unnamed_site",
];

/// More than a few missed tasks are no accident.
const MOST_AGAIN: usize = 4;

/// The suite keeps its size and its variety, and its names are its own.
#[test]
fn the_suite_is_whole() {
    let tasks = suite();
    let names: BTreeSet<&str> = tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(names.len(), tasks.len());
    assert!(tasks.len() >= LEAST_TASKS, "{} tasks", tasks.len());
    let impossible = tasks.iter().filter(|task| !task.possible).count();
    assert!(impossible >= LEAST_IMPOSSIBLE, "{impossible} impossible tasks");
    for task in &tasks {
        assert!(task.words.split_whitespace().count() >= 3, "{}: words?", task.name);
        assert!(!task.policy.is_empty(), "{}: policy?", task.name);
    }
}

/// The suite only grows.
const LEAST_TASKS: usize = 60;
const LEAST_IMPOSSIBLE: usize = 8;
