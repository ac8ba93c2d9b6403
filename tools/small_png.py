"""Makes a screenshot small: at most 256 colours, written as a PNG with a palette. It needs nothing installed."""

import struct
import zlib
from collections import Counter
from collections.abc import Iterator

MAGIC = b"\x89PNG\r\n\x1a\n"
_MOST = 256
_CHANNELS = {2: 3, 6: 4}


def shrunk(png: bytes) -> bytes:
    """Return a screenshot with its most frequent colours; the others become the nearest of these."""
    width, height, rows = _read(png)
    counted = Counter(colour for row in rows for colour in row)
    palette = [colour for colour, _ in counted.most_common(_MOST)]
    place = {colour: number for number, colour in enumerate(palette)}
    for colour in counted:
        if colour not in place:
            place[colour] = min(range(len(palette)), key=lambda number: _distance(palette[number], colour))
    lines = b"".join(b"\0" + bytes([place[colour] for colour in row]) for row in rows)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"PLTE", b"".join(palette)), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return MAGIC + b"".join(_chunk(kind, data) for kind, data in chunks)


def size_of(png: bytes) -> tuple[int, int]:
    """Return the width and the height of a PNG."""
    if not png.startswith(MAGIC):
        raise ValueError("this is not a PNG")
    return struct.unpack(">II", png[16:24])


def _distance(one: bytes, other: bytes) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(MAGIC)
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += length + 12


def _read(png: bytes) -> tuple[int, int, list[list[bytes]]]:
    """Return the size of a screenshot, and its rows of colours."""
    width, height = size_of(png)
    data, channels = b"", 0
    for kind, content in _chunks(png):
        if kind == b"IHDR":
            depth, colour_type, _, _, interlaced = content[8:13]
            if depth != 8 or colour_type not in _CHANNELS or interlaced:
                raise ValueError("only what browsers write can be read: 8 bits, red, green and blue")
            channels = _CHANNELS[colour_type]
        data += content if kind == b"IDAT" else b""
    raw, stride = zlib.decompress(data), width * channels
    rows: list[list[bytes]] = []
    before = bytes(stride)
    for number in range(height):
        begin = number * (stride + 1)
        before = _unfiltered(raw[begin], raw[begin + 1 : begin + 1 + stride], before, channels)
        rows.append([before[at : at + 3] for at in range(0, stride, channels)])
    return width, height, rows


def _unfiltered(kind: int, line: bytes, above: bytes, step: int) -> bytes:
    """Return a row as it was before it was filtered."""
    if kind == 0:
        return line
    if kind == 2:
        return bytes([(value + up) & 255 for value, up in zip(line, above, strict=True)])
    done = bytearray(len(line))
    for at, value in enumerate(line):
        left = done[at - step] if at >= step else 0
        if kind == 1:
            guess = left
        elif kind == 3:
            guess = (left + above[at]) // 2
        else:
            guess = _paeth(left, above[at], above[at - step] if at >= step else 0)
        done[at] = (value + guess) & 255
    return bytes(done)


def _paeth(left: int, up: int, corner: int) -> int:
    base = left + up - corner
    return min((left, up, corner), key=lambda each: abs(base - each))
