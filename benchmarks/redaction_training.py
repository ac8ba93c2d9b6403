"""Train the redactor's table of weights, `src/bethink/providers/redaction/weights.json`.

Install scikit-learn first. The data is in this repository and in the packages of `requirements-dev.txt`, so that with
these packages and this seed everyone gets the same table. `--without late9,late10` leaves out sets, to measure on them.
"""

import argparse
import hashlib
import json
import random
import re
import sysconfig
import time
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from benchmarks.redaction_corpus import Sample, samples
from benchmarks.redaction_frames import Values, confided, harmless, sentences, settings, tokens
from benchmarks.redaction_strangers import strangers
from bethink.providers.redaction.features import FEATURES
from bethink.providers.redaction.judge import judged_values, values_near
from bethink.providers.redaction.marks import find_marks
from bethink.providers.redaction.values import is_no_secret

_DATA = Path(__file__).parent / "data"
_TABLE = Path(__file__).parent.parent / "src/bethink/providers/redaction/weights.json"
SETS = ("tests", "tune", "held", "late", *(f"late{number}" for number in range(2, 11)))
"""Sets to train on. The newer ones are for measuring only."""
_SEED = 5
_SENTENCES, _CONFIDED, _SETTINGS, _TOKENS, _HARMLESS = 8000, 12000, 3000, 1500, 5000
_COPIES = 4
"""Copies of each sample with another secret, so that the model cannot learn the secrets by heart."""
_FILES = 4000
_SUFFIXES = {
    ".py",
    ".pyi",
    ".md",
    ".json",
    ".yaml",
    ".yml",
    ".toml",
    ".cfg",
    ".sh",
    ".js",
    ".rst",
    ".txt",
    ".html",
    ".sql",
    ".rs",
}
_SKIPPED = re.compile(
    r"test|redact|secret|bethink|detect|sklearn|scikit|scipy|joblib|locale|ahocorasick|narwhals|cloudpickle|threadpoolctl"
)
"""Paths that are not read: with made-up secrets, of the training itself, or to measure on."""
_STRENGTH = 3.0
_MIN_COUNT, _MIN_WEIGHT, _MIN_WORD_WEIGHT = 2, 0.13, 0.4
_WORDS = ("value", "first word", "last word", "last4")
"""Features that are words, which are many. Their small weights are left out, so that the table stays small."""
PROSE, CODE, PLAIN = 0.9, 1.3, -1.1
"""What a value must score in a line of prose and of code, and plain words in addition."""


class Examples:
    """Values with their features, their label and their weight."""

    def __init__(self) -> None:
        self.rows: list[array[int]] = []
        self.labels: list[int] = []
        self.weights: list[float] = []
        self.names: dict[str, int] = {}

    def add(self, text: str, secret: str | None, weight: float) -> None:
        """Add the values of a text. Those that overlap with its secret are secrets."""
        start = text.find(secret) if secret else -1
        end = start + len(secret or "")
        for left, right, atoms in features_in(text):
            self.rows.append(
                array("l", sorted({self.names.setdefault(name, len(self.names)) for name in _names(atoms)}))
            )
            self.labels.append(int(left < end and right > start))
            self.weights.append(weight)


def features_in(text: str) -> Iterator[tuple[int, int, list[str]]]:
    """Return the values of a text that the model judges, with their features."""
    lowered = text.lower()
    if len(lowered) != len(text):
        return
    for _, value, _, atoms in judged_values(values_near(text, lowered, find_marks(lowered).stems)):
        start, end = value.start - 1, value.end - 1
        if not is_no_secret(text[start:end]):
            yield start, end, atoms


def _names(atoms: Iterable[str]) -> Iterator[str]:
    yield from (f"{feature}\t{atom}" for feature, atom in zip(FEATURES, atoms, strict=True) if atom)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        values = cast("Iterable[Any]", value.values() if isinstance(value, dict) else value)
        for inner in values:
            yield from _strings(inner)


def conversations() -> Iterator[str]:
    """Return the texts of the conversations in `benchmarks/data`, which have no secrets."""
    for path in sorted(_DATA.rglob("*.jsonl")):
        if path.name not in ("redaction.jsonl", "redaction_frames.jsonl", "everyday2.jsonl"):
            yield from (text for line in path.read_text("utf-8").splitlines() for text in _strings(json.loads(line)))


def packages(count: int) -> Iterator[str]:
    """Return pieces of installed files: code, manuals and settings."""
    generator = random.Random(_SEED)
    root = Path(sysconfig.get_path("purelib"))
    paths = [
        path
        for path in sorted(root.rglob("*"))
        if path.suffix in _SUFFIXES and not _SKIPPED.search(str(path.relative_to(root)))
    ]
    folders: Counter[str] = Counter()
    generator.shuffle(paths)
    for path in paths:
        folder = path.relative_to(root).parts[0]
        if folders[folder] >= 120 or not count:
            continue
        folders[folder] += 1
        count -= 1
        with path.open(encoding="utf-8", errors="replace") as file:
            text = file.read(60_000)
        start = 0 if generator.random() < 0.25 else generator.randrange(max(1, len(text) - 2500))
        yield text[start : start + 2500]


def _vocabulary() -> list[str]:
    words = {word for text in conversations() for word in re.findall(r"[^\W\d_]{4,9}", text.lower()) if word < "\u0500"}
    return sorted(words)


def examples(sets: Iterable[str], more: Iterable[str] = ()) -> Examples:
    """Collect what the model learns from."""
    result = Examples()
    vocabulary = _vocabulary()
    values = Values(random.Random(_SEED), vocabulary)
    for half in sets:
        for family, corpus in strangers(half).items():
            for sample in corpus if family != "personal" else ():
                _add_stranger(result, family, sample, values)
    made = (
        *((sample, 0.4) for sample in sentences(_SENTENCES, _SEED, vocabulary)),
        *((sample, 1.2 if sample.kind == "pins" else 0.8) for sample in confided(_CONFIDED, _SEED, vocabulary)),
        *((sample, 0.3) for sample in settings(_SETTINGS, _SEED, vocabulary)),
        *((sample, 0.3) for sample in tokens(_TOKENS, _SEED, vocabulary)),
        *((sample, 1) for sample in harmless(_HARMLESS, _SEED, vocabulary)),
    )
    for sample, weight in made:
        result.add(sample.text, sample.secret, weight)
    for seed in (21, 22):
        for sample in samples(seed):
            result.add(sample.text, sample.secret, 0.3)
    for text in (*conversations(), *packages(_FILES), *more):
        result.add(text, None, 0.5)
    return result


def _add_stranger(result: Examples, family: str, sample: Sample, values: Values) -> None:
    secret = sample.secret
    if secret is None:
        result.add(sample.text, None, 4)
    else:
        result.add(sample.text, secret, 1)
        if family in ("prose", "code") and not re.search(r"\s", secret):
            for _ in range(_COPIES):
                other = values.code() if secret.isdigit() else values.password()
                result.add(sample.text.replace(secret, other), other, 1.2 / _COPIES)


def fit(data: Examples) -> dict[str, dict[str, float]]:
    """Fit a logistic regression, and return its weights by feature."""
    numpy: Any = import_module("numpy")  # only training needs these
    sparse: Any = import_module("scipy.sparse")
    linear_model: Any = import_module("sklearn.linear_model")
    counts = Counter(name for row in data.rows for name in row)
    names = [name for name, number in data.names.items() if counts[number] >= _MIN_COUNT]
    columns = {data.names[name]: column for column, name in enumerate(sorted(names))}
    indexes, ends = array("l"), array("l", [0])
    for row in data.rows:
        indexes.extend(sorted(columns[name] for name in row if name in columns))
        ends.append(len(indexes))
    shape = (len(data.rows), len(columns))
    matrix: Any = sparse.csr_matrix(
        (numpy.ones(len(indexes), numpy.float32), numpy.asarray(indexes), numpy.asarray(ends)), shape=shape
    )
    model: Any = linear_model.LogisticRegression(
        C=_STRENGTH, solver="liblinear", max_iter=300, tol=1e-3, random_state=_SEED
    )
    model.fit(matrix, numpy.asarray(data.labels), sample_weight=numpy.asarray(data.weights))
    result: dict[str, dict[str, float]] = {
        "model": {"bias": round(float(model.intercept_[0]), 2), "prose": PROSE, "code": CODE, "plain": PLAIN},
        **{feature: {} for feature in FEATURES},
    }
    for name, weight in zip(sorted(names), model.coef_[0], strict=True):
        feature, _, atom = name.partition("\t")
        if abs(weight) >= (_MIN_WORD_WEIGHT if feature in _WORDS else _MIN_WEIGHT):
            result[feature][atom] = round(float(weight), 2)
    return result


def written(table: dict[str, dict[str, float]]) -> str:
    """Return a table as text: a feature a line."""
    lines = (
        f"{json.dumps(feature)}:{json.dumps(weights, ensure_ascii=False, separators=(',', ':'))}"
        for feature, weights in table.items()
    )
    return "{" + ",\n".join(lines) + "}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without", default="", help="sets to leave out, separated by commas")
    parser.add_argument("--more", type=Path, help="a JSON list of more texts without secrets")
    parser.add_argument("--to", type=Path, default=_TABLE, help="file of the table")
    options = parser.parse_args()
    started = time.process_time()
    more = cast("list[str]", json.loads(options.more.read_text("utf-8"))) if options.more else []
    data = examples([half for half in SETS if half not in options.without.split(",")], more)
    print(f"{len(data.rows):,} values, {sum(data.labels):,} secrets, {time.process_time() - started:.0f} s")
    text = written(fit(data))
    options.to.write_text(text, "utf-8")
    size = len(text.encode())
    print(f"{size:,} bytes, {text.count(':'):,} weights, SHA-256 {hashlib.sha256(text.encode()).hexdigest()}")
    print(f"{time.process_time() - started:.0f} s of CPU")


if __name__ == "__main__":
    main()
