"""Policies for the mail box and the message feeds."""
import re

from browser import Missing
from registry import policy


def open_mail(b, sender):
    b.click(row_of(b.page(), sender)[0])


def row_of(page, sender):
    """The row of an email and the icons in it: trash and star."""
    at = next((at for at, line in enumerate(page.lines) if at > 0 and line == sender), None)
    if at is None:
        raise Missing("the sender is not shown")
    row = [e for e in page.all("clickable") if e.line < at][-1]
    return [row] + [e for e in page.all("clickable") if e.line > at][:2]


def forward(b, sender, to):
    open_mail(b, sender)
    b.click(b.page().containing("clickable", "Forward"))
    b.type(0, to)
    send(b)


def reply(b, sender, text):
    open_mail(b, sender)
    b.click(b.page().containing("clickable", "Reply"))
    b.type(0, text)
    send(b)


def send(b):
    """The icon without a name that is not the one to close: the second in the bar."""
    icons = [e for e in b.page().all("clickable") if not e.name]
    if len(icons) < 2:
        raise Missing("the icon to send is not shown")
    b.click(icons[1])


def icon(b, sender, which):
    """Trash and star have no names."""
    icons = row_of(b.page(), sender)
    if len(icons) < 3:
        raise Missing("the icons are not shown")
    b.click(icons[1 if which == "trash" else 2])


def mail_task(b):
    goal = b.goal
    sender = (re.search(r"email by (\S+?),? ", goal) or re.search(r"(?:by|from) (\w+)", goal) or [None, None])[1]
    to = re.search(r"(?:forward|send) (?:that email|it|that|the .*?) to (\w+)", goal)
    if to and sender:
        return forward(b, sender, to[1])
    if "reply" in goal.lower() and b.quoted:
        return reply(b, sender or re.search(r"(\w+)'s", goal)[1], b.quoted[-1])
    if re.search(r"trash|delete", goal):
        return icon(b, sender, "trash")
    if re.search(r"star|important", goal):
        return icon(b, sender, "star")
    raise Missing("this policy does not understand the task")


policy("email-inbox", "email-inbox-delete", "email-inbox-forward", "email-inbox-important", "email-inbox-noscroll",
       "email-inbox-reply", "email-inbox-star-reply")(mail_task)


@policy("email-inbox-forward-nl", "email-inbox-forward-nl-turk", "email-inbox-nl-turk")
def mail_in_words(b):
    """These tasks are worded freely. Names of senders are on the page; the other name is the one to send to."""
    page = b.page()
    words = re.findall(r"[A-Z][a-z]+", b.goal)
    senders = [line for line in page.lines[1:] if re.fullmatch(r"[A-Z][a-z]+", line)]
    said = [word for word in words if word in senders]
    goal = b.goal.lower()
    if "forward" in goal or "send" in goal or "pass" in goal:
        to = [word for word in words if word not in said and word not in ("Forward", "Send", "Find", "Navigate", "Please", "Give", "I")]
        by, other = (said[0], (to + said[1:])[-1]) if len(said) > 1 or to else (said[0], None)
        after_to = re.search(r"to ([A-Z]\w+)", b.goal)
        if after_to:
            other = after_to[1]
            by = next(word for word in said if word != other) if any(word != other for word in said) else said[0]
        return forward(b, by, other)
    if b.quoted or "reply" in goal or "respond" in goal:
        return reply(b, said[0], (b.quoted or [b.goal.rsplit(": ", 1)[-1]])[-1])
    return icon(b, said[0], "trash" if re.search(r"delete|trash|remove|get rid", goal) else "star")


def post_of(page, user):
    """Clickables of each post of a user: they follow the line with the name, until the next one."""
    starts = [at for at, line in enumerate(page.lines) if re.search(r"@\S+", line) and at > 0]
    for at, start in enumerate(starts):
        end = starts[at + 1] if at + 1 < len(starts) else len(page.lines)
        if user in page.lines[start].split():
            yield [e for e in page.all("clickable") if start <= e.line < end]


BUTTONS = ["Reply", "Retweet", "Like", "More"]


@policy("social-media")
def social_media(b):
    user, button = re.search(r"user (@\S+), click on the \"(.*)\" button", b.goal).groups()
    post = next(post_of(b.page(), user))
    if len(post) < len(BUTTONS):
        raise Missing("the icons under a post have no refs")
    if button in BUTTONS:
        return b.click(post[BUTTONS.index(button)])
    b.click(post[BUTTONS.index("More")])
    page = b.page()
    name = button if button in ("Share via DM", "Copy link to Tweet", "Embed Tweet", "Report") else button + " " + user
    return b.click("clickable", name) if page.all("clickable", name) else b.click(page.containing("clickable", button))


@policy("social-media-all", "social-media-some")
def social_media_all(b):
    button, user = re.search(r"\"(.*?)\" button on .* by (@\S+) and", b.goal).groups()
    count = re.search(r"on (\d+) posts?", b.goal)
    posts = [post for post in post_of(b.page(), user)]
    if not posts or len(posts[0]) < len(BUTTONS):
        raise Missing("the icons under a post have no refs")
    for post in posts[:int(count[1])] if count else posts:
        b.click(post[BUTTONS.index(button)])
    b.submit()
