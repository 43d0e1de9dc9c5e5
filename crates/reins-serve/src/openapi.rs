//! The OpenAPI 3.1 document, made from the one list of operations and the one list of tools.

use crate::api::{self, Access, Answer, Operation};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// What every operation may answer beside its own.
const ALWAYS: &[u16] = &[421, 500];

/// What operations for known callers may answer.
const KNOWN: &[u16] = &[401, 403, 429];

/// The document.
pub(crate) fn document(version: &str) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "#/components/schemas".into();
    settings.meta_schema = None;
    let mut schemas = settings.into_generator();
    let mut paths = Map::new();
    for operation in api::operations() {
        if operation.path == api::tools::PATH {
            for tool in reins_control::tools() {
                let path = operation.path.replace("{tool}", tool.name);
                let mut described = describe(operation, &mut schemas);
                described["operationId"] = json!(format!("tool_{}", tool.name));
                described["summary"] = json!(tool.about);
                described["requestBody"] = body(Value::Object(tool.input_schema()));
                described["parameters"] = json!([path_parameter("id")]);
                paths.insert(path, json!({"post": described}));
            }
            continue;
        }
        let described = describe(operation, &mut schemas);
        let entry = paths.entry(operation.path).or_insert_with(|| json!({}));
        entry[operation.method.to_ascii_lowercase()] = described;
    }
    let mut components = schemas.take_definitions(true);
    components.insert("Error".into(), error_schema());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Reins",
            "version": version,
            "description": "Sandboxed browser sessions: pinned to one app, recorded, watchable, metered.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "dashboard": {"type": "apiKey", "in": "cookie", "name": "reins_session"},
            },
        },
    })
}

fn describe(operation: &Operation, schemas: &mut SchemaGenerator) -> Value {
    let mut answers = Map::new();
    let mut good = json!({"description": "It worked."});
    match operation.answer {
        Answer::Json(schema) => {
            good["content"] = json!({"application/json": {"schema": schema(schemas)}});
        }
        Answer::Other(kind) => {
            let kind = kind.split(';').next().unwrap_or(kind);
            good["content"] = json!({kind: {}});
        }
        Answer::Nothing => {}
    }
    answers.insert(operation.good.to_string(), good);
    let known = if operation.access == Access::Open { &[] } else { KNOWN };
    for status in operation.bad.iter().chain(known).chain(ALWAYS) {
        let answer = json!({
            "description": meaning(*status),
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        });
        answers.insert(status.to_string(), answer);
    }
    if operation.access == Access::Open {
        // A page of another origin is refused here as well.
        answers.entry("403").or_insert_with(|| {
            json!({
                "description": meaning(403),
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
            })
        });
    }
    let mut parameters: Vec<Value> = parts(operation.path).map(path_parameter).collect();
    parameters.extend(operation.query.iter().map(|param| {
        let mut schema = json!({"type": param.kind});
        if param.kind == "integer" {
            schema["minimum"] = json!(0);
        }
        json!({"name": param.name, "in": "query", "description": param.about, "schema": schema})
    }));
    let mut described = json!({
        "operationId": operation.id,
        "summary": operation.about,
        "parameters": parameters,
        "responses": answers,
    });
    if let Some(schema) = operation.body {
        described["requestBody"] = body(schema(schemas).to_value());
    }
    match operation.access {
        Access::Open => described["security"] = json!([]),
        Access::Known => described["security"] = json!([{"token": []}, {"dashboard": []}]),
        Access::Scope(scope) => {
            described["security"] = json!([{"token": []}, {"dashboard": []}]);
            described["description"] = json!(format!("Needs the scope `{}`.", scope.word()));
        }
    }
    described
}

fn body(schema: Value) -> Value {
    json!({"content": {"application/json": {"schema": schema}}})
}

/// The names in braces.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn path_parameter(name: &str) -> Value {
    json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}})
}

fn meaning(status: u16) -> &'static str {
    match status {
        400 => "The request is not understood.",
        401 => "No token, or none that is valid.",
        402 => "No browser minutes are left.",
        403 => "Not allowed.",
        404 => "Nothing of this tenant has this id.",
        409 => "It is in another state.",
        413 => "The body is too large.",
        415 => "The body is no JSON.",
        421 => "Meant for another host.",
        422 => "It cannot be done.",
        429 => "Too many requests.",
        _ => "The daemon failed; its log says more.",
    }
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {
                    "code": {"type": "string", "description": "Stable."},
                    "message": {"type": "string", "description": "What happened and what to do next."},
                    "payload": {"description": "What a checker said."},
                },
            },
        },
    })
}
