"""One judgement, and the page with all of them."""


class Part:
    """One judgement: its heading, what came of it in a sentence, whether it is enough, and rows."""

    def __init__(self, heading, total, enough, lines):
        self.heading, self.total, self.enough, self.lines = heading, total, enough, lines


def report(parts, before):
    """The results as a page; a judgement that was not made this time stays as it was."""
    sections = {}
    for section in ("\n" + before).split("\n## ")[1:]:
        heading, _, text = section.partition("\n")
        sections[heading] = text.strip()
    for part in parts:
        sections[part.heading] = "\n".join([part.total + ".", ""] + part.lines)
    head = "# Judged by MiniWoB++, and by tasks of our own\n\nWritten by `make eval`. How it is judged: [README](README.md).\n"
    return head + "".join("\n## %s\n\n%s\n" % (heading, text.strip()) for heading, text in sections.items())
