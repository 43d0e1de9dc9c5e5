//! Before the first request of a task and at its answer: mode, plan and first page, and whether the answer
//! stands.

use crate::agent::{Agent, Run};
use crate::ask;
use crate::desk::Outfit;
use crate::event::AgentEvent;
use crate::journal::JournalEvent;
use crate::judge::Judged;
use crate::mind::{self, Mind, Planned};
use crate::mode::{Mode, REQUEST_ACTION_MODE, Route};
use crate::plan::Agreed;
use crate::report::{RunEnd, failed};
use crate::toolbox::{Opening, Toolbox};

/// So often a correction may come between a mode that was granted and the run that begins with it (W-048).
const RESTARTS: u32 = 3;

impl<T: Toolbox> Agent<T> {
    /// Gets mode, plan and first page of a task together, and puts it before the model.
    pub(crate) async fn prepare(
        &mut self,
        run: &mut Run<'_>,
        task: &str,
        opening: &Opening,
        handed: Option<Route>,
    ) -> Result<(), RunEnd> {
        // The calls of an opening are the person's own, so they are made in every mode.
        self.equip(&Route::picked(Mode::Act), None);
        let (mut opened, mut next) = (None, None);
        let mut route = match handed.or_else(|| self.mind.picked()) {
            Some(route) => route,
            None => {
                let batch = batch!(self, run);
                let open = run.steps.open(&batch, opening);
                // The words are read while the page is (W-038).
                let (route, page) = tokio::join!(self.mind.route(task, run.cancel), open);
                opened = Some(page?);
                route
            }
        };
        self.bill_mind(run).await;
        if let Some(told) = Mind::told(&route) {
            run.watcher.tell(AgentEvent::Notice(told)).await;
        }
        let small = route.mode != Mode::Ask && self.lists_steps();
        let planned = self.mind.plan(task, &route, small, run.cancel).await;
        self.bill_mind(run).await;
        let agreed = match planned {
            Planned::None => None,
            Planned::Agreed(agreed) => Some(agreed),
            Planned::ReadOnly(why) => {
                run.watcher.tell(AgentEvent::Notice(why)).await;
                // It may not be asked for again in this turn.
                route = Route::picked(Mode::Ask);
                None
            }
            Planned::End(end) => return Err(end),
        };
        if small
            && agreed.is_none()
            && let Some(list) = self.ask_for_steps(run, task).await?
        {
            next = run.steps.plan(&list);
            if let Some(told) = run.steps.planned() {
                run.watcher.tell(AgentEvent::Notice(told)).await;
            }
            if let Some(text) = next.clone() {
                run.recorder.write(|| JournalEvent::Plan { text }).await?;
            }
        }
        let opened = match opened {
            Some(opened) => opened,
            None => run.steps.open(&batch!(self, run), opening).await?,
        };
        if run.cancel.is_cancelled() {
            return Err(RunEnd::Stopped);
        }
        self.equip(&route, agreed.as_ref());
        run.watcher.tell(AgentEvent::Mode(route)).await;
        let mut first = format!("Task: {task}");
        if let Some(agreed) = &agreed {
            first.push_str("\n\n");
            first.push_str(&agreed.pinned);
            let text = agreed.pinned.clone();
            run.watcher.tell(AgentEvent::Plan(text.clone())).await;
            run.recorder.write(|| JournalEvent::Plan { text }).await?;
        }
        for line in &opened.texts {
            first.push_str("\n\n");
            first.push_str(line);
        }
        self.conversation.task(first, opened.page, next);
        Ok(())
    }

    /// A run goes on in a new process: its words, and what was seen before, count as before.
    pub(crate) fn take_up(&mut self, words: &str) {
        self.toolbox.begin(words, self.mind.before());
        for entry in &self.conversation.entries {
            self.toolbox.recall(&entry.text);
        }
    }

    /// The tools and instructions for a run that goes on in a new process: of the mode that the person picked, or that
    /// their own words are read as, anew (W-034). Nothing that a model wrote decides about it.
    pub(crate) async fn equip_again(&mut self, run: &mut Run<'_>) {
        let route = match self.mind.picked() {
            Some(route) => route,
            None => self.reroute(run).await,
        };
        self.bill_mind(run).await;
        if let Some(told) = Mind::told(&route) {
            run.watcher.tell(AgentEvent::Notice(told)).await;
        }
        self.equip(&route, None);
        run.watcher.tell(AgentEvent::Mode(route)).await;
    }

    /// The mode by everything that the person wrote for this task.
    async fn reroute(&self, run: &Run<'_>) -> Route {
        self.mind.route(&run.task.words(), run.cancel).await
    }

    /// Where a run begins that may act now: as it was granted, unless the person said something since. Then their
    /// words are read anew with that in it, and at the third time the run only reads (W-048).
    pub(crate) async fn granted(
        &mut self,
        run: &mut Run<'_>,
        granted: Route,
        restarts: &mut u32,
    ) -> Result<Route, RunEnd> {
        if !self.inbox.is_corrected() {
            return Ok(granted);
        }
        self.take_corrections(run).await?;
        *restarts += 1;
        if *restarts < RESTARTS {
            return Ok(self.reroute(run).await);
        }
        let told = "it only reads: you corrected it three times on the way to acting; --mode act lets it act";
        run.watcher.tell(AgentEvent::Notice(told.to_owned())).await;
        Ok(Route::picked(Mode::Ask))
    }

    /// The tools and instructions of a mode and a plan.
    fn equip(&mut self, route: &Route, agreed: Option<&Agreed>) {
        self.toolbox.equip(Outfit {
            mode: route.mode,
            hand_over: route.may_hand_over(),
            clarifies: self.mind.clarifies(route),
            memory: mind::memory(agreed),
        });
        self.refit(self.mind.note(route));
    }

    fn refit(&mut self, note: Option<&str>) {
        let more: Vec<&str> =
            self.options.instructions.as_deref().into_iter().chain(note).collect();
        let more = more.join("\n\n");
        self.tools = self.toolbox.tools();
        self.system = ask::system(Some(more.as_str()).filter(|more| !more.is_empty()));
        self.specs = ask::specs(&self.tools);
        self.fixed = ask::fixed(&self.system, &self.specs);
    }

    /// A way to an action mode that was refused twice is gone (W-051).
    pub(crate) fn withdraw_hand_over(&mut self) {
        let offered = self.tools.iter().any(|tool| tool.name == REQUEST_ACTION_MODE);
        if offered && !self.toolbox.has_hand_over() {
            self.refit(self.mind.note(&Route::picked(Mode::Ask)));
        }
    }

    /// What thinking used goes on the run's bill.
    async fn bill_mind(&self, run: &mut Run<'_>) {
        let used = self.mind.take_used();
        if used.requests > 0 {
            run.bill.requests += used.requests;
            run.bill.add(used.usage, used.cost);
            let (total, cost) = (run.bill.usage, run.bill.cost);
            run.watcher.tell(AgentEvent::Usage { last: used.usage, total, cost }).await;
        }
    }

    /// The end that an answer makes, if it stands; what says more than was seen is sent back once
    /// (W-489).
    pub(crate) async fn judged(
        &mut self,
        run: &mut Run<'_>,
        answer: String,
    ) -> Result<Option<RunEnd>, RunEnd> {
        let end = run.steps.judge(answer.clone());
        let mind = &self.mind;
        let seen = self.toolbox.seen(|evidence, memory| mind.look(&answer, evidence, memory));
        let Some(seen) = seen.filter(|_| matches!(end, RunEnd::Done { .. })) else {
            return Ok(Some(end));
        };
        let judged = self.mind.judge(&answer, &run.task.words(), seen, run.cancel).await;
        self.bill_mind(run).await;
        if run.cancel.is_cancelled() {
            return Err(RunEnd::Stopped);
        }
        match judged {
            Judged::Stands => Ok(Some(end)),
            Judged::Unchecked(why) => {
                let told = format!("nobody checked the answer against what was seen ({why})");
                run.watcher.tell(AgentEvent::Notice(told)).await;
                Ok(Some(end))
            }
            Judged::Admits => {
                let message = "the model itself says that it is not done";
                Ok(Some(failed("said_not_done", message, Some(answer))))
            }
            Judged::Doubted(doubt) if !run.sent_back => {
                run.sent_back = true;
                self.remark(run, doubt.remark).await?;
                run.watcher.tell(AgentEvent::TextVoid).await;
                Ok(None)
            }
            Judged::Doubted(doubt) => Ok(Some(failed(doubt.code, &doubt.message, Some(answer)))),
        }
    }
}
