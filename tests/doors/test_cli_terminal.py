"""Output at a terminal: no control characters, color only where it works."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bethink.cli.terminal import OutputLine, has_color, one_line, printable, to_json, write
from tests.doors.cli_kit import Stream, ok, run

pytestmark = pytest.mark.usefixtures("home")

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m [bold red]shout[/] [link=http://x]y[/link] :smile: \u202egnp.exe\r\x08"


def test_hostile_memory_cannot_control_the_terminal() -> None:
    ok("add", HOSTILE, "--conversation", "cli:[red]x:")
    name = ok("recall", "shout")["items"][0]["ref"]

    for words in (
        ["recall", "shout", "--explain"],
        ["show", name],
        ["sessions"],
        ["data", "export"],
        ["recall", "shout", "--json"],
    ):
        for terminal in (False, True):
            done = run(*words, terminal=terminal)
            assert done.code == 0
            bare = _without_colour(done.out + done.err) if terminal else done.out + done.err
            assert not set(bare) & set("\x1b\x07\x9b\x08\r\u202e"), words
            if words[0] != "sessions":
                assert "[bold red]shout[/]" in bare
                assert ":smile:" in bare


def _without_colour(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_hostile_argument_is_escaped_in_errors() -> None:
    for words in (
        ["show", HOSTILE],
        [HOSTILE],
        ["recall", "x", f"--{HOSTILE}"],
        ["doc", "history", HOSTILE],
        ["add", "x", "--space", HOSTILE],
    ):
        done = run(*words)
        assert done.code in (2, 3)
        assert not set(done.out + done.err) & set("\x1b\x07\x9b\x08\r\u202e"), words


@given(st.text())
def test_printable_output_contains_no_control_characters(text: str) -> None:
    printed = printable(text)

    assert all(sign in "\t\n" or (ord(sign) >= 0x20 and not 0x7F <= ord(sign) <= 0x9F) for sign in printed)
    assert not set(printed) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\u200e\u200f")
    assert "\n" not in one_line(text)


@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_json_says_the_same_and_holds_nothing_that_steers(value: object) -> None:
    printed = to_json(value, Stream())

    assert json.loads(printed) == value
    assert printable(printed) == printed


def test_color_is_used_only_at_a_capable_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    coloured, plain, piped = Stream(terminal=True), Stream(terminal=True), Stream()

    write([OutputLine("head", "bold")], coloured)
    write([OutputLine("head", "bold")], piped)
    monkeypatch.setenv("NO_COLOR", "1")
    write([OutputLine("head", "bold")], plain)

    assert "\x1b[1m" in coloured.text()
    assert plain.text() == piped.text() == "head\n"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not has_color(Stream(terminal=True))
