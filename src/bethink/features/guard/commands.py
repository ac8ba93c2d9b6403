"""Compares simple commands with families of commands: subcommands, flags in any form, and values of options."""

from collections.abc import Iterable, Mapping

from bethink.features.guard.check import CommandPattern
from bethink.features.guard.shell import ShellCommand
from bethink.features.guard.tables import word_set

_GLOBAL_VALUES: Mapping[str, frozenset[str]] = {
    "git": frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"}),
    "docker": frozenset({"-H", "--host", "-c", "--context", "--config", "-l", "--log-level", "-f", "--file", "-p"}),
    "podman": frozenset({"--connection", "-c", "--url"}),
    "kubectl": frozenset({"-n", "--namespace", "--context", "--cluster", "--kubeconfig", "-s", "--server", "--user"}),
    "helm": frozenset({"-n", "--namespace", "--kube-context", "--kubeconfig"}),
    "npm": frozenset({"--prefix", "-C", "-w", "--workspace", "--loglevel"}),
    "pnpm": frozenset({"-C", "--dir", "-F", "--filter"}),
    "yarn": frozenset({"--cwd"}),
    "cargo": frozenset({"-C", "--manifest-path", "--color", "--config", "-Z"}),
    "uv": frozenset({"--directory", "--project", "--color", "--config-file"}),
    "poetry": frozenset({"-C", "--directory", "-P", "--project"}),
    "make": frozenset({"-C", "-f", "-j", "-I", "--directory", "--file"}),
    "just": frozenset({"-f", "--justfile", "-d", "--working-directory", "--set"}),
    "go": frozenset({"-C"}),
    "terraform": frozenset[str](),
    "gh": frozenset({"-R", "--repo"}),
    "aws": frozenset({"--profile", "--region", "--output", "--endpoint-url"}),
    "psql": frozenset({"-h", "-U", "-d", "-p"}),
}
"""Options with a value that may stand in front of a subcommand."""

_TEXT_OPTIONS: Mapping[tuple[str, str], frozenset[str]] = {
    ("git", "commit"): word_set(
        "-m --message -F --file -C --reuse-message -c --reedit-message -t --template --author --date --trailer --fixup "
        "--squash --cleanup"
    ),
    ("git", "tag"): word_set("-m --message -F --file -u --local-user"),
    ("git", "merge"): word_set("-m -F -s --strategy -X --strategy-option --message --file"),
    ("git", "stash"): word_set("-m --message"),
    ("git", "log"): word_set("--grep --author --since --until -S -G --format --pretty -n"),
    ("git", "push"): word_set("-o --push-option --receive-pack --repo"),
    ("gh", "pr"): word_set("-t --title -b --body -F --body-file -H --head -B --base -l --label -r --reviewer"),
    ("gh", "issue"): word_set("-t --title -b --body -F --body-file -l --label"),
}
"""Options of subcommands whose value is free text, which is never a flag."""

_SHORT: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("git", "commit"): {
        "n": "--no-verify", "s": "--signoff", "a": "--all", "S": "--gpg-sign", "q": "--quiet", "v": "--verbose",
        "e": "--edit", "p": "--patch",
    },
    ("git", "push"): {"f": "--force", "d": "--delete", "n": "--dry-run", "u": "--set-upstream"},
    ("git", "branch"): {"d": "--delete", "f": "--force"},
    ("git", "add"): {"A": "--all", "f": "--force", "p": "--patch"},
    ("git", "clean"): {"f": "--force", "n": "--dry-run"},
    ("git", "pull"): {"r": "--rebase"},
    ("git", "merge"): {},
    ("helm", ""): {"n": "--namespace"},
    ("kubectl", ""): {"n": "--namespace"},
    ("docker", ""): {"f": "--force"},
    ("rm", ""): {"r": "--recursive", "R": "--recursive", "f": "--force"},
    ("cargo", ""): {"r": "--release", "p": "--package"},
    ("pytest", ""): {"x": "--exitfirst", "v": "--verbose", "q": "--quiet"},
    ("npm", ""): {"g": "--global", "D": "--save-dev", "E": "--save-exact", "f": "--force"},
}  # fmt: skip
"""Long forms of short flags."""

_SYNONYMS: Mapping[tuple[str, str], frozenset[str]] = {
    ("npm", "install"): word_set("i in ins inst insta add isntall"),
    ("npm", "test"): word_set("t tst"),
    ("npm", "ci"): frozenset({"clean-install", "install-clean"}),
    ("npm", "run"): frozenset({"run-script"}),
    ("pnpm", "install"): frozenset({"i"}),
    ("pnpm", "test"): frozenset({"t"}),
    ("bun", "install"): frozenset({"i"}),
    ("cargo", "build"): frozenset({"b"}),
    ("cargo", "test"): frozenset({"t", "nextest"}),
    ("cargo", "run"): frozenset({"r"}),
    ("kubectl", "delete"): frozenset[str](),
}

_HELP = frozenset({"--help", "--version", "-h", "-V"})
_MIXED_LONG = word_set("go terraform tofu find java javac gcc clang ffmpeg openssl")
"""Programs whose long flags start with one dash."""


def matches(pattern: CommandPattern, command: ShellCommand) -> bool:
    """Return True if a command belongs to a family: same program, subcommand, and all flags."""
    if command.program != pattern.program and not _is_versioned(command.program, pattern.program):
        return False
    return has_words(pattern, command) and all(_has_named_flag(command, flag) for flag in pattern.flags)


def _has_named_flag(command: ShellCommand, flag: str) -> bool:
    """Return True if a command has a flag; `-rf` stands for `-r` and `-f` in any form."""
    is_cluster = len(flag) > 2 and flag[0] == "-" and flag[1:].isalpha() and command.program not in _MIXED_LONG
    if is_cluster:
        return all(has_flag(command, (f"-{letter}",)) for letter in flag[1:])
    return has_flag(command, (flag,))


def matches_any(patterns: Iterable[CommandPattern], command: ShellCommand) -> CommandPattern | None:
    """Return the first family that a command belongs to."""
    return next((pattern for pattern in patterns if matches(pattern, command)), None)


def is_help(command: ShellCommand) -> bool:
    """Return True if the command only prints help or a version."""
    texts = command.texts
    return any(text in ("--help", "--version") for text in texts) or texts in (
        ("help",),
        ("version",),
        ("-h",),
        ("-V",),
    )


def positionals(command: ShellCommand) -> list[str]:
    """Return the arguments that are neither options nor values of global options and texts."""
    values = _GLOBAL_VALUES.get(command.program, frozenset[str]())
    result: list[str] = []
    texts, index, is_open = command.texts, 0, True
    while index < len(texts):
        text = texts[index]
        if is_open and text == "--":
            is_open = False
        elif is_open and text.startswith("-") and len(text) > 1:
            options = values if not result else _text_options(command.program, result[0])
            index += 1 if text in options or _takes_text(command.program, result, text) else 0
        else:
            result.append(text)
        index += 1
    return result


def subcommand(command: ShellCommand) -> str:
    """Return the first word behind the global options, such as `push` of `git -C x push`."""
    words = positionals(command)
    return words[0] if words else ""


def has_words(pattern: CommandPattern, command: ShellCommand) -> bool:
    """Return True if the subcommand words of a family come first."""
    words = positionals(command)
    if len(words) < len(pattern.words):
        return False
    for index, expected in enumerate(pattern.words):
        others = _SYNONYMS.get((pattern.program, expected), frozenset[str]())
        if words[index] != expected and words[index] not in others:
            return False
    return True


def flags_of(command: ShellCommand) -> list[str]:
    """Return the flags of a command, with single letters in their long form and without values of text options."""
    first = subcommand(command)
    short = _SHORT.get((command.program, first)) or _SHORT.get((command.program, "")) or {}
    options = _text_options(command.program, first)
    result: list[str] = []
    texts, index = command.texts, 0
    while index < len(texts):
        text = texts[index]
        if text == "--":
            break
        if text.startswith("--") or (text.startswith("-") and command.program in _MIXED_LONG):
            result.append(text)
            index += 1 if text in options else 0
        elif text.startswith("-") and len(text) > 1:
            letters, takes_value = _letters(text, options)
            result.extend(short.get(letter, f"-{letter}") for letter in letters)
            result.append(text)
            index += 1 if takes_value else 0
        index += 1
    return result


def has_flag(command: ShellCommand, names: Iterable[str]) -> bool:
    """Return True if a command has one of the flags, in its short, long or `--flag=value` form."""
    first = subcommand(command)
    short = _SHORT.get((command.program, first)) or _SHORT.get((command.program, "")) or {}
    expected = {short.get(name[1:], name) if len(name) == 2 else name for name in names}
    return any(flag.split("=", 1)[0] in expected for flag in flags_of(command))


def flag_value(command: ShellCommand, name: str) -> str | None:
    """Return the value of a flag, or None if the flag is missing."""
    texts = command.texts
    short = _SHORT.get((command.program, subcommand(command))) or _SHORT.get((command.program, "")) or {}
    names = {name, *(f"-{letter}" for letter, long in short.items() if long == name)}
    for index, text in enumerate(texts):
        head, separator, value = text.partition("=")
        if head in names:
            return value if separator else (texts[index + 1] if index + 1 < len(texts) else "")
    return None


def _is_versioned(program: str, name: str) -> bool:
    """Return True for `pip3.11` of `pip`, and not for `base64` of `base`."""
    tail = program.removeprefix(name)
    return (
        tail != program and tail.lstrip("-").replace(".", "").isdigit() and name not in ("base", "md", "sha", "python")
    )


def _text_options(program: str, first: str) -> frozenset[str]:
    return _TEXT_OPTIONS.get((program, first), frozenset[str]())


def _takes_text(program: str, words: list[str], text: str) -> bool:
    """Return True for a cluster such as `-am` whose last letter takes a text."""
    if not words or text.startswith("--"):
        return False
    return _letters(text, _text_options(program, words[0]))[1]


def _letters(text: str, options: frozenset[str]) -> tuple[str, bool]:
    """Return the letters of a cluster up to one that takes a value, and whether the value is the next word."""
    letters = ""
    for index, letter in enumerate(text[1:], 1):
        letters += letter
        if f"-{letter}" in options:
            return letters, index == len(text) - 1
    return letters, False
