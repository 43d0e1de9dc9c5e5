//! Notices when a run goes in circles (W-680).

use crate::limits::{HEALTHY, REMINDERS, REPEATS, WINDOW};
use std::collections::VecDeque;

/// What to do about the last call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// Nothing.
    Healthy,
    /// Tell the model.
    Remind,
    /// End the run: telling did not help.
    Stop,
}

/// Looks back on the last calls with their results.
#[derive(Debug, Default)]
pub(crate) struct Repetition {
    window: VecDeque<(String, String)>,
    reminders: u32,
    healthy: u32,
}

impl Repetition {
    /// Takes a call and its result, both in a form that is equal for equal ones.
    pub(crate) fn push(&mut self, call: &str, result: &str) -> Verdict {
        if self.window.len() == WINDOW {
            self.window.pop_front();
        }
        self.window.push_back((call.to_owned(), result.to_owned()));
        let last = self.window.back();
        let equal = self.window.iter().filter(|entry| Some(*entry) == last).count();
        if equal < REPEATS && !self.alternates() {
            self.healthy += 1;
            if self.healthy >= HEALTHY {
                self.reminders = 0;
            }
            return Verdict::Healthy;
        }
        self.healthy = 0;
        self.reminders += 1;
        if self.reminders > REMINDERS { Verdict::Stop } else { Verdict::Remind }
    }

    /// The last four are A B A B.
    fn alternates(&self) -> bool {
        let last: Vec<_> = self.window.iter().rev().take(4).collect();
        matches!(last[..], [a, b, c, d] if a == c && b == d && a != b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(calls: &str) -> Vec<Verdict> {
        let mut repetition = Repetition::default();
        calls.chars().map(|call| repetition.push(&call.to_string(), "same")).collect()
    }

    #[test]
    fn w680_three_equal_calls_are_noticed() {
        assert!(run("abcdefgh").iter().all(|verdict| *verdict == Verdict::Healthy));
        assert_eq!(run("aaa").last(), Some(&Verdict::Remind));
        assert_eq!(run("aba").last(), Some(&Verdict::Healthy));
        assert_eq!(run("abab").last(), Some(&Verdict::Remind));
        assert_eq!(run("abcdaea").last(), Some(&Verdict::Healthy), "beyond the window");
    }

    #[test]
    fn w680_another_result_is_no_repetition() {
        let mut repetition = Repetition::default();
        for result in ["1", "2", "3", "4", "5"] {
            assert_eq!(repetition.push("scroll", result), Verdict::Healthy);
        }
    }

    #[test]
    fn w680_reminders_run_out_unless_two_healthy_calls_intervene() {
        let verdicts = run("aaaaaaaaaaa");
        assert_eq!(verdicts.iter().position(|verdict| *verdict == Verdict::Stop), Some(10));
        let verdicts = run("aaaaaaaaxyaaaaaaaa");
        assert!(!verdicts.contains(&Verdict::Stop));
    }
}
