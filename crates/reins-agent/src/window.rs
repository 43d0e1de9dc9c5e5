//! How much of the model's window a conversation takes, counted by what the provider reports (W-700).

use crate::limits::{CONVERSATION_BYTES, MESSAGES, PICTURE_TOKENS, WINDOW_FULL, WINDOW_SHORTENED};

/// Tokens of a byte before any report: four characters are about one token.
const TOKENS_PER_BYTE: f64 = 0.25;

/// What a report can make of that: no text has fewer tokens than one for eight bytes, or more than one
/// for each. A server that reports something else counts something else.
const TOKENS_PER_BYTE_RANGE: (f64, f64) = (0.125, 1.0);

/// What a request is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
    /// Instructions and tools: sent each time, never shortened.
    pub(crate) fixed: usize,
    pub(crate) pictures: usize,
}

/// A model's window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    tokens: u64,
    per_byte: f64,
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "estimates of positive numbers far below what a float holds exactly"
)]
impl Window {
    pub(crate) fn new(tokens: u64) -> Self {
        Self { tokens, per_byte: TOKENS_PER_BYTE }
    }

    /// Learns from what a request of this weight took.
    pub(crate) fn learn(&mut self, weight: Weight, reported: u64) {
        let text = reported.saturating_sub(weight.pictures as u64 * PICTURE_TOKENS);
        let bytes = (weight.bytes + weight.fixed).max(1);
        let (least, most) = TOKENS_PER_BYTE_RANGE;
        if reported > 0 {
            self.per_byte = (text as f64 / bytes as f64).clamp(least, most);
        }
    }

    /// A server refused a request of this weight as too long: it takes less than was thought.
    pub(crate) fn refused(&mut self, weight: Weight) {
        self.tokens = self.tokens.min(self.tokens(weight) * 9 / 10);
    }

    /// What a request of this weight takes, as far as is known.
    pub(crate) fn tokens(&self, weight: Weight) -> u64 {
        let text = (weight.bytes + weight.fixed) as f64 * self.per_byte;
        text.ceil() as u64 + weight.pictures as u64 * PICTURE_TOKENS
    }

    /// Whether a conversation has to be shortened before the next request (W-700).
    pub(crate) fn is_full(&self, weight: Weight) -> bool {
        weight.messages > MESSAGES
            || weight.bytes > CONVERSATION_BYTES
            || self.tokens(weight) > self.tokens * WINDOW_FULL / 100
    }

    /// Whether a shortened conversation leaves enough room.
    pub(crate) fn is_roomy(&self, weight: Weight) -> bool {
        self.tokens(weight) <= self.tokens * WINDOW_SHORTENED / 100
            && weight.bytes <= CONVERSATION_BYTES * 2 / 3
    }

    /// Bytes of one text that may stay when nothing else helps: an eighth of the window.
    pub(crate) fn cut(&self) -> usize {
        (self.tokens as f64 / self.per_byte / 8.0) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(bytes: usize) -> Weight {
        Weight { bytes, messages: 3, ..Weight::default() }
    }

    /// W-700: what the provider reports counts more than a guess.
    #[test]
    fn w700_the_share_of_the_window_is_counted_by_reports() {
        let mut window = Window::new(16_000);
        assert!(!window.is_full(bytes(40_000)), "10,000 tokens as far as is known");
        window.learn(bytes(20_000), 8_000);
        assert_eq!(window.tokens(bytes(40_000)), 16_000);
        assert!(window.is_full(bytes(40_000)) && window.is_full(bytes(30_100)));
        assert!(!window.is_full(bytes(29_000)));
        window.learn(bytes(20_000), 3);
        assert_eq!(window.tokens(bytes(40_000)), 5_000, "no server counts like that");
    }

    #[test]
    fn w700_messages_and_characters_count_too() {
        let window = Window::new(1_000_000);
        assert!(window.is_full(Weight { messages: 51, ..bytes(10) }));
        assert!(!window.is_full(Weight { messages: 50, ..bytes(10) }));
        assert!(window.is_full(bytes(80_001)));
    }

    #[test]
    fn w702_a_refusal_is_learned_from() {
        let mut window = Window::new(128_000);
        window.refused(bytes(40_000));
        assert!(window.is_full(bytes(30_000)) && !window.is_full(bytes(26_000)));
    }
}
