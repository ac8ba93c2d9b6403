"""Ids: a prefix and a UUIDv7, created by the caller and sortable by creation time."""

import os
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_DIGITS = 26
_VERSION_7 = 0x7 << 76
_VARIANT = 0x2 << 62


def new_id(prefix: str) -> str:
    """Return `prefix_` and 26 base-32 digits of a new UUIDv7."""
    value = uuid7_int(time.time_ns() // 1_000_000, int.from_bytes(os.urandom(10)))
    return f"{prefix}_{base32(value)}"


def base32(value: int) -> str:
    """Write 128 bits as 26 digits that sort in the order of the numbers."""
    return "".join([_ALPHABET[(value >> (5 * digit)) & 31] for digit in reversed(range(_DIGITS))])


def uuid7_int(milliseconds: int, random: int) -> int:
    """Assemble an RFC 9562 version 7 UUID: 48 bits of time, and 74 bits of `random` around version and variant."""
    high = (random >> 62) & 0xFFF
    low = random & 0x3FFF_FFFF_FFFF_FFFF
    return (milliseconds & 0xFFFF_FFFF_FFFF) << 80 | _VERSION_7 | high << 64 | _VARIANT | low


def shard_for(space: str) -> int:
    """Return the number of the shard that stores a space. It is always 0 so far."""
    del space
    return 0
