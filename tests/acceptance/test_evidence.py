"""The labeled claims match their labels, and the benchmark counts the decisions of claim validation."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from benchmarks.evidence import report, run
from benchmarks.evidence_cases import WISHES, Answer, Case, read
from benchmarks.evidence_gate import check
from benchmarks.evidence_readers import report as report_readers

CASES = read()
_UNSPACED = {"zh", "ja"}
_VERDICTS = {"said", "denied", "somebody_elses", "quoted_or_supposed", "no_longer", "unclear"}
_KINDS = {"detail", "event", "decision", "goal", "knowledge", *WISHES}
_STANCES = {"said", "agreed", "reported", "planned"}
_DATE = re.compile(r"\d{4}(-\d\d){0,2}")


def of(condition: Callable[[Case], bool]) -> list[Case]:
    return [case for case in CASES if condition(case)]


def digits(text: str) -> str:
    """Write every digit as ASCII, and leave out what groups them."""
    plain = "".join(str(unicodedata.digit(sign)) if sign.isdigit() else sign for sign in text)
    return re.sub(r"(?<=\d)[.,\s](?=\d)", "", plain)


def said(case: Case) -> str:
    return "\n".join([*(f"{one.speaker}\n{one.text}" for one in case.session), case.owner or ""])


def stands(word: str, text: str, *, language: str) -> bool:
    edge = "" if language in _UNSPACED else r"(?!\w)"
    start = "" if language in _UNSPACED else r"(?<!\w)"
    return re.search(start + re.escape(word) + edge, text, re.IGNORECASE) is not None


def speakers(case: Case) -> set[str]:
    """Return the roles of those whose word proves the claim."""
    roles = {one.number: one.role for one in case.session}
    return {roles[quote.message] for quote in case.claim.quotes if quote.use == "word"}


def test_there_are_over_500_claims_in_ten_languages_about_equally():
    languages = Counter(case.language for case in CASES)
    assert len(CASES) >= 520
    assert len(languages) >= 10
    assert min(languages.values()) >= 0.8 * max(languages.values())
    assert len(of(lambda case: case.sound)) >= 250


def test_every_claim_and_id_is_unique():
    assert not [text for text, count in Counter(case.claim.statement for case in CASES).items() if count > 1]
    assert len({case.id for case in CASES}) == len(CASES)


def test_every_kind_of_case_exists_per_language_and_half():
    kinds = {case.kind for case in CASES}
    assert kinds >= {"plain", "name", "number", "negation", "tense", "third_person", "quotation", "supposition"}
    assert kinds >= {"irony", "correction", "quote", "wish"}
    for language in {case.language for case in CASES}:
        assert {case.kind for case in CASES if case.language == language} == kinds
    for half in ("odd", "even"):
        assert {case.kind for case in CASES if case.half == half} == kinds


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_case_is_well_formed(case: Case):
    numbers = [one.number for one in case.session]
    assert numbers == list(range(1, len(numbers) + 1))
    assert 1 <= len(numbers) <= 4
    assert [one.said_at for one in case.session] == sorted(one.said_at for one in case.session)
    assert all(one.said_at.tzinfo for one in case.session)
    assert all((one.tool is not None) == (one.role == "tool") for one in case.session)
    assert {one.role for one in case.session} <= {"user", "assistant", "tool"}
    assert {quote.message for quote in case.claim.quotes} <= set(numbers)
    assert "word" in {quote.use for quote in case.claim.quotes} <= {"word", "context"}
    assert case.claim.kind in _KINDS
    assert case.claim.stance in _STANCES
    assert case.verdict in _VERDICTS
    assert case.true == (case.verdict == "said")
    assert (case.claim.scope is not None) == (case.claim.kind in WISHES)
    assert all(_DATE.fullmatch(day) for day in (case.claim.happened, case.claim.since, case.claim.until) if day)


def test_a_quote_is_missing_exactly_where_a_case_says_so():
    missing = {case.id for case in CASES if not case.is_quoted}
    assert missing == {case.id for case in of(lambda case: case.kind == "quote" and case.code_must_refuse)}
    assert of(lambda case: case.kind == "quote" and case.sound)


def test_foreign_name_occurs_only_in_the_statement():
    cases = of(lambda case: case.kind == "name")
    assert len(cases) >= 40
    for case in cases:
        assert case.code_must_refuse
        assert case.foreign
        for name in case.foreign:
            assert name in case.claim.statement
            assert not stands(name, said(case), language=case.language), case.id


def test_foreign_number_occurs_only_in_the_statement():
    cases = of(lambda case: case.kind == "number")
    assert len(cases) >= 40
    for case in cases:
        assert case.code_must_refuse
        assert case.foreign
        for number in case.foreign:
            assert number in case.claim.statement
            assert digits(number) not in re.findall(r"\d+", digits(said(case))), case.id


def test_rejected_preference_is_not_said_by_a_person():
    cases = of(lambda case: case.kind == "wish" and case.code_must_refuse)
    assert len(cases) >= 30
    for case in cases:
        assert "user" not in speakers(case), case.id
        assert case.claim.kind in WISHES or speakers(case) == {"tool"}


def test_allowed_claims_need_quotes_and_preferences_need_a_user():
    for case in of(lambda case: not case.code_must_refuse):
        assert case.is_quoted, case.id
        assert case.claim.kind not in WISHES or speakers(case) == {"user"}, case.id
    assert not of(lambda case: case.code_must_refuse and case.violation is None)


def test_sound_claims_cover_all_kinds_and_cite_tools_and_context():
    sound = of(lambda case: case.sound)
    assert {case.claim.kind for case in sound} >= _KINDS - {"goal"}
    assert len([case for case in sound if speakers(case) == {"tool"}]) >= 10
    assert len([case for case in sound if any(quote.use == "context" for quote in case.claim.quotes)]) >= 40


def knows_the_labels(case: Case) -> Answer:
    return Answer(not case.code_must_refuse, reason="label" if case.code_must_refuse else "")


def test_validator_rejects_all_foreign_claims_and_no_true_ones():
    assert report(run(CASES, check))


def test_validator_that_rejects_as_labeled_reaches_the_bar(capsys: pytest.CaptureFixture[str]):
    assert report(run(CASES, knows_the_labels))
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("reached: true let through 1.000")
    assert "names 0 of" in last


@pytest.mark.parametrize("kind", ["names", "numbers", "quotes"])
def test_one_forbidden_claim_misses_the_bar(kind: str, capsys: pytest.CaptureFixture[str]):
    one = next(case for case in CASES if case.violation == kind)
    assert not report(run(CASES, lambda case: Answer(case.id == one.id or not case.code_must_refuse)), show=True)
    shown = capsys.readouterr().out
    assert f"LET THROUGH ({kind}): {one.id}" in shown
    assert f"{kind} 1 of" in shown.splitlines()[-1]


def test_validator_that_rejects_everything_misses_the_bar(capsys: pytest.CaptureFixture[str]):
    assert not report(run(CASES, lambda _: Answer(passed=False, reason="strict")))
    shown = capsys.readouterr().out
    assert f"strict {sum(case.sound for case in CASES if case.kind == 'plain')} |" in shown
    assert shown.splitlines()[-1].startswith("MISSED: true let through 0.000")


def test_halves_follow_the_number_at_the_end_of_an_id():
    assert [replace(CASES[0], id=name).half for name in ("en-007", "x12", "3b")] == ["odd", "even", "odd"]


def test_careless_reader_stores_no_wrong_name_or_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert report_readers(CASES)
    assert "| honest | any words | 317 | 0 | 48 | 0 | 254 | 32 | 0 of 45 | 0 of 46 |" in capsys.readouterr().out

    monkeypatch.setattr("bethink.memory.learning.extraction.judge.UNSAID", ())
    assert not report_readers(CASES)
