"""Statements are read into checks: shape, programs, paths, limits. Other sentences bind nothing."""

from pathlib import Path

import pytest

from bethink.features.guard.check import CommandPattern, GuardCheck, UserStatement
from bethink.features.guard.read import read_statement
from bethink.features.guard.sentences.binding import binding_of, end_of
from bethink.features.guard.sentences.mentions import find_mentions
from bethink.features.guard.sentences.numbers import limit_of

_DATA = Path(__file__).parent / "data"
_LINES = (_DATA / "statements.txt").read_text(encoding="utf-8").splitlines()
_BINDINGS = (_DATA / "bindings.txt").read_text(encoding="utf-8").splitlines()


def _statement(text: str, **fields: str) -> UserStatement:
    return UserStatement(id="s", who=fields.pop("who", "user"), text=text, at=fields.pop("at", "2026-05-01T08:00:00Z"))


def _check(text: str) -> GuardCheck:
    check = read_statement(_statement(text)).check
    assert check is not None
    return check


@pytest.mark.parametrize("line", _LINES)
def test_statement_has_the_expected_shape(line: str) -> None:
    expected, _, text = line.partition("|")
    reading = read_statement(_statement(text))

    assert (reading.shape if reading.binds == "standing" else "none") == expected


@pytest.mark.parametrize("line", _BINDINGS)
def test_statement_binds_as_expected(line: str) -> None:
    expected, _, text = line.partition("|")

    assert read_statement(_statement(text)).binds == expected


@pytest.mark.parametrize(
    ("text", "good", "bad"),
    [
        ("Use fd instead of find.", ["fd"], ["find"]),
        ("I prefer pnpm to yarn.", ["pnpm"], ["yarn"]),
        ("Build with bazel, never with make.", ["bazel"], ["make"]),
        ("Kein curl, nimm xh.", ["xh"], ["curl"]),
        ("Nada de `docker run`: usa `podman run`.", ["podman run"], ["docker run"]),
        ("Call newtool, never docker.", ["newtool"], ["docker"]),
    ],
)
def test_programs_have_a_polarity(text: str, good: list[str], bad: list[str]) -> None:
    check = _check(text)

    assert ([str(p) for p in check.good], [str(p) for p in check.bad]) == (good, bad)


def test_flag_value_and_subcommand_are_read() -> None:
    check = _check("helm upgrade only with --namespace test, please.")

    assert check.good == (CommandPattern(program="helm", words=("upgrade",)),)
    assert (check.flags, check.value) == (("--namespace",), "test")


def test_exception_of_a_path_is_read() -> None:
    check = _check("Never edit docs/ except docs/notes/.")

    assert (check.paths, check.excluded) == (("docs/",), ("docs/notes/",))


@pytest.mark.parametrize("who", ["tool:Read", "assistant", "document", ""])
def test_only_people_can_bind(who: str) -> None:
    assert binding_of(_statement("Never use docker.", who=who))[0] == "none"


@pytest.mark.parametrize(
    ("text", "binds"),
    [
        ("Never use docker. Understood?", "standing"),
        ("Could you please never use docker?", "standing"),
        ("Can you always use podman?", "standing"),
        ("This time, use docker.", "once"),
        ("Vorerst kein docker.", "once"),
        ("Por ahora no uses docker.", "once"),
        ("From now on use podman.", "standing"),
        ("Don't forget to use podman.", "standing"),
        ("Forget the docker rule: docker is allowed again.", "withdraws"),
        ("Docker ist wieder erlaubt.", "withdraws"),
        ("Ya puedes usar docker.", "withdraws"),
    ],
)
def test_binding_follows_the_wording(text: str, binds: str) -> None:
    assert binding_of(_statement(text))[0] == binds


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("Until Monday no deploys.", "2026-05-04"),
        ("Bis Freitag kein Deploy.", "2026-05-08"),
        ("Hasta mañana no uses docker.", "2026-05-02"),
        ("No deploys until 2026-07-01.", "2026-07-01"),
        ("No deploys for now.", ""),
    ],
)
def test_end_of_a_one_off_is_a_date(text: str, end: str) -> None:
    assert end_of(_statement(text)) == end


@pytest.mark.parametrize(
    ("text", "unit", "limit"),
    [
        ("At most four files per commit.", "files", 4),
        ("Answers under 50 words.", "words", 49),
        ("Höchstens zwölf Zeilen.", "lines", 12),
        ("No file over 80 lines.", "lines", 80),
        ("No más de tres preguntas.", "questions", 3),
        ("Many files.", "files", None),
    ],
)
def test_limits_are_read(text: str, unit: str, limit: int | None) -> None:
    assert limit_of(text, unit) == limit


def test_names_in_prose_are_no_programs() -> None:
    assert [m.text for m in find_mentions("Just make sure to find the time and go on.")] == []


def test_repeated_words_are_read_in_bounded_time() -> None:
    assert read_statement(_statement("never use " * 190)).binds in ("standing", "none")
    assert read_statement(_statement("never use docker. " * 5_000)).binds == "none"
