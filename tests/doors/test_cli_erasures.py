"""Erasures from a terminal: listed, with a receipt that is checked without the database."""

import json
from pathlib import Path

from tests.doors.cli_kit import ok, run


def test_a_receipt_is_written_listed_and_checked_without_the_database(tmp_path: Path) -> None:
    on = ("--database", str(tmp_path / "memory.db"))
    receipt = tmp_path / "receipt.json"
    ok("add", "My therapist is Kavurimote.", *on)

    ok("forget", "--everything", "--yes", "--reason", "request 12", "--receipt", str(receipt), *on)
    [listed] = ok("erasures", *on)
    key = ok("erasures", "--public-key", *on)["public_key"]
    assert ok("erasures", "--open", *on) == []
    (tmp_path / "memory.db").unlink()

    assert listed["reason"] == "request 12"
    assert receipt.stat().st_mode & 0o777 == 0o600
    checked = ok("verify-receipt", str(receipt), "--public-key", key)
    assert checked["receipt"]["erasure"] == listed["id"]
    changed = json.loads(receipt.read_text())
    changed["receipt"]["went"]["messages"] = 7
    receipt.write_text(json.dumps(changed))
    assert run("verify-receipt", str(receipt)).code != 0
    assert run("verify-receipt", str(tmp_path / "none.json")).code == 2


def test_a_dry_run_lists_what_would_go(tmp_path: Path) -> None:
    on = ("--database", str(tmp_path / "memory.db"))
    ok("add", "My therapist is Kavurimote.", *on)
    session = ok("sessions", *on)[0]["session"]["id"]

    done = run("forget", "--session", session, "--dry-run", *on)

    assert f"message:{session}:1" in done.out
    assert ok("erasures", *on) == []


def test_an_export_is_named_in_the_receipt_as_out_of_reach(tmp_path: Path) -> None:
    on = ("--database", str(tmp_path / "memory.db"))
    ok("add", "My therapist is Kavurimote.", *on)
    ok("export", "--output", str(tmp_path / "mine.jsonl"), *on)

    gone = ok("forget", "--everything", "--yes", *on)

    named = json.loads(gone["receipt"])["receipt"]["out_of_reach"]
    assert any(str(tmp_path / "mine.jsonl") in each["why"] for each in named)
    assert (tmp_path / "mine.jsonl").exists()
