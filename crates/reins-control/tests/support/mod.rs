//! A control with a real Chromium, and answerers that play the person.

#![allow(unreachable_pub, dead_code, reason = "each test binary uses a part")]

use futures_util::future::BoxFuture;
use reins_control::{
    Answerer, BrowserSource, CallRequest, CardAnswer, Control, ControlError, ControlOptions, Level,
    Question, Reply, TurnStart,
};
use reins_core::{OwnerId, SessionId};
use reins_testing::Site;
use serde_json::Value;
use std::collections::VecDeque;
use std::os::unix::fs::MetadataExt;
use std::sync::Mutex;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Answers cards from a list and remembers what was asked. Out of answers, it says no.
#[derive(Debug, Default)]
pub struct Person {
    answers: Mutex<VecDeque<CardAnswer>>,
    asked: Mutex<Vec<String>>,
}

impl Person {
    pub fn saying(answers: impl IntoIterator<Item = CardAnswer>) -> Self {
        Self { answers: Mutex::new(answers.into_iter().collect()), asked: Mutex::default() }
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Answerer for Person {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, CardAnswer> {
        self.asked.lock().unwrap().push(question.plain_text());
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or(CardAnswer::Deny);
        Box::pin(std::future::ready(answer))
    }
}

/// A control, its data directory, one owner and one session.
pub struct Desk {
    pub control: Control,
    pub person: Person,
    pub owner: OwnerId,
    pub session: SessionId,
    data: TempDir,
}

impl Desk {
    /// Where this control keeps its data.
    pub fn data(&self) -> &std::path::Path {
        self.data.path()
    }

    /// Guarded, at level auto.
    pub async fn guarded(person: Person) -> Self {
        Self::new(person, |_| {}).await
    }

    /// Pinned to a test site under both of its names.
    pub async fn pinned(site: &Site) -> Self {
        let app = [site.url(""), site.other_url("")].map(|url| url.parse().unwrap());
        Self::new(Person::default(), |options| options.app = app.to_vec()).await
    }

    pub async fn new(person: Person, change: impl FnOnce(&mut ControlOptions)) -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut options = ControlOptions {
            source: BrowserSource::Launch {
                binary: None,
                headless: true,
                profile: None,
                no_sandbox: is_root(),
            },
            level: Level::Auto,
            app: Vec::new(),
            beyond: reins_control::Beyond::default(),
            named: Vec::new(),
            downloads: None,
            upload_roots: Vec::new(),
            inspect: false,
            data_dir: data.path().to_owned(),
            calls: false,
            strict_clicks: false,
            critic: None,
        };
        change(&mut options);
        Self {
            control: Control::open(options).await.unwrap(),
            person,
            owner: OwnerId::new("test"),
            session: SessionId::new("main"),
            data,
        }
    }

    /// Begins a turn with the person's own words.
    pub fn says(&self, message: &str) {
        let start = TurnStart { message: Some(message.to_owned()), ..TurnStart::default() };
        self.control.begin_turn(&self.session, &self.owner, start);
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Reply, ControlError> {
        self.call_as(&self.owner, &self.session, tool, arguments).await
    }

    pub async fn call_as(
        &self,
        owner: &OwnerId,
        session: &SessionId,
        tool: &str,
        arguments: Value,
    ) -> Result<Reply, ControlError> {
        let tool = reins_control::tool(tool).expect(tool);
        let cancel = CancellationToken::new();
        let cards = &self.person;
        self.control.call(CallRequest { tool, arguments, owner, session, cards, cancel }).await
    }

    /// A call that must work; returns its text.
    pub async fn ok(&self, tool: &str, arguments: Value) -> String {
        let reply = self.call(tool, arguments).await.unwrap_or_else(|e| panic!("{tool}: {e}"));
        assert!(!reply.failed(), "{tool}: {}", reply.text);
        reply.whole_text()
    }

    /// A call that must not work; returns its stable code.
    pub async fn code(&self, tool: &str, arguments: Value) -> String {
        match self.call(tool, arguments).await {
            Err(error) => error.code().to_owned(),
            Ok(reply) => {
                assert!(reply.failed(), "{tool} worked: {}", reply.text);
                reply.facts["code"].as_str().unwrap().to_owned()
            }
        }
    }
}

/// The ref of the line with this role and name.
pub fn find_ref(text: &str, role: &str, name: &str) -> String {
    let wanted = format!("{role} \"{name}\"");
    let line = text.lines().find(|line| line.contains(&wanted) && line.contains("[ref="));
    let line = line.unwrap_or_else(|| panic!("no {wanted} in:\n{text}"));
    let at = line.find("[ref=").unwrap() + 5;
    line[at..].split(']').next().unwrap().to_owned()
}

/// Chromium's own sandbox refuses root.
pub fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0)
}
