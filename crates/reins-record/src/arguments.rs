//! What is kept of a tool's arguments: everything but what was typed.

use serde_json::Value;

/// Arguments that hold typed text.
const TYPED: &[&str] =
    &["text", "value", "values", "key", "keys", "prompt_text", "promptText", "script", "function"];

/// Longer ones are cut.
const LONGEST: usize = 500;

/// The arguments of a call as they may be recorded: typed values as asterisks, everything else as it is.
pub fn masked_arguments(arguments: &Value) -> Value {
    match arguments {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| {
                let typed = TYPED.contains(&name.as_str());
                (name.clone(), if typed { stars(value) } else { masked_arguments(value) })
            })
            .collect(),
        Value::Array(items) => items.iter().map(masked_arguments).collect(),
        Value::String(text) if text.len() > LONGEST => {
            Value::String(text.chars().take(LONGEST).chain("…".chars()).collect())
        }
        other => other.clone(),
    }
}

fn stars(value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        Value::Array(items) => items.iter().map(stars).collect(),
        // The length of a password would tell something of it.
        _ => Value::String("********".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn s102_typed_values_of_tool_calls_are_masked() {
        let arguments = json!({
            "ref": "e3", "text": "hunter2", "submit": true, "values": ["a", 4711],
            "fields": [{"ref": "e4", "value": "swordfish"}, {"ref": "e5", "value": true}],
        });
        let kept = masked_arguments(&arguments);
        assert_eq!(kept["ref"], "e3");
        assert_eq!(kept["fields"][0]["ref"], "e4");
        let text = kept.to_string();
        for secret in ["hunter2", "4711", "swordfish"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}
