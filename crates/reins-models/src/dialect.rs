//! What one server and model take. It begins with everything and shrinks by what they refuse.

use crate::failure::Said;
use crate::message::Reasoning;
use crate::provider::{Endpoint, Format};

/// What a refusal of a schema for the answer is about, in the words of the four formats.
const SHAPE_WORDS: &[&str] = &[
    "response_format",
    "json_schema",
    "text.format",
    "output_format",
    "output_config.format",
    "responsejsonschema",
    "response_json_schema",
    "responsemimetype",
    "response_mime_type",
    "structured output",
];

/// What one server and model take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// Which format; OpenAI's two may change into each other.
    pub(crate) format: Format,
    pub(crate) stream: bool,
    pub(crate) stream_options: bool,
    pub(crate) temperature: bool,
    /// The newer name of the limit of tokens, which OpenAI's own models insist on.
    pub(crate) completion_tokens: bool,
    /// Tools as the format has them, or as text.
    pub(crate) tools: bool,
    /// A word of the model between a result and what the person says next.
    pub(crate) bridge: bool,
    /// Ids of calls with exactly nine letters and digits.
    pub(crate) short_ids: bool,
    /// The thoughts, with every answer of the conversation.
    pub(crate) thoughts_back: bool,
    /// A schema that the answer must fit.
    pub(crate) shapes: bool,
    /// How likely each piece of the answer was.
    pub(crate) odds: bool,
    /// Marks of what to keep for the next request.
    pub(crate) caching: bool,
    /// Sealed thoughts, to be given back.
    pub(crate) sealed: bool,
    /// Pictures (W-662).
    pub(crate) pictures: bool,
    /// A summary of the thoughts.
    pub(crate) summary: bool,
    /// Thinking with a number of tokens instead of an effort, in the Messages format.
    pub(crate) budget: bool,
    /// How many of the words for an effort were refused.
    efforts_refused: usize,
}

impl Dialect {
    /// What is known of a server before it was asked anything.
    pub(crate) fn of(endpoint: &Endpoint) -> Self {
        let quirks = &endpoint.provider.quirks;
        Self {
            format: endpoint.format,
            stream: true,
            stream_options: true,
            temperature: true,
            completion_tokens: quirks.completion_tokens,
            tools: true,
            bridge: quirks.bridge,
            short_ids: quirks.short_ids,
            thoughts_back: quirks.thoughts_back,
            shapes: true,
            odds: true,
            caching: true,
            sealed: true,
            pictures: true,
            summary: true,
            budget: false,
            efforts_refused: 0,
        }
    }

    /// The word for an effort, or none if the model is to do as it does.
    pub(crate) fn effort(&self, reasoning: Reasoning) -> Option<&'static str> {
        let words: &[&str] = match reasoning {
            Reasoning::Own => &[],
            Reasoning::Off if self.format == Format::Gemini => &["minimal", "low"],
            Reasoning::Off if self.format == Format::Messages => &["none"],
            Reasoning::Off => &["none", "minimal", "low"],
            Reasoning::Low => &["low"],
            Reasoning::Medium => &["medium", "high"],
            Reasoning::High => &["high"],
        };
        words.get(self.efforts_refused).copied()
    }

    /// Leaves out pictures if that is what a request was refused for: which models see, no list tells for
    /// sure, and what may not be seen must not end a run (W-662).
    pub(crate) fn leave_out_pictures(&mut self, status: u16, said: &Said) -> bool {
        let message = said.message.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
        // llama.cpp calls it a failure of its own.
        let refused = matches!(status, 400 | 404 | 415 | 422 | 500)
            && says(&["image", "vision", "multimodal", "mmproj"])
            && !says(&["too large", "too many", "exceed"]);
        let news = self.pictures && refused;
        self.pictures &= !refused;
        news
    }

    /// Leaves out or says otherwise what a refused request is about; false if it is about something
    /// else, or about what was changed already.
    pub(crate) fn leave_out(&mut self, status: u16, said: &Said, asked: Reasoning) -> bool {
        if !matches!(status, 400 | 404 | 422) {
            return false;
        }
        let before = *self;
        let message = said.message.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
        // OpenAI's models know one of the two formats, or tools in one only, and name the other.
        if self.format == Format::Chat && says(&["v1/responses", "responses api"]) {
            self.format = Format::Responses;
        } else if self.format == Format::Responses
            && says(&["chat/completions", "chat completions"])
        {
            self.format = Format::Chat;
        } else if status == 404 {
            return false;
        } else if says(&["stream_options"]) {
            self.stream_options = false;
        } else if says(&["max_completion_tokens"]) && !before.completion_tokens {
            self.completion_tokens = true;
        } else if says(&["after role 'tool'", "after role tool"]) {
            self.bridge = true;
        } else if says(&["length of 9"]) {
            self.short_ids = true;
        } else if says(&["reasoning_content"]) && !before.thoughts_back {
            self.thoughts_back = true;
        } else if says(&["reasoning summar", "reasoning.summary"]) {
            self.summary = false;
        } else if says(&["encrypted content", "reasoning.encrypted_content"]) {
            self.sealed = false;
        } else if says(&["cache_control", "prompt_cache"]) {
            self.caching = false;
        } else if says(&["logprobs"]) && before.odds {
            self.odds = false;
        } else if says(SHAPE_WORDS) && before.shapes {
            self.shapes = false;
        } else if self.format == Format::Messages && says(&["adaptive", "output_config"]) {
            self.budget = !self.budget && !says(&["thinking.type.enabled"]);
            // Neither form is taken, or the other one is not known: think as it does.
            if self.budget == before.budget {
                self.efforts_refused += 1;
            }
        } else if says(&["temperature"]) {
            self.temperature = false;
        } else if self.effort(asked).is_some()
            && says(&["reasoning", "effort", "thinking", "enable_thinking", "chat_template_kwargs"])
        {
            self.efforts_refused += 1;
        }
        *self != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Provider;

    fn dialect(id: &str) -> (Dialect, Endpoint) {
        let endpoint = Endpoint::of(Provider::by_id(id).expect(id), None).expect(id);
        (Dialect::of(&endpoint), endpoint)
    }

    fn refuse(dialect: &mut Dialect, endpoint: &Endpoint, message: &str, asked: Reasoning) -> bool {
        dialect.leave_out(400, &Said::of(message.as_bytes(), endpoint), asked)
    }

    /// What servers really say, and what is done about it; nothing is tried twice.
    #[test]
    fn refusals_change_the_dialect_until_nothing_is_left() {
        let (mut gpt, openai) = dialect("openai");
        assert_eq!(gpt.format, Format::Responses);
        let ask =
            |dialect: &mut Dialect, message| refuse(dialect, &openai, message, Reasoning::Off);
        assert!(ask(&mut gpt, "Unsupported value: 'none' for reasoning.effort"));
        assert_eq!(gpt.effort(Reasoning::Off), Some("minimal"));
        assert!(ask(&mut gpt, "Unsupported value: 'minimal' for reasoning.effort"));
        assert!(ask(&mut gpt, "Unsupported parameter: 'reasoning.effort' with this model"));
        assert_eq!(gpt.effort(Reasoning::Off), None);
        assert!(!ask(&mut gpt, "Unsupported parameter: 'reasoning.effort' with this model"));
        assert!(ask(
            &mut gpt,
            "Your organization must be verified to generate reasoning summaries."
        ));
        assert!(ask(&mut gpt, "Encrypted content is not supported with this model."));
        assert!(!gpt.summary && !gpt.sealed);
        assert!(ask(&mut gpt, "This model is only supported in v1/chat/completions"));
        assert_eq!(gpt.format, Format::Chat);
        let only_there = "Function tools with reasoning_effort are not supported for gpt-6 in \
                          /v1/chat/completions. Please use /v1/responses instead.";
        assert!(ask(&mut gpt, only_there));
        assert_eq!(gpt.format, Format::Responses);
    }

    /// W-662: what servers really say of pictures; one that is only too large is the caller's to see.
    #[test]
    fn w662_pictures_are_left_out_once_they_are_refused() {
        for (status, message, expected) in [
            (500, "image input is not supported - hint: you may need to provide the mmproj", true),
            (404, "No endpoints found that support image input", true),
            (400, "This model does not support vision", true),
            (400, "image exceeds 5 MB", false),
            (429, "image requests are limited", false),
            (400, "something else", false),
        ] {
            let (mut dialect, endpoint) = dialect("openai");
            let said = Said::of(message.as_bytes(), &endpoint);
            assert_eq!(dialect.leave_out_pictures(status, &said), expected, "{message}");
            assert_eq!(dialect.pictures, !expected, "{message}");
            assert!(!dialect.leave_out_pictures(status, &said), "{message}: only once");
        }
    }

    #[test]
    fn the_two_ways_of_thinking_of_the_messages_format() {
        let (mut old, anthropic) = dialect("anthropic");
        let ask =
            |dialect: &mut Dialect, message| refuse(dialect, &anthropic, message, Reasoning::High);
        assert!(ask(&mut old, "adaptive thinking is not supported on this model"));
        assert!(old.budget);
        let newer = "\"thinking.type.enabled\" is not supported for this model. Use \
                     \"thinking.type.adaptive\" and \"output_config.effort\"";
        assert!(ask(&mut old, newer));
        assert!(!old.budget);
        assert!(ask(&mut old, "temperature: not allowed"));
        assert!(!ask(&mut old, "something else"));
    }
}
