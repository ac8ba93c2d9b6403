"""A writer of pages for recorded learning: it puts each fact on the page of its subject, by rule.

It quotes a paragraph without its heading, as models do, and with it only where that was refused.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bethink.extend import ModelCall
from bethink.memory.learning.documents.pages import EDIT
from bethink.memory.learning.documents.sandbox import WRITE

_FACT = re.compile(r"^- (f\d+) [\w-]+(?: about (.*?))?(?:, .*?)?: (.*)$", re.MULTILINE)
_TREE = re.compile(r"^- (~/memory/[^:]+): (.*?)(?:\. .*)?$", re.MULTILINE)
_PAGE = re.compile(r"<page (~/memory/[^>]+)>[^\n]*\n(.*?)\n</page>", re.DOTALL)
_LABEL = re.compile(r"\[(f\d+)\]")
_SENTENCE = re.compile(r"(\S.*?(?:[.](?=\s|$)|\u3002))\s*((?:\[f\d+\])*)")
_REFUSED = "Refused: no paragraph"
_EMPTY: Mapping[str, None] = {"title": None, "description": None, "body": None, "old": None, "to": None}


@dataclass(slots=True, kw_only=True)
class PageWriter:
    """Answers the requests of the memory writer."""

    asked: Counter[str] = field(default_factory=Counter[str])
    """How many requests were first turns, and how many only repeated what was refused."""
    _edits: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    _headings: dict[str, str] = field(default_factory=dict[str, str])

    def answer(self, call: ModelCall) -> str:
        """Return the calls of a turn."""
        if _REFUSED in call.prompt:
            self.asked["repeated"] += 1
            calls = [self._with_heading(edit) for edit in self._edits]
            return json.dumps({"calls": calls, "done": True}, ensure_ascii=False)
        self.asked["first"] += 1
        calls = self._calls(call.prompt)
        self._edits = [each for each in calls if each["tool"] == EDIT]
        return json.dumps({"calls": calls, "done": True}, ensure_ascii=False)

    def _calls(self, prompt: str) -> list[dict[str, Any]]:
        new, _, behind = prompt.partition("New facts:")[2].partition("Other facts behind these pages:")
        labels = {text: label for label, _, text in _FACT.findall(new + behind)}
        titles: dict[str, str] = {title: path for path, title in _TREE.findall(prompt)}
        bodies: dict[str, str] = dict(_PAGE.findall(prompt))
        subjects: dict[str, list[str]] = {}
        for _, about, text in _FACT.findall(new):
            subjects.setdefault(about or "the owner", []).append(text)
        calls: list[dict[str, Any]] = []
        for about, texts in subjects.items():
            path = titles.get(about.capitalize())
            if path is None:
                name = f"{len(titles) + len(calls) + 1}"
                calls.append(self._page(f"~/memory/page-{name}", about.capitalize(), texts, labels))
            elif path in bodies:
                calls.append(self._edit(path, bodies[path], texts, labels))
        return calls

    def _with_heading(self, edit: Mapping[str, Any]) -> dict[str, Any]:
        heading = self._headings[edit["path"]]
        return {**edit, **{name: f"{heading}\n{edit[name]}" for name in ("old", "body")}}

    def _page(self, path: str, title: str, texts: Sequence[str], labels: Mapping[str, str]) -> dict[str, Any]:
        self._headings[path] = f"## {title}"
        body = f"## {title}\n{_paragraph(texts, map(labels.__getitem__, texts))}"
        return {**_EMPTY, "tool": WRITE, "path": path, "title": title, "description": texts[0][:200], "body": body}

    def _edit(self, path: str, body: str, texts: Sequence[str], labels: Mapping[str, str]) -> dict[str, Any]:
        """Keep the sentences of a page whose facts are listed, or labeled behind them, and add the new ones."""
        old = body.removeprefix(self._headings[path]).strip()
        labeled = [(text, _LABEL.findall(marks)) for text, marks in _SENTENCE.findall(old) if marks]
        still = [text for text in labels if text in old and text not in texts]
        cited = [*(label for _, found in labeled for label in found), *(labels[text] for text in [*still, *texts])]
        kept = [text for text, _ in labeled]
        return {**_EMPTY, "tool": EDIT, "path": path, "old": old, "body": _paragraph([*kept, *still, *texts], cited)}


def _paragraph(texts: Sequence[str], labels: Iterable[str]) -> str:
    sentences = (text if text.endswith((".", "\u3002")) else f"{text}." for text in texts)
    return f"{' '.join(sentences)} [{'] ['.join(dict.fromkeys(labels))}]"
