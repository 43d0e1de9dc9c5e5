//! The agent at work: its events on the screen, the person's words into it, and Ctrl-C as a stop.

use crate::attach::Attachment;
use crate::cli::RunArgs;
use crate::run::{Begin, Task};
use crate::steer;
use crate::steps::{Show, Steps};
use crate::thinking;
use crate::toolbox::Bridge;
use crate::watch;
use reins_agent::{
    Agent, AgentError, AgentEvent, AgentOptions, Inbox, MindOptions, Opening, RunEnd, RunReport,
};
use reins_models::{Model, Usage};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Events wait here for the screen; the run waits rather than lose one.
const EVENTS: usize = 256;

/// One run and what may follow it.
pub(crate) struct Drive<'a> {
    pub(crate) args: &'a RunArgs,
    pub(crate) begin: &'a Begin,
    pub(crate) steps: &'a Steps,
    pub(crate) show: Show,
}

impl Drive<'_> {
    /// Runs the task, and then what the person said in the meantime for afterwards.
    pub(crate) async fn to_the_end(
        &self,
        client: Arc<dyn Model>,
        mut mind: MindOptions,
    ) -> RunReport {
        if self.show == Show::Rows {
            mind.person = thinking::person(&self.steps.terminal);
        }
        let uploads = !self.args.browser.upload_root.is_empty();
        let bridge = Bridge { steps: self.steps, uploads };
        let mut agent = Agent::new(client, bridge, self.options()).with_mind(mind);
        if let Some(record) = &self.steps.record {
            agent = agent.with_journal(Arc::new(record.clone()));
        }
        if let Some(past) = &self.begin.past
            && let Err(error) = agent.resume(&past.entries).await
        {
            return failed(&error);
        }
        let inbox = agent.inbox();
        let cancel = CancellationToken::new();
        let (sender, mut events) = mpsc::channel(EVENTS);
        let run = async {
            let report = self.all(&mut agent, &inbox, &sender, &cancel).await;
            drop(sender);
            report
        };
        let screen = async {
            while let Some(event) = events.recv().await {
                watch::shown(&self.steps.terminal, self.show, event);
            }
        };
        let stop = async {
            tokio::select! {
                () = crate::mcp::interrupted() => {}
                () = self.listen(&inbox) => {}
            }
            self.steps.stop();
            cancel.cancel();
        };
        // The run ends by itself also when it is stopped, and its report is the truth.
        let ended = async { tokio::join!(run, screen) };
        tokio::pin!(ended, stop);
        tokio::select! {
            biased;
            (report, ()) = &mut ended => report,
            () = &mut stop => ended.await.0,
        }
    }

    fn options(&self) -> AgentOptions {
        let past = self.begin.past.iter().flat_map(|past| &past.attached);
        AgentOptions {
            turn: self.steps.turn(),
            calls: self.args.steps,
            reasoning: self.args.reasoning.map(Into::into).unwrap_or_default(),
            window: self.args.window,
            attached: past.chain(&self.begin.attached).flat_map(Attachment::parts).collect(),
            ..AgentOptions::default()
        }
    }

    async fn all(
        &self,
        agent: &mut Agent<Bridge<'_>>,
        inbox: &Inbox,
        events: &mpsc::Sender<AgentEvent>,
        cancel: &CancellationToken,
    ) -> RunReport {
        let opening = self.opening();
        let mut report = match &self.begin.task {
            Task::New(words) => agent.run(words, &opening, events, cancel).await,
            Task::Resume(..) => match agent.go_on(&opening, events, cancel).await {
                Some(report) => report,
                None => return failed(&AgentError::NotRunning),
            },
            Task::Rest(answer) => ended(RunEnd::Done { answer: answer.clone() }),
        };
        // Messages that were written for later follow, each as a turn of its own (W-076).
        while !cancel.is_cancelled() && !matches!(report.end, RunEnd::Failed { .. }) {
            let next = match inbox.next().await {
                Ok(Some(next)) => next.text,
                Ok(None) => break,
                Err(error) => return after(report, failed(&error)),
            };
            if self.show == Show::Rows {
                if let RunEnd::Done { answer } = &report.end {
                    self.steps.terminal.answer(answer);
                }
                self.steps.terminal.say(&format!("\n> {next}"));
            }
            agent.set_turn(self.steps.next_turn(&next));
            let more = agent.run(&next, &Opening::default(), events, cancel).await;
            report = after(report, more);
        }
        report
    }

    /// What is opened before the model is asked: where the person wants to start, or the last page of the
    /// kept run that was opened by its address. Other pages may have been answers to something sent, and
    /// asking for them again could send it again.
    fn opening(&self) -> Opening {
        let start = self.args.url.as_ref();
        let url = match (&self.begin.settings, &self.begin.past) {
            (None, Some(past)) => past.opened.as_ref().or(start),
            _ => start,
        };
        let open = |url: &String| ("navigate".to_owned(), json!({"url": url}));
        Opening { calls: url.map(open).into_iter().collect() }
    }

    /// Takes what the person says; returns when they want to stop.
    async fn listen(&self, inbox: &Inbox) {
        let terminal = &self.steps.terminal;
        if let Task::Resume(Some(words)) = &self.begin.task {
            steer::correct(inbox, words, terminal, self.show).await;
        }
        let lines = match self.show {
            Show::Json => self.args.input.then(steer::json_lines),
            Show::Rows => steer::lines(Arc::clone(&terminal.keyboard)),
        };
        let Some(lines) = lines else { return std::future::pending().await };
        if self.show == Show::Rows {
            terminal.say(steer::HINT);
        }
        steer::take_in(lines, inbox, self.steps, self.show).await;
    }
}

/// Two runs of one conversation as one: the later end, and what both used.
fn after(first: RunReport, then: RunReport) -> RunReport {
    let mut usage = first.usage;
    usage += then.usage;
    let cost = match (first.cost, then.cost) {
        (Some(mut cost), Some(more)) => {
            cost += more;
            Some(cost)
        }
        _ => None,
    };
    RunReport { usage, cost, requests: first.requests + then.requests, ..then }
}

/// A run that could not even begin.
fn failed(error: &AgentError) -> RunReport {
    ended(RunEnd::Failed { code: error.code(), message: error.to_string(), answer: None })
}

fn ended(end: RunEnd) -> RunReport {
    RunReport {
        run: reins_agent::RunId(0),
        end,
        summary: reins_core::TurnSummary::default(),
        requests: 0,
        usage: Usage::default(),
        cost: None,
        submissions: Vec::new(),
    }
}
