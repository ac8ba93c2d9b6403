"""Erasures on the command line: listed, with a receipt that can be verified without the database."""

import json
from pathlib import Path

from tests.doors.cli_kit import items, ok, run


def test_a_receipt_is_written_listed_and_checked_without_the_database(tmp_path: Path) -> None:
    on = ("--database", str(tmp_path / "memory.db"))
    receipt = tmp_path / "receipt.json"
    ok("add", "My therapist is Kavurimote.", *on)

    ok("forget", "--all", "--yes", "--reason", "request 12", "--receipt", str(receipt), *on)
    [listed] = items("admin", "erasures", *on)
    key = ok("admin", "erasures", "--public-key", *on)["public_key"]
    assert items("admin", "erasures", "--open", *on) == []
    (tmp_path / "memory.db").unlink()

    assert listed["reason"] == "request 12"
    assert receipt.stat().st_mode & 0o777 == 0o600
    checked = ok("admin", "receipt", "verify", str(receipt), "--public-key", key)
    assert checked["receipt"]["erasure"] == listed["id"]
    changed = json.loads(receipt.read_text())
    changed["receipt"]["counts"]["messages"] = 7
    receipt.write_text(json.dumps(changed))
    assert run("admin", "receipt", "verify", str(receipt)).code != 0
    assert run("admin", "receipt", "verify", str(tmp_path / "none.json")).code == 2


def test_a_dry_run_lists_what_would_go(tmp_path: Path) -> None:
    on = ("--database", str(tmp_path / "memory.db"))
    ok("add", "My therapist is Kavurimote.", *on)
    session = items("sessions", *on)[0]["session"]["id"]

    done = run("forget", "--session", session, "--dry-run", *on)

    assert f"message:{session}:1" in done.out
    assert items("admin", "erasures", *on) == []


def test_an_export_is_named_in_the_receipt_as_out_of_reach(tmp_path: Path) -> None:
    on = ("--database", str(tmp_path / "memory.db"))
    ok("add", "My therapist is Kavurimote.", *on)
    ok("data", "export", "--output", str(tmp_path / "mine.jsonl"), *on)

    gone = ok("forget", "--all", "--yes", *on)

    named = json.loads(gone["receipt"])["receipt"]["out_of_reach"]
    assert any(str(tmp_path / "mine.jsonl") in each["why"] for each in named)
    assert (tmp_path / "mine.jsonl").exists()
