"""Closed questions put to the small model: captions of controls in ten languages, and tasks in the words of a person."""
import json
import os
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ENOUGH_CAPTIONS = 34    # of 36 answered right; a wrong one that lets something happen is never enough
SECONDS = 3600          # a busy small machine needs half a minute for one question

# What the person wrote, and what it may be read as.
TASKS = [
    ("Click on the \"Submit\" button.", ["act"]),
    ("Enter \"Kim\" into the text field and press Submit.", ["act"]),
    ("Expand the sections below to find and click on the link \"et\".", ["act"]),
    ("Bestelle die blaue Tasse und lass sie an Anna schicken.", ["act"]),
    ("Abre el correo de Marta y bórralo.", ["act"]),
    ("在购物车里加两个杯子", ["act"]),
    ("What does this page say about returns?", ["ask"]),
    ("Fasse den Artikel in drei Sätzen zusammen.", ["ask"]),
    ("この料金はいくらですか", ["ask"]),
    ("Quelle est la capitale de l'Australie ?", ["ask"]),
]


def example(target):
    """The program that asks; built with cargo if need be."""
    subprocess.run(["cargo", "build", "-q", "--package", "reins-agent", "--example", "questions"],
                   cwd=os.path.join(HERE, "..", ".."), check=True)
    return os.path.join(target, "debug", "examples", "questions")


def ask(program, base_url, questions, together):
    text = "".join(json.dumps(question, ensure_ascii=False) + "\n" for question in questions)
    done = subprocess.run([program, base_url, str(together)], input=text, capture_output=True, text=True, timeout=SECONDS)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(questions):
        raise SystemExit("the questions were not answered: " + done.stderr[-500:])
    return answers


def run(program, base_url, say):
    """-> heading, sentence, enough, rows"""
    with open(os.path.join(HERE, "captions.json")) as file:
        captions = json.load(file)
    lines, begun = ["| question | about | answer | wanted | sure |", "|---|---|---|---|---|"], time.time()
    right = {}
    for name, asked in (
        ("control_effect", [({"item": caption}, caption, wanted) for caption, _, wanted in captions]),
        ("run_mode", [({"words": words}, words, wanted) for words, wanted in TASKS]),
    ):
        answers = ask(program, base_url, [dict(question, question=name) for question, _, _ in asked], 1)
        right[name] = 0
        for (_, about, wanted), answer in zip(asked, answers):
            said = answer.get("choice") or "(%s)" % answer["none"]
            good = said in wanted
            right[name] += good
            say("%-3s %s %s: %s %.2f, %.1f s" % ("yes" if good else "no", name, about, said, answer.get("confidence", 0), answer["ms"] / 1000))
            if not good:
                lines.append("| %s | %s | %s | %s | %.2f |" % (name, about.replace("|", "/"), said, " or ".join(wanted), answer.get("confidence", 0)))
    total = "%d of %d captions in ten languages and %d of %d tasks are read right by the local model, %.1f s each" % (
        right["control_effect"], len(captions), right["run_mode"], len(TASKS), (time.time() - begun) / (len(captions) + len(TASKS)))
    say(total)
    return "Closed questions", total, right["control_effect"] >= ENOUGH_CAPTIONS, lines if len(lines) > 2 else ["None was read wrong."]
