//! What was sent for good: a receipt for each submission, and the guard against sending one twice
//! (W-094…W-096, W-116, W-126).

use crate::error::CallError;
use crate::ids::Revision;
use crate::limits::DUPLICATE_WINDOW;
use crate::toolbox::ToolReply;
use reins_core::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

/// What an act would send for good, as the toolbox knows it before the act (W-116). Searches and
/// whatever else only changes the view send nothing in this sense (W-115).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commitment {
    /// Where it goes, exactly: for a form its method and address.
    pub target: String,
    /// The control that sends it: role and name. Page text.
    pub control: String,
}

/// The receipt of one submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The step that sent it; 0 if an earlier process did.
    pub step: u32,
    /// What and where to.
    pub commitment: Commitment,
    /// The revision of the task that it was sent for. Only those of the present one can prove that the
    /// task is done (W-096).
    pub revision: Revision,
    /// Whether the browser answered; else nobody knows whether it arrived.
    pub answered: bool,
}

impl Submission {
    /// Whether what was sent may have arrived: not if it was refused, and not if the page did not even
    /// react (W-122).
    pub(crate) fn may_have_arrived(reply: &ToolReply) -> bool {
        match reply.outcome {
            Outcome::Refused(_) => false,
            Outcome::Completed => !reply.failed && reply.changed != Some(false),
            Outcome::Unknown(_) => true,
        }
    }
}

#[derive(Debug)]
struct Sent {
    receipt: Submission,
    /// Equal for equal contents; `None` if nobody knows them any more.
    values: Option<u64>,
    /// `None` for what an earlier process sent.
    at: Option<Instant>,
    /// Whether a page was seen since.
    looked: bool,
    /// Whether the model was told that it repeats itself.
    warned: bool,
}

/// The submissions of a task.
#[derive(Debug, Default)]
pub(crate) struct Submissions {
    sent: Vec<Sent>,
    /// What was put into which field since the last submission, as hashes.
    fields: BTreeMap<String, u64>,
    revision: Revision,
}

impl Submissions {
    /// The receipts, oldest first.
    pub(crate) fn receipts(&self) -> Vec<Submission> {
        self.sent.iter().map(|sent| sent.receipt.clone()).collect()
    }

    /// The task was corrected. What was sent stays sent (W-095).
    pub(crate) fn correct(&mut self, revision: Revision) {
        self.revision = revision;
    }

    /// Takes over what an earlier process may have sent (W-126).
    pub(crate) fn restore(&mut self, commitment: Commitment, answered: bool) {
        let receipt = Submission { step: 0, commitment, revision: self.revision, answered };
        let looked = false;
        self.sent.push(Sent { receipt, values: None, at: None, looked, warned: false });
    }

    /// Whether this may be sent now. `own` is what the same call puts into a field first.
    pub(crate) fn check(
        &mut self,
        commitment: &Commitment,
        own: Option<&Filling>,
        now: Instant,
    ) -> Result<(), CallError> {
        let corrected = self.revision;
        let unseen = |sent: &&Sent| !sent.looked && sent.receipt.revision != corrected;
        if let Some(earlier) = self.sent.iter().find(unseen) {
            // What came of an earlier one has to be known before the corrected task sends anything.
            return Err(CallError::Reconcile { step: earlier.receipt.step });
        }
        let values = self.values(own);
        let same = |sent: &&mut Sent| {
            sent.receipt.commitment == *commitment && sent.values.is_none_or(|sent| sent == values)
        };
        let Some(sent) = self.sent.iter_mut().rev().find(same) else {
            return Ok(());
        };
        let step = sent.receipt.step;
        if !sent.looked {
            return Err(CallError::Reconcile { step });
        }
        let again_so_soon = match sent.at {
            Some(at) => now.duration_since(at) < DUPLICATE_WINDOW,
            None => true,
        };
        let other_task = sent.receipt.revision != self.revision;
        if (again_so_soon || other_task) && !sent.warned {
            sent.warned = true;
            return Err(CallError::AlreadySent { step });
        }
        Ok(())
    }

    /// Something was put into a field.
    pub(crate) fn filled(&mut self, filling: Filling) {
        self.fields.insert(filling.field, filling.value);
    }

    /// A submission ended. What was refused, and what the page did not even react to, was not sent
    /// (W-122).
    pub(crate) fn sent(
        &mut self,
        step: u32,
        commitment: Commitment,
        own: Option<&Filling>,
        (outcome, changed): (&Outcome, Option<bool>),
        now: Instant,
    ) {
        let answered = match outcome {
            Outcome::Refused(_) => return,
            Outcome::Completed if changed == Some(false) => return,
            Outcome::Completed => true,
            Outcome::Unknown(_) => false,
        };
        let receipt = Submission { step, commitment, revision: self.revision, answered };
        let values = Some(self.values(own));
        self.sent.push(Sent { receipt, values, at: Some(now), looked: false, warned: false });
        self.fields.clear();
    }

    /// A page was seen, and with it what came of everything before.
    pub(crate) fn looked(&mut self) {
        for sent in &mut self.sent {
            sent.looked = true;
        }
    }

    fn values(&self, own: Option<&Filling>) -> u64 {
        match own {
            None => hash(&self.fields),
            Some(own) => {
                let mut fields = self.fields.clone();
                fields.insert(own.field.clone(), own.value);
                hash(&fields)
            }
        }
    }
}

/// A field and what was put into it, as a hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Filling {
    field: String,
    value: u64,
}

impl Filling {
    /// What a call fills in, if it does. Calls about other things have no more than a ref.
    pub(crate) fn of(element: Option<&str>, arguments: &Value) -> Option<Self> {
        let mut values = arguments.as_object()?.clone();
        let reference = values.remove("ref");
        let field = element.or_else(|| reference.as_ref()?.as_str())?.to_owned();
        // Keys are pressed in a field, not put into it.
        values.remove("key");
        values.remove("submit");
        let value = hash(&Value::Object(values.clone()).to_string());
        // The same field has another ref once its page is loaded again.
        (!values.is_empty()).then_some(Self { field, value })
    }
}

fn hash(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reins_core::{Unknown, UnknownCause};
    use serde_json::json;
    use std::time::Duration;

    fn order() -> Commitment {
        Commitment {
            target: "post https://shop.example/order".to_owned(),
            control: "button \"Order\"".to_owned(),
        }
    }

    fn name(text: &str) -> Filling {
        Filling::of(Some("textbox \"Name\""), &json!({"ref": "e1", "text": text})).expect("filled")
    }

    /// W-116: Enter in a field sends what the same call put into it: other words are no repeat.
    #[test]
    fn w116_what_enter_sends_counts_with_its_own_words() {
        let typed = |text: &str| json!({"ref": "e1", "text": text, "submit": true});
        let field = Some("textbox \"Message\"");
        let own = |text: &str| Filling::of(field, &typed(text));
        assert_eq!(Filling::of(field, &json!({"ref": "e1", "key": "Enter"})), None);
        let (mut submissions, now) = (Submissions::default(), Instant::now());
        let first = own("hello");
        assert_eq!(submissions.check(&order(), first.as_ref(), now), Ok(()));
        let done = (&Outcome::Completed, Some(true));
        submissions.sent(1, order(), first.as_ref(), done, now);
        submissions.looked();
        let again = submissions.check(&order(), own("hello").as_ref(), now);
        assert_eq!(again, Err(CallError::AlreadySent { step: 1 }));
        assert_eq!(submissions.check(&order(), own("bye").as_ref(), now), Ok(()));
    }

    fn lost() -> Outcome {
        let cause = UnknownCause::ConnectionLost;
        Outcome::Unknown(Unknown { cause, message: "gone".to_owned() })
    }

    /// W-116, W-X02: the same values are not sent again within 45 s, unless the model insists after it
    /// was told and saw what came of the first.
    #[test]
    fn w116_the_same_form_with_the_same_values_is_not_sent_twice() {
        let (mut submissions, now) = (Submissions::default(), Instant::now());
        submissions.filled(name("kim"));
        assert_eq!(submissions.check(&order(), None, now), Ok(()));
        submissions.sent(3, order(), None, (&Outcome::Completed, Some(true)), now);
        submissions.filled(name("kim"));
        assert_eq!(submissions.check(&order(), None, now), Err(CallError::Reconcile { step: 3 }));
        submissions.looked();
        assert_eq!(submissions.check(&order(), None, now), Err(CallError::AlreadySent { step: 3 }));
        assert_eq!(submissions.check(&order(), None, now), Ok(()), "two were asked for");
        submissions.filled(name("lee"));
        assert_eq!(submissions.check(&order(), None, now), Ok(()), "other values");
        let later = now + DUPLICATE_WINDOW + Duration::from_secs(1);
        assert_eq!(submissions.check(&order(), None, later), Ok(()));
    }

    /// W-122: what was refused or rejected by the page was not sent; what nobody knows counts as sent.
    #[test]
    fn w122_only_what_may_have_arrived_is_a_submission() {
        let (mut submissions, now) = (Submissions::default(), Instant::now());
        submissions.sent(1, order(), None, (&Outcome::Completed, Some(false)), now);
        assert!(submissions.receipts().is_empty());
        submissions.sent(2, order(), None, (&lost(), None), now);
        let receipts = submissions.receipts();
        assert_eq!((receipts.len(), receipts[0].answered), (1, false));
    }

    /// W-095, W-096: a correction is no permission to send again, and earlier receipts stay.
    /// W-119, W-125, W-128: the receipts stay through a correction, a look settles what came of
    /// them, and only then another place may be sent to.
    #[test]
    fn w095_after_a_correction_what_was_sent_is_reconciled_first() {
        let (mut submissions, now) = (Submissions::default(), Instant::now());
        submissions.sent(2, order(), None, (&Outcome::Completed, Some(true)), now);
        submissions.correct(Revision(1));
        let other = Commitment { target: "post https://shop.example/pay".to_owned(), ..order() };
        let later = now + DUPLICATE_WINDOW * 2;
        assert_eq!(submissions.check(&other, None, later), Err(CallError::Reconcile { step: 2 }));
        submissions.looked();
        assert_eq!(submissions.check(&other, None, later), Ok(()));
        assert_eq!(
            submissions.check(&order(), None, later),
            Err(CallError::AlreadySent { step: 2 })
        );
        assert_eq!(submissions.receipts()[0].revision, Revision(0));
    }

    /// W-126: after a restart nobody knows what was in the form, so any of the same kind is a repeat.
    /// W-127: with a record that is not whole it stops once and says so.
    #[test]
    fn w126_what_an_earlier_process_sent_is_looked_at_first() {
        let (mut submissions, now) = (Submissions::default(), Instant::now());
        submissions.restore(order(), false);
        submissions.filled(name("other"));
        assert_eq!(submissions.check(&order(), None, now), Err(CallError::Reconcile { step: 0 }));
        submissions.looked();
        assert_eq!(submissions.check(&order(), None, now), Err(CallError::AlreadySent { step: 0 }));
    }
}
