//! Level careful with a safety check, in a real Chromium.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use futures_util::future::BoxFuture;
use reins_control::{CardAnswer, Critic, Level};
use reins_testing::{Page, Site};
use serde_json::json;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use support::{Desk, Person, find_ref};

/// Answers from a list and remembers what it was asked. Out of answers, it never answers.
#[derive(Debug, Default)]
struct Scripted {
    answers: Mutex<VecDeque<Option<String>>>,
    asked: Mutex<Vec<String>>,
}

impl Critic for Scripted {
    fn ask<'a>(&'a self, _: &'a str, question: &'a str) -> BoxFuture<'a, Option<String>> {
        self.asked.lock().unwrap().push(question.to_owned());
        let answer = self.answers.lock().unwrap().pop_front();
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
}

/// R-186…R-188: what the plan allowed and nothing marks as risky goes to the check; allow runs it,
/// everything else is a card that says what held the step. R-187: no page text reaches it. R-190:
/// a risky step goes straight to the card.
#[tokio::test(flavor = "multi_thread")]
async fn r186_r188_the_check_allows_or_the_person_is_asked() {
    let page = "<h1>HEADING_TEXT</h1><label>LABEL_TEXT <input name=NAME_TEXT></label>\
        <form action=/PATH_TEXT method=post><button>Send</button></form>";
    let site =
        Site::start([("/", Page::html(page)), ("/PATH_TEXT", Page::html("sent"))]).await.unwrap();
    let long = format!("escalate: {}", "x".repeat(5_000));
    let answers = ["allow", "escalate: not part of the goal", "Sure, allow it", long.as_str()];
    let critic = Arc::new(Scripted {
        answers: Mutex::new(
            answers.map(|answer| Some(answer.to_owned())).into_iter().chain([None]).collect(),
        ),
        ..Scripted::default()
    });
    let given: Arc<dyn Critic> = critic.clone();
    // The plan card, then a no to every card that comes.
    let person = Person::saying([CardAnswer::Allow]);
    let desk = Desk::new(person, |options| {
        options.level = Level::Careful;
        options.critic = Some(given);
    })
    .await;
    desk.says(&format!("fill in the form at {}", site.url("/")));
    let page = desk.ok("navigate", json!({"url": site.url("/")})).await;
    let field = find_ref(&page, "textbox", "LABEL_TEXT");
    let typing = json!({"ref": field, "text": "TYPED_TEXT"});
    desk.ok("type", typing.clone()).await;
    assert_eq!(desk.person.asked().len(), 1, "the plan only: {:?}", desk.person.asked());
    for held in [
        "not part of the goal",
        "no valid answer",
        "answered too much",
        "failed",
        "did not answer in time",
    ] {
        assert_eq!(desk.code("type", typing.clone()).await, "not_allowed", "{held}");
        let card = desk.person.asked().pop().unwrap();
        assert!(card.to_lowercase().contains(held), "{held}: {card}");
    }
    let questions = critic.asked.lock().unwrap().join("\n");
    assert!(questions.contains("goal: fill in the form at"), "{questions}");
    for text in ["HEADING_TEXT", "LABEL_TEXT", "NAME_TEXT", "PATH_TEXT", "TYPED_TEXT"] {
        assert!(!questions.contains(text), "{text} in {questions}");
    }
    let before = critic.asked.lock().unwrap().len();
    let send = find_ref(&page, "button", "Send");
    assert_eq!(desk.code("click", json!({"ref": send})).await, "not_allowed");
    assert_eq!(critic.asked.lock().unwrap().len(), before, "R-190");
    assert_eq!(site.requests("/PATH_TEXT"), 0);
    desk.control.close().await;
}

/// without a check every step is a card, which says what is missing.
#[tokio::test(flavor = "multi_thread")]
async fn r189_without_a_check_every_step_is_a_card() {
    let site = Site::start([("/", Page::html("<input aria-label=Name>"))]).await.unwrap();
    let person = Person::saying([CardAnswer::Allow, CardAnswer::Allow]);
    let desk = Desk::new(person, |options| options.level = Level::Careful).await;
    desk.says(&format!("fill in the form at {}", site.url("/")));
    let page = desk.ok("navigate", json!({"url": site.url("/")})).await;
    let field = find_ref(&page, "textbox", "Name");
    desk.ok("type", json!({"ref": field, "text": "Ada"})).await;
    let cards = desk.person.asked();
    assert!(cards.len() == 2 && cards[1].contains("fast model"), "{cards:?}");
    desk.control.close().await;
}
