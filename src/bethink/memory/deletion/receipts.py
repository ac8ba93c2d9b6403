"""Receipts of erasures: deleted items, confirmations and unreachable copies, signed by the installation."""

import base64
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from bethink.base.frozen import frozen
from bethink.base.installed import install_hint
from bethink.errors import ConfigurationError, InvalidRequestError
from bethink.model.erasures import Erasure, Tombstone

_ALGORITHM = "Ed25519"
_VERSION = 1
_MAX_DIGESTS = 10_000
_INSTALL = install_hint("receipts")


@frozen
class CheckedReceipt:
    """A receipt whose signature was checked, and the public key it was signed with."""

    receipt: Mapping[str, Any]
    public_key: str


def receipt_of(
    erasure: Erasure, *, plan: Mapping[str, Any], stones: list[Tombstone], out_of_reach: list[dict[str, str]]
) -> dict[str, Any]:  # fmt: skip
    """Return the content of a receipt. It lists deleted items by kind and keyed digest, and contains no text."""
    digests: dict[str, list[str]] = {}
    for stone in stones[:_MAX_DIGESTS]:
        digests.setdefault(stone.kind, []).append(stone.digest)
    return {
        "bethink_receipt": _VERSION,
        "erasure": erasure.id,
        "space": erasure.space,
        "requested_by": erasure.requested_by,
        "key": erasure.key_prefix,
        "reason": erasure.reason,
        "requested_at": erasure.requested_at.isoformat(),
        "settled_at": _when(erasure.settled_at),
        "counts": plan.get("counts", {}),
        "digests": digests,
        "digests_left_off": max(0, len(stones) - _MAX_DIGESTS),
        "digest_key": sorted({stone.key_id for stone in stones}),
        "sinks": {state.sink: _when(state.confirmed_at) for state in erasure.sinks},
        "shown_to": plan.get("shown_to", []),
        "out_of_reach": out_of_reach,
    }


def sign_receipt(receipt: Mapping[str, Any], *, seed: bytes) -> str:
    """Return a receipt as JSON text with a signature. Without the extra `receipts`, it is unsigned and says so."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - an extra
    except ImportError:
        return _text(
            {"receipt": receipt, "signature": None, "unsigned_because": f"cryptography is missing. {_INSTALL}"}
        )
    key = Ed25519PrivateKey.from_private_bytes(seed)
    signature = {
        "algorithm": _ALGORITHM,
        "public_key": _encode(key.public_key().public_bytes_raw()),
        "value": _encode(key.sign(_signed_bytes(receipt))),
    }
    return _text({"receipt": receipt, "signature": signature})


def verify_receipt(text: str, *, public_key: str | None = None) -> CheckedReceipt:
    """Check the signature of a receipt, without any database.

    Anyone can sign with their own key: pass the `public_key` of the installation that must have issued the receipt.

    Raises:
        InvalidRequestError: if the text is not a receipt, is unsigned, was altered, or was signed with another key.
        ConfigurationError: if the extra `receipts` is not installed.
    """
    receipt, signature = _parts(text)
    try:
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415
    except ImportError as error:
        raise ConfigurationError(
            "Cannot check the signature: install the package cryptography.", hint=_INSTALL
        ) from error
    try:
        key = Ed25519PublicKey.from_public_bytes(_decode(signature["public_key"]))
        key.verify(_decode(signature["value"]), _signed_bytes(receipt))
    except (InvalidSignature, ValueError, KeyError, TypeError) as error:
        raise InvalidRequestError(
            "Invalid signature: this receipt has been altered.", hint="Request the receipt again."
        ) from error
    if public_key is not None and public_key != signature["public_key"]:
        raise InvalidRequestError(
            f"The receipt was signed with another key, {signature['public_key']}.",
            hint="Compare it with 'bethink admin erasures --public-key' of the installation that issued it.",
        )
    return CheckedReceipt(receipt=receipt, public_key=signature["public_key"])


def public_key_of(seed: bytes) -> str:
    """Return the public key of an installation. Raises `ConfigurationError` without the extra `receipts`."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigurationError("The public key needs the package cryptography.", hint=_INSTALL) from error
    return _encode(Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw())


def _parts(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        parsed: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequestError(
            "Not a receipt: the text is not valid JSON.", hint="Pass the file that `forget` wrote."
        ) from error
    if not isinstance(parsed, dict) or not isinstance(cast("dict[str, Any]", parsed).get("receipt"), dict):
        raise InvalidRequestError(
            "Not a receipt: the key `receipt` is missing.", hint="Pass the file that `forget` wrote."
        )
    content = cast("dict[str, Any]", parsed)
    if not isinstance(content.get("signature"), dict):
        why = str(content.get("unsigned_because", "No reason is given."))
        raise InvalidRequestError(
            f"The receipt is not signed: {why}", hint="Request the receipt again once it can be signed."
        )
    return content["receipt"], content["signature"]


def _signed_bytes(receipt: Mapping[str, Any]) -> bytes:
    """Return the bytes to sign: ASCII JSON with sorted keys and no spaces."""
    return json.dumps(receipt, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def _text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=True)


def _when(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
