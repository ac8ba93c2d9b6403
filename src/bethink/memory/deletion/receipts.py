"""Receipts of erasures: what went, where it was confirmed and what was out of reach, signed by the installation."""

import base64
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from bethink.base.frozen import frozen
from bethink.errors import Invalid, Misconfigured
from bethink.model.erasures import Erasure, Tombstone

_ALGORITHM = "Ed25519"
_VERSION = 1
_MOST_DIGESTS = 10_000
_INSTALL = "Install it with: pip install 'bethink[receipts]'."


@frozen
class CheckedReceipt:
    """A receipt whose signature was checked, and the public key it was signed with."""

    receipt: Mapping[str, Any]
    public_key: str


def receipt_of(
    erasure: Erasure, *, plan: Mapping[str, Any], stones: list[Tombstone], out_of_reach: list[dict[str, str]]
) -> dict[str, Any]:  # fmt: skip
    """Return what a receipt says. It names what went by kind and keyed digest, and holds no text."""
    digests: dict[str, list[str]] = {}
    for stone in stones[:_MOST_DIGESTS]:
        digests.setdefault(stone.kind, []).append(stone.digest)
    return {
        "bethink_receipt": _VERSION,
        "erasure": erasure.id,
        "space": erasure.space,
        "asked_by": erasure.asked_by,
        "key": erasure.key_prefix,
        "reason": erasure.reason,
        "requested_at": erasure.requested_at.isoformat(),
        "settled_at": _when(erasure.settled_at),
        "went": plan.get("went", {}),
        "digests": digests,
        "digests_left_off": max(0, len(stones) - _MOST_DIGESTS),
        "digest_key": sorted({stone.key_id for stone in stones}),
        "sinks": {each.sink: _when(each.confirmed_at) for each in erasure.sinks},
        "shown_to": plan.get("shown_to", []),
        "out_of_reach": out_of_reach,
    }


def signed(receipt: Mapping[str, Any], *, seed: bytes) -> str:
    """Return a receipt as JSON text with a signature. Without the extra `receipts` it is unsigned, and says so."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - an extra
    except ImportError:
        return _text(
            {"receipt": receipt, "signature": None, "unsigned_because": f"cryptography is missing. {_INSTALL}"}
        )
    key = Ed25519PrivateKey.from_private_bytes(seed)
    signature = {
        "algorithm": _ALGORITHM,
        "public_key": _encoded(key.public_key().public_bytes_raw()),
        "value": _encoded(key.sign(_signed_bytes(receipt))),
    }
    return _text({"receipt": receipt, "signature": signature})


def verified(text: str, *, public_key: str | None = None) -> CheckedReceipt:
    """Check the signature of a receipt, without any database.

    Anybody can sign with a key of their own: pass the `public_key` of the installation that the receipt must be from.

    Raises:
        Invalid: if it is not a receipt, is unsigned, was changed, or was signed with another key.
        Misconfigured: if the extra `receipts` is not installed.
    """
    receipt, signature = _parts(text)
    try:
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415
    except ImportError as error:
        raise Misconfigured("cannot check a signature: cryptography is missing.", hint=_INSTALL) from error
    try:
        key = Ed25519PublicKey.from_public_bytes(_decoded(signature["public_key"]))
        key.verify(_decoded(signature["value"]), _signed_bytes(receipt))
    except (InvalidSignature, ValueError, KeyError, TypeError) as error:
        raise Invalid("the signature does not fit: the receipt was changed.", hint="Ask for it again.") from error
    if public_key is not None and public_key != signature["public_key"]:
        raise Invalid(
            f"the receipt was signed with another key, {signature['public_key']}.",
            hint="Compare it with 'bethink erasures --public-key' of the installation it should be from.",
        )
    return CheckedReceipt(receipt=receipt, public_key=signature["public_key"])


def public_key_of(seed: bytes) -> str:
    """Return the public key of an installation. Raises `Misconfigured` without the extra `receipts`."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise Misconfigured("the public key needs the package cryptography.", hint=_INSTALL) from error
    return _encoded(Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw())


def _parts(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        whole: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid("this is not a receipt: it is not JSON.", hint="Pass the file that forget wrote.") from error
    if not isinstance(whole, dict) or not isinstance(cast("dict[str, Any]", whole).get("receipt"), dict):
        raise Invalid("this is not a receipt.", hint="Pass the file that forget wrote.")
    found = cast("dict[str, Any]", whole)
    if not isinstance(found.get("signature"), dict):
        why = str(found.get("unsigned_because", "no reason is given."))
        raise Invalid(f"the receipt is not signed: {why}", hint="Ask for it again once it can be signed.")
    return found["receipt"], found["signature"]


def _signed_bytes(receipt: Mapping[str, Any]) -> bytes:
    """Return what is signed: ASCII JSON with sorted keys and no spaces."""
    return json.dumps(receipt, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def _text(whole: Mapping[str, Any]) -> str:
    return json.dumps(whole, sort_keys=True, ensure_ascii=True)


def _when(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
