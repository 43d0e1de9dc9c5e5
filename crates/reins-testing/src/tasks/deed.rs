//! What a POST changes on a server, as data.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What a POST to `/do/NAME` does with the fields that it carries.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Deed {
    /// Fields that must say something.
    pub(crate) needs: Vec<String>,
    /// What a field must look like, if it says something.
    pub(crate) fits: BTreeMap<String, Shape>,
    /// How far a sign-in must have got.
    pub(crate) requires: u8,
    /// Fields that must be those of one of the hidden accounts; then the sign-in has got this far.
    pub(crate) proves: Vec<String>,
    pub(crate) grants: Option<u8>,
    /// Fields that are not stored.
    pub(crate) forget: Vec<String>,
    /// More to store with them.
    pub(crate) with: Map<String, Value>,
    /// Stored values to store with them, under their own names.
    pub(crate) take: Vec<String>,
    /// The list that they are added to.
    pub(crate) append: Option<String>,
    /// The object that they are put into.
    pub(crate) set: Option<String>,
    /// The list whose entries with these ids they are put into.
    pub(crate) update: Option<String>,
    /// The list whose entries with these ids go.
    pub(crate) remove: Option<String>,
    /// Lists and objects that are emptied afterwards.
    pub(crate) clear: Vec<String>,
    /// The page that follows. Without it the answer is JSON.
    pub(crate) next: Option<String>,
}

/// What a field must look like.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Shape {
    /// Has this in it.
    Has(String),
    /// A whole number, at least this.
    Least(i64),
    /// A whole number, at most this.
    Most(i64),
    /// One of these.
    OneOf(Vec<String>),
    /// At least so many letters.
    Letters(usize),
}

impl Shape {
    fn fits(&self, text: &str) -> bool {
        let number = || text.trim().parse::<i64>();
        match self {
            Self::Has(part) => text.contains(part),
            Self::Least(least) => number().is_ok_and(|number| number >= *least),
            Self::Most(most) => number().is_ok_and(|number| number <= *most),
            Self::OneOf(words) => words.iter().any(|word| word == text),
            Self::Letters(least) => text.chars().count() >= *least,
        }
    }
}

/// Why nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum No {
    /// This field is missing or wrong.
    Field(String),
    /// No account has these.
    SignIn,
    /// There is no such entry.
    Entry,
}

impl No {
    /// As the page shows it.
    pub(crate) fn told(&self) -> String {
        match self {
            Self::Field(name) => format!("Please check: {}", name.replace('_', " ")),
            Self::SignIn => "These sign-in details are not right".into(),
            Self::Entry => "There is no such entry any more".into(),
        }
    }
}

impl Deed {
    /// Changes what is stored, or says why not. Nothing is changed in part.
    pub(crate) fn done(
        &self,
        fields: &Map<String, Value>,
        hidden: &Map<String, Value>,
        state: &mut Map<String, Value>,
    ) -> Result<(), No> {
        for name in &self.needs {
            if text_of(fields, name).trim().is_empty() {
                return Err(No::Field(name.clone()));
            }
        }
        for (name, shape) in &self.fits {
            let text = text_of(fields, name);
            if !text.is_empty() && !shape.fits(&text) {
                return Err(No::Field(name.clone()));
            }
        }
        if !self.proves.is_empty() {
            let accounts = hidden.get("accounts").and_then(Value::as_array);
            let proven = |account: &Value| {
                let said = |name: &String| account[name.as_str()] == text_of(fields, name).as_str();
                self.proves.iter().all(said)
            };
            if !accounts.is_some_and(|accounts| accounts.iter().any(proven)) {
                return Err(No::SignIn);
            }
        }
        let mut record = fields.clone();
        record.retain(|name, _| !self.forget.contains(name) && name != "id" && name != "ids");
        record.extend(self.with.clone());
        for name in &self.take {
            record.insert(name.clone(), state.get(name).cloned().unwrap_or_default());
        }
        let ids: Vec<String> = match fields.get("ids") {
            Some(Value::Array(ids)) => ids.iter().map(plain).collect(),
            _ => text_of(fields, "id").split(',').map(str::to_owned).collect(),
        };
        if let Some(list) = self.update.as_ref().or(self.remove.as_ref()) {
            let list = state.get(list).and_then(Value::as_array);
            let known = |id: &String| {
                list.is_some_and(|list| list.iter().any(|entry| plain(&entry["id"]) == *id))
            };
            if !ids.iter().all(known) {
                return Err(No::Entry);
            }
        }
        if let Some(Value::Array(list)) = self.update.as_ref().and_then(|name| state.get_mut(name))
        {
            for entry in list.iter_mut().filter(|entry| ids.contains(&plain(&entry["id"]))) {
                if let Value::Object(entry) = entry {
                    entry.extend(record.clone());
                }
            }
        }
        if let Some(Value::Array(list)) = self.remove.as_ref().and_then(|name| state.get_mut(name))
        {
            list.retain(|entry| !ids.contains(&plain(&entry["id"])));
        }
        if let Some(Value::Object(object)) = self.set.as_ref().and_then(|name| state.get_mut(name))
        {
            object.extend(record.clone());
        }
        if let Some(Value::Array(list)) = self.append.as_ref().and_then(|name| state.get_mut(name))
        {
            list.push(Value::Object(record));
        }
        for name in &self.clear {
            match state.get_mut(name) {
                Some(Value::Array(list)) => list.clear(),
                Some(Value::Object(object)) => object.clear(),
                _ => {}
            }
        }
        Ok(())
    }
}

fn text_of(fields: &Map<String, Value>, name: &str) -> String {
    fields.get(name).map(plain).unwrap_or_default()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        // A file is there if it has a name.
        Value::Object(file) => file.get("name").map(plain).unwrap_or_default(),
        other => other.to_string(),
    }
}
