#!/usr/bin/env python3
"""ratios.py raw.json WORK results.md [quote]      the figures Reins promises, as ratios within one run

Every figure compares medians of the same run on the same machine. A figure that was not measured is left out.
With `quote` the table of figures is also put into the README, between its two marks.
"""
import json
import pathlib
import re
import statistics
import sys

BIG = ["links3000", "rustdoc", "table5k"]           # pages over 200 KB
PEERS = ["playwright-mcp", "chrome-devtools-mcp", "agent-browser", "agent-browser-mcp"]
CONTROL = re.compile(r"\b(?:button|link|textbox|searchbox|checkbox|radio|combobox|option|tab|menuitem|slider|switch|spinbutton)\b[^\n]*?ref=")


def main():
    raw, work, out = json.load(open(sys.argv[1])), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    figures = Figures(raw, work)
    text = render(raw, figures)
    print(text)
    out.write_text(text)
    readme = out.parent.parent / "README.md"
    if len(sys.argv) > 4 and sys.argv[4] == "quote":
        readme.write_text(quoted(readme.read_text(), figures))


class Figures:
    def __init__(self, raw, work):
        self.peers, self.work = raw["peers"], work
        self.product = self.peers.get("product", {})
        self.raw = self.peers.get("raw-cdp", {})
        self.others = [p for p in PEERS if p in self.peers]
        self.pages = list(self.product.get("pages", {}))

    def median(self, peer, page, what):
        return ((self.peers.get(peer, {}).get("pages", {}).get(page, {}).get(what)) or {}).get("median")

    def fastest(self, page, what="snapshot"):
        found = [(self.median(p, page, what), p) for p in self.others]
        return min([f for f in found if f[0]], default=(None, None))

    def cold(self):
        totals = {n: p["cold"]["total"]["median"] for n, p in self.peers.items() if p.get("cold")}
        floor = totals.get("raw-cdp")
        return {n: (t, t / floor) for n, t in totals.items()} if floor else {}

    def snapshots(self, mode):
        """page -> (ours, fastest peer's, its name, how many times faster we are)"""
        rows = {}
        for page in self.pages:
            ours, (best, name) = self.median("product", page, mode), self.fastest(page)
            if ours and best:
                rows[page] = (ours, best, name, best / ours)
        return rows

    def clicks(self):
        """page -> (ours, floor, ratio, bytes of our answer)"""
        rows = {}
        for page in self.pages:
            ours, floor = self.median("product", page, "click"), self.median("raw-cdp", page, "click")
            if ours and floor:
                rows[page] = (ours, floor, ours / floor, self.product["pages"][page]["info"].get("click_bytes"))
        return rows

    def sizes(self):
        """page -> (our tokens, Playwright MCP's, ratio, our controls, its controls); the first snapshot, but the settled one for `spa`

        Where it leaves a tenth of the controls out or more (closed shadow roots), the ratio is that of tokens per control: less is not better then.
        """
        rows = {}
        for page in self.pages:
            name = page + (".txt" if page == "spa" else ".first.txt")
            ours, theirs = self.text("product", name), self.text("playwright-mcp", name)
            if ours and theirs:
                a, b = tokens(ours), tokens(theirs)
                mine, its = len(CONTROL.findall(ours)), len(CONTROL.findall(theirs))
                rows[page] = (a, b, a / mine / (b / its) if its < 0.9 * mine else a / b, mine, its)
        return rows

    def text(self, peer, name):
        path = self.work / "snap" / peer / name
        return path.read_text() if path.exists() else None

    def memory(self):
        rows = {}
        for name, peer in self.peers.items():
            use = peer.get("memory") or {}
            got = [use.get(k, {}).get("after_200_calls", {}).get("server_mib") for k in ("small", "mixed")]
            if any(got):
                rows[name] = got
        return rows

    def throughput(self):
        rows = {}
        for page in ("form60", "dashboard"):
            floor = self.raw.get("throughput", {}).get(page)
            for name, peer in self.peers.items():
                mine = peer.get("throughput", {}).get(page)
                if mine and floor and name != "raw-cdp":
                    # Rounds go in turn, and what a shared machine gives changes by more from minute to minute than what is measured.
                    pairs = [m / f for m, f in zip(mine["rounds"], floor["rounds"])]
                    rows.setdefault(name, {})[page] = statistics.median(pairs)
        return rows

    def tools(self):
        rows = {}
        for name in self.peers:
            path = self.work / "snap" / name / "tools.json"
            if path.exists():
                listed = json.loads(path.read_text())
                rows[name] = (len(listed), sum(tokens(json.dumps({k: t.get(k) for k in ("name", "description", "inputSchema")})) for t in listed))
        return rows

    def checks(self):
        rows = {}
        for name, peer in self.peers.items():
            all_checks = peer.get("checks") or {}
            common = {k: c for k, c in all_checks.items() if not k.startswith("beyond the peers")}
            beyond = {k: c for k, c in all_checks.items() if k.startswith("beyond the peers")}
            if all_checks:
                rows[name] = (len(common), [k for k, c in common.items() if c["ok"] is False], len(beyond), [k for k, c in beyond.items() if not c["ok"]])
        return rows


def tokens(text):
    if ENCODER is None:
        return len(text.encode()) // 4
    return sum(len(ENCODER.encode(text[i:i + 200_000], disallowed_special=())) for i in range(0, len(text), 200_000))


def encoder():
    try:
        import tiktoken
        return tiktoken.get_encoding("o200k_base")
    except Exception:
        return None


ENCODER = encoder()


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(c) for c in r) + " |" for r in rows]) + "\n"


def ms(x):
    return "–" if x is None else "%.0f" % x if x >= 10 else "%.1f" % x


def verdict(ok):
    return "yes" if ok else "**no**"


def summary_rows(f):
    """(figure, what it must be, Reins, the peers, reached) for everything that was measured."""
    rows = []
    other = lambda values, fmt: ", ".join("%s %s" % (n, fmt(values[n])) for n in PEERS if n in values)
    cold = f.cold()
    if "product" in cold:
        r = cold["product"][1]
        rows.append(("cold start to first page, over raw CDP", "≤ 1.15", "%.2f" % r, other(cold, lambda v: "%.2f" % v[1]), r <= 1.15))
    shots = f.snapshots("snapshot")
    for label, names, need in (("snapshot, pages over 200 KB, times faster than the fastest peer", [p for p in BIG if p != "table5k"], 10), ("snapshot, 5,000-row table, times faster than the fastest peer", ["table5k"], 40),
                               ("snapshot, every other page, times faster than the fastest peer", [p for p in shots if p not in BIG], 1)):
        got = {p: shots[p] for p in names if p in shots}
        if got:
            worst = min(got, key=lambda p: got[p][3])
            rows.append((label, "≥ %d" % need, "%.1f (worst: %s)" % (got[worst][3], worst), "%s %s ms there" % (got[worst][2], ms(got[worst][1])), got[worst][3] >= need))
    full = f.snapshots("snapshot_alt")
    if full:
        worst = min(full, key=lambda p: full[p][3])
        rows.append(("snapshot with `full: true`, times faster than the fastest peer", "≥ 1", "%.1f (worst: %s)" % (full[worst][3], worst), "%s %s ms there" % (full[worst][2], ms(full[worst][1])), full[worst][3] >= 1))
    clicks = f.clicks()
    if "form60" in clicks:
        theirs = {p: f.median(p, "form60", "click") / clicks["form60"][1] for p in f.others if f.median(p, "form60", "click")}
        rows.append(("click with settling and delta, form60, over raw CDP", "≤ 8", "%.1f" % clicks["form60"][2], other(theirs, lambda v: "%.1f" % v), clicks["form60"][2] <= 8))
    sized = {p: c[3] for p, c in clicks.items() if c[3] is not None}
    if sized:
        worst = max(sized, key=sized.get)
        rows.append(("answer of a click that changes one thing, bytes", "≤ 600", "%d (worst: %s)" % (sized[worst], worst), "", sized[worst] <= 600))
    sizes = f.sizes()
    if sizes:
        worst = max(sizes, key=lambda p: sizes[p][2])
        rows.append(("first snapshot, tokens over Playwright MCP's (per control where it leaves some out)", "≤ 0.5", "%.2f (worst: %s)" % (sizes[worst][2], worst), "", sizes[worst][2] <= 0.5))
    memory = f.memory()
    if "product" in memory:
        for i, (label, need) in enumerate((("small", 18), ("mixed", 40))):
            rows.append(("server memory after 200 calls, %s pages, MiB" % label, "≤ %d" % need, memory["product"][i], other(memory, lambda v: v[i]), memory["product"][i] <= need))
    speed = f.throughput()
    if "product" in speed:
        for page, r in speed["product"].items():
            rows.append(("four sessions at once, %s, cycles a minute over raw CDP" % page, "≥ 0.95", "%.2f" % r, other({n: v[page] for n, v in speed.items() if page in v}, lambda v: "%.2f" % v), r >= 0.95))
    tools = f.tools()
    if "product" in tools:
        rows.append(("tools/list, tokens", "≤ 3,000", tools["product"][1], other(tools, lambda v: v[1]), tools["product"][1] <= 3000))
    checks = f.checks()
    if "product" in checks:
        n, failed, more, missed = checks["product"]
        rows.append(("correctness checks failed", "0", "%d of %d" % (len(failed), n), other(checks, lambda v: "%d of %d" % (len(v[1]), v[0])), not failed))
        rows.append(("checks that all peers fail, failed", "0", "%d of %d" % (len(missed), more), other(checks, lambda v: "%d of %d" % (len(v[3]), v[2])), not missed))
    return rows


def figure_table(f):
    return table(["figure", "must be", "Reins", "peers", "reached"], [(a, b, c, d, verdict(e)) for a, b, c, d, e in summary_rows(f)])


def quoted(readme, f):
    before, rest = readme.split("<!-- figures: quoted from bench/results.md -->\n", 1)
    after = rest.split("<!-- end of figures -->", 1)[1]
    return before + "<!-- figures: quoted from bench/results.md -->\n" + figure_table(f) + "<!-- end of figures -->" + after


def render(raw, f):
    m, others = raw["machine"], [x[2] for x in raw.get("others_cpu_share", [])]
    parts = ["# Measured\n", "%s, %d cores, %d GiB; %s. Medians of one run in which all were measured in turn; ratios, not milliseconds, are what carries over to other machines. "
             "Tokens are %s. Written by `make bench`; how it is measured: [peers/README.md](peers/README.md).\n" % (
                 m["cpu"], m["cores"], m["memory_gib"], m["date"], "o200k_base" if ENCODER else "bytes / 4")]
    if others:
        parts.append("Other programs used up to %.0f %% of the CPU meanwhile (median per step %.0f %%).\n" % (100 * max(others), 100 * sorted(others)[len(others) // 2]))
    parts += ["## The figures\n", figure_table(f)]
    shots, full = f.snapshots("snapshot"), f.snapshots("snapshot_alt")
    if shots:
        parts += ["## Snapshots, ms\n", table(["page", "Reins", "Reins, `full`", "fastest peer", "which", "times faster", "times faster, `full`"], [
            (p, ms(a), ms(full[p][0]) if p in full else "–", ms(b), n, "%.1f" % r, "%.1f" % full[p][3] if p in full else "–") for p, (a, b, n, r) in shots.items()])]
    clicks = f.clicks()
    if clicks:
        parts += ["## Clicks\n", table(["page", "Reins, ms", "raw CDP, ms", "over raw", "bytes of the answer"], [(p, ms(a), ms(b), "%.1f" % r, n) for p, (a, b, r, n) in clicks.items()])]
    sizes = f.sizes()
    if sizes:
        parts += ["## First snapshot against Playwright MCP's\n", "Where Playwright MCP leaves controls out (the closed shadow roots of `shadow`), the ratio is that of tokens per control. Where Reins lists fewer, the page is over its budget: the rest is counted in the snapshot's last line and read with `full`, `find_in_page` or by scrolling.\n",
                  table(["page", "tokens", "theirs", "ratio", "controls with a ref", "theirs"], [(p, a, b, "%.2f" % r, c, d) for p, (a, b, r, c, d) in sizes.items()])]
    checks = f.checks()
    if checks:
        failed = [(n, k) for n, (_, bad, _, missed) in checks.items() for k in bad + missed]
        parts += ["## Checks that failed\n", "\n".join("- %s: %s" % x for x in failed) + "\n"]
    parts += ["## Versions\n", table(["tool", "version"], [(k, v) for k, v in raw["versions"].items()])]
    return "\n".join(parts)


if __name__ == "__main__":
    main()
