"""A parsed model call: the user's messages, and the position to add memory."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple, cast

from bethink.agents.transcripts import claude_code, codex
from bethink.agents.transcripts.lines import mapping, objects, text_at
from bethink.base.frozen import frozen
from bethink.http.limits import count_values
from bethink.http.proxy.json_spans import TextSpan, elements, members, parse_object
from bethink.http.proxy.upstream import Wire
from bethink.model.framing import has_frames, own_words

_LISTS = {Wire.CHAT: "messages", Wire.RESPONSES: "input", Wire.MESSAGES: "messages"}
_TEXTS = ("text", "input_text")
_NON_ANSWER_ROLES = ("user", "system", "developer")
_SIDE_CALLS = (claude_code.AGENT, codex.AGENT)
_ASSISTANT = "assistant"
_MAX_VALUES = 200_000
"""Maximum JSON values of a call that is read."""
_MAX_TYPED = 131_072
"""Maximum characters of a message that are read. No message that is stored is longer."""
_MAX_FRAMED = 262_144
"""Maximum characters of the messages of a call that contain recalled text, which takes longer to remove."""


class TooMuchWorkError(Exception):
    """Reading a call would take too long. It is passed on without memory."""


class TypedLine(NamedTuple):
    """The text of one user message and its position in the call."""

    words: str
    position: int
    nth: int
    """Occurrence number of this text in the call."""


@frozen
class ModelCallText:
    """A parsed call. `lines` are the user's messages; `first_new` is the first position after an answer."""

    wire: Wire
    text: str
    top: Mapping[str, TextSpan]
    lines: tuple[TypedLine, ...]
    first_new: int
    agent: str = _ASSISTANT

    @property
    def last(self) -> TypedLine | None:
        """The last user message: the question of this turn."""
        return self.lines[-1] if self.lines else None

    @property
    def new(self) -> tuple[TypedLine, ...]:
        """User messages since the last answer. Earlier ones are repetitions, or examples of an app."""
        return tuple(line for line in self.lines if line.position >= self.first_new)

    @property
    def length(self) -> int:
        """Number of messages in the call."""
        items: Any = self.top[_LISTS[self.wire]].value
        return len(cast("list[Any]", items)) if isinstance(items, list) else 1

    def value(self, name: str) -> Any:
        """Return a member of the call, or None."""
        return self.top[name].value if name in self.top else None

    def with_memory(self, block: str) -> str:
        """Return the call with a text added to the last user message. All other bytes stay unchanged.

        Without a user message, nothing is added.
        """
        if self.last is None:
            return self.text
        content = self._content(self.last.position)
        if isinstance(content.value, str):
            at, added = content.end - 1, json.dumps(f"\n\n{block}")[1:-1]
        else:
            inner, _ = elements(self.text, content.start)
            kind = "input_text" if self.wire is Wire.RESPONSES else "text"
            at, added = inner[-1].end, f",{json.dumps({'type': kind, 'text': block})}"
        return self.text[:at] + added + self.text[at:]

    def _content(self, position: int) -> TextSpan:
        top = self.top[_LISTS[self.wire]]
        if isinstance(top.value, str):
            return top
        item: TextSpan = top.value[position]
        return members(self.text, item.start)[0]["content"]


def read_call(wire: Wire, body: bytes, *, agent: str = "") -> ModelCallText | None:
    """Parse a call. Return None for an unknown format. `agent` is the coding agent that calls.

    Side calls of a coding agent, for example for a title, have no tools and no user messages. Raises `TooMuchWorkError`
    if the call has too many values, or too much recalled text.
    """
    if count_values(body) > _MAX_VALUES:
        raise TooMuchWorkError
    # Python's parser has its own depth limit, and the text may be incomplete.
    with suppress(ValueError, RecursionError, KeyError, IndexError):
        text = body.decode()
        top = parse_object(text, lists=(_LISTS[wire],))
        if agent in _SIDE_CALLS and not (top.get("tools") and top["tools"].value):
            return None
        items: Any = top[_LISTS[wire]].value
        messages: list[Any] = [{"role": "user", "content": items}]
        if isinstance(items, list):
            messages = [span.value for span in cast("list[TextSpan]", items)]
        return ModelCallText(wire=wire, text=text, top=top, agent=agent or _ASSISTANT, **_typed_lines(messages, agent))
    return None


def _typed_lines(items: list[Any], agent: str) -> dict[str, Any]:
    lines: list[TypedLine] = []
    first_new, counts, own_words = 0, Counter[str](), _OwnWords()
    for position, item in enumerate(items):
        fields = mapping(item)
        if fields.get("role") not in _NON_ANSWER_ROLES:
            first_new = position + 1
        elif fields.get("role") == "user":
            words = own_words(_text(fields.get("content"), agent)).strip()
            if words:
                counts[words] += 1
                lines.append(TypedLine(words, position, counts[words]))
    return {"lines": tuple(lines), "first_new": first_new}


class _OwnWords:
    """Removes the text that memory or a system added to messages, within a limit for each call."""

    def __init__(self) -> None:
        self._framed = 0

    def __call__(self, text: str) -> str:
        text = text[:_MAX_TYPED]
        if has_frames(text):
            self._framed += len(text)
            if self._framed > _MAX_FRAMED:
                raise TooMuchWorkError
        return own_words(text)


def _text(content: Any, agent: str) -> str:
    """Return the text that a person typed, without tool results and text added by programs."""
    if agent == claude_code.AGENT:
        message = claude_code.role_and_text({"type": "user", "message": {"content": content}})
        return "" if message is None else message[1]
    if agent == codex.AGENT and isinstance(content, list):
        return codex.user_text(content)
    if isinstance(content, str):
        return content
    texts = [text_at(part, "text") or "" for part in objects(content) if part.get("type") in _TEXTS]
    return "\n".join(filter(None, texts))


def key_of(*parts: object) -> str:
    """Return an idempotency key for a message and its context. It is the same when the message is sent again."""
    data = json.dumps(parts, ensure_ascii=True, default=str).encode()
    return f"proxy:{hashlib.sha256(data).hexdigest()[:32]}"
