"""Correctness checks.  Every check says what happened, judged by the page server's counters, not by the tool's own words.

A result is {"ok": true/false/None, "note": "..."}; None means the tool has no operation for it.
"""
import os, re, signal, time, traceback, uuid

from processes import is_browser, tagged
from sessions import Hang, Res, session


class T:
    """One session, with hangs turned into results."""

    def __init__(self, name, ctx):
        self.ctx, self.name, self.s = ctx, name, session(name, ctx.work)
        self.s.start()
        self.run = uuid.uuid4().hex[:8]
        self.op("navigate", url=ctx.pages.url("trivial"))

    def op(self, op, timeout=60, **v):
        t0 = time.perf_counter()
        try:
            r = self.s.op(op, timeout=timeout, **v)
            r.hang = False
        except Hang as e:
            r = Res(text="HANG: %s" % e, err=True)
            r.hang = True
        r.s = time.perf_counter() - t0
        return r

    def go(self, page, timeout=60, host=None):
        u = self.ctx.pages.url(page, run=self.run)
        if host:
            u = u.replace("127.0.0.1", host)
        return self.op("navigate", timeout=timeout, url=u)

    def hit(self, key, secs=3.0):
        return self.ctx.pages.wait_hit(self.run, key, secs)

    def press(self, role, name, key=None, secs=3.0, timeout=60, snap=None):
        """Snapshot, find, click; ok when the server saw the click."""
        t = snap or self.op("snapshot").text
        ref = self.s.ref(t, role, name) or (self.s.ref(t, "any", name) if role != "any" else None)
        if not ref:
            return {"ok": False, "note": "shown without a ref" if name in t else "not in the snapshot"}, Res()
        r = self.op("click", ref=ref, name=name, timeout=timeout)
        if key is None:
            return {"ok": not r.err, "note": first(r.text) if r.err else ""}, r
        ok = self.hit(key, secs)
        note = ""
        if not ok:
            note = ("error: " + first(r.text)) if r.err else "reported success, but the page saw no click"
        elif r.err:
            note = "click arrived, yet the tool reported: " + first(r.text)
        return {"ok": ok, "note": note}, r

    def close(self):
        self.s.close()


def first(t, n=160):
    t = re.sub(r"\x1b?\[\d+m", "", t)
    t = re.sub(r"\s+", " ", t.replace("### Error", "")).strip()
    return t[:n]


def frames(t, out):
    t.go("frames_flat.html")
    time.sleep(0.5)
    snap = t.op("snapshot").text
    for k in ("same", "cross", "srcdoc", "sandboxed"):
        out["frame text: " + k] = {"ok": k.upper() + "_TEXT" in snap, "note": ""}
        out["frame click: " + k], _ = t.press("button", k.capitalize() + " button", k)


def nested(t, out):
    t.go("iframes.html")
    time.sleep(1)
    snap = t.op("snapshot").text
    seen = [d for d in range(1, 6) if "FRAME_%d_TEXT" % d in snap]
    out["nested frames: text of depths 1-5"] = {"ok": seen == [1, 2, 3, 4, 5], "note": "seen: %s" % seen}
    done, notes = [], []
    for d in range(1, 6):
        r, _ = t.press("button", "Frame %d button" % d, "frame%d" % d)
        if r["ok"]:
            done.append(d)
        else:
            notes.append("%d: %s" % (d, r["note"]))
    out["nested frames: click in depths 1-5"] = {"ok": done == [1, 2, 3, 4, 5], "note": "clicked: %s; %s" % (done, "; ".join(notes[:2]))}
    snap = t.op("snapshot").text
    ref = t.s.ref(snap, "textbox", "Frame 5 input")
    if ref and t.name != "browser-use-mcp":
        r = t.op("fill", ref=ref, name="Frame 5 input", text="hello")
        out["nested frames: type at depth 5"] = {"ok": t.hit("frame5input"), "note": first(r.text) if r.err else ""}
    else:
        out["nested frames: type at depth 5"] = {"ok": False, "note": "not in the snapshot"}


def shadow(t, out):
    t.go("shadow.html")
    snap = t.op("snapshot").text
    for k in ("open", "closed", "nested"):
        out["shadow text: " + k] = {"ok": k.upper() + "_SHADOW_TEXT" in snap, "note": "nested = closed inside open" if k == "nested" else ""}
        out["shadow click: " + k], _ = t.press("button", k.capitalize() + " shadow button", k + "_shadow")
        snap2 = t.op("snapshot").text
        ref = t.s.ref(snap2, "textbox", k + " field") if t.name != "browser-use-mcp" else None
        if ref:
            r = t.op("fill", ref=ref, name=k + " field", text="hello")
            out["shadow type: " + k] = {"ok": t.hit(k + "_shadow_input"), "note": first(r.text) if r.err else ""}
        else:
            out["shadow type: " + k] = {"ok": False, "note": "not in the snapshot"}
    out["shadow text: slotted"] = {"ok": "SLOT_TEXT" in snap and "Slotted button" in snap, "note": ""}
    out["shadow click: slotted"], _ = t.press("button", "Slotted button", "slotted")


def content(t, out):
    t.go("hidden.html")
    snap = t.op("snapshot").text
    for k, want in (("VISIBLE_TEXT", True), ("DISPLAY_NONE_TEXT", False), ("VISIBILITY_HIDDEN_TEXT", False), ("ALERT_ROLE_TEXT", True),
                    ("EDITOR_TEXT", True), ("IMAGE_ALT_TEXT", True), ("CANVAS_LABEL", True), ("SUMMARY_TEXT", True)):
        out["snapshot %s %s" % ("has" if want else "leaves out", k)] = {"ok": (k in snap) == want, "note": ""}
    out["snapshot: text with aria-hidden"] = {"ok": None, "note": "shown" if "ARIA_HIDDEN_TEXT" in snap else "left out"}


def clicks(t, out):
    t.go("clicks.html")
    for name, key in (("Scroller button", "scroller"), ("Below fold button", "below"), ("Moving button", "moving"), ("Div button", "divbutton"),
                      ("Plain clickable span", "plainspan")):
        out["click: " + name], _ = t.press("button", name, key)
    r, res = t.press("button", "Covered button", "covered", secs=1)
    ov = t.ctx.pages.hits(t.run).get("overlay", 0)
    honest = res.err and not ov
    out["click: button covered by an overlay"] = {"ok": bool(honest), "note": "%s; overlay clicked %d times, button %s; %.1f s" % (
        "error reported" if res.err else "reported success", ov, "clicked" if r["ok"] else "not clicked", getattr(res, "s", 0))}
    r, res = t.press("button", "Disabled button", "disabled", secs=1)
    out["click: disabled button is refused"] = {"ok": bool(res.err) or r["note"] == "not in the snapshot",
                                                 "note": "%s; %.1f s" % ("error reported" if res.err else r["note"], getattr(res, "s", 0))}
    snap = t.op("snapshot").text
    old = t.s.ref(snap, "button", "Stale button")
    rr = t.s.ref(snap, "button", "Re-render button")
    if old and rr:
        t.op("click", ref=rr, name="Re-render button")
        t.hit("rerendered")
        r = t.op("click", ref=old, name="Stale button")
        new = t.hit("stale_new", 1)
        out["click: ref of an element that was re-rendered"] = {
            "ok": new or r.err, "note": ("re-resolved to the new element" if new else "error: " + first(r.text, 110) if r.err else "reported success, nothing clicked") + "; %.1f s" % r.s}
    else:
        out["click: ref of an element that was re-rendered"] = {"ok": False, "note": "no ref"}


def late(t, out):
    t.go("late.html")
    a = t.op("snapshot").text
    time.sleep(2)
    r, _ = t.press("button", "Late button", "late")
    out["late: button that appears after 1.5 s"] = {"ok": r["ok"], "note": r["note"] + ("" if "Late button" not in a else "navigate waited for it")}
    t.go("spa")
    a = t.op("snapshot").text
    n = len(re.findall(r"Add \d+ to cart", a))
    out["beyond the peers: first snapshot of a slow application shows it rendered"] = {"ok": "SPA_READY_TEXT" in a and n > 0, "note": "%d cards listed" % n}
    out["SPA: first snapshot after navigate is complete"] = {"ok": n >= 200 or None, "note": "%d of 200 items, ready text %s" % (n, "seen" if "SPA_READY_TEXT" in a else "not seen")}


def dialogs(t, out):
    for k, role in (("alert", "alert_done"), ("confirm", "confirm_"), ("prompt", "prompt_")):
        t.go("dialogs.html")
        r, res = t.press("button", k.capitalize() + " button", None, timeout=60)
        time.sleep(0.5)
        h = {x for x in t.ctx.pages.hits(t.run) if x.startswith(role)}
        says = k.upper() + "_MESSAGE" in res.text
        note = "click answered in %.1f s%s%s" % (getattr(res, "s", 0), ", with an error" if res.err else "", ", message shown" if says else "")
        if not h and not says:
            sn = t.op("snapshot", timeout=30)
            says2 = k.upper() + "_MESSAGE" in sn.text
            note += ", next snapshot %s%s in %.1f s" % ("hangs" if getattr(sn, "hang", 0) else "error" if sn.err else "works",
                                                         " and shows the message" if says2 else "", sn.s)
        how = "handled by the tool itself (%s)" % ",".join(sorted(h)) if h else "left open"
        if not h:
            if t.s.has("dialog_accept"):
                a = t.op("dialog_accept")
                time.sleep(0.5)
                h = {x for x in t.ctx.pages.hits(t.run) if x.startswith(role)}
                how = ("accepted with its dialog tool (%s)" % ",".join(sorted(h))) if h else "dialog tool failed: " + first(a.text, 80)
            else:
                how = "left open, no dialog tool"
        p, _ = t.press("button", "Plain button", "plain", timeout=30)
        out["dialog: " + k] = {"ok": bool(h) and p["ok"], "note": "%s; %s; page %s afterwards" % (note, how, "usable" if p["ok"] else "NOT usable (%s)" % p["note"][:80])}
        t.run = uuid.uuid4().hex[:8]
        if not p["ok"]:
            t.close()
            t.__init__(t.name, t.ctx)
    t.go("beforeunload.html")
    t.press("button", "Make dirty", "dirty")
    r = t.op("navigate", url=t.ctx.pages.url("trivial", after="unload"), timeout=60)
    sn = t.op("snapshot", timeout=30)
    note = "navigate answered in %.1f s%s" % (r.s, " with: " + first(r.text, 90) if r.err else "")
    ok = "Trivial page" in sn.text or '"url": "%s' % t.ctx.pages.url("trivial").split("?")[0] in sn.text or "after=unload" in sn.text
    if not ok and t.s.has("dialog_accept"):
        a = t.op("dialog_accept")
        sn = t.op("snapshot", timeout=30)
        ok = "Trivial page" in sn.text
        note += "; after its dialog tool: %s" % ("left the page" if ok else first(a.text + " " + sn.text, 80))
    out["dialog: beforeunload"] = {"ok": ok, "note": note}
    t.close()
    t.__init__(t.name, t.ctx)
    r = t.go("alert_on_load.html", timeout=60)
    h = t.hit("load_alert_done", 1)
    note = "navigate answered in %.1f s%s" % (r.s, " with: " + first(r.text, 90) if r.err else "")
    if not h and t.s.has("dialog_accept"):
        a = t.op("dialog_accept")
        h = t.hit("load_alert_done", 2)
        note += "; dialog tool: %s" % ("accepted" if h else first(a.text, 80))
    elif h:
        note += "; handled by the tool itself"
    sn = t.op("snapshot", timeout=30)
    out["dialog: alert while loading"] = {"ok": bool(h) and not sn.err, "note": note + ("" if not sn.err else "; snapshot: " + first(sn.text, 60))}


def find_file(t, size):
    for root in (t.s.work, os.path.expanduser("~/Downloads")):
        for d, _, fs in os.walk(root):
            for f in fs:
                p = os.path.join(d, f)
                try:
                    if os.path.getsize(p) == size and time.time() - os.path.getmtime(p) < 60:
                        return os.path.relpath(p, t.s.work)
                except OSError:
                    pass


def files(t, out):
    t.go("files.html")
    r, res = t.press("link", "Download report", None)
    time.sleep(2)
    f = find_file(t, 6000)
    sn = t.op("snapshot", timeout=30)
    said = [w for w, x in (("click", res.text), ("snapshot", sn.text)) if re.search(r"report\.csv.*(download|saved)|[Dd]ownload(ed|ing).*report|\.csv\"?$", x) and "/download/report.csv" not in x.split("report.csv")[0][-10:]]
    note = "after a plain click: %s%s; page %s" % ("file saved as " + re.sub(r"[0-9a-f-]{30,}", "<guid>", f) if f else "no file", ", announced by " + ",".join(said) if said else ", not announced",
                                             "usable" if not sn.err else "not usable: " + first(sn.text, 60))
    ok = bool(f)
    if t.s.has("download"):
        ref = t.s.ref(sn.text, "link", "Download report")
        r = t.op("download", ref=ref, name="Download report")
        got = getattr(t.s, "file", None)
        g = bool(got) and os.path.exists(got) and os.path.getsize(got) == 6000
        note += "; with its download command: %s (%.1f s)" % ("saved" if g else first(r.text, 60), r.s)
        ok = ok or g
    out["download"] = {"ok": ok, "note": note}
    t.close()
    t.__init__(t.name, t.ctx)
    t.go("files.html")
    if not t.s.has("upload"):
        out["upload"] = {"ok": None, "note": "no tool for it"}
        return
    p = t.s.work / "upload.txt"
    p.write_text("u" * 1234)
    sn = t.op("snapshot").text
    ref = t.s.ref(sn, "any", "Upload file") or t.s.ref(sn, "any", "Upload file: No file chosen")
    if not ref:
        out["upload"] = {"ok": False, "note": "no ref for the file field: " + first(sn, 100)}
        return
    r = t.op("upload", ref=ref, name="Upload file", path=str(p))
    out["upload"] = {"ok": t.hit("upload_1234"), "note": first(r.text, 100) if r.err else ""}


def popup(t, out):
    for label, role in (("Open blank link", "link"), ("Open window button", "button")):
        t.run = uuid.uuid4().hex[:8]
        t.go("popup.html")
        r, res = t.press(role, label, None)
        time.sleep(0.7)
        sn = t.op("snapshot", timeout=30)
        said = [w for w, x in (("click", res.text), ("snapshot", sn.text)) if "popup_target" in x and "Open blank link" not in x[max(0, x.find("popup_target") - 400):x.find("popup_target")]]
        note = "new tab announced by: %s" % (",".join(said) or "nothing")
        ok = "POPUP_TARGET_TEXT" in sn.text or "Popup button" in sn.text
        if ok:
            note += "; switched to it by itself"
        elif t.s.has("tabs"):
            tabs = t.op("tabs").text
            m = re.search(t.s.a["tab"].format(url="popup_target"), tabs)
            if m:
                a = t.op("select_tab", tab=m[1])
                sn = t.op("snapshot", timeout=30)
                ok = "POPUP_TARGET_TEXT" in sn.text or "Popup button" in sn.text
                note += "; %s after selecting tab %s" % ("seen" if ok else "not seen", m[1])
            else:
                note += "; not in the list of tabs: " + first(tabs, 100)
        if ok and label == "Open blank link":
            p, _ = t.press("button", "Popup button", "in_popup", snap=sn.text)
            note += "; click in it %s" % ("works" if p["ok"] else "fails: " + p["note"])
        out["popup: " + label] = {"ok": ok, "note": note}
        t.close()
        t.__init__(t.name, t.ctx)


def busy(t, out):
    t.go("busy.html")
    r, res = t.press("button", "Start busy loop", "busy_start", timeout=75)
    out["busy page: click that starts a 30 s loop"] = {"ok": r["ok"] and res.s < 10, "note": "click answered after %.1f s%s" % (getattr(res, "s", 0), " with: " + first(res.text, 90) if res.err else "")}
    t.close()
    t.__init__(t.name, t.ctx)
    t.go("busy.html")
    t.press("button", "Start busy loop later", "later_start")
    t.hit("later_run", 10)
    t0 = time.time()
    time.sleep(0.5)
    sn = t.op("snapshot", timeout=75)
    note = "snapshot %s after %.1f s" % ("HANGS" if sn.hang else "error (%s)" % first(sn.text, 90) if sn.err else "answers", sn.s)
    told = re.search(r"page_busy|is busy|not (respond|answer)|unresponsive", sn.text)
    out["beyond the peers: busy page answers within 10 s and says why"] = {"ok": not sn.hang and sn.s < 10 and bool(told), "note": note + (", says why" if told else ", does not say why")}
    t.hit("later_end", max(1, 36 - (time.time() - t0)))
    time.sleep(0.5)
    p, _ = t.press("button", "Busy plain button", "busy_plain", timeout=40)
    out["busy page: snapshot during the loop, use after it"] = {"ok": p["ok"] and not sn.hang, "note": note + "; afterwards %s" % ("usable" if p["ok"] else "NOT usable: " + p["note"])}
    t.close()
    t.__init__(t.name, t.ctx)
    t.go("busy.html")
    t.press("button", "Start busy loop later", "later_start")
    t.hit("later_run", 10)
    time.sleep(0.5)
    r = t.op("navigate", url=t.ctx.pages.url("trivial", b=1).replace("127.0.0.1", "localhost"), timeout=75)
    sn = t.op("snapshot", timeout=60)
    ok = ("Trivial page" in sn.text or "b=1" in sn.text) and not sn.err
    out["busy page: leave for another site during the loop"] = {"ok": ok and r.s < 10, "note": "navigate %s after %.1f s; snapshot %s" % ("HANGS" if r.hang else "error (%s)" % first(r.text, 90) if r.err else "answers", r.s, "ok" if ok else first(sn.text, 80))}


def never(t, out):
    for k, text in (("never_img", "NEVER_IMG_TEXT"), ("never_body", "NEVER_BODY_TEXT"), ("never_head", None)):
        r = t.go(k + ".html", timeout=100)
        note = "navigate %s after %.1f s" % ("HANGS" if r.hang else "error (%s)" % first(r.text, 80) if r.err else "answers", r.s)
        ok = not r.hang
        if text:
            sn = t.op("snapshot", timeout=60)
            lab = "Never image button" if k == "never_img" else "Never body button"
            seen = text in sn.text or lab in sn.text
            note += "; snapshot %s after %.1f s" % ("HANGS" if sn.hang else "error (%s)" % first(sn.text, 60) if sn.err else "shows the page" if seen else "does not show the page", sn.s)
            if seen:
                p, res = t.press("button", lab, k, snap=sn.text)
                note += "; click %s (%.1f s)" % ("works" if p["ok"] else "fails: " + p["note"][:80], getattr(res, "s", 0))
                ok = ok and p["ok"]
            else:
                ok = False
        a = t.op("navigate", url=t.ctx.pages.url("trivial", z=k), timeout=60)
        sn = t.op("snapshot", timeout=40)
        alive = not a.err and ("Trivial page" in sn.text or "z=" + k in sn.text or "Bench increment" in sn.text)
        note += "; next page %s (%.1f s)" % ("ok" if alive else "FAILS: " + first(a.text + sn.text, 80), a.s)
        out["never finishes: " + {"never_img": "an image", "never_body": "the document's body", "never_head": "no answer at all"}[k]] = {"ok": ok and alive, "note": note}
        if not alive:
            t.close()
            t.__init__(t.name, t.ctx)


def cmdline(p):
    try:
        return open("/proc/%d/cmdline" % p, "rb").read().replace(b"\0", b" ")
    except OSError:
        return b""


def crash(t, out):
    t.go("form60")
    t.op("snapshot")
    for p, e in tagged(t.s.tag).items():
        if is_browser(e) and b"--type=renderer" in cmdline(p):
            os.kill(p, signal.SIGKILL)
    time.sleep(0.7)
    sn = t.op("snapshot", timeout=60)
    note = "snapshot %s after %.1f s" % ("HANGS" if sn.hang else "error (%s)" % first(sn.text, 70) if sn.err else "answers (%d bytes)" % len(sn.text), sn.s)
    a = t.op("navigate", url=t.ctx.pages.url("trivial", z=1), timeout=60)
    s2 = t.op("snapshot", timeout=60)
    ok = not a.err and "Bench increment" in s2.text
    note += "; navigate %s after %.1f s; page %s" % ("HANGS" if a.hang else "error (%s)" % first(a.text, 70) if a.err else "answers", a.s, "ok" if ok else "not usable: " + first(s2.text, 60))
    out["renderer killed: recovers"] = {"ok": ok, "note": note}
    t.close()
    t.__init__(t.name, t.ctx)
    for p, e in tagged(t.s.tag).items():
        if is_browser(e) and b"--type=" not in cmdline(p) and "crashpad" not in e:
            os.kill(p, signal.SIGKILL)
    time.sleep(1)
    notes, ok = [], False
    for i in range(3):                                      # a tool may ask for another try, or for a fresh page
        t.s.navigated = i < 2
        a = t.op("navigate", url=t.ctx.pages.url("trivial", z=2 + i), timeout=60)
        s2 = t.op("snapshot", timeout=60)
        ok = not a.err and "Bench increment" in s2.text
        notes.append("navigate %d %s after %.1f s" % (i + 1, "HANGS" if a.hang else "error (%s)" % first(a.text, 70) if a.err else "answers" if ok else "answers, but no page", a.s))
        if ok:
            break
    out["browser killed: recovers"] = {"ok": ok, "note": "; ".join(notes)}


GROUPS = {"frames": frames, "nested": nested, "shadow": shadow, "content": content, "clicks": clicks, "late": late, "files": files, "popup": popup,
          "dialogs": dialogs, "busy": busy, "never": never, "crash": crash}


def run(name, ctx, out, only=()):
    for g, fn in GROUPS.items():
        if only and g not in only:
            continue
        t = None
        t0 = time.time()
        try:
            t = T(name, ctx)
            r = {}
            fn(t, r)
            out.update(r)
        except Exception as e:
            out["group " + g] = {"ok": False, "note": "harness: " + repr(e)[:200]}
            traceback.print_exc()
            out.update(r)
        finally:
            if t:
                t.close()
        print("   checks %s %s %.0f s" % (name, g, time.time() - t0), flush=True)
        for k, v in r.items():
            print("      %-5s %s%s" % ({True: "ok", False: "FAIL", None: "-"}[v["ok"]], k, " | " + v["note"] if v["note"] else ""), flush=True)
        ctx.save()
