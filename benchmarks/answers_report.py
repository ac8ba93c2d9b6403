"""Prints accuracy next to tokens and cost, by way and by category, from recorded answers."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from benchmarks.answers_record import Record
from benchmarks.answers_run import WAYS
from bethink.model.jobs import Usage

_JUDGES = ("protocol", "strict", "lenient", "exact", "f1")


def score(record: Record, judge: str, by_id: Mapping[tuple[str, str], Record]) -> float:
    """Return the score of an answer; 0 without an answer or a verdict.

    An answer that needs another one to be right counts only if that one is.
    """
    value = record.verdicts.get(judge) or 0.0
    if record.needs is None:
        return value
    needed = by_id.get((record.way, record.needs))
    return value if needed is not None and (needed.verdicts.get(judge) or 0.0) >= 1 else 0.0


def rate(records: Sequence[Record], way: str, judge: str, *, category: str | None = None) -> float:
    """Return the mean score of the answers of one way; questions about an earlier state only serve the others."""
    by_id = {(record.way, record.id): record for record in records}
    scores = [
        score(record, judge, by_id)
        for record in records
        if record.way == way and _is_counted(record) and category in (None, record.category)
    ]
    return fmean(scores) if scores else 0.0


def judges_of(records: Sequence[Record]) -> list[str]:
    """Return the judges that gave a verdict."""
    return [judge for judge in _JUDGES if any(judge in record.verdicts for record in records)]


def table(records: Sequence[Record]) -> list[str]:
    """Return the tables of one set: by way, and by category."""
    ways = [way for way in WAYS if any(record.way == way for record in records)]
    judges = judges_of(records)
    lines = [
        f"| way | {' | '.join(judges)} | tokens of context | tokens in | tokens out | dollars |",
        f"|{'---|' * (len(judges) + 5)}",
    ]
    for way in ways:
        rates = " | ".join(f"{rate(records, way, judge):.3f}" for judge in judges)
        of_way = [record for record in records if record.way == way]
        usage = sum((record.usage for record in of_way), Usage())
        lines.append(f"| {way} | {rates} | {fmean(each.context_tokens for each in of_way):.0f} | {bill(usage)} |")
    if not judges:
        return lines
    categories = sorted({record.category for record in records if _is_counted(record)})
    lines += ["", f"By category, {judges[0]}:", "", f"| category | questions | {' | '.join(ways)} |"]
    lines.append(f"|{'---|' * (len(ways) + 2)}")
    for category in categories:
        count = count_questions(records, category=category)
        rates = " | ".join(f"{rate(records, way, judges[0], category=category):.3f}" for way in ways)
        lines.append(f"| {category} | {count} | {rates} |")
    return lines


def count_questions(records: Sequence[Record], *, category: str | None = None) -> int:
    """Return how many questions count."""
    counted = (record for record in records if _is_counted(record) and category in (None, record.category))
    return len({(record.conversation, record.id) for record in counted})


def silent(records: Sequence[Record]) -> str:
    """Return how many answers and verdicts are missing."""
    answers = sum(record.answer is None for record in records)
    verdicts = sum(value is None for record in records for value in record.verdicts.values())
    return f"{answers} answers never came and {verdicts} verdicts were none; both count as wrong."


def bill(usage: Usage) -> str:
    """Return tokens in, tokens out and dollars as cells."""
    return f"{usage.input_tokens} | {usage.output_tokens} | {usage.cost / 1_000_000:.4f}"


def _is_counted(record: Record) -> bool:
    return not record.category.startswith("before ")
