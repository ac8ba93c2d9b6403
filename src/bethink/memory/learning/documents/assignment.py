"""The task of the memory writer: the tree, the pages that new facts may affect, and the facts with labels."""

from collections.abc import Collection, Mapping, Sequence

from bethink.base.frozen import frozen
from bethink.extend import Tokens
from bethink.memory.documents.overviews import OWNER, day_of, period_of
from bethink.memory.learning.documents.build_documents import Knowledge
from bethink.memory.learning.documents.labels import label_facts
from bethink.memory.learning.extraction.transcript import fitting
from bethink.model.consolidation import DocumentTree
from bethink.model.documents import CONSOLIDATED, ROOT, Document, SourceKind
from bethink.model.facts import Fact, SessionSummary
from bethink.model.framing import inert
from bethink.model.moments import EPOCH, to_micros

_MAX_FACT = 1_000
_MAX_LINE = 200


@frozen
class Assignment:
    """The text of the task, and the facts that the writer may cite, by label.

    `again` is the text of a turn that only corrects refused calls: the facts, without the tree and the pages.
    """

    text: str
    again: str
    facts: dict[str, Fact]


def assignment(
    knowledge: Knowledge, tree: DocumentTree, session_ids: Collection[str], *, budget: int, tokens: Tokens
) -> Assignment:  # fmt: skip
    """Return the task within `budget` tokens. Lists that do not fit are shortened, with a count."""
    pages = {path: page for path, page in tree.documents.items() if _is_page(path, page)}
    new = new_facts(knowledge, tree, session_ids)
    affected = _affected_pages(knowledge, tree, pages, new)
    behind = {source.id for path in affected for source in tree.sources.get(path, ())}
    old = [fact for fact in knowledge.sorted_facts() if fact.id in behind and fact not in new]
    labels = {f"f{number}": fact for number, fact in enumerate([*new, *old], 1)}
    older = {label: fact for label, fact in labels.items() if fact not in new}
    shown = {path: pages[path] for path in affected}
    page_lines, stated = _page_lines(knowledge, tree, shown, older, budget=budget // 4, tokens=tokens)
    lines = [
        "Bring the pages under ~/memory up to date.",
        *_sessions(knowledge, session_ids, budget=budget // 8, tokens=tokens),
        "",
        "The tree:",
        *fitting(_tree_lines(pages, affected), budget=budget // 8, tokens=tokens),
        *page_lines,
    ]
    facts = _FactList(remaining=budget // 2, tokens=tokens)
    facts.add("New facts:", {label: fact for label, fact in labels.items() if label not in older})
    facts.add("Other facts behind these pages:", older, stated=stated)
    return Assignment(
        text="\n".join([*lines, *facts.lines]),
        again="\n".join(["Some of your calls were refused. Make only these again, corrected.", *facts.lines]),
        facts=facts.by_label,
    )


class _FactList:
    """The lines of facts that fit, below a line for each speaker and day, and the facts that may be cited."""

    def __init__(self, *, remaining: int, tokens: Tokens) -> None:
        self.lines: list[str] = []
        self.by_label: dict[str, Fact] = {}
        self._remaining = remaining
        self._tokens = tokens

    def add(self, heading: str, facts: Mapping[str, Fact], *, stated: Collection[str] = ()) -> None:
        """Add facts, until one does not fit. A page states those in `stated`: they need no line."""
        lines: list[str] = []
        last = ""
        for label, fact in facts.items():
            if label in stated:
                self.by_label[label] = fact
                continue
            speaker_line, line = _heading(fact), _fact_line(label, fact)
            added = [line] if speaker_line == last else [speaker_line, line]
            self._remaining -= sum(self._tokens.count(text) + 1 for text in added)
            if self._remaining < 0:
                break
            self.by_label[label] = fact
            lines += added
            last = speaker_line
        self.lines += ["", heading, *lines] if lines else []


def new_facts(knowledge: Knowledge, tree: DocumentTree, session_ids: Collection[str]) -> list[Fact]:
    """Return the facts of these sessions, then those that no page cites yet and that no later run is going to show."""
    placed = {source.id for path, sources in tree.sources.items() if not _is_overview(path) for source in sources}
    later = {item.session_id for item in knowledge.selection.added_summaries}.difference(session_ids)
    own: list[Fact] = []
    others: list[Fact] = []
    for fact in sorted(knowledge.facts, key=lambda fact: (to_micros(fact.created_at or EPOCH), fact.id)):
        sessions = {message.session_id for message in knowledge.sources.get(fact.id, ())}
        if not sessions.isdisjoint(session_ids):
            own.append(fact)
        elif fact.id not in placed and (not sessions or not sessions <= later):
            others.append(fact)
    return [*own, *others]


def _affected_pages(
    knowledge: Knowledge, tree: DocumentTree, pages: dict[str, Document], new: Sequence[Fact]
) -> list[str]:  # fmt: skip
    """Return the pages that share a name or a subject with the new facts, or cite facts that are no longer valid."""
    by_id = {fact.id: fact for fact in knowledge.sorted_facts()}
    names = {name.casefold() for fact in new for name in (*fact.entities, fact.subject or "") if name.strip()}
    subjects = {fact.subject for fact in new}
    paths: list[str] = []
    for path, page in pages.items():
        sources = tree.sources.get(path, ())
        text = f"{path} {page.title} {page.description} {page.body}".casefold()
        cited = [by_id[source.id] for source in sources if source.id in by_id]
        if (
            _is_stale(knowledge, tree, path)
            or any(name in text for name in names if name != OWNER)
            or any(fact.subject in subjects for fact in cited)
        ):
            paths.append(path)
    return paths


def _is_stale(knowledge: Knowledge, tree: DocumentTree, path: str) -> bool:
    current = {fact.id for fact in knowledge.sorted_facts()}
    return any(
        source.kind is SourceKind.FACT and source.id not in current for source in tree.sources.get(path, ())
    )  # fmt: skip


def _sessions(knowledge: Knowledge, session_ids: Collection[str], *, budget: int, tokens: Tokens) -> list[str]:
    """Return how the sessions differ from the last run, and which are new.

    A session that went unused for long is only counted: its facts are as valid as before.
    """
    selection = knowledge.selection
    counts = f"selected {len(selection.current)}, added {len(selection.added_summaries)}, "
    counts += f"retained {len(selection.retained_summaries)}, removed {len(selection.removed_summaries)}"
    added = [
        f"- [added] {_session_line(summary)}"
        for summary in selection.added_summaries
        if summary.session_id in session_ids
    ]
    return [f"({counts})", *fitting(added, budget=budget, tokens=tokens)]


def _session_line(memory: SessionSummary) -> str:
    return f"{memory.session_id}: {day_of(memory.last_said)}"


def _tree_lines(pages: dict[str, Document], shown: Collection[str]) -> list[str]:
    """Return a line for each page: its title, and its description unless the page is shown."""
    return [
        f"- {path}: {inert(page.title if path in shown else f'{page.title}. {page.description}', limit=_MAX_LINE)}"
        for path, page in sorted(pages.items())
    ] or [f"- {ROOT}: nothing yet"]


def _page_lines(
    knowledge: Knowledge,
    tree: DocumentTree,
    pages: Mapping[str, Document],
    facts: Mapping[str, Fact],
    *,
    budget: int,
    tokens: Tokens,
) -> tuple[list[str], set[str]]:
    """Return the pages with the labels of the facts that they state, and these labels."""
    lines = ["", "Pages that these facts may concern, in full:"] if pages else []
    stated: set[str] = set()
    remaining = budget
    for path, page in pages.items():
        sources = {source.id for source in tree.sources.get(path, ())}
        body = label_facts(page.body, {label: fact for label, fact in facts.items() if fact.id in sources})
        stale = " (based on a fact that is no longer valid)" if _is_stale(knowledge, tree, path) else ""
        whose = " (written by the user, and stays as it is)" if page.author.kind == "user" else ""
        text = f"<page {path}>{stale}{whose}\n{body.text.replace('</page>', '')}\n</page>"
        remaining -= tokens.count(text)
        stated |= body.labels if remaining >= 0 else set()
        lines.append(text if remaining >= 0 else f"- {path}{stale}: read it, it does not fit here")
    return lines, stated


def _heading(fact: Fact) -> str:
    who = inert(fact.speaker or str(fact.origin), limit=_MAX_LINE)
    return f"{who} said{'' if fact.created_at is None else f' on {day_of(fact.created_at)}'}:"


def _fact_line(label: str, fact: Fact) -> str:
    about = "" if fact.subject in (None, OWNER) else f" about {inert(fact.subject or '', limit=_MAX_LINE)}"
    scope = [f"scope: {inert(fact.scope, limit=_MAX_LINE)}"] if fact.scope else []
    head = ", ".join([f"{fact.kind}{about}", *scope, *period_of(fact)])
    return f"- {label} {head}: {inert(fact.text, limit=_MAX_FACT)}"


def _is_page(path: str, page: Document) -> bool:
    return path != ROOT and not _is_overview(path) and not page.redacted


def _is_overview(path: str) -> bool:
    return path == CONSOLIDATED or path.startswith(f"{CONSOLIDATED}/")
