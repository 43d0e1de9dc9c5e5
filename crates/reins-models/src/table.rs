//! Facts about providers.

use crate::provider::{Format, Provider, Quirks, Switch};

/// Nothing is different.
const PLAIN: Quirks = Quirks {
    switch: Switch::Effort,
    api_key_header: false,
    completion_tokens: false,
    marks: false,
    pictures_in_results: false,
    bridge: false,
    short_ids: false,
    thoughts_back: false,
};

/// A server of the Chat format on this machine; the other rows differ from it.
const ROW: Provider = Provider {
    id: "",
    name: "",
    format: Format::Chat,
    elsewhere: Format::Chat,
    base: "",
    keys: &[],
    bases: &[],
    models: &[],
    model: "",
    owner: "",
    quirks: PLAIN,
};

/// Providers in the order in which they are picked when several are there: own keys, then servers
/// on this machine. Models named here were offered in November 2026.
pub const PROVIDERS: &[Provider] = &[
    Provider {
        id: "anthropic",
        name: "Anthropic",
        format: Format::Messages,
        elsewhere: Format::Messages,
        base: "https://api.anthropic.com",
        keys: &["ANTHROPIC_API_KEY"],
        bases: &["ANTHROPIC_BASE_URL"],
        model: "claude-sonnet-5-5",
        ..ROW
    },
    Provider {
        id: "openai",
        name: "OpenAI",
        // Chat refuses tools to its newer models unless they stop thinking.
        format: Format::Responses,
        base: "https://api.openai.com/v1",
        keys: &["OPENAI_API_KEY"],
        bases: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        model: "gpt-6.1-sol",
        quirks: Quirks { completion_tokens: true, ..PLAIN },
        ..ROW
    },
    Provider {
        id: "gemini",
        name: "Google Gemini",
        format: Format::Gemini,
        elsewhere: Format::Gemini,
        base: "https://generativelanguage.googleapis.com",
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        bases: &["GOOGLE_GEMINI_BASE_URL"],
        model: "gemini-3.8-flash",
        ..ROW
    },
    Provider {
        id: "openrouter",
        name: "OpenRouter",
        base: "https://openrouter.ai/api/v1",
        keys: &["OPENROUTER_API_KEY"],
        model: "openrouter/auto",
        quirks: Quirks { switch: Switch::Nested, marks: true, ..PLAIN },
        ..ROW
    },
    Provider {
        id: "azure",
        name: "Azure OpenAI",
        keys: &["AZURE_OPENAI_API_KEY"],
        bases: &["AZURE_OPENAI_ENDPOINT"],
        models: &["AZURE_OPENAI_DEPLOYMENT", "AZURE_OPENAI_DEPLOYMENT_NAME"],
        quirks: Quirks { api_key_header: true, completion_tokens: true, ..PLAIN },
        ..ROW
    },
    Provider {
        id: "mistral",
        name: "Mistral",
        base: "https://api.mistral.ai/v1",
        keys: &["MISTRAL_API_KEY"],
        model: "mistral-medium-latest",
        quirks: Quirks { pictures_in_results: true, bridge: true, short_ids: true, ..PLAIN },
        ..ROW
    },
    Provider {
        id: "deepseek",
        name: "DeepSeek",
        base: "https://api.deepseek.com/v1",
        keys: &["DEEPSEEK_API_KEY"],
        model: "deepseek-flash",
        quirks: Quirks { switch: Switch::Thinking, thoughts_back: true, ..PLAIN },
        ..ROW
    },
    Provider {
        id: "xai",
        name: "xAI",
        base: "https://api.x.ai/v1",
        keys: &["XAI_API_KEY"],
        model: "grok-4.7",
        ..ROW
    },
    Provider {
        id: "groq",
        name: "Groq",
        base: "https://api.groq.com/openai/v1",
        keys: &["GROQ_API_KEY"],
        model: "openai/gpt-oss-120b",
        ..ROW
    },
    Provider {
        id: "together",
        name: "Together",
        base: "https://api.together.xyz/v1",
        keys: &["TOGETHER_API_KEY"],
        model: "deepseek-ai/DeepSeek-V4.1-Flash",
        ..ROW
    },
    Provider {
        id: "fireworks",
        name: "Fireworks",
        base: "https://api.fireworks.ai/inference/v1",
        keys: &["FIREWORKS_API_KEY"],
        model: "accounts/fireworks/models/deepseek-v4-pro",
        ..ROW
    },
    Provider { id: "ollama", name: "Ollama", base: "http://127.0.0.1:11434/v1", ..ROW },
    Provider { id: "lmstudio", name: "LM Studio", base: "http://127.0.0.1:1234/v1", ..ROW },
    Provider {
        id: "llama-server",
        name: "llama-server",
        base: "http://127.0.0.1:8080/v1",
        owner: "llamacpp",
        quirks: Quirks { switch: Switch::Template, ..PLAIN },
        ..ROW
    },
    Provider {
        id: "vllm",
        name: "vLLM",
        base: "http://127.0.0.1:8000/v1",
        owner: "vllm",
        quirks: Quirks { switch: Switch::Template, ..PLAIN },
        ..ROW
    },
];

/// Any other server.
pub const CUSTOM: Provider = Provider { id: "custom", name: "your server", ..ROW };
