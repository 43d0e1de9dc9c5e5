"""Gives the tasks of tests/tasks to `reins run` with a model, and lets their server say what came of it."""
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TASK_SECONDS = 900      # a busy small machine needs minutes for a task of many steps
STEPS = 25
KEY_SECONDS = 0.02      # a person is slower; the terminal reads one key at a time
PROMPT = re.compile(r"type allow,[^\n]*stop \(Esc stops\): $")
USAGE = re.compile(r"(\d+) steps[^\n]*?, (\d+) tokens in \((\d+) cached\), (\d+) out")


class Server:
    """`tasks serve`: stages tasks, answers cards as their person would, and judges."""

    def __init__(self, player):
        self.process = subprocess.Popen([player, "serve"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit("The tasks' server ended.")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)


def card_of(screen):
    """The text of the last card on the screen."""
    lines = screen.replace("\r", "").split("\n")[:-1]
    card = []
    for line in reversed(lines):
        if not line.startswith("  | "):
            break
        card.insert(0, line[4:])
    return " ".join(card)


def play(reins, server, name, flags, sandbox):
    """One task. -> what the server says of it, with cards, tokens and the last words"""
    with tempfile.TemporaryDirectory() as home:
        uploads, data = os.path.join(home, "uploads"), os.path.join(home, "data")
        os.mkdir(uploads)
        told = server.ask(stage=[name, os.path.join(uploads, "1")])
        for kept in told["secrets"]:
            command = [reins, "secrets", "set", kept["name"], "--origin", kept["origin"], "--kind", kept["kind"], "--data-dir", data]
            subprocess.run(command, input=kept["value"], text=True, check=True, stdout=subprocess.DEVNULL)
        command = [reins, "run", told["words"], "--url", told["start"], "--headless", "--data-dir", data, "--upload-root", uploads,
                   "--steps", str(STEPS)] + [word for site in told["sites"] for word in ("--site", site)] + flags + sandbox
        ours, theirs = pty.openpty()
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen(command, stdin=theirs, stderr=theirs, stdout=out, start_new_session=True)
            os.close(theirs)
            screen, cards = watch(process, ours, server, told["run"])
            os.close(ours)
            out.seek(0)
            words = out.read().strip()
        verdict = server.ask(end=[told["run"], process.returncode == 0, words])
    used = USAGE.search(screen)
    verdict["tokens"] = int(used[2]) + int(used[4]) if used else 0
    verdict["cached"] = int(used[3]) if used else 0
    return dict(verdict, cards=cards, words=words, exit=process.returncode, screen=screen)


def watch(process, terminal, server, run):
    """Reads the terminal until the run ends, and answers its cards. -> all that it showed, and how many cards"""
    screen, since, cards, end = "", 0, 0, time.time() + TASK_SECONDS
    while True:
        if time.time() > end and process.poll() is None:
            process.send_signal(signal.SIGINT)
            end = time.time() + 20
        ready, _, _ = select.select([terminal], [], [], 0.5)
        if ready:
            try:
                piece = os.read(terminal, 65536)
            except OSError:         # the other end is closed
                break
            if not piece:
                break
            screen += piece.decode("utf-8", "replace")
            if PROMPT.search(screen, since):
                allow = server.ask(card=[run, card_of(screen[:screen.rindex("  type allow")])])["allow"]
                cards, since = cards + 1, len(screen)
                for key in ("allow" if allow else "skip") + "\r":
                    os.write(terminal, key.encode())
                    time.sleep(KEY_SECONDS)
        elif process.poll() is not None:
            break
    process.wait()
    return screen, cards


def run(reins, player, only, flags, sandbox, verbose):
    """All tasks, or those whose name has one of the words. -> (total, lines)"""
    server = Server(player)
    names = [name for name in server.ask(tasks=None) if not only or any(word in name for word in only)]
    rows, sums = [], dict(solved=0, false_success=0, cards=0, tokens=0)
    for name in names:
        begun = time.time()
        played = play(reins, server, name, flags, sandbox)
        for key in sums:
            sums[key] += int(played[key])
        word = "solved" if played["solved"] else "FALSE SUCCESS" if played["false_success"] else "not solved"
        print("%-13s %s: %d cards, %d tokens, %d s%s" % (word, name, played["cards"], played["tokens"], time.time() - begun,
                                                          "" if played["solved"] else ": " + "; ".join(played["misses"])[:200]), flush=True)
        if verbose:
            print("    " + "\n    ".join((played["screen"] + "\n" + played["words"]).replace("\r", "").splitlines()), flush=True)
        rows.append("| %s | %s | %d | %d |" % (name, word, played["cards"], played["tokens"]))
    server.close()
    number = max(1, len(names))
    total = "%d of %d tasks are solved, %d are false successes; %.1f cards and %d tokens a task" % (
        sums["solved"], len(names), sums["false_success"], sums["cards"] / number, sums["tokens"] // number)
    print(total, flush=True)
    return total, ["| task | | cards | tokens |", "|---|---|---|---|"] + rows, sums["false_success"] == 0
