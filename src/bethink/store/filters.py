"""Compiles a filter to SQL: a condition on the columns of one table, the same on both databases.

A query says where the condition goes with a comment, such as `/*only(message m)*/`: the kind of row and its alias.
Values are always bound, and keys of metadata are values, never paths.
"""

import json
import re
from dataclasses import replace
from typing import NamedTuple

from bethink.model.filters import Condition, Filter, Op, Scalar
from bethink.model.moments import to_micros
from bethink.store.sql import Dialect, Query, compile_query

_MARK = re.compile(r"/\*only\((?P<kind>\w+) (?P<alias>\w+)\)\*/")
_OPERATORS = {Op.GT: ">", Op.GTE: ">=", Op.LT: "<", Op.LTE: "<="}
_NOTHING = "1 = 0"


class _Columns(NamedTuple):
    """Expressions for the filters of a kind of row, with `{a}` for its alias; None if it has no such value."""

    at: str
    origin: str | None
    labels: tuple[str, ...]
    """Selects of rows that have tags and metadata: the row itself first, then those it inherits from."""
    session_join: str | None
    """Join that provides the session of a row as `os`."""
    speaker_condition: str | None
    """Condition on the speaker, used with `session_join`."""


_OWN = "(SELECT {a}.tags, {a}.metadata)"
_OF_SESSION = (
    "(SELECT ot.tags, ot.metadata FROM sessions ot WHERE ot.space_id = {a}.space_id AND ot.id = {a}.session_id)"
)
_SOURCES = (
    "fact_sources ob JOIN messages om ON om.space_id = ob.space_id AND om.session_id = ob.session_id "
    "AND om.number = ob.number JOIN sessions os ON os.space_id = ob.space_id AND os.id = ob.session_id "
    "WHERE ob.space_id = {a}.space_id AND ob.fact_id = {a}.id"
)
_KINDS = {
    "message": _Columns(
        at="{a}.said_at", origin="{a}.origin", labels=(_OWN, _OF_SESSION),
        session_join="sessions os WHERE os.space_id = {a}.space_id AND os.id = {a}.session_id",
        speaker_condition="{a}.name = :only_speaker",
    ),
    "fact": _Columns(
        at="{a}.created_at", origin="{a}.origin",
        labels=(
            _OWN, f"(SELECT om.tags, om.metadata FROM {_SOURCES})", f"(SELECT os.tags, os.metadata FROM {_SOURCES})",
        ),
        session_join=_SOURCES, speaker_condition="om.name = :only_speaker",
    ),
    "session_summary": _Columns(
        at="COALESCE({a}.said_until, {a}.source_updated_at)", origin="'memory'", labels=(_OF_SESSION,),
        session_join="sessions os WHERE os.space_id = {a}.space_id AND os.id = {a}.session_id", speaker_condition=None,
    ),
    "document": _Columns(at="{a}.valid_from", origin="{a}.origin", labels=(_OWN,), session_join=None,
    speaker_condition=None),
    "session": _Columns(
        at="COALESCE((SELECT om.said_at FROM messages om WHERE om.space_id = {a}.space_id AND om.session_id = {a}.id "
        "ORDER BY om.number LIMIT 1), {a}.created_at)",
        origin=None, labels=(_OWN,), session_join="sessions os WHERE os.space_id = {a}.space_id AND os.id = {a}.id",
        speaker_condition="EXISTS (SELECT 1 FROM messages om WHERE om.space_id = os.space_id AND om.session_id = os.id "
        "AND om.name = :only_speaker)",
    ),
}  # fmt: skip
_REFERRED = {
    "message": "messages o WHERE o.space_id = {a}.space_id AND o.session_id = {a}.id AND o.number = {a}.number",
    "fact": "facts o WHERE o.space_id = {a}.space_id AND o.id = {a}.id AND o.version = {a}.number",
    "session_summary": "session_summaries o WHERE o.space_id = {a}.space_id AND o.session_id = {a}.id",
    "document": "documents o WHERE o.space_id = {a}.space_id AND o.id = {a}.id AND o.version = {a}.number",
}
"""The row that a kind, an id and a number name, for tables that refer to memories of all kinds."""


def apply_filter(query: Query, only: Filter, dialect: Dialect) -> tuple[Query, dict[str, object]]:
    """Return a query with the conditions of a filter, and the values of its additional parameters."""
    values: dict[str, object] = {}

    def condition(mark: re.Match[str]) -> str:
        return f"AND {_condition(only, mark['kind'], mark['alias'], dialect, values)}"

    text, marks = _MARK.subn(condition, query.source)
    if not marks:
        raise ValueError(f"Query {query.name!r} supports no filter: it has no `only` comment.")
    return replace(compile_query(query.name, text, dialect), source=query.source), values


def _condition(only: Filter, kind: str, alias: str, dialect: Dialect, values: dict[str, object]) -> str:
    if kind in ("rowid", "doc"):  # of the index of terms, whose rows refer to memories of all kinds
        condition = _condition(only, "any", "ox", dialect, values)
        return f"EXISTS (SELECT 1 FROM terms ox WHERE ox.doc = {alias}.{kind} AND {condition})"
    if kind != "any":
        return _of_row(only, _KINDS[kind], alias, dialect, values)
    cases = (
        f"WHEN '{name}' THEN EXISTS "
        f"(SELECT 1 FROM {row.format(a=alias)} AND {_of_row(only, _KINDS[name], 'o', dialect, values)})"
        for name, row in _REFERRED.items()
    )
    return f"CASE {alias}.kind {' '.join(cases)} ELSE {_NOTHING} END"


def _of_row(only: Filter, columns: _Columns, alias: str, dialect: Dialect, values: dict[str, object]) -> str:
    parts = [
        *_times(only, columns, values),
        *_origins(only, columns, values),
        *_session(only, columns, values),
        *_tags(only, columns, dialect, values),
        *(_where(condition, number, columns, dialect, values) for number, condition in enumerate(only.where)),
    ]
    return "(" + (" AND ".join(parts) or "1 = 1").replace("{a}", alias) + ")"


def _times(only: Filter, columns: _Columns, values: dict[str, object]) -> list[str]:
    conditions: list[str] = []
    if only.since is not None:
        values["only_since"] = to_micros(only.since)
        conditions.append(f"{columns.at} >= :only_since")
    if only.until is not None:
        values["only_until"] = to_micros(only.until)
        conditions.append(f"{columns.at} <= :only_until")
    return conditions


def _origins(only: Filter, columns: _Columns, values: dict[str, object]) -> list[str]:
    if only.origins is None:
        return []
    if columns.origin is None:
        return [_NOTHING]
    values["only_origins"] = list(only.origins)
    tools = f" OR substr({columns.origin}, 1, 5) = 'tool:'" if "tool" in only.origins else ""
    return [f"({columns.origin} in_list(:only_origins){tools})"]


def _session(only: Filter, columns: _Columns, values: dict[str, object]) -> list[str]:
    conditions: list[str] = []
    if only.agent is not None:
        values["only_agent"] = only.agent
        conditions.append(
            "EXISTS (SELECT 1 FROM agents oa WHERE oa.space_id = os.space_id AND oa.id = os.agent_id "
            "AND oa.name = :only_agent)"
        )
    if only.conversation is not None:
        values["only_conversation"] = only.conversation
        conditions.append(
            "EXISTS (SELECT 1 FROM conversations oc WHERE oc.space_id = os.space_id AND oc.id = os.conversation_id "
            "AND oc.key = :only_conversation)"
        )
    if only.speaker is not None:
        if columns.speaker_condition is None:
            return [_NOTHING]
        values["only_speaker"] = only.speaker
        conditions.append(columns.speaker_condition)
    if not conditions:
        return []
    return [
        _NOTHING
        if columns.session_join is None
        else f"EXISTS (SELECT 1 FROM {columns.session_join} AND {' AND '.join(conditions)})"
    ]


def _tags(only: Filter, columns: _Columns, dialect: Dialect, values: dict[str, object]) -> list[str]:
    if not only.tags:
        return []
    values["only_tags"] = list(only.tags)
    expand = "json_each" if dialect is Dialect.SQLITE else "json_array_elements_text"
    tag_values = " UNION ALL ".join(
        f"SELECT ow.value FROM {labels} ol CROSS JOIN {expand}(ol.tags) ow" for labels in columns.labels
    )
    if dialect is Dialect.POSTGRES:
        return [f"CAST(:only_tags AS text[]) <@ ARRAY({tag_values})"]
    return [f"NOT EXISTS (SELECT 1 FROM json_each(:only_tags) og WHERE og.value NOT IN ({tag_values}))"]


def _where(condition: Condition, number: int, columns: _Columns, dialect: Dialect, values: dict[str, object]) -> str:
    """Return a condition on a metadata key: the row's own value, or else each inherited value."""
    key, value = f"only_key_{number}", f"only_value_{number}"
    values[key] = condition.key
    # As JSON: each database then reads a number here in the same way as where it is stored.
    values[value] = (
        condition.value if isinstance(condition.value, str) else json.dumps(condition.value, ensure_ascii=False)
    )
    positive = replace(condition, op=Op.EQ) if condition.op is Op.NE else condition
    compared = _sqlite(positive, value) if dialect is Dialect.SQLITE else _postgres(positive, "ow.value", value)
    members = "json_each" if dialect is Dialect.SQLITE else "jsonb_each"
    own, *inherited = columns.labels
    cases = [_under(own, members, key, compared)]
    cases += [
        f"NOT {_under(own, members, key, '1 = 1')} AND {_under(labels, members, key, compared)}" for labels in inherited
    ]
    expression = f"({' OR '.join(cases)})"
    return f"NOT {expression}" if condition.op is Op.NE else expression


def _under(labels: str, members: str, key: str, compared: str) -> str:
    metadata = "ol.metadata" if members == "json_each" else "CAST(ol.metadata AS jsonb)"
    rows = f"{labels} ol CROSS JOIN {members}({metadata}) ow"
    return f"EXISTS (SELECT 1 FROM {rows} WHERE ow.key = :{key} AND {compared})"


def _sqlite(condition: Condition, name: str) -> str:
    value = condition.value
    if isinstance(value, tuple):
        same = " OR ".join(f"({_same(item, 'ow', f':{name} ->> {position}')})" for position, item in enumerate(value))
        return f"({same})"
    if condition.op is Op.EQ:
        return f"({_same(value, 'ow', _bound(value, name))})"
    if condition.op is Op.CONTAINS:
        within = f"EXISTS (SELECT 1 FROM json_each(ow.value) oe WHERE {_same(value, 'oe', _bound(value, name))})"
        part = f"ow.type = 'text' AND instr(ow.value, :{name}) > 0 OR " if isinstance(value, str) else ""
        return f"({part}ow.type = 'array' AND {within})"
    kinds = "('text')" if isinstance(value, str) else "('integer', 'real')"
    return f"(ow.type IN {kinds} AND ow.value {_OPERATORS[condition.op]} {_bound(value, name)})"


def _bound(value: Scalar, name: str) -> str:
    return f":{name}" if isinstance(value, str) else f"(:{name} ->> '$')"


def _same(value: Scalar, row: str, bound: str) -> str:
    if value is None or isinstance(value, bool):
        return f"{row}.type = '{json.dumps(value)}'"
    kinds = "('text')" if isinstance(value, str) else "('integer', 'real')"
    return f"{row}.type IN {kinds} AND {row}.value = {bound}"


def _postgres(condition: Condition, column: str, name: str) -> str:
    value = condition.value
    json_value = f"to_jsonb(CAST(:{name} AS text))" if isinstance(value, str) else f"CAST(:{name} AS jsonb)"
    if condition.op is Op.IN:
        return f"{column} IN (SELECT jsonb_array_elements({json_value}))"
    if condition.op is Op.EQ:
        return f"{column} = {json_value}"
    if condition.op is Op.CONTAINS:
        part = ""
        if isinstance(value, str):
            part = f"jsonb_typeof({column}) = 'string' AND strpos({column} #>> '{{}}', :{name}) > 0 OR "
        return f"({part}jsonb_typeof({column}) = 'array' AND {column} @> jsonb_build_array({json_value}))"
    if isinstance(value, str):
        text = f"({column} #>> '{{}}') COLLATE \"C\""
        return f"(jsonb_typeof({column}) = 'string' AND {text} {_OPERATORS[condition.op]} :{name})"
    return f"(jsonb_typeof({column}) = 'number' AND {column} {_OPERATORS[condition.op]} {json_value})"
