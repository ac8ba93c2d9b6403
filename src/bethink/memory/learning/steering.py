"""Operations on learning rules, and their text for a model."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bethink.errors import InvalidFieldError
from bethink.extend import Redactor
from bethink.memory.registry import Host, handles
from bethink.model.framing import inert, text_cleaner
from bethink.model.operations.rules import GET_RULES, SET_RULES, GetRulesRequest, SetRulesRequest
from bethink.model.steering import LearningRules
from bethink.store import learning_rules
from bethink.store.db import Database, Tx


class RulesService:
    """The learning rules of every space in one database."""

    def __init__(self, database: Database, *, redactor: Redactor) -> None:
        self._database = database
        self._redactor = redactor

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Create the service from the parts of an open memory."""
        return cls(host.database, redactor=host.redactor)

    @handles(GET_RULES)
    async def get(self, space: str, request: GetRulesRequest) -> LearningRules:
        """Return the rules that apply."""
        return await self._database.transact(
            lambda tx: learning_rules.find(tx, space=space, agent=request.agent), space=space, read_only=True
        )

    @handles(SET_RULES)
    async def set(self, space: str, request: SetRulesRequest) -> LearningRules:
        """Set the rules, redacted."""
        rules = redact_rules(request.rules, self._redactor)

        def body(tx: Tx) -> LearningRules:
            learning_rules.put(tx, rules, space=space, agent=request.agent)
            return learning_rules.find(tx, space=space, agent=request.agent)

        return await self._database.transact(body, space=space)


def redact_rules(rules: LearningRules, redactor: Redactor) -> LearningRules:
    """Return rules redacted, ready to be stored and sent to a model.

    Raises `InvalidRequestError` for an unknown time zone.
    """
    _check_zone(rules.time_zone)
    cut = text_cleaner(redactor.redact)
    return replace(
        rules,
        instructions=cut(rules.instructions),
        owner=None if rules.owner is None else cut(rules.owner),
        slots={cut(name): cut(about) for name, about in rules.slots.items()},
        kinds={name: cut(about) for name, about in rules.kinds.items()},
    )


def _check_zone(name: str | None) -> None:
    # Checked when the rules are set, not in the record: a reader may lack a time zone database.
    try:
        if name is not None and name != "UTC":
            ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidFieldError("time_zone", f"is unknown: {name!r}.", hint="Use a name like Europe/Berlin.") from None


def format_rules(rules: LearningRules) -> str:
    """Return the text of the rules for a model; empty if there is none."""
    slots = _format_items("Slots to use:", rules.slots)
    kinds = _format_items("Further values of `kind`, to use where they fit best:", rules.kinds)
    return "\n".join([*filter(None, [rules.instructions.strip()]), *slots, *kinds])


def _format_items(heading: str, items: Mapping[str, str]) -> list[str]:
    lines = [f"- {inert(name)}: {inert(about)}" for name, about in sorted(items.items())]
    return [heading, *lines] if lines else []
