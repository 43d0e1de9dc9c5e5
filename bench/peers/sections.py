"""What is measured: cold start, pages, floor, memory, throughput.  Each section returns plain data for the raw file."""
import json, pathlib, re, statistics, threading, time, uuid

import adapters
import floor
from processes import Many, Noise, QUIET, memory
from sessions import Hang, Res, session

TEXT200 = ("The quick brown fox jumps over the lazy dog and then walks home along the river while it rains. " * 3)[:200]
assert len(TEXT200) == 200

# Rounds of throughput that each peer has, in turn with the others.
ROUNDS = 5


def summary(xs):
    xs = sorted(xs)
    if not xs:
        return None
    return {"n": len(xs), "median": round(statistics.median(xs), 1), "min": round(xs[0], 1), "max": round(xs[-1], 1),
            "p90": round(xs[min(len(xs) - 1, int(len(xs) * 0.9))], 1)}


def cold(name, ctx, runs):
    """One more cold start, added to `runs`; -> the summary of all of them."""
    noisy = 0
    while True:
        s = session(name, ctx.work)
        nz = Noise(s, ctx)
        try:
            s.start()
            r = s.op("navigate", url=ctx.pages.url("trivial", r=len(runs)))
            if r.err:
                raise RuntimeError(r.text[:300])
            one = {"total": (time.perf_counter() - s.t0) * 1000, "init": s.t_init * 1000, "tools": s.t_tools * 1000}
            sizes = {"tools_bytes": s.tools_bytes, "tools": len(s.tools)}
            if s.tools:
                (ctx.snapdir(name) / "tools.json").write_text(json.dumps(s.tools))
        finally:
            t = time.perf_counter()
            s.close()
        one["close"] = (time.perf_counter() - t) * 1000
        if nz.share() <= QUIET or noisy == 2:
            break
        noisy += 1
    runs.append(one)
    print("   cold %-20s %7.0f ms" % (name, one["total"]), flush=True)
    return dict({k: summary([r[k] for r in runs]) for k in one}, **sizes)


def pages(name, ctx, runs, names):
    res = {}
    for page in names:
        m = {k: [] for k in ("navigate", "nav_snap", "first_snap", "snapshot", "snapshot_alt", "click", "fill", "type_keys", "screenshot", "act_observe")}
        info, errors, run = {}, [], uuid.uuid4().hex[:8]
        s = session(name, ctx.work)
        try:
            s.start()
            s.op("navigate", url=ctx.pages.url("trivial"))
            s.op("snapshot")
            nz, noisy, i = None, 0, -2
            while True:                                     # run -1 warms up and is thrown away; a run that others
                if nz and nz.share() > QUIET and noisy < runs and i >= 0:      # disturbed is repeated
                    noisy += 1
                    for v in m.values():
                        del v[marks[id(v)]:]
                    i -= 1
                i += 1
                if i >= runs:
                    break
                nz, marks = Noise(s, ctx), {id(v): len(v) for v in m.values()}
                keep = i >= 0
                r = s.op("navigate", url=ctx.pages.url(page, r=i, run=run))
                if r.err:
                    errors.append("navigate: " + r.text[:200])
                    continue
                s1 = s.op("snapshot")
                settled = s1
                if page == "spa":                           # let the application finish, then measure the settled page
                    ready = bool(re.search("SPA_READY_TEXT|Add 199 to cart", s1.text))
                    info.setdefault("spa_first_snapshot", []).append([ready, len(re.findall(r'Add \d+ to cart', s1.text))])
                    time.sleep(1.5)
                s2 = s.op("snapshot")
                for x in (s1, s2):
                    if x.err:
                        errors.append("snapshot: " + x.text[:200])
                b = s.ref(s2.text, "button", "Bench increment")
                f = s.ref(s2.text, "textbox", "Bench input")
                if keep:
                    m["navigate"].append(r.ms)
                    m["first_snap"].append(s1.ms)
                    m["nav_snap"].append(r.ms + s1.ms)
                    m["snapshot"].append(s2.ms)
                    info.update(text_bytes=len(s2.text.encode()), wire_bytes=s2.wire, nav_bytes=len(r.text.encode()))
                if i == 0:
                    (ctx.snapdir(name) / (page + ".first.txt")).write_text(s1.text)
                    (ctx.snapdir(name) / (page + ".txt")).write_text(s2.text)
                if s.has("snapshot_alt") and i < 10:
                    a = s.op("snapshot_alt")
                    if keep:
                        m["snapshot_alt"].append(a.ms)
                        info["alt_bytes"] = len(a.text.encode())
                    if i == 0:
                        (ctx.snapdir(name) / (page + ".alt.txt")).write_text(a.text)
                    b = s.ref(a.text, "button", "Bench increment") or b
                    f = s.ref(a.text, "textbox", "Bench input") or f
                if b:
                    c = s.op("click", ref=b, name="Bench increment")
                    if c.err:
                        errors.append("click: " + c.text[:200])
                    elif keep:
                        m["click"].append(c.ms)
                        info["click_bytes"] = len(c.text.encode())
                        if i == 0:
                            (ctx.snapdir(name) / (page + ".click.txt")).write_text(c.text)
                    if page != "table5k" or i < 3:
                        o = s.op("snapshot")
                        if keep and not c.err:
                            m["act_observe"].append(c.ms + o.ms)
                        f = s.ref(o.text, "textbox", "Bench input") or f
                else:
                    errors.append("no ref for the bench button")
                if f:
                    c = s.op("fill", ref=f, name="Bench input", text=TEXT200)
                    if c.err:
                        errors.append("fill: " + c.text[:200])
                    elif keep:
                        m["fill"].append(c.ms)
                    if page == "form60" and s.has("type_keys"):
                        c = s.op("type_keys", ref=f, name="Bench input", text=TEXT200)
                        if not c.err and keep:
                            m["type_keys"].append(c.ms)
                else:
                    errors.append("no ref for the bench field")
                c = s.op("screenshot")
                if c.err or not c.images:
                    errors.append("screenshot: " + c.text[:200])
                elif keep:
                    m["screenshot"].append(c.ms)
                    info["shot_bytes"] = c.images[0]
            s.op("navigate", url=ctx.pages.url("trivial"))
            time.sleep(0.3)
            st = [x for x in ctx.pages.get("states?run=" + run) if x.get("r") != "-1"]
            info["noisy_runs_repeated"] = noisy
            info["verified"] = {"loads": len(st), "click_ok": sum(x["n"] == 1 for x in st), "fill_ok": sum(x["len"] >= 200 for x in st)}
        except Hang as e:
            errors.append("HANG " + str(e))
        finally:
            s.close()
        res[page] = {k: summary(v) for k, v in m.items() if v}
        res[page]["info"] = info
        if errors:
            res[page]["errors"] = {e: errors.count(e) for e in dict.fromkeys(errors)}
        print("   %-20s %-10s nav %7s  snap %7s  click %6s  fill %6s  shot %6s  %9s B  %s %s" % (
            name, page, *[(res[page].get(k) or {}).get("median", "-") for k in ("navigate", "snapshot", "click", "fill", "screenshot")],
            info.get("text_bytes"), info.get("verified"), list(res[page].get("errors", {}))[:2]), flush=True)
        ctx.save()
    return res


def floor_calls(ctx, runs, names):
    class F:
        tag = uuid.uuid4().hex[:12]
    br = floor.Browser(adapters.CHROME, {"BENCH_TAG": F.tag})
    res = {}
    try:
        for page in names:
            t = floor.Tab(br)
            t.navigate(ctx.pages.url(page, r=-1))
            m = {"navigate": []}
            size = {}
            for i in range(runs * 3):
                if len(m["navigate"]) >= runs:
                    break
                nz, one = Noise(F, ctx), {}
                one["navigate"] = t.navigate(ctx.pages.url(page, r=i)) * 1000
                time.sleep(1.5 if page == "spa" else 0.3)
                for k, fn in floor.EXTRA.items():
                    dt, n = fn(t)
                    one[k] = dt * 1000
                    size[k] = n
                if nz.share() > QUIET and i < runs * 2:
                    continue
                for k, v in one.items():
                    m.setdefault(k, []).append(v)
            res[page] = {k: dict(summary(v), bytes=size.get(k)) for k, v in m.items()}
            t.c.call("Target.closeTarget", {"targetId": t.target})
            print("   floor %-10s %s" % (page, {k: v["median"] for k, v in res[page].items()}), flush=True)
    finally:
        br.close()
    return res


def memory_use(name, ctx):
    """PSS of the server's own processes after one page and after 200 calls (50 x navigate, snapshot, click, screenshot):
    once on small pages only, once on pages of every size."""
    res = {}
    for label, names in (("small", ["form60"]), ("mixed", ["form60", "dashboard", "datatable", "rustdoc", "trivial"])):
        s = session(name, ctx.work)
        r = res[label] = {}
        try:
            s.start()
            s.op("navigate", url=ctx.pages.url("form60", r="m"))
            s.op("snapshot")
            time.sleep(2)
            r["after_1_page"] = memory(s.tag)
            n = 0
            t0 = time.perf_counter()
            while n < 200:
                s.op("navigate", url=ctx.pages.url(names[n // 4 % len(names)], r=n))
                t = s.op("snapshot").text
                b = s.ref(t, "button", "Bench increment")
                if b:
                    s.op("click", ref=b, name="Bench increment")
                s.op("screenshot")
                n += 4
            r["seconds_for_200"] = round(time.perf_counter() - t0, 1)
            time.sleep(2)
            r["after_200_calls"] = memory(s.tag)
        finally:
            s.close()
        print("   memory %s %s %s" % (name, label, json.dumps(r)), flush=True)
    return res


def throughput(name, ctx, page, before, sessions=4, secs=15, shared=False):
    """One more round, added to what `before` has; -> the summary of all of them."""
    ss = []
    res, share = before.setdefault("rounds", []), before.setdefault("others_cpu_share", [])
    try:
        if shared:                                          # raw floor only: four tabs of one browser
            shared_tag = uuid.uuid4().hex[:12]
            br = floor.Browser(adapters.CHROME, {"BENCH_TAG": shared_tag})
            for i in range(sessions):
                s = session(name, ctx.work)
                s.tag = shared_tag
                s.br, s.tab, s.navigated = br, floor.Tab(br), True
                ss.append(s)
        else:
            for i in range(sessions):
                s = session(name, ctx.work)
                ss.append(s)
                s.start()
        errors = before.setdefault("all_errors", [])
        count = [0] * sessions

        def work(i, until):
            s, n = ss[i], 0
            while time.time() < until:
                try:
                    r = s.op("navigate", url=ctx.pages.url(page, r="%d-%d" % (i, n)))
                    t = s.op("snapshot")
                    b = s.ref(t.text, "button", "Bench increment")
                    c = s.op("click", ref=b, name="Bench increment") if b else Res(text="no ref", err=True)
                    if r.err or t.err or c.err:
                        errors.append((r.text if r.err else t.text if t.err else c.text)[:120])
                    else:
                        count[i] += 1
                except Exception as e:
                    errors.append(repr(e)[:120])
                    return
                n += 1
        for dur in (6, secs):                               # the first warms up
            count[:] = [0] * sessions
            nz = Noise(Many([s.tag for s in ss]), ctx)
            t0 = time.time()
            th = [threading.Thread(target=work, args=(i, t0 + dur)) for i in range(sessions)]
            [t.start() for t in th]
            [t.join() for t in th]
        res.append(sum(count) / (time.time() - t0) * 60)
        share.append(round(nz.share(), 2))
    finally:
        if shared:
            br.close()
            [s.kill_all() for s in ss]
        else:
            [s.close() for s in ss]
    before.update(cycles_per_minute=summary(res), errors=len(errors), first_errors=errors[:3])
    print("   throughput %s %s %s" % (name, page, before["cycles_per_minute"]), flush=True)
    return before
