"""Sentences for training the redactor: people who tell a secret, and people who talk about one, in 14 languages."""

import json
import random
import re
import string
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.redaction_corpus import Sample

_FILE = Path(__file__).parent / "data" / "redaction_frames.jsonl"
_BEFORE = ("", "", "", "hey, ", "ok ", "fyi ", "btw ", "Hi! ", "- ", "> ", "note: ", "PS: ")
_AFTER = ("", "", "", ".", ".", "!", " thx", ", ok?", " :)", ". See you at 5.", ", please delete this", "\n", " - Tom")
_QUOTED = ('"{x}"', "'{x}'", "`{x}`", "**{x}**")
_KINDS = ("passwords", "passwords", "passwords", "passwords", "codes", "codes", "harmless", "harmless")
_SLOTS = {"{P}": "password", "{C}": "code", "{T}": "account", "{O}": "lock"}
_DETAIL = re.compile(r"\{(w|W|WW|i|IW|d|t|y|v|u|ip|N|n|h|H|B|b|l)([0-9]*)\}")
_ALPHABETS = {
    "n": string.digits,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "B": string.ascii_letters + string.digits + "+/",
    "l": string.ascii_lowercase + "234567",
    "b": string.ascii_letters + string.digits + "-_",
}
_TOKENS = ("{B40}", "{h32}", "{h40}", "{h64}", "{l52}", "{B43}=", "{b24}", "{b32}", "{b43}", "{H32}", "{b20}", "{u}")
_OTHER_LINES = (
    "{w}_host={w}.test",
    "port: {n4}",
    '"{i}": "{w}",',
    "debug = true",
    "# {w} {w}",
    "{W}={n}",
    "{i}: {w}-{w}",
)
_TELLING = ("secret", "key", "pass", "code", "admin", "user", "wifi", "login", "door", "lock", "token", "open")
"""Words that also stand in passwords."""
_RANDOM = (
    string.ascii_lowercase + string.digits,
    string.ascii_letters + string.digits,
    "0123456789abcdef",
)


_DESCRIBES = re.compile(r"(?:ed|ing|ly|able|ible|ous|ful|less|ant|ent|ive|al|ic|ary|ory)\Z|'")
"""Endings of words that more often describe a password than are one."""


class Values:
    """Makes passwords, tokens and codes from words of a vocabulary. Every value comes from the random generator."""

    def __init__(self, generator: random.Random, vocabulary: Sequence[str]) -> None:
        self._random = generator
        self._vocabulary = vocabulary

    def code(self) -> str:
        digits = [self._random.randrange(10) for _ in range(8)]
        one, two, three, four = ("".join(map(str, digits[start : start + 2])) for start in range(0, 8, 2))
        return self._random.choice(
            (
                *(one + two, one + two, one + two + three, one + two + three[0], one + two + "#"),
                *(f"{one}-{two}-{three}", f"{one}{two[0]} {two[1]}{three}", one + two + self._random.choice("ABCK")),
                one + two + three + four,
            )
        )

    def password(self) -> str:
        if self._random.random() < 0.25:
            alphabet = self._random.choice(_RANDOM)
            length = self._random.choice((8, 10, 12, 16, 20, 24, 32, 40))
            return "".join(self._random.choice(alphabet) for _ in range(length))
        one, two, three, four = (self._random.choice(self._vocabulary) for _ in range(4))
        if self._random.random() < 0.06:
            two = self._random.choice(_TELLING)
        if self._random.random() < 0.2:  # words alone, which are hardest to tell from names
            return self._random.choice("----_.").join((one, two, three, four)[: self._random.choice((2, 3, 3, 4))])
        sign = self._random.choice("!#_-.$%&*?@+")
        number = str(self._random.randrange(self._random.choice((10, 100, 10000))))
        leet = one.replace("o", "0").replace("i", "1").replace("e", "3", 1)
        upper, other = one.capitalize(), two.capitalize()
        return self._random.choice(
            (
                *(upper + sign + number, one + sign + number, upper + number, one + number, number + upper + sign),
                *(upper + sign + other + number, f"{one}-{two}-{number}", f"{one}-{two}-{three}", one + two),
                *(f"{upper}-{two}-{three}-{number}", f"{one}_{two}", upper + other + number, leet + number),
                *(one + other + number + sign, leet + sign + two, upper + sign + two, f"{one}.{two}{number}"),
                *(f"{upper}&{other}", one + sign + two + number),
            )
        )


class Details:
    """Fills harmless frames with numbers, dates, digests and names."""

    def __init__(self, generator: random.Random, vocabulary: Sequence[str]) -> None:
        self._random = generator
        self._vocabulary = vocabulary

    def fill(self, frame: str) -> str:
        return _DETAIL.sub(lambda match: self._detail(match[1], int(match[2] or 0)), frame)

    def _detail(self, sort: str, length: int) -> str:
        if sort in _ALPHABETS:
            size = length or self._random.choice((1, 1, 2, 2, 3, 4)) if sort == "n" else length or 12
            return "".join(self._random.choice(_ALPHABETS[sort]) for _ in range(size))
        word, other = self._random.choice(self._vocabulary), self._random.choice(self._vocabulary)
        day = f"{self._random.randint(2015, 2029)}-{self._random.randint(1, 12):02}-{self._random.randint(1, 28):02}"
        details = {
            "w": word,
            "W": word.capitalize(),
            "WW": word[:3].upper(),
            "i": self._random.choice((f"{word}_{other}", word + other.capitalize(), word, f"{word}_{other}_id")),
            "IW": f"{word}_{other}".upper(),
            "d": self._random.choice((day, "/".join(day.split("-")[::-1]), ".".join(day.split("-")[::-1]))),
            "t": f"{self._random.randrange(24):02}:{self._random.randrange(60):02}",
            "y": day[:4],
            "v": ".".join(str(self._random.randrange(20)) for _ in range(self._random.choice((2, 3)))),
            "u": str(uuid.UUID(int=self._random.getrandbits(128))),
            "ip": ".".join(str(self._random.randrange(1, 255)) for _ in range(4)),
            "N": str(self._random.randrange(10**9, 10**12)),
        }
        return details[sort]


def sentences(count: int, seed: int, vocabulary: Sequence[str]) -> Iterator[Sample]:
    """Make sentences from the frames: a quarter of them have no secret."""
    frames = [frame for frame in _frames() if "passwords" in frame]
    generator = random.Random(seed)
    values = Values(generator, vocabulary)
    for _ in range(count):
        frame = generator.choice(frames + frames[:1] * 3)  # the first is English
        kind = generator.choice(_KINDS)
        text = generator.choice(_BEFORE) + generator.choice(frame[kind]) + generator.choice(_AFTER)
        for slot, name in _SLOTS.items():
            text = text.replace(slot, generator.choice(frame[name]))
        if generator.random() < 0.3:
            text = text[:1].upper() + text[1:]
        if kind == "harmless":
            yield Sample(kind=kind, text=text, secret=None)
            continue
        if generator.random() < 0.12:
            text = text.replace("{x}", generator.choice(_QUOTED))
        secret = values.code() if kind == "codes" else values.password()
        yield Sample(kind=kind, text=text.replace("{x}", secret), secret=secret)


def confided(count: int, seed: int, vocabulary: Sequence[str]) -> Iterator[Sample]:
    """Make sentences whose secret may be plain words or a short number, and as many that say something about one."""
    frames = [frame for frame in _frames() if "told" in frame]
    generator = random.Random(seed)
    values = Values(generator, vocabulary)
    about = {word for frame in frames for predicate in frame["predicates"] for word in predicate.lower().split()}
    plain = [word for word in vocabulary if word not in about and not _DESCRIBES.search(word)]
    for _ in range(count):
        frame = generator.choice(frames + frames[:1] * 5)
        kind = generator.choice(("told", "told", "told", "told", "pins", "pins", "untold", "untold", "shown", "shown"))
        text = generator.choice(frame[kind]).replace("{a}", generator.choice(frame["predicates"]))
        text = generator.choice(_BEFORE) + text + generator.choice(_AFTER)
        if generator.random() < 0.4:
            text = text[:1].upper() + text[1:]
        secret = {"told": _words(generator, values, frame["words"], plain), "pins": values.code()}.get(kind)
        if secret is not None:
            text = text.replace("{x}", secret).replace("{n}", secret)
        yield Sample(kind=kind, text=text, secret=secret)


def _words(generator: random.Random, values: Values, own: Sequence[str], others: Sequence[str]) -> str:
    """Return a password: a word of the language, several words, or, seldom, one with digits and signs."""
    chance = generator.random()
    if chance < 0.35:
        return values.password()
    words = [generator.choice(own if generator.random() < 0.5 else others) for _ in range(generator.randint(2, 5))]
    if generator.random() < 0.5:  # a blend of two words, which the model cannot learn by heart
        one, two = generator.choice(own), generator.choice((*own, words[0]))
        words[0] = one[: len(one) // 2 + 1] + two[len(two) // 2 :]
    if chance < 0.5:
        return " ".join(words)
    word = "".join(words[:2]) if chance < 0.6 else words[0]
    return word.capitalize() if generator.random() < 0.25 else word


def settings(count: int, seed: int, vocabulary: Sequence[str]) -> Iterator[Sample]:
    """Make lines of code and settings with a secret."""
    generator = random.Random(seed)
    values, details = Values(generator, vocabulary), Details(generator, vocabulary)
    frame = next(frame for frame in _frames() if "settings" in frame)
    for _ in range(count):
        name = generator.choice(frame["names"])
        words = name.split("_")
        camel = words[0] + "".join(map(str.capitalize, words[1:]))
        line = generator.choice(frame["settings"]).replace("{NAME}", name.upper()).replace("{name}", name)
        line = line.replace("{Name}", generator.choice((camel, camel[:1].upper() + camel[1:])))
        line = details.fill(line.replace("{flag}", "-".join(words)))
        secret = values.password()
        others = [details.fill(generator.choice(_OTHER_LINES)) for _ in range(2)]
        text = generator.choice(("{0}", "{1}\n{0}", "{0}\n{1}", "{1}\n{0}\n{2}")).format(line, *others)
        yield Sample(kind="settings", text=text.replace("{x}", secret), secret=secret)


def tokens(count: int, seed: int, vocabulary: Sequence[str]) -> Iterator[Sample]:
    """Make sentences with long random values, which only the words around them reveal."""
    generator = random.Random(seed)
    details = Details(generator, vocabulary)
    frame = next(frame for frame in _frames() if "tokens" in frame)
    for _ in range(count):
        secret = details.fill(generator.choice(_TOKENS))
        text = generator.choice(_BEFORE) + details.fill(generator.choice(frame["tokens"])) + generator.choice(_AFTER)
        yield Sample(kind="tokens", text=text.replace("{x}", secret), secret=secret)


def harmless(count: int, seed: int, vocabulary: Sequence[str]) -> Iterator[Sample]:
    """Make lines that look like secrets and are not."""
    generator = random.Random(seed)
    details = Details(generator, vocabulary)
    frame = next(frame for frame in _frames() if frame["language"] == "any")
    for _ in range(count):
        lines = [details.fill(generator.choice(frame["harmless"])) for _ in range(generator.choice((1, 1, 1, 2)))]
        text = generator.choice(_BEFORE) + "\n".join(lines) + generator.choice(("", "", ".", "\n"))
        yield Sample(kind="harmless", text=text, secret=None)


def _frames() -> list[dict[str, Any]]:
    return [json.loads(line) for line in _FILE.read_text("utf-8").splitlines()]
