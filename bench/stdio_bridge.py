#!/usr/bin/env python3
"""stdio_bridge.py PORT COMMAND [ARGS]      one MCP stdio server, reachable over streamable HTTP on loopback

The conformance suite only speaks HTTP and `reins mcp` speaks stdio. Every message is passed on unread but for its id: what
the suite judges is the server's own. Each `initialize` starts a fresh server; DELETE, or the end of the bridge, ends it.
"""
import json
import queue
import subprocess
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER_SECONDS = 60     # longer than any scenario waits, so that the suite and not the bridge gives up


class Server:
    """One stdio server; answers go to the request that waits for them, everything else to the oldest open request."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lock, self.waiting = threading.Lock(), {}
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            with self.lock:
                if "method" in message:
                    target = next(iter(self.waiting.values()), None)
                else:
                    target = self.waiting.get(message.get("id"))
            if target:
                target.put(line.strip())

    def send(self, body):
        with self.lock:
            self.process.stdin.write(body + b"\n")
            self.process.stdin.flush()

    def request(self, body, number):
        """Yields every line that belongs to the request; the answer is the last."""
        inbox = queue.Queue()
        with self.lock:
            self.waiting[number] = inbox
        try:
            self.send(body)
            while True:
                line = inbox.get(timeout=ANSWER_SECONDS)
                yield line
                if "method" not in json.loads(line):
                    return
        finally:
            with self.lock:
                del self.waiting[number]

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    argv, servers = [], {}

    def log_message(self, *_):
        pass

    def finish_with(self, code, body=b"", headers=()):
        self.send_response(code)
        for key, value in headers:
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.finish_with(405)

    def do_DELETE(self):
        server = self.servers.pop(self.headers.get("Mcp-Session-Id"), None)
        if server:
            server.close()
        self.finish_with(200 if server else 404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        message = json.loads(body)
        session = self.headers.get("Mcp-Session-Id")
        if message.get("method") == "initialize":
            session = uuid.uuid4().hex
            self.servers[session] = Server(self.argv)
        server = self.servers.get(session)
        if not server:
            return self.finish_with(404)
        body = json.dumps(message).encode()
        if "id" not in message or "method" not in message:
            server.send(body)
            return self.finish_with(202)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Mcp-Session-Id", session)
        self.send_header("Connection", "close")
        self.end_headers()
        for line in server.request(body, message["id"]):
            self.wfile.write(b"event: message\ndata: " + line + b"\n\n")
            self.wfile.flush()
        self.close_connection = True


def main():
    Handler.argv = sys.argv[2:]
    listener = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print(listener.server_address[1], flush=True)
    try:
        listener.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        for server in Handler.servers.values():
            server.close()


if __name__ == "__main__":
    main()
