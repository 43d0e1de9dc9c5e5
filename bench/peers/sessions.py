"""One session with a peer: started as a user would start it, every call timed from outside."""
import json, os, pathlib, queue, re, shutil, signal, subprocess, threading, time, uuid

import adapters
import floor
from processes import tagged


class Hang(Exception):
    pass


class Res:
    def __init__(self, ms=0.0, text="", wire=0, images=(), err=False):
        self.ms, self.text, self.wire, self.images, self.err = ms, text, wire, list(images), err


def fillin(x, v):
    if isinstance(x, dict):
        return {k: fillin(y, v) for k, y in x.items()}
    if isinstance(x, list):
        return [fillin(y, v) for y in x]
    if isinstance(x, str):
        if x in ("$ref", "$page", "$tab") and str(v.get(x[1:], "")).isdigit():
            return int(v[x[1:]])
        return re.sub(r"\$([a-z]+)", lambda m: str(v.get(m[1], m[0])), x)
    return x


class Session:
    def __init__(self, name, work):
        self.name, self.a = name, adapters.PEERS[name]
        self.tag = uuid.uuid4().hex[:12]
        self.work = pathlib.Path(work) / ("s-" + self.tag)
        (self.work / "dl").mkdir(parents=True)
        self.v = {"name": "element"}
        sub = {"{session}": "b" + self.tag, "{work}": str(self.work)}

        def rep(s):
            for k, x in sub.items():
                s = s.replace(k, x)
            return s
        self.env = dict(os.environ, BENCH_TAG=self.tag, TMPDIR=str(self.work), **{k: rep(x) for k, x in self.a.get("env", {}).items()})
        for f, text in self.a.get("files", {}).items():
            p = self.work / f
            p.parent.mkdir(parents=True, exist_ok=True)
            p.write_text(rep(text))
        self.command = [rep(c) for c in self.a.get("command", [])]
        self.navigated = False
        self.t0 = time.perf_counter()

    # operations -----------------------------------------------------------------
    def has(self, op):
        return op in self.a["ops"]

    def op(self, op, timeout=90, **v):
        self.v.update(v)
        if op == "navigate" and not self.navigated:
            self.navigated = True
            if self.has("first"):
                op = "first"
        spec = self.a["ops"][op]
        steps = spec if isinstance(spec[0], list) else [spec]
        total = Res()
        for s in steps:
            r = self.one(fillin(s, self.v), timeout)
            total.ms += r.ms
            total.wire += r.wire
            total.text += ("\n" if total.text else "") + r.text
            total.images += r.images
            total.err = r.err
        for k, rx in self.a.get("vars", {}).items():
            for m in re.finditer(rx, total.text):
                self.v[k] = m[1]
        return total

    def ref(self, text, role, name):
        m = re.search(self.a["ref"][role].format(name=re.escape(name)), text)
        return next((g for g in m.groups() if g), None) if m else None

    def kill_all(self):
        for sig in (signal.SIGTERM, signal.SIGKILL):
            left = tagged(self.tag)
            for p in left:
                try:
                    os.kill(p, sig)
                except OSError:
                    pass
            end = time.time() + 3
            while time.time() < end and tagged(self.tag):
                time.sleep(0.1)
        shutil.rmtree(self.work, ignore_errors=True)
        for f in pathlib.Path.home().joinpath(".agent-browser").glob("b%s.*" % self.tag):
            f.unlink(missing_ok=True)


class MCPSession(Session):
    def start(self):
        self.t0 = time.perf_counter()
        self.err = open(self.work / "stderr", "wb")
        self.p = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.err, env=self.env, cwd=self.work)
        self.id, self.wait = 0, {}
        threading.Thread(target=self.reader, daemon=True).start()
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.t_init = time.perf_counter() - self.t0
        self.tools, cur, self.tools_bytes = [], None, 0
        while True:
            r = self.request("tools/list", {"cursor": cur} if cur else {})
            self.tools += r[2]["result"]["tools"]
            self.tools_bytes += r[1]
            cur = r[2]["result"].get("nextCursor")
            if not cur:
                break
        self.t_tools = time.perf_counter() - self.t0
        return self

    def reader(self):
        fd, parts = self.p.stdout.fileno(), []
        while True:
            b = os.read(fd, 1 << 20)
            t = time.perf_counter()
            if not b:
                for q in list(self.wait.values()):
                    q.put((t, 0, {"error": {"message": "server closed its output"}}))
                return
            while True:
                i = b.find(b"\n")
                if i < 0:
                    parts.append(b)
                    break
                line = b"".join(parts) + b[:i]
                parts, b = [], b[i + 1:]
                if not line.strip():
                    continue
                try:
                    d = json.loads(line)
                except ValueError:
                    continue
                if "method" in d:
                    if "id" in d:
                        self.send({"jsonrpc": "2.0", "id": d["id"], "result": {"roots": []} if d["method"] == "roots/list" else {}})
                elif d.get("id") in self.wait:
                    self.wait.pop(d["id"]).put((t, len(line), d))

    def send(self, o):
        self.p.stdin.write((json.dumps(o) + "\n").encode())
        self.p.stdin.flush()

    def request(self, method, params, timeout=90):
        self.id += 1
        i = self.id
        q = self.wait[i] = queue.Queue()
        t0 = time.perf_counter()
        try:
            self.send({"jsonrpc": "2.0", "id": i, "method": method, "params": params})
        except OSError:
            return 0.0, 0, {"error": {"message": "server is gone"}}
        try:
            t, n, d = q.get(timeout=timeout)
        except queue.Empty:
            raise Hang("%s: no answer in %d s" % (params.get("name", method), timeout))
        return t - t0, n, d

    def one(self, step, timeout):
        dt, n, d = self.request("tools/call", {"name": step[0], "arguments": step[1]}, timeout)
        if "error" in d:
            return Res(dt * 1000, str(d["error"].get("message")), n, err=True)
        c = d["result"].get("content", [])
        return Res(dt * 1000, "\n".join(x.get("text", "") for x in c if x.get("type") == "text"), n,
                   [len(x["data"]) * 3 // 4 for x in c if x.get("type") == "image"], bool(d["result"].get("isError")))

    def close(self):
        try:
            self.op("close", timeout=10)
        except Exception:
            pass
        try:
            self.p.stdin.close()
            self.p.wait(5)
        except Exception:
            pass
        self.kill_all()
        try:
            self.p.wait(2)
        except Exception:
            pass


class CLISession(Session):
    tools_bytes, tools, t_init, t_tools = 0, [], 0, 0

    def start(self):
        self.t0 = time.perf_counter()
        return self

    def one(self, step, timeout):
        f = None
        if "$file" in step:
            f = str(self.work / ("shot%d" % (time.time_ns() % 10**9)))
            step = [f if s == "$file" else s for s in step]
        t0 = time.perf_counter()
        p = subprocess.Popen(self.command + [str(s) for s in step], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=self.env, cwd=self.work)
        try:
            out, err = p.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            raise Hang("%s: no answer in %d s" % (step[0], timeout))
        ms = (time.perf_counter() - t0) * 1000
        img = [os.path.getsize(f)] if f and os.path.exists(f) else []
        self.file = f
        text = out.decode("utf-8", "replace")
        if p.returncode:
            text += err.decode("utf-8", "replace")
        return Res(ms, text, len(out), img, p.returncode != 0)

    def close(self):
        try:
            self.op("close", timeout=15)
        except Exception:
            pass
        self.kill_all()


class RawSession(Session):
    tools_bytes, tools, t_init, t_tools = 0, [], 0, 0
    ops_ = {"navigate", "snapshot", "click", "fill", "type_keys", "screenshot", "close"}

    def __init__(self, name, work):
        adapters.PEERS[name].setdefault("ops", {k: None for k in self.ops_})
        super().__init__(name, work)

    def start(self):
        self.t0 = time.perf_counter()
        self.br = floor.Browser(adapters.CHROME, {"BENCH_TAG": self.tag})
        self.tab = floor.Tab(self.br)
        self.t_init = time.perf_counter() - self.t0
        return self

    def op(self, op, timeout=90, **v):
        self.v.update(v)
        t, v = self.tab, self.v
        try:
            if op == "navigate":
                return Res(t.navigate(v["url"], timeout) * 1000)
            if op == "snapshot":
                dt, n, text = t.axtext()
                return Res(dt * 1000, text, n)
            if op == "click":
                return Res(t.click(v["ref"]) * 1000)
            if op == "fill":
                return Res(t.fill(v["ref"], v["text"]) * 1000)
            if op == "type_keys":
                return Res(t.keys(v["ref"], v["text"]) * 1000)
            if op == "screenshot":
                dt, n = t.shot()
                return Res(dt * 1000, images=[n])
        except (TimeoutError, queue.Empty) as e:
            raise Hang(str(e))
        except RuntimeError as e:
            return Res(text=str(e), err=True)

    def close(self):
        self.br.close()
        self.kill_all()


def session(name, work):
    return {"mcp": MCPSession, "cli": CLISession, "cdp": RawSession}[adapters.PEERS[name]["kind"]](name, work)
