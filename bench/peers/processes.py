"""Which processes a peer started, what memory and CPU they use, and how much of the machine others use meanwhile."""
import os


def tagged(tag):
    """Processes that carry our tag in their environment, and their descendants (Chromium's renderers
    overwrite their environment): pid -> path of the executable."""
    want = {("BENCH_TAG=" + t).encode() for t in ([tag] if isinstance(tag, str) else tag)}
    me, kids, hit = os.getpid(), {}, []
    for d in os.listdir("/proc"):
        if d.isdigit() and int(d) != me:
            try:
                kids.setdefault(int(open("/proc/%s/stat" % d).read().rsplit(")", 1)[1].split()[1]), []).append(int(d))
                if want & set(open("/proc/%s/environ" % d, "rb").read().split(b"\0")):
                    hit.append(int(d))
            except OSError:
                pass
    r = {}
    while hit:
        p = hit.pop()
        if p not in r:
            try:
                r[p] = os.readlink("/proc/%d/exe" % p)
            except OSError:
                continue
            hit += kids.get(p, [])
    return r


def is_browser(exe):
    return "chrom" in os.path.basename(exe)


def pss(pid, keys=("Pss:",)):
    try:
        return sum(int(line.split()[1]) for line in open("/proc/%d/smaps_rollup" % pid) if line.startswith(keys))
    except OSError:
        return 0


def cpu(pid, children=False):
    try:
        f = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()
        return sum(map(int, f[11:15 if children else 13])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


class Noise:
    """Share of the machine's CPU that others used meanwhile (neither the peer, its browser, the harness nor the page server)."""

    def __init__(self, s, ctx):
        self.tag, self.srv = s.tag, ctx.pages.p.pid
        self.a = self.look()

    def look(self):
        f = list(map(int, open("/proc/stat").readline().split()[1:]))
        tck = os.sysconf("SC_CLK_TCK")
        t = os.times()
        return (sum(f[:8]) - f[3] - f[4]) / tck, sum(f[:8]) / tck, sum(cpu(p, True) for p in tagged(self.tag)) + cpu(self.srv) + sum(t[:4])

    def share(self):
        b = self.look()
        SHARES.append(max(0.0, ((b[0] - self.a[0]) - (b[2] - self.a[2])) / max(0.01, b[1] - self.a[1])))
        return max(0.0, ((b[0] - self.a[0]) - (b[2] - self.a[2])) / max(0.01, b[1] - self.a[1]))


QUIET = float(os.environ.get("QUIET", "1"))     # repeat a run while others use more than this share of the CPU (1: never)
SHARES = []                                       # what others used, per run


def memory(tag):
    t = tagged(tag)
    own = [p for p, e in t.items() if not is_browser(e)]
    br = [p for p, e in t.items() if is_browser(e)]
    return {"server_mib": round(sum(map(pss, own)) / 1024, 1), "server_procs": len(own),
            "server_rss_mib": round(sum(pss(p, ("Rss:",)) for p in own) / 1024, 1),
            "server_private_mib": round(sum(pss(p, ("Private_Clean:", "Private_Dirty:")) for p in own) / 1024, 1),
            "server_exes": sorted(os.path.basename(t[p]) for p in own),
            "browser_mib": round(sum(map(pss, br)) / 1024, 1), "browser_procs": len(br),
            "server_cpu_s": round(sum(map(cpu, own)), 2), "browser_cpu_s": round(sum(map(cpu, br)), 2)}


class Many:
    def __init__(self, tags):
        self.tag = tags
