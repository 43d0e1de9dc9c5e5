//! What the person wants of a run: their request and its corrections, in order (W-090).

use crate::ids::{Revision, RunId};

/// A task of the person as it stands: the request and every correction since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskAuthority {
    /// The run that it belongs to.
    pub run: RunId,
    request: String,
    corrections: Vec<String>,
}

impl TaskAuthority {
    /// A new task.
    pub fn new(run: RunId, request: impl Into<String>) -> Self {
        Self { run, request: request.into(), corrections: Vec::new() }
    }

    /// What the person asked for first.
    pub fn request(&self) -> &str {
        &self.request
    }

    /// What they said since, oldest first. The last one counts most (W-092).
    pub fn corrections(&self) -> &[String] {
        &self.corrections
    }

    /// How often the task was corrected.
    pub fn revision(&self) -> Revision {
        Revision(u32::try_from(self.corrections.len()).unwrap_or(u32::MAX))
    }

    /// The person's words alone, for questions about what they want. Never anything else's words.
    pub fn words(&self) -> String {
        let mut words = self.request.clone();
        for correction in &self.corrections {
            words.push_str("\n\n");
            words.push_str(correction);
        }
        words
    }

    pub(crate) fn correct(&mut self, text: impl Into<String>) -> Revision {
        self.corrections.push(text.into());
        self.revision()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w090_a_task_is_its_request_and_its_corrections_in_order() {
        let mut task = TaskAuthority::new(RunId(2), "buy the red one");
        assert_eq!((task.revision(), task.words().as_str()), (Revision(0), "buy the red one"));
        assert_eq!(task.correct("the blue one"), Revision(1));
        assert_eq!(task.correct("and two of them"), Revision(2));
        assert_eq!(task.words(), "buy the red one\n\nthe blue one\n\nand two of them");
    }
}
