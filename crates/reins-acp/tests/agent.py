#!/usr/bin/env python3
"""An agent that speaks ACP on stdin and stdout and behaves as its first argument says.

The second argument is a folder for what it wants to leave behind for the test.
"""

import json
import os
import subprocess
import sys
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "happy"
OUT = sys.argv[2] if len(sys.argv) > 2 else "."
SESSION = "session-1"
SERVER = "reins_run"
ids = iter(range(1000, 100000))


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def ask(method, params):
    """A request of ours; answers to anything else are not expected meanwhile."""
    number = next(ids)
    send({"id": number, "method": method, "params": params})
    while True:
        message = receive()
        if message.get("id") == number:
            return message


def update(of, session=SESSION, **fields):
    send({"method": "session/update", "params": {"sessionId": session, "update": {"sessionUpdate": of, **fields}}})


def say(text, message="m1"):
    fields = {"messageId": message} if message else {}
    update("agent_message_chunk", content={"type": "text", "text": text}, **fields)


def leave(name, value):
    with open(os.path.join(OUT, name), "w") as file:
        file.write(value if isinstance(value, str) else json.dumps(value))


OPTIONS = [
    {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "once", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


def permission(call, meta=None, options=OPTIONS, session=SESSION):
    params = {"sessionId": session, "toolCall": call, "options": options}
    if meta:
        params["_meta"] = meta
    return ask("session/request_permission", params)["result"]["outcome"]


class Mcp:
    """A client of the server that the session named."""

    def __init__(self, entry):
        # As agents do: little environment besides the entry's own.
        variables = {v["name"]: v["value"] for v in entry["env"]}
        environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **variables}
        self.process = subprocess.Popen([entry["command"], *entry["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "fake", "version": "1"}})
        self.write({"method": "notifications/initialized"})

    def write(self, message):
        self.process.stdin.write((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())
        self.process.stdin.flush()

    def request(self, method, params):
        number = next(ids)
        self.write({"id": number, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit("the MCP server ended")
            message = json.loads(line)
            if message.get("id") == number:
                return message["result"]

    def call(self, name, arguments):
        update("tool_call", toolCallId=f"call-{next(ids)}", title=name, kind="other", status="pending")
        result = self.request("tools/call", {"name": name, "arguments": arguments})
        return "\n".join(c["text"] for c in result["content"] if c["type"] == "text")


def ref(text, role, name):
    start = text.rindex(f'{role} "{name}"')
    return text[start:].split("[ref=", 1)[1].split("]", 1)[0]


def spoofs():
    """Requests that are not about our tools, each dressed up as if they were."""
    click = f"mcp__{SERVER}__click"
    codex = {"is_mcp_tool_call": True}
    envelope = {"server": SERVER, "tool": "click", "arguments": {}}
    yield {"toolCallId": "s1", "title": f"mcp.{SERVER}.click", "kind": "execute", "rawInput": {"command": ["rm", "-rf", "/"], **envelope}}, None
    yield {"toolCallId": "s2", "title": click, "rawInput": {"_meta": {"claudeCode": {"mcpServer": {"name": SERVER}, "toolName": click}}}}, None
    yield {"toolCallId": "s3", "title": "click", "_meta": {"claudeCode": {"mcpServer": {"name": SERVER + "x"}, "toolName": click}}}, {"is_mcp_tool_approval": True}
    yield {"toolCallId": "s4", "title": "click", "_meta": {"claudeCode": {"mcpServer": {"name": SERVER}, "toolName": click + "_everything"}}}, None
    yield {"toolCallId": "s5", "title": "click", "_meta": codex, "rawInput": {**envelope, "tool": "clic"}}, {"is_mcp_tool_approval": True}
    yield {"toolCallId": "s6", "title": "click", "_meta": codex, "rawInput": envelope}, None
    # A call of ours that is over lends its id to a command.
    update("tool_call", toolCallId="s7", title="click", _meta=codex, rawInput=envelope)
    update("tool_call_update", toolCallId="s7", status="completed")
    yield {"toolCallId": "s7"}, {"is_mcp_tool_approval": True}


def initialize(message):
    params = message["params"]
    leave("initialize", params)
    leave("environment", dict(os.environ))
    leave("place", {"cwd": os.getcwd(), "files": sorted(os.listdir(".")), "pgid": os.getpgid(0), "sid": os.getsid(0), "pid": os.getpid()})
    version = 2 if MODE == "version" else 1
    send({"id": message["id"], "result": {"protocolVersion": version, "agentCapabilities": {}, "agentInfo": {"name": "fake", "version": "1.0"}, "authMethods": []}})


def new_session(message):
    global entries
    entries = message["params"]["mcpServers"]
    leave("session", message["params"])
    if MODE == "sign-in":
        send({"id": message["id"], "error": {"code": -32000, "message": "Authentication required"}})
        return
    result = {"sessionId": SESSION}
    if MODE == "gateway":
        send({"method": "_auth/status_update", "params": {"authStatus": {"kind": "gateway"}}})
    if MODE in ("models", "lost-model", "refuses-model", "gateway"):
        ids = ["small[low]", "small[high]"] + ([] if MODE in ("lost-model", "gateway") else ["big[high]"])
        result["models"] = {"currentModelId": "big[high]", "availableModels": [{"modelId": i, "name": i} for i in ids]}
    send({"id": message["id"], "result": result})


def prompt(message):
    text = message["params"]["prompt"][0]["text"]
    leave("prompt", text)
    done = lambda reason="end_turn": send({"id": message["id"], "result": {"stopReason": reason}})
    if MODE == "silent":
        # What is no word, thought or tool call does not count as an answer.
        update("available_commands_update", availableCommands=[])
        update("plan", entries=[])
        time.sleep(600)
    elif MODE == "dies":
        sys.stderr.write("out of \x1b[31mmemory\n")
        sys.exit(9)
    elif MODE == "bare-error":
        send({"id": message["id"], "error": {"code": -32603, "message": "Internal error", "data": {"details": "no credit left"}}})
    elif MODE == "late-sign-in":
        say("You are not signed in.")
        send({"id": message["id"], "error": {"code": -32000, "message": "Login expired"}})
    elif MODE == "refuses":
        say("I cannot help with that.")
        done("refusal")
    elif MODE == "system-error":
        say("Update available.", None)
        say("I begin. ", "m1")
        update("session_info_update", _meta={"codex": {"threadStatus": {"type": "systemError"}}})
        say("You have hit your usage limit.", None)
        done()
    elif MODE == "garbage":
        sys.stdout.write('npm warn deprecated\n{"jsonrpc":\n[]\n\n{"id":"x","result":{}}\n{"id":77,"result":{"stopReason":"end_turn"}}\n')
        sys.stdout.buffer.flush()
        sys.stdout.flush()
        sys.stdout.buffer.write(b"\xff\xfe\x00\n")
        say("Do")
        update("unknown_update", x=1)
        send({"method": "session/update", "params": {"sessionId": "another", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "of another session"}}}})
        say("ne.")
        done()
    elif MODE == "asks-for-files":
        answers = [ask(method, {"sessionId": SESSION, "path": "/etc/passwd", "command": "id"}) for method in ("fs/read_text_file", "fs/write_text_file", "terminal/create", "elicitation/create", "x/y")]
        say(json.dumps([a["error"]["code"] for a in answers]))
        done()
    elif MODE == "spoofs":
        outcomes = []
        for call, meta in spoofs():
            outcomes.append(permission(call, meta))
        outcomes.append(permission({"toolCallId": "t"}, session="another"))
        say(json.dumps(outcomes))
        done()
    elif MODE == "claude":
        meta = {"claudeCode": {"mcpServer": {"name": SERVER, "source": "dynamic"}, "toolName": f"mcp__{SERVER}__echo"}}
        say(json.dumps(permission({"toolCallId": "c", "title": "x", "_meta": meta})))
        done()
    elif MODE == "codex":
        update("tool_call", toolCallId="c", title="x", _meta={"is_mcp_tool_call": True}, rawInput={"server": SERVER, "tool": "echo", "arguments": {}})
        say(json.dumps(permission({"toolCallId": "c"}, {"is_mcp_tool_approval": True})))
        done()
    elif MODE == "no-way-out":
        leave("outcome", permission({"toolCallId": "n", "title": "rm -rf /"}, options=[o for o in OPTIONS if o["kind"] != "reject_once"]))
        # What comes next is read: a cancellation.
        leave("next", receive()["method"])
        say("I did it all.")
        done("cancelled")
    elif MODE == "forks":
        child = os.fork()
        if child == 0:
            if os.fork() == 0:
                # A grandchild that left both the group and the session.
                os.setsid()
                leave("stray", str(os.getpid()))
                time.sleep(600)
            leave("child", str(os.getpid()))
            time.sleep(600)
        while not all(os.path.exists(os.path.join(OUT, name)) for name in ("stray", "child")):
            time.sleep(0.01)
        say("Forked.")
        time.sleep(600)
    elif MODE == "late":
        say("Done.")
        done()
        for _ in range(1000):
            say("And another thing.")
            send({"id": next(ids), "method": "session/request_permission", "params": {"sessionId": SESSION, "toolCall": {"toolCallId": "z", "title": "late"}, "options": OPTIONS}})
        time.sleep(600)
    elif MODE == "connects":
        leave("entry", entries[0])
        say(str(len(entries)))
        done()
    elif MODE == "shop":
        shop(text, done)
    else:
        update("agent_thought_chunk", content={"type": "text", "text": "hm"})
        say(f"{len(entries)} servers.")
        done()


def shop(text, done):
    """Reads the page that the prompt brought, types and sends a note with our tools."""
    mcp = Mcp(entries[0])
    tools = mcp.request("tools/list", {})["tools"]
    leave("tools", [tool["name"] for tool in tools])
    leave("schemas", [sorted(tool["inputSchema"].get("properties", {})) for tool in tools])
    typed = mcp.call("type", {"ref": ref(text, "textbox", "Note"), "text": "hello"})
    sent = mcp.call("click", {"ref": ref(text, "button", "Send")})
    leave("results", [typed, sent])
    say("Sent." if "# Sent" in sent else f"Not sent: {sent.splitlines()[0]}")
    done()


def set_model(message):
    leave("model", message["params"])
    if MODE in ("lost-model", "refuses-model"):
        send({"id": message["id"], "error": {"code": -32602, "message": "not on your plan"}})
    else:
        send({"id": message["id"], "result": {}})


entries = []
HANDLERS = {"initialize": initialize, "session/new": new_session, "session/set_model": set_model, "session/prompt": prompt}
while True:
    received = receive()
    handler = HANDLERS.get(received.get("method"))
    if handler:
        handler(received)
