//! What a long task keeps in mind outside the conversation: notes, and a list of things with what became
//! of each (W-238, W-485, W-487).

use crate::not_done::NotDone;
use crate::text::plain_line;
use crate::toolbox::AgentTool;
use serde_json::{Value, json};
use std::fmt::Write;

/// All notes together. They go into each request, so they stay short.
const NOTES_CHARS: usize = 4_000;

/// One note.
const NOTE_CHARS: usize = 600;

/// Things on a list. A longer one costs more in each request than it helps.
pub(crate) const ITEMS: usize = 60;

/// One thing.
pub(crate) const ITEM_CHARS: usize = 120;

/// The tool that writes a note.
pub(crate) const NOTE: &str = "note";

/// The tool that says what became of a thing.
pub(crate) const PROGRESS: &str = "progress";

/// What became of a thing on the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing yet.
    Open,
    /// It is done, and a step that worked belongs to it.
    Done,
    /// It was tried and cannot be done.
    Failed,
    /// It is left out for a reason.
    Skipped,
}

impl Progress {
    fn of(word: &str) -> Option<Self> {
        match word {
            "done" => Some(Self::Done),
            "failed" => Some(Self::Failed),
            "skipped" => Some(Self::Skipped),
            _ => None,
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Open => "[ ]",
            Self::Done => "[x]",
            Self::Failed => "[!]",
            Self::Skipped => "[-]",
        }
    }
}

#[derive(Clone, Debug)]
struct Row {
    item: String,
    progress: Progress,
}

/// Notes and list of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    notes: Option<Vec<String>>,
    rows: Vec<Row>,
    /// Acts that worked and belong to no thing yet.
    worked: u32,
}

impl Memory {
    /// A memory for notes, with a list if there are things.
    pub(crate) fn new(items: &[String]) -> Self {
        let mut rows: Vec<Row> = Vec::new();
        for item in items.iter().take(ITEMS) {
            let item = plain_line(item, ITEM_CHARS);
            if !item.is_empty() && !rows.iter().any(|row| same(&row.item, &item)) {
                rows.push(Row { item, progress: Progress::Open });
            }
        }
        Self { notes: Some(Vec::new()), rows, worked: 0 }
    }

    /// The tools for it; none if nothing is to be kept in mind.
    pub(crate) fn tools(&self) -> Vec<AgentTool> {
        let mut tools = Vec::new();
        if self.notes.is_some() {
            tools.push(AgentTool {
                name: NOTE.to_owned(),
                description: "Write down a fact that is needed later, in one line.".to_owned(),
                schema: json!({
                    "type": "object",
                    "properties": {"text": {"type": "string"}},
                    "required": ["text"],
                }),
                acts: false,
            });
        }
        if !self.rows.is_empty() {
            tools.push(AgentTool {
                name: PROGRESS.to_owned(),
                description: "Say what became of one thing on the list, right after it.".to_owned(),
                schema: json!({
                    "type": "object",
                    "properties": {
                        "item": {"type": "string", "description": "As it stands on the list"},
                        "status": {"type": "string", "enum": ["done", "failed", "skipped"]},
                    },
                    "required": ["item", "status"],
                }),
                acts: false,
            });
        }
        tools
    }

    /// An act worked.
    pub(crate) fn acted(&mut self) {
        self.worked += 1;
    }

    /// Writes a note. The sentence is for the model.
    pub(crate) fn note(&mut self, arguments: &Value) -> Result<String, NotDone> {
        let text = plain_line(arguments["text"].as_str().unwrap_or_default(), NOTE_CHARS);
        let Some(notes) = self.notes.as_mut().filter(|_| !text.is_empty()) else {
            return Err("Not done: there is nothing to write down.".into());
        };
        let length: usize = notes.iter().map(|note| note.chars().count()).sum();
        if length + text.chars().count() > NOTES_CHARS {
            return Err("Not done: the notes are full. Go on with what is there.".into());
        }
        notes.push(text);
        Ok("Noted.".to_owned())
    }

    /// Takes what became of a thing. Things that are not on the list do not count (W-241), and nothing
    /// is done without a step that worked (W-487).
    pub(crate) fn progress(&mut self, arguments: &Value) -> Result<String, NotDone> {
        let item = arguments["item"].as_str().unwrap_or_default();
        let status = arguments["status"].as_str().unwrap_or_default();
        let Some(progress) = Progress::of(status) else {
            return Err("Not done: the status is done, failed or skipped.".into());
        };
        let Some(row) = self.rows.iter_mut().find(|row| same(&row.item, item)) else {
            return Err(format!("Not done: that is not on the list.\n{}", self.list()).into());
        };
        if progress == Progress::Done && row.progress != Progress::Done {
            if self.worked == 0 {
                return Err("Not done: no step worked for it since the last one.".into());
            }
            self.worked = 0;
        }
        row.progress = progress;
        let open = self.open().len();
        Ok(if open == 0 { "All are told.".to_owned() } else { format!("{open} to go.") })
    }

    /// Things that nothing was told about.
    pub(crate) fn open(&self) -> Vec<&str> {
        self.with(Progress::Open)
    }

    /// Things that could not be done.
    pub(crate) fn failed(&self) -> Vec<&str> {
        self.with(Progress::Failed)
    }

    fn with(&self, progress: Progress) -> Vec<&str> {
        let rows = self.rows.iter().filter(|row| row.progress == progress);
        rows.map(|row| row.item.as_str()).collect()
    }

    fn list(&self) -> String {
        let rows = self.rows.iter().map(|row| format!("{} {}", row.progress.sign(), row.item));
        rows.collect::<Vec<_>>().join("\n")
    }

    /// What has to stay in the conversation however much of it is cut; `None` if there is nothing.
    pub(crate) fn pinned(&self) -> Option<String> {
        let mut text = String::new();
        // Writing to a string cannot fail.
        if !self.rows.is_empty() {
            let _ = writeln!(text, "List:\n{}", self.list());
        }
        for note in self.notes.iter().flatten() {
            let _ = writeln!(text, "Note: {note}");
        }
        (!text.is_empty()).then_some(text)
    }
}

/// White space and case do not make another thing.
fn same(a: &str, b: &str) -> bool {
    let plain = |text: &str| plain_line(text, ITEM_CHARS).to_lowercase();
    plain(a) == plain(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(memory: &mut Memory, item: &str, status: &str) -> Result<String, NotDone> {
        memory.progress(&json!({"item": item, "status": status}))
    }

    /// W-486: a list begins empty with its task, so no row is older than the task.
    #[test]
    fn w241_w487_rows_count_only_with_a_step_that_worked() {
        let mut memory = Memory::new(&["Alice".to_owned(), "Bob".to_owned(), "alice ".to_owned()]);
        assert_eq!(memory.open(), ["Alice", "Bob"]);
        assert!(told(&mut memory, "Alice", "done").is_err(), "nothing was done yet");
        memory.acted();
        assert_eq!(told(&mut memory, "alice", "done"), Ok("1 to go.".to_owned()));
        assert!(told(&mut memory, "Bob", "done").is_err(), "that step belonged to Alice");
        assert!(told(&mut memory, "Carol", "done").is_err(), "made up");
        assert!(told(&mut memory, "Bob", "finished").is_err(), "no synonyms");
        assert_eq!(told(&mut memory, "Bob", "failed"), Ok("All are told.".to_owned()));
        assert_eq!(memory.failed(), ["Bob"]);
        let pinned = memory.pinned().expect("a list");
        assert!(pinned.contains("[x] Alice\n[!] Bob"), "{pinned}");
    }

    /// W-361: notes of the model's own.
    #[test]
    fn notes_are_bounded_and_stay() {
        let mut memory = Memory::new(&[]);
        assert!(memory.pinned().is_none());
        assert_eq!(memory.tools().len(), 1, "no list, no tool for it");
        let long = json!({"text": "x".repeat(NOTE_CHARS)});
        while memory.note(&long).is_ok() {}
        let pinned = memory.pinned().expect("notes");
        assert!(pinned.len() < NOTES_CHARS + 200);
        assert!(Memory::default().tools().is_empty(), "W-238: without a memory there are no tools");
    }
}
