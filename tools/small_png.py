"""Shrink a screenshot to a PNG with a palette of at most 256 colors, without dependencies."""

import struct
import zlib
from collections import Counter
from collections.abc import Iterator

MAGIC = b"\x89PNG\r\n\x1a\n"
_MAX_COLORS = 256
_CHANNELS = {2: 3, 6: 4}


def shrink(png: bytes) -> bytes:
    """Return a screenshot with its most frequent colors. Others are replaced by the nearest of these."""
    width, height, rows = _decode(png)
    counted = Counter(color for row in rows for color in row)
    palette = [color for color, _ in counted.most_common(_MAX_COLORS)]
    index_of = {color: number for number, color in enumerate(palette)}
    for color in counted:
        if color not in index_of:
            index_of[color] = min(range(len(palette)), key=lambda number: _distance(palette[number], color))
    lines = b"".join(b"\0" + bytes([index_of[color] for color in row]) for row in rows)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"PLTE", b"".join(palette)), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return MAGIC + b"".join(_chunk(kind, data) for kind, data in chunks)


def size_of(png: bytes) -> tuple[int, int]:
    """Return the width and the height of a PNG."""
    if not png.startswith(MAGIC):
        raise ValueError("not a PNG")
    return struct.unpack(">II", png[16:24])


def _distance(first: bytes, second: bytes) -> int:
    return sum((a - b) ** 2 for a, b in zip(first, second, strict=True))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(MAGIC)
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += length + 12


def _decode(png: bytes) -> tuple[int, int, list[list[bytes]]]:
    """Return the size of a screenshot and its rows of colors."""
    width, height = size_of(png)
    data, channels = b"", 0
    for kind, content in _chunks(png):
        if kind == b"IHDR":
            depth, color_type, _, _, interlaced = content[8:13]
            if depth != 8 or color_type not in _CHANNELS or interlaced:
                raise ValueError("unsupported PNG: expected 8-bit RGB or RGBA without interlacing")
            channels = _CHANNELS[color_type]
        data += content if kind == b"IDAT" else b""
    raw, stride = zlib.decompress(data), width * channels
    rows: list[list[bytes]] = []
    before = bytes(stride)
    for number in range(height):
        begin = number * (stride + 1)
        before = _undo_filter(raw[begin], raw[begin + 1 : begin + 1 + stride], before, channels)
        rows.append([before[at : at + 3] for at in range(0, stride, channels)])
    return width, height, rows


def _undo_filter(kind: int, line: bytes, above: bytes, step: int) -> bytes:
    """Return the original row of a filtered row."""
    if kind == 0:
        return line
    if kind == 2:
        return bytes([(value + up) & 255 for value, up in zip(line, above, strict=True)])
    done = bytearray(len(line))
    for at, value in enumerate(line):
        previous = done[at - step] if at >= step else 0
        if kind == 1:
            guess = previous
        elif kind == 3:
            guess = (previous + above[at]) // 2
        else:
            guess = _paeth(previous, above[at], above[at - step] if at >= step else 0)
        done[at] = (value + guess) & 255
    return bytes(done)


def _paeth(previous: int, up: int, corner: int) -> int:
    base = previous + up - corner
    return min((previous, up, corner), key=lambda value: abs(base - value))
