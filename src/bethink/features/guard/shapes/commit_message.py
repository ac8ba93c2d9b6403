"""commit-message: the form of commit messages."""

import re
from collections.abc import Callable, Mapping

from bethink.features.guard.acts import performs
from bethink.features.guard.check import BREACHED, OBEYED, UNKNOWN, GuardCheck, GuardVerdict
from bethink.features.guard.commands import has_flag
from bethink.features.guard.events import COMMAND
from bethink.features.guard.languages import guess_language
from bethink.features.guard.sentences import merge
from bethink.features.guard.sentences.mentions import has, quoted_phrases
from bethink.features.guard.sentences.numbers import limit_of
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check
from bethink.features.guard.shell import ShellCommand

_COMMIT = re.compile(r"\bcommits?\b|\bcommit-\w+|\bcommitnachricht\w*|\bconfirmaciones\b", re.IGNORECASE)
_CONVENTIONAL = re.compile(r"^(?:feat|fix|docs|style|refactor|perf|test|build|ci|chore|revert)(?:\([^)\n]+\))?!?: \S")
_EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u2b50]|^:[a-z_]+:")
_CO_AUTHOR = re.compile(r"^\s*co-authored-by:", re.IGNORECASE | re.MULTILINE)
_SIGNED = re.compile(r"^\s*signed-off-by:", re.IGNORECASE | re.MULTILINE)
_TICKET = re.compile(r"\b[A-Z][A-Z0-9]+-\d+\b|#\d+")
_LANGUAGES = {word: str(code) for word, code in merge("LANGUAGES").items()}
_NAMES = re.compile(r"\b(Claude|Codex|Copilot|ChatGPT|OpenAI|Anthropic|Cursor|AI|KI|IA)\b")


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for a message format, sign-offs, trailers and similar rules."""
    text = sentence.text
    if re.search(r"\bconventional[- ]commits?\b", text, re.IGNORECASE):
        return make_check("commit-message", sentence, value="conventional")
    if has("co_author", text):
        return make_check("commit-message", sentence, value="co-author") if has("negation", text) else None
    if not _COMMIT.search(text):
        return None
    value, limit, phrases = _form(sentence)
    if not value or sentence.of_kind("path", "program"):
        return None
    return make_check("commit-message", sentence, value=value, limit=limit, phrases=phrases)


def _form(sentence: RuleSentence) -> tuple[str, int | None, tuple[str, ...]]:
    text = sentence.text
    flags = {m.text for m in sentence.of_kind("flag")}
    is_ban = has("negation", text)
    if not is_ban and ({"-S", "--gpg-sign"} & flags or has("gpg", text)):
        return "gpg", None, ()
    if not is_ban and ({"-s", "--signoff"} & flags or has("sign_off", text)):
        return "sign-off", None, ()
    if is_ban and has("emoji", text):
        return "emoji", None, ()
    limit = limit_of(text, "characters")
    if limit is not None:
        return "length", limit, ()
    languages = [code for word, code in _LANGUAGES.items() if re.search(rf"\b{word}\b", text, re.IGNORECASE)]
    if languages and has("message", text):
        return f"language:{languages[0]}", None, ()
    names = tuple(match[1] for match in _NAMES.finditer(text)) or quoted_phrases(text)
    if is_ban and names and has("message", text):
        return "phrase", None, names
    if not is_ban and has("ticket", text) and re.search(r"[A-Z]{2,}-\d+|number|nummer|número|\bid\b", text):
        return "ticket", None, ()
    return "", None, ()


def message_of(command: ShellCommand) -> str | None:
    """Return the message of `git commit`, None if it is in a file, and an empty text if there is none."""
    parts: list[str] = []
    texts, words = command.texts, command.arguments
    for index, text in enumerate(texts):
        following = words[index + 1] if index + 1 < len(texts) else None
        if text.startswith("--message="):
            parts.append(text.removeprefix("--message="))
        elif text == "--message" or re.fullmatch(r"-[a-zA-Z]*m", text):
            if following is None or not following.is_literal:
                return None
            parts.append(following.text)
        elif re.fullmatch(r"-[a-z]*m.+", text) and not text.startswith("--") and text[1] in "ma":
            parts.append(text.split("m", 1)[1])
        elif text in ("-F", "--file", "-t", "--template") or text.startswith(("--file=", "-F")):
            name = following.text if following is not None else ""
            if (name != "-" and text != "-F-") or command.stdin is None:
                return None
            parts.append(command.stdin)
        elif text == "--trailer" and following is not None:
            parts.append(following.text)
        elif text.startswith("--trailer="):
            parts.append(text.removeprefix("--trailer="))
    return "\n\n".join(parts)


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge each commit whose message is in the call."""
    if moment.event.kind != COMMAND:
        return NOT_CONCERNED
    result = NOT_CONCERNED
    for command in moment.event.script.commands:
        if command.program != "git" or not performs("commit", command):
            continue
        verdict = _judge_command(check, command)
        if verdict.result == BREACHED:
            return verdict
        result = verdict
    return result


def _judge_command(check: GuardCheck, command: ShellCommand) -> GuardVerdict:
    message = message_of(command)
    if command.is_remote:
        return GuardVerdict(result=UNKNOWN)
    if check.value in _FLAGS:
        flag, off = _FLAGS[check.value]
        signed = has_flag(command, (flag,)) or (check.value == "sign-off" and _SIGNED.search(message or "") is not None)
        if signed and not has_flag(command, (off,)):
            return GuardVerdict(result=OBEYED, matched=str(command))
        if message is None or has_flag(command, ("--amend",)):
            return GuardVerdict(result=UNKNOWN, matched=str(command))
        return GuardVerdict(result=BREACHED, matched=str(command), instead=f"git commit {flag}")
    if message is None:
        return GuardVerdict(result=UNKNOWN, matched=str(command))
    if not message.strip():
        return NOT_CONCERNED
    return _judge_message(check, message.strip("\n"))


def _judge_message(check: GuardCheck, message: str) -> GuardVerdict:
    title = _title(message)
    kind, _, value = check.value.partition(":")
    if kind == "language":
        language = guess_language(message)
        result = UNKNOWN if not language else OBEYED if language == value else BREACHED
        return GuardVerdict(result=result, matched=title)
    is_kept = _FORMS[kind](check, message.strip())
    return GuardVerdict(result=OBEYED if is_kept else BREACHED, matched=title)


def _title(message: str) -> str:
    return message.strip().split("\n", 1)[0]


_FLAGS = {"sign-off": ("--signoff", "--no-signoff"), "gpg": ("--gpg-sign", "--no-gpg-sign")}
_FORMS: Mapping[str, Callable[[GuardCheck, str], bool]] = {
    "conventional": lambda _, message: (
        _CONVENTIONAL.match(message) is not None or message.startswith(("Merge ", "fixup!"))
    ),
    "co-author": lambda _, message: _CO_AUTHOR.search(message) is None,
    "emoji": lambda _, message: _EMOJI.search(message) is None,
    "length": lambda check, message: check.limit is None or len(_title(message)) <= check.limit,
    "ticket": lambda _, message: _TICKET.search(_title(message)) is not None,
    "phrase": lambda check, message: (
        not any(re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", message, re.IGNORECASE) for phrase in check.phrases)
    ),
}

SHAPE = Shape(name="commit-message", order=15, parse=parse, judge=judge)
