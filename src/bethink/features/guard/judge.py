"""Judges one hook input by one check. Pure, and never raises."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from bethink.features.guard.check import (
    NONE,
    NOT_APPLICABLE,
    UNKNOWN,
    WITHDRAWS,
    GuardCheck,
    GuardVerdict,
    UserStatement,
    explain,
    statement_from,
)
from bethink.features.guard.events import AgentEvent, read_event
from bethink.features.guard.force import UNCLEAR, reason_out_of_force
from bethink.features.guard.read import read_statement
from bethink.features.guard.shape import Moment
from bethink.features.guard.shapes import all_shapes
from bethink.features.guard.shell import read_shell
from bethink.features.guard.state import AgentSession

_MAX_BEFORE = 300


def warm_up() -> None:
    """Load the shapes and the shell parser, so that the first verdict is as quick as the next."""
    all_shapes()
    read_shell("true")


def judge_event(
    check: GuardCheck,
    event: AgentEvent,
    session: AgentSession | None = None,
    *,
    branch: str = "",
    at: str = "",
    statements: Sequence[UserStatement] = (),
    this_session: Collection[str] = (),
) -> GuardVerdict:
    """Return the verdict of a check on an event.

    Args:
        check: GuardCheck to apply.
        event: AgentEvent to judge, from `read_event` or `AgentSession.add`.
        session: AgentSession with the events before this one.
        branch: Branch in `.git/HEAD` before the event; empty if unknown.
        at: Time of the event in ISO 8601.
        statements: All statements up to now, oldest first. They may withdraw or replace the check.
        this_session: Ids of the statements of this session, in which one-off instructions are in force.
    """
    reason = reason_out_of_force(check, statements, cwd=event.cwd, at=at, this_session=this_session)
    if reason:
        return GuardVerdict(result=UNKNOWN if reason == UNCLEAR else NOT_APPLICABLE, matched=reason)
    shape = all_shapes().get(check.shape)
    if shape is None:
        return GuardVerdict(result=UNKNOWN, matched=f"shape {check.shape!r} is not installed")
    return shape.judge(check, Moment(event, session, branch, at))


def judge_case(case: Mapping[str, Any]) -> tuple[GuardVerdict, str]:
    """Return the verdict of a case in the form of JSON, and the message for people. Broken input gives `unknown`.

    A case has `rule`, `said`, `this_session`, `world`, `before`, `event` and `at`.
    """
    try:
        return _judge_case(case)
    except Exception as error:  # noqa: BLE001 - a guard that fails must not stop the agent
        return GuardVerdict(result=UNKNOWN, matched=type(error).__name__), ""


def _judge_case(case: Mapping[str, Any]) -> tuple[GuardVerdict, str]:
    statement = statement_from(_mapping(case.get("rule")))
    reading = read_statement(statement)
    if reading.check is None or reading.binds in (NONE, WITHDRAWS):
        return GuardVerdict(result=NOT_APPLICABLE, matched=reading.reason), ""
    before = [_mapping(item) for item in _list(case.get("before"))][-_MAX_BEFORE:]
    verdict = judge_event(
        reading.check,
        read_event(_mapping(case.get("event"))),
        AgentSession(before),
        branch=str(_mapping(case.get("world")).get("branch") or ""),
        at=str(case.get("at") or ""),
        statements=[statement_from(_mapping(item)) for item in _list(case.get("said"))],
        this_session={str(item) for item in _list(case.get("this_session"))},
    )
    return verdict, explain(reading.check, verdict)


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
