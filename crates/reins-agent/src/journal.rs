//! The journal of a conversation: append-only entries in order, from which any screen can show a run
//! that it did not see and a new process can go on with one that was cut off (W-070, W-081, W-082).

use crate::error::AgentError;
use crate::ids::{CorrectionId, MessageId, Revision, RunId, Sequence};
use crate::submissions::Commitment;
use futures_util::future::BoxFuture;
use reins_models::{Kept, ToolCall};
use serde::{Deserialize, Serialize};

/// Where a conversation's entries go. One conversation has one journal, and one writer at a time.
///
/// An implementation keeps the order of the calls. When [`JournalEvent::must_last`] says so, the event
/// and all before it are on the disk before `append` answers; others may be written a little later.
/// Entries hold what the person and the model wrote: keep them where only the person can read.
pub trait Journal: Send + Sync {
    /// Writes one event at the end, and gives its number.
    ///
    /// # Errors
    ///
    /// [`AgentError::NotRecorded`] if it could not be written. The run then ends without acting (W-124).
    fn append(&self, event: JournalEvent) -> BoxFuture<'_, Result<Sequence, AgentError>>;
}

/// One entry: an event with its place in the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Its number: 1 for the first, one more for each.
    pub sequence: Sequence,
    /// What happened.
    pub event: JournalEvent,
}

/// What happened in a conversation.
///
/// As JSON each is an object with its `kind`. Fields are only ever added, with a default, so that what
/// an earlier version wrote stays readable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JournalEvent {
    /// A run begins with a message of the person.
    Person {
        /// The run.
        run: RunId,
        /// Their words.
        text: String,
    },
    /// A run that was cut off goes on in another process.
    Resumed {
        /// The run.
        run: RunId,
    },
    /// What the model wrote down before it began, or a plan that was agreed on.
    Plan {
        /// The plan as the model was told it.
        text: String,
    },
    /// An answer of the model, whole.
    Reply {
        /// What it said.
        text: String,
        /// What it wants done.
        calls: Vec<ToolCall>,
        /// What its provider wants back with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<Kept>,
    },
    /// A remark of the loop to the model.
    Remark {
        /// The remark.
        text: String,
    },
    /// A call is about to be made. For an act this is on the disk before the tool hears of it.
    StepBegun {
        /// The step, counted from 1 in its run.
        step: u32,
        /// The call's id in the reply.
        call: String,
        /// The tool.
        tool: String,
        /// The arguments as the person may see them: secrets taken out.
        arguments: String,
        /// Role and name of the element, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        element: Option<String>,
        /// Whether it may change something.
        acts: bool,
        /// What it would send for good (W-122).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commitment: Option<Commitment>,
    },
    /// A call ended.
    StepEnded(Box<StepEnded>),
    /// A call of the reply was not begun, and the model was told why.
    StepSkipped {
        /// The call's id in the reply.
        call: String,
        /// What the model was told.
        text: String,
    },
    /// The person corrects the run. Acknowledged to them only once this is on the disk (W-081).
    CorrectionQueued {
        /// Its id, never used again in the conversation.
        correction: CorrectionId,
        /// The only run that it may reach (W-073).
        run: RunId,
        /// Their words.
        text: String,
    },
    /// A correction entered the conversation (W-082).
    CorrectionApplied {
        /// Which.
        correction: CorrectionId,
        /// The task's revision from here on (W-090).
        revision: Revision,
    },
    /// A correction that its run never took in: it is the head of the queue now (W-076).
    CorrectionReturned {
        /// Which.
        correction: CorrectionId,
        /// The message that it became.
        message: MessageId,
        /// Whether it waits until the person says so (W-078, W-083).
        paused: bool,
    },
    /// The person wrote a message for after the run.
    MessageQueued {
        /// Its id.
        message: MessageId,
        /// Their words.
        text: String,
    },
    /// The person changed or held a message that waits.
    MessageChanged {
        /// Which.
        message: MessageId,
        /// Their words now.
        text: String,
        /// Whether it waits until the person says so.
        paused: bool,
    },
    /// A message left the queue: a run began with it, or the person deleted it.
    MessageGone {
        /// Which.
        message: MessageId,
    },
    /// Older parts of the conversation were left out of what the model is sent (W-701).
    Compaction {
        /// What stands for them; empty if nothing does.
        summary: String,
        /// How many of the newest entries of the conversation stayed as they were.
        kept: usize,
    },
    /// The run is over.
    End {
        /// Which.
        run: RunId,
        /// `done`, `stopped`, `step_limit` or the code of a failure.
        how: String,
        /// What the model said at the end, or what is left to do.
        text: String,
    },
}

/// How a call ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepEnded {
    /// The step, counted from 1 in its run.
    pub step: u32,
    /// The call's id in the reply.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// `completed`, `refused` or `unknown`.
    pub outcome: String,
    /// Whether it did what it was meant to do.
    pub worked: bool,
    /// Whether the act changed the page, if that is known.
    #[serde(default)]
    pub changed: Option<bool>,
    /// Whether the person was asked, and agreed.
    #[serde(default)]
    pub approved: Option<bool>,
    /// The model's next step on its list, told with the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
    /// What the model was told, without the page.
    pub text: String,
    /// The page that was shown with it, inside the untrusted wrapper. For screens and exports only: a run
    /// that goes on looks afresh, so a journal that must stay small may leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// How long it took, in milliseconds.
    #[serde(default)]
    pub took_ms: u64,
}

impl JournalEvent {
    /// Its kind, as its JSON says it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Person { .. } => "person",
            Self::Resumed { .. } => "resumed",
            Self::Plan { .. } => "plan",
            Self::Reply { .. } => "reply",
            Self::Remark { .. } => "remark",
            Self::StepBegun { .. } => "step_begun",
            Self::StepEnded(_) => "step_ended",
            Self::StepSkipped { .. } => "step_skipped",
            Self::CorrectionQueued { .. } => "correction_queued",
            Self::CorrectionApplied { .. } => "correction_applied",
            Self::CorrectionReturned { .. } => "correction_returned",
            Self::MessageQueued { .. } => "message_queued",
            Self::MessageChanged { .. } => "message_changed",
            Self::MessageGone { .. } => "message_gone",
            Self::Compaction { .. } => "compaction",
            Self::End { .. } => "end",
        }
    }

    /// Whether it must be on the disk before the run goes on: what the person said, an act that is
    /// about to be sent, and an end. What was lost of the rest is found out by looking again.
    pub fn must_last(&self) -> bool {
        match self {
            Self::StepBegun { acts, .. } => *acts,
            Self::Plan { .. }
            | Self::Reply { .. }
            | Self::Remark { .. }
            | Self::StepEnded(_)
            | Self::StepSkipped { .. }
            | Self::Compaction { .. } => false,
            Self::Person { .. }
            | Self::Resumed { .. }
            | Self::CorrectionQueued { .. }
            | Self::CorrectionApplied { .. }
            | Self::CorrectionReturned { .. }
            | Self::MessageQueued { .. }
            | Self::MessageChanged { .. }
            | Self::MessageGone { .. }
            | Self::End { .. } => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_objects_with_their_kind_and_come_back_as_they_were() {
        let call = ToolCall {
            id: "c1".to_owned(),
            name: "click".to_owned(),
            arguments: "{\"ref\":\"e1\"}".to_owned(),
            kept: Vec::new(),
        };
        let ended = StepEnded { step: 1, call: "c1".to_owned(), ..StepEnded::default() };
        for event in [
            JournalEvent::Person { run: RunId(1), text: "buy it".to_owned() },
            JournalEvent::Reply { text: String::new(), calls: vec![call], kept: Vec::new() },
            JournalEvent::StepEnded(Box::new(ended)),
            JournalEvent::CorrectionApplied { correction: CorrectionId(7), revision: Revision(1) },
            JournalEvent::End { run: RunId(1), how: "done".to_owned(), text: "Bought.".to_owned() },
        ] {
            let entry = JournalEntry { sequence: Sequence(3), event };
            let json = serde_json::to_value(&entry).expect("json");
            assert_eq!(json["event"]["kind"], entry.event.kind());
            assert_eq!(serde_json::from_value::<JournalEntry>(json).expect("back"), entry);
        }
    }

    /// W-081: what the person said, and an act before it is sent, must be on the disk.
    #[test]
    fn w081_what_must_last_is_said() {
        let begun = |acts| JournalEvent::StepBegun {
            step: 1,
            call: "c".to_owned(),
            tool: "click".to_owned(),
            arguments: "{}".to_owned(),
            element: None,
            acts,
            commitment: None,
        };
        assert!(begun(true).must_last() && !begun(false).must_last());
        assert!(!JournalEvent::Remark { text: "look".to_owned() }.must_last());
    }
}
