"""Runs the two judgements and words their results."""
import collections
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import episodes
import plain
import policies_basic  # noqa: F401  (registers its policies)
import policies_forms  # noqa: F401
import policies_mail  # noqa: F401
import policies_pointer  # noqa: F401
from browser import Browser, Missing
from mcp_client import Client, ToolError
from registry import LACKING, POLICIES
from report import Part

ENOUGH_TASKS = 100      # of 130, for scripted policies
ENOUGH_TOKENS = 0.5     # of what the plain loop needs for the median task
ENOUGH_SOLVED = 11      # of 16, for the local model, on average over the seeds
LOAD_SECONDS = 20
EPISODE_SECONDS = 900   # a busy small machine needs minutes for a task of many steps
STEPS = 15              # the longest of the 16 tasks takes a person 8


def sandbox_flag():
    return ["--no-sandbox"] if os.geteuid() == 0 else []


def serve(reins, origin, log, guarded=None):
    """A pinned browser; or, with the flags in `guarded`, one as a person has it, with this site named."""
    policy = ["--app", origin] if guarded is None else ["--site", origin] + guarded
    return Client([reins, "mcp", "--headless"] + policy + sandbox_flag(), log, allows=guarded is not None)


def cards(reins, html, tasks, seeds, verbose):
    """How often a person is asked on benign pages at level auto: by what a step sends, and by the reference's rule."""
    rows, means, about = {}, {}, {}
    for name, flags in (("auto", []), ("strict clicks", ["--strict-clicks"])):
        pages, shown = episodes.Episodes(html), {}
        with tempfile.TemporaryFile() as log:
            client = serve(reins, pages.origin, log, flags)
            for task in (task for task in tasks if task in POLICIES):
                for seed in seeds:
                    before = len(client.cards)
                    client.asked.clear()
                    episode, address = pages.open(task, seed)
                    one_policy(client, episode, address, html)
                    if episode.solved:
                        shown.setdefault(task, []).extend(client.cards[before:])
                        about.setdefault(name, []).extend((task, seed, text, *kind)
                                                          for text, kind in zip(client.cards[before:], client.asked))
            client.close()
        means[name] = sum(map(len, shown.values())) / max(1, len(shown) * len(seeds))
        for task, asked in shown.items():
            rows.setdefault(task, {})[name] = asked
        if verbose:
            for task, asked in shown.items():
                print(task, *("    " + card.replace("\n", " / ") for card in asked), sep="\n")
    both = {task: row for task, row in rows.items() if len(row) == 2}
    asked = {name: sum(len(row[name]) for row in both.values()) / max(1, len(both) * len(seeds)) for name in means}
    total = "%d tasks solved either way: %.2f cards a task at level auto, %.2f with --strict-clicks" % (
        len(both), asked["auto"], asked["strict clicks"])
    about = about.get("auto", [])
    kinds = collections.Counter("what a page sends" if card[2].startswith("Let the page") else card[3] for card in about)
    calls = collections.Counter((task, seed, call) for task, seed, _, _, call in about)
    twice = sum(1 for count in calls.values() if count > 1)
    total += "; %d calls asked more than once; what was asked about at level auto: %s" % (
        twice, ", ".join("%s %d" % pair for pair in kinds.most_common()))
    say(total)
    if verbose:
        for card in about:
            say("%s %s" % (card[0], card[2:]))
    lines = ["| task | auto | strict clicks |", "|---|---|---|"]
    lines += ["| %s | %d | %d |" % (task, len(row["auto"]), len(row["strict clicks"])) for task, row in sorted(both.items())
              if row["auto"] or row["strict clicks"]]
    return Part("Cards", total, asked["auto"] <= asked["strict clicks"] / 2, lines)


def policies(reins, html, tasks, seeds, verbose):
    """Each task with each seed by its policy; a task counts if all seeds are solved."""
    pages, solved, missing = episodes.Episodes(html), [], []
    with tempfile.TemporaryFile() as log:
        client = serve(reins, pages.origin, log)
        for task in tasks:
            reasons = []
            for seed in seeds:
                episode, address = pages.open(task, seed)
                why = one_policy(client, episode, address, html)
                if not episode.solved:
                    reasons.append(why or "the page's own judge says no (reward %s)" % episode.reward)
                    if verbose:
                        print(page_text(client))
            say("%s %s%s" % ("solved " if not reasons else "missing", task, ": " + reasons[0] if reasons else ""))
            (missing if reasons else solved).append((task, reasons))
        client.close()
    total = "%d of %d tasks are solved by scripted policies (seeds %s)" % (len(solved), len(tasks), ", ".join(map(str, seeds)))
    say(total)
    lines = ["| not solved | why |", "|---|---|"] + ["| %s | %s |" % (task, reasons[0].replace("|", "/")) for task, reasons in missing]
    return Part("Scripted policies", total, len(solved) >= min(ENOUGH_TASKS, len(tasks)), lines)


def one_policy(client, episode, address, html):
    if episode.task not in POLICIES:
        return "lacks " + LACKING.get(episode.task, "a policy")
    try:
        client.call("navigate", url=address)
        if not episode.started.wait(LOAD_SECONDS):
            return "the page did not start"
        POLICIES[episode.task](Browser(client, episode, html))
        episode.ended.wait(2)
        return None
    except (Missing, ToolError) as error:
        episode.ended.wait(1)
        return str(error).split("\n")[0][:200]
    except (LookupError, TypeError, ValueError, StopIteration) as error:
        return "the policy does not understand the page (%s)" % type(error).__name__


def page_text(client):
    try:
        return client.call("snapshot", full=True)[0]
    except ToolError as error:
        return str(error)


def goals_of(reins, pages, tasks, seeds):
    """The tasks' words, as their pages say them: each is opened once through the tools."""
    goals = {}
    with tempfile.TemporaryFile() as log:
        client = serve(reins, pages.origin, log)
        for task in tasks:
            for seed in seeds:
                episode, address = pages.open(task, seed)
                client.call("navigate", url=address)
                episode.started.wait(LOAD_SECONDS)
                goals[task, seed] = episode.goal
        client.close()
    return goals


def model(reins, html, tasks, seeds, base_url, verbose):
    """`reins run` with the words of the task and the page's address, and nothing else."""
    pages, rows, solved = episodes.Episodes(html), [], 0
    totals = {"input_tokens": 0, "cached_tokens": 0, "output_tokens": 0}
    goals = goals_of(reins, pages, tasks, seeds)
    for task in tasks:
        marks = []
        for seed in seeds:
            goal = goals[task, seed]
            episode, address = pages.open(task, seed)
            begun = time.time()
            lines = run_agent(reins, pages.origin, goal, address, base_url, episode)
            marks.append("yes" if episode.solved else "no")
            solved += episode.solved
            end = next((line for line in reversed(lines) if line.get("event") == "end"), {})
            for key in totals:
                totals[key] += end.get(key) or 0
            say("%-3s %s seed %d, %d s%s" % (marks[-1], task, seed, time.time() - begun, "" if episode.solved else ": " + goal))
            if verbose:
                for line in lines:
                    print("    " + json.dumps(line, ensure_ascii=False)[:600])
        rows.append("| %s | %s |" % (task, " | ".join(marks)))
    mean = solved / len(seeds)
    total = "%.1f of %d tasks are solved by the local model, on average over seeds %s" % (mean, len(tasks), ", ".join(map(str, seeds)))
    say(total)
    tokens = "%(input_tokens)d tokens read (%(cached_tokens)d of them cached), %(output_tokens)d written" % totals
    say(tokens)
    head = ["| task | %s |" % " | ".join("seed %d" % seed for seed in seeds), "|---" * (len(seeds) + 1) + "|"]
    return Part("A small local model", total, mean >= min(ENOUGH_SOLVED, len(tasks)), head + rows + ["", tokens + "."])


def tokens(reins, html, work, tasks, seeds, base_url, verbose):
    """Tokens a task, beside the same model with Playwright MCP's tools in a plain loop, one after the other on the same pages."""
    command = plain.server(work)
    if command is None:
        sys.exit("Playwright MCP is missing: run bench/setup first.")
    pages, rows = episodes.Episodes(html), []
    goals = goals_of(reins, pages, tasks, seeds)
    ours, theirs, solved = [], [], [0, 0]
    for task in tasks:
        for seed in seeds:
            goal = goals[task, seed]
            episode, address = pages.open(task, seed)
            lines = run_agent(reins, pages.origin, goal, address, base_url, episode)
            end = next((line for line in reversed(lines) if line.get("event") == "end"), {})
            mine = (end.get("input_tokens") or 0) + (end.get("output_tokens") or 0)
            other, address = pages.open(task, seed)
            with tempfile.TemporaryFile() as log:
                read, written, _ = plain.run(command, log, base_url, goal, address, STEPS, other)
            other.ended.wait(0.5)
            ours.append(mine)
            theirs.append(read + written)
            solved[0] += episode.solved
            solved[1] += other.solved
            word = {True: "yes", False: "no"}
            rows.append("| %s, seed %d | %d | %s | %d | %s |" % (
                task, seed, mine, word[episode.solved], theirs[-1], word[other.solved]))
            say(rows[-1])
    ratio = statistics.median(ours) / max(1, statistics.median(theirs))
    count = len(tasks) * len(seeds)
    total = ("%d tokens for the median task, %.2f of the %d that the same model needs with Playwright MCP's tools in a plain loop; "
             "%d of %d solved, and %d" % (statistics.median(ours), ratio, statistics.median(theirs), solved[0], count, solved[1]))
    say(total)
    head = ["| task | Reins, tokens | solved | plain loop, tokens | solved |", "|---|---|---|---|---|"]
    return Part("Tokens a task", total, ratio <= ENOUGH_TOKENS, head + rows)


def run_agent(reins, origin, goal, address, base_url, episode):
    """Runs until the page's judge has spoken or the agent ends by itself. -> its events"""
    command = [reins, "run", goal, "--url", address, "--app", origin, "--headless", "--json", "--steps", str(STEPS),
               "--base-url", base_url] + sandbox_flag()
    environment = dict(os.environ)
    for name in list(environment):
        if name.endswith(("_API_KEY", "_BASE_URL")):
            del environment[name]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=out, stderr=log, stdin=subprocess.DEVNULL, env=environment)
        end = time.time() + EPISODE_SECONDS
        while process.poll() is None and time.time() < end and not episode.ended.wait(0.2):
            pass
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        episode.ended.wait(0.5)
        out.seek(0)
        return [json.loads(line) for line in out if line.startswith("{")]


def say(text):
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit("This is a part of ./run.")
