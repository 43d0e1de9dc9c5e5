"""Pixels of a PNG, as far as policies need them. Standard library only."""
import struct
import zlib


class Picture:
    """An 8-bit RGB or RGBA image without interlace, as Chromium writes it."""

    def __init__(self, data):
        if data[:8] != b"\x89PNG\r\n\x1a\n":
            raise ValueError("no PNG")
        at, packed = 8, b""
        while at < len(data):
            length, kind = struct.unpack(">I4s", data[at:at + 8])
            body = data[at + 8:at + 8 + length]
            if kind == b"IHDR":
                self.width, self.height, depth, colour = struct.unpack(">IIBB", body[:10])
                if depth != 8 or colour not in (2, 6):
                    raise ValueError("a PNG of another kind")
                self.channels = 3 if colour == 2 else 4
            elif kind == b"IDAT":
                packed += body
            at += 12 + length
        self.rows = self.unfilter(zlib.decompress(packed))

    def unfilter(self, raw):
        step, stride = self.channels, self.width * self.channels
        rows, above, at = [], bytearray(stride), 0
        for _ in range(self.height):
            kind, row = raw[at], bytearray(raw[at + 1:at + 1 + stride])
            at += 1 + stride
            for i in range(stride):
                left = row[i - step] if i >= step else 0
                up = above[i]
                corner = above[i - step] if i >= step else 0
                if kind == 1:
                    add = left
                elif kind == 2:
                    add = up
                elif kind == 3:
                    add = (left + up) // 2
                elif kind == 4:
                    guess = left + up - corner
                    near = (abs(guess - left), abs(guess - up), abs(guess - corner))
                    add = left if near[0] <= near[1] and near[0] <= near[2] else up if near[1] <= near[2] else corner
                else:
                    add = 0
                row[i] = (row[i] + add) & 255
            rows.append(row)
            above = row
        return rows

    def at(self, x, y):
        start = x * self.channels
        return tuple(self.rows[y][start:start + 3])

    def commonest(self, but=()):
        """The most frequent colour that is none of the given ones."""
        counts = {}
        for y in range(self.height):
            for x in range(self.width):
                colour = self.at(x, y)
                if colour not in but:
                    counts[colour] = counts.get(colour, 0) + 1
        return max(counts, key=counts.get) if counts else None
