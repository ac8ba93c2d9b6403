"""Sends changes to webhooks: signed, in the order of each space, again until they arrive."""

import hashlib
import json
import ssl
import time
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

import anyio
from anyio.abc import TaskGroup

from bethink.base.backoff import pause_after
from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.errors import Invalid, Misconfigured, StoreError
from bethink.features.webhooks import queries as webhooks
from bethink.features.webhooks.addresses import destination
from bethink.features.webhooks.queries import ClaimedQueue
from bethink.features.webhooks.records import WebhookInfo, signed
from bethink.features.webhooks.service import need_client, secret_of
from bethink.model.changes import MemoryChange
from bethink.store import changes
from bethink.store.db import Database, Tx

if TYPE_CHECKING:
    import httpx2

_GONE = 410
_log = logger("webhooks")


@frozen
class DeliveryOptions:
    """How changes are sent. Times are seconds."""

    allow_private: bool = False
    timeout: float = 15.0
    give_up_days: float = 3.0
    first_pause: float = 5.0
    longest_pause: float = 3600.0
    lease: float = 60.0
    queues: int = 16
    """Spaces whose changes are sent to one webhook at a time."""
    webhooks: int = 32
    """Webhooks that are served at a time. Others take turns with them, first come, first served."""
    batch: int = 50
    """Changes that are sent under one claim."""


class Reply(NamedTuple):
    """What came of one request: a status, why it failed, and for how long the receiver asked to wait."""

    status: int
    error: str | None
    wait: float = 0.0


class _Work(NamedTuple):
    webhook: WebhookInfo
    secret: str
    changes: list[MemoryChange]


class Deliverer:
    """Any number of workers may deliver: a claim keeps them apart, and changes of one space in order.

    Each webhook has a task of its own, so that a slow receiver delays no other.
    """

    def __init__(self, database: Database, options: DeliveryOptions | None = None) -> None:
        self._database = database
        self._options = options or DeliveryOptions()
        # A claim is renewed after each answer: a lease that ends before the answer may come would never be renewed.
        self._lease = timedelta(seconds=max(self._options.lease, 2 * self._options.timeout))
        self._serving: set[str] = set()
        self._turns = anyio.CapacityLimiter(self._options.webhooks)
        self._trust: ssl.SSLContext | None = None
        self._told = False

    async def run_once(self) -> int:
        """Send every change that is due. Returns the number of webhooks that it was sent to."""
        started = 0
        async with anyio.create_task_group() as tasks:
            started += await self.start(tasks)
        return started

    async def start(self, tasks: TaskGroup) -> int:
        """Start a task for each webhook that has something due and no task yet. Returns the number of new tasks."""
        due = await self._database.transact(webhooks.due, read=True)
        idle = [webhook_id for webhook_id in due if webhook_id not in self._serving]
        if not idle or not self._can_send():
            return 0
        self._serving.update(idle)
        for webhook_id in idle:
            tasks.start_soon(self._serve, webhook_id)
        return len(idle)

    async def _serve(self, webhook_id: str) -> None:
        """Send changes to one webhook until none is due."""
        try:
            has_more = True
            while has_more:
                async with self._turns:
                    has_more = await self._serve_some(webhook_id)
        except StoreError as error:  # the tasks of other webhooks go on
            _log.error("the database is unavailable: %s", type(error).__name__)
        finally:
            self._serving.discard(webhook_id)

    async def _serve_some(self, webhook_id: str) -> bool:
        """Claim some queues of a webhook, and send what waits in them. Returns False if none is due."""
        limit, held = self._options.queues, list[ClaimedQueue]()
        with anyio.CancelScope(shield=True):  # when cancelled here, the claims must still be known to be released
            held = await self._database.transact(
                lambda tx: webhooks.claim(tx, webhook_id=webhook_id, lease=self._lease, limit=limit)
            )
        async with anyio.create_task_group() as tasks:
            for queue in held:
                tasks.start_soon(self._deliver, queue)
        return bool(held)

    def _can_send(self) -> bool:
        try:
            need_client()
        except Misconfigured as error:
            if not self._told:
                _log.warning("changes are not sent: %s", error)
            self._told = True
            return False
        return True

    async def _deliver(self, held: ClaimedQueue) -> None:
        """Send what waits in one queue until it is empty, something fails, or the claim is lost."""
        try:
            work = await self._database.transact(lambda tx: self._begin(tx, held), space=held.space, read=True)
            if work is not None and work.changes and await self._send_all(held, work):
                return
            lost = work is not None and not work.changes
            await self._release(held, lost=lost)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True), suppress(StoreError):
                await self._release(held)
            raise
        except Exception as error:  # noqa: BLE001 - the worker's loop: one queue must not stop the others
            _log.warning("a delivery is not noted and will be repeated: %s", type(error).__name__)

    def _begin(self, tx: Tx, held: ClaimedQueue) -> _Work | None:
        webhook = webhooks.find(tx, webhook_id=held.webhook_id)
        if webhook is None or webhook.disabled_at is not None:
            return None
        waiting = changes.kept_after(tx, space=held.space, number=held.delivered, limit=self._options.batch)
        return _Work(webhook, secret_of(tx, webhook.id), waiting)

    async def _release(self, held: ClaimedQueue, *, lost: bool = False) -> None:
        await self._database.transact(lambda tx: webhooks.release(tx, held, lost=lost), repeatable=True)

    async def _send_all(self, held: ClaimedQueue, work: _Work) -> bool:
        """Send changes one after the other. Returns True if the claim is over, because one failed or it was lost."""
        async with self._client() as http:
            for change in work.changes:
                answer = await self._send(http, work, change)
                if answer.error is not None:
                    await self._failed(held, change, answer, first=change is work.changes[0])
                    return True
                ours = await self._database.transact(
                    lambda tx, change=change, answer=answer: webhooks.advance(
                        tx, held, change, status=answer.status, lease=self._lease
                    ),
                    repeatable=True,
                )
                if not ours:
                    return True
        return False

    def _client(self) -> "httpx2.AsyncClient":
        # A client of its own for each claim: connections are kept by address, and two names may share one.
        import httpx2  # noqa: PLC0415 - an extra

        self._trust = self._trust or httpx2.create_ssl_context()
        return httpx2.AsyncClient(
            verify=self._trust,
            timeout=self._options.timeout,
            follow_redirects=False,
            trust_env=False,
            headers={"user-agent": "bethink-webhooks", "content-type": "application/json"},
        )

    async def _send(self, http: "httpx2.AsyncClient", work: _Work, change: MemoryChange) -> Reply:
        import httpx2  # noqa: PLC0415 - an extra

        body, now = body_of(change), int(time.time())
        message_id = id_of(change)
        headers = {
            "webhook-id": message_id,
            "webhook-timestamp": str(now),
            "webhook-signature": signed(work.secret, message_id, now, body),
        }
        try:
            with anyio.fail_after(self._options.timeout):
                place = await destination(work.webhook.url, allow_private=self._options.allow_private)
                request = http.build_request(
                    "POST", place.url, content=body, headers={**headers, "host": place.host},
                    extensions={"sni_hostname": place.name},
                )  # fmt: skip
                response = await http.send(request, stream=True)
                try:
                    await _drained(response)
                finally:
                    await response.aclose()
        except TimeoutError:
            return Reply(0, "no answer in time")
        except Invalid:
            return Reply(0, "the address leads into a private network")
        except (OSError, ValueError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            return Reply(0, type(error).__name__)
        wait = response.headers.get("retry-after", "")
        seconds = float(wait) if wait.isascii() and wait.isdigit() and len(wait) < 6 else 0.0
        return Reply(response.status_code, None if response.is_success else f"HTTP {response.status_code}", seconds)

    async def _failed(self, held: ClaimedQueue, change: MemoryChange, answer: Reply, *, first: bool) -> None:
        options, error = self._options, answer.error or ""
        # If it is not the first, something was delivered under this claim, and failing begins anew.
        attempts, failing_since = (held.attempts, held.failing_since) if first else (0, None)
        longest = options.longest_pause
        seconds = pause_after(
            attempts, first=options.first_pause, max_pause=longest, at_least=min(longest, answer.wait)
        )

        def body(tx: Tx) -> bool:
            webhooks.delay(tx, held, change, status=answer.status, error=error, seconds=seconds)
            patience = timedelta(days=options.give_up_days)
            too_long = failing_since is not None and tx.now - failing_since > patience
            if answer.status != _GONE and not too_long:
                return False
            why = "it answered 410 Gone" if answer.status == _GONE else f"it failed for {options.give_up_days:g} days"
            webhooks.disable(tx, webhook_id=held.webhook_id, reason=f"{why}; the last time: {error}")
            return True

        if await self._database.transact(body, repeatable=True):
            _log.warning("webhook %s is disabled: %s", held.webhook_id, error)


async def _drained(response: "httpx2.Response") -> None:
    """Read a short answer, so that the connection can be used again; a long one is cut off with it."""
    size = 0
    async for part in response.aiter_raw():
        size += len(part)
        if size > 65_536:
            return


def id_of(change: MemoryChange) -> str:
    """Return the id of the message for a change: the same whenever it is sent again."""
    return "chg_" + hashlib.blake2b(f"{change.number}:{change.space}".encode(), digest_size=16).hexdigest()


def body_of(change: MemoryChange) -> bytes:
    """Write a change as the body of a message."""
    data = {"space": change.space, "number": change.number, "ref": change.ref, "session_id": change.session_id}
    return json.dumps({"type": change.kind, "timestamp": change.at.isoformat(), "data": data}).encode()
