"""Policies for what has no name: coloured boxes, cards, drawings, dragging, games on a grid."""
import colorsys
import re

import picture
from browser import Missing
from policies_basic import nth
from registry import policy

COLOURS = {
    "red": (255, 0, 0), "blue": (0, 0, 255), "olive": (128, 128, 0), "lime": (0, 255, 0), "black": (0, 0, 0), "white": (255, 255, 255),
    "grey": (128, 128, 128), "purple": (128, 0, 128), "orange": (255, 165, 0), "yellow": (255, 255, 0), "cyan": (0, 255, 255),
    "pink": (255, 192, 203), "magenta": (255, 0, 255), "green": (0, 128, 0), "aqua": (0, 255, 255), "brown": (165, 42, 42),
    "maroon": (128, 0, 0), "navy": (0, 0, 128), "teal": (0, 128, 128), "silver": (192, 192, 192), "fuchsia": (255, 0, 255),
}
# Where the pages show the task itself, in pixels: below the question.
AREA = {"left": 2, "top": 53, "right": 158, "bottom": 208}


def unnamed(page, role="clickable"):
    return [e for e in page.all(role) if not e.name]


def distance(a, b):
    return sum(abs(x - y) for x, y in zip(a, b))


def nearest(colour, names=COLOURS):
    return min(names, key=lambda name: distance(COLOURS[name], colour))


@policy("click-color")
def click_color(b):
    wanted = COLOURS[re.search(r"Click on the (\w+) colored box", b.goal + " colored box")[1]]
    boxes = unnamed(b.page())
    if not boxes:
        raise Missing("the boxes have no refs")
    # The box in the question itself listens too, and comes first.
    b.click(min(reversed(boxes), key=lambda box: distance(b.look(box).middle(), wanted)))


@policy("click-shades")
def click_shades(b):
    hue = {"red": 0, "green": 120, "blue": 240}[re.search(r"shades of (\w+)", b.goal)[1]]
    boxes = unnamed(b.page())
    if not boxes:
        raise Missing("the boxes have no refs")
    for box in boxes:
        red, green, blue = b.look(box).middle()
        shown = colorsys.rgb_to_hls(red / 255, green / 255, blue / 255)[0] * 360
        if min(abs(shown - hue), 360 - abs(shown - hue)) < 40:
            b.click(box)
    b.submit()


@policy("find-greatest")
def find_greatest(b):
    values = {}
    for card in [e for e in b.page().all("clickable") if e.name != "Submit"]:
        b.click(card)
        shown = re.search(r"-?\d+", " ".join(b.page().lines[1:]).replace("ref=e", ""))
        named = [e.name for e in b.page().all("clickable") if re.fullmatch(r"\d+", e.name)]
        values[card.ref] = int(named[0]) if named else int(shown[0])
    best = max(values, key=values.get)
    b.act("click", ref=best)
    b.submit()


@policy("order-food")
def order_food(b):
    dishes = re.search(r"Order (?:one of each item|.*?): (.*)", b.goal)
    if not dishes:
        raise Missing("this policy does not understand the task")
    for dish in dishes[1].split(", "):
        page = b.page()
        at = next(n for n, line in enumerate(page.lines) if n > 0 and line.startswith(dish))
        plus = [e for e in page.all("clickable") if e.line >= at and e.name == "+"]
        if not plus:
            raise Missing("plus and minus have no refs")
        b.click(plus[0])
    b.submit("Order!")


@policy("tic-tac-toe")
def tic_tac_toe(b):
    cells = [e.ref for e in b.page().all("clickable")]
    if len(cells) != 9:
        raise Missing("the cells have no refs")
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    mine = set()
    while not b.over:
        shown = {e.ref: b.look(e) for e in b.page().all("clickable") if e.ref in cells}
        marked = {at for at, ref in enumerate(cells) if ref not in shown or is_marked(shown[ref])}
        theirs, free = marked - mine, set(range(9)) - marked
        if not free:
            raise Missing("the game is drawn")

        def completes(of):
            return [next(iter(set(line) & free)) for line in lines if len(set(line) & of) == 2 and len(set(line) & free) == 1]

        order = completes(mine) + completes(theirs) + [at for at in (4, 0, 2, 6, 8, 1, 3, 5, 7) if at in free]
        mine.add(order[0])
        b.act("click", ref=cells[order[0]])


def is_marked(cell):
    edge = 5
    inner = cell.points(lambda colour: True, edge, edge, cell.width - edge, cell.height - edge)
    shown = [sum(cell.at(*point)) for point in inner]
    return max(shown) - min(shown) > 150


@policy("ascending-numbers")
def ascending_numbers(b):
    b.click("clickable", "1")
    while not b.over:
        b.click(unnamed(b.page())[0])


@policy("grid-coordinate")
def grid_coordinate(b):
    x, y = (int(part) for part in re.search(r"\((-?\d+),(-?\d+)\)", b.goal).groups())
    points = unnamed(b.page())
    if len(points) != 25:
        raise Missing("the points of a drawing have no refs")
    b.click(points[(x + 2) * 5 + (2 - y)])


@policy("click-pie", "click-pie-nodelay")
def click_pie(b):
    opener = b.page().all("clickable", "+")
    if not opener:
        raise Missing("the slices of a drawing have no refs")
    b.click(opener[-1])
    b.wait(1)
    b.click("clickable", b.quoted[0])


@policy("click-shape")
def click_shape(b):
    words = re.search(r"Click on an? (.*)", b.goal)[1].rstrip(".").split()
    names = [name for name in ("red", "green", "blue", "aqua", "black", "magenta", "yellow")]
    kinds = {"letter": str.isalpha, "digit": str.isdigit, "item": lambda name: True}
    for element in b.page().all("clickable"):
        shown = b.look(element)
        large = max(shown.width, shown.height) > 14
        right = {"large": large, "small": not large}
        right.update({name: nearest(shown.colour() or (255, 255, 255), names) == name for name in names})
        right.update({kind: test(element.name) for kind, test in kinds.items()})
        right["shape"] = not element.name
        if not element.name and set(words) & {"rectangle", "circle", "triangle"}:
            sides = picture.corners(shown.points(lambda colour: min(colour) < 200), 2)
            right.update(rectangle=sides == 4, triangle=sides == 3, circle=sides > 4)
        if all(right.get(word, False) for word in words):
            return b.click(element)
    raise Missing("no shape fits")


def drawn(b):
    """The points of the largest thing in the task's area."""
    shown = b.look()
    found = picture.groups(shown.points(lambda colour: min(colour) < 170, **AREA))

    def height(group):
        return max(y for _, y in group) - min(y for _, y in group)

    if not found or height(max(found, key=height)) < 8:
        raise Missing("the drawing is not seen")
    return max(found, key=height)


@policy("count-sides")
def count_sides(b):
    b.click("button", str(picture.corners(drawn(b), 3)))


@policy("identify-shape")
def identify_shape(b):
    page = b.page()
    text = [line for line in page.lines[1:] if len(line) == 1]
    found = re.search(r'(?:img|clickable) "(.)"', page.text)
    sign = text[0] if text else found and found[1]
    if sign:
        return b.click("button", "Number" if sign.isdigit() else "Letter")
    b.click("button", {3: "Triangle", 4: "Rectangle"}.get(picture.corners(drawn(b), 2), "Circle"))


@policy("visual-addition")
def visual_addition(b):
    shown = b.look()

    def is_block(colour):
        return max(colour) - min(colour) > 60

    blocks = [group for group in picture.groups(shown.points(is_block, **AREA)) if len(group) > 12]
    b.type(0, str(len(blocks)))
    b.submit()


@policy("drag-box")
def drag_box(b):
    page = b.page()
    b.drag(page.one("clickable", "s"), page.one("clickable", "L"))
    b.submit()


@policy("drag-circle", "drag-single-shape")
def drag_shape(b):
    """Only what has a ref can be dragged to: the question is above, the button below."""
    way = re.search(r"Drag the \w+ (\w+)", b.goal)[1]
    page = b.page()
    shape = next(e for e in page.elements if e.role in ("clickable", "img"))
    if way in ("up", "down"):
        to = b.text_ref(b.goal) if way == "up" else page.one("button", "Submit").ref
        b.act("drag", **{"from": shape.ref, "to": to})
        return b.submit()
    b.act("drag", **{"from": shape.ref, "to": b.text_ref(b.goal)})
    b.submit()


def sortable(b):
    """The items of a list, as (text, ref)."""
    names = [line for line in b.page().lines[1:] if line and "[ref=" not in line]
    return [(name, b.text_ref(name)) for name in names]


@policy("drag-items", "drag-items-grid")
def drag_items(b):
    name, where = re.search(r"Drag (\S+) (.*)\.", b.goal).groups()
    items = sortable(b)
    at = [text for text, _ in items].index(name)
    grid = len(items) == 9
    row = 3 if grid else 1
    places = ["top left", "top center", "top right", "center left", "center", "center right", "bottom left", "bottom center", "bottom right"]
    to = re.fullmatch(r"to the (.*)", where)
    if to and to[1] in places:
        target = places.index(to[1])
    elif to and to[1] in ("top", "bottom"):
        target = 0 if to[1] == "top" else len(items) - 1
    elif to:
        target = nth(to[1])
    else:
        target = at + {"up": -row, "down": row, "left": -1, "right": 1}[where.split()[0]]
    b.act("drag", **{"from": items[at][1], "to": items[target][1]})


@policy("drag-sort-numbers")
def drag_sort_numbers(b):
    for place in range(4):
        items = sortable(b)
        numbers = [int(text) for text, _ in items]
        least = min(range(place, len(numbers)), key=numbers.__getitem__)
        if least != place:
            b.act("drag", **{"from": items[least][1], "to": items[place][1]})
            b.wait(0.5)
    b.submit()


@policy("highlight-text", "highlight-text-2")
def highlight_text(b):
    texts = [line for line in b.page().lines[1:] if line and "[ref=" not in line]
    at = nth(b.goal) if re.search(r"\d(st|nd|rd|th)", b.goal) else 0
    b.act("click", ref=b.text_ref(texts[at]), count=3)
    b.submit()


@policy("text-editor")
def text_editor(b):
    page = b.page()
    editor, style = page.all("textbox")[0], re.search(r"(bold|italics|underlined)", b.goal)
    if not style:
        raise Missing("this policy chooses no colours")
    word = re.search(r"give the text (\S+) the style", b.goal)
    b.click(editor)
    if word:
        start = editor.value.index(word[1])
        b.press("Control+Home", editor)
        for _ in range(start):
            b.press("ArrowRight", editor)
        for _ in word[1]:
            b.press("Shift+ArrowRight", editor)
    else:
        b.press("Control+A", editor)
    buttons = [e for e in page.all("button") if not e.name]
    b.click(buttons[["bold", "italics", "underlined"].index(style[1])])
    b.submit()


@policy("use-colorwheel")
def use_colorwheel(b):
    name = re.search(r"Select (\w+) with", b.goal)[1]
    b.type(0, "%02X%02X%02X" % COLOURS[name])
    b.press("Tab")
    b.submit()


@policy("use-colorwheel-2")
def use_colorwheel_2(b):
    shown = b.look()
    # The colour to choose is a box within the question.
    sample = picture.groups(shown.points(lambda colour: max(colour) < 250 and distance(colour, shown.at(1, 1)) > 40, 0, 0, 160, 50))
    points = max(sample, key=len, default=[])
    if len(points) < 60:
        raise Missing("the colour to choose is not seen")
    x, y = sorted(points)[len(points) // 2]
    b.type(0, "%02X%02X%02X" % shown.at(x, y))
    b.press("Tab")
    b.submit()
