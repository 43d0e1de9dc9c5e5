"""A model that follows a script, behind the two wire formats that installed agents speak.

It signs up for the demo shop's newsletter: it takes the refs from what it is shown, as a model would, types, clicks,
and says what the last result said. Every request's tools are noted, so that a run can check what an agent's model is
really given.
"""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

EMAIL = "ada@example.org"


def texts(value):
    """All text in a message's content, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)
    elif isinstance(value, dict):
        for key in ("text", "content", "output"):
            if key in value:
                yield from texts(value[key])


def ref(shown, role, name):
    found = re.findall(re.escape(f'{role} "{name}"') + r"[^\n]*?\[ref=(e\d+)", shown)
    return found[-1] if found else None


def decide(results, shown):
    """The next step: a tool with arguments, or an answer."""
    if len(results) == 0:
        return "type", {"ref": ref(shown, "textbox", "Email address") or "e0", "text": EMAIL}
    if len(results) == 1:
        return "click", {"ref": ref(shown, "button", "Subscribe") or "e0"}
    last = results[-1]
    if re.search(r"thank|subscribed|welcome", last, re.I) and "refused" not in last:
        return None, "Ada is subscribed."
    return None, "Not done: " + " ".join(last.split())[:200]


class Seen:
    def __init__(self):
        self.lock = threading.Lock()
        self.tools = set()
        self.requests = 0
        self.bytes = 0

    def note(self, names, size):
        with self.lock:
            self.tools |= set(names)
            self.requests += 1
            self.bytes += size


def tool_names(tools):
    """(namespace, name) of each tool that a request offers, in either format."""
    for tool in tools or []:
        kind = tool.get("type")
        if kind == "namespace":
            for inner in tool.get("tools", []):
                yield tool["name"], inner["name"]
        elif kind == "function":
            yield None, tool.get("name") or tool["function"]["name"]
        else:
            yield None, kind


def offered(request):
    """A request's tools; the newest models of Codex get theirs as an item of the conversation."""
    items = request.get("input")
    extra = [i["tools"] for i in items if i.get("type") == "additional_tools"] if isinstance(items, list) else []
    return (request.get("tools") or []) + [tool for tools in extra for tool in tools]


def scripts(request):
    """The tool that runs scripts, if this model reaches the others through one."""
    for namespace in offered(request):
        for tool in namespace.get("tools", []):
            if tool.get("type") == "custom" and tool.get("name") == "exec":
                return tool
    return None


def ours(tools, name):
    """Our tool as this request calls it."""
    for namespace, full in tool_names(tools):
        whole = f"{namespace}__{full}" if namespace else full
        if whole.endswith(f"reins_run__{name}") or whole.endswith(f"reins_run_{name}"):
            return namespace, full
    return None, None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, body, kind="application/json"):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(json.dumps({"object": "list", "data": [{"id": "mock", "object": "model"}]}).encode())

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        request = json.loads(raw)
        names = [f"{n}__{t}" if n else t for n, t in tool_names(offered(request))]
        script = scripts(request)
        if script:
            # The tools inside are told in its description.
            names += re.findall(r"^### `(\w+)`", script["description"], re.M)
        self.server.seen.note(names, len(raw))
        if self.server.log:
            with open(self.server.log, "ab") as log:
                log.write(raw + b"\n")
        body = self.answer_items(request) if self.path.endswith("/responses") else self.answer_chat(request)
        self.reply(body, "text/event-stream" if request.get("stream") else "application/json")

    def next(self, request, results, shown):
        tools = offered(request)
        if scripts(request):
            step, what = decide(results, shown)
            return (None, "exec", f"const r = await tools.mcp__reins_run__{step}({json.dumps(what)});\ntext(r.content.map(c => c.text ?? '').join('\\n'));") if step else (None, None, what)
        if not any("reins_run" in "__".join(filter(None, pair)) for pair in tool_names(tools)):
            return None, None, "A title"
        step, what = decide(results, shown)
        if step is None:
            return None, None, what
        namespace, name = ours(tools, step)
        return namespace, name, what

    def answer_items(self, request):
        items = request["input"] if isinstance(request["input"], list) else []
        results = ["\n".join(texts(i.get("output"))) for i in items if i.get("type") in ("function_call_output", "custom_tool_call_output")]
        shown = "\n".join(text for item in items for text in texts(item))
        namespace, name, what = self.next(request, results, shown)
        if name is None:
            item = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": what, "annotations": []}]}
        elif name == "exec":
            item = {"type": "custom_tool_call", "id": f"f{len(results)}", "call_id": f"call_{len(results)}", "name": name, "input": what, "status": "completed"}
        else:
            item = {"type": "function_call", "id": f"f{len(results)}", "call_id": f"call_{len(results)}", "name": name, "arguments": json.dumps(what), "status": "completed"}
            if namespace:
                item["namespace"] = namespace
        usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 110}
        whole = {"id": "r1", "object": "response", "status": "completed", "output": [item], "usage": usage}
        events = [{"type": "response.created", "response": {"id": "r1", "object": "response", "status": "in_progress"}}]
        events.append({"type": "response.output_item.added", "output_index": 0, "item": item})
        if name is None:
            events.append({"type": "response.output_text.delta", "item_id": "m1", "output_index": 0, "content_index": 0, "delta": what})
        events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
        events.append({"type": "response.completed", "response": whole})
        return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)

    def answer_chat(self, request):
        messages = request["messages"]
        results = ["\n".join(texts(m["content"])) for m in messages if m["role"] == "tool"]
        shown = "\n".join(text for m in messages for text in texts(m.get("content")))
        _, name, what = self.next(request, results, shown)
        if name is None:
            message, finish = {"role": "assistant", "content": what}, "stop"
        else:
            call = {"index": 0, "id": f"call_{len(results)}", "type": "function", "function": {"name": name, "arguments": json.dumps(what)}}
            message, finish = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        base = {"id": "c1", "created": 0, "model": "mock"}
        if not request.get("stream"):
            return json.dumps({**base, "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage}).encode()
        base["object"] = "chat.completion.chunk"
        chunks = [
            {**base, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
            {**base, "choices": [], "usage": usage},
        ]
        return b"".join(f"data: {json.dumps(c)}\n\n".encode() for c in chunks) + b"data: [DONE]\n\n"


def serve(log=None):
    """Starts on any free port; returns the server, whose `seen` tells what was asked."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.seen, server.log = Seen(), log
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
