"""The task of the memory writer: the tree, the pages that new facts may concern, and the facts, each with a label."""

from collections.abc import Collection, Sequence

from bethink.base.frozen import frozen
from bethink.extend import Tokens
from bethink.memory.documents.overviews import OWNER, day_of, period_of
from bethink.memory.learning.documents.build_documents import Known
from bethink.memory.learning.extraction.transcript import fitting
from bethink.model.consolidation import DocumentTree
from bethink.model.documents import CONSOLIDATED, ROOT, Document, SourceKind
from bethink.model.facts import Fact, SessionMemory
from bethink.model.framing import inert
from bethink.model.moments import EPOCH, to_micros

_LONGEST_FACT = 1_000
_LONGEST_LINE = 200


@frozen
class Assignment:
    """What the writer is told, and the facts that it may name, by their labels."""

    text: str
    told: dict[str, Fact]


def assignment(
    known: Known, tree: DocumentTree, shown: Collection[str], *, budget: int, tokens: Tokens
) -> Assignment:  # fmt: skip
    """Return the task within `budget` tokens. What does not fit is left out, with a count."""
    pages = {path: each for path, each in tree.documents.items() if _is_page(path, each)}
    new = _new_facts(known, tree, shown)
    concerned = _concerned(known, tree, pages, new)
    behind = {source.id for path in concerned for source in tree.sources.get(path, ())}
    old = [fact for fact in known.supported() if fact.id in behind and fact not in new]
    told: dict[str, Fact] = {}
    left = budget // 2
    listed: dict[str, list[str]] = {"New facts:": [], "Facts behind these pages:": []}
    for heading, facts in zip(listed, (new, old), strict=True):
        for fact in facts:
            label = f"f{len(told) + 1}"
            line = _fact_line(label, fact)
            left -= tokens.count(line) + 1
            if left < 0:
                break
            told[label] = fact
            listed[heading].append(line)
    lines = [
        "Bring the pages under ~/memory up to date.",
        *_sessions(known, shown, budget=budget // 8, tokens=tokens),
        "",
        "The tree:",
        *fitting(_tree_lines(pages), budget=budget // 8, tokens=tokens),
        *_page_lines(known, tree, {path: pages[path] for path in concerned}, budget=budget // 4, tokens=tokens),
        *(line for heading, facts in listed.items() for line in ("", heading, *(facts or ["- none"]))),
    ]
    return Assignment(text="\n".join(lines), told=told)


def _new_facts(known: Known, tree: DocumentTree, shown: Collection[str]) -> list[Fact]:
    """Return the facts of the sessions that are shown, and those without a session that no page rests on yet."""
    placed = {source.id for path, sources in tree.sources.items() if not _is_overview(path) for source in sources}
    found = [
        fact
        for fact in known.supported()
        if any(each.session_id in shown for each in known.sources.get(fact.id, ()))
        or (not known.sources.get(fact.id) and fact.id not in placed)
    ]
    return sorted(found, key=lambda fact: (to_micros(fact.created_at or EPOCH), fact.id))


def _concerned(
    known: Known, tree: DocumentTree, pages: dict[str, Document], new: Sequence[Fact]
) -> list[str]:  # fmt: skip
    """Return the pages that share a name or a subject with the new facts, or rest on what no longer holds."""
    by_id = {fact.id: fact for fact in known.supported()}
    names = {name.casefold() for fact in new for name in (*fact.entities, fact.subject or "") if name.strip()}
    subjects = {fact.subject for fact in new}
    found: list[str] = []
    for path, page in pages.items():
        sources = tree.sources.get(path, ())
        text = f"{path} {page.title} {page.description} {page.body}".casefold()
        rests = [by_id[source.id] for source in sources if source.id in by_id]
        if (
            _is_stale(known, tree, path)
            or any(name in text for name in names if name != OWNER)
            or any(fact.subject in subjects for fact in rests)
        ):
            found.append(path)
    return found


def _is_stale(known: Known, tree: DocumentTree, path: str) -> bool:
    current = {fact.id for fact in known.supported()}
    return any(
        source.kind is SourceKind.FACT and source.id not in current for source in tree.sources.get(path, ())
    )  # fmt: skip


def _sessions(known: Known, shown: Collection[str], *, budget: int, tokens: Tokens) -> list[str]:
    selection = known.selection
    counts = f"selected {len(selection.current)}, added {len(selection.added)}, "
    counts += f"retained {len(selection.retained)}, removed {len(selection.removed)}"
    added = [f"- [added] {_session_line(each)}" for each in selection.added if each.session_id in shown]
    retained = [f"- [retained] {_session_line(each)}" for each in selection.retained]
    gone = [f"- {_session_line(each)}" for each in selection.removed]
    return [
        f"({counts})",
        "",
        "Sessions:",
        *fitting([*added, *retained], budget=budget, tokens=tokens),
        "",
        "Removed, to be forgotten:",
        *(fitting(gone, budget=budget, tokens=tokens) or ["- none"]),
    ]


def _session_line(memory: SessionMemory) -> str:
    return f"{memory.session_id}: {day_of(memory.last_said)}"


def _tree_lines(pages: dict[str, Document]) -> list[str]:
    return [f"- {path}: {inert(f'{each.title}. {each.description}', limit=_LONGEST_LINE)}" for path, each in
            sorted(pages.items())] or [f"- {ROOT}: nothing yet"]  # fmt: skip


def _page_lines(
    known: Known, tree: DocumentTree, pages: dict[str, Document], *, budget: int, tokens: Tokens
) -> list[str]:  # fmt: skip
    if not pages:
        return []
    lines = ["", "Pages that these facts may concern, in full:"]
    left = budget
    for path, page in pages.items():
        stale = " (rests on something that no longer holds)" if _is_stale(known, tree, path) else ""
        whose = " (written by the user, and stays as it is)" if page.author.kind == "user" else ""
        text = f"<page {path}>{stale}{whose}\n{page.body.replace('</page>', '')}\n</page>"
        left -= tokens.count(text)
        lines.append(text if left >= 0 else f"- {path}{stale}: read it, it does not fit here")
    return lines


def _fact_line(label: str, fact: Fact) -> str:
    about = "the owner" if fact.subject in (None, OWNER) else inert(fact.subject or "", limit=_LONGEST_LINE)
    who = inert(fact.speaker or str(fact.origin), limit=_LONGEST_LINE)
    said = "" if fact.created_at is None else f" {day_of(fact.created_at)}"
    scope = [f"scope: {inert(fact.scope, limit=_LONGEST_LINE)}"] if fact.scope else []
    when = ", ".join([f"{who} said{said}", *scope, *period_of(fact)])
    return f"- {label} {fact.kind} about {about}, {when}: {inert(fact.content, limit=_LONGEST_FACT)}"


def _is_page(path: str, page: Document) -> bool:
    return path != ROOT and not _is_overview(path) and not page.redacted


def _is_overview(path: str) -> bool:
    return path == CONSOLIDATED or path.startswith(f"{CONSOLIDATED}/")
