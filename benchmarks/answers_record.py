"""Records every answer in a file of JSON lines, from which a run resumes and anyone can judge again."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from bethink.model.jobs import Usage

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One answer: what was asked, what the reader was given, what it answered, and what the judges say.

    `answer` is None if the reader gave none. `context_hash` identifies the text that the reader was given.
    """

    set: str
    conversation: str
    id: str
    category: str
    question: str
    key: str | None
    rubric: tuple[str, ...] = ()
    needs: str | None = None
    way: str
    budget: int
    embedder: str
    learned: bool = False
    context_hash: str
    context_tokens: int
    answer: str | None
    reader: str
    reader_prompt: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost: int = 0
    """Cost of the answer in millionths of a dollar."""
    verdicts: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    judge: str | None = None
    judge_prompts: str | None = None

    @property
    def key_of_run(self) -> Key:
        """What a later run must have in common, to use this answer."""
        parts = (self.set, self.conversation, self.id, self.way, self.budget, self.embedder, self.learned)
        return (*map(str, parts), self.context_hash, self.reader, self.reader_prompt)

    @property
    def usage(self) -> Usage:
        """The tokens and the cost of the answer."""
        return Usage(1, self.input_tokens, self.output_tokens, self.cost)

    def judged(self, verdicts: Mapping[str, float | None], *, judge: str | None, prompts: str | None) -> "Record":
        """Return the record with other verdicts."""
        return replace(self, verdicts=dict(verdicts), judge=judge, judge_prompts=prompts)


class RecordFile:
    """Records in a file, or only in memory. The last record of an answer is the valid one."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._records = {record.key_of_run: record for record in ([] if path is None else read_records(path))}
        if path is not None and path.is_file():
            content = path.read_bytes()
            if not content.endswith(b"\n"):  # the line that a crash cut off would swallow the next one
                path.write_bytes(content[: content.rfind(b"\n") + 1])

    def find(self, key: Key) -> Record | None:
        """Return the record of an answer with a verdict or without."""
        return self._records.get(key)

    def add(self, record: Record) -> None:
        """Append a record, at once."""
        self._records[record.key_of_run] = record
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line_of(record) + "\n")


def digest(text: str) -> str:
    """Return the hash of a text that a reader was given."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def line_of(record: Record) -> str:
    """Return a record as one line of JSON."""
    return json.dumps(asdict(record), ensure_ascii=False)


def read_records(path: Path) -> list[Record]:
    """Read the records of a file; none if there is no file. A last line that was cut off by a crash is skipped.

    Raises `SystemExit` that names any other line that is no record.
    """
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    records: list[Record] = []
    for number, line in enumerate(lines, 1):
        try:
            records.append(_record(json.loads(line)))
        except (ValueError, KeyError, TypeError) as error:
            if number == len(lines):
                break
            raise SystemExit(f"{path}:{number} is not a record: {error}") from error
    return list({record.key_of_run: record for record in records}.values())


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write records to a file, and replace it if it exists."""
    path.write_text("".join(f"{line_of(record)}\n" for record in records), encoding="utf-8")


def _record(values: Mapping[str, Any]) -> Record:
    names = {each.name for each in fields(Record)}
    known: dict[str, Any] = {name: value for name, value in values.items() if name in names}
    known["rubric"] = tuple(known["rubric"])
    return Record(**known)
