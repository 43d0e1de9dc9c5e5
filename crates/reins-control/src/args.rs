//! Argument types that several tools share.

use reins_core::Ref;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// A ref as models write it: `e12`, `[ref=e12]`, `ref=e12` or `12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RefArg(pub(crate) Ref);

impl<'de> Deserialize<'de> for RefArg {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Spelling {
            Text(String),
            Number(u32),
        }
        match Spelling::deserialize(deserializer)? {
            Spelling::Number(number) => Ok(Self(Ref(number))),
            Spelling::Text(text) => {
                let bare = text.trim().trim_matches(['[', ']', '@', '"']);
                let bare = bare.strip_prefix("ref=").unwrap_or(bare).trim_matches('"');
                bare.parse().map(Self).map_err(|_| {
                    D::Error::custom(format!(
                        "'{text}' is not a ref; a ref looks like e12 and comes from a snapshot"
                    ))
                })
            }
        }
    }
}

impl JsonSchema for RefArg {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Ref".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string"})
    }
}

/// One text or several: `"a"` or `["a", "b"]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl OneOrMany {
    pub(crate) fn into_vec(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }
}

impl JsonSchema for OneOrMany {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Texts".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "array", "items": {"type": "string"}})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refs_are_read_however_models_write_them() {
        for text in [r#""e12""#, r#""[ref=e12]""#, r#""ref=e12""#, r#""@e12""#, "12", r#""12""#] {
            assert_eq!(serde_json::from_str::<RefArg>(text).expect(text), RefArg(Ref(12)));
        }
        assert!(serde_json::from_str::<RefArg>(r#""button""#).is_err());
    }
}
