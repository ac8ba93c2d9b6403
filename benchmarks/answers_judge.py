"""Judges of an answer: one compares words, three ask a model: strict, lenient, and by the protocol of the set.

The shipped prompt of a set follows the published protocol in words of our own. For the published words themselves, put
them into a folder: `SET.md`, or `SET-CATEGORY.md` for one category, with {question}, {answer} (the key) and {response}.
One with {point} is asked for each point of the rubric, and replies with 0, 0.5 or 1.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import anyio

from bethink.errors import ModelError, ModelUnavailableError
from bethink.extend import Model
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.framing import inert

PROMPTS = {
    "answer": "answer-1",
    "strict": "judge-strict-1",
    "lenient": "judge-lenient-1",
    "longmemeval": "judge-longmemeval-1",
    "locomo": "judge-locomo-1",
    "beam": "judge-beam-1",
    "meme": "judge-meme-1",
}
JUDGES = ("protocol", "strict", "lenient")
UNKNOWN = "unknown: this was never said"
ENOUGH = 0.5
_FOLDER = Path(__file__).parent / "prompts"
_SAME = {"longmemeval_s": "longmemeval", "longmemeval_real": "longmemeval", "realtalk": "locomo"}
_WAITS = (2.0, 10.0, 30.0)
_WORD = re.compile(r"\w+")
_VERDICT = re.compile(r"\b(correct|wrong|incorrect|yes|no)\b", re.IGNORECASE)
_SCORE = re.compile(r"(?<![\d.])(?:0?\.5|[01](?:\.0)?)(?![\d.]*\d)")
_PLACEHOLDER = re.compile(r"\{(question|answer|response|point)\}")
_MAX_ANSWER = 4_000
_DROPPED = frozenset({"a", "an", "the", "on", "in", "at", "of", "and"})
_NUMBERS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What is judged: a question with its key, or without one if it cannot be answered, and an answer to it."""

    set: str
    category: str
    question: str
    key: str | None
    rubric: tuple[str, ...] = ()
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A model that judges, the judges that it plays, and perhaps a folder with published prompts."""

    model: Model
    kinds: Sequence[str] = JUDGES
    folder: Path | None = None

    async def verdicts(self, case: Judged) -> dict[str, float | None]:
        """Return a score from 0 to 1 for each judge; None where the model could not be asked or gave no verdict."""
        return {kind: await self._protocol(case) if kind == "protocol" else await self._marked(kind, case)
                for kind in self.kinds}  # fmt: skip

    def prompts(self, name: str, category: str) -> str:
        """Return the versions of the prompts that judge a set: names, or a hash for published ones."""
        published = self._published(name, category)
        protocol = PROMPTS[_protocol_of(name)] if published is None else f"{name}-{_digest(published)}"
        return ", ".join(protocol if kind == "protocol" else PROMPTS[kind] for kind in self.kinds)

    async def _protocol(self, case: Judged) -> float | None:
        published = self._published(case.set, case.category)
        if published is not None and "{point}" not in published:
            return _verdict(await self._filled(published, case))
        if case.rubric and (published is not None or _protocol_of(case.set) == "beam"):
            scores = [await self._point(case, point, published) for point in case.rubric]
            return fmean(score or 0.0 for score in scores) if any(score is not None for score in scores) else None
        return await self._marked(_protocol_of(case.set, case.rubric), case)

    async def _point(self, case: Judged, point: str, published: str | None) -> float | None:
        if published is None:
            text = _quoted(question=case.question, point=point, answer=case.answer)
            said = await ask(self.model, ModelCall(system=prompt("beam"), prompt=text, max_tokens=1_024))
        else:
            said = await self._filled(published, case, point)
        numbers = [] if said is None else _SCORE.findall(said.text)
        return float(numbers[-1]) if numbers else None

    async def _filled(self, published: str, case: Judged, point: str = "") -> ModelAnswer | None:
        """Ask with a published prompt. What is filled in is never taken for a placeholder."""
        values = {
            "question": case.question,
            "answer": UNKNOWN if case.key is None else case.key,
            "response": case.answer[:_MAX_ANSWER],
            "point": point,
        }
        filled = _PLACEHOLDER.sub(lambda match: values[match[1]], published)
        return await ask(self.model, ModelCall(system="", prompt=filled, max_tokens=1_024))

    async def _marked(self, kind: str, case: Judged) -> float | None:
        key = UNKNOWN if case.key is None else case.key
        text = _quoted(category=case.category, question=case.question, key=key, answer=case.answer)
        return _verdict(await ask(self.model, ModelCall(system=prompt(kind), prompt=text, max_tokens=1_024)))

    def _published(self, name: str, category: str) -> str | None:
        if self.folder is None:
            return None
        files = (self.folder / f"{each}.md" for each in (f"{name}-{category}", name))
        return next((path.read_text(encoding="utf-8") for path in files if path.is_file()), None)


def prompt(name: str) -> str:
    """Read a shipped prompt."""
    return (_FOLDER / f"{PROMPTS[name]}.md").read_text(encoding="utf-8")


def by_words(key: str | None, answer: str) -> dict[str, float]:
    """Judge without a model: whether an answer has the words of the key, and their F1."""
    if key is None:
        right = float(words(answer)[:1] == ["unknown"])
        return {"exact": right, "f1": right}
    return {"exact": float(exact(answer, key)), "f1": f1(answer, key)}


def words(text: str) -> list[str]:
    """Return the words that are compared: in small letters, without articles, numbers as figures."""
    names: list[str] = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return [_NUMBERS.get(word, word) for word in names if word not in _DROPPED]


def f1(answer: str, key: str) -> float:
    """Return how far the words of an answer are those of the key: precision and recall in one."""
    answered, expected = Counter(words(answer)), Counter(words(key))
    shared = (answered & expected).total()
    return 2 * shared / (answered.total() + expected.total()) if shared else 0.0


def exact(answer: str, key: str) -> bool:
    """Return whether an answer has the words of the key in a row, or shares enough of them."""
    answered, expected = words(answer), words(key)
    starts = range(len(answered) - len(expected) + 1)
    in_a_row = bool(expected) and any(answered[start : start + len(expected)] == expected for start in starts)
    return in_a_row or f1(answer, key) >= ENOUGH


async def ask(model: Model, call: ModelCall) -> ModelAnswer | None:
    """Ask a model, again after a while if it is unavailable, and return None if it never answers."""
    for wait in _WAITS:
        try:
            return await model.answer(call)
        except ModelUnavailableError as error:
            await anyio.sleep(wait if error.retry_after is None else min(error.retry_after, 60.0))
        except ModelError:
            return None
    return None


def _protocol_of(name: str, rubric: Sequence[str] = ("",)) -> str:
    protocol = _SAME.get(name, name)
    # A question of BEAM without a rubric is judged by its answer.
    return protocol if protocol in PROMPTS and (rubric or protocol != "beam") else "strict"


def _verdict(said: ModelAnswer | None) -> float | None:
    verdicts = [] if said is None else _VERDICT.findall(said.text)  # a model that thinks aloud ends with its verdict
    return float(verdicts[-1].lower() in ("correct", "yes")) if verdicts else None


def _quoted(**parts: str) -> str:
    return "\n".join(f"{name.capitalize()}: {inert(text, limit=_MAX_ANSWER)}" for name, text in parts.items())


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
