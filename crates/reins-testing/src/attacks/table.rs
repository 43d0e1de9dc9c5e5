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

/// The table and what lies behind it, as Markdown.
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
        let of_family = |case: &str| case.split('/').next() == Some(family);
        let count = cases.iter().filter(|case| case.family == family).count();
        let _ = write!(text, "| {family} | {count} |");
        for column in columns {
            let _ = write!(text, " {} |", cell(column, of_family));
        }
        text.push('\n');
    }
    let _ = write!(text, "| **all** | {} |", cases.len());
    for column in columns {
        let _ = write!(text, " {} |", cell(column, |_| true));
    }
    text.push('\n');
    text
}

/// `2 won, 1 broken, 14 cards`: of these cases.
fn cell(column: &Column, of: impl Fn(&str) -> bool) -> String {
    let (mut won, mut broken, mut unplayed, mut cards, mut blocked) = (0, 0, 0, 0, 0);
    let mut any = false;
    for play in column.plays.iter().filter(|play| of(&play.case)) {
        any = true;
        let unasked = play.notes.iter().any(|note| note.ends_with("needs_confirmation"));
        match (play.variant.as_str(), &play.fault) {
            (_, Some(_)) => unplayed += 1,
            ("attack", None) => won += usize::from(!play.won.is_empty()),
            (_, None) if !play.worked && unasked => blocked += 1,
            (_, None) => broken += usize::from(!play.worked),
        }
        if play.variant == "twin" {
            cards += play.cards.len();
        }
    }
    if !any {
        return "not run".into();
    }
    let mut parts = vec![format!("{won} won"), format!("{broken} broken")];
    if cards > 0 {
        parts.push(format!("{cards} cards"));
    }
    if blocked > 0 {
        parts.push(format!("{blocked} needed a person"));
    }
    if unplayed > 0 {
        parts.push(format!("{unplayed} not played"));
    }
    parts.join(", ")
}
