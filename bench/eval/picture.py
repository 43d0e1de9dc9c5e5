"""Pixels of a screenshot, as far as policies need them."""
import io

from PIL import Image


class Picture:
    """A picture as a grid of colours."""

    def __init__(self, data):
        image = Image.open(io.BytesIO(data)).convert("RGB")
        self.width, self.height = image.size
        self.pixels = image.load()

    def at(self, x, y):
        return self.pixels[x, y]

    def middle(self):
        return self.at(self.width // 2, self.height // 2)

    def points(self, test, left=0, top=0, right=None, bottom=None):
        """The points in a part of the picture whose colour passes a test."""
        return [(x, y) for y in range(top, min(bottom or self.height, self.height))
                for x in range(left, min(right or self.width, self.width)) if test(self.at(x, y))]

    def colour(self):
        """The commonest colour that is not white or nearly so, in coarse steps; None for a white picture."""
        counts, sums = {}, {}
        for y in range(self.height):
            for x in range(self.width):
                at = self.at(x, y)
                if min(at) < 235:
                    step = tuple(value // 32 for value in at)
                    counts[step] = counts.get(step, 0) + 1
                    sums[step] = tuple(a + b for a, b in zip(sums.get(step, (0, 0, 0)), at))
        if not counts:
            return None
        best = max(counts, key=counts.get)
        return tuple(value // counts[best] for value in sums[best])


def groups(points):
    """Points that touch each other, together."""
    open_, found = set(points), []
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


def corners(points, slack):
    """How many corners the outline around points has, when bends of less than `slack` pixels do not count."""
    points = sorted(set(points))

    def turn(o, a, b):
        return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

    def half(order):
        chain = []
        for point in order:
            while len(chain) > 1 and turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        return chain[:-1]

    def simple(line):
        (ax, ay), (bx, by) = line[0], line[-1]
        length = ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5 or 1
        away = [abs(turn(line[0], line[-1], point)) / length for point in line]
        far = max(range(len(line)), key=away.__getitem__)
        return [line[0]] if away[far] <= slack else simple(line[:far + 1]) + simple(line[far:])

    hull = half(points) + half(points[::-1])
    # Cut where it is widest, so that both ends are corners.
    far = max(range(len(hull)), key=lambda at: (hull[at][0] - hull[0][0]) ** 2 + (hull[at][1] - hull[0][1]) ** 2)
    hull = hull[far:] + hull[:far]
    far = max(range(len(hull)), key=lambda at: (hull[at][0] - hull[0][0]) ** 2 + (hull[at][1] - hull[0][1]) ** 2)
    return len(simple(hull[:far + 1]) + simple(hull[far:] + hull[:1]))
