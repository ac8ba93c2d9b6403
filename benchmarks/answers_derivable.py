"""Checks without a model whether the lines that an answer needs are in the text that a reader is given."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any

import anyio

from benchmarks import own_sets
from benchmarks.answers_contexts import CONTEXT, COSINE, RECALL, Stage, count_tokens, staged
from benchmarks.recall_models import loaded
from benchmarks.recall_sets import OWN
from benchmarks.recall_sets import load as load_own
from benchmarks.sets import Conversation, load
from bethink.extend import Embedder

PATTERNS = Path(__file__).parent / "data" / "derivable.jsonl"
WORDS = "words"
WAYS = (
    (RECALL, 1_000),
    (RECALL, 2_000),
    (CONTEXT, 1_000),
    (CONTEXT, 2_000),
    (CONTEXT, 4_000),
    (COSINE, 1_000),
    (COSINE, 2_000),
    (COSINE, 4_000),
)
SHARE = 0.95
"""The share of the questions derivable from recall that must be derivable from a block of the same budget."""
_DAY = "%A, %d %B %Y"
_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"\w+")
_SHORT = 300
"""Characters of the longest turn that is looked for: longer ones are shown as excerpts."""
_OPENING = 12
_SHOWN = 200
_BETWEEN = r"\W+(?:\([^()]{0,60}\)\W*)?"
Way = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A question, and regular expressions that each occur in any text from which it can be answered.

    `half` is "tune" or "report". Patterns without one are all reported.
    """

    set: str
    conversation: str
    id: str
    question: str
    must: tuple[re.Pattern[str], ...]
    at: datetime | None = None
    category: str = ""
    half: str = "report"

    def missing(self, text: str) -> list[str]:
        """Return the expressions that do not occur in a text, whatever its case and white space."""
        folded = _SPACES.sub(" ", text)
        return [each.pattern for each in self.must if each.search(folded) is None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Whether a question can be answered from each text, and how many tokens each has."""

    pattern: Pattern
    embedder: str
    missing: Mapping[Way, Sequence[str]]
    tokens: Mapping[Way, int]

    def derivable(self, way: Way) -> bool:
        """Return whether nothing is missing."""
        return not self.missing[way]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A number that has to be reached."""

    name: str
    value: float
    limit: float

    @property
    def reached(self) -> bool:
        """Return whether the value is at least the limit."""
        return self.value >= self.limit

    def __str__(self) -> str:
        return f"{'ok    ' if self.reached else 'MISSED'} {self.name}: {self.value:.3f}, at least {self.limit:.3f}"


def read_patterns(path: Path) -> list[Pattern]:
    """Read patterns, one JSON object a line. Raises `SystemExit` that names a line that cannot be read."""
    patterns: list[Pattern] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            patterns.append(_pattern(json.loads(line)))
        except (ValueError, KeyError, TypeError, re.error) as error:
            raise SystemExit(f"{path}:{number}: {type(error).__name__}: {error}") from error
    return patterns


def _pattern(line: Mapping[str, Any]) -> Pattern:
    if not line["must"]:
        raise ValueError("`must` is empty")
    return Pattern(
        set=line["set"],
        conversation=line["conversation"],
        id=line["id"],
        question=line["question"],
        must=tuple(re.compile(each, re.IGNORECASE) for each in line["must"]),
        at=_end_of(line["asked_on"]) if line.get("asked_on") else None,
        category=line.get("category", ""),
        half=line.get("half", "report"),
    )


def _end_of(day: str) -> datetime:
    date = datetime.strptime(day, _DAY).date() if "," in day else datetime.fromisoformat(day).date()  # noqa: DTZ007
    return datetime.combine(date, time(23, 59), tzinfo=UTC)


def evidence_patterns(names: Sequence[str], data: Path) -> list[Pattern]:
    """Make a pattern of every question whose evidence is short: the first words of each turn that answers it.

    They need no hand and cover whole sets, but also ask for turns that a reader could do without. Odd conversations,
    or those marked so, are the half "tune".
    """
    patterns: list[Pattern] = []
    for name in names:
        for place, conversation in enumerate(conversations_of(name, data)):
            turns = {turn.id: turn.text for turn in conversation.turns}
            for question in conversation.questions:
                texts = [turns[turn] for turn in sorted(question.evidence)]
                if not question.answerable or max(map(len, texts)) > _SHORT:
                    continue
                tune = place % 2 == 0 if question.odd is None else question.odd
                patterns.append(
                    Pattern(
                        set=name,
                        conversation=conversation.id,
                        id=question.id,
                        question=question.text,
                        must=tuple(_opening(text) for text in texts),
                        at=question.at,
                        category=question.category,
                        half="tune" if tune else "report",
                    )
                )
    return patterns


def _opening(text: str) -> re.Pattern[str]:
    """Match the first words of a text, also where a date was worked out in brackets between them."""
    return re.compile(_BETWEEN.join(map(re.escape, _WORD.findall(text)[:_OPENING])), re.IGNORECASE)


def conversations_of(name: str, data: Path) -> list[Conversation]:
    """Read the conversations of a set: one kept here, or a public one in the folder of data."""
    own = PATTERNS.parent / f"{name}.jsonl"
    if name in OWN:
        return load_own(name, data)
    return own_sets.spoken(own) if own.is_file() else load(name, data)


def run(patterns: Sequence[Pattern], *, embedders: Iterable[str], data: Path, cache: Path) -> list[Finding]:
    """Store each conversation once for each embedder, and look for the patterns of its questions."""
    names = [name for name in embedders if name != WORDS]
    models = loaded(names, (), cache=cache, threads=2)
    for name, reason in models.missing.items():
        raise SystemExit(f"no embedder {name}: {reason}")
    found: list[Finding] = []
    for name in dict.fromkeys(pattern.set for pattern in patterns):
        wanted = [pattern for pattern in patterns if pattern.set == name]
        by_id = {each.id: each for each in conversations_of(name, data)}
        for conversation in dict.fromkeys(pattern.conversation for pattern in wanted):
            if conversation not in by_id:
                raise SystemExit(f"no conversation {conversation} in {name}")
            asked = [pattern for pattern in wanted if pattern.conversation == conversation]
            for embedder in embedders:
                found += anyio.run(_findings, by_id[conversation], asked, embedder, models.embedders.get(embedder))
    return found


async def _findings(
    conversation: Conversation, patterns: Sequence[Pattern], name: str, embedder: Embedder | None
) -> list[Finding]:
    async with staged(conversation, embedder=embedder) as stage:
        return [await _finding(stage, pattern, name) for pattern in patterns]


async def _finding(stage: Stage, pattern: Pattern, embedder: str) -> Finding:
    last = stage.conversation.turns[-1].at
    stage.clock.time = last if pattern.at is None else max(pattern.at, last)
    texts = {way: await stage.text(way[0], pattern.question, way[1]) for way in WAYS}
    return Finding(
        pattern=pattern,
        embedder=embedder,
        missing={way: pattern.missing(text) for way, text in texts.items()},
        tokens={way: count_tokens(text) for way, text in texts.items()},
    )


def goals(findings: Sequence[Finding]) -> list[Goal]:
    """Compare the block with recall, for each embedder over all sets."""
    lines: list[Goal] = []
    for embedder in dict.fromkeys(finding.embedder for finding in findings):
        of_embedder = [finding for finding in findings if finding.embedder == embedder]
        recall = _count(of_embedder, (RECALL, 2_000))
        for budget, limit in ((2_000, SHARE), (4_000, 1.0)):
            share = _count(of_embedder, (CONTEXT, budget)) / max(1, recall)
            name = f"{embedder}: context({budget:,}) compared with recall(2,000)"
            lines.append(Goal(name=name, value=share, limit=limit))
    return lines


def _count(findings: Iterable[Finding], way: Way) -> int:
    return sum(finding.derivable(way) for finding in findings)


def table(findings: Sequence[Finding]) -> list[str]:
    """Return a table: for each embedder, set and half, how many questions each text answers."""
    heads = [f"{way} {budget:,}" for way, budget in WAYS]
    lines = [f"| embedder | set | half | questions | {' | '.join(heads)} |", f"|{'---|' * (4 + len(WAYS))}"]
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.embedder, finding.pattern.set, finding.pattern.half), []).append(finding)
        groups.setdefault((finding.embedder, "all", finding.pattern.half), []).append(finding)
        groups.setdefault((finding.embedder, "all", "both"), []).append(finding)
    for (embedder, name, half), group in sorted(groups.items(), key=lambda item: (item[0][0], item[0][1] == "all")):
        counts = " | ".join(str(_count(group, way)) for way in WAYS)
        lines.append(f"| {embedder} | {name} | {half} | {len(group)} | {counts} |")
    for embedder in dict.fromkeys(finding.embedder for finding in findings):
        of_embedder = [finding for finding in findings if finding.embedder == embedder]
        means = " | ".join(f"{sum(each.tokens[way] for each in of_embedder) / len(of_embedder):.0f}" for way in WAYS)
        lines.append(f"| {embedder} | tokens on average | | | {means} |")
    return lines


def failures(findings: Sequence[Finding]) -> list[str]:
    """Return a line for each question that recall answers and a block does not, and each that neither does."""
    lines: list[str] = []
    for finding in findings:
        short = [budget for budget in (2_000, 4_000) if not finding.derivable((CONTEXT, budget))]
        if not short and finding.derivable((RECALL, 2_000)):
            continue
        pattern = finding.pattern
        where = [f"context({budget:,})" for budget in short]
        where += [] if finding.derivable((RECALL, 2_000)) else ["recall(2,000)"]
        lost = finding.missing[CONTEXT, short[0]] if short else finding.missing[RECALL, 2_000]
        lines.append(
            f"- {finding.embedder} {pattern.set} {pattern.id} ({pattern.half}, {pattern.category or 'no category'}): "
            f"{pattern.question} Not in {', '.join(where)}: {', '.join(lost)}"
        )
    return lines


def check(
    path: Path | None,
    *,
    embedders: Sequence[str],
    data: Path,
    cache: Path,
    only: Sequence[str] = (),
    first: int | None = None,
) -> int:
    """Print what is derivable from each text, and return 1 if a goal is missed.

    Args:
        path: The file of patterns; None for the evidence of the sets.
        embedders: `words`, or names of embedders.
        data: The folder of the public sets.
        cache: The file that keeps vectors between runs.
        only: Sets to check (default all).
        first: Number of conversations of each set (default all).
    """
    patterns = evidence_patterns(only, data) if path is None else read_patterns(path)
    patterns = [pattern for pattern in patterns if not only or pattern.set in only]
    patterns = _of_first(patterns, first)
    if not patterns:
        raise SystemExit(f"{path or 'evidence'} has no pattern of {', '.join(only) or 'any set'}")
    findings = run(patterns, embedders=embedders, data=data, cache=cache)
    print("\n".join(table(findings)))
    print("\nBy words, cosine is full text. A number after a way is its budget.")
    lost = failures(findings)
    print("\n".join(["", *lost[:_SHOWN], *([f"- and {len(lost) - _SHOWN} more"] if len(lost) > _SHOWN else []), ""]))
    lines = goals(findings)
    print("\n".join(map(str, lines)))
    missed = sum(not goal.reached for goal in lines)
    print(f"derivable: {len(patterns)} questions, {missed} of {len(lines)} goals missed")
    return 1 if missed else 0


def _of_first(patterns: Sequence[Pattern], count: int | None) -> list[Pattern]:
    chosen: dict[str, dict[str, None]] = {}
    for pattern in patterns:
        names = chosen.setdefault(pattern.set, {})
        if count is None or len(names) < count:
            names[pattern.conversation] = None
    return [pattern for pattern in patterns if pattern.conversation in chosen[pattern.set]]
