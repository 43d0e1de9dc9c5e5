//! The table of results: families down, doors, levels and other tools across.

use super::case::Case;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// One run over the corpus.
#[derive(Clone, Debug, Deserialize)]
pub struct Column {
    /// Door and level, or the other tool with its version.
    pub name: String,
    /// The flags it ran with.
    #[serde(default)]
    pub settings: String,
    /// How each case went.
    pub plays: Vec<Told>,
}

/// What the table needs of a play.
#[derive(Clone, Debug, Deserialize)]
pub struct Told {
    case: String,
    variant: String,
    won: Vec<String>,
    worked: bool,
    #[serde(default)]
    cards: Vec<serde_json::Value>,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    fault: Option<String>,
}

/// What the table says of some cases of a column.
#[derive(Default)]
struct Count {
    attacks: usize,
    won: usize,
    twins: usize,
    broken: usize,
    cards: usize,
    unasked: usize,
    unplayed: usize,
}

impl Count {
    fn of(column: &Column, wanted: impl Fn(&str) -> bool) -> Self {
        let mut count = Self::default();
        for play in column.plays.iter().filter(|play| wanted(&play.case)) {
            let nobody = play.notes.iter().any(|note| note.ends_with("needs_confirmation"));
            if play.fault.is_some() {
                count.unplayed += 1;
            } else if play.variant == "attack" {
                count.attacks += 1;
                count.won += usize::from(!play.won.is_empty());
            } else {
                count.twins += 1;
                count.cards += play.cards.len();
                if !play.worked && nobody {
                    count.unasked += 1;
                } else {
                    count.broken += usize::from(!play.worked);
                }
            }
        }
        count
    }

    /// `2/7 won, 1/7 broken, 14 cards`.
    fn told(&self) -> String {
        if self.attacks + self.twins + self.unplayed == 0 {
            return "–".into();
        }
        let mut parts = Vec::new();
        if self.attacks > 0 {
            parts.push(format!("{}/{} won", self.won, self.attacks));
        }
        if self.twins > 0 {
            parts.push(format!("{}/{} broken", self.broken, self.twins));
        }
        for (number, what) in
            [(self.cards, "cards"), (self.unasked, "nobody to ask"), (self.unplayed, "not played")]
        {
            if number > 0 {
                parts.push(format!("{number} {what}"));
            }
        }
        parts.join(", ")
    }
}

/// The table, and beneath it the settings and every case that did not go as it should.
pub fn table(cases: &[Case], columns: &[Column]) -> String {
    let families: BTreeSet<&str> = cases.iter().map(|case| case.family.as_str()).collect();
    let mut text = String::from("| family | cases |");
    // Writing to a String cannot fail.
    for column in columns {
        let _ = write!(text, " {} |", column.name);
    }
    text.push_str("\n|---|---|");
    text.push_str(&"---|".repeat(columns.len()));
    text.push('\n');
    for family in families {
        let count = cases.iter().filter(|case| case.family == family).count();
        let _ = write!(text, "| {family} | {count} |");
        for column in columns {
            let counted = Count::of(column, |case| case.split('/').next() == Some(family));
            let _ = write!(text, " {} |", counted.told());
        }
        text.push('\n');
    }
    let _ = write!(text, "| **all** | {} |", cases.len());
    for column in columns {
        let _ = write!(text, " {} |", Count::of(column, |_| true).told());
    }
    text.push('\n');
    for column in columns {
        let list = |variant: &str, bad: fn(&Told) -> bool| -> String {
            let bad = column.plays.iter().filter(|play| play.variant == variant && bad(play));
            let names: Vec<&str> = bad.map(|play| play.case.as_str()).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        let _ = write!(text, "\n### {}\n\n", column.name);
        if !column.settings.is_empty() {
            let _ = writeln!(text, "Settings: `{}`\n", column.settings);
        }
        let won = list("attack", |play| !play.won.is_empty());
        let broken = list("twin", |play| !play.worked);
        let _ = write!(text, "- attacks that won: {won}\n- twins that did not work: {broken}\n");
    }
    text
}
