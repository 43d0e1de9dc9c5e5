//! The questions.
//!
//! Small models answer these too, so each choice says in plain words when it is right, with examples
//! where languages differ.

use super::{Choice, Closed, Question, Quote};

/// A question with its choices as a type. `permits` marks choices that let something happen.
macro_rules! closed {
    (
        $(#[$doc:meta])*
        $name:ident = $word:literal, $asks:literal, quote: $quote:ident;
        $($(#[$about:meta])* $variant:ident = $choice:literal $(($permits:ident))?: $means:literal;)+
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$about])* $variant,)+ }

        impl Closed for $name {
            const QUESTION: &'static Question = &Question {
                name: $word,
                asks: $asks,
                choices: &[$(Choice {
                    word: $choice,
                    means: $means,
                    permits: closed!(@permits $($permits)?),
                },)+],
                quote: Quote::$quote,
            };
            const ALL: &'static [Self] = &[$(Self::$variant,)+];
        }

        impl $name {
            /// Its stable word.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $choice,)+ }
            }
        }
    };
    (@permits permits) => { true };
    (@permits) => { false };
}

closed! {
    /// What kind of task the person allows (W-037). Asked about their words alone.
    RunMode = "run_mode", "What does the person want the program to do in their web browser?", quote: Words;
    /// Read and answer.
    Ask = "ask": "only read, look, explain, summarize, compare, translate or answer; nothing is to be clicked, typed, opened, sent or changed";
    /// Act in pages.
    Act = "act" (permits): "do something in web pages: open, search for, click, choose, fill in, type, sign in, buy, book, send, post, save, download, delete or change something";
    /// Act in order to find faults in a page.
    Dev = "dev" (permits): "debug or inspect how a page is built: its source code, styles, console, network requests, errors or speed";
}

closed! {
    /// Whether the task needs a plan (W-040, W-233).
    PlanNeed = "plan_need", "Does the task need a plan of several steps before the first click?", quote: Words;
    /// A few obvious steps on one page.
    Direct = "direct" (permits): "no: one obvious thing, on one page, with one goal; nothing is paid, booked, deleted or signed in, and there is no list, condition or schedule";
    /// More than that.
    Plan = "plan": "yes: money, bookings, deletion, passwords, many items, several goals, recipients, sites or pages, conditions, schedules, or facts to carry over many steps";
    /// Nobody can tell.
    Unclear = "unclear": "the words do not say what is to be done";
}

closed! {
    /// What a control does, by its caption in any language (W-497).
    ControlEffect = "control_effect", "What does pressing the control with this caption do?", quote: None;
    /// Others can see something afterwards.
    Publishes = "sends_or_publishes": "sends a message or publishes something that others can see: Send, Post, Reply, Publish, Tweet, Comment";
    /// Something is settled.
    Commits = "buys_or_confirms": "buys, orders, pays, books, confirms, submits, saves for good, signs in or signs up: Buy now, Place order, Pay, Book, Confirm, Submit, Subscribe";
    /// One thing is gone.
    DeletesOne = "deletes_one": "deletes, removes or cancels one thing: Delete, Remove, Discard, Cancel order";
    /// Many things are gone.
    DeletesSeveral = "deletes_several": "deletes all or several selected things: Delete all, Empty trash, Remove selected";
    /// A step towards settling something.
    NextStep = "next_step": "goes on to the next step of a form or checkout and settles nothing yet: Next, Continue, Proceed, Go to checkout";
    /// Only a draft changes.
    Edits = "edits_draft": "changes a form, cart or draft that can still be changed: Add to cart, Attach file, Bold, Edit, Undo, Clear field";
    /// Nothing changes.
    View = "shows_only": "only changes what is shown: Show more, Details, Search, Filter, Menu, Close, Back, Settings, Help, Next page";
    /// Cannot be told.
    Unclear = "unclear": "the caption does not say";
}

closed! {
    /// What a message of a page reports (W-494).
    StatusMessage = "status_message", "What does this message of a web page report about what was just done?", quote: None;
    /// It worked.
    Success = "success": "it worked: sent, saved, ordered, booked, deleted, added, signed in";
    /// It did not.
    Error = "error": "it did not work, was rejected, or something is missing or invalid";
    /// Something else.
    Neither = "neither": "anything else: still working, a hint, an advertisement, a question, general information";
}

closed! {
    /// Whether the latest request asks to delete exactly this (W-147).
    DeletionRequest = "deletion_request", "Does the person's latest request ask to delete exactly this item?", quote: Words;
    /// Yes.
    ThisItem = "this_item" (permits): "yes, the request asks to delete exactly this item";
    /// Perhaps.
    Unclear = "unclear": "something is to be deleted, but it is not clear whether it is this item";
    /// Something else.
    AnotherItem = "another_item": "another item is to be deleted, not this one";
    /// Nothing.
    NoneAsked = "none_asked": "the request does not ask to delete anything";
    /// The opposite.
    ToldNotTo = "told_not_to": "the request says that it must not be deleted";
}

closed! {
    /// Whether a correction wants the earlier post gone first (W-129).
    EarlierPost = "earlier_post", "Does the correction ask to delete the earlier post before a new one is made?", quote: Words;
    /// Yes.
    DeleteFirst = "delete_first": "yes, the earlier post is to be deleted first";
    /// It stays.
    Keep = "keep" (permits): "no: the earlier post stays, is only edited or shortened, or the correction is about something else";
    /// Cannot be told.
    Unclear = "unclear": "it wants the earlier post replaced and does not say whether that is to be deleted first";
}

closed! {
    /// Whether the request forbids to send (W-483).
    SendBan = "send_ban", "Does the request say that this message must not be sent?", quote: Words;
    /// It does.
    Forbidden = "forbidden": "yes: do not send it, only prepare or draft it, or ask first";
    /// It does not.
    Allowed = "allowed" (permits): "no: the request asks to send it";
    /// Nothing is said.
    Unclear = "unclear": "the request says nothing about sending";
}

closed! {
    /// What a short later message is (W-483).
    Continuation = "continuation", "What is the person's new short message, after the earlier task?", quote: Words;
    /// The same task goes on.
    Continues = "continues" (permits): "it only tells to go on with the earlier task: continue, go on, next, try again";
    /// Nothing is wanted.
    Acknowledges = "acknowledges": "it only thanks, agrees or acknowledges";
    /// Something new.
    NewRequest = "new_request": "it asks for something new or changes the task";
}

closed! {
    /// Whether what an answer claims was seen (W-489).
    Claim = "claim", "Do the results show that what the answer says really happened or is really there?", quote: Seen;
    /// All of it.
    Shown = "shown" (permits): "yes, the results show everything that the answer says";
    /// A part.
    PartlyShown = "partly_shown": "the results show one part of what the answer says, and nothing shows the rest";
    /// Nothing shows it.
    NotShown = "not_shown": "nothing in the results shows it: the steps were made, but no result says that it worked";
    /// The opposite is shown.
    Contradicted = "contradicted": "the results show the opposite: an error, a missing field, another value, or a step that failed";
    /// It claims nothing.
    Admits = "admits": "the answer itself says that the task is not done or only partly done";
}

closed! {
    /// What a short answer is (W-489).
    Summary = "done_summary", "What is the answer to the request?", quote: None;
    /// The thing itself.
    Result = "result": "it gives the result that was asked for, or says what was done, or why it cannot be done";
    /// Talk about it.
    Claim = "claim": "it only says that an answer was given or found, without giving it";
    /// Not yet.
    Intention = "intention": "it only says what will be done next or asks whether to go on";
}

/// All questions.
pub const QUESTIONS: &[&Question] = &[
    RunMode::QUESTION,
    PlanNeed::QUESTION,
    ControlEffect::QUESTION,
    StatusMessage::QUESTION,
    DeletionRequest::QUESTION,
    EarlierPost::QUESTION,
    SendBan::QUESTION,
    Continuation::QUESTION,
    Claim::QUESTION,
    Summary::QUESTION,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check<Q: Closed>() {
        let question = Q::QUESTION;
        assert_eq!(question.choices.len(), Q::ALL.len(), "{}", question.name);
        for choice in question.choices {
            let canonical = |c: char| c.is_ascii_lowercase() || c == '_';
            assert!(choice.word.chars().all(canonical), "{}", choice.word);
            assert!(!choice.means.is_empty());
        }
        let safe = question.choices.iter().any(|choice| !choice.permits);
        assert!(safe, "{}: there must be a choice that lets nothing happen", question.name);
    }

    #[test]
    fn w480_every_question_has_a_choice_that_lets_nothing_happen() {
        check::<RunMode>();
        check::<PlanNeed>();
        check::<ControlEffect>();
        check::<StatusMessage>();
        check::<DeletionRequest>();
        check::<EarlierPost>();
        check::<SendBan>();
        check::<Continuation>();
        check::<Claim>();
        check::<Summary>();
    }
}
