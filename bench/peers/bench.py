#!/usr/bin/env python3
"""Measure browser-automation tools for agents side by side.  See README.md.

  bench.py run [--peers a,b] [--sections cold,pages,floor,memory,throughput,checks] [--pages x,y] [--runs 10]
               [--work DIR] [--out raw.json]        results are merged into --out after every step
  bench.py list                                     the peers and whether each can be started
"""
import argparse, json, os, pathlib, statistics, subprocess, sys, time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import adapters  # noqa: E402
import sections  # noqa: E402
from pageserver import PAGES, Pages  # noqa: E402
from processes import SHARES  # noqa: E402


class Ctx:
    def __init__(self, a):
        self.work = pathlib.Path(a.work).resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.site = self.work / "site"
        if not (self.site / "MANIFEST.json").exists():
            subprocess.run([sys.executable, str(HERE / "pages.py"), "build", str(self.site)], check=True)
        self.pages = Pages(self.site)
        self.out = pathlib.Path(a.out)
        self.data = json.loads(self.out.read_text()) if self.out.exists() else {}

    def snapdir(self, name):
        d = self.work / "snap" / name
        d.mkdir(parents=True, exist_ok=True)
        return d

    def save(self):
        self.out.write_text(json.dumps(self.data, indent=1))


def machine():
    model = next((l.split(":", 1)[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "")
    return {"cpu": model, "cores": os.cpu_count(), "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
            "load": os.getloadavg()[0], "date": time.strftime("%Y-%m-%d %H:%M")}


def steps(sec, peers, pages, a, ctx):
    """(peer, what to measure) in an order that puts the peers next to each other in time, so that a machine
    that gets busier or slower meets all of them alike."""
    if sec == "cold":
        for n in peers * a.runs:
            yield n, lambda P, n=n: P.update(cold=sections.cold(n, ctx, P.setdefault("cold_runs", [])))
    elif sec == "pages":
        for page in pages:
            for n in peers:
                yield n, lambda P, n=n, page=page: P.setdefault("pages", {}).update(sections.pages(n, ctx, a.runs, [page]))
    elif sec == "memory":
        for n in peers:
            if n != "raw-cdp":
                yield n, lambda P, n=n: P.update(memory=sections.memory_use(n, ctx))
    elif sec == "throughput":
        for page in ("form60", "dashboard"):
            for n in peers * sections.ROUNDS:
                yield n, lambda P, n=n, page=page: sections.throughput(n, ctx, page, P.setdefault("throughput", {}).setdefault(page, {}))
    elif sec == "checks":
        import checks
        only = [c for c in a.checks.split(",") if c]
        for n in peers:
            if n != "raw-cdp":
                yield n, lambda P, n=n: checks.run(n, ctx, P.setdefault("checks", {}), only)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("what", choices=["run", "list"])
    ap.add_argument("--peers", default=",".join(adapters.PEERS))
    ap.add_argument("--sections", default="cold,pages,floor,memory,throughput,checks")
    ap.add_argument("--pages", default=",".join(PAGES))
    ap.add_argument("--checks", default="")
    ap.add_argument("--runs", type=int, default=10)
    ap.add_argument("--work", default="peers-work")
    ap.add_argument("--out", default="peers-raw.json")
    ap.add_argument("--cgroup", action="store_true", help="run in a CPU group of its own with 200 times the usual shares (root, cgroup v1)")
    a = ap.parse_args()
    if a.cgroup:                                            # own CPU group, so that other work on the machine gives way
        d = pathlib.Path("/sys/fs/cgroup/cpu/peersbench")
        d.mkdir(exist_ok=True)
        (d / "cpu.shares").write_text("200000")
        (d / "cgroup.procs").write_text(str(os.getpid()))
    if a.what == "list":
        for n, p in adapters.PEERS.items():
            try:
                v = subprocess.run(p["version"], capture_output=True, text=True, timeout=60).stdout.strip()
            except OSError as e:
                v = "cannot be started: %s" % e
            print("%-22s %-4s %s" % (n, p["kind"], v))
        return
    ctx = Ctx(a)
    D = ctx.data
    D.setdefault("machine", machine())
    D.setdefault("versions", {})
    D.setdefault("manifest", json.loads((ctx.site / "MANIFEST.json").read_text()))
    D["versions"]["chromium"] = subprocess.run([adapters.CHROME, "--version"], capture_output=True, text=True).stdout.strip()
    peers = a.peers.split(",")
    pages = [p for p in a.pages.split(",") if (ctx.site / PAGES[p]).exists()]
    try:
        for sec in a.sections.split(","):
            print("==", sec, "load", os.getloadavg()[0], flush=True)
            if sec == "floor":
                D.setdefault("floor", {}).update(sections.floor_calls(ctx, a.runs, pages))
                ctx.save()
                continue
            for n in peers:
                D["versions"][n] = subprocess.run(adapters.PEERS[n]["version"], capture_output=True, text=True, timeout=60).stdout.strip()
            for n, step in steps(sec, peers, pages, a, ctx):
                P = D.setdefault("peers", {}).setdefault(n, {})
                del SHARES[:]
                try:
                    step(P)
                except Exception as e:
                    P.setdefault("failed", {})[sec] = repr(e)[:400]
                    print("   FAILED", n, sec, repr(e)[:400], flush=True)
                if SHARES:
                    D.setdefault("others_cpu_share", []).append([sec, n, round(statistics.median(SHARES), 2)])
                ctx.save()
    finally:
        ctx.save()
        ctx.pages.close()


if __name__ == "__main__":
    main()
