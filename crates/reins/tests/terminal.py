#!/usr/bin/env python3
"""Runs a program on a terminal of its own and types.

    terminal.py WAIT_FOR TYPE [WAIT_FOR TYPE ...] -- PROGRAM ARGUMENT...

Each TYPE (with \\x escapes) is typed once, after its WAIT_FOR has appeared behind what came before. What the program
shows goes to stdout; the exit code is the program's.
"""

import os
import pty
import sys

split = sys.argv.index("--")
steps = sys.argv[1:split]
steps = [(steps[i].encode(), steps[i + 1].encode().decode("unicode_escape").encode()) for i in range(0, len(steps), 2)]
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[split + 1], sys.argv[split + 1:])
shown = b""
while True:
    try:
        portion = os.read(terminal, 4096)
    except OSError:
        break
    if not portion:
        break
    os.write(1, portion)
    shown += portion
    while steps and steps[0][0] in shown:
        wait_for, typed = steps.pop(0)
        shown = shown.split(wait_for, 1)[1]
        os.write(terminal, typed)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
