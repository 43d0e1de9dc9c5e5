"""The page server as a child process, and the names of the measured pages."""
import json, pathlib, subprocess, sys, time, urllib.request

HERE = pathlib.Path(__file__).resolve().parent

PAGES = {  # name -> path
    "trivial": "trivial.html", "form60": "form60.html", "dashboard": "gentelella/production/dashboard.html",
    "datatable": "sbadmin/datatable.html", "spa": "spa.html", "iframes": "iframes.html", "shadow": "shadow.html",
    "links3000": "links3000.html", "rustdoc": "rustdoc/std/rustdoc.html", "table5k": "table5k.html",
}


class Pages:
    def __init__(self, site):
        self.p = subprocess.Popen([sys.executable, str(HERE / "pages.py"), "serve", str(site)], stdout=subprocess.PIPE)
        self.port = int(self.p.stdout.readline())
        self.base = "http://127.0.0.1:%d/" % self.port

    def url(self, page, **q):
        return self.base + PAGES.get(page, page) + "?" + "&".join("%s=%s" % kv for kv in q.items())

    def get(self, path):
        return json.load(urllib.request.urlopen(self.base + path, timeout=10))

    def hits(self, run):
        return self.get("hits?run=" + run)

    def wait_hit(self, run, key, secs=3.0):
        end = time.time() + secs
        while time.time() < end:
            if self.hits(run).get(key):
                return True
            time.sleep(0.05)
        return False

    def close(self):
        self.p.kill()
        self.p.wait()
