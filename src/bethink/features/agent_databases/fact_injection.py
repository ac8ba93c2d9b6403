"""Puts facts that match a question into a system prompt, as document 004 of the specification describes."""

from bethink.api.facts import Facts
from bethink.base.frozen import frozen
from bethink.extend import Tokens
from bethink.model.framing import inert

_HEADING = "## Relevant Memory"


@frozen
class InjectionRequest:
    """A query over facts, with limits on the injected text."""

    store: Facts | None
    query: str
    max_facts: int = 10
    max_tokens: int = 2_000
    estimator: Tokens


async def inject_memory(request: InjectionRequest) -> str | None:
    """Return a section with the facts that match, by rank, until the token budget is used up.

    Returns None without a store or a match. `Memory.context` does more: it frames, dates and labels.
    """
    if request.store is None or request.max_facts < 1:
        return None
    lines, result = [_HEADING, ""], None
    for fact in await request.store.search(request.query, limit=request.max_facts):
        lines.append(f"- {inert(fact.text)}")
        section = "\n".join(lines)
        if request.estimator.count(section) > request.max_tokens:
            break
        result = section
    return result
