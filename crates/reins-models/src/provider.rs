//! Facts about providers.

use crate::address::BaseUrl;
use crate::error::{AddressError, ModelError};
use reins_core::Secret;

/// How requests and answers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// OpenAI's Chat Completions, spoken by nearly everyone.
    Chat,
    /// Anthropic's Messages.
    Messages,
}

/// One row of the table: where a provider is and what it is used with when nothing is chosen.
#[derive(Debug, PartialEq, Eq)]
pub struct Provider {
    /// A stable name for settings and flags.
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// How it is spoken to.
    pub format: Format,
    /// Where it is.
    pub base: &'static str,
    /// Environment variables that may hold a key, first one first. Empty: it runs on this machine.
    pub keys: &'static [&'static str],
    /// Environment variables that may hold another address.
    pub bases: &'static [&'static str],
    /// The model when none is chosen. Empty: the first one that the server lists.
    pub model: &'static str,
}

/// Providers in the order in which they are picked when several are there: own keys, then servers
/// on this machine. Models named here were offered in November 2026.
pub const PROVIDERS: &[Provider] = &[
    Provider {
        id: "anthropic",
        name: "Anthropic",
        format: Format::Messages,
        base: "https://api.anthropic.com",
        keys: &["ANTHROPIC_API_KEY"],
        bases: &["ANTHROPIC_BASE_URL"],
        model: "claude-sonnet-5-5",
    },
    Provider {
        id: "openai",
        name: "OpenAI",
        format: Format::Chat,
        base: "https://api.openai.com/v1",
        keys: &["OPENAI_API_KEY"],
        bases: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        model: "gpt-6.1-sol",
    },
    Provider {
        id: "gemini",
        name: "Google Gemini",
        format: Format::Chat,
        base: "https://generativelanguage.googleapis.com/v1beta/openai",
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        bases: &[],
        model: "gemini-3.8-flash",
    },
    Provider {
        id: "openrouter",
        name: "OpenRouter",
        format: Format::Chat,
        base: "https://openrouter.ai/api/v1",
        keys: &["OPENROUTER_API_KEY"],
        bases: &[],
        model: "openrouter/auto",
    },
    Provider {
        id: "mistral",
        name: "Mistral",
        format: Format::Chat,
        base: "https://api.mistral.ai/v1",
        keys: &["MISTRAL_API_KEY"],
        bases: &[],
        model: "mistral-medium-latest",
    },
    Provider {
        id: "deepseek",
        name: "DeepSeek",
        format: Format::Chat,
        base: "https://api.deepseek.com/v1",
        keys: &["DEEPSEEK_API_KEY"],
        bases: &[],
        model: "deepseek-flash",
    },
    Provider {
        id: "xai",
        name: "xAI",
        format: Format::Chat,
        base: "https://api.x.ai/v1",
        keys: &["XAI_API_KEY"],
        bases: &[],
        model: "grok-4.7",
    },
    Provider {
        id: "groq",
        name: "Groq",
        format: Format::Chat,
        base: "https://api.groq.com/openai/v1",
        keys: &["GROQ_API_KEY"],
        bases: &[],
        model: "openai/gpt-oss-120b",
    },
    Provider {
        id: "together",
        name: "Together",
        format: Format::Chat,
        base: "https://api.together.xyz/v1",
        keys: &["TOGETHER_API_KEY"],
        bases: &[],
        model: "deepseek-ai/DeepSeek-V4.1-Flash",
    },
    Provider {
        id: "fireworks",
        name: "Fireworks",
        format: Format::Chat,
        base: "https://api.fireworks.ai/inference/v1",
        keys: &["FIREWORKS_API_KEY"],
        bases: &[],
        model: "accounts/fireworks/models/deepseek-v4-pro",
    },
    Provider {
        id: "ollama",
        name: "Ollama",
        format: Format::Chat,
        base: "http://127.0.0.1:11434/v1",
        keys: &[],
        bases: &[],
        model: "",
    },
    Provider {
        id: "lmstudio",
        name: "LM Studio",
        format: Format::Chat,
        base: "http://127.0.0.1:1234/v1",
        keys: &[],
        bases: &[],
        model: "",
    },
    Provider {
        id: "llama-server",
        name: "llama-server",
        format: Format::Chat,
        base: "http://127.0.0.1:8080/v1",
        keys: &[],
        bases: &[],
        model: "",
    },
];

/// Any other server that speaks the Chat format.
pub const CUSTOM: Provider = Provider {
    id: "custom",
    name: "your server",
    format: Format::Chat,
    base: "",
    keys: &[],
    bases: &[],
    model: "",
};

impl Provider {
    /// The row with this id.
    pub fn by_id(id: &str) -> Option<&'static Provider> {
        PROVIDERS.iter().chain(std::iter::once(&CUSTOM)).find(|provider| provider.id == id)
    }

    /// The row that an address belongs to, or [`CUSTOM`].
    pub fn by_address(text: &str) -> &'static Provider {
        let server = |text: &str| {
            let url = url::Url::parse(text).ok()?;
            Some((url.host_str()?.to_owned(), url.port_or_known_default()))
        };
        let wanted = server(text);
        let fits = |provider: &&Provider| wanted.is_some() && server(provider.base) == wanted;
        PROVIDERS.iter().find(fits).unwrap_or(&CUSTOM)
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
        Self::at(provider, provider.base, key)
    }

    /// A provider at another address.
    pub fn at(
        provider: &'static Provider,
        base: &str,
        key: Option<Secret<String>>,
    ) -> Result<Self, AddressError> {
        let base = BaseUrl::parse(base, provider.format)?;
        Ok(Self { provider, format: provider.format, base, key })
    }

    /// What to say when a provider that needs a key has none.
    pub(crate) fn require_key(&self) -> Result<(), ModelError> {
        match self.provider.keys.first() {
            Some(variable) if self.key.is_none() && !self.base.is_local() => {
                Err(ModelError::NoKey {
                    provider: self.provider.name.to_owned(),
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
        for provider in PROVIDERS {
            let endpoint = Endpoint::of(provider, None).expect(provider.id);
            assert_eq!(endpoint.base.to_string(), provider.base);
            assert_eq!(endpoint.base.is_local(), provider.keys.is_empty());
            assert_eq!(provider.model.is_empty(), provider.keys.is_empty());
            assert_eq!(Provider::by_id(provider.id), Some(provider));
            assert_eq!(Provider::by_address(provider.base), provider);
        }
        assert_eq!(Provider::by_address("http://localhost:9/v1"), &CUSTOM);
        assert_eq!(Provider::by_address("nonsense"), &CUSTOM);
    }

    #[test]
    fn a_key_does_not_print() {
        let key = Some(Secret::new("sk-hunter2".to_owned()));
        let endpoint = Endpoint::of(&PROVIDERS[0], key).expect("endpoint");
        assert!(!format!("{endpoint:?}").contains("hunter2"));
    }
}
