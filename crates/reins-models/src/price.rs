//! What models cost: facts with a date. A model that is not here has no price; then only tokens are
//! told.

use crate::event::Usage;
use crate::provider::Endpoint;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// When the table was made, from a public list of model prices (litellm 1.110.2), not from the providers' own pages.
pub const PRICES_AS_OF: &str = "2026-11";

/// Dollars for a million tokens, times a million: `(provider, model, input, cached, written,
/// output, up to)`. Above `up to` tokens of input the provider charges more; 0 is no such limit.
type Row = (&'static str, &'static str, u64, u64, u64, u64, u64);

const PRICES: &[Row] = &[
    ("anthropic", "claude-haiku-4-5", 1_000_000, 100_000, 1_250_000, 5_000_000, 0),
    ("anthropic", "claude-haiku-5-5", 100_000, 10_000, 125_000, 500_000, 100_000),
    ("anthropic", "claude-sonnet-4-5", 3_000_000, 300_000, 3_750_000, 15_000_000, 200_000),
    ("anthropic", "claude-sonnet-4-6", 3_000_000, 300_000, 3_750_000, 15_000_000, 0),
    ("anthropic", "claude-sonnet-5", 2_000_000, 200_000, 2_500_000, 10_000_000, 0),
    ("anthropic", "claude-sonnet-5-5", 2_000_000, 100_000, 2_500_000, 10_000_000, 0),
    ("anthropic", "claude-opus-4-8", 5_000_000, 500_000, 6_250_000, 25_000_000, 0),
    ("anthropic", "claude-opus-5", 5_000_000, 500_000, 6_250_000, 25_000_000, 0),
    ("anthropic", "claude-opus-5-5", 4_000_000, 200_000, 5_000_000, 20_000_000, 0),
    ("openai", "gpt-4.1", 2_000_000, 500_000, 2_000_000, 8_000_000, 0),
    ("openai", "gpt-4.1-mini", 400_000, 100_000, 400_000, 1_600_000, 0),
    ("openai", "gpt-4o", 2_500_000, 1_250_000, 2_500_000, 10_000_000, 0),
    ("openai", "gpt-4o-mini", 150_000, 75_000, 150_000, 600_000, 0),
    ("openai", "gpt-5", 1_250_000, 125_000, 1_250_000, 10_000_000, 0),
    ("openai", "gpt-5-mini", 250_000, 25_000, 250_000, 2_000_000, 0),
    ("openai", "gpt-5.4-mini", 750_000, 75_000, 750_000, 4_500_000, 0),
    ("openai", "gpt-5.6-luna", 200_000, 20_000, 250_000, 1_200_000, 272_000),
    ("openai", "gpt-6-luna", 100_000, 10_000, 125_000, 500_000, 272_000),
    ("openai", "gpt-6-sol", 2_000_000, 200_000, 2_500_000, 10_000_000, 272_000),
    ("openai", "gpt-6.1-sol", 2_000_000, 100_000, 2_500_000, 10_000_000, 272_000),
    ("openai", "gpt-6.1-terra", 1_000_000, 50_000, 1_250_000, 5_000_000, 272_000),
    ("gemini", "gemini-2.5-flash-lite", 100_000, 10_000, 100_000, 400_000, 0),
    ("gemini", "gemini-3.5-flash", 1_500_000, 150_000, 1_500_000, 9_000_000, 0),
    ("gemini", "gemini-3.8-flash", 750_000, 75_000, 750_000, 3_750_000, 0),
    ("mistral", "mistral-large-latest", 500_000, 50_000, 500_000, 1_500_000, 0),
    ("mistral", "mistral-medium-latest", 1_500_000, 150_000, 1_500_000, 7_500_000, 0),
    ("mistral", "mistral-small-latest", 150_000, 15_000, 150_000, 600_000, 0),
    ("deepseek", "deepseek-flash", 300_000, 6_000, 300_000, 1_200_000, 0),
    ("deepseek", "deepseek-v4-pro", 1_320_000, 44_000, 1_320_000, 3_960_000, 0),
    ("xai", "grok-4.7", 2_000_000, 500_000, 2_000_000, 6_000_000, 200_000),
    ("groq", "openai/gpt-oss-120b", 150_000, 75_000, 150_000, 600_000, 0),
    ("groq", "openai/gpt-oss-20b", 75_000, 37_500, 75_000, 300_000, 0),
];

/// Millionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(pub u64);

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollars = self.0 as f64 / 1e6;
        if self.0 >= 10_000 || self.0 == 0 {
            write!(f, "${dollars:.2}")
        } else {
            write!(f, "${dollars:.4}")
        }
    }
}

/// An amount that cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("'{0}' is no amount of dollars; write it like 0.50")]
pub struct NotACost(String);

impl FromStr for Cost {
    type Err = NotACost;

    /// Dollars, such as `0.5` or `$2`; parts of a millionth are cut off.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || NotACost(text.to_owned());
        let bare = text.trim().trim_start_matches('$');
        let (dollars, rest) = bare.split_once('.').unwrap_or((bare, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(dollars) || !digits(rest) || dollars.len() + rest.len() == 0 {
            return Err(wrong());
        }
        let millionths: String = rest.chars().chain("000000".chars()).take(6).collect();
        let dollars: u64 =
            if dollars.is_empty() { "0" } else { dollars }.parse().map_err(|_| wrong())?;
        let millionths: u64 = millionths.parse().map_err(|_| wrong())?;
        let all = dollars.checked_mul(1_000_000).and_then(|all| all.checked_add(millionths));
        all.map(Cost).ok_or_else(wrong)
    }
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

/// What one answer cost; `None` if nobody knows. A model on this machine costs nothing.
pub fn cost(endpoint: &Endpoint, model: &str, usage: &Usage) -> Option<Cost> {
    if endpoint.base.is_local() {
        return Some(Cost(0));
    }
    let named = |row: &&Row| row.0 == endpoint.provider.id && row.1 == undated(model);
    let (_, _, input, cached, written, output, up_to) = *PRICES.iter().find(named)?;
    if up_to > 0 && usage.input > up_to {
        return None;
    }
    let fresh = usage.input.saturating_sub(usage.cached + usage.cache_written);
    let millionths = u128::from(fresh) * u128::from(input)
        + u128::from(usage.cached) * u128::from(cached)
        + u128::from(usage.cache_written) * u128::from(written)
        + u128::from(usage.output) * u128::from(output);
    u64::try_from(millionths.div_ceil(1_000_000)).ok().map(Cost)
}

/// Without a date at the end (`-20250929`, `-2025-08-07`) or a folder in front (`models/`).
fn undated(model: &str) -> &str {
    let model = model.strip_prefix("models/").unwrap_or(model);
    let base = model.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    let tail = &model[base.len()..];
    for length in ["-20250929".len(), "-2025-08-07".len()] {
        let Some(at) = tail.len().checked_sub(length) else {
            continue;
        };
        if tail[at..].starts_with("-20") {
            return &model[..base.len() + at];
        }
    }
    model
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Provider;
    use crate::table::PROVIDERS;

    fn endpoint(id: &str) -> Endpoint {
        Endpoint::of(Provider::by_id(id).expect(id), None).expect(id)
    }

    #[test]
    fn cached_tokens_cost_less() {
        let usage =
            Usage { input: 1_000_000, cached: 600_000, cache_written: 100_000, output: 10_000 };
        let cost = cost(&endpoint("anthropic"), "claude-sonnet-5-5", &usage).expect("priced");
        // 300k fresh at $2, 600k cached at $0.10, 100k written at $2.50, 10k output at $10.
        assert_eq!(cost, Cost(600_000 + 60_000 + 250_000 + 100_000));
        assert_eq!(cost.to_string(), "$1.01");
        assert_eq!(Cost(1234).to_string(), "$0.0012");
    }

    #[test]
    fn w272_amounts_of_dollars_are_read() {
        for (text, cost) in
            [("0.50", 500_000), ("$2", 2_000_000), (".0000019", 1), ("10", 10_000_000)]
        {
            assert_eq!(text.parse(), Ok(Cost(cost)), "{text}");
        }
        for text in ["", "$", "-1", "1e3", "0,5", "99999999999999999999"] {
            assert!(text.parse::<Cost>().is_err(), "{text}");
        }
    }

    #[test]
    fn dated_names_have_the_price_of_the_undated() {
        let usage = Usage { input: 1000, ..Usage::default() };
        for (provider, model, priced) in [
            ("anthropic", "claude-haiku-4-5-20251001", true),
            ("anthropic", "claude-haiku-4-5", true),
            ("openai", "gpt-4o-2024-08-06", true),
            ("openai", "gpt-5-mini-2025-08-07", true),
            ("gemini", "models/gemini-3.8-flash", true),
            ("openai", "gpt-99", false),
            ("openai", "claude-haiku-4-5", false),
            ("custom", "gpt-4o", false),
        ] {
            let endpoint = match provider {
                "custom" => {
                    Endpoint::at(&crate::table::CUSTOM, "https://h/v1", None).expect("endpoint")
                }
                id => endpoint(id),
            };
            assert_eq!(cost(&endpoint, model, &usage).is_some(), priced, "{model}");
        }
    }

    #[test]
    fn unknown_is_unknown_and_local_is_free() {
        let usage = Usage { input: 300_000, ..Usage::default() };
        assert_eq!(cost(&endpoint("openai"), "gpt-6.1-sol", &usage), None, "above the first tier");
        assert_eq!(cost(&endpoint("ollama"), "qwen", &usage), Some(Cost(0)));
    }

    #[test]
    fn the_models_picked_by_default_have_a_price() {
        let usage = Usage { input: 1000, ..Usage::default() };
        let unpriced: Vec<_> = PROVIDERS
            .iter()
            .filter(|provider| provider.needs_key() && !provider.model.is_empty())
            .filter(|provider| cost(&endpoint(provider.id), provider.model, &usage).is_none())
            .map(|provider| provider.id)
            .collect();
        // The first has no fixed price by nature; the others are in no list that was read.
        assert_eq!(unpriced, ["openrouter", "together", "fireworks"]);
    }
}
