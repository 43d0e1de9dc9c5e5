//! Replies as MCP content.

use crate::calls::NotMade;
use crate::offer::Names;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reins_control::{ControlError, Reply, Stored};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Resource};
use serde_json::{Map, Value, json};

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
    failure(error.code(), &error.to_string())
}

/// The key of a takeover in an error's `_meta` (S-071).
pub(crate) const TAKEOVER: &str = "reins/takeover";

/// A call that did nothing, in the words of a client that knows the tools by these names.
pub(crate) fn not_made(why: &NotMade, names: Names) -> CallToolResult {
    let held = match why {
        NotMade::Control(error) if names == Names::Playwright => {
            return failure(error.code(), &crate::playwright::in_their_words(&error.to_string()));
        }
        NotMade::Control(error) => return self::error(error),
        NotMade::Stopping => {
            return failure(
                "browser_stopping",
                "the browser is stopping, so nothing was done. Start it again to go on",
            );
        }
        NotMade::Held(held) => held,
    };
    // The name is a person's own choice of words.
    let name = held.held_by.replace(char::is_control, " ");
    let mut result = failure(
        "held_by_person",
        &format!(
            "{name} is driving this browser and has not handed it back, so nothing was done. \
             Wait for them and call again; reading the page works meanwhile"
        ),
    );
    let takeover =
        json!({"held_by": held.held_by, "since": held.since, "waited_ms": held.waited_ms});
    result.meta = Some(MetaObject(Map::from_iter([(TAKEOVER.to_owned(), takeover)])));
    result
}

/// Something that was not done, or not to its end.
pub(crate) fn failure(code: &str, message: &str) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(format!("{code}: {message}"))]);
    result.structured_content = Some(json!({"error": code}));
    result
}

/// A result whose text holds at most this many bytes (S-X10). Nothing of ours comes near it.
pub(crate) fn within(mut result: CallToolResult, bytes: usize) -> CallToolResult {
    let mut left = bytes;
    for block in &mut result.content {
        let ContentBlock::Text(text) = block else { continue };
        if text.text.len() > left {
            let end = (0..=left).rev().find(|end| text.text.is_char_boundary(*end)).unwrap_or(0);
            text.text.truncate(end);
            text.text.push_str("\n(cut here: the answer was too long)");
            left = 0;
        } else {
            left -= text.text.len();
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// S-X10: whatever a page holds, an answer stays within its bound and cuts no character.
    #[test]
    fn s_x10_an_answer_is_cut_at_its_bound() {
        let long = "é".repeat(300);
        let blocks = vec![ContentBlock::text(long.clone()), ContentBlock::text("more")];
        let cut = within(CallToolResult::success(blocks), 101);
        let texts: Vec<&str> = cut
            .content
            .iter()
            .filter_map(|block| match block {
                ContentBlock::Text(text) => Some(text.text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(texts[0].lines().next().map(str::len), Some(100));
        assert!(texts[0].ends_with("too long)") && texts[1].starts_with("\n(cut"), "{texts:?}");
        let whole = within(CallToolResult::success(vec![ContentBlock::text(long.clone())]), 600);
        assert!(matches!(&whole.content[0], ContentBlock::Text(text) if text.text == long));
    }
}
