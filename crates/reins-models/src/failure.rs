//! From what a server says about a failure to an error with its remedy.

use crate::error::ModelError;
use crate::limits::SAID_BYTES;
use crate::provider::Endpoint;
use crate::transport::HttpAnswer;
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// A failure as the server states it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// The message, clipped, without the key.
    pub(crate) message: String,
    /// Type and code, lowercase, joined with a space.
    pub(crate) kind: String,
    /// The status that stands in the body, for failures within a stream.
    status: Option<u16>,
    /// The wait that stands in the body.
    retry_after: Option<Duration>,
}

impl Said {
    /// Reads any of the shapes in use: `{"error":{"message","type","code"}}`, `{"error":"text"}`,
    /// `{"message"}`, `{"detail"}`, a list of one of these, or plain text.
    pub(crate) fn of(body: &[u8], endpoint: &Endpoint) -> Self {
        let Ok(value) = serde_json::from_slice::<Value>(body) else {
            let text = String::from_utf8_lossy(body);
            let message = if text.trim_start().starts_with('<') { "a web page" } else { &text };
            return Self { message: clean(message, endpoint), ..Self::default() };
        };
        Self::of_json(&value, endpoint)
    }

    /// The same for a body that is already parsed.
    pub(crate) fn of_json(value: &Value, endpoint: &Endpoint) -> Self {
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let text = |key: &str| error.get(key).and_then(Value::as_str);
        let detail = error.get("detail").map(|detail| match detail {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        // OpenRouter puts what the provider behind it said into metadata.raw.
        let raw = error.pointer("/metadata/raw").and_then(Value::as_str);
        let message = match (error.as_str().or(text("message")), raw) {
            (Some(message), Some(raw)) => format!("{message}: {raw}"),
            (Some(message), None) => message.to_owned(),
            (None, _) => detail.unwrap_or_else(|| error.to_string()),
        };
        let kind = ["type", "code", "status"]
            .iter()
            .filter_map(|key| text(key))
            .collect::<Vec<_>>()
            .join(" ")
            .to_lowercase();
        let status = error.get("code").and_then(Value::as_u64).and_then(|c| u16::try_from(c).ok());
        let retry_after = error
            .get("details")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            // Google's way: a text like `37.5s`.
            .find_map(|detail| detail.get("retryDelay")?.as_str()?.strip_suffix('s'))
            .and_then(seconds);
        Self { message: clean(&message, endpoint), kind, status, retry_after }
    }

    fn mentions(&self, words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        words.iter().any(|word| message.contains(word) || self.kind.contains(word))
    }

    /// Whether the server minds that tools were offered (R-032).
    pub(crate) fn rejects_tools(&self) -> bool {
        self.mentions(&["tool", "function call"])
            && self.mentions(&[
                "support",
                "not allowed",
                "not permitted",
                "requires --",
                "to be set",
                "unknown field",
                "unrecognized",
                "unexpected",
                "extra inputs",
                "not available",
            ])
    }

    fn says_too_long(&self) -> bool {
        self.mentions(&[
            "context_length",
            "context length",
            "context size",
            "context window",
            "exceed_context",
            "maximum context",
            "prompt is too long",
            "input is too long",
            "too many tokens",
            "token limit",
            "tokens exceeds",
        ])
    }

    fn says_no_model(&self, status: u16) -> bool {
        if self.mentions(&["model_not_found", "unknown_model", "invalid_model"]) {
            return true;
        }
        let absent = ["not found", "not exist", "unknown", "not a valid", "no such", "not_found"];
        self.mentions(&["model"]) && (status == 404 || self.mentions(&absent))
    }
}

/// Clips, and takes the key out wherever the server repeats it.
fn clean(text: &str, endpoint: &Endpoint) -> String {
    let mut text = text.to_owned();
    if let Some(key) = endpoint.key.as_ref().map(|key| key.expose()).filter(|key| key.len() > 3) {
        text = text.replace(key.as_str(), "[redacted]");
    }
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut text = spaced.trim().to_owned();
    if text.len() > SAID_BYTES {
        let end = (0..=SAID_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    if text.is_empty() { "nothing".to_owned() } else { text }
}

/// The error for an answer that is no success.
pub(crate) fn of_status(
    status: u16,
    said: Said,
    retry_after: Option<Duration>,
    endpoint: &Endpoint,
    model: &str,
) -> ModelError {
    let retry_after = retry_after.or(said.retry_after);
    let provider = || endpoint.provider.name.to_owned();
    let address = || endpoint.base.to_string();
    if status == 402 || said.mentions(&["insufficient_quota", "credit balance", "no credit"]) {
        return ModelError::OutOfCredit { provider: provider(), said: said.message };
    }
    match status {
        401 | 403 => ModelError::WrongKey { provider: provider(), status, said: said.message },
        // Gemini answers a wrong key with 400.
        400 if said.mentions(&["api key not valid", "invalid api key", "api_key_invalid"]) => {
            ModelError::WrongKey { provider: provider(), status, said: said.message }
        }
        429 => ModelError::RateLimited { provider: provider(), retry_after, said: said.message },
        _ if said.says_too_long() => ModelError::ContextTooLong { said: said.message },
        400 | 404 | 422 if said.says_no_model(status) => ModelError::NoSuchModel {
            model: model.to_owned(),
            address: address(),
            said: said.message,
        },
        404 | 405 => ModelError::WrongAddress {
            address: address(),
            what: format!("{status}: {}", said.message),
        },
        408 | 500.. => ModelError::ServerFailed { status, retry_after, said: said.message },
        _ => ModelError::Rejected { status, said: said.message },
    }
}

/// The error that a server states in a value of its answer.
pub(crate) fn stated(value: &Value, endpoint: &Endpoint) -> ModelError {
    in_stream(Said::of_json(value, endpoint), endpoint)
}

/// The error for a failure stated within a stream that began well.
fn in_stream(said: Said, endpoint: &Endpoint) -> ModelError {
    if let Some(status @ 400..600) = said.status {
        return of_status(status, said, None, endpoint, "");
    }
    let status = if said.mentions(&["insufficient_quota", "billing"]) {
        402
    } else if said.mentions(&["rate_limit", "rate limit", "resource_exhausted"]) {
        429
    } else if said.says_too_long() || said.kind.contains("invalid") {
        400
    } else if said.kind.contains("authentication") || said.kind.contains("permission") {
        401
    } else {
        0
    };
    match status {
        0 => ModelError::ServerFailed { status, retry_after: None, said: said.message },
        _ => of_status(status, said, None, endpoint, ""),
    }
}

/// The error for an answer that points elsewhere. It is never followed: the key would go along.
pub(crate) fn redirected(answer: &HttpAnswer, endpoint: &Endpoint) -> ModelError {
    let to = answer.header("location").unwrap_or_default();
    let to = to.split(['?', '#']).next().unwrap_or_default();
    ModelError::Redirected { address: endpoint.base.to_string(), to: clean(to, endpoint) }
}

/// How long the server wants us to wait: in milliseconds where it says so, else `Retry-After` in
/// seconds or as a date.
pub(crate) fn retry_after(
    milliseconds: Option<&str>,
    header: Option<&str>,
    now: SystemTime,
) -> Option<Duration> {
    if let Some(wait) = milliseconds.and_then(|text| text.trim().parse().ok()) {
        return Some(Duration::from_millis(wait));
    }
    let header = header?.trim();
    seconds(header).or_else(|| {
        let until = httpdate::parse_http_date(header).ok()?;
        Some(until.duration_since(now).unwrap_or_default())
    })
}

fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::CUSTOM;
    use reins_core::Secret;

    fn endpoint() -> Endpoint {
        let key = Some(Secret::new("sk-hunter2".to_owned()));
        Endpoint::at(&CUSTOM, "http://localhost:1/v1", key).expect("endpoint")
    }

    fn code(status: u16, body: &str) -> &'static str {
        let endpoint = endpoint();
        of_status(status, Said::of(body.as_bytes(), &endpoint), None, &endpoint, "m").code()
    }

    /// Bodies as the servers named beside them write them.
    #[test]
    fn failures_are_told_apart() {
        for (status, body, expected) in [
            (
                401,
                r#"{"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}}"#,
                "wrong_key",
            ),
            (
                401,
                r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
                "wrong_key",
            ),
            (
                400,
                r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]"#,
                "wrong_key",
            ),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
                "out_of_credit",
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#,
                "out_of_credit",
            ),
            (429, r#"{"error":{"message":"Rate limit reached","type":"tokens"}}"#, "rate_limited"),
            (
                404,
                r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
                "no_such_model",
            ),
            (
                404,
                r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-x"}}"#,
                "no_such_model",
            ),
            (
                404,
                r#"{"error":{"message":"model \"x\" not found, try pulling it first","type":"api_error"}}"#,
                "no_such_model",
            ),
            (
                400,
                r#"{"error":{"message":"x is not a valid model ID","code":400}}"#,
                "no_such_model",
            ),
            (404, r#"{"detail":"Not Found"}"#, "wrong_address"),
            (404, "<html>nope</html>", "wrong_address"),
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#,
                "context_too_long",
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
                "context_too_long",
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens"}}"#,
                "context_too_long",
            ),
            (
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                "server_failed",
            ),
            (503, "upstream", "server_failed"),
            (422, r#"{"detail":[{"loc":["body","x"],"msg":"bad"}]}"#, "rejected"),
        ] {
            assert_eq!(code(status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn what_a_server_says_is_clipped_and_holds_no_key() {
        let endpoint = endpoint();
        let said = Said::of(br#"{"error":{"message":"bad key sk-hunter2\n\u0007"}}"#, &endpoint);
        assert_eq!(said.message, "bad key [redacted]");
        let said = Said::of("é".repeat(4000).as_bytes(), &endpoint);
        assert!(said.message.len() <= SAID_BYTES + '…'.len_utf8());
        assert_eq!(Said::of(b"", &endpoint).message, "nothing");
    }

    /// R-032: what servers say when they take no tools.
    #[test]
    fn r032_rejected_tools_are_recognized() {
        let endpoint = endpoint();
        for text in [
            r#"{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools"}}"#,
            r#"{"error":{"message":"No endpoints found that support tool use."}}"#,
            r#"{"error":{"message":"tools param requires --jinja flag"}}"#,
            r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}"#,
            r#"{"error":{"message":"Unknown field: tools"}}"#,
        ] {
            assert!(Said::of(text.as_bytes(), &endpoint).rejects_tools(), "{text}");
        }
        let other = br#"{"error":{"message":"model not found"}}"#;
        assert!(!Said::of(other, &endpoint).rejects_tools());
    }

    #[test]
    fn retry_after_in_every_form() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let after = |header| retry_after(None, Some(header), now);
        assert_eq!(after("7"), Some(Duration::from_secs(7)));
        assert_eq!(after("0.5"), Some(Duration::from_millis(500)));
        assert_eq!(after("Sun, 06 Nov 1994 08:49:47 GMT"), Some(Duration::from_secs(10)));
        assert_eq!(after("Sun, 06 Nov 1994 08:49:17 GMT"), Some(Duration::ZERO), "is over");
        for bad in ["-1", "soon", "1e99", ""] {
            assert_eq!(after(bad), None);
        }
        assert_eq!(retry_after(None, None, now), None);
        assert_eq!(retry_after(Some("20"), Some("1"), now), Some(Duration::from_millis(20)));
        let body = br#"{"error":{"code":429,"message":"x","details":[{"@type":"y"},{"retryDelay":"37.5s"}]}}"#;
        let said = Said::of(body, &endpoint());
        assert_eq!(said.retry_after, Some(Duration::from_millis(37_500)));
    }

    /// What is stated within a stream has no status of its own but means the same.
    #[test]
    fn failures_within_a_stream_are_told_apart() {
        let endpoint = endpoint();
        for (body, expected) in [
            (r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#, "server_failed"),
            (r#"{"error":{"code":502,"message":"upstream"}}"#, "server_failed"),
            (r#"{"error":{"code":"rate_limit_exceeded","message":"slow"}}"#, "rate_limited"),
            (r#"{"error":{"code":"insufficient_quota","message":"pay"}}"#, "out_of_credit"),
            (r#"{"error":{"code":401,"message":"no"}}"#, "wrong_key"),
            (r#"{"error":{"type":"invalid_request_error","message":"bad"}}"#, "rejected"),
            (r#"{"code":"context_length_exceeded","message":"x"}"#, "context_too_long"),
        ] {
            let error = in_stream(Said::of(body.as_bytes(), &endpoint), &endpoint);
            assert_eq!(error.code(), expected, "{body}");
        }
    }
}
