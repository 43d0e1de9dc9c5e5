"""A `reins serve` of our own, what it costs, and what talks to it. Standard library only."""

import base64
import http.client
import http.server
import json
import os
import signal
import socket
import sqlite3
import struct
import subprocess
import tempfile
import threading
import urllib.parse
from pathlib import Path

# A click changes the page; nothing else goes on.
APP = b"""<title>App</title><h1>App</h1><p id=n>0</p><button onclick="n.textContent=+n.textContent+1">Press</button>
<label>Name <input></label><ul>""" + b"".join(b"<li><a href='#%d'>Entry %d</a>" % (i, i) for i in range(60)) + b"</ul>"


def children(pid):
    """All processes that descend from one."""
    found, todo = [], [pid]
    while todo:
        parent = todo.pop()
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                listed = task.read_text().split()
            except OSError:
                continue
            found += [int(child) for child in listed]
            todo += [int(child) for child in listed]
    return found


def arguments(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def memory(pid):
    """Proportional set size in MB: what is shared with others counts in parts."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


class App:
    """The app under test: every path is the same page."""

    def __init__(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(APP)))
                self.end_headers()
                self.wfile.write(APP)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/"


class Daemon:
    def __init__(self, reins, sessions):
        # Short, since Chromium puts a socket below, and sockets' paths are limited.
        self.folder = tempfile.TemporaryDirectory(prefix="rl-")
        self.data, self.temporary = Path(self.folder.name, "serve"), Path(self.folder.name, "t")
        self.data.mkdir(mode=0o700)
        self.temporary.mkdir(mode=0o700)
        (self.data / "serve.toml").write_text(
            f"[requests]\nper_second = 100000\nburst = 100000\n[browsers]\nat_once = {sessions + 8}\n"
            "[sandboxes]\nper_tenant = 1000\n"
        )
        environment = {**os.environ, "TMPDIR": str(self.temporary)}
        self.log = open(Path(self.folder.name, "log"), "w+")
        self.process = subprocess.Popen(
            [reins, "serve", "--port", "0", "--data", str(self.data)],
            stdout=subprocess.PIPE, stderr=self.log, text=True, env=environment,
        )
        link = self.process.stdout.readline()
        self.process.stdout.readline()
        self.port = int(urllib.parse.urlparse(link.split()[1]).port)
        made = subprocess.run(
            [reins, "serve", "token", "add", "load", "--scopes", "read,act,take_over,manage,metrics", "--data", str(self.data)],
            check=True, capture_output=True, text=True, env=environment,
        )
        self.token = made.stdout.strip()
        self.local = threading.local()

    def ask(self, method, path, body=None):
        """Status and JSON of one request; each thread keeps its connection."""
        connection = getattr(self.local, "connection", None)
        if connection is None:
            connection = self.local.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=150)
            connection.connect()
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None

    def good(self, method, path, body=None):
        status, answer = self.ask(method, path, body)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {answer}")
        return answer

    def sandbox(self, url):
        return self.good("POST", "/v1/sandboxes", {"app_url": url})["id"]

    def start(self, sandbox):
        return self.good("POST", f"/v1/sandboxes/{sandbox}/browser", {})["browser"]

    def tool(self, sandbox, name, arguments):
        return self.good("POST", f"/v1/sandboxes/{sandbox}/tools/{name}", arguments)

    def reference(self, sandbox, words):
        text = self.tool(sandbox, "snapshot", {})["text"]
        line = next(line for line in text.splitlines() if words in line)
        return line.split("[ref=")[1].split("]")[0]

    def browsers(self):
        """Main processes of Chromium."""
        of = lambda pid: any(part.startswith(b"--remote-debugging-pipe") for part in arguments(pid))
        return [pid for pid in children(self.process.pid) if of(pid) and not any(p.startswith(b"--type=") for p in arguments(pid))]

    def own_memory(self):
        """Of the daemon and of what it starts beside browsers."""
        chromium = {pid for browser in self.browsers() for pid in [browser, *children(browser)]}
        others = [pid for pid in children(self.process.pid) if pid not in chromium]
        return memory(self.process.pid) + sum(memory(pid) for pid in others)

    def browsers_memory(self):
        return sum(memory(pid) for browser in self.browsers() for pid in [browser, *children(browser)])

    def left(self):
        """What is there of sessions: processes, files, sockets, rows."""
        files = [path for path in self.data.rglob("*") if path.is_file() and "index.jsonl" not in path.name]
        database = sqlite3.connect(f"file:{self.data}/reins.db?mode=ro", uri=True)
        count = lambda query: database.execute(query).fetchone()[0]
        descriptors = Path(f"/proc/{self.process.pid}/fd").iterdir()
        kinds = [os.readlink(path) for path in descriptors if os.path.lexists(path)]
        counted = {
            "processes": len(children(self.process.pid)),
            "files of the daemon": len(files),
            "temporary files": sum(1 for _ in self.temporary.rglob("*")),
            "sockets": sum(kind.startswith("socket:") for kind in kinds),
            "other open files": sum(not kind.startswith("socket:") for kind in kinds),
            "rows of sandboxes": count("SELECT count(*) FROM sandboxes"),
            "rows of browsers that have not ended": count("SELECT count(*) FROM browser_sessions WHERE ended_at IS NULL"),
        }
        database.close()
        return counted

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        left = [str(path) for path in self.temporary.rglob("*")]
        self.folder.cleanup()
        return code, left


class Viewer:
    """A live view, as a WebSocket client."""

    def __init__(self, daemon, sandbox, mode):
        ticket = daemon.good("POST", f"/v1/sandboxes/{sandbox}/browser/tickets", {"mode": mode})
        url = urllib.parse.urlparse(ticket["url"])
        self.socket = socket.create_connection((url.hostname, url.port), timeout=30)
        key = base64.b64encode(os.urandom(16)).decode()
        origin = f"http://127.0.0.1:{daemon.port}"
        self.socket.sendall(
            f"GET {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\nOrigin: {origin}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self.file = self.socket.makefile("rb")
        status = self.file.readline()
        if b" 101 " not in status:
            raise RuntimeError(f"no live view: {status!r}")
        while self.file.readline().strip():
            pass
        self.say({"type": "ticket", "ticket": ticket["ticket"]})

    def say(self, message):
        payload, mask = json.dumps(message).encode(), os.urandom(4)
        length = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + struct.pack(">H", len(payload))
        self.socket.sendall(b"\x81" + length + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload)))

    def hear(self):
        """The next message: a dict, bytes of a picture, or None at the end."""
        head = self.file.read(2)
        if len(head) < 2 or head[0] & 15 == 8:
            return None
        length = head[1] & 127
        if length > 125:
            length = struct.unpack(">H", self.file.read(2))[0] if length == 126 else struct.unpack(">Q", self.file.read(8))[0]
        payload = self.file.read(length)
        if head[0] & 15 == 1:
            return json.loads(payload)
        return payload if head[0] & 15 == 2 else {"type": "control frame"}

    def until(self, holds):
        while (message := self.hear()) is not None:
            if holds(message):
                return message
        raise RuntimeError("the live view ended")

    def close(self):
        self.socket.close()
