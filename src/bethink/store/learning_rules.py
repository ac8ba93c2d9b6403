"""The learning rules of spaces, and of agents in them."""

import json
from dataclasses import asdict

from bethink.model.steering import LearningRules
from bethink.model.text import canonical_json
from bethink.store import jobs
from bethink.store.db import Tx

_SPACE = ""
"""Agent name that means all agents."""


def put(tx: Tx, rules: LearningRules, *, space: str, agent: str | None) -> None:
    """Set the rules of an agent, or of the whole space."""
    jobs.ensure_space(tx, space=space)
    tx.run("put_rules", space=space, agent=agent or _SPACE, rules=canonical_json(asdict(rules)), now=tx.now)


def find(tx: Tx, *, space: str, agent: str | None) -> LearningRules:
    """Return the rules of an agent by its name: its own, those of the space, or the defaults."""
    row = tx.first("find_rules", space=space, agent=agent or _SPACE, agent_id="")
    return LearningRules() if row is None else LearningRules(**json.loads(row["rules"]))


def list_all(tx: Tx, *, space: str) -> dict[str | None, LearningRules]:
    """Return all rules that are set in a space, by the name of the agent; None for the space."""
    rows = tx.all("list_rules", space=space)
    return {row["agent"] or None: LearningRules(**json.loads(row["rules"])) for row in rows}


def of_agent(tx: Tx, *, space: str, agent_id: str) -> LearningRules:
    """Return the rules of an agent by its id."""
    row = tx.first("find_rules", space=space, agent=_SPACE, agent_id=agent_id)
    return LearningRules() if row is None else LearningRules(**json.loads(row["rules"]))
