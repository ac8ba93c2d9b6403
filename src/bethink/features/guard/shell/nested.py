"""Commands that a program runs from its arguments in a form of its own, and programs whose actions are hidden."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from bethink.features.guard.shell.records import Word
from bethink.features.guard.shell.wrappers import Inner, Wrapper, unwrap
from bethink.features.guard.tables import word_set

_WORDS = Wrapper()
_EXECUTES = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_TASK_RUNNERS = word_set(
    "make gmake just task rake ninja mage invoke inv tox nox ant gulp grunt earthly bazel scons doit mise-run"
)
_INTERPRETERS = frozenset({"source", "."})
_TEXT_VALUES = word_set(
    "-w --warmup -r --runs -m --min-runs -M --max-runs -n --names --name --export-json -p --prepare -s -S --shell -c "
    "--prefix-colors -k --max-processes --kill-others-on-fail"
)
_CALLS = re.compile(
    r"\b(?:system|popen|run|call|check_call|check_output|Popen|exec|execSync|execFileSync|spawnSync|getoutput|"
    r"shell_exec)"
    r"\s*\(\s*(?:([\"'`])(.{1,500}?)\1|\[([^\]]{1,500})\])"
)
_ITEM = re.compile(r"[\"']([^\"']*)[\"']")
_SCRIPT_ENDINGS = (".sh", ".bash", ".zsh", ".command", ".bat", ".ps1")


def nested_commands(program: str, words: Sequence[Word]) -> list[Inner]:
    """Return the commands that a program runs, from its arguments."""
    special = _SPECIAL.get(program)
    if special is not None:
        return list(special(words))
    inner = unwrap(program, words)
    if program == "parallel" and inner is not None:
        return [_parallel(inner)]
    return [] if inner is None else [inner]


def is_opaque(program: str, words: Sequence[Word]) -> bool:
    """Return True if the program runs commands that its arguments do not show."""
    if program in _INTERPRETERS:
        return not any(word.text.endswith(("activate", ".env", "nvm.sh")) for word in words)
    return program in _TASK_RUNNERS or program.endswith(_SCRIPT_ENDINGS)


def _find(words: Sequence[Word]) -> Iterator[Inner]:
    index = 0
    start = words[0].text if words and not words[0].text.startswith(("-", "(", "!")) else "."
    while index < len(words):
        index += 1
        if words[index - 1].text in _EXECUTES:
            end = index
            while end < len(words) and words[end].text not in (";", "+"):
                end += 1
            # "{}" stands for files below the start: a rule about that folder must see it.
            below = Word(text=f"{start.rstrip('/')}/*", is_literal=False)
            inner = tuple(below if word.text == "{}" else word for word in words[index:end])
            yield Inner(words=inner, wrapper=_WORDS)
            index = end


def _fd(words: Sequence[Word]) -> Iterator[Inner]:
    for index, word in enumerate(words):
        if word.text in ("-x", "-X", "--exec", "--exec-batch"):
            yield Inner(words=tuple(words[index + 1 :]), wrapper=_WORDS)
            return


def _trap(words: Sequence[Word]) -> Iterator[Inner]:
    if len(words) > 1 and not words[0].text.startswith("-"):
        yield Inner(text=words[0], wrapper=_WORDS)


def _git(words: Sequence[Word]) -> Iterator[Inner]:
    texts = [word.text for word in words]
    for index, text in enumerate(texts[:-1]):
        value = words[index + 1]
        if text == "-c" and value.text.startswith("alias.") and "=!" in value.text:
            shell_text = value.text.split("=!", 1)[1]
            yield Inner(text=Word(text=shell_text, is_literal=value.is_literal), wrapper=_WORDS)
        elif text == "foreach" and "submodule" in texts[:index]:
            behind = [word for word in words[index + 1 :] if word.text != "--recursive"]
            joined = Word(text=" ".join(word.text for word in behind), is_literal=all(w.is_literal for w in behind))
            yield Inner(text=joined, wrapper=_WORDS)
        elif text in ("-x", "--exec") and "rebase" in texts[:index]:
            yield Inner(text=value, wrapper=_WORDS)
        elif text == "run" and texts[index - 1] == "bisect":
            yield Inner(words=tuple(words[index + 1 :]), wrapper=_WORDS)


def _each_text(words: Sequence[Word]) -> Iterator[Inner]:
    """Yield the arguments that are shell texts of their own: `concurrently "a" "b"`."""
    takes_value = False
    for word in words:
        if not takes_value and not word.text.startswith("-"):
            yield Inner(text=word, wrapper=_WORDS)
        takes_value = word.text in _TEXT_VALUES


def _terminal_commands(words: Sequence[Word]) -> Iterator[Inner]:
    if words and words[0].text in ("send-keys", "send"):
        texts = [word for word in words[1:] if not word.text.startswith("-") and " " in word.text]
        yield from (Inner(text=word, wrapper=_WORDS) for word in texts[:1])
    elif (inner := unwrap("tmux", words)) is not None:
        yield inner


def embedded_commands(words: Sequence[Word]) -> Iterator[Inner]:
    """Yield the shell texts that a program text of another language runs: `os.system("…")`."""
    for option, word in pairwise(words):
        if option.text in ("-c", "-e", "-E", "-r", "--eval", "-pe", "-ne"):
            yield from _in_program(word)
            return


def _in_program(word: Word) -> Iterator[Inner]:
    for match in _CALLS.finditer(word.text[:5_000]):
        if match[2] is not None:
            yield Inner(text=Word(text=match[2]), wrapper=_WORDS)
        else:
            items = [Word(text=item[1]) for item in _ITEM.finditer(match[3])]
            yield Inner(words=tuple(items), wrapper=_WORDS)


def _awk(words: Sequence[Word]) -> Iterator[Inner]:
    yield from (inner for word in words[:3] for inner in _in_program(word))


def _python(words: Sequence[Word]) -> Iterator[Inner]:
    for index, word in enumerate(words):
        if word.text == "-m" or (word.text.startswith("-") and word.text.endswith("m") and len(word.text) == 3):
            yield Inner(words=tuple(words[index + 1 :]), wrapper=_WORDS)
            return
        if not word.text.startswith("-") or word.text == "-c":
            yield from embedded_commands(words)
            return


def _parallel(inner: Inner) -> Inner:
    """Return the command of `parallel` up to its list of arguments; one word is shell text."""
    texts = [word.text for word in inner.words]
    ends = [index for index, text in enumerate(texts) if text in (":::", "::::", ":::+")]
    words = inner.words[: ends[0]] if ends else inner.words
    if len(words) == 1:
        return Inner(text=words[0], wrapper=inner.wrapper)
    return Inner(words=words, wrapper=inner.wrapper)


_SPECIAL: Mapping[str, Callable[[Sequence[Word]], Iterator[Inner]]] = {
    "find": _find,
    "gfind": _find,
    "fd": _fd,
    "fdfind": _fd,
    "trap": _trap,
    "git": _git,
    "hyperfine": _each_text,
    "concurrently": _each_text,
    "tmux": _terminal_commands,
    **dict.fromkeys(("node", "perl", "ruby", "php", "deno"), embedded_commands),
    **dict.fromkeys(("awk", "gawk", "mawk"), _awk),
    "python": _python,
    "pypy": _python,
    "py": _python,
}
