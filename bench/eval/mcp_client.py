"""A minimal MCP client over stdio: initialize, tools/list, tools/call. Standard library only."""
import base64
import json
import queue
import subprocess
import threading

ANSWER_SECONDS = 60


class ToolError(Exception):
    """A call that was answered with an error; the text is the server's."""


class Client:
    """One running MCP server."""

    def __init__(self, command, log, allows=False):
        """`allows`: a person who says yes to every card; `cards` then has what was asked, and `asked` (risk, call) of each."""
        self.cards, self.asked = [], []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        self.answers, self.number = {}, 0
        threading.Thread(target=self.read, daemon=True).start()
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}} if allows else {},
                                    "clientInfo": {"name": "eval", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("method") == "elicitation/create":
                self.cards.append(message["params"]["message"])
                self.asked.append((message["params"].get("_meta", {}).get("reins/risk", ""), self.number))
                self.send({"jsonrpc": "2.0", "id": message["id"],
                           "result": {"action": "accept", "content": {"answer": "Allow"}}})
                continue
            waiting = self.answers.get(message.get("id"))
            if waiting and "method" not in message:
                waiting.put(message)

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.number += 1
        inbox = self.answers[self.number] = queue.Queue()
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        try:
            message = inbox.get(timeout=ANSWER_SECONDS)
        except queue.Empty:
            raise ToolError("%s was not answered within %d s" % (method, ANSWER_SECONDS)) from None
        finally:
            del self.answers[self.number]
        if "error" in message:
            raise ToolError(message["error"]["message"])
        return message["result"]

    def call(self, tool, **arguments):
        """-> (text, pictures as bytes)"""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
        if result.get("isError"):
            raise ToolError(text)
        pictures = [base64.b64decode(part["data"]) for part in result["content"] if part["type"] == "image"]
        return text, pictures

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
