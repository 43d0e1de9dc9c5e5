//! What a model said to a question.

use super::form::place;
use super::{Choice, NoAnswer, Question};
use reins_models::{Odds, Reply};
use serde_json::Value;
use std::ops::Range;

/// How sure a model counts that says nothing about it: enough for choices that let nothing happen.
const UNTOLD: f64 = crate::limits::PLAIN_CONFIDENCE;

/// What a model said, whether or not it counts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    pub(super) choice: &'static Choice,
    pub(super) quote: Option<String>,
    pub(super) confidence: f64,
}

/// The answer to the question at a place of `count`.
pub(super) fn answer(
    reply: &Reply,
    at: usize,
    count: usize,
    question: &'static Question,
) -> Result<Said, NoAnswer> {
    let value = object(&reply.text);
    let Some(value) = value else {
        // Small models without a grammar often say just the word.
        let choice = (count == 1).then(|| only_word(&reply.text, question)).flatten();
        let choice = choice.ok_or(NoAnswer::NotOffered)?;
        return Ok(Said { choice, quote: None, confidence: UNTOLD });
    };
    let place = place(at);
    let own = value.get(&place).or_else(|| (count == 1).then_some(&value));
    let own = own.ok_or(NoAnswer::NotOffered)?;
    let word = own.as_str().or_else(|| own.get("choice")?.as_str());
    let word = word.ok_or(NoAnswer::NotOffered)?.trim();
    let choice = question.choices.iter().find(|choice| choice.word == word);
    let choice = choice.ok_or(NoAnswer::NotOffered)?;
    let quote = own.get("because").and_then(Value::as_str).map(str::trim);
    let quote = quote.filter(|quote| !quote.is_empty()).map(str::to_owned);
    let told = own.get("sure").and_then(number);
    let place = (count > 1).then_some(place.as_str());
    let confidence = measured(&reply.odds, place, question).or(told).unwrap_or(UNTOLD);
    Ok(Said { choice, quote, confidence })
}

/// The JSON object in a text, whatever stands around it.
pub(crate) fn object(text: &str) -> Option<Value> {
    let (start, end) = (text.find('{')?, text.rfind('}')?);
    let value: Value = serde_json::from_str(text.get(start..=end)?).ok()?;
    value.is_object().then_some(value)
}

/// The one choice that a text without JSON names.
fn only_word(text: &str, question: &'static Question) -> Option<&'static Choice> {
    let text = text.trim().trim_matches(['"', '\'', '.', '*', '`']);
    question.choices.iter().find(|choice| choice.word == text)
}

/// From 0 to 1; some models write percents.
fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.trim().trim_end_matches('%').parse().ok()?,
        other => other.as_f64()?,
    };
    let number: f64 = if number > 1.0 { number / 100.0 } else { number };
    (0.0..=1.0).contains(&number).then_some(number)
}

/// How likely the model found the word that it chose, among the words that it could choose: at each
/// piece of the word, its share among the pieces that lead to one of the choices. What a model would
/// rather say that was not offered does not count: small ones have their own words for everything.
fn measured(odds: &[Odds], place: Option<&str>, question: &Question) -> Option<f64> {
    if odds.is_empty() {
        return None;
    }
    let text: String = odds.iter().map(|piece| piece.text.as_str()).collect();
    let from = match place {
        Some(place) => text.find(&format!("\"{place}\""))?,
        None => 0,
    };
    let word = value_of("choice", &text, from)?;
    let mut at = 0;
    let mut share = 1.0;
    for piece in odds {
        let (start, end) = (at, at + piece.text.len());
        at = end;
        // The piece with the mark that ends the word counts, too: it tells `publish` from `publishes`.
        if start < word.start || start > word.end {
            if start < word.start && end > word.start {
                share *= piece.log.exp();
            }
            continue;
        }
        let before = text.get(word.start..start)?;
        let chosen = piece.log.exp();
        let others = piece.others.iter().filter(|(other, _)| leads(before, other, question));
        let all: f64 = chosen + others.map(|(_, log)| log.exp()).sum::<f64>();
        share *= if all > 0.0 { chosen / all } else { 0.0 };
    }
    Some(share)
}

/// Whether a piece after the beginning of a word leads to one of the choices.
fn leads(before: &str, piece: &str, question: &Question) -> bool {
    let (inside, ends) = match piece.split_once('"') {
        Some((inside, _)) => (inside, true),
        None => (piece, false),
    };
    let word = format!("{before}{inside}");
    question.choices.iter().any(|choice| {
        if ends {
            choice.word == word
        } else {
            !inside.is_empty() && choice.word.starts_with(&word)
        }
    })
}

/// Where the text of a property stands.
fn value_of(key: &str, text: &str, from: usize) -> Option<Range<usize>> {
    let key = format!("\"{key}\"");
    // A quotation before it may hold the same word, but then its marks are escaped.
    let after = from + text.get(from..)?.find(&key)? + key.len();
    let colon = after + text.get(after..)?.find(':')? + 1;
    let start = colon + text.get(colon..)?.find('"')? + 1;
    let end = start + text.get(start..)?.find('"')?;
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::super::{Closed, RunMode};
    use super::*;

    fn reply(text: &str) -> Reply {
        Reply { text: text.to_owned(), ..Reply::default() }
    }

    fn said(text: &str) -> Result<(&'static str, f64), NoAnswer> {
        let said = answer(&reply(text), 0, 1, RunMode::QUESTION)?;
        Ok((said.choice.word, said.confidence))
    }

    #[test]
    fn answers_are_read_however_they_are_wrapped() {
        let sure = "{\"because\":\"buy\",\"choice\":\"act\",\"sure\":0.9}";
        assert_eq!(said(sure), Ok(("act", 0.9)));
        assert_eq!(said(&format!("Sure!\n```json\n{sure}\n```\n")), Ok(("act", 0.9)));
        assert_eq!(said("{\"choice\":\"act\",\"sure\":\"95%\"}"), Ok(("act", 0.95)));
        assert_eq!(said("{\"q01\":{\"choice\":\"ask\"}}"), Ok(("ask", UNTOLD)));
        assert_eq!(said("ask."), Ok(("ask", UNTOLD)));
    }

    /// W-482, W-492: synonyms and what was not offered are no answer.
    #[test]
    fn w482_what_is_not_offered_is_no_answer() {
        for text in [
            "",
            "{}",
            "{\"choice\":\"Act now\"}",
            "{\"choice\":3}",
            "do it",
            "{broken",
            "ask or act",
        ] {
            assert_eq!(said(text), Err(NoAnswer::NotOffered), "{text}");
        }
        assert_eq!(said("{\"choice\":\"act\",\"sure\":-3}"), Ok(("act", UNTOLD)));
    }

    /// What the model would rather say that is no choice does not count; what is a choice does.
    #[test]
    fn odds_are_the_share_of_the_word_among_the_choices() {
        let piece = |text: &str, p: f64, others: &[(&str, f64)]| Odds {
            text: text.to_owned(),
            log: p.ln(),
            others: others.iter().map(|(other, p)| ((*other).to_owned(), p.ln())).collect(),
        };
        let odds = [
            piece("{\"because\": \"", 0.1, &[]),
            piece("\\\"choice\\\": x", 0.1, &[]),
            piece("\", \"choice\"", 0.2, &[]),
            piece(": \"", 0.3, &[]),
            piece("a", 0.06, &[("d", 0.02), ("buy", 0.9), ("as", 0.02)]),
            piece("ct", 0.5, &[("sk", 0.5), ("\"}", 0.5)]),
            piece("\"}", 0.4, &[("ion", 0.6)]),
        ];
        let text: String = odds.iter().map(|piece| piece.text.as_str()).collect();
        let reply = Reply { odds: odds.to_vec(), ..reply(&text) };
        let said = answer(&reply, 0, 1, RunMode::QUESTION).expect("an answer");
        assert!((said.confidence - 0.6 * 0.5).abs() < 1e-9, "{}", said.confidence);
    }
}
