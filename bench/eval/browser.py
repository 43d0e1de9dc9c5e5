"""What a scripted policy sees and can do: the text of snapshots, and Reins' own tools. Nothing else."""
import re
import time

import picture
from mcp_client import ToolError

ELEMENT = re.compile(r'(?P<role>[a-z]+)(?: (?P<level>\d))?(?: "(?P<name>(?:[^"\\]|\\.)*)")?(?P<before>(?: \[[^\]=]*\])*) '
                     r'\[ref=(?P<ref>e\d+)\](?P<marks>(?: \[[^\]]*\])*)(?:: (?P<value>[^{}\n]*))?')


class Missing(Exception):
    """The page shows no such element: what the policy needs cannot be reached with the tools."""


class Element:
    def __init__(self, found, line):
        self.role, self.name, self.ref = found["role"], (found["name"] or "").replace('\\"', '"'), found["ref"]
        self.marks, self.value, self.line = found["marks"] or "", (found["value"] or "").strip(), line

    def has(self, mark):
        return "[%s]" % mark in self.marks

    @property
    def options(self):
        found = re.search(r"\[choices: (.*?)\]", self.marks)
        return [option.strip() for option in found[1].split(" | ")] if found else []


class Page:
    """One snapshot."""

    def __init__(self, text):
        lines = [line for line in text.split("\n") if not line.startswith(("<page-", "</page-"))]
        self.lines = [line.strip().removeprefix("- ") for line in lines]
        self.text = "\n".join(self.lines)
        self.elements = [Element(found, at) for at, line in enumerate(self.lines) for found in ELEMENT.finditer(line)]

    def all(self, role=None, name=None, near=None):
        """Elements of a role (or one of several, separated by spaces) and a name; `near` is a text earlier in the same line."""
        roles = role.split() if role else None
        found = [e for e in self.elements if (roles is None or e.role in roles) and (name is None or e.name == name)]
        if near is not None:
            found = [e for e in found if near in self.lines[e.line]]
        return found

    def one(self, role=None, name=None, nth=0, **more):
        found = self.all(role, name, **more)
        if len(found) <= nth:
            raise Missing("no %s %s on the page" % (role or "element", "" if name is None else '"%s"' % name))
        return found[nth]

    def containing(self, role, text):
        for element in self.all(role):
            if text in element.name:
                return element
        raise Missing('no %s with "%s" on the page' % (role, text))

    def after(self, text, role=None):
        """The first element on or below the line that holds a text."""
        for at, line in enumerate(self.lines[1:], 1):
            if text in line:
                for element in self.all(role):
                    if element.line >= at:
                        return element
        raise Missing('no %s after "%s"' % (role or "element", text))


class Browser:
    """One episode, acted on through the tools of an MCP server."""

    def __init__(self, client, episode, html):
        self.client, self.episode, self.html = client, episode, html
        self.goal = episode.goal
        self.quoted = re.findall(r'"([^"]*)"', self.goal)

    def page(self):
        return Page(self.client.call("snapshot", full=True)[0])

    @property
    def over(self):
        return self.episode.ended.is_set()

    def act(self, tool, **arguments):
        if not self.over:
            return self.client.call(tool, **arguments)[0]
        return ""

    def find(self, target, name=None, nth=0):
        return target if isinstance(target, Element) else self.page().one(target, name, nth)

    def click(self, target, name=None, nth=0, **more):
        return self.act("click", ref=self.find(target, name, nth).ref, **more)

    def hover(self, target, name=None, nth=0):
        return self.act("hover", ref=self.find(target, name, nth).ref)

    def type(self, target, text, **more):
        element = target if isinstance(target, Element) else self.page().one("textbox spinbutton searchbox", nth=target)
        return self.act("type", ref=element.ref, text=text, **more)

    def select(self, element, *options):
        return self.act("select_option", ref=element.ref, options=list(options))

    def press(self, key, target=None):
        return self.act("press_key", key=key, **({"ref": target.ref} if target else {}))

    def drag(self, start, end):
        return self.act("drag", **{"from": start.ref, "to": end.ref})

    def scroll(self, target, to):
        return self.act("scroll", ref=target.ref, to=to)

    def submit(self, name="Submit"):
        return self.click("button clickable", name)

    def wait(self, seconds):
        """Waits for the page, not for us: used where a task says so."""
        return self.act("wait_for", seconds=seconds)

    def wait_until(self, test, seconds=5):
        """The first page that passes a test."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            page = self.page()
            found = test(page)
            if found:
                return found
            self.wait(0.2)
        raise Missing("what the policy waits for does not come")

    def text_ref(self, text):
        """The ref that a search gives for plain text."""
        for line in self.client.call("find_in_page", text=text)[0].split("\n"):
            found = re.fullmatch(r"(?:- )?(.*?) ?\[ref=(e\d+)\]", line.strip())
            if found and found[1] == text:
                return found[2]
        raise Missing('the text "%s" has no ref' % text)

    def look(self, target=None):
        """A picture of the page or of one element."""
        arguments = {"ref": target.ref} if target else {}
        pictures = self.client.call("screenshot", **arguments)[1]
        if not pictures:
            raise ToolError("the screenshot has no picture")
        return picture.Picture(pictures[0])
