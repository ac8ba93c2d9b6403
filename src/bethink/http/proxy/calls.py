"""A call to a model as it is read: what the person typed last, and the place where memory is added."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple, cast

from bethink.agents.transcripts import claude_code, codex
from bethink.agents.transcripts.lines import mapping, objects, text_at
from bethink.base.frozen import frozen
from bethink.http.proxy.places import TextSpan, elements, members, whole
from bethink.http.proxy.upstream import Wire
from bethink.model.framing import own_words

_LISTS = {Wire.CHAT: "messages", Wire.RESPONSES: "input", Wire.MESSAGES: "messages"}
_TEXTS = ("text", "input_text")
_NOT_AN_ANSWER = ("user", "system", "developer")
_SIDE_CALLS = (claude_code.AGENT, codex.AGENT)
_ASSISTANT = "assistant"


class TypedLine(NamedTuple):
    """What a person typed in one message, and which message of the call it is."""

    words: str
    place: int
    nth: int
    """How often the same words have come up in the call by then."""


@frozen
class ModelCallText:
    """A call that could be read. `lines` holds all that was typed; `first_new` is the first message after an answer."""

    wire: Wire
    text: str
    top: Mapping[str, TextSpan]
    lines: tuple[TypedLine, ...]
    first_new: int
    agent: str = _ASSISTANT

    @property
    def last(self) -> TypedLine | None:
        """The last that was typed: the question of this turn."""
        return self.lines[-1] if self.lines else None

    @property
    def new(self) -> tuple[TypedLine, ...]:
        """What was typed since the last answer; before it are repetitions, or examples of an app."""
        return tuple(line for line in self.lines if line.place >= self.first_new)

    @property
    def length(self) -> int:
        """How many messages the call has."""
        items: Any = self.top[_LISTS[self.wire]].value
        return len(cast("list[Any]", items)) if isinstance(items, list) else 1

    def value(self, name: str) -> Any:
        """Return a member of the call; None if it has none by that name."""
        return self.top[name].value if name in self.top else None

    def with_memory(self, block: str) -> str:
        """Return the call with a text added to the last message that was typed; all else stays as it is, byte by byte.

        Nothing is added where nothing was typed.
        """
        if self.last is None:
            return self.text
        content = self._content(self.last.place)
        if isinstance(content.value, str):
            at, added = content.end - 1, json.dumps(f"\n\n{block}")[1:-1]
        else:
            inner, _ = elements(self.text, content.start)
            kind = "input_text" if self.wire is Wire.RESPONSES else "text"
            at, added = inner[-1].end, f",{json.dumps({'type': kind, 'text': block})}"
        return self.text[:at] + added + self.text[at:]

    def _content(self, place: int) -> TextSpan:
        top = self.top[_LISTS[self.wire]]
        if isinstance(top.value, str):
            return top
        item: TextSpan = top.value[place]
        return members(self.text, item.start)[0]["content"]


def read_call(wire: Wire, body: bytes, *, agent: str = "") -> ModelCallText | None:
    """Read a call; None for one that says nothing in a form that is known. `agent` is the coding agent that calls.

    What a coding agent asks on the side, such as for a title, has no tools, and nothing of it was typed.
    """
    # Python's parser stops at a depth of its own, and a text may be half of one.
    with suppress(ValueError, RecursionError, KeyError, IndexError):
        text = body.decode()
        top = whole(text, lists=(_LISTS[wire],))
        if agent in _SIDE_CALLS and not (top.get("tools") and top["tools"].value):
            return None
        items: Any = top[_LISTS[wire]].value
        listed: list[Any] = [{"role": "user", "content": items}]
        if isinstance(items, list):
            listed = [each.value for each in cast("list[TextSpan]", items)]
        return ModelCallText(wire=wire, text=text, top=top, agent=agent or _ASSISTANT, **_typed_in(listed, agent))
    return None


def _typed_in(items: list[Any], agent: str) -> dict[str, Any]:
    found: list[TypedLine] = []
    first_new, seen = 0, Counter[str]()
    for place, item in enumerate(items):
        fields = mapping(item)
        if fields.get("role") not in _NOT_AN_ANSWER:
            first_new = place + 1
        elif fields.get("role") == "user":
            words = _words(fields.get("content"), agent)
            if words:
                seen[words] += 1
                found.append(TypedLine(words, place, seen[words]))
    return {"lines": tuple(found), "first_new": first_new}


def _words(content: Any, agent: str) -> str:
    """Return what a person typed of a message: no tool's result, and nothing that a program or memory has added."""
    if agent == claude_code.AGENT:
        said = claude_code.spoken({"type": "user", "message": {"content": content}})
        return "" if said is None else own_words(said[1]).strip()
    if agent == codex.AGENT and isinstance(content, list):
        return own_words(codex.typed(content)).strip()
    if isinstance(content, str):
        return own_words(content).strip()
    texts = [text_at(part, "text") or "" for part in objects(content) if part.get("type") in _TEXTS]
    return own_words("\n".join(filter(None, texts))).strip()


def key_of(*parts: object) -> str:
    """Return an idempotency key of what is said, and where: the same whenever it is sent again."""
    told = json.dumps(parts, ensure_ascii=True, default=str).encode()
    return f"proxy:{hashlib.sha256(told).hexdigest()[:32]}"
