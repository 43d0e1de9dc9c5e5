"""Measures the daemon under load and writes a table. See `run`."""

import argparse
import datetime
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

from daemon import App, Daemon, Viewer

# A model thinks this long between two acts of a session that works.
THINKS = 2.0
CLICKS = 60
WORKERS = 3


def p95(values):
    return sorted(values)[max(0, round(len(values) * 0.95) - 1)]


def clicks(daemon, sandbox, reference, count, pause=0.0):
    """Milliseconds of each click, its settling included, as its caller waits for it."""
    times = []
    for _ in range(count):
        began = time.monotonic()
        answer = daemon.tool(sandbox, "click", {"ref": reference})
        times.append((time.monotonic() - began) * 1000)
        if answer.get("outcome") != "completed":
            raise RuntimeError(f"a click was not done: {answer}")
        time.sleep(pause)
    return times


def sessions(rows, reins, count):
    app, daemon = App(), Daemon(reins, count)
    ids = [daemon.sandbox(app.url) for _ in range(count)]
    daemon.start(ids[0])
    references = {ids[0]: daemon.reference(ids[0], "Press")}
    clicks(daemon, ids[0], references[ids[0]], 10)
    alone = clicks(daemon, ids[0], references[ids[0]], CLICKS, 0.05)
    before, browser = daemon.own_memory(), daemon.browsers_memory()
    for sandbox in ids[1:]:
        daemon.start(sandbox)
        references[sandbox] = daemon.reference(sandbox, "Press")
    over, failures = threading.Event(), []

    def work(sandbox):
        while not over.wait(random.uniform(0.5, 1.5) * THINKS):
            try:
                clicks(daemon, sandbox, references[sandbox], 1)
                daemon.tool(sandbox, "snapshot", {})
            except Exception as error:
                failures.append(error)
                return

    workers = [threading.Thread(target=work, args=(sandbox,)) for sandbox in ids[1:]]
    for worker in workers:
        worker.start()
    time.sleep(3 * THINKS)
    busy = clicks(daemon, ids[0], references[ids[0]], CLICKS, 0.3)
    own, all_browsers = daemon.own_memory(), daemon.browsers_memory()
    over.set()
    for worker in workers:
        worker.join()
    if failures:
        raise failures[0]
    if len(daemon.browsers()) != count:
        raise RuntimeError(f"{len(daemon.browsers())} of {count} browsers run")
    each = (own - before) / max(1, count - 1)
    rows.add(f"own memory per session, {count} live at once", f"{each:.2f} MB ({before:.1f} MB with one, {own:.1f} MB with {count})", "≤ 4 MB", each <= 4)
    rows.add("a browser's memory", f"{all_browsers / count:.0f} MB each with {count}, {browser:.0f} MB alone (proportional set size)", "", None)
    ratio = p95(busy) / p95(alone)
    rows.add(
        f"click while the other {count - 1} act every {THINKS:.0f} s, p95",
        f"{p95(busy):.0f} ms against {p95(alone):.0f} ms alone, ratio {ratio:.2f} (medians {statistics.median(busy):.0f} and {statistics.median(alone):.0f} ms)",
        "≤ 2 times", ratio <= 2,
    )
    began = time.monotonic()
    code, left = daemon.stop()
    rows.add(f"stop with {count} browsers", f"{time.monotonic() - began:.1f} s, exit code {code}, {len(left)} temporary files left", "nothing left", code == 0 and not left)


def one_life(daemon, app, starts, ways):
    """Starts, acts, watches, takes over, hands back, and ends in one of several ways."""
    sandbox = daemon.sandbox(app.url)
    with starts:
        known = set(daemon.browsers())
        browser = daemon.start(sandbox)
        new = [pid for pid in daemon.browsers() if pid not in known]
    clicks(daemon, sandbox, daemon.reference(sandbox, "Press"), 2)
    watching = Viewer(daemon, sandbox, "view")
    watching.until(lambda message: isinstance(message, bytes))
    driving = Viewer(daemon, sandbox, "control")
    driving.until(lambda message: isinstance(message, dict) and message.get("type") == "welcome")
    driving.say({"type": "input", "input": {"kind": "text", "text": "by hand"}})
    driving.say({"type": "hand_back"})
    driving.until(lambda message: isinstance(message, dict) and message.get("type") == "driver" and message.get("driver") is None)
    way = random.choice(["stop", "kill", "delete", "leave"])
    ways[way] = ways.get(way, 0) + 1
    if way == "kill" and len(new) == 1:
        os.kill(new[0], signal.SIGKILL)
        while daemon.good("GET", f"/v1/sandboxes/{sandbox}/browser")["browser"]["status"] == "running":
            time.sleep(0.05)
    if way == "stop":
        daemon.good("DELETE", f"/v1/sandboxes/{sandbox}/browser")
    if way == "leave":
        # Viewers that go away without a word.
        watching.close()
        driving.close()
    daemon.good("DELETE", f"/v1/sandboxes/{sandbox}")
    watching.close()
    driving.close()
    while True:
        status, _ = daemon.ask("DELETE", f"/v1/recordings/{browser['recording_id']}")
        if status != 409:
            break
        time.sleep(0.05)
    if status != 204:
        raise RuntimeError(f"a recording could not be deleted: {status}")


def churn(rows, reins, minutes):
    app, daemon = App(), Daemon(reins, WORKERS)
    starts, failures, lives, ways = threading.Lock(), [], [], {}

    def work(until):
        try:
            while time.monotonic() < until:
                one_life(daemon, app, starts, ways)
                lives.append(1)
        except Exception as error:
            failures.append(error)
        finally:
            daemon.local.connection.close()

    def round_of(seconds):
        until = time.monotonic() + seconds
        workers = [threading.Thread(target=work, args=(until,)) for _ in range(WORKERS)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    # What is made once and kept, such as the database's files, is there before it is counted.
    round_of(1)
    before = settled(daemon)
    memory = daemon.own_memory()
    lives.clear()
    round_of(minutes * 60)
    after = settled(daemon)
    grown = {what: (count, after[what]) for what, count in before.items() if after[what] != count}
    told = ", ".join(f"{what}: {a} before, {b} after" for what, (a, b) in grown.items()) or "nothing"
    if failures:
        told += f"; {len(failures)} lives broke off: {failures[0]}"
    done = ", ".join(f"{count} {way}" for way, count in sorted(ways.items()))
    rows.add(
        f"left by {len(lives)} browsers in {minutes:g} minutes ({done}), each acted in, watched and taken over",
        f"{told}; own memory {memory:.1f} MB before, {daemon.own_memory():.1f} MB after",
        "no process, file, socket, row", not grown and not failures,
    )
    code, left = daemon.stop()
    if code != 0 or left:
        rows.add("the daemon's end after it", f"exit code {code}, left {left[:3]}", "nothing left", False)


def settled(daemon):
    """What is there once nothing ends any more."""
    last = None
    for _ in range(60):
        now = daemon.left()
        if now == last and now["processes"] == 0:
            return now
        last = now
        time.sleep(0.5)
    return last


def example(name, *arguments):
    program = Path(os.environ["EXAMPLES"], name)
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr[-500:]}")
    return done.stdout


def live(rows, changes):
    medians = []
    for watching, stalled in [(1, 0), (8, 1)]:
        said = example("live_latency", changes, watching, stalled)
        seen = re.search(r"(\d+) of (\d+) changes", said)
        median, tail = map(float, re.search(r"page change to frame.*median ([\d.]+) ms, p95 ([\d.]+)", said).groups())
        medians.append(median)
        who = "one viewer" if watching == 1 else f"{watching} viewers, {stalled} of them stalled"
        rows.add(f"page change to frame at a viewer, {who}", f"median {median:.0f} ms, p95 {tail:.0f} ms, {seen[1]} of {seen[2]} changes seen", "median ≤ 80 ms", median <= 80)
    rows.add("what seven more viewers, one stalled, cost the first", f"{medians[1] - medians[0]:+.0f} ms in the median", "", None)


def recording(rows, rounds, seconds, pages):
    arguments = [rounds, seconds, pages] if Path(pages).is_dir() else [rounds, seconds]
    said = example("recording", *arguments)
    for what, off, on, ratio in re.findall(r"(load of \S+|click): ([\d.]+) ms, recorded ([\d.]+) ms, ratio ([\d.]+)", said):
        rows.add(f"recording's part of a {what}", f"{on} ms against {off} ms, ratio {ratio}", "≤ 1.10 times", float(ratio) <= 1.10)
    hour = float(re.search(r"([\d.]+) MB in an hour", said)[1])
    rows.add("an hour of a busy page on the disk", f"{hour:.1f} MB, extrapolated from {seconds} s", "≤ 25 MB", hour <= 25)
    compared = re.findall(r"^(\S+): \d+ of \d+ characters, (identical|DIFFERENT)", said, re.M)
    if compared:
        different = [name for name, how in compared if how != "identical"]
        rows.add("text of replays of the bench's pages", f"{len(compared) - len(different)} of {len(compared)} identical {' '.join(different)}".strip(), "all", not different)
    else:
        rows.add("text of replays of the bench's pages", f"not compared: there is no {pages} (`make bench-setup` builds it)", "all", None)


class Rows:
    def __init__(self):
        self.lines, self.missed = [], []

    def add(self, what, value, wanted, reached):
        mark = {True: "reached", False: "**missed**", None: ""}[reached]
        self.lines.append(f"| {what} | {value} | {wanted} | {mark} |")
        print(self.lines[-1], flush=True)
        if reached is False:
            self.missed.append(what)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--sessions", type=int, required=True)
    parser.add_argument("--churn-minutes", type=float, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--busy-seconds", type=int, required=True)
    parser.add_argument("--changes", type=int, required=True)
    parser.add_argument("--pages", required=True)
    parser.add_argument("--parts", default="")
    given = parser.parse_args()
    rows, reins, began = Rows(), os.environ["REINS"], time.monotonic()
    for part, run in [
        ("sessions", lambda: sessions(rows, reins, given.sessions)),
        ("churn", lambda: churn(rows, reins, given.churn_minutes)),
        ("live", lambda: live(rows, given.changes)),
        ("recording", lambda: recording(rows, given.rounds, given.busy_seconds, given.pages)),
    ]:
        if given.parts and part not in given.parts.split(","):
            continue
        # One part that breaks takes no other's numbers.
        try:
            run()
        except Exception as error:
            rows.add(part, f"broke off: {error}", "", False)
    chromium = subprocess.run(["chromium", "--version"], capture_output=True, text=True).stdout.strip()
    minutes = (time.monotonic() - began) / 60
    text = f"""# The daemon under load

Written by `bench/serve/run` on {datetime.date.today()} in {minutes:.0f} minutes, on {os.cpu_count()} cores, with {chromium or "Chromium"}.
Loads and clicks with and without recording are measured in turn in one run; clicks in the daemon are timed by who calls it.

| what | measured | wanted | |
|---|---|---|---|
""" + "\n".join(rows.lines) + "\n"
    Path(given.out).write_text(text)
    sys.exit(1 if rows.missed else 0)


if __name__ == "__main__":
    main()
