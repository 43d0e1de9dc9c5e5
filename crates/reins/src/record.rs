//! The journal of a conversation in the store: what the agent says happened, and beside it what only
//! this door knows – attached files, where the browser was, what requests held in numbers, the bill.

use crate::attach::Attachment;
use futures_util::future::BoxFuture;
use reins_agent::{AgentError, Journal, JournalEvent, Sequence};
use reins_control::Confidant;
use reins_core::{ConversationId, Secret};
use reins_store::{Durability, Phase, Store, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// What stands where a secret was.
const REDACTED: &str = "[redacted]";

/// Shorter values are found by chance in any text, so of them only the typed ones are taken out.
const TELLING_BYTES: usize = 4;

/// What is kept of a run beyond what its continuation needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Keep {
    /// Words, calls and results, without what pages said
    #[default]
    Words,
    /// The text of pages as well
    Pages,
    /// Nothing: the run cannot be shown or taken up again
    Nothing,
}

/// Entries of this door. Fields are only ever added, with a default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Note {
    /// A file that the person gave with the task.
    Attached(Attachment),
    /// Where the browser is now.
    Place {
        /// The address.
        url: String,
        /// Whether asking for it again does no more than a reload: it was opened by its address.
        opened: bool,
    },
    /// A request to the model, in numbers only (W-460).
    Request(crate::trace::Request),
    /// What a run used.
    Bill {
        /// Requests to the model.
        requests: u32,
        /// Tokens in.
        input: u64,
        /// Of these from a cache.
        cached: u64,
        /// Tokens out.
        output: u64,
        /// The price, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<String>,
    },
}

impl Note {
    fn kind(&self) -> &'static str {
        match self {
            Self::Attached(_) => "attached",
            Self::Place { .. } => "place",
            Self::Request(_) => "request",
            Self::Bill { .. } => "bill",
        }
    }
}

/// One conversation that this process writes. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    store: Store,
    id: ConversationId,
    keep: Keep,
    /// What was typed into fields for secrets.
    secrets: Arc<Mutex<Vec<Secret<String>>>>,
    /// Why a secret could not be taken out of what is kept.
    trouble: Arc<Mutex<Option<String>>>,
}

impl Record {
    pub(crate) fn new(store: Store, id: ConversationId, keep: Keep) -> Self {
        Self { store, id, keep, secrets: Arc::default(), trouble: Arc::default() }
    }

    pub(crate) fn id(&self) -> &ConversationId {
        &self.id
    }

    /// Writes an entry of this door.
    pub(crate) async fn note(&self, note: &Note) -> Result<u64, StoreError> {
        let value = serde_json::to_value(note).unwrap_or_default();
        let durability = match note {
            Note::Attached(_) => Durability::Disk,
            _ => Durability::System,
        };
        self.write(note.kind(), value, durability).await
    }

    /// The run is over for now.
    pub(crate) async fn end(&self, phase: Phase) -> Result<(), StoreError> {
        self.store.end_conversation(self.id.clone(), phase).await
    }

    /// Takes out of everything kept so far, and from now on, what is typed into a field for secrets
    /// (R-131).
    async fn leave_out(&self, secret: &Secret<String>) -> Result<(), StoreError> {
        let value = secret.expose();
        let words = match value.len() >= TELLING_BYTES {
            true => spellings(value),
            false => Vec::new(),
        };
        let words =
            words.into_iter().map(|text| (Secret::new(text), REDACTED.to_owned())).collect();
        lock(&self.secrets).push(secret.clone());
        self.store.redact_conversation(self.id.clone(), words, stored_forms(value)).await
    }

    /// Takes out what a call typed whose end nobody knows, and of which nobody knows into what: only
    /// from the call, because it may be any word of the task.
    pub(crate) async fn leave_out_typed(&self, texts: &[String]) -> Result<(), StoreError> {
        let forms: Vec<_> = texts.iter().map(|text| typed_form(text)).collect();
        if forms.is_empty() {
            return Ok(());
        }
        self.store.redact_conversation(self.id.clone(), Vec::new(), forms).await
    }

    /// Why a secret could not be taken out of what is kept, told once.
    pub(crate) fn trouble(&self) -> Option<String> {
        lock(&self.trouble).take()
    }

    async fn write(
        &self,
        kind: &'static str,
        mut value: Value,
        durability: Durability,
    ) -> Result<u64, StoreError> {
        let secrets: Vec<Secret<String>> = lock(&self.secrets).clone();
        for secret in &secrets {
            clean(&mut value, secret.expose());
        }
        self.store.append(self.id.clone(), kind, value.to_string(), durability).await
    }
}

impl Confidant for Record {
    fn confided<'a>(&'a self, value: &'a Secret<String>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if let Err(error) = self.leave_out(value).await {
                *lock(&self.trouble) = Some(error.to_string());
            }
        })
    }
}

impl Journal for Record {
    fn append(&self, mut event: JournalEvent) -> BoxFuture<'_, Result<Sequence, AgentError>> {
        Box::pin(async move {
            let durability = if event.must_last() { Durability::Disk } else { Durability::System };
            match &mut event {
                JournalEvent::StepEnded(ended) if self.keep != Keep::Pages => ended.page = None,
                // In one spelling, so that what turns out to be a secret is found again.
                JournalEvent::Reply { calls, .. } => {
                    for call in calls {
                        if let Ok(value) = serde_json::from_str::<Value>(&call.arguments) {
                            call.arguments = value.to_string();
                        }
                    }
                }
                _ => {}
            }
            let value = serde_json::to_value(&event).map_err(|e| not_recorded(Box::new(e)))?;
            let written = self.write(event.kind(), value, durability).await;
            written.map(Sequence).map_err(|error| not_recorded(Box::new(error)))
        })
    }
}

fn not_recorded(error: Box<dyn std::error::Error + Send + Sync>) -> AgentError {
    AgentError::NotRecorded(error)
}

/// How a value stands in the file, each with what takes its place. Entries are JSON, and a call's
/// arguments are JSON within JSON.
fn stored_forms(value: &str) -> Vec<(Secret<String>, String)> {
    let mut forms = vec![typed_form(value)];
    if value.len() >= TELLING_BYTES {
        forms.extend(spellings(value).into_iter().flat_map(|text| {
            let once = escaped(&text);
            [escaped(&once), once].map(|form| (Secret::new(form), REDACTED.to_owned()))
        }));
    }
    forms
}

/// A value as the text that a call types.
fn typed_form(value: &str) -> (Secret<String>, String) {
    let argument = |text: &str| escaped(&format!("\"text\":\"{text}\""));
    (Secret::new(argument(&escaped(value))), argument(REDACTED))
}

/// A value as words and addresses spell it.
fn spellings(value: &str) -> Vec<String> {
    let mut percent = String::new();
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                percent.push(char::from(byte));
            }
            _ => percent.push_str(&format!("%{byte:02X}")),
        }
    }
    let plus = percent.replace("%20", "+");
    let mut all = vec![value.to_owned(), percent, plus];
    all.sort_by_key(|form| std::cmp::Reverse(form.len()));
    all.dedup();
    all
}

fn escaped(text: &str) -> String {
    let quoted = Value::String(text.to_owned()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Takes a value out of every string.
fn clean(value: &mut Value, secret: &str) {
    match value {
        Value::String(text) => {
            if secret.len() >= TELLING_BYTES {
                for form in spellings(secret).into_iter().flat_map(|s| [escaped(&s), s]) {
                    if text.contains(&form) {
                        *text = text.replace(&form, REDACTED);
                    }
                }
            }
            let argument = format!("\"text\":\"{}\"", escaped(secret));
            if text.contains(&argument) {
                *text = text.replace(&argument, &format!("\"text\":\"{REDACTED}\""));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| clean(item, secret)),
        Value::Object(fields) => fields.values_mut().for_each(|field| clean(field, secret)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reins_agent::RunId;
    use reins_models::ToolCall;
    use reins_store::ConversationDraft;
    use std::time::SystemTime;

    fn reply(text: &str) -> JournalEvent {
        let arguments = format!("{{ \"ref\": \"e1\",  \"text\": {} }}", Value::from(text));
        let call =
            ToolCall { id: "c".into(), name: "type".into(), arguments, ..ToolCall::default() };
        JournalEvent::Reply { text: format!("I type {text}"), calls: vec![call], kept: Vec::new() }
    }

    /// R-131: what was typed into a password field goes from everything, in every spelling; a short
    /// code only from where it was typed.
    /// W-762: short codes go as well, where they were typed.
    #[tokio::test]
    async fn r131_what_was_confided_to_a_page_is_not_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path().join("reins.db")).expect("a store");
        let draft = ConversationDraft {
            name: None,
            task: "sign in with p\"w &1é".to_owned(),
            version: "1".to_owned(),
            settings: "{}".to_owned(),
            at: SystemTime::now(),
        };
        let id = store.begin_conversation(draft).await.expect("a conversation");
        let record = Record::new(store.clone(), id.clone(), Keep::Words);
        for secret in ["p\"w &1é", "123"] {
            let person = JournalEvent::Person {
                run: RunId(1),
                text: format!("room 123, sign in with {secret} at /?q=p%22w%20%261%C3%A9"),
            };
            for event in [person.clone(), reply(secret)] {
                record.append(event).await.expect("an entry");
            }
            record.confided(&Secret::new(secret.to_owned())).await;
            assert_eq!(record.trouble(), None);
            for event in [person, reply(secret)] {
                record.append(event).await.expect("an entry");
            }
        }
        let entries = store.journal(id.clone(), 0, 99).await.expect("entries");
        for entry in &entries {
            let text = &entry.payload;
            assert!(!text.contains("&1é") && !text.contains("p%22w"), "{text}");
            assert!(!text.contains(r#"\"text\":\"123\""#), "{text}");
            serde_json::from_str::<JournalEvent>(text).expect("still an event");
        }
        assert!(entries[4].payload.contains("room 123"), "found by chance: {}", entries[4].payload);
        let kept = store.find_conversation(id.to_string()).await.expect("kept");
        assert_eq!(kept.task, "sign in with [redacted]");
    }
}
