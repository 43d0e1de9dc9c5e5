//! Providers, and what a request is sent to.

use crate::address::BaseUrl;
use crate::error::{AddressError, ModelError};
use crate::table::{CUSTOM, PROVIDERS};
use reins_core::Secret;
use std::fmt;
use std::str::FromStr;

/// How requests and answers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// OpenAI's Chat Completions, spoken by nearly everyone.
    Chat,
    /// OpenAI's Responses, the only one that its newer models think and call in at once.
    Responses,
    /// Anthropic's Messages.
    Messages,
    /// Google's generateContent.
    Gemini,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 4] =
        [Format::Chat, Format::Responses, Format::Messages, Format::Gemini];

    /// Its name for settings and flags.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Chat => "chat",
            Format::Responses => "responses",
            Format::Messages => "messages",
            Format::Gemini => "gemini",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|format| format.as_str() == text).ok_or(UnknownFormat)
    }
}

/// A word that names no format.
#[derive(Debug, thiserror::Error)]
#[error("no such format; there are chat, responses, messages and gemini")]
pub struct UnknownFormat;

/// One row of the table: where a provider is, what it is used with when nothing is chosen, and what
/// is different about it.
#[derive(Debug, PartialEq, Eq)]
pub struct Provider {
    /// A stable name for settings and flags.
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// How it is spoken to.
    pub format: Format,
    /// How a server at another address is spoken to that was entered as this provider.
    pub elsewhere: Format,
    /// Where it is. Empty: everyone has an own address.
    pub base: &'static str,
    /// Environment variables that may hold a key, first one first. Empty: it needs none.
    pub keys: &'static [&'static str],
    /// Environment variables that may hold another address.
    pub bases: &'static [&'static str],
    /// Environment variables that may name the model.
    pub models: &'static [&'static str],
    /// The model when none is chosen. Empty: the first one that the server lists.
    pub model: &'static str,
    /// What its model list says who owns the first model, where the port alone says nothing.
    pub owner: &'static str,
    /// What is different about it.
    pub quirks: Quirks,
}

/// What is different about a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// How thinking is switched in the Chat format.
    pub switch: Switch,
    /// The key goes into `api-key` instead of `authorization`.
    pub api_key_header: bool,
    /// Insists on the newer name of the limit of tokens.
    pub completion_tokens: bool,
    /// Takes Anthropic's marks of what to keep, also in the Chat format.
    pub marks: bool,
    /// Takes pictures in the results of tools in the Chat format, where others take text only.
    pub pictures_in_results: bool,
    /// Wants a word of the model between a tool's result and the next message of the person.
    pub bridge: bool,
    /// Ids of calls have exactly nine letters and digits.
    pub short_ids: bool,
    /// Wants the thoughts back with every answer of the conversation.
    pub thoughts_back: bool,
}

/// How thinking is switched in the Chat format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// `reasoning_effort`.
    Effort,
    /// `reasoning` with an `effort`.
    Nested,
    /// `thinking` with a `type`.
    Thinking,
    /// `chat_template_kwargs` with `enable_thinking`.
    Template,
}

impl Provider {
    /// The row with this id.
    pub fn by_id(id: &str) -> Option<&'static Provider> {
        PROVIDERS.iter().chain(std::iter::once(&CUSTOM)).find(|provider| provider.id == id)
    }

    /// The row that an address belongs to, or [`CUSTOM`].
    pub fn by_address(text: &str) -> &'static Provider {
        let server = |text: &str| {
            let url = url::Url::parse(text.trim()).ok()?;
            Some((url.host_str()?.to_owned(), url.port_or_known_default()))
        };
        let Some(wanted) = server(text) else {
            return &CUSTOM;
        };
        if crate::address::is_azure(&wanted.0) {
            return Self::by_id("azure").unwrap_or(&CUSTOM);
        }
        let fits = |provider: &&Provider| server(provider.base).as_ref() == Some(&wanted);
        PROVIDERS.iter().find(fits).unwrap_or(&CUSTOM)
    }

    /// Whether it needs a key.
    pub fn needs_key(&self) -> bool {
        !self.keys.is_empty()
    }
}

/// A provider with its address and key: what a request is sent to.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Which provider.
    pub provider: &'static Provider,
    /// How it is spoken to. Usually the provider's own format.
    pub format: Format,
    /// Where it is.
    pub base: BaseUrl,
    /// The key, if there is one.
    pub key: Option<Secret<String>>,
}

impl Endpoint {
    /// A provider at its own address.
    pub fn of(
        provider: &'static Provider,
        key: Option<Secret<String>>,
    ) -> Result<Self, AddressError> {
        if provider.base.is_empty() {
            let variable = provider.bases.first().copied().unwrap_or("REINS_BASE_URL").to_owned();
            return Err(AddressError::Missing { provider: provider.name.to_owned(), variable });
        }
        Self::at(provider, provider.base, key)
    }

    /// A provider at another address.
    pub fn at(
        provider: &'static Provider,
        base: &str,
        key: Option<Secret<String>>,
    ) -> Result<Self, AddressError> {
        let own = provider.base.is_empty() || Provider::by_address(base) == provider;
        let format = if own { provider.format } else { provider.elsewhere };
        Self::speaking(provider, base, format, key)
    }

    /// A provider at another address, spoken to in a chosen format.
    pub fn speaking(
        provider: &'static Provider,
        base: &str,
        format: Format,
        key: Option<Secret<String>>,
    ) -> Result<Self, AddressError> {
        Ok(Self { provider, format, base: BaseUrl::parse(base, format)?, key })
    }

    /// What to say when a provider that needs a key has none, or one that cannot be sent.
    pub(crate) fn require_key(&self) -> Result<(), ModelError> {
        let graphic =
            |key: &Secret<String>| key.expose().bytes().all(|byte| byte.is_ascii_graphic());
        if self.key.as_ref().is_some_and(|key| !graphic(key)) {
            return Err(ModelError::UnusableKey { provider: self.provider.name.to_owned() });
        }
        match self.provider.keys.first() {
            Some(variable) if self.key.is_none() && !self.base.is_local() => {
                Err(ModelError::NoKey {
                    provider: self.provider.name.to_owned(),
                    id: self.provider.id.to_owned(),
                    variable: (*variable).to_owned(),
                })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_sound() {
        for provider in PROVIDERS.iter().filter(|provider| !provider.base.is_empty()) {
            let endpoint = Endpoint::of(provider, None).expect(provider.id);
            assert_eq!(endpoint.base.to_string(), provider.base);
            assert_eq!(endpoint.format, provider.format, "{}", provider.id);
            assert_eq!(endpoint.base.is_local(), provider.keys.is_empty());
            assert_eq!(provider.model.is_empty(), provider.keys.is_empty());
            assert_eq!(Provider::by_id(provider.id), Some(provider));
            assert_eq!(Provider::by_address(provider.base), provider);
        }
        assert_eq!(Provider::by_address("http://localhost:9/v1"), &CUSTOM);
        assert_eq!(Provider::by_address("nonsense"), &CUSTOM);
    }

    /// Nobody has the same address at Azure, and what people copy there has several forms.
    #[test]
    fn r027_azure_is_known_by_its_host() {
        let azure = Provider::by_id("azure").expect("row");
        for pasted in [
            "https://mine.openai.azure.com/",
            "https://mine.openai.azure.com/openai/v1",
            "https://mine.openai.azure.com/openai/v1/chat/completions",
            "https://mine.openai.azure.com/openai/deployments/gpt/chat/completions",
        ] {
            assert_eq!(Provider::by_address(pasted), azure);
            let endpoint = Endpoint::at(azure, pasted, None).expect(pasted);
            assert_eq!(endpoint.base.to_string(), "https://mine.openai.azure.com/openai/v1");
        }
        let none = Endpoint::of(azure, None).expect_err("no address");
        assert!(none.to_string().contains("AZURE_OPENAI_ENDPOINT"), "{none}");
    }

    /// A server of one's own in the place of OpenAI speaks what nearly everyone speaks.
    #[test]
    fn r217_another_address_speaks_chat() {
        let openai = Provider::by_id("openai").expect("row");
        let own = Endpoint::of(openai, None).expect("own");
        assert_eq!(own.format, Format::Responses);
        let other = Endpoint::at(openai, "http://localhost:8080/v1", None).expect("other");
        assert_eq!(other.format, Format::Chat);
        for format in Format::ALL {
            assert_eq!(format.as_str().parse::<Format>().ok(), Some(format));
        }
        assert!("soap".parse::<Format>().is_err());
    }

    #[test]
    fn a_key_does_not_print() {
        let key = Some(Secret::new("sk-hunter2".to_owned()));
        let endpoint = Endpoint::of(&PROVIDERS[0], key).expect("endpoint");
        assert!(!format!("{endpoint:?}").contains("hunter2"));
    }
}
