//! Replies as MCP content.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reins_control::{ControlError, Reply, Stored};
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::{Value, json};

/// A reply: text first, then pictures, then links to what was too long.
pub(crate) fn result(reply: Reply) -> CallToolResult {
    let failed = reply.failed();
    let mut content = vec![ContentBlock::text(reply.whole_text())];
    for picture in &reply.pictures {
        content.push(ContentBlock::image(STANDARD.encode(&picture.bytes), picture.mime));
    }
    for stored in &reply.stored {
        content.push(ContentBlock::resource_link(resource(stored)));
    }
    let mut result =
        if failed { CallToolResult::error(content) } else { CallToolResult::success(content) };
    if !failed {
        // Absent means the same and saves bytes in every answer.
        result.is_error = None;
    }
    if !reply.facts.is_empty() {
        result.structured_content = Some(Value::Object(reply.facts));
    }
    result
}

/// A typed error: code, what happened, what to do next.
pub(crate) fn error(error: &ControlError) -> CallToolResult {
    let code = error.code();
    let mut result = CallToolResult::error(vec![ContentBlock::text(format!("{code}: {error}"))]);
    result.structured_content = Some(json!({"error": code}));
    result
}

/// Whether a client gives its model the structured part of a result *instead of* the text, as Codex
/// does. Its model would see how a step ended and nothing of the page.
pub(crate) fn shows_one_part(client: Option<&str>) -> bool {
    client.is_some_and(|name| name.to_lowercase().contains("codex"))
}

/// A result as text alone.
pub(crate) fn without_structure(mut result: CallToolResult) -> CallToolResult {
    result.structured_content = None;
    result
}

/// A kept result as an MCP resource.
pub(crate) fn resource(stored: &Stored) -> Resource {
    Resource::new(stored.uri.clone(), stored.name.clone())
        .with_mime_type(stored.mime)
        .with_size(stored.bytes as u64)
}
