"""Policies for what has no name: coloured boxes, cards, drawings, dragging, games on a grid."""
import colorsys
import re

from browser import Missing
from registry import policy

COLOURS = {
    "red": (255, 0, 0), "blue": (0, 0, 255), "olive": (128, 128, 0), "lime": (0, 255, 0), "black": (0, 0, 0), "white": (255, 255, 255),
    "grey": (128, 128, 128), "purple": (128, 0, 128), "orange": (255, 165, 0), "yellow": (255, 255, 0), "cyan": (0, 255, 255),
    "pink": (255, 192, 203), "magenta": (255, 0, 255), "green": (0, 128, 0), "aqua": (0, 255, 255), "brown": (165, 42, 42),
    "maroon": (128, 0, 0), "navy": (0, 0, 128), "teal": (0, 128, 128), "silver": (192, 192, 192), "fuchsia": (255, 0, 255),
}


def unnamed(page, role="clickable"):
    return [e for e in page.all(role) if not e.name]


def distance(a, b):
    return sum(abs(x - y) for x, y in zip(a, b))


@policy("click-color")
def click_color(b):
    wanted = COLOURS[re.search(r"Click on the (\w+) colored box", b.goal)[1]]
    boxes = unnamed(b.page())
    if not boxes:
        raise Missing("the boxes have no refs")
    pictures = [(box, b.look(box)) for box in boxes]
    # The box in the question itself listens too, and comes first.
    best = min(reversed(pictures), key=lambda pair: distance(pair[1].at(pair[1].width // 2, pair[1].height // 2), wanted))
    b.click(best[0])


@policy("click-shades")
def click_shades(b):
    hue = {"red": 0, "green": 120, "blue": 240}[re.search(r"shades of (\w+)", b.goal)[1]]
    boxes = unnamed(b.page())
    if not boxes:
        raise Missing("the boxes have no refs")
    for box in boxes:
        picture = b.look(box)
        red, green, blue = picture.at(picture.width // 2, picture.height // 2)
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
        shown = [b.look(next(e for e in b.page().all("clickable") if e.ref == ref)) for ref in cells]
        marked = {at for at, picture in enumerate(shown) if len({picture.at(x, picture.height // 2) for x in range(4, picture.width - 4)}) > 1}
        theirs, free = marked - mine, set(range(9)) - marked
        if not free:
            raise Missing("the game is drawn")

        def completes(of):
            return [next(iter(set(line) & free)) for line in lines if len(set(line) & of) == 2 and len(set(line) & free) == 1]

        order = completes(mine) + completes(theirs) + [at for at in (4, 0, 2, 6, 8, 1, 3, 5, 7) if at in free]
        mine.add(order[0])
        b.act("click", ref=cells[order[0]])


@policy("ascending-numbers")
def ascending_numbers(b):
    boxes = unnamed(b.page())
    if len(boxes) < 2:
        raise Missing("the boxes of a drawing have no refs")
    for box in boxes:
        b.click(box)


@policy("grid-coordinate")
def grid_coordinate(b):
    x, y = (int(part) for part in re.search(r"\((-?\d+),(-?\d+)\)", b.goal).groups())
    points = unnamed(b.page())
    if len(points) != 25:
        raise Missing("the points of a drawing have no refs")
    b.click(points[(x + 2) * 5 + (2 - y)])


@policy("click-pie", "click-pie-nodelay")
def click_pie(b):
    page = b.page()
    opener = page.all("clickable", "+")
    if not opener:
        raise Missing("the slices of a drawing have no refs")
    b.click(opener[-1])
    b.click(b.wait_until(lambda page: next(iter(page.all("clickable", b.quoted[0])), None)))


@policy("use-colorwheel")
def use_colorwheel(b):
    name = re.search(r"Select (\w+) with", b.goal)[1]
    b.type(0, "%02X%02X%02X" % COLOURS[name])
    b.press("Tab")
    b.submit()


@policy("use-colorwheel-2")
def use_colorwheel_2(b):
    colour = b.look().commonest(but={(255, 255, 255)})
    picture = b.look()
    counts = {}
    for y in range(min(60, picture.height)):
        for x in range(min(200, picture.width)):
            at = picture.at(x, y)
            counts[at] = counts.get(at, 0) + 1
    background = max(counts, key=counts.get)
    colours = sorted((at for at in counts if at != background and max(at) - min(at) > 20), key=counts.get, reverse=True)
    if not colours:
        raise Missing("the colour to choose is not seen")
    b.type(0, "%02X%02X%02X" % colours[0])
    b.press("Tab")
    b.submit()


def regions(picture, test):
    """Connected groups of pixels that pass a test, as lists of points."""
    open_ = {(x, y) for y in range(picture.height) for x in range(picture.width) if test(picture.at(x, y))}
    found = []
    while open_:
        queue, group = [open_.pop()], []
        while queue:
            x, y = queue.pop()
            group.append((x, y))
            for near in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if near in open_:
                    open_.remove(near)
                    queue.append(near)
        found.append(group)
    return found
