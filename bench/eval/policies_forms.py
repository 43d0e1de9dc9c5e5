"""Policies for dates, sliders, spinners, completion, sums, games and whole forms."""
import re

from browser import Missing
from policies_basic import nth
from registry import policy

MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]


def pick_date(b, field, date):
    """Walks a calendar popup to month/day/year."""
    month, day, year = (int(part) for part in date.split("/"))
    b.click(field)
    for _ in range(30):
        page = b.wait_until(lambda page: page if re.search(r"(%s)\s+\d{4}" % "|".join(MONTHS), page.text) else None)
        shown = re.search(r"(%s)\s+(\d{4})" % "|".join(MONTHS), page.text)
        ahead = (year - int(shown[2])) * 12 + month - 1 - MONTHS.index(shown[1])
        if ahead == 0:
            b.click(page.one("link", str(day)))
            # The calendar fades away over what lies below it.
            return b.wait_until(lambda page: "| Su | Mo |" not in page.text)
        b.click(page.containing("link clickable button", "Next" if ahead > 0 else "Prev"))
    raise Missing("the month does not come")


@policy("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
def choose_date(b):
    pick_date(b, b.page().one("textbox"), re.search(r"Select (\S+) as", b.goal)[1])
    b.submit()


@policy("enter-date")
def enter_date(b):
    month, day, year = re.search(r"Enter (\d+)/(\d+)/(\d+)", b.goal).groups()
    field = b.page().one("date textbox")
    b.type(field, "%s-%s-%s" % (year, month, day) if field.role == "date" else "%s/%s/%s" % (month, day, year))
    b.submit()


@policy("enter-time")
def enter_time(b):
    hour, minute, half = re.search(r"Enter (\d+):(\d+) ([AP]M)", b.goal).groups()
    field = b.page().one("time textbox")
    hour24 = int(hour) % 12 + (12 if half == "PM" else 0)
    b.type(field, "%02d:%s" % (hour24, minute))
    b.submit()


def move_slider(b, handle, value, read, vertical=False):
    """Moves a handle with the keyboard until the value shown is the wanted one."""
    b.click(handle)
    for _ in range(240):
        shown = read(b.page())
        if shown == value:
            return
        away = value - shown
        for _ in range(min(abs(away), 25)):
            b.press("ArrowRight" if away > 0 else "ArrowLeft", handle)
    raise Missing("the slider does not reach the value")


def number_in(line):
    found = re.fullmatch(r"(?:\{[^}]*\} )?(-?\d+)", line.strip())
    return int(found[1]) if found else None


def numbers(page):
    return [value for value in map(number_in, page.lines[1:]) if value is not None]


@policy("use-slider")
def use_slider(b):
    move_slider(b, b.page().one("clickable slider"), int(re.search(r"Select (-?\d+)", b.goal)[1]), lambda page: numbers(page)[0])
    b.submit()


@policy("use-slider-2")
def use_slider_2(b):
    for at, value in enumerate(re.search(r"\[(.*)\]", b.goal)[1].split(",")):
        move_slider(b, b.page().one("clickable slider", nth=at), int(value), lambda page: numbers(page)[at])
    b.submit()


@policy("form-sequence")
def form_sequence(b):
    move_slider(b, b.page().one("clickable slider"), int(re.search(r"Select (-?\d+)", b.goal)[1]), lambda page: numbers(page)[0])
    b.click("checkbox", nth=nth(b.goal))
    b.submit()


@policy("form-sequence-2")
def form_sequence_2(b):
    radio, field = re.findall(r"(\d)(?:st|nd|rd)", b.goal)
    b.click("radio", nth=int(radio) - 1)
    b.type(int(field) - 1, b.quoted[0])
    b.submit()


@policy("form-sequence-3")
def form_sequence_3(b):
    b.select(b.page().one("combobox"), re.search(r"Choose (.*) from the dropdown", b.goal)[1])
    b.click("button", b.quoted[0])


@policy("use-spinner")
def use_spinner(b):
    b.type(b.page().one("spinbutton"), re.search(r"Select (-?\d+)", b.goal)[1])
    b.submit()


def complete(b, field, start, fits):
    """Types a beginning key by key and takes the suggestion that fits."""
    b.type(field, start, keys=True)
    item = b.wait_until(lambda page: next((e for e in page.all("option menuitem clickable link") if fits(e.name)), None))
    b.click(item)


@policy("use-autocomplete", "use-autocomplete-nodelay")
def use_autocomplete(b):
    end = b.quoted[1] if len(b.quoted) > 1 else ""
    start = b.quoted[0]
    complete(b, b.page().one("textbox combobox"), start, lambda name: name.startswith(start) and name.endswith(end))
    b.submit()


def take_trip(b, page, buttons):
    """The cheapest or the shortest one, whichever the goal asks for."""
    if "cheapest" in b.goal:
        return b.click(min(buttons, key=lambda e: int(re.search(r"\$(\d+)", e.name)[1])))
    minutes = [int(h) * 60 + int(m) for h, m in re.findall(r"(\d+)h (\d+)m", page.text)]
    return b.click(buttons[minutes.index(min(minutes))])


@policy("book-flight", "book-flight-nodelay")
def book_flight(b):
    start, end, date = re.search(r"from: (.*) to: (.*) on (\S+?)\.?$", b.goal).groups()
    for at, place in enumerate((start, end)):
        complete(b, b.page().one("textbox combobox", nth=at), place, lambda name: place in name)
    pick_date(b, b.page().one("textbox combobox", nth=2), date)
    b.click("button", "Search")
    page = b.wait_until(lambda page: page if any("Book flight" in e.name for e in page.all("button")) else None)
    buttons = [e for e in page.all("button") if "Book flight" in e.name]
    take_trip(b, page, buttons)


@policy("buy-ticket")
def buy_ticket(b):
    page = b.page()
    buttons = page.all("button")
    take_trip(b, page, buttons)


@policy("simple-arithmetic")
def simple_arithmetic(b):
    left, sign, right = re.search(r"(-?\d+) ([x+\-]) (-?\d+) =", b.page().text).groups()
    left, right = int(left), int(right)
    b.type(0, str({"x": left * right, "+": left + right, "-": left - right}[sign]))
    b.submit()


@policy("simple-algebra")
def simple_algebra(b):
    text = b.page().text
    found = re.search(r"(x|-?\d+) ([+\-]) (x|-?\d+) = (-?\d+)", text)
    left, sign, right, sum_ = found.groups()
    total = int(sum_)
    if left == "x":
        x = total - int(right) if sign == "+" else total + int(right)
    else:
        x = total - int(left) if sign == "+" else int(left) - total
    b.type(0, str(x))
    b.submit()


@policy("guess-number")
def guess_number(b):
    low, high = 0, 9
    while not b.over and low <= high:
        guess = (low + high) // 2
        b.type(0, str(guess))
        b.submit()
        if b.over:
            return
        if "higher" in b.page().text:
            low = guess + 1
        else:
            high = guess - 1


@policy("generate-number")
def generate_number(b):
    kind, _, limit = re.search(r"(greater|less|odd|even)( than (-?\d+))?", b.goal).groups()
    for _ in range(60):
        b.click("button", "Generate")
        shown = numbers(b.page())
        value = shown[0] if shown else None
        fits = {"greater": lambda: value > int(limit), "less": lambda: value < int(limit),
                "odd": lambda: value % 2 == 1, "even": lambda: value % 2 == 0}[kind]
        if value is not None and fits():
            return b.submit()
    raise Missing("no number that fits comes")


@policy("odd-or-even")
def odd_or_even(b):
    page = b.page()
    for at, value in enumerate(numbers(page)):
        b.click(page.one("button", "Even" if value % 2 == 0 else "Odd", nth=at))
    b.submit()


def patterns(html):
    """The task's own digits, as rows of boxes: what its picture shows."""
    with open(html + "/miniwob/number-checkboxes.html") as file:
        source = re.search(r"var PATTERNS\s*=\s*\[(.*?)\n\];?", file.read(), re.S)[1]
    rows = re.findall(r"\[\s*([01](?:\s*,\s*[01]){3})\s*,?\s*\]", source)
    return [rows[at:at + 7] for at in range(0, len(rows), 7)]


@policy("number-checkboxes")
def number_checkboxes(b):
    wanted = re.findall("[01]", " ".join(patterns(b.html)[int(b.quoted[0])]))
    boxes = [box for box in b.page().all("checkbox") if not box.has("disabled")]
    for box, bit in zip(boxes, wanted):
        if bit == "1":
            b.click(box)
    b.submit()


@policy("multi-layouts", "multi-orderings")
def multi_layouts(b):
    genre, director, year = re.search(r"for (\S+) movies directed by (\S+) from year (\d+)", b.goal).groups()
    labels = [line for line in b.page().lines if re.search(r"Director|Year|Genre", line) and "movies directed" not in line]
    for field, label in enumerate(re.findall(r"Director|Year|Genre", " ".join(labels))):
        b.type(field, {"Director": director, "Year": year, "Genre": genre}[label])
    b.click(b.page().all("button clickable")[-1])


@policy("phone-book")
def phone_book(b):
    name, what = re.search(r"Find (\S+) in the contact book and click on their (.*)\.", b.goal).groups()
    what = {"phone number": "Phone"}.get(what, what.capitalize())
    for _ in range(6):
        page = b.page()
        if page.lines[1] == "## " + name:
            return b.click(page.after(what + ":", "clickable link"))
        b.click("link", ">")
    raise Missing("the name is on no page")


@policy("search-engine")
def search_engine(b):
    place = nth(b.goal)
    b.type(0, b.quoted[0])
    b.click("button", "Search")
    if place >= 3:
        b.click("link", str(place // 3 + 1))
    results = [e for e in b.page().all("link") if not e.name.strip("<>").isdigit() and e.name not in "<>"]
    b.click(results[place % 3])


@policy("stock-market")
def stock_market(b):
    limit = float(re.search(r"less than \$([\d.]+)\.?$", b.goal)[1].rstrip("."))
    for _ in range(200):
        page = b.page()
        price = re.search(r"Stock price:\W*\$([\d.]+)", page.text)
        if price and float(price[1]) < limit:
            return b.click(page.one("button", "Buy"))
    raise Missing("the price stays too high")


@policy("terminal")
def terminal(b):
    end = re.search(r"extension (\S+)", b.goal)
    field = b.page().one("textbox")

    def enter(line):
        for key in line:
            b.press("Space" if key == " " else key, field)
        b.press("Enter", field)

    enter("ls")
    files = re.findall(r"\S+", b.page().text.split("ls", 1)[1])
    if end:
        name = next(file for file in files if file.endswith(end[1].strip('"')))
    else:
        name = next(file for file in files if "." not in file and file not in ("user$", "█"))
    enter("rm " + name)


@policy("simon-says")
def simon_says(b):
    raise Missing("what blinks for 250 ms is not seen by snapshots or pictures")
