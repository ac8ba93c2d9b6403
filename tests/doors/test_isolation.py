"""Every route without a key, with a wrong scope and with another space's key; and a short isolation campaign."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from bethink.model.access import EVERYWHERE, Scope
from faults.isolation import try_walls
from faults.places import Place
from faults.walls import Wall, without_filters
from tests.conftest import ON_ONE_DATABASE
from tests.doors.server_kit import CANARY, Route, Served, furnish, openapi, operations, serving
from tools import postgres

OPERATIONS = operations()
EMPTY_ELSEWHERE = (
    "space.facts.versions", "space.facts.sources", "space.facts.quotes", "space.documents.versions",
    "space.documents.history", "space.documents.sources",
    "session.strip_citations",
)  # fmt: skip
"""What returns nothing, or what was sent, where there is nothing."""
IN_SPACES = [each for each in OPERATIONS if "{space}" in each.path]


@pytest.fixture
async def served(target: str) -> AsyncIterator[Served]:
    async with serving(target) as served:
        yield served


def test_every_route_but_the_two_about_health_needs_a_key() -> None:
    assert len(OPERATIONS) > 60
    open_paths = {
        path for path, methods in openapi()["paths"].items() if not all(each["security"] for each in methods.values())
    }
    assert open_paths == {"/healthz", "/readyz"}
    assert all(each.scope not in EVERYWHERE for each in IN_SPACES)


@ON_ONE_DATABASE
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)
async def test_wrong_key_scope_or_space_returns_no_rows(served: Served, operation: Route) -> None:
    things = await furnish(served.memory, "alice")
    path = things.path(operation.path) + operation.query

    async def asked(key: str) -> tuple[int, bytes]:
        answer = await served(operation.method, path, operation.body, key=key)
        return answer.status, answer.body

    refused = {"nobody": await asked(""), "stranger": await asked("bt_000000000000." + "A" * 43)}
    assert {status for status, _ in refused.values()} == {401}
    for needed in operation.scopes:
        others = [scope for scope in Scope if scope is not needed]
        refused[f"without {needed}"] = await asked(await served.key_for(*others))
        assert refused[f"without {needed}"][0] == 403
    if operation.everywhere:
        refused["some spaces"] = await asked(await served.key_for(spaces=["alice"]))
        assert refused["some spaces"][0] == 403
    if "{space}" in operation.path:
        refused["other space"] = await asked(await served.key_for(spaces=["bob"]))
        nowhere = await served(
            operation.method, path.replace("alice", "nowhere"), key=await served.key_for(spaces=["bob"])
        )
        assert refused["other space"] == (404, nowhere.body)  # a space that is there looks like one that is not
    assert not [who for who, (_, body) in refused.items() if CANARY.encode() in body]

    spaces = None if operation.scope in EVERYWHERE or operation.everywhere else ["alice"]
    allowed = await asked(await served.key_for(*operation.scopes, spaces=spaces))
    assert allowed[0] not in (401, 403)
    assert b"No such space" not in allowed[1]


async def test_a_refused_request_changes_nothing(served: Served) -> None:
    things = await furnish(served.memory, "alice")
    before = (await served("GET", "/v1/spaces/alice/files")).body, await served.memory.space("alice").facts.count()
    bob = await served.key_for(spaces=["bob"])

    for operation in IN_SPACES:
        for key in ("", bob):
            await served(operation.method, things.path(operation.path) + operation.query, operation.body, key=key)

    after = (await served("GET", "/v1/spaces/alice/files")).body, await served.memory.space("alice").facts.count()
    session = await served.memory.space("alice").sessions.get(things.session_id)
    assert after == before
    assert (session.info.last_number, session.info.ended_at, session.info.invalidated_at) == (2, None, None)


async def test_ids_of_another_space_are_not_found(served: Served) -> None:
    things = await furnish(served.memory, "alice")
    await furnish(served.memory, "bob", "budgerigar")
    bob = await served.key_for(spaces=["bob"])

    for operation in IN_SPACES:
        if operation.path.count("{") == 1:
            continue
        path = things.path(operation.path).replace("/alice/", "/bob/") + operation.query
        path = path.replace("/jobs/index/space", f"/jobs/extract/{things.session_id}")  # every space has the former
        answer = await served(operation.method, path, operation.body, key=bob)
        assert CANARY.encode() not in answer.body, operation.name
        if operation.name not in EMPTY_ELSEWHERE:
            assert answer.status in (404, 409), operation.name


async def test_context_log_never_names_sessions_of_another_space(served: Served) -> None:
    things = await furnish(served.memory, "alice")
    await furnish(served.memory, "bob", "budgerigar")
    bob = await served.key_for(spaces=["bob"])
    body = {"question": "what does the parrot like?", "session_id": things.session_id}

    for operation in ("recall", "context"):
        assert (await served("POST", f"/v1/spaces/bob/{operation}", body, key=bob)).status == 404
    assert (await served("GET", f"/v1/spaces/bob/context-log?session_id={things.session_id}", key=bob)).status == 404
    assert (await served("GET", "/v1/spaces/bob/context-log", key=bob)).json() == {"items": [], "next": ""}


@pytest.mark.slow
@pytest.mark.parametrize("wall", [Wall.BOTH, Wall.QUERIES, Wall.ROWS])
async def test_either_check_alone_isolates_spaces_on_postgres(
    superuser_dsn: str, fresh_dsn: str, tmp_path: Path, wall: Wall
) -> None:
    found = await try_walls(_server(superuser_dsn, fresh_dsn, tmp_path), wall, requests=300, seed=11)

    assert found.foreign + found.failures == []
    assert found.answered > 60


@pytest.mark.slow
async def test_query_filters_isolate_spaces_on_sqlite(tmp_path: Path) -> None:
    found = await try_walls(_file(tmp_path), Wall.BOTH, requests=300, seed=12)

    assert found.foreign + found.failures == []
    assert found.answered > 60


@pytest.mark.mutant
@pytest.mark.slow
async def test_campaign_finds_foreign_rows_without_any_check(
    superuser_dsn: str, fresh_dsn: str, tmp_path: Path
) -> None:
    for where in (_file(tmp_path), _server(superuser_dsn, fresh_dsn, tmp_path)):
        found = await try_walls(where, Wall.NONE, requests=100, seed=13)
        assert len(found.foreign) > 10, where.database


def test_row_security_tests_use_queries_without_space_filters() -> None:
    with without_filters() as changed:
        assert changed > 200


def _file(folder: Path) -> Place:
    path = str(folder / "memory.db")
    return Place(database="sqlite", target=path, raw=path, ledger=folder)


def _server(superuser: str, dsn: str, folder: Path) -> Place:
    raw = postgres.in_database(superuser, str(conninfo_to_dict(dsn)["dbname"]))
    return Place(database="postgres", target=dsn, raw=raw, ledger=folder)
