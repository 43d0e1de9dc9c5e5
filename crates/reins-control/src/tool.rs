//! One list of tools. MCP tools, command-line verbs and the reference are made from it.

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use futures_util::future::BoxFuture;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// What a tool can do to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Read,
    /// It changes what is on the screen, nothing that lasts (scroll, hover, switch_tab).
    View,
    /// It may change something that lasts.
    Act,
}

/// Tools are listed by group; `core` is what is listed if nothing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// What nearly every task needs.
    Core,
    /// For who develops the page: what it logs and loads, and how it looks elsewhere. Switched on with
    /// `--tools`.
    Inspect,
    /// Several fields in one call.
    Forms,
    /// Assertions, for agents that test the page (S-033).
    Testing,
}

impl Group {
    /// What `--tools` calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Inspect => "inspect",
            Self::Forms => "forms",
            Self::Testing => "testing",
        }
    }
}

/// One tool: its name, what the model reads about it, its arguments and its handler.
pub struct Tool {
    /// The name that callers use.
    pub name: &'static str,
    /// A short title for people.
    pub title: &'static str,
    /// What it does, for the model. Every word costs tokens in every conversation.
    pub about: &'static str,
    /// What it can do to the world.
    pub effect: Effect,
    /// When it is listed.
    pub group: Group,
    pub(crate) schema: fn() -> Value,
    pub(crate) run: Handler,
}

/// A tool's handler.
pub(crate) type Handler =
    for<'c> fn(&'c mut Call<'_>, Value) -> BoxFuture<'c, Result<Reply, ControlError>>;

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).field("effect", &self.effect).finish()
    }
}

impl Tool {
    /// The JSON Schema of the arguments, with the `tab` and `session` that every tool takes.
    pub fn input_schema(&self) -> Map<String, Value> {
        let mut schema = match (self.schema)() {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        let properties = schema
            .entry("properties")
            .or_insert_with(|| json!({}))
            .as_object_mut()
            .map(std::mem::take)
            .unwrap_or_default();
        let mut all = properties;
        all.insert("tab".into(), json!({"type": "string"}));
        all.insert("session".into(), json!({"type": "string"}));
        schema.insert("properties".into(), Value::Object(all));
        schema.insert("type".into(), json!("object"));
        schema
    }
}

/// Declares the tool of a module: `tool!("name", "Title", "about", Effect, Group, Args, run)`.
macro_rules! tool {
    ($name:literal, $title:literal, $about:literal, $effect:ident, $group:ident, $args:ty, $run:path) => {
        pub(crate) const TOOL: $crate::tool::Tool = {
            fn dispatch<'c>(
                call: &'c mut $crate::call::Call<'_>,
                arguments: serde_json::Value,
            ) -> futures_util::future::BoxFuture<
                'c,
                Result<$crate::reply::Reply, $crate::error::ControlError>,
            > {
                Box::pin(async move {
                    let args = $crate::tool::parse::<$args>($name, arguments)?;
                    $run(call, args).await
                })
            }
            $crate::tool::Tool {
                name: $name,
                title: $title,
                about: $about,
                effect: $crate::tool::Effect::$effect,
                group: $crate::tool::Group::$group,
                schema: $crate::tool::schema_of::<$args>,
                run: dispatch,
            }
        };
    };
}
pub(crate) use tool;

/// The schema of a type, as small as it can be: no titles, no null alternatives, no formats.
pub(crate) fn schema_of<T: schemars::JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut value = settings.into_generator().into_root_schema_for::<T>().to_value();
    shrink(&mut value, true);
    value
}

fn shrink(value: &mut Value, root: bool) {
    if let Value::Object(map) = value {
        if root {
            map.remove("description");
        }
        map.remove("title");
        map.remove("format");
        map.remove("minimum");
        map.remove("$schema");
        if map.get("default").is_some_and(|d| d.is_null() || d == &json!(false)) {
            map.remove("default");
        }
        if let Some(Value::Array(types)) = map.get_mut("type") {
            types.retain(|t| t != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                map.insert("type".into(), only);
            }
        }
        if let Some(Value::Array(options)) = map.get_mut("enum") {
            options.retain(|o| !o.is_null());
        }
        if let Some(Value::Array(any)) = map.remove("anyOf") {
            let mut kept: Vec<Value> =
                any.into_iter().filter(|v| v.get("type") != Some(&json!("null"))).collect();
            if kept.len() == 1
                && let Some(Value::Object(inner)) = kept.pop()
            {
                for (key, inner) in inner {
                    map.entry(key).or_insert(inner);
                }
            } else {
                map.insert("anyOf".into(), Value::Array(kept));
            }
        }
        for (key, inner) in map.iter_mut() {
            // Property names may be called "title" or "format": only their values are schemas.
            if key == "properties" {
                if let Value::Object(properties) = inner {
                    properties.values_mut().for_each(|property| shrink(property, false));
                }
            } else {
                shrink(inner, false);
            }
        }
    } else if let Value::Array(items) = value {
        items.iter_mut().for_each(|item| shrink(item, false));
    }
}

/// Parses arguments, or says what does not fit and what would.
pub(crate) fn parse<T: DeserializeOwned + schemars::JsonSchema>(
    tool: &'static str,
    arguments: Value,
) -> Result<T, ControlError> {
    let arguments = if arguments.is_null() { json!({}) } else { arguments };
    serde_json::from_value(arguments).map_err(|error| ControlError::Arguments {
        tool,
        reason: error.to_string(),
        hint: usage(&schema_of::<T>()),
    })
}

/// `It takes ref (string), button (string, optional)`.
fn usage(schema: &Value) -> String {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return "It takes no arguments".into();
    };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let parts: Vec<String> = properties
        .iter()
        .map(|(name, property)| {
            let kind = property.get("type").and_then(Value::as_str).unwrap_or("value");
            let optional = if required.contains(&name.as_str()) { "" } else { ", optional" };
            format!("{name} ({kind}{optional})")
        })
        .collect();
    format!("It takes {}", parts.join(", "))
}
