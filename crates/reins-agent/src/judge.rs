//! Whether an answer says more than was seen (W-489).
//!
//! What can be told for sure is told without a model. What then remains is a closed question, whose
//! subject is the person's task; answer and results are data.

use crate::evidence::Evidence;
use crate::limits::{SEEN_BYTES, WORDS_BYTES};
use crate::questions::{
    Claim, NoAnswer, Questions, Slot, StatusMessage, Subject, Summary, Who, slot, typed,
};
use tokio_util::sync::CancellationToken;

/// An answer of words about reading is only then put to a question if it is so short that it may hold
/// nothing (W-489).
const SHORT_ANSWER: usize = 160;

/// The answer as a question shows it.
const ANSWER_BYTES: usize = 2_000;

/// Whether answers are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JudgeSetting {
    /// Not at all.
    #[default]
    Off,
    /// By what can be told without a model.
    Checks,
    /// By a closed question, too.
    Ask,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judged {
    /// It stands.
    Stands,
    /// It stands because nobody could say that it does not.
    Unchecked(NoAnswerWord),
    /// It says itself that the task is not done.
    Admits,
    /// It says more than was seen.
    Doubted(Doubt),
}

/// Why a question about an answer was not answered, in a word.
pub(crate) type NoAnswerWord = &'static str;

/// Why an answer does not stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doubt {
    /// How the run ends if nothing better comes.
    pub(crate) code: &'static str,
    /// What happened, for the person.
    pub(crate) message: String,
    /// What the model is told, once.
    pub(crate) remark: String,
}

const NOT_VERIFIED: &str = "not_verified";
const PARTLY_DONE: &str = "partly_done";
const NO_RESULT: &str = "no_result";

/// What a model is told with every doubt.
const AGAIN: &str = "Look at the page and do what is missing, or answer again and say plainly what is \
not done or not known.";

fn doubt(code: &'static str, message: String) -> Judged {
    let remark = format!("Your answer cannot stand: {message}. {AGAIN}");
    Judged::Doubted(Doubt { code, message, remark })
}

/// What can be told for sure.
pub(crate) fn check(
    answer: &str,
    evidence: &Evidence,
    open: &[String],
    failed: &[String],
) -> Option<Judged> {
    if let Some(step) = evidence.unsettled() {
        let message = format!(
            "nobody knows whether a step happened, and nothing was looked at since ({step})"
        );
        return Some(doubt(NOT_VERIFIED, message));
    }
    let wrong = evidence.messages().wrong();
    if !wrong.is_empty() {
        let message = format!("the page marks what was sent as wrong: {}", wrong.join("; "));
        return Some(doubt(NOT_VERIFIED, message));
    }
    if !open.is_empty() {
        let message = format!(
            "nothing was told about {} on the list: {}",
            count(open.len()),
            open.join("; ")
        );
        return Some(doubt(PARTLY_DONE, message));
    }
    if !failed.is_empty() {
        let message =
            format!("{} on the list could not be done: {}", count(failed.len()), failed.join("; "));
        return Some(doubt(PARTLY_DONE, message));
    }
    if evidence.is_without_effect() {
        let message = "no step changed anything that could be seen".to_owned();
        return Some(doubt(NOT_VERIFIED, message));
    }
    let unseen = evidence.unseen_numbers(answer);
    if !unseen.is_empty() {
        let message = format!("no page and no result shows {}", unseen.join(" or "));
        return Some(doubt(NOT_VERIFIED, message));
    }
    None
}

fn count(number: usize) -> String {
    if number == 1 { "one thing".to_owned() } else { format!("{number} things") }
}

/// What only someone who understands the words can tell.
pub(crate) async fn ask(
    answer: &str,
    task: &str,
    evidence: &str,
    acted: bool,
    messages: &[String],
    questions: &Questions,
    cancel: &CancellationToken,
) -> Judged {
    if !acted {
        return only_read(answer, task, questions, cancel).await;
    }
    let success = match reported(messages, questions, cancel).await {
        Reported::Error(judged) => return judged,
        Reported::Success => true,
        Reported::Nothing => false,
    };
    let subject = Subject::new()
        .words("The person asked", task, WORDS_BYTES)
        .seen("The results", evidence, SEEN_BYTES)
        .said("The answer", answer, ANSWER_BYTES);
    match questions.ask::<Claim>(&subject, None, Who::Anyone, cancel).await {
        Ok(sure) => match sure.value {
            Claim::Shown => Judged::Stands,
            Claim::Admits => Judged::Admits,
            Claim::PartlyShown => {
                doubt(PARTLY_DONE, "the results show only a part of what it says".to_owned())
            }
            Claim::NotShown => doubt(NOT_VERIFIED, "no result shows what it says".to_owned()),
            Claim::Contradicted => {
                doubt(NOT_VERIFIED, "the results show something else than it says".to_owned())
            }
        },
        // The page itself says that it worked (W-494).
        Err(_) if success => Judged::Stands,
        Err(none) => Judged::Unchecked(none.word()),
    }
}

/// What the messages of pages say.
enum Reported {
    Nothing,
    Success,
    Error(Judged),
}

/// What the page's own messages since the submission say: an error that stands is no success, whatever
/// is claimed (W-494). Messages that nobody could read prove nothing.
async fn reported(
    messages: &[String],
    questions: &Questions,
    cancel: &CancellationToken,
) -> Reported {
    let slots: Vec<Slot> =
        messages.iter().map(|message| slot::<StatusMessage>(Some(message))).collect();
    if slots.is_empty() {
        return Reported::Nothing;
    }
    let subject = Subject::new();
    let read = questions.ask_all(&subject, &slots, Who::Anyone, None, cancel).await;
    let read: Vec<Option<StatusMessage>> = read
        .into_iter()
        .map(|answer| typed::<StatusMessage>(answer.ok()?).ok().map(|sure| sure.value))
        .collect();
    let error = messages.iter().zip(&read).find(|(_, it)| **it == Some(StatusMessage::Error));
    if let Some((message, _)) = error {
        let message = format!("the page says: \"{message}\"");
        return Reported::Error(doubt(NOT_VERIFIED, message));
    }
    match read.contains(&Some(StatusMessage::Success)) {
        true => Reported::Success,
        false => Reported::Nothing,
    }
}

/// An answer of a run that only read: whether there is a result in it.
async fn only_read(
    answer: &str,
    task: &str,
    questions: &Questions,
    cancel: &CancellationToken,
) -> Judged {
    let structured = answer.contains(['\n', ':']) || answer.chars().any(|c| c.is_ascii_digit());
    if structured || answer.chars().count() > SHORT_ANSWER {
        return Judged::Stands;
    }
    let subject = Subject::new().words("The person asked", task, WORDS_BYTES).said(
        "The answer",
        answer,
        ANSWER_BYTES,
    );
    match questions.ask::<Summary>(&subject, None, Who::Anyone, cancel).await {
        Ok(sure) => match sure.value {
            Summary::Result => Judged::Stands,
            Summary::Claim => {
                doubt(NO_RESULT, "it says that there is an answer and does not give it".to_owned())
            }
            Summary::Intention => {
                doubt(NO_RESULT, "it says what will be done instead of what was done".to_owned())
            }
        },
        Err(NoAnswer::Nobody) => Judged::Stands,
        Err(none) => Judged::Unchecked(none.word()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolbox::{StepLabel, ToolReply};
    use reins_core::{Outcome, Unknown, UnknownCause};

    fn after(replies: &[(bool, ToolReply)]) -> Evidence {
        let mut evidence = Evidence::default();
        for (acts, reply) in replies {
            evidence.push("click", &StepLabel::default(), *acts, reply);
        }
        evidence
    }

    fn code(judged: Option<Judged>) -> Option<&'static str> {
        match judged {
            Some(Judged::Doubted(doubt)) => Some(doubt.code),
            _ => None,
        }
    }

    fn unknown() -> ToolReply {
        let unknown = Unknown { cause: UnknownCause::Deadline, message: "no answer".to_owned() };
        ToolReply { outcome: Outcome::Unknown(unknown), ..ToolReply::text("") }
    }

    #[test]
    fn w489_what_nobody_looked_at_is_not_verified() {
        let worked = || (true, ToolReply::text("clicked"));
        let checked = |evidence: &Evidence| code(check("Done.", evidence, &[], &[]));
        assert_eq!(checked(&after(&[worked()])), None);
        assert_eq!(checked(&after(&[worked(), (true, unknown())])), Some("not_verified"));
        let looked = after(&[(true, unknown()), (false, ToolReply::text("page"))]);
        assert_eq!(checked(&looked), None);
        let still = ToolReply { changed: Some(false), ..ToolReply::text("clicked") };
        assert_eq!(checked(&after(&[(true, still.clone())])), Some("not_verified"));
        assert_eq!(checked(&after(&[(true, still), worked()])), None);
    }

    #[test]
    fn what_is_open_on_the_list_makes_a_part() {
        let evidence = after(&[(true, ToolReply::text("clicked"))]);
        let open = ["Bob".to_owned()];
        assert_eq!(code(check("All done.", &evidence, &open, &[])), Some("partly_done"));
        assert_eq!(code(check("All done.", &evidence, &[], &open)), Some("partly_done"));
    }

    #[test]
    fn a_number_that_nobody_saw_is_not_verified() {
        let evidence = after(&[(true, ToolReply::text("ordered: 4711998"))]);
        assert_eq!(code(check("Order 4711998.", &evidence, &[], &[])), None);
        assert_eq!(code(check("Order 8841203.", &evidence, &[], &[])), Some("not_verified"));
    }
}
