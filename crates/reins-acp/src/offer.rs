//! The models that an agent offers, and choosing one.

use serde_json::{Value, json};

/// A model as an agent offers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// What the agent calls it.
    pub id: String,
    /// What people call it.
    pub name: String,
}

/// What an agent said about its models when its session began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// All it offers; empty if it says nothing about models.
    pub models: Vec<Model>,
    /// The one it would use.
    pub current: Option<String>,
    how: How,
}

/// How a model is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum How {
    /// It cannot be.
    #[default]
    Not,
    /// `session/set_model`.
    Model,
    /// `session/set_config_option` with this option.
    Option(String),
}

impl Offer {
    /// Reads the answer to `session/new`. The list of models is preferred to the configuration option:
    /// where an adapter has both, it adds the current model to the option even if the person's plan does
    /// not have it, and R-082 would not see that.
    pub(crate) fn read(session: &Value) -> Self {
        let models = &session["models"];
        let listed = models["availableModels"].as_array().into_iter().flatten();
        let listed: Vec<_> = listed.filter_map(|entry| model(entry, "modelId")).collect();
        if !listed.is_empty() {
            let current = models["currentModelId"].as_str().map(str::to_owned);
            return Self { models: listed, current, how: How::Model };
        }
        let options = session["configOptions"].as_array().into_iter().flatten();
        let mut options = options.filter(|option| option["options"].is_array());
        let option = options.find(|o| o["id"] == "model" || o["category"] == "model");
        let Some((option, id)) = option.and_then(|o| Some((o, o["id"].as_str()?))) else {
            return Self::default();
        };
        let listed = option["options"].as_array().into_iter().flatten();
        // Options may stand in groups.
        let listed = listed.flat_map(|entry| match entry["options"].as_array() {
            Some(group) => group.iter().collect::<Vec<_>>(),
            None => vec![entry],
        });
        Self {
            models: listed.filter_map(|entry| model(entry, "value")).collect(),
            current: option["currentValue"].as_str().map(str::to_owned),
            how: How::Option(id.to_owned()),
        }
    }

    /// The model that must be set before the prompt, if any: the one that was asked for, or another
    /// when the current one is none of those that are offered.
    ///
    /// # Errors
    ///
    /// Fails if the one that was asked for is not offered.
    pub(crate) fn choose(&self, wanted: Option<&str>) -> Result<Option<&str>, NotOffered> {
        if let Some(wanted) = wanted {
            // Asked for by the person, so it stands even if the agent's list does not have it: with a
            // provider of their own the list is often another one's.
            let current = self.current.as_deref();
            if current.is_some_and(|id| id == wanted || base(id) == wanted) {
                return Ok(None);
            }
            let named = self.models.iter().find(|model| model.id == wanted).or_else(|| {
                let mut by_name = self.models.iter().filter(|model| {
                    model.name.eq_ignore_ascii_case(wanted) || model.id.eq_ignore_ascii_case(wanted)
                });
                by_name.next().filter(|_| by_name.next().is_none())
            });
            let id = named.ok_or(NotOffered)?.id.as_str();
            return Ok(Some(id).filter(|id| self.current.as_deref() != Some(*id)));
        }
        let Some(current) = self.current.as_deref() else { return Ok(None) };
        if self.models.iter().any(|model| model.id == current) {
            return Ok(None);
        }
        let suffix = suffix(current);
        let same = self.models.iter().find(|m| suffix.is_some() && self::suffix(&m.id) == suffix);
        Ok(same.or_else(|| self.models.first()).map(|model| model.id.as_str()))
    }

    /// The request that sets a model: its method and parameters.
    pub(crate) fn setting(&self, session: &str, id: &str) -> Option<(&'static str, Value)> {
        match &self.how {
            How::Not => None,
            How::Model => Some(("session/set_model", json!({"sessionId": session, "modelId": id}))),
            How::Option(option) => Some((
                "session/set_config_option",
                json!({"sessionId": session, "configId": option, "value": id}),
            )),
        }
    }

    /// The ids, for a message.
    pub(crate) fn ids(&self) -> String {
        if self.models.is_empty() {
            return "none by name; set the model in its own configuration".to_owned();
        }
        let ids: Vec<_> = self.models.iter().map(|model| crate::reply::plain(&model.id)).collect();
        ids.join(", ")
    }
}

/// The model that was asked for is not there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotOffered;

fn model(entry: &Value, key: &str) -> Option<Model> {
    let id = entry[key].as_str()?.to_owned();
    let name = entry["name"].as_str().map_or_else(|| id.clone(), str::to_owned);
    Some(Model { id, name })
}

/// A model's id without how much it thinks.
fn base(id: &str) -> &str {
    match suffix(id) {
        Some(_) => id.trim_end_matches(']').rsplit_once(['[', '/']).map_or(id, |(base, _)| base),
        None => id,
    }
}

/// How much a model thinks, where its id says so: `gpt-5[high]` or `gpt-5/high`.
fn suffix(id: &str) -> Option<&str> {
    if let Some(open) = id.strip_suffix(']') {
        return open.rsplit_once('[').map(|(_, suffix)| suffix);
    }
    let suffix = id.rsplit_once('/')?.1;
    const EFFORTS: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh", "max"];
    EFFORTS.contains(&suffix).then_some(suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(current: &str, ids: &[&str]) -> Offer {
        let models: Vec<_> =
            ids.iter().map(|id| json!({"modelId": id, "name": id.to_uppercase()})).collect();
        Offer::read(&json!({"models": {"availableModels": models, "currentModelId": current}}))
    }

    /// both ways in which agents list models, and how each is set.
    #[test]
    fn r226_models_are_read_in_both_forms() {
        let old = offer("a", &["a", "b"]);
        assert_eq!(old.models.len(), 2);
        assert_eq!(
            old.setting("s", "b"),
            Some(("session/set_model", json!({"sessionId": "s", "modelId": "b"})))
        );
        let new = Offer::read(&json!({
            "models": {"availableModels": []},
            "configOptions": [
                {"id": "mode", "type": "select", "currentValue": "m", "options": [{"value": "m", "name": "M"}]},
                {"id": "model", "type": "select", "currentValue": "c", "options": [
                    {"group": "g", "name": "G", "options": [{"value": "c", "name": "C"}]},
                    {"value": "d", "name": "Dee"}]},
            ],
        }));
        assert_eq!(new.current.as_deref(), Some("c"));
        assert_eq!(new.models[1], Model { id: "d".into(), name: "Dee".into() });
        assert_eq!(
            new.setting("s", "d"),
            Some((
                "session/set_config_option",
                json!({"sessionId": "s", "configId": "model", "value": "d"})
            ))
        );
        assert_eq!(Offer::read(&json!({"sessionId": "s"})), Offer::default());
    }

    /// one that is asked for is set, or the run does not start.
    #[test]
    fn r226_the_model_that_was_asked_for_is_chosen() {
        let offer = offer("a", &["a", "b", "opencode/B"]);
        assert_eq!(offer.choose(Some("b")), Ok(Some("b")));
        assert_eq!(offer.choose(Some("a")), Ok(None), "it is the current one");
        assert_eq!(offer.choose(Some("c")), Err(NotOffered));
        assert_eq!(Offer::default().choose(Some("c")), Err(NotOffered));
        assert_eq!(offer.choose(None), Ok(None));
        let own = self::offer("own[high]", &["a", "b"]);
        assert_eq!(own.choose(Some("own")), Ok(None), "asked for, though not listed");
        assert_eq!(own.choose(Some("own[high]")), Ok(None));
        assert_eq!(own.choose(Some("own[low]")), Err(NotOffered));
    }

    /// a current model that is not offered is replaced by one that thinks as much.
    #[test]
    fn r082_a_current_model_that_is_not_offered_is_replaced() {
        assert_eq!(
            offer("big[high]", &["small[low]", "small[high]"]).choose(None),
            Ok(Some("small[high]"))
        );
        assert_eq!(
            offer("big/high", &["small/low", "small/high"]).choose(None),
            Ok(Some("small/high"))
        );
        assert_eq!(offer("big", &["one", "two"]).choose(None), Ok(Some("one")));
        assert_eq!(offer("big[max]", &["one", "two[low]"]).choose(None), Ok(Some("one")));
        assert_eq!(offer("big", &[]).choose(None), Ok(None));
    }
}
