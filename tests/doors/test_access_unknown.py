"""Unknown and expired keys: repeated lookups are cached, and a new key works at once."""

import secrets
from dataclasses import dataclass
from datetime import timedelta

import pytest

from bethink.errors import DatabaseUnavailableError
from bethink.model.access import NewKey, Scope
from bethink.store.api_keys import StoredKey
from bethink.store.db import Database, Tx
from tests.conftest import FakeClock
from tests.doors.conftest import KeyRing, Timer

NOBODYS = "bt_0123456789ab." + "A" * 43


async def asks_the_database(keys: KeyRing, database: Database, key: str) -> bool:
    await database.close()
    try:
        assert await keys.find(key) is None
    except DatabaseUnavailableError:
        return True
    finally:
        await database.open()
    return False


async def test_unknown_prefix_is_cached_for_some_seconds(keys: KeyRing, database: Database, timer: Timer) -> None:
    assert await keys.find(NOBODYS) is None

    timer.now += 4.9
    assert not await asks_the_database(keys, database, NOBODYS)
    assert not await asks_the_database(keys, database, NOBODYS[:-1] + "B")
    timer.now += 0.2
    assert await asks_the_database(keys, database, NOBODYS)


@pytest.mark.parametrize("how", ["revoked", "expired", "spoilt"])
async def test_expired_or_wrong_key_is_cached_for_some_seconds(
    keys: KeyRing, database: Database, timer: Timer, clock: FakeClock, how: str
) -> None:
    made = await keys.create(name="gone", scopes=[Scope.READ], expires_at=clock.time + timedelta(minutes=1))
    key = made.key[:-1] + ("A" if made.key[-1] != "A" else "B") if how == "spoilt" else made.key
    if how == "revoked":
        await keys.revoke(made.info.prefix)
    if how == "expired":
        clock.time += timedelta(seconds=60)
    assert await keys.find(key) is None

    assert not await asks_the_database(keys, database, key)
    assert (await keys.find(made.key) is not None) == (how == "spoilt")  # the true one is not kept out by it
    timer.now += 5.1
    assert await asks_the_database(keys, database, key)


@dataclass(frozen=True, slots=True)
class Always:
    text: str

    def __call__(self, size: int) -> str:
        del size
        return self.text


async def made_as(keys: KeyRing, key: str, monkeypatch: pytest.MonkeyPatch) -> NewKey:
    """Make a key of a text that is known beforehand."""
    head, _, secret = key.removeprefix("bt_").partition(".")
    with monkeypatch.context() as patch:
        patch.setattr(secrets, "token_hex", Always(head))
        patch.setattr(secrets, "token_urlsafe", Always(secret))
        return await keys.create(name="new", scopes=[Scope.READ])


async def test_new_key_works_at_once_after_a_rejection(keys: KeyRing, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await keys.find(NOBODYS) is None

    assert (await made_as(keys, NOBODYS, monkeypatch)).key == NOBODYS

    assert await keys.find(NOBODYS) is not None


async def test_key_created_during_lookup_works_at_once(
    keys: KeyRing, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    transact = database.transact

    async def overtaken(body: object, **more: bool) -> object:
        found = await transact(body, **more)  # pyright: ignore[reportArgumentType, reportUnknownVariableType]
        if more.get("read_only"):
            monkeypatch.setattr(database, "transact", transact)
            await made_as(keys, NOBODYS, monkeypatch)
        return found  # pyright: ignore[reportUnknownVariableType]

    await keys.list()
    await keys.find("bt_ffffffffffff." + "A" * 43)  # so that all is prepared
    monkeypatch.setattr(database, "transact", overtaken)
    assert await keys.find(NOBODYS) is None  # it was not there when it was looked for

    assert await keys.find(NOBODYS) is not None


async def test_cache_of_unknown_keys_is_bounded(keys: KeyRing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bethink.memory.access.keys._MAX_CACHED", 3)
    looked: list[str] = []

    def nobody(tx: Tx, *, prefix: str) -> StoredKey | None:
        del tx
        looked.append(prefix)
        return None

    monkeypatch.setattr("bethink.store.api_keys.find", nobody)
    for number in (0, 1, 2, 3, 3, 1, 0):
        await keys.find(f"bt_{number:012x}." + "A" * 43)

    assert [int(prefix, 16) for prefix in looked] == [0, 1, 2, 3, 0]
    assert len(keys.service._unknown) == 3
