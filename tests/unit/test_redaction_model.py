"""The table of the redactor's model."""

import hashlib
from pathlib import Path

from bethink.providers.redaction.features import FEATURES, line_at, shape_of
from bethink.providers.redaction.judge import MODEL
from bethink.providers.redaction.marks import find_marks
from bethink.providers.redaction.stems import STEMS

ROOT = Path(__file__).parent.parent.parent
TABLE = ROOT / "src/bethink/providers/redaction/weights.json"


def test_table_is_small_and_the_documented_one() -> None:
    data = TABLE.read_bytes()

    assert len(data) <= 300_000
    assert hashlib.sha256(data).hexdigest() in (ROOT / "docs/explanation/trust.md").read_text("utf-8")


def test_each_feature_has_weights() -> None:
    assert len(MODEL.tables) == len(FEATURES)
    assert [name for name, table in zip(FEATURES, MODEL.tables, strict=True) if not table] == []


def test_score_adds_the_weights_of_known_features() -> None:
    stem, weight = next(iter(MODEL.tables[FEATURES.index("stem")].items()))
    atoms = [stem if name == "stem" else "never seen" for name in FEATURES]

    assert MODEL.score(atoms) == MODEL.bias + weight


def test_shape_joins_equal_classes() -> None:
    assert shape_of("Wombat!Express7") == "Aa!Aa0"
    assert shape_of("парольЁ1") == "aA0"


def test_line_ends_at_line_breaks() -> None:
    line = line_at("\nhello\nis it x = 1?\nbye\n", 13, 14)

    assert (line.start, line.style, line.is_question) == (7, "c", True)


def test_marks_are_found_by_kind_despite_surrogates() -> None:
    marks = find_marks("\ud800 password ghp_ mysql -pab")

    assert [STEMS[number].text for number, _, _ in marks.stems] == ["passw", "mysql", " -p"]
    assert len(marks.hints) == 1
    assert marks.commands
