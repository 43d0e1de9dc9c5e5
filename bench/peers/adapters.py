"""The peers: how each is started, which of its tools does what, how a ref is found in its snapshot.

To add one more MCP stdio server, add one entry to PEERS.  Fields:

  kind      "mcp" (stdio server), "cli" (one process per call), or "cdp" (the raw floor, floor.py)
  command   argv; {bin} parts are filled from the paths below (environment variables override them)
  env       extra environment variables
  ops       operation -> tool.  For "mcp": [tool name, arguments]; for "cli": argv after the command.
            "$url" "$ref" "$name" "$text" "$path" "$tab" "$file" are filled in by the harness.
            A list of several [tool, arguments] pairs is run in order and timed as one operation.
            Operations: navigate snapshot click fill screenshot close, and optionally first (the first
            navigate of a session), snapshot_alt, type_keys, tabs, select_tab, dialog_accept,
            dialog_dismiss, upload, download.
  ref       regular expressions by role; {name} is the escaped accessible name; group 1 is the ref
  vars      name -> regular expression; group 1 of the latest match in any answer becomes $name
  tab       regular expression that finds a tab's id in the answer of "tabs"; {url} is part of its address
  version   argv that prints the version
"""
import os
import shlex

CHROME = os.environ.get("CHROME", "/usr/bin/chromium")
NPM = os.environ.get("PEERS_NPM", "node_modules")          # where `npm install` put the peers
NPM = NPM if NPM.rstrip("/").endswith("node_modules") else os.path.join(NPM, "node_modules")
VENV = os.environ.get("PEERS_VENV", "venv")                # where `pip install browser-use` went
NODE = os.environ.get("NODE", "node")
AB = os.path.join(NPM, "agent-browser/bin/agent-browser-linux-x64")
AB_OLD = os.environ.get("AGENT_BROWSER_OLD", "")           # an older agent-browser binary, to compare
PRODUCT = os.environ.get("PRODUCT_BIN", "")                # the new product's binary

AB_ENV = {"AGENT_BROWSER_EXECUTABLE_PATH": CHROME, "AGENT_BROWSER_ARGS": "--no-sandbox",
          "AGENT_BROWSER_SESSION": "{session}", "AGENT_BROWSER_DOWNLOAD_PATH": "{work}/dl"}
AB_REF = {"button": r'- button "{name}"[^\n]*?ref=(e\d+)', "textbox": r'- textbox "{name}"[^\n]*?ref=(e\d+)',
          "link": r'- link "{name}"[^\n]*?ref=(e\d+)', "any": r'"{name}"[^\n]*?ref=(e\d+)'}
AB_CLI = {
    "kind": "cli", "env": AB_ENV, "ref": AB_REF, "tab": r"\[(t\d+)\][^\n]*{url}",
    "ops": {
        "navigate": ["open", "$url"], "snapshot": ["snapshot"], "snapshot_alt": ["snapshot", "-i"],
        "click": ["click", "@$ref"], "fill": ["fill", "@$ref", "$text"], "type_keys": ["type", "@$ref", "$text"],
        "screenshot": ["screenshot", "$file"], "close": ["close"],
        "tabs": ["tab", "list"], "select_tab": ["tab", "$tab"],
        "dialog_accept": ["dialog", "accept"], "dialog_dismiss": ["dialog", "dismiss"],
        "upload": ["upload", "@$ref", "$path"], "download": ["download", "@$ref", "$file"],
    },
    "alt_note": "`snapshot -i` (interactive elements only; what its skill text recommends)",
}

PEERS = {
    "playwright-mcp": {
        "kind": "mcp",
        "command": [NODE, os.path.join(NPM, "@playwright/mcp/cli.js"), "--headless", "--isolated",
                    "--executable-path", CHROME, "--no-sandbox"],
        "ops": {
            "navigate": ["browser_navigate", {"url": "$url"}],
            "snapshot": ["browser_snapshot", {}],
            "click": ["browser_click", {"target": "$ref", "element": "$name"}],
            "fill": ["browser_type", {"target": "$ref", "element": "$name", "text": "$text"}],
            "type_keys": ["browser_type", {"target": "$ref", "element": "$name", "text": "$text", "slowly": True}],
            "screenshot": ["browser_take_screenshot", {"scale": "css"}],
            "close": ["browser_close", {}],
            "tabs": ["browser_tabs", {"action": "list"}], "select_tab": ["browser_tabs", {"action": "select", "index": "$tab"}],
            "dialog_accept": ["browser_handle_dialog", {"accept": True}],
            "dialog_dismiss": ["browser_handle_dialog", {"accept": False}],
            "upload": [["browser_click", {"target": "$ref", "element": "$name"}], ["browser_file_upload", {"paths": ["$path"]}]],
        },
        "ref": {"button": r'- \'?button "{name}"[^\n]*?\[ref=(\w+)\]', "textbox": r'- \'?textbox "{name}"[^\n]*?\[ref=(\w+)\]',
                "link": r'- \'?link "{name}"[^\n]*?\[ref=(\w+)\]', "any": r'"?{name}"?[^\n]*?\[ref=(\w+)\]|\[ref=(\w+)\][^\n]*{name}'},
        "tab": r"- (\d+):[^\n]*{url}",
        "version": [NODE, os.path.join(NPM, "@playwright/mcp/cli.js"), "--version"],
    },
    "chrome-devtools-mcp": {
        "kind": "mcp",
        "command": [NODE, os.path.join(NPM, "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"), "--headless", "--isolated",
                    "--executablePath", CHROME, "--chromeArg=--no-sandbox", "--usageStatistics=false", "--viewport", "1280x720"],
        "env": {"CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS": "1"},
        "vars": {"page": r"(?m)^(\d+):[^\n]*\[selected\]"},
        "ops": {
            "first": ["new_page", {"url": "$url"}],
            "navigate": ["navigate_page", {"pageId": "$page", "url": "$url"}],
            "snapshot": ["take_snapshot", {"pageId": "$page"}],
            "snapshot_alt": ["take_snapshot", {"pageId": "$page", "verbose": True}],
            "click": ["click", {"pageId": "$page", "uid": "$ref"}],
            "fill": ["fill", {"pageId": "$page", "uid": "$ref", "value": "$text"}],
            "type_keys": [["click", {"pageId": "$page", "uid": "$ref"}], ["type_text", {"pageId": "$page", "text": "$text"}]],
            "screenshot": ["take_screenshot", {"pageId": "$page"}],
            "close": ["close_page", {"pageId": "$page"}],
            "tabs": ["list_pages", {}], "select_tab": ["select_page", {"pageId": "$tab", "bringToFront": True}],
            "dialog_accept": ["handle_dialog", {"pageId": "$page", "action": "accept"}],
            "dialog_dismiss": ["handle_dialog", {"pageId": "$page", "action": "dismiss"}],
            "upload": ["upload_file", {"pageId": "$page", "uid": "$ref", "filePaths": ["$path"]}],
        },
        "ref": {"button": r'uid=(\S+) button "{name}"', "textbox": r'uid=(\S+) textbox "{name}"', "link": r'uid=(\S+) link "{name}"',
                "any": r'uid=(\S+)[^\n]*"{name}"'},
        "tab": r"(?m)^(\d+):[^\n]*{url}",
        "version": [NODE, os.path.join(NPM, "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"), "--version"],
        "alt_note": "`verbose: true` (the whole accessibility tree)",
    },
    "agent-browser": dict(AB_CLI, command=[AB], version=[AB, "--version"]),
    "agent-browser-mcp": {
        "kind": "mcp", "command": [AB, "mcp"], "env": AB_ENV, "ref": AB_REF,
        "ops": {
            "navigate": ["agent_browser_open", {"url": "$url"}],
            "snapshot": ["agent_browser_snapshot", {}],
            "snapshot_alt": ["agent_browser_snapshot", {"interactive": False}],
            "click": ["agent_browser_click", {"selector": "@$ref"}],
            "fill": ["agent_browser_fill", {"selector": "@$ref", "text": "$text"}],
            "type_keys": ["agent_browser_type", {"selector": "@$ref", "text": "$text"}],
            "screenshot": ["agent_browser_screenshot", {}],
            "close": ["agent_browser_close", {}],
            "tabs": ["agent_browser_tab_list", {}], "select_tab": ["agent_browser_tab_switch", {"tab": "$tab"}],
        },
        "tab": r"(t\d+)[^\n]*{url}",
        "version": [AB, "--version"],
        "alt_note": "`interactive: false` (the whole tree; its default is interactive elements only)",
    },
    "browser-use-mcp": {
        "kind": "mcp", "command": [os.path.join(VENV, "bin/python"), "-m", "browser_use.mcp"],
        "env": {"ANONYMIZED_TELEMETRY": "false", "BROWSER_USE_VERSION_CHECK": "false", "BROWSER_USE_DISABLE_EXTENSIONS": "true",
                "BROWSER_USE_CONFIG_DIR": "{work}/browseruse", "BROWSER_USE_HEADLESS": "true"},
        "files": {"browseruse/config.json": '{"browser_profile":{"a":{"id":"a","default":true,"created_at":"2026-01-01T00:00:00","headless":true,'
                  '"executable_path":"%s","chromium_sandbox":false,"user_data_dir":"{work}/profile","downloads_path":"{work}/dl",'
                  '"viewport":{"width":1280,"height":720},"window_size":{"width":1280,"height":720}}},"llm":{},"agent":{}}' % CHROME},
        "ops": {
            "navigate": ["browser_navigate", {"url": "$url"}],
            "snapshot": ["browser_get_state", {}],
            "click": ["browser_click", {"index": "$ref"}],
            "fill": ["browser_type", {"index": "$ref", "text": "$text"}],
            "screenshot": ["browser_screenshot", {}],
            "close": ["browser_close_all", {}],
            "tabs": ["browser_list_tabs", {}], "select_tab": ["browser_switch_tab", {"tab_id": "$tab"}],
        },
        # Its state lists no accessible names of fields: the bench field is taken as the first <input>.
        "ref": {"button": r'"index": (\d+),\s*"tag": "(?:button|div|span)",\s*"text": "{name}"', "textbox": r'"index": (\d+),\s*"tag": "input"',
                "link": r'"index": (\d+),\s*"tag": "a",\s*"text": "{name}"', "any": r'"index": (\d+),\s*"tag": "\w+",\s*"text": "{name}"'},
        "tab": r'(?s)"tab_id": "(\w+)"[^{{}}]*{url}',
        "version": [os.path.join(VENV, "bin/python"), "-c", "import importlib.metadata as m;print(m.version('browser-use'))"],
    },
    "raw-cdp": {"kind": "cdp", "version": [CHROME, "--version"],
                "ref": {"button": r'\[(\d+)\] button "{name}"', "textbox": r'\[(\d+)\] textbox "{name}"', "link": r'\[(\d+)\] link "{name}"',
                        "any": r'\[(\d+)\] \w+ "{name}"'}},
}
if AB_OLD:
    PEERS["agent-browser-0.27"] = dict(AB_CLI, command=[AB_OLD], version=[AB_OLD, "--version"])
if PRODUCT:
    PEERS["product"] = {
        "kind": "mcp",
        "command": [PRODUCT, "mcp", "--headless", "--app", "http://127.0.0.1:*", "--app", "http://localhost:*",
                    "--downloads", "{work}/dl", "--upload-root", "{work}", *shlex.split(os.environ.get("PRODUCT_ARGS", ""))],
        "env": {"CHROME": CHROME, "REINS_NO_SANDBOX": "1", "HOME": "{work}", "XDG_DATA_HOME": "{work}/data"},
        "ops": {
            "navigate": ["navigate", {"url": "$url"}],
            "snapshot": ["snapshot", {}], "snapshot_alt": ["snapshot", {"full": True}],
            "click": ["click", {"ref": "$ref"}],
            "fill": ["type", {"ref": "$ref", "text": "$text"}], "type_keys": ["type", {"ref": "$ref", "text": "$text", "keys": True}],
            "screenshot": ["screenshot", {}], "close": ["close_tab", {}],
            "tabs": ["list_tabs", {}], "select_tab": ["switch_tab", {"tab": "$tab"}],
            "dialog_accept": ["handle_dialog", {"accept": True}], "dialog_dismiss": ["handle_dialog", {"accept": False}],
            "upload": ["upload", {"ref": "$ref", "paths": ["$path"]}],
        },
        "ref": {"button": r'button "{name}"[^\n]*?\[ref=(\w+)\]', "textbox": r'textbox "{name}"[^\n]*?\[ref=(\w+)\]',
                "link": r'link "{name}"[^\n]*?\[ref=(\w+)\]', "any": r'"{name}"[^\n]*?\[ref=(\w+)\]'},
        "tab": r"\[tab=(\w+)\][^\n]*{url}",
        "version": [PRODUCT, "--version"],
        "alt_note": "`full: true` (all of the page that fits the hard limit)",
    }
