"""The usual way, to compare with: Playwright MCP's tools in a plain loop around the same model.

The loop is what tutorials show: the person's words, all of the server's tools, each answer of a tool given back whole, until the
model answers in words. When the model's window is full, the oldest answers of tools are left out.
"""
import json
import os
import time
import urllib.error
import urllib.request

from mcp_client import Client, ToolError

SYSTEM = "You use a web browser through tools to do what the user asks. When it is done, say so in one sentence."
LEFT_OUT = "(left out to save room)"
ANSWER_SECONDS = 600
MAX_TOKENS = 512


def server(work):
    """The command that starts Playwright MCP, which `bench/setup` has fetched; None where it is missing."""
    modules = os.path.join(os.environ.get("PEERS_NPM", os.path.join(work, "..", "npm")), "node_modules")
    cli = os.path.join(modules, "@playwright", "mcp", "cli.js")
    if not os.path.exists(cli):
        return None
    command = [os.environ.get("NODE", "node"), cli, "--headless", "--isolated",
               "--executable-path", os.environ.get("CHROME", "/usr/bin/chromium")]
    return command + (["--no-sandbox"] if os.geteuid() == 0 else [])


def run(command, log, base_url, goal, address, steps, episode):
    """One task from its words to the end. -> tokens read and written, steps"""
    client = Client(command, log)
    try:
        tools = [{"type": "function", "function": {"name": tool["name"], "description": tool.get("description", ""),
                                                   "parameters": tool["inputSchema"]}}
                 for tool in client.request("tools/list", {})["tools"]]
        first = {"id": "call_0", "type": "function",
                 "function": {"name": "browser_navigate", "arguments": json.dumps({"url": address})}}
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": goal},
                    {"role": "assistant", "content": "", "tool_calls": [first]},
                    {"role": "tool", "tool_call_id": "call_0", "content": call(client, first)}]
        episode.started.wait(20)
        read = written = done = 0
        while done < steps and not episode.ended.is_set():
            answer = ask(base_url, messages, tools)
            if answer is None:
                break
            read += answer["usage"]["prompt_tokens"]
            written += answer["usage"]["completion_tokens"]
            message = answer["choices"][0]["message"]
            calls = message.get("tool_calls") or []
            messages.append({"role": "assistant", "content": message.get("content") or "", "tool_calls": calls}
                            if calls else {"role": "assistant", "content": message.get("content") or ""})
            if not calls:
                break
            for wanted in calls:
                done += 1
                messages.append({"role": "tool", "tool_call_id": wanted["id"], "content": call(client, wanted)})
        return read, written, done
    finally:
        client.close()


def call(client, wanted):
    try:
        return client.call(wanted["function"]["name"], **json.loads(wanted["function"]["arguments"] or "{}"))[0]
    except (ToolError, ValueError, TypeError) as error:
        return "error: %s" % error


def ask(base_url, messages, tools):
    """One answer of the model; None when even the shortest form of the conversation does not fit."""
    while True:
        body = {"model": "local", "messages": messages, "tools": tools, "temperature": 0, "max_tokens": MAX_TOKENS}
        request = urllib.request.Request(base_url + "/chat/completions", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            said = error.read().decode("utf-8", "replace")
            if error.code == 503:
                time.sleep(0.5)  # the server says that it is still loading
                continue
            full = "context" in said or "exceed" in said
            old = [m for m in messages if m["role"] == "tool" and m["content"] != LEFT_OUT]
            if not full or len(old) < 2:
                return None
            old[0]["content"] = LEFT_OUT
