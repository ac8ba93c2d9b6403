"""forbid-content: code that must not be added to files."""

import re

from bethink.features.guard.check import BREACHED, OBEYED, GuardCheck, GuardVerdict
from bethink.features.guard.events import CHANGE, COMMAND
from bethink.features.guard.files import ChangedFile, is_below
from bethink.features.guard.languages import is_in_language, named_languages, split_comments, without_blocks
from bethink.features.guard.sentences.mentions import has
from bethink.features.guard.sentences.programs import CLEAR
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check
from bethink.features.guard.tables import word_set

_MARKS = re.compile(r"\b(TODO|FIXME|XXX|HACK|NOCOMMIT)s?\b")
_CALL = re.compile(r"\b([A-Za-z_][\w.]*!?)\(\)|\b([A-Za-z_]+\.[A-Za-z]\w+)\b(?!\.\w|/)")
_CODE_SPAN = re.compile(r"`([^`\n]{1,60})`")
_NAMED_CODE = (
    (r"default[- ]exports?|Default-Exports?", "export default"),
    (r"(?:wildcard|star)[- ]imports?|Wildcard-Imports?", "import *"),
    (r"debugger", "debugger"),
    (r"breakpoints?\b", "breakpoint()"),
    (r"var", "var"),
    (r"goto", "goto"),
    (r"lambdas?", "lambda"),
    (r"unsafe", "unsafe"),
    (r"require", "require()"),
    (r"any", "any"),
)
"""Code that people name without backticks."""
_NOT_TESTS = re.compile(
    r"\b(?:outside(?: of)?|except(?: in| for)?|other than in|außer in|außerhalb von|salvo en|excepto en|fuera "
    r"de)(?: the| las| los| den)? "
    r"(?:tests?|test code|pruebas)\b|\b(?:library|production|bibliotheks)[- ]?code\b",
    re.IGNORECASE,
)
_TEST_FILE = re.compile(
    r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)test_[^/]*$|[._]test\.|\.spec\.|(?:^|/)conftest\.py$"
)
_GLOBAL = word_set("print eval exec input open any var goto globals")
_FILE_END = re.compile(r"\.(?:py|ts|js|go|rs|md|json|ya?ml|toml|lock|txt|sh|sql|env|html|css|com|dev|io|org)$")
_ALTERNATIVE = re.compile(
    r"\b(?:use|nimm|benutz\w*|verwend\w*|usa|utiliza|prefer|instead)\s+`?([A-Za-z_][\w.]*)`?", re.IGNORECASE
)
_KEY_NAMES = (
    r"(?:api|access|auth|private|secret|client|db|database)?[_-]?(?:key|secret|token|passw(?:or)?d|pwd|credentials?)"
)
_SECRET = re.compile(
    rf"(?i:\b\w*{_KEY_NAMES})\w*[\"']?\s*(?::\s*\w+\s*)?[:=]\s*[\"'`]([^\"'`\s]{{8,}})[\"'`]|"
    r"[\"'`]((?:sk|pk|rk)[-_](?:live|prod|ant|proj)?[-_]?[A-Za-z0-9_-]{16,}|gh[pousr]_\w{20,}|AKIA[0-9A-Z]{16}|"
    r"xox[abp]-[\w-]{10,})[\"'`]"
)
_KEY_MARKS = (
    "key",
    "secret",
    "token",
    "passw",
    "pwd",
    "credential",
    "sk-",
    "pk-",
    "rk-",
    "sk_",
    "ghp_",
    "akia",
    "xox",
    "gho_",
)
_PLACEHOLDER = re.compile(
    r"x{4,}|\.\.\.|<|>|\$\{|your|change.?me|example|placeholder|dummy|test|\*{3,}|fake|todo", re.IGNORECASE
)


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for "no print() in code", "no TODO comments" or "no secrets in code"."""
    text = sentence.text
    if not has("negation", text):
        return None
    languages = named_languages(text)
    if (mark := _MARKS.search(text)) is not None and not sentence.of_kind("path"):
        return make_check("forbid-content", sentence, unit="comment", phrases=(mark[1],), kinds=languages)
    if has("secret", text) and (has("code", text) or has("leave", text)) and not sentence.of_kind("path", "program"):
        return make_check("forbid-content", sentence, unit="secret", kinds=languages)
    has_program = any(m.is_code and m.pattern.program in CLEAR for m in sentence.of_kind("program"))
    tokens = () if has_program else _tokens(text)
    is_about_code = bool(languages) or has("code", text) or "()" in text
    if not tokens or not is_about_code:
        return None
    alternatives = tuple(
        match[1].rstrip(".")
        for match in _ALTERNATIVE.finditer(text)
        if match[1] not in tokens and not _is_banned(text, match)
    )
    return make_check(
        "forbid-content",
        sentence,
        unit="code",
        phrases=tokens[:5],
        kinds=languages,
        value=" ".join(alternatives[:1]),
        **_scope(sentence),
    )


def _scope(sentence: RuleSentence) -> dict[str, tuple[str, ...]]:
    """Return the folders that a rule is limited to, and whether it leaves out tests."""
    folders = tuple(m.text for m in sentence.of_kind("path") if m.text.endswith("/"))
    return {"paths": folders, "excluded": ("tests",) if _NOT_TESTS.search(sentence.text) else ()}


def _tokens(text: str) -> tuple[str, ...]:
    """Return the code that a ban names: `any`, print(), console.log."""
    spans = [match[1] for match in _CODE_SPAN.finditer(text) if not match[1].startswith("-") and "/" not in match[1]]
    spans = [span for span in spans if span.split()[:1] and span.split()[0] not in CLEAR]
    spans.extend(code for words, code in _NAMED_CODE if re.search(rf"\b(?:{words})\b", text))
    calls = [match[0] for match in _CALL.finditer(text) if _FILE_END.search(match[0]) is None]
    tokens = list(dict.fromkeys([*spans, *calls]))
    # A name behind "use" is the alternative.
    alternatives = {
        match[1]
        for match in re.finditer(r"\b(?:use|nimm|usa|verwende|benutze)\s+`?([\w.]+)", text)
        if not _is_banned(text, match)
    }
    return tuple(token for token in tokens if token.rstrip("()") not in alternatives)


def _is_banned(text: str, match: "re.Match[str]") -> bool:
    lead = re.split(r"[.,;:!]", text[: match.start()])[-1]
    return has("negation", lead)


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge the added lines of source files."""
    if moment.event.kind not in (CHANGE, COMMAND):
        return NOT_CONCERNED
    result = NOT_CONCERNED
    for change in moment.event.changes:
        if not is_in_language(change.path, check.kinds) or _is_excluded(check, change.path):
            continue
        may_match = _may_match(check, "\n".join(change.added).lower())
        lines = without_blocks(change.added) if may_match and check.unit == "code" else change.added
        matched = next((line for line in lines if _has_banned(check, change, line)), "") if may_match else ""
        if matched:
            return GuardVerdict(result=BREACHED, matched=matched.strip()[:120], instead=check.value)
        if _uses_alternative(check, change):
            result = GuardVerdict(result=OBEYED, matched=change.path)
    return result


def _is_excluded(check: GuardCheck, path: str) -> bool:
    """Return True for a file that the rule does not mean: outside of its folders, or a test."""
    if check.paths and not any(is_below(path, folder) for folder in check.paths):
        return True
    return bool(check.excluded) and _TEST_FILE.search(path) is not None


def _may_match(check: GuardCheck, text: str) -> bool:
    """Return False if a text cannot match, without looking at its lines."""
    if check.unit == "secret":
        return any(name in text for name in _KEY_MARKS)
    return any(phrase.removesuffix("()").lower() in text for phrase in check.phrases)


def _has_banned(check: GuardCheck, change: ChangedFile, line: str) -> bool:
    if check.unit == "secret":
        match = _SECRET.search(line)
        value = (match[1] or match[2]) if match is not None else None
        return value is not None and _PLACEHOLDER.search(value) is None
    if not _may_match(check, line.lower()):
        return False
    code, comment = split_comments(change.path, line)
    if check.unit == "comment":
        return any(re.search(rf"\b{phrase}s?\b", comment, re.IGNORECASE) for phrase in check.phrases)
    return any(_pattern(phrase).search(code) for phrase in check.phrases)


def _pattern(phrase: str) -> "re.Pattern[str]":
    name = phrase.removesuffix("()")
    if name == "any":
        return re.compile(r"(?:[:<|,&(\[=]\s*|\bas\s+)any\b(?!\s*\()|\bany\[\]")
    before = r"(?<![\w.])" if name.rsplit(".", 1)[0] in _GLOBAL else r"(?<!\w)"
    is_call = phrase.endswith("()") or name in ("eval", "exec", "print")
    after = r"\s*!?\(" if is_call else r"(?!\w)"
    return re.compile(before + re.escape(name) + after)


def _uses_alternative(check: GuardCheck, change: ChangedFile) -> bool:
    lines = "\n".join(change.added)
    if check.unit == "secret":
        return re.search(r"\benviron\b|\bgetenv\b|process\.env|ENV\[|env::var|Deno\.env", lines) is not None
    if not check.value:
        return False
    had = any(_has_banned(check, change, line) for line in change.removed)
    return had or re.search(rf"(?<!\w){re.escape(check.value)}(?!\w)", lines) is not None


SHAPE = Shape(name="forbid-content", order=65, parse=parse, judge=judge)
