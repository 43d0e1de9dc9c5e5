#!/usr/bin/env python3
"""Names and roles judged by the web platform tests (accname, html-aam, wai-aria, svg-aam, core-aam).

  judge.py TESTS [--out results.md] [--only PART]

TESTS is the folder that `fetch` unpacked. Every test file runs as it is in real Chromium, with the
test suite's own harness; only what it asks WebDriver for (the computed label and role of an element)
is answered by us. Each file runs twice: once the answer comes from the page script and the core of
Reins, once from Chromium's accessibility tree. The table lists every subtest where the expectation
and one of the two differ.
"""
import argparse, http.server, json, os, pathlib, queue, subprocess, sys, threading

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "peers"))
import floor  # noqa: E402

# What a test file asks its driver for goes to us through a binding; the answer resolves a promise.
DRIVER = """(() => {
  const asked = window.__asked = [];
  const ask = (kind, el) => new Promise(resolve => {
    asked.push({ el, resolve });
    window.judgeAsk(JSON.stringify({ i: asked.length - 1, kind }));
  });
  window.test_driver = {
    get_computed_label: el => ask("label", el),
    get_computed_role: el => ask("role", el),
    get_accessibility_properties_for_element: () => Promise.reject(new Error("not judged")),
    set_test_context() {}, bless: (_, f) => Promise.resolve(f && f()), click: el => Promise.resolve(el.click()),
    Actions: function () { return this; }, send_keys: () => Promise.resolve(),
  };
})();"""
REPORT = """
add_result_callback(t => window.judgeResult(JSON.stringify({ name: t.name, status: t.status, message: t.message || "" })));
add_completion_callback((_, s) => window.judgeResult(JSON.stringify({ done: true, status: s.status, message: s.message || "" })));
setup({ output: false });
"""


def serve(tests):
    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(tests))

        def log_message(self, *args):
            pass

        def do_GET(self):
            path = self.path.split("?")[0]
            text = None
            if path == "/resources/testdriver.js":
                text = DRIVER
            elif path in ("/resources/testdriver-vendor.js", "/resources/testdriver-actions.js"):
                text = ""
            elif path == "/resources/testharnessreport.js":
                text = REPORT
            if text is None:
                return super().do_GET()
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/javascript")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return "http://127.0.0.1:%d" % server.server_address[1]


class Core:
    """The Rust core as a filter: one line of facts in, one line with role and name out."""

    def __init__(self):
        target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
        subprocess.run(["cargo", "build", "-q", "-p", "reins-page", "--example", "judge"], cwd=ROOT, check=True)
        self.p = subprocess.Popen([target + "/debug/examples/judge"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, facts):
        self.p.stdin.write(facts.replace("\n", " ") + "\n")
        self.p.stdin.flush()
        return json.loads(self.p.stdout.readline())


class Page:
    def __init__(self, browser):
        self.c = browser.cdp
        self.target = self.c.call("Target.createTarget", {"url": "about:blank"})[2]["targetId"]
        self.s = self.c.call("Target.attachToTarget", {"targetId": self.target, "flatten": True})[2]["sessionId"]
        self.events, self.context = queue.Queue(), None
        self.c.on(self.event)
        for method in ("Page.enable", "DOM.enable", "Runtime.enable", "Accessibility.enable"):
            self.call(method)
        script = (ROOT / "web/dist/page.js").read_text()
        self.call("Page.addScriptToEvaluateOnNewDocument", {"source": script, "worldName": "reins", "runImmediately": True})
        for name in ("judgeAsk", "judgeResult"):
            self.call("Runtime.addBinding", {"name": name})

    def event(self, d):
        if d.get("sessionId") != self.s:
            return False
        if d["method"] == "Runtime.executionContextCreated":
            c = d["params"]["context"]
            if c["name"] == "reins" and c["auxData"]["frameId"] == self.target:
                self.context = c["id"]
        elif d["method"] == "Runtime.bindingCalled":
            self.events.put((d["params"]["name"], json.loads(d["params"]["payload"])))
        return False

    def call(self, method, params=None):
        return self.c.call(method, params, self.s)[2]

    def run(self, url, answer, deadline=30):
        """All subtests of one file: name -> (passed, message)."""
        results = {}
        while not self.events.empty():
            self.events.get()
        self.call("Page.navigate", {"url": url})
        while True:
            try:
                kind, d = self.events.get(timeout=deadline)
            except queue.Empty:
                results["(no answer in %d s)" % deadline] = (False, "")
                return results
            if kind == "judgeAsk":
                element = self.call("Runtime.evaluate", {"expression": "__asked[%d].el" % d["i"]})["result"]["objectId"]
                value = answer(self, element, d["kind"])
                self.call("Runtime.evaluate", {"expression": "__asked[%d].resolve(%s)" % (d["i"], json.dumps(value))})
            elif d.get("done"):
                return results
            else:
                results[d["name"]] = (d["status"] == 0, d["message"])


def by_reins(core):
    def answer(page, element, kind):
        node = page.call("DOM.describeNode", {"objectId": element})["node"]["backendNodeId"]
        mine = page.call("DOM.resolveNode", {"backendNodeId": node, "executionContextId": page.context})["object"]["objectId"]
        facts = page.call("Runtime.callFunctionOn", {"functionDeclaration": "e => __reins.facts(__reins.number(e))", "returnByValue": True,
                                                     "executionContextId": page.context, "arguments": [{"objectId": mine}]})["result"]["value"]
        return core.ask(facts)[kind]
    return answer


def by_chromium(page, element, kind):
    node = page.call("Accessibility.getPartialAXTree", {"objectId": element, "fetchRelatives": False})["nodes"][0]
    return node.get({"label": "name", "role": "role"}[kind], {}).get("value", "") or ""


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("tests", type=pathlib.Path)
    ap.add_argument("--out", type=pathlib.Path)
    ap.add_argument("--only", default="")
    a = ap.parse_args()
    files = sorted(p for suite in ("accname", "html-aam", "wai-aria", "svg-aam", "core-aam") for p in (a.tests / suite).rglob("*.html")
                   if "manual" not in p.name and "get_computed" not in p.name and a.only in str(p)
                   and ("testdriver" in p.read_text(errors="replace")))
    base = serve(a.tests.resolve())
    core, browser = Core(), floor.Browser(os.environ.get("CHROME", "/usr/bin/chromium"))
    reasons = json.loads((HERE / "reasons.json").read_text()) if (HERE / "reasons.json").exists() else {}
    totals, rows, unexplained = {}, [], 0
    try:
        page = Page(browser)
        for f in files:
            name = str(f.relative_to(a.tests))
            ours, theirs = page.run(base + "/" + name, by_reins(core)), page.run(base + "/" + name, by_chromium)
            t = totals.setdefault(name.split("/")[0], [0, 0, 0])
            for test in sorted(set(ours) | set(theirs)):
                o, c = ours.get(test, (False, "did not run")), theirs.get(test, (False, "did not run"))
                t[0] += 1
                t[1] += o[0]
                t[2] += c[0]
                if not (o[0] and c[0]):
                    reason = reasons.get(name + " :: " + test) or reasons.get(name, "")
                    unexplained += not o[0] and not reason
                    rows.append((name, test, o, c, reason))
            print("%-60s ours %d, Chromium %d of %d" % (name, sum(x[0] for x in ours.values()), sum(x[0] for x in theirs.values()), len(ours)), flush=True)
    finally:
        browser.close()
    out = ["# Names and roles, judged by the web platform tests", "",
           "| suite | subtests | Reins | Chromium's own tree |", "|---|---:|---:|---:|"]
    for suite, (n, o, c) in totals.items():
        out.append("| %s | %d | %d | %d |" % (suite, n, o, c))
    out.append("| **all** | %d | %d | %d |" % tuple(sum(t[i] for t in totals.values()) for i in range(3)))
    cell = lambda s: " ".join(s.split()).replace("|", "\\|")[:220]
    for title, pick in (("Where Reins differs from the expectation", lambda o, c: not o[0]), ("Where only Chromium's tree does", lambda o, c: o[0] and not c[0])):
        out += ["", "## " + title, "", "| file | subtest | Reins | Chromium | reason |", "|---|---|---|---|---|"]
        out += ["| %s | %s | %s | %s | %s |" % (f, cell(t), "passes" if o[0] else cell(o[1]), "passes" if c[0] else cell(c[1]), cell(r))
                for f, t, o, c, r in rows if pick(o, c)]
    text = "\n".join(out) + "\n"
    if a.out:
        a.out.write_text(text)
    print("\n".join(out[:12 + len(totals)]))
    print("%d disagreements without a reason" % unexplained)


main()
