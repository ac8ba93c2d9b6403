"""Carries out the verbs of learning rules, and writes them for a model."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bethink.extend import Redactor
from bethink.memory.registry import Host, handles
from bethink.model.checks import InvalidField
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
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.database, redactor=host.redactor)

    @handles(GET_RULES)
    async def get(self, space: str, request: GetRulesRequest) -> LearningRules:
        """Return the rules that apply."""
        return await self._database.transact(
            lambda tx: learning_rules.find(tx, space=space, agent=request.agent), space=space, read=True
        )

    @handles(SET_RULES)
    async def set(self, space: str, request: SetRulesRequest) -> LearningRules:
        """Set the rules, redacted."""
        rules = cleaned(request.rules, self._redactor)

        def body(tx: Tx) -> LearningRules:
            learning_rules.put(tx, rules, space=space, agent=request.agent)
            return learning_rules.find(tx, space=space, agent=request.agent)

        return await self._database.transact(body, space=space)


def cleaned(rules: LearningRules, redactor: Redactor) -> LearningRules:
    """Return rules as they may be stored and sent to a model: redacted. Raises `Invalid` for an unknown time zone."""
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
    # Checked where it is set, and not in the record: who reads the rules may lack a database of time zones.
    try:
        if name is not None and name != "UTC":
            ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidField("time_zone", "is unknown.", hint="Use a name such as Europe/Berlin.") from None


def written(rules: LearningRules) -> str:
    """Return what rules tell a model; empty if they tell it nothing."""
    slots = _listed("Slots to use:", rules.slots)
    kinds = _listed("Further values of `kind`, to use where they fit best:", rules.kinds)
    return "\n".join([*filter(None, [rules.instructions.strip()]), *slots, *kinds])


def _listed(heading: str, named: Mapping[str, str]) -> list[str]:
    lines = [f"- {inert(name)}: {inert(about)}" for name, about in sorted(named.items())]
    return [heading, *lines] if lines else []
