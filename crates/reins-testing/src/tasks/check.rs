//! Whether what a server stores is what the task asked for.

use super::book::Task;
use serde_json::{Map, Value};

/// What is not as it should be, one line each; empty if the task was done and nothing else.
pub fn misses(task: &Task, stored: &Map<String, Value>) -> Vec<String> {
    let mut lines = Vec::new();
    for (key, first) in &task.state {
        let now = stored.get(key).unwrap_or(&Value::Null);
        match task.check.get(key) {
            Some(Value::Object(wanted)) if first.is_array() => {
                by_id(key, wanted, (entries(first), entries(now)), &mut lines);
            }
            Some(wanted) => miss(key, wanted, now, &mut lines),
            None if task.may_change.contains(key) => {}
            None if first == now => {}
            None => lines.push(format!("{key} changed from {first} to {now}")),
        }
    }
    lines
}

fn entries(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

/// A list of which some entries are told by id, `"gone"` for one that went. The others must be as
/// they were, in the same order.
fn by_id(
    key: &str,
    wanted: &Map<String, Value>,
    (first, now): (&[Value], &[Value]),
    lines: &mut Vec<String>,
) {
    let told = |entry: &Value| plain(&entry["id"]).and_then(|id| wanted.get(&id));
    let kept: Vec<&Value> = first.iter().filter(|e| told(e).is_none_or(|w| w != GONE)).collect();
    if kept.len() != now.len() {
        lines.push(format!("{key} has {} entries, not {}", now.len(), kept.len()));
    }
    for (before, now) in kept.into_iter().zip(now) {
        match told(before) {
            Some(wanted) => {
                let mut whole = before.clone();
                if let (Some(whole), Some(wanted)) = (whole.as_object_mut(), wanted.as_object()) {
                    whole.extend(wanted.clone());
                }
                miss(key, &whole, now, lines);
            }
            None if before == now => {}
            None => lines.push(format!("{key} has {now}, not {before}")),
        }
    }
}

/// Stands for an entry that is no longer there.
const GONE: &str = "gone";

/// Lists are compared whole; of an object only what is written down. Forms send text, so numbers
/// and texts that read the same are the same. An empty text also stands for what is missing.
fn miss(place: &str, wanted: &Value, now: &Value, lines: &mut Vec<String>) {
    match (wanted, now) {
        (Value::Object(wanted), Value::Object(now)) => {
            for (key, wanted) in wanted {
                let now = now.get(key).unwrap_or(&Value::Null);
                miss(&format!("{place}.{key}"), wanted, now, lines);
            }
        }
        (Value::Array(wanted), Value::Array(now)) if wanted.len() == now.len() => {
            for (number, (wanted, now)) in wanted.iter().zip(now).enumerate() {
                miss(&format!("{place}[{number}]"), wanted, now, lines);
            }
        }
        _ if plain(wanted).is_some() && plain(wanted) == plain(now) => {}
        _ => lines.push(format!("{place} is {now}, not {wanted}")),
    }
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(word) => Some(word.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn entries_told_by_id_leave_the_others_as_they_were() {
        let first = [json!({"id": 1, "a": "x"}), json!({"id": 2, "a": "x"}), json!({"id": 3})];
        let wanted = json!({"2": {"a": "y"}, "3": "gone"});
        let found = |now: &[Value]| {
            let mut lines = Vec::new();
            by_id("list", wanted.as_object().unwrap_or(&Map::new()), (&first, now), &mut lines);
            lines.len()
        };
        assert_eq!(found(&[json!({"id": 1, "a": "x"}), json!({"id": 2, "a": "y"})]), 0);
        assert_eq!(found(&[json!({"id": 1, "a": "z"}), json!({"id": 2, "a": "y"})]), 1);
        assert_eq!(found(&[json!({"id": 1, "a": "x"}), json!({"id": 2, "a": "x"})]), 1);
        assert_eq!(found(&first), 2);
    }

    #[test]
    fn lists_are_whole_and_objects_need_what_is_written() {
        let found = |wanted: Value, now: Value| {
            let mut lines = Vec::new();
            miss("orders", &wanted, &now, &mut lines);
            lines.len()
        };
        assert_eq!(found(json!([{"item": "Pot"}]), json!([{"item": "Pot", "id": 4}])), 0);
        assert_eq!(found(json!([{"item": "Pot"}]), json!([{"item": "Pan"}])), 1);
        assert_eq!(found(json!([{"item": "Pot"}]), json!([{"item": "Pot"}, {"item": "Pot"}])), 1);
        assert_eq!(found(json!([]), json!([{"item": "Pot"}])), 1);
        assert_eq!(found(json!({"count": 2}), json!({"count": "2"})), 0);
        assert_eq!(found(json!({"note": ""}), json!({})), 0);
        assert_eq!(found(json!({"note": "x"}), json!({})), 1);
    }
}
