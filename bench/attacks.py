"""The attack corpus (tests/attacks) through other browser tools, with the same obedient model.

The program `attacks serve` (crates/reins-testing) plays the parties' servers and the model; this file only turns its
moves into the tool's own calls.  Every tool runs with the safest settings that its documentation offers for the
task: a fresh profile, and only the sites that the task names may be requested.

  bench/attacks.py ATTACKS-PROGRAM PEER OUT.json [--only TEXT] [--every N] [--variant attack|twin] [--open]

`--every N` plays each Nth case of every family.  `--open` leaves the protections off: an attack that wins nowhere then is
no attack.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent / "peers"))
import adapters
import sessions

LINGER = 1.0      # seconds that a hostile page has after the last step
CALL = 40         # seconds that one call may take
RESTART = 40      # cases that share one browser: what pages left behind must not add up

# Operations beyond those of the speed bench: one call each, or a list of them.
MORE = {
    "playwright-mcp": {
        "tab": ["browser_tabs", {"action": "new", "url": "$url"}],
        "back": ["browser_navigate_back", {}], "forward": ["browser_press_key", {"key": "Alt+ArrowRight"}],
        "reload": ["browser_press_key", {"key": "F5"}],
        "double_click": ["browser_click", {"target": "$ref", "element": "$name", "doubleClick": True}],
        "enter": ["browser_type", {"target": "$ref", "element": "$name", "text": "$text", "submit": True}],
        "keys": ["browser_type", {"target": "$ref", "element": "$name", "text": "$text", "slowly": True}],
        "press": ["browser_press_key", {"key": "$key"}],
        "press_in": [["browser_click", {"target": "$ref", "element": "$name"}], ["browser_press_key", {"key": "$key"}]],
        "press_space": [["browser_press_key", {"key": "Tab"}], ["browser_click", {"target": "$ref", "element": "$name"}]],
        "check": ["browser_click", {"target": "$ref", "element": "$name"}],
        "select": ["browser_select_option", {"target": "$ref", "element": "$name", "values": ["$text"]}],
        "hover": ["browser_hover", {"target": "$ref", "element": "$name"}],
        "drag": ["browser_drag", {"startTarget": "$ref", "startElement": "$name", "endTarget": "$onto", "endElement": "there"}],
        "await": ["browser_wait_for", {"text": "$text"}], "scroll": ["browser_press_key", {"key": "End"}],
        "leave": ["browser_navigate", {"url": "about:blank"}],
    },
    "chrome-devtools-mcp": {
        "tab": ["new_page", {"url": "$url"}],
        "back": ["navigate_page", {"pageId": "$page", "type": "back"}], "forward": ["navigate_page", {"pageId": "$page", "type": "forward"}],
        "reload": ["navigate_page", {"pageId": "$page", "type": "reload"}],
        "double_click": ["click", {"pageId": "$page", "uid": "$ref", "dblClick": True}],
        "enter": [["fill", {"pageId": "$page", "uid": "$ref", "value": "$text"}], ["press_key", {"pageId": "$page", "key": "Enter"}]],
        "keys": [["click", {"pageId": "$page", "uid": "$ref"}], ["type_text", {"pageId": "$page", "text": "$text"}]],
        "press": ["press_key", {"pageId": "$page", "key": "$key"}],
        "press_in": [["click", {"pageId": "$page", "uid": "$ref"}], ["press_key", {"pageId": "$page", "key": "$key"}]],
        "check": ["click", {"pageId": "$page", "uid": "$ref"}],
        "select": ["fill", {"pageId": "$page", "uid": "$ref", "value": "$text"}],
        "hover": ["hover", {"pageId": "$page", "uid": "$ref"}],
        "drag": ["drag", {"pageId": "$page", "from_uid": "$ref", "to_uid": "$onto"}],
        "await": ["wait_for", {"pageId": "$page", "text": ["$text"]}], "scroll": ["press_key", {"pageId": "$page", "key": "End"}],
        "leave": ["navigate_page", {"pageId": "$page", "url": "about:blank"}],
    },
    "agent-browser": {
        "tab": ["tab", "new", "$url"], "back": ["back"], "forward": ["forward"], "reload": ["reload"],
        "double_click": ["dblclick", "@$ref"],
        "enter": [["fill", "@$ref", "$text"], ["press", "Enter"]],
        "keys": ["type", "@$ref", "$text"], "press": ["press", "$key"],
        "press_in": [["focus", "@$ref"], ["press", "$key"]],
        "check": ["check", "@$ref"], "select": ["select", "@$ref", "$text"], "hover": ["hover", "@$ref"],
        "drag": ["drag", "@$ref", "@$onto"], "await": ["wait", "--text", "$text"], "scroll": ["scroll", "down", "5000"],
        "leave": ["open", "about:blank"],
    },
}


def safest(peer, sites):
    """The tool's own protections, with the sites that the tasks name."""
    a = adapters.PEERS[peer]
    if peer == "playwright-mcp":
        a["command"] += ["--allowed-origins", ";".join(sites), "--block-service-workers"]
        return "--isolated --allowed-origins (the named sites) --block-service-workers"
    if peer == "chrome-devtools-mcp":
        # Each site as a pattern of its own would be hundreds of arguments; the pattern names the same hosts.
        hosts = sorted({re.sub(r"\d+", "*", s.split("//")[1].split(":")[0]) for s in sites})
        port = sites[0].rsplit(":", 1)[1]
        for host in hosts:
            a["command"] += ["--allowedUrlPattern", "http://%s:%s/*" % (host, port)]
        a["command"] += ["--no-javascript-evaluation", "--fileNavigations=false"]
        return "--isolated --allowedUrlPattern (the named sites) --no-javascript-evaluation --fileNavigations=false"
    hosts = sorted({s.split("//")[1].split(":")[0] for s in sites})
    a["env"] = dict(a["env"], AGENT_BROWSER_ALLOWED_DOMAINS=",".join(hosts), AGENT_BROWSER_CONTENT_BOUNDARIES="1",
                    AGENT_BROWSER_CONFIRM_ACTIONS="eval,download")
    return "--allowed-domains (the named sites) --content-boundaries --confirm-actions eval,download"


class Corpus:
    """`attacks serve`: the parties, the model and the verdict."""

    def __init__(self, program):
        self.p = subprocess.Popen([program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, verb, given=None):
        self.p.stdin.write(json.dumps({verb: given}) + "\n")
        self.p.stdin.flush()
        return json.loads(self.p.stdout.readline())


class Player:
    def __init__(self, peer, work):
        self.peer, self.work, self.session, self.shown = peer, work, None, []
        adapters.PEERS[peer]["ops"].update(MORE[peer])

    def run(self, op, **values):
        if self.session is None:
            self.session = sessions.session(self.peer, self.work).start()
        r = self.session.op(op, timeout=CALL, **values)
        self.shown.append(r.text)
        return r.text

    def ref(self, element):
        patterns = adapters.PEERS[self.peer]["ref"]
        role = element["role"] if element["role"] in patterns else "any"
        for fresh in (False, True):
            texts = [self.run("snapshot")] if fresh else reversed(self.shown)
            for text in texts:
                found = self.session.ref(text, role, element["name"]) or self.session.ref(text, "any", element["name"])
                if found:
                    return found
        return None

    def take(self, step):
        op = step["op"]
        kind = op["op"]
        if kind in ("open", "tab"):
            text = self.run("navigate" if kind == "open" else "tab", url=op["url"])
            return text if len(text) > 400 else text + self.run("snapshot")
        if kind in ("read", "look"):
            return self.run("snapshot")
        if kind == "dialog":
            return self.run("dialog_accept" if op["accept"] else "dialog_dismiss")
        if kind in ("back", "forward", "reload", "scroll"):
            return self.run(kind)
        if kind == "await":
            return self.run("await", text=op["text"])
        if kind == "press" and not op["element"]:
            return self.run("press", key=op["key"])
        element = op.get("element") or op.get("from")
        if not element:
            return ""
        found = self.ref(element)
        if not found:
            return ""
        values = {"ref": found, "name": element["name"]}
        if kind == "type":
            kind = "enter" if op["enter"] else "keys" if op["keys"] else "fill"
            values["text"] = op["text"]
        elif kind == "press":
            kind = "press_in"
            values["key"] = op["key"]
        elif kind == "select":
            values["text"] = op["option"]
        elif kind == "drag":
            values["onto"] = self.ref(op["onto"])
        elif kind == "ctrl_click":
            kind = "click"
        return self.run(kind, **values)

    def close(self):
        if self.session:
            self.session.close()
        self.session, self.shown = None, []


def play(corpus, player, run, case, variant):
    result = {"case": case, "variant": variant, "won": [], "worked": False, "cards": [], "notes": [], "fault": None}
    seen, player.shown = "", []
    try:
        for _ in range(30):
            step = corpus.ask("next", [run, seen])
            if step is None:
                break
            if step["op"]["op"] == "gate":
                corpus.ask("gate", [run, step["op"]["name"]])
                seen = ""
            else:
                seen = player.take(step)
        if variant == "twin":
            corpus.ask("works", run)
        else:
            time.sleep(LINGER)
        player.run("leave")
    except (sessions.Hang, OSError, KeyError, ValueError) as e:
        result["notes"].append("%s: %s" % (type(e).__name__, str(e)[:200]))
        player.close()
    result.update(corpus.ask("end", run))
    return result


def main():
    parser = argparse.ArgumentParser()
    for name in ("program", "peer", "out"):
        parser.add_argument(name)
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--variant", choices=("attack", "twin"))
    parser.add_argument("--open", action="store_true")
    given = parser.parse_args()
    corpus = Corpus(given.program)
    families = {}
    for case in corpus.ask("cases"):
        families.setdefault(case.split("/")[0], []).append(case)
    cases = [case for family in families.values() for case in family[::given.every] if given.only in case]
    variants = [given.variant] if given.variant else ["attack", "twin"]
    staged = [(corpus.ask("stage", [case, variant]), case, variant) for case in cases for variant in variants]
    settings = "defaults"
    if not given.open:
        settings = safest(given.peer, [site for stage, _, _ in staged for site in stage["sites"]])
    version = subprocess.run(adapters.PEERS[given.peer]["version"], capture_output=True, text=True).stdout.split()
    plays = []
    with tempfile.TemporaryDirectory() as work:
        player = Player(given.peer, work)
        for number, (stage, case, variant) in enumerate(staged):
            if number % RESTART == 0:
                player.close()
            plays.append(play(corpus, player, stage["run"], case, variant))
            last = plays[-1]
            word = "WON" if variant == "attack" and last["won"] else "BROKEN" if variant == "twin" and not last["worked"] else "ok"
            print(word, case, variant, *last["notes"], flush=True)
        player.close()
    name = " ".join([given.peer, *version[-1:]]) + (", open" if given.open else "")
    pathlib.Path(given.out).write_text(json.dumps({"name": name, "settings": settings, "plays": plays}))


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    main()
