"""Retention on the command line and through a server: rules, sweeps, legal holds, and who may lift one."""

import pytest

from tests.doors.cli_kit import items, ok, run
from tests.doors.server_kit import serving

pytestmark = pytest.mark.usefixtures("home")


def test_rules_are_set_shown_swept_and_removed(on: list[str]) -> None:
    ok("add", "green tea", *on)
    ok("admin", "retention", "set", "message", "--older-than", "30", "--yes", *on)
    ok("admin", "retention", "set", "fact", "--older-than", "1", "--origin", "tool", "--yes", *on)

    found = ok("admin", "retention", *on)
    assert [(each["kind"], each["origin"], each["older_than"]) for each in found["rules"]] == [
        ("message", None, 30),
        ("fact", "tool", 1),
    ]
    assert "30 days" in run("admin", "retention", "show", *on).out
    assert ok("admin", "retention", "sweep", "--dry-run", *on)["deletion"]["messages"] == 0
    assert run("admin", "retention", "sweep", "--yes", *on).out == "Deleted nothing.\n"
    ok("admin", "retention", "remove", "fact", "--origin", "tool", *on)
    assert len(ok("admin", "retention", *on)["rules"]) == 1


def test_a_rule_and_a_sweep_ask_first(on: list[str]) -> None:
    ok("add", "green tea", *on)
    assert run("admin", "retention", "set", "message", "--older-than", "30", *on).code == 2
    assert run("admin", "retention", "sweep", *on).code == 2
    assert ok("admin", "retention", *on)["rules"] == []


def test_space_under_legal_hold_cannot_be_deleted(on: list[str]) -> None:
    ok("add", "green tea", *on)
    hold = ok("admin", "hold", "place", "--reason", "case 12", *on)["id"]

    refused = run("forget", "--all", "--yes", *on)
    assert refused.code == 1
    assert "case 12" in refused.err
    assert "bethink admin hold lift" in refused.err
    assert "legal hold blocks" in run("admin", "retention", *on).err
    assert [each["id"] for each in items("admin", "hold", "list", "--all", *on)] == [hold]
    assert run("admin", "hold", "lift", hold, "--reason", "closed", *on).code == 2, "it asks first"

    ok("admin", "hold", "lift", hold, "--reason", "closed", "--yes", *on)
    assert items("admin", "hold", "list", "--all", *on) == []
    assert items("admin", "hold", "list", *on)[0]["lift_reason"] == "closed"
    assert ok("forget", "--all", "--yes", *on)["messages"] == 1


def test_forget_before_a_day_deletes_older_messages(on: list[str]) -> None:
    ok("add", "green tea", *on)
    assert ok("forget", "--before", "2020-01-01", "--yes", *on)["messages"] == 0
    assert ok("forget", "--before", "2999-01-01", "--conversation", "nowhere", "--dry-run", *on)["messages"] == 0
    assert ok("forget", "--before", "2999-01-01", "--yes", *on)["messages"] == 1


async def test_erase_key_places_legal_hold_and_operate_key_lifts_it(target: str) -> None:
    async with serving(target) as served:
        await served.memory.space("alice").remember("green tea", idempotency_key="k1")
        eraser = await served.key_for("read", "write", "erase", spaces=["alice"])
        operator = await served.key_for("operate")
        path = "/v1/spaces/alice"

        placed = await served("POST", f"{path}/legal-holds", {"reason": "case 12"}, key=eraser)
        assert placed.status == 201
        refused = await served("POST", f"{path}/forget", {"everything": True}, key=eraser)
        assert (refused.status, refused.json()["code"]) == (409, "LegalHoldError")
        lift = f"/v1/legal-holds/{placed.json()['id']}/lift"
        assert (await served("POST", lift, {"space": "alice", "reason": "closed"}, key=eraser)).status == 403
        assert (await served("GET", "/v1/legal-holds", key=eraser)).status == 403
        assert (await served("POST", lift, {"space": "alice", "reason": "closed"}, key=operator)).status == 200

        assert (await served("POST", f"{path}/forget", {"everything": True}, key=eraser)).status == 200
        again = {"messages": "green tea", "idempotency_key": "k1"}
        late = await served("POST", f"{path}/remember", again, key=eraser)
        assert (late.status, late.json()["code"]) == (409, "ErasedKeyError")
