"""MiniWoB++ pages on loopback, each started with a seed of its own, reporting to this server what happened in them.

Only the page's own code decides about success: it calls `core.endEpisode(reward)`, and the first reward counts.
"""
import json
import threading
import urllib.parse
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

# Appended to each task. The counter of seconds is hidden: a page that changes every second says nothing about the task.
START = """<script>
addEventListener("load", () => setTimeout(() => {
  const tell = (what) => fetch("/tell/%(episode)s?" + new URLSearchParams(what), {keepalive: true});
  Math.seedrandom("%(seed)s");
  core.EPISODE_MAX_TIME = 3600000;
  const end = core.endEpisode;
  core.endEpisode = function (reward) {
    const running = core.EP_TIMER !== null;
    end.apply(this, arguments);
    if (running) tell({reward});
  };
  core.startEpisodeReal();
  document.getElementById("reward-display").style.display = "none";
  const said = core.getUtterance();
  tell({goal: typeof said === "string" ? said : said.utterance});
}));
</script>"""


class Episode:
    """One page of one task with one seed."""

    def __init__(self, task, seed):
        self.task, self.seed = task, seed
        self.goal, self.reward = None, None
        self.started, self.ended = threading.Event(), threading.Event()

    @property
    def solved(self):
        return self.reward is not None and self.reward > 0

    def tell(self, what):
        if "goal" in what and self.goal is None:
            self.goal = what["goal"]
            self.started.set()
        if "reward" in what and self.reward is None:
            self.reward = float(what["reward"])
            self.ended.set()


class Episodes:
    """The server; `open` gives the address of a fresh episode."""

    def __init__(self, html):
        episodes = self
        self.all = []

        class Handler(SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def __init__(self, *args):
                super().__init__(*args, directory=html)

            def log_message(self, *_):
                pass

            def do_GET(self):
                url = urllib.parse.urlsplit(self.path)
                parts = url.path.strip("/").split("/")
                if parts[0] == "tell":
                    episodes.all[int(parts[1])].tell(dict(urllib.parse.parse_qsl(url.query)))
                    return self.answer(b"", "text/plain")
                if parts[0] == "episode":
                    # Tasks refer to ../core and the like, so they are asked for under their own path.
                    return self.answer(episodes.page(html, int(parts[1])), "text/html; charset=utf-8")
                return super().do_GET()

            def answer(self, body, kind):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.origin = "http://127.0.0.1:%d" % self.server.server_address[1]

    def open(self, task, seed):
        episode = Episode(task, seed)
        self.all.append(episode)
        # Two levels deep, because the tasks look for ../core.
        return episode, "%s/episode/%d" % (self.origin, len(self.all) - 1)

    def page(self, html, number):
        episode = self.all[number]
        with open("%s/miniwob/%s.html" % (html, episode.task), encoding="utf-8") as file:
            text = file.read()
        start = START % {"episode": number, "seed": episode.seed}
        at = text.rfind("</body>")
        text = text[:at] + start + text[at:] if at >= 0 else text + start
        return text.encode()


def tasks(html):
    """The names of all tasks."""
    import os
    return sorted(name[:-5] for name in os.listdir(html + "/miniwob") if name.endswith(".html"))


def show(value):
    return json.dumps(value, ensure_ascii=False)
