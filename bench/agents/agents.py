"""Each real agent signs Ada up for the demo shop's newsletter: its own program, our tools, a card answered on a
terminal, and a scripted model behind it. The shop's server says whether it happened.
"""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request

import model_server

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TERMINAL = os.path.join(ROOT, "crates/reins/tests/terminal.py")
TASK = f"Sign up {model_server.EMAIL} for the newsletter of this shop. Buy nothing."


def codex(home, address, model="gpt-5"):
    """A provider of the person's own, which needs no sign-in, and an MCP server: whether it starts is shown."""
    write(home, ".codex/config.toml", f'model = "{model}"\nmodel_provider = "scripted"\n[model_providers.scripted]\nname = "scripted"\nbase_url = "{address}"\nwire_api = "responses"\n' f"[mcp_servers.other]\ncommand = \"/usr/bin/touch\"\nargs = [\"{home}/other-server-started\"]\n")


def codex_scripts(home, address):
    """A model of the newest kind, which reaches tools through scripts."""
    codex(home, address, "gpt-6.1-sol")


def opencode(home, address):
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": {"baseURL": address, "apiKey": "x"}, "models": {"mock": {"name": "mock", "tool_call": True}}}
    # A person's configuration may allow everything; the recipe must win.
    config = {"model": "scripted/mock", "small_model": "scripted/mock", "provider": {"scripted": provider}, "permission": {"*": "allow", "bash": "allow"}}
    write(home, ".config/opencode/opencode.json", json.dumps(config))


def qwen(home, address):
    settings = {"security": {"auth": {"selectedType": "openai", "apiKey": "x", "baseUrl": address}}, "model": {"name": "mock"}}
    write(home, ".qwen/settings.json", json.dumps(settings))


AGENTS = {"codex": codex, "codex-scripts": codex_scripts, "opencode": opencode, "qwen": qwen}


def write(home, name, text):
    path = os.path.join(home, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def registry():
    asked = subprocess.run(["npm", "config", "get", "registry"], capture_output=True, text=True)
    return asked.stdout.strip()


def run(name, work, product):
    home = os.path.join(work, "home", name)
    other = os.path.join(home, "other-server-started")
    if os.path.exists(other):
        os.remove(other)
    model = model_server.serve(os.environ.get("AGENTS_LOG"))
    address = f"http://127.0.0.1:{model.server_address[1]}/v1"
    AGENTS[name](home, address)
    write(home, ".npmrc", f"cache={work}/npm-cache\nregistry={registry()}\nprefer-offline=true\n")
    # The login shell of this person.
    write(home, ".profile", f'export PATH="{work}/node_modules/.bin:{os.environ["PATH"]}"\n')
    environment = {**os.environ, "HOME": home, "SHELL": "/bin/sh", "REINS_DATA_DIR": os.path.join(home, "reins"), "OPENAI_API_KEY": "sk-of-the-launching-shell"}
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "CODEX_HOME"):
        environment.pop(variable, None)
    if os.getuid() == 0:
        environment["REINS_NO_SANDBOX"] = "1"
    shop = subprocess.Popen([product, "demo", "--serve"], stderr=subprocess.PIPE, text=True, env=environment)
    try:
        url = re.search(r"http://\S+", shop.stderr.readline()).group()
        command = [sys.executable, TERMINAL, "type allow", "allow\\r", "--", product, "run", TASK, "--headless", "--agent", name.split("-")[0], "--url", url]
        started = time.time()
        ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
        seconds = time.time() - started
        log = json.load(urllib.request.urlopen(url + "/log"))
    finally:
        shop.terminate()
        shop.wait()
        model.shutdown()
    foreign = sorted(tool for tool in model.seen.tools if "reins_run" not in tool)
    other = os.path.exists(other)
    well = ran.returncode == 0 and log["newsletter"] == [model_server.EMAIL] and log["orders"] == 0 and not other
    if not well or os.environ.get("AGENTS_SHOW"):
        print(ran.stdout, ran.stderr, log, "its own MCP server started" if other else "", sep="\n")
    return {"agent": name, "well": well, "seconds": seconds, "requests": model.seen.requests, "bytes": model.seen.bytes, "foreign": foreign}


def main(work, product, names):
    rows = [run(name, work, product) for name in names or AGENTS]
    print("| agent | signed up, by the shop's server | seconds | model requests | bytes to the model | tools of its own that its model sees |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        foreign = ", ".join(row["foreign"]) or "none"
        print(f"| {row['agent']} | {'yes' if row['well'] else '**no**'} | {row['seconds']:.1f} | {row['requests']} | {row['bytes']} | {foreign} |")
    return 0 if all(row["well"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3:]))
