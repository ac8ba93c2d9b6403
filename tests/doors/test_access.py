import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import anyio
import pytest

from bethink.errors import ConflictError, DatabaseUnavailableError, InvalidRequestError, NotFoundError
from bethink.model.access import EVERYWHERE, KeyInfo, Scope
from bethink.store.db import Database, Tx
from tests.conftest import FakeClock
from tests.doors.conftest import KeyRing, Timer

SECOND = timedelta(seconds=1)
MINUTE = 60 * SECOND


async def rows(database: Database) -> str:
    def body(tx: Tx) -> str:
        return json.dumps([dict(row) for row in tx.all("list_api_keys")], default=str)

    return await database.transact(body, read_only=True)


async def test_key_opens_only_its_spaces_and_scopes(keys: KeyRing) -> None:
    made = await keys.create(name="reader", scopes=[Scope.READ], spaces=["alice", "bob"])

    found = await keys.find(made.key)

    assert found is not None
    assert (found.prefix, found.name, found.scopes) == (made.info.prefix, "reader", {Scope.READ})
    assert found.allows_space("alice")
    assert found.allows_space("bob")
    assert not found.allows_space("carol")
    assert (await keys.create(name="all", scopes=Scope)).info.allows_space("anybody")


async def test_key_secret_has_256_bits_and_is_never_stored_or_shown(keys: KeyRing, database: Database) -> None:
    made = await keys.create(name="reader", scopes=[Scope.READ])
    head, _, secret = made.key.partition(".")

    assert head == f"bt_{made.info.prefix}"
    assert len(secret) == 43
    assert secret not in repr(made) + repr(made.info) + repr(await keys.list()) + repr(keys)
    assert secret not in await rows(database)
    assert (await keys.create(name="reader", scopes=[Scope.READ])).key.partition(".")[2] != secret


SPOILT: dict[str, Callable[[str], str]] = {
    "last digit": lambda key: key[:-1] + ("A" if key[-1] != "A" else "B"),
    "other kind": lambda key: key.replace("bt_", "bx_"),
    "other prefix": lambda key: "bt_000000000000" + key[15:],
    "longer": lambda key: key + "x",
    "upper case": lambda key: key.upper(),
    "empty": lambda key: key[:0],
    "prefix only": lambda key: key.partition(".")[0],
    "not ascii": lambda key: "bt_" + "é" * 12 + key[15:],
}


@pytest.mark.parametrize("how", SPOILT)
async def test_malformed_key_is_rejected(keys: KeyRing, how: str) -> None:
    made = await keys.create(name="reader", scopes=[Scope.READ])
    assert await keys.find(made.key) is not None

    assert await keys.find(SPOILT[how](made.key)) is None


async def test_a_key_made_under_another_deployment_opens_nothing_here(
    keys: KeyRing, database: Database, timer: Timer
) -> None:
    made = await keys.create(name="reader", scopes=[Scope.READ])

    await database.transact(lambda tx: tx.script("UPDATE deployment_keys SET value = substr(value, 3) || '00'"))

    assert await KeyRing(database, timer=timer).find(made.key) is None


async def test_cached_key_still_expires(keys: KeyRing, clock: FakeClock, timer: Timer) -> None:
    made = await keys.create(name="short", scopes=[Scope.READ], expires_at=clock.time + 2 * SECOND)
    assert await keys.find(made.key) is not None

    timer.now += 1.9
    clock.time += 1.9 * SECOND
    assert await keys.find(made.key) is not None
    timer.now += 0.2
    clock.time += 0.2 * SECOND

    assert await keys.find(made.key) is None


async def test_revoked_key_fails_at_once_locally_and_soon_elsewhere(
    keys: KeyRing, database: Database, timer: Timer
) -> None:
    elsewhere = KeyRing(database, timer=timer)
    made = await keys.create(name="reader", scopes=[Scope.READ])
    assert await keys.find(made.key) is not None
    assert await elsewhere.find(made.key) is not None

    await keys.revoke(made.info.prefix)

    assert await keys.find(made.key) is None
    timer.now += 4.9
    assert await elsewhere.find(made.key) is not None  # remembered: the price of not asking each time
    timer.now += 0.2
    assert await elsewhere.find(made.key) is None
    [told] = [each for each in await keys.list() if each.prefix == made.info.prefix]
    assert told.revoked_at is not None


async def test_valid_key_is_cached_for_some_seconds(keys: KeyRing, database: Database, timer: Timer) -> None:
    made = await keys.create(name="reader", scopes=[Scope.READ])
    assert await keys.find(made.key) is not None

    await database.close()

    timer.now += 4.9
    assert await keys.find(made.key) is not None
    timer.now += 0.2
    with pytest.raises(DatabaseUnavailableError):
        await keys.find(made.key)
    await database.open()


async def test_the_last_use_is_noted_at_most_once_a_minute(
    keys: KeyRing, database: Database, clock: FakeClock, timer: Timer
) -> None:
    made = await keys.create(name="reader", scopes=[Scope.READ])

    async def used() -> datetime | None:
        timer.now += 10
        assert await keys.find(made.key) is not None
        [told] = [each for each in await keys.list() if each.prefix == made.info.prefix]
        return told.last_used_at

    first = await used()
    clock.time += MINUTE // 2
    assert await used() == first
    clock.time += MINUTE // 2
    later = await used()

    assert first is not None
    assert later is not None
    assert later >= first + MINUTE


async def test_rotated_key_works_during_overlap_with_equal_rights(
    keys: KeyRing, clock: FakeClock, timer: Timer
) -> None:
    old = await keys.create(
        name="app", scopes=[Scope.READ, Scope.WRITE], spaces=["alice"], expires_at=clock.time + 10 * MINUTE
    )
    clock.time += 5 * MINUTE

    new = await keys.rotate(old.info.prefix, overlap=60)

    assert (new.info.name, new.info.scopes, new.info.spaces) == ("app", old.info.scopes, old.info.spaces)
    assert new.info.expires_at is not None
    assert abs(new.info.expires_at - clock.time - 10 * MINUTE) < SECOND  # as long as the first was made for
    assert await keys.find(old.key) is not None
    assert await keys.find(new.key) is not None
    clock.time += MINUTE + SECOND
    timer.now += 61
    assert await keys.find(old.key) is None
    assert await keys.find(new.key) is not None
    with pytest.raises(ConflictError):
        await keys.rotate(old.info.prefix)


async def test_rotating_never_lets_a_key_live_longer(keys: KeyRing, clock: FakeClock) -> None:
    old = await keys.create(name="app", scopes=[Scope.READ], expires_at=clock.time + MINUTE)

    await keys.rotate(old.info.prefix, overlap=86_400)

    [told] = [each for each in await keys.list() if each.prefix == old.info.prefix]
    assert told.expires_at == old.info.expires_at


@pytest.mark.parametrize(
    "wrong",
    [
        {"scopes": []},
        {"scopes": ["everything"]},
        {"spaces": []},
        {"spaces": [""]},
        {"spaces": ["a\0b"]},
        {"name": ""},
        {"name": "x" * 201},
        {"expires_at": 1},
    ],
)
async def test_invalid_key_is_not_created(keys: KeyRing, wrong: dict[str, Any]) -> None:
    before = len(await keys.list())

    arguments: dict[str, Any] = {"name": "reader", "scopes": ["read"], **wrong}
    with pytest.raises(InvalidRequestError):
        await keys.create(**arguments)

    assert len(await keys.list()) == before


async def test_single_scope_and_space_are_lists_of_one(keys: KeyRing) -> None:
    made = await keys.create(name="reader", scopes="read", spaces="alice")

    assert (made.info.scopes, made.info.spaces) == ({"read"}, {"alice"})


async def test_missing_key_cannot_be_revoked_or_rotated(keys: KeyRing) -> None:
    with pytest.raises(NotFoundError):
        await keys.revoke("000000000000")
    with pytest.raises(NotFoundError):
        await keys.rotate("000000000000")
    with pytest.raises(InvalidRequestError):
        await keys.rotate("000000000000", overlap=-1)


async def test_keys_made_by_two_at_the_same_moment_are_good_for_both(database: Database) -> None:
    first, second = KeyRing(database), KeyRing(database)
    made: list[str] = []

    async def make(keys: KeyRing) -> None:
        made.append((await keys.create(name="reader", scopes=[Scope.READ])).key)

    async with anyio.create_task_group() as tasks:
        for keys in (first, second):
            tasks.start_soon(make, keys)

    for keys in (first, second, KeyRing(database)):
        assert [await keys.find(key) is not None for key in made] == [True, True]


async def test_a_key_of_some_spaces_is_never_an_admins(database: Database) -> None:
    with pytest.raises(InvalidRequestError):
        await KeyRing(database).create(name="half", scopes=[Scope.READ, Scope.OPERATE], spaces=["alice"])
    for scope in EVERYWHERE:
        with pytest.raises(InvalidRequestError, match=scope):
            await KeyRing(database).create(name="half", scopes=[scope], spaces=["alice"])


async def test_key_revoked_during_lookup_is_not_cached(database: Database) -> None:
    keys = KeyRing(database)
    made = await keys.create(name="gone", scopes=[Scope.READ])
    used = keys.service._touch

    async def revoked_meanwhile(database: Database, info: KeyInfo, now: datetime) -> KeyInfo:
        await keys.revoke(made.info.prefix)
        return await used(database, info, now)

    keys.service._touch = revoked_meanwhile
    await keys.find(made.key)
    keys.service._touch = used

    assert await keys.find(made.key) is None


async def test_a_key_opens_where_its_use_cannot_be_noted(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = KeyRing(database)
    made = await keys.create(name="reader", scopes=[Scope.READ])

    def full(tx: Tx, *, prefix: str, before: int) -> None:
        raise DatabaseUnavailableError("the disk is full.")

    monkeypatch.setattr("bethink.store.api_keys.touch", full)
    found = await keys.find(made.key)
    assert found is not None
    assert found.prefix == made.info.prefix
