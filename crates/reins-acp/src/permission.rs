//! Who asks for a permission (R-100…R-108).
//!
//! An agent asks with `session/request_permission`. It may go on only if what it asks about is
//! provably a tool of this run's own server. The proof is a field that the agent's *runtime* writes;
//! titles, kinds and arguments are the model's words and prove nothing. Passing here makes a tool
//! callable and no more: the call itself is judged on the street.

use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};

/// Which field of an agent's messages its runtime writes from its MCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// `claude-agent-acp`: the permission request's own `_meta.claudeCode` names the server that
    /// serves the tool, and the tool.
    Claude,
    /// `codex-acp`: the request is marked as an MCP approval, and the tool call that it belongs to
    /// carries the marked envelope of server and tool that the adapter builds.
    Codex,
    /// No such field is known: nothing is approved for this agent.
    None,
}

/// What a permission request was found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// This tool of our own server.
    Ours(String),
    /// Anything else.
    Other,
}

/// The tools that are being served right now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served<'a> {
    pub(crate) server: &'a str,
    pub(crate) tools: &'a [String],
}

/// Tool calls an agent has under way. More than any agent makes at once; the oldest go first.
const MOST_CALLS: usize = 256;

/// What was told of tool calls that are not over, for requests that only name one.
#[derive(Debug, Default)]
pub(crate) struct ToolCalls {
    calls: HashMap<String, Map<String, Value>>,
    order: VecDeque<String>,
}

impl ToolCalls {
    /// Notes a `tool_call`, which begins a call, or a `tool_call_update`, which adds to one.
    pub(crate) fn note(&mut self, update: &Value) {
        let Some(fields) = update.as_object() else { return };
        let Some(id) = fields.get("toolCallId").and_then(Value::as_str) else { return };
        // A second beginning under the same id is another call: nothing of the first counts for it.
        if fields.get("sessionUpdate").and_then(Value::as_str) == Some("tool_call") {
            self.forget(id);
        }
        if matches!(fields.get("status").and_then(Value::as_str), Some("completed" | "failed")) {
            self.forget(id);
            return;
        }
        if !self.calls.contains_key(id) {
            self.order.push_back(id.to_owned());
            if self.order.len() > MOST_CALLS
                && let Some(oldest) = self.order.pop_front()
            {
                self.calls.remove(&oldest);
            }
        }
        let call = self.calls.entry(id.to_owned()).or_default();
        call.extend(
            fields
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(k, v)| (k.clone(), v.clone())),
        );
    }

    fn forget(&mut self, id: &str) {
        if self.calls.remove(id).is_some() {
            self.order.retain(|known| known != id);
        }
    }

    /// What is known of the call that a request is about: the earlier updates, and over them the
    /// request's own sparse fields.
    fn merged(&self, call: &Value) -> Map<String, Value> {
        let id = call["toolCallId"].as_str().unwrap_or_default();
        let mut merged = self.calls.get(id).cloned().unwrap_or_default();
        let own = call.as_object().into_iter().flatten();
        merged
            .extend(own.filter(|(_, value)| !value.is_null()).map(|(k, v)| (k.clone(), v.clone())));
        merged
    }
}

/// Says what a request is about. `served` is `None` unless our server is running.
pub(crate) fn find(
    identity: Identity,
    served: Option<Served<'_>>,
    calls: &ToolCalls,
    request: &Value,
) -> Finding {
    let Some(served) = served else { return Finding::Other };
    let name = match identity {
        Identity::Claude => claude(served.server, request),
        Identity::Codex => codex(served.server, calls, request),
        Identity::None => None,
    };
    match name.filter(|name| served.tools.iter().any(|tool| tool == name)) {
        Some(name) => Finding::Ours(name),
        None => Finding::Other,
    }
}

/// Only the request's own `_meta` counts: the adapter writes it from the connection that serves the
/// tool. Earlier updates carry a tool's name, but not who serves it.
fn claude(server: &str, request: &Value) -> Option<String> {
    let meta = &request["toolCall"]["_meta"]["claudeCode"];
    if meta["mcpServer"]["name"].as_str()? != server {
        return None;
    }
    let tool = meta["toolName"].as_str()?.strip_prefix("mcp__")?.strip_prefix(server)?;
    tool.strip_prefix("__").map(str::to_owned)
}

/// Three marks of the adapter at once: the request is an approval of an MCP tool, the call is one
/// of an MCP tool, and its input is the adapter's envelope and not the model's arguments. The first
/// is on the request itself, so an id that is used again for a command lends it nothing.
fn codex(server: &str, calls: &ToolCalls, request: &Value) -> Option<String> {
    if request["_meta"]["is_mcp_tool_approval"] != true {
        return None;
    }
    let call = calls.merged(&request["toolCall"]);
    if call.get("_meta")?["is_mcp_tool_call"] != true {
        return None;
    }
    let envelope = call.get("rawInput")?.as_object()?;
    let known = envelope.keys().all(|key| matches!(key.as_str(), "server" | "tool" | "arguments"));
    if !known || envelope.get("server")?.as_str()? != server {
        return None;
    }
    envelope.get("tool")?.as_str().map(str::to_owned)
}

/// The option that allows just this once. Never one that makes the agent remember it: a run leaves
/// nothing behind.
pub(crate) fn allow_once(request: &Value) -> Option<&str> {
    option(request, "allow_once")
}

/// The option that says no, for this time if there is one.
pub(crate) fn reject(request: &Value) -> Option<&str> {
    option(request, "reject_once").or_else(|| option(request, "reject_always"))
}

fn option<'a>(request: &'a Value, kind: &str) -> Option<&'a str> {
    let options = request["options"].as_array()?;
    options.iter().find(|option| option["kind"] == kind)?["optionId"].as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SERVER: &str = crate::SERVER;

    fn tools() -> Vec<String> {
        ["click", "snapshot"].map(str::to_owned).to_vec()
    }

    fn judge(identity: Identity, before: &[Value], request: &Value) -> Finding {
        let mut calls = ToolCalls::default();
        before.iter().for_each(|update| calls.note(update));
        let tools = tools();
        find(identity, Some(Served { server: SERVER, tools: &tools }), &calls, request)
    }

    fn claude_request(server: Value, tool: &str) -> Value {
        json!({"toolCall": {"toolCallId": "1", "title": "click", "_meta": {"claudeCode": {
            "mcpServer": {"name": server, "source": "dynamic"}, "toolName": tool}}}})
    }

    fn codex_call(meta: Value, input: Value) -> Value {
        json!({"sessionUpdate": "tool_call", "toolCallId": "1", "title": format!("mcp.{SERVER}.click"),
            "_meta": meta, "rawInput": input})
    }

    fn codex_request() -> Value {
        json!({"_meta": {"is_mcp_tool_approval": true}, "toolCall": {"toolCallId": "1"}})
    }

    fn envelope() -> Value {
        json!({"server": SERVER, "tool": "click", "arguments": {"ref": "e1"}})
    }

    /// the one shape that proves our tool to be ours.
    #[test]
    fn r103_claude_is_known_by_the_server_its_runtime_names() {
        let ours = claude_request(json!(SERVER), &format!("mcp__{SERVER}__click"));
        assert_eq!(judge(Identity::Claude, &[], &ours), Finding::Ours("click".into()));
    }

    /// everything that merely looks like it.
    #[test]
    fn r103_claude_spoofs_are_others() {
        let tool = format!("mcp__{SERVER}__click");
        let long = format!("{SERVER}x");
        let mut spoofs = vec![
            claude_request(json!("other"), &tool),
            claude_request(json!(long), &tool),
            claude_request(json!(long), &format!("mcp__{long}__click")),
            claude_request(json!(SERVER), "Bash"),
            claude_request(json!(SERVER), "click"),
            claude_request(json!(SERVER), "mcp__other__click"),
            claude_request(json!(SERVER), &format!("{tool}_all")),
            claude_request(json!(SERVER), &format!("x{tool}")),
            claude_request(json!(SERVER), &format!("mcp__{SERVER}__")),
            claude_request(json!(SERVER), &format!("mcp__{SERVER}__CLICK")),
            claude_request(json!([SERVER]), &tool),
            claude_request(Value::Null, &tool),
        ];
        // The model's own words: title, kind and arguments.
        spoofs.push(json!({"toolCall": {"toolCallId": "1", "title": tool, "kind": "other",
            "rawInput": {"_meta": {"claudeCode": {"mcpServer": {"name": SERVER}, "toolName": tool}}}}}));
        // Who serves it must be said by the request, not beside it.
        spoofs.push(
            json!({"_meta": {"claudeCode": {"mcpServer": {"name": SERVER}, "toolName": tool}},
            "toolCall": {"toolCallId": "1"}}),
        );
        for spoof in spoofs {
            assert_eq!(judge(Identity::Claude, &[], &spoof), Finding::Other, "{spoof}");
        }
        // An earlier update cannot lend a request what it lacks.
        let before = json!({"sessionUpdate": "tool_call", "toolCallId": "1", "_meta": {"claudeCode": {
            "mcpServer": {"name": SERVER}, "toolName": tool}}});
        let bare = json!({"toolCall": {"toolCallId": "1", "title": tool}});
        assert_eq!(judge(Identity::Claude, &[before], &bare), Finding::Other);
    }

    /// the request is sparse, the earlier update has the envelope.
    #[test]
    fn r104_codex_is_known_by_its_adapters_envelope() {
        let before = codex_call(json!({"is_mcp_tool_call": true}), envelope());
        assert_eq!(
            judge(Identity::Codex, std::slice::from_ref(&before), &codex_request()),
            Finding::Ours("click".into())
        );
        let added = json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "in_progress"});
        assert_eq!(
            judge(Identity::Codex, &[before, added], &codex_request()),
            Finding::Ours("click".into())
        );
    }

    /// a command whose text, title or arguments speak of our server stays a command.
    #[test]
    fn r104_codex_spoofs_are_others() {
        let marked = || json!({"is_mcp_tool_call": true});
        let input =
            |server: &str, tool: &str| json!({"server": server, "tool": tool, "arguments": {}});
        let long = format!("{SERVER}2");
        for before in [
            vec![],
            vec![codex_call(json!({}), envelope())],
            vec![codex_call(json!({"is_mcp_tool_call": "true"}), envelope())],
            vec![codex_call(marked(), input(&long, "click"))],
            vec![codex_call(marked(), input("other", "click"))],
            vec![codex_call(marked(), input(SERVER, "click_all"))],
            vec![codex_call(marked(), input(SERVER, "cli"))],
            vec![codex_call(marked(), input(SERVER, ""))],
            vec![codex_call(
                marked(),
                json!({"command": ["rm"], "server": SERVER, "tool": "click"}),
            )],
            vec![codex_call(marked(), json!({"arguments": envelope()}))],
            vec![codex_call(marked(), json!(envelope().to_string()))],
            // The call is over: its id is no proof for another.
            vec![
                codex_call(marked(), envelope()),
                json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed"}),
            ],
            // The same id begins again, as a command.
            vec![
                codex_call(marked(), envelope()),
                json!({"sessionUpdate": "tool_call", "toolCallId": "1", "title": "rm -rf /", "rawInput": {"command": ["rm"]}}),
            ],
        ] {
            assert_eq!(
                judge(Identity::Codex, &before, &codex_request()),
                Finding::Other,
                "{before:?}"
            );
        }
        let before = codex_call(marked(), envelope());
        for request in [
            // A command's request under the id of a call of ours.
            json!({"toolCall": {"toolCallId": "1"}}),
            json!({"toolCall": {"toolCallId": "1", "_meta": {"is_mcp_tool_approval": true}}}),
            json!({"_meta": {"is_mcp_tool_approval": 1}, "toolCall": {"toolCallId": "1"}}),
            json!({"_meta": {"is_mcp_tool_approval": true}, "toolCall": {"toolCallId": "2"}}),
            json!({"_meta": {"is_mcp_tool_approval": true}, "toolCall": {"toolCallId": "1", "rawInput": {"command": ["rm"]}}}),
            json!({"_meta": {"is_mcp_tool_approval": true}, "toolCall": {"title": format!("mcp.{SERVER}.click")}}),
            json!({}),
        ] {
            assert_eq!(
                judge(Identity::Codex, std::slice::from_ref(&before), &request),
                Finding::Other,
                "{request}"
            );
        }
    }

    /// where no field is known, even both proofs at once are none.
    #[test]
    fn r105_agents_without_a_verified_field_get_nothing() {
        let mut request = claude_request(json!(SERVER), &format!("mcp__{SERVER}__click"));
        request["_meta"] = json!({"is_mcp_tool_approval": true});
        let before = codex_call(json!({"is_mcp_tool_call": true}), envelope());
        assert_eq!(judge(Identity::None, &[before], &request), Finding::Other);
    }

    /// only while our server runs.
    #[test]
    fn r102_without_a_running_server_nothing_is_ours() {
        let ours = claude_request(json!(SERVER), &format!("mcp__{SERVER}__click"));
        assert_eq!(find(Identity::Claude, None, &ToolCalls::default(), &ours), Finding::Other);
    }

    /// yes is for once; no is whatever says no.
    #[test]
    fn r100_options_are_chosen_by_kind() {
        let options = |kinds: &[&str]| {
            let options: Vec<_> = kinds.iter().map(|kind| json!({"optionId": format!("id-{kind}"), "kind": kind, "name": "Reject"})).collect();
            json!({"options": options})
        };
        let all = options(&["allow_always", "allow_once", "reject_always", "reject_once"]);
        assert_eq!(allow_once(&all), Some("id-allow_once"));
        assert_eq!(reject(&all), Some("id-reject_once"));
        assert_eq!(allow_once(&options(&["allow_always"])), None);
        assert_eq!(reject(&options(&["reject_always"])), Some("id-reject_always"));
        assert_eq!(reject(&options(&["allow_once"])), None);
    }

    #[test]
    fn calls_without_end_do_not_fill_memory() {
        let mut calls = ToolCalls::default();
        for n in 0..1_000 {
            calls.note(&json!({"sessionUpdate": "tool_call", "toolCallId": n.to_string()}));
        }
        assert_eq!((calls.calls.len(), calls.order.len()), (MOST_CALLS, MOST_CALLS));
    }
}
