//! Small models list the steps of a task before they begin, and are told them one at a time.

#![expect(clippy::expect_used, reason = "tests")]

mod support;

use reins_agent::{AgentEvent, AgentOptions, Opening, RunEnd, ToolReply};
use reins_models::testing::Answer;
use serde_json::json;
use support::{Ran, Tools, click, page, run_as};
use tokio_util::sync::CancellationToken;

async fn run(script: Vec<Answer>, tools: Tools) -> Ran {
    let opening = Opening { calls: vec![("snapshot".to_owned(), json!({}))] };
    let cancel = CancellationToken::new();
    run_as(AgentOptions::default(), script, tools, opening, cancel, async |_, _| {}).await
}

fn did(text: &str) -> ToolReply {
    ToolReply { changed: Some(true), ..ToolReply::text(text) }
}

/// W-230: the list is asked for without page and tools; after that the model sees it, and the step that
/// is next stands below each result.
#[tokio::test]
async fn w230_steps_are_listed_first_and_told_one_at_a_time() {
    let look = ToolReply { page: page("shop"), ..ToolReply::text("") };
    let tools = Tools::replies(vec![look, did("chose B"), did("pressed Go")]);
    let list = Answer::text("1. Choose B\n2. Press Go");
    let ran = run(vec![list, click("e1"), click("e2"), Answer::text("Bought.")], tools).await;
    assert_eq!(ran.answer(), "Bought.");
    let first = &ran.server.seen()[0].body;
    assert!(first.get("tools").is_none_or(|tools| tools == &json!([])), "{first}");
    let asked = ran.asked(0);
    assert!(asked[0].starts_with("system: You split a task"), "{asked:?}");
    assert_eq!(asked.last().map(String::as_str), Some("user: buy it"));
    let asked = ran.asked(1);
    assert!(asked[0].starts_with("system: You use a web browser"), "{asked:?}");
    assert_eq!(
        asked[1],
        "user: Task: buy it\n<page>shop</page>\n\nSteps:\n1. Choose B\n2. Press Go\nNow do step 1: Choose B"
    );
    assert_eq!(ran.asked(2)[3], "tool: chose B\n\nNow do step 2: Press Go");
    assert!(ran.asked(3)[5].contains("All steps of your list are done"), "{:?}", ran.asked(3));
    assert_eq!((ran.report.requests, ran.shown().as_str()), (4, "Bought."));
    let told = AgentEvent::Notice("the model's steps: Choose B; Press Go".to_owned());
    assert!(ran.events.contains(&told), "{:?}", ran.events);
}

/// A step that did not work is not passed over.
#[tokio::test]
async fn a_step_that_failed_is_not_taken_for_done() {
    let tools = Tools::replies(vec![did(""), ToolReply::error("covered"), did("chose B")]);
    let list = Answer::text("1. Choose B\n2. Press Go");
    let ran = run(vec![list, click("e1"), click("e1"), Answer::text("Done.")], tools).await;
    assert!(!ran.asked(2).join("\n").contains("step 2"), "{:?}", ran.asked(2));
    assert!(ran.asked(3).join("\n").contains("Now do step 2"), "{:?}", ran.asked(3));
}

/// A task of one step needs no list, and neither does a model that cannot write one.
#[tokio::test]
async fn without_a_list_of_several_steps_the_task_stands_alone() {
    for list in ["1. Buy it", "I will buy it."] {
        let script = vec![Answer::text(list), Answer::text("Bought.")];
        let ran = run(script, Tools::replies(vec![did("")])).await;
        assert_eq!(ran.asked(1)[1], "user: Task: buy it");
        assert_eq!(ran.report.end, RunEnd::Done { answer: "Bought.".to_owned() });
        assert_eq!(ran.shown(), "Bought.", "the list is no answer");
    }
}
