"""Webhook signatures as Standard Webhooks defines them: only the holder of the secret can sign."""

import pytest

from bethink import verify_webhook
from bethink.errors import PermissionDeniedError
from bethink.features.webhooks.records import sign_message

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NAME, AT, BODY = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
"""From the test vectors of the specification's own libraries."""

HEADERS = {"webhook-id": NAME, "webhook-timestamp": str(AT), "webhook-signature": SIGNATURE}


def test_a_signature_is_that_of_the_specification() -> None:
    assert sign_message(SECRET, NAME, AT, BODY) == SIGNATURE
    verify_webhook(SECRET, HEADERS, BODY, now=AT + 1)


def test_one_of_several_signatures_is_enough() -> None:
    several = {**HEADERS, "webhook-signature": f"v1a,abc v1,AAAA {SIGNATURE}"}

    verify_webhook(SECRET, several, BODY, now=AT)


@pytest.mark.parametrize(
    ("headers", "body", "late"),
    [
        ({}, b'{"test": 2432232315}', 0),
        ({"webhook-id": "msg_other"}, BODY, 0),
        ({"webhook-id": ""}, BODY, 0),
        ({"webhook-timestamp": str(AT + 1)}, BODY, 0),
        ({"webhook-timestamp": "²"}, BODY, 0),
        ({"webhook-timestamp": "9" * 5000}, BODY, 0),
        ({"webhook-timestamp": ""}, BODY, 0),
        ({"webhook-signature": ""}, BODY, 0),
        ({"webhook-signature": "v1,ä"}, BODY, 0),
        ({"webhook-signature": SIGNATURE.replace("v1", "v2")}, BODY, 0),
        ({}, BODY, 301),
        ({}, BODY, -301),
    ],
)
def test_whatever_was_changed_or_is_late_is_denied(headers: dict[str, str], body: bytes, late: float) -> None:
    with pytest.raises(PermissionDeniedError):
        verify_webhook(SECRET, {**HEADERS, **headers}, body, now=AT + late)


def test_another_secret_is_denied() -> None:
    with pytest.raises(PermissionDeniedError):
        verify_webhook("whsec_" + "QUFB" * 8, HEADERS, BODY, now=AT)
