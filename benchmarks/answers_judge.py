"""Three judges of an answer: one that compares words, and two that ask a model, strictly and leniently."""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import anyio

from bethink.errors import ModelError, ModelUnavailableError
from bethink.extend import Model
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.framing import inert

PROMPTS = {"answer": "answer-1", "strict": "judge-strict-1", "lenient": "judge-lenient-1"}
ENOUGH = 0.5
_FOLDER = Path(__file__).parent / "prompts"
_WAITS = (2.0, 10.0, 30.0)
_WORD = re.compile(r"\w+")
_VERDICT = re.compile(r"\b(correct|wrong|incorrect)\b", re.IGNORECASE)
_DROPPED = frozenset({"a", "an", "the", "on", "in", "at", "of", "and"})
_NUMBERS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip


def prompt(name: str) -> str:
    """Read a prompt by what it is for."""
    return (_FOLDER / f"{PROMPTS[name]}.md").read_text(encoding="utf-8")


def words(text: str) -> list[str]:
    """Return the words that are compared: in small letters, without articles, numbers as figures."""
    found: list[str] = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return [_NUMBERS.get(word, word) for word in found if word not in _DROPPED]


def f1(answer: str, key: str) -> float:
    """Say how far the words of an answer are those of the key: precision and recall in one."""
    said, wanted = Counter(words(answer)), Counter(words(key))
    shared = (said & wanted).total()
    return 2 * shared / (said.total() + wanted.total()) if shared else 0.0


def exact(answer: str, key: str) -> bool:
    """Say whether an answer holds the words of the key in a row, or shares enough of them."""
    said, wanted = words(answer), words(key)
    rows = range(len(said) - len(wanted) + 1)
    held = bool(wanted) and any(said[place : place + len(wanted)] == wanted for place in rows)
    return held or f1(answer, key) >= ENOUGH


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the three judges say; None where a model could not be asked, or did not say."""

    exact: bool
    f1: float
    strict: bool | None
    lenient: bool | None


async def judged(judge: Model, *, question: str, key: str, answer: str) -> Verdict:
    """Ask all three judges about one answer."""
    return Verdict(
        exact=exact(answer, key),
        f1=f1(answer, key),
        strict=await _asked(judge, "strict", question, key, answer),
        lenient=await _asked(judge, "lenient", question, key, answer),
    )


async def _asked(judge: Model, how: str, question: str, key: str, answer: str) -> bool | None:
    text = f"Question: {inert(question)}\nKey: {inert(key)}\nAnswer: {inert(answer, limit=4_000)}"
    said = await ask(judge, ModelCall(system=prompt(how), prompt=text, max_tokens=1_024))
    verdicts = [] if said is None else _VERDICT.findall(said.text)  # whoever thinks aloud ends with the verdict
    return verdicts[-1].lower() == "correct" if verdicts else None


async def ask(model: Model, call: ModelCall) -> ModelAnswer | None:
    """Ask a model, again after a while if it is away, and return None if it never answers."""
    for wait in _WAITS:
        try:
            return await model.answer(call)
        except ModelUnavailableError as error:
            await anyio.sleep(wait if error.retry_after is None else min(error.retry_after, 60.0))
        except ModelError:
            return None
    return None
