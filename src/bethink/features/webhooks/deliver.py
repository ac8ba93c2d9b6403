"""Sends signed changes to webhooks, in order per space, with retries."""

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
from bethink.errors import ConfigurationError, DatabaseError, InvalidRequestError
from bethink.features.webhooks import queries as webhooks
from bethink.features.webhooks.addresses import resolve_url
from bethink.features.webhooks.queries import LeasedQueue
from bethink.features.webhooks.records import WebhookInfo, sign_message
from bethink.features.webhooks.service import require_client, secret_of
from bethink.model.changes import Change
from bethink.store import changes
from bethink.store.db import Database, Tx

if TYPE_CHECKING:
    import httpx2

_GONE = 410
_log = logger("webhooks")


@frozen
class DeliveryOptions:
    """Delivery options. Times are in seconds."""

    allow_private: bool = False
    timeout: float = 15.0
    give_up_days: float = 3.0
    first_pause: float = 5.0
    max_pause: float = 3600.0
    lease: float = 60.0
    queues: int = 16
    """Maximum spaces sent to one webhook at a time."""
    webhooks: int = 32
    """Maximum webhooks served at a time. Others wait their turn."""
    batch: int = 50
    """Maximum changes sent under one lease."""


class Reply(NamedTuple):
    """The outcome of one request: status, error, and requested wait in seconds."""

    status: int
    error: str | None
    wait: float = 0.0


class _Work(NamedTuple):
    webhook: WebhookInfo
    secret: str
    changes: list[Change]


class Deliverer:
    """Delivers changes. Leases let several workers deliver while the changes of a space stay in order.

    Each webhook has its own task, so a slow receiver does not delay others.
    """

    def __init__(self, database: Database, options: DeliveryOptions | None = None) -> None:
        self._database = database
        self._options = options or DeliveryOptions()
        # A lease is renewed after each response, so it must outlast the timeout of a request.
        self._lease = timedelta(seconds=max(self._options.lease, 2 * self._options.timeout))
        self._serving: set[str] = set()
        self._turns = anyio.CapacityLimiter(self._options.webhooks)
        self._ssl_context: ssl.SSLContext | None = None
        self._warned = False

    async def run_once(self) -> int:
        """Send all due changes. Returns the number of webhooks served."""
        started = 0
        async with anyio.create_task_group() as tasks:
            started += await self.start(tasks)
        return started

    async def start(self, tasks: TaskGroup) -> int:
        """Start a task for each webhook with due changes and no task yet. Returns the number of new tasks."""
        due = await self._database.transact(webhooks.list_due, read_only=True)
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
        except DatabaseError as error:  # the tasks of other webhooks continue
            _log.error("The database is unavailable: %s", type(error).__name__)
        finally:
            self._serving.discard(webhook_id)

    async def _serve_some(self, webhook_id: str) -> bool:
        """Lease some queues of a webhook and send their changes. Returns False if none is due."""
        limit, queues = self._options.queues, list[LeasedQueue]()
        with anyio.CancelScope(shield=True):  # a cancellation here must not lose leases that need to be released
            queues = await self._database.transact(
                lambda tx: webhooks.lease_queues(tx, webhook_id=webhook_id, lease=self._lease, limit=limit)
            )
        async with anyio.create_task_group() as tasks:
            for queue in queues:
                tasks.start_soon(self._deliver, queue)
        return bool(queues)

    def _can_send(self) -> bool:
        try:
            require_client()
        except ConfigurationError as error:
            if not self._warned:
                _log.warning("Cannot send changes: %s", error)
            self._warned = True
            return False
        return True

    async def _deliver(self, queue: LeasedQueue) -> None:
        """Send the changes of one queue until it is empty, a request fails, or the lease is lost."""
        try:
            work = await self._database.transact(lambda tx: self._begin(tx, queue), space=queue.space, read_only=True)
            if work is not None and work.changes and await self._send_all(queue, work):
                return
            skip_pruned = work is not None and not work.changes
            await self._release(queue, skip_pruned=skip_pruned)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True), suppress(DatabaseError):
                await self._release(queue)
            raise
        except Exception as error:  # noqa: BLE001 - the worker's loop: one queue must not stop the others
            _log.warning("A delivery was not recorded and will be repeated: %s", type(error).__name__)

    def _begin(self, tx: Tx, queue: LeasedQueue) -> _Work | None:
        webhook = webhooks.find(tx, webhook_id=queue.webhook_id)
        if webhook is None or webhook.disabled_at is not None:
            return None
        pending = changes.stored_after(tx, space=queue.space, number=queue.delivered, limit=self._options.batch)
        return _Work(webhook, secret_of(tx, webhook.id), pending)

    async def _release(self, queue: LeasedQueue, *, skip_pruned: bool = False) -> None:
        await self._database.transact(lambda tx: webhooks.release(tx, queue, skip_pruned=skip_pruned), repeatable=True)

    async def _send_all(self, queue: LeasedQueue, work: _Work) -> bool:
        """Send changes one at a time. Returns True if the lease ended, because a request failed or it was lost."""
        async with self._client() as http:
            for change in work.changes:
                answer = await self._send(http, work, change)
                if answer.error is not None:
                    await self._record_failure(queue, change, answer, first=change is work.changes[0])
                    return True
                ours = await self._database.transact(
                    lambda tx, change=change, answer=answer: webhooks.advance(
                        tx, queue, change, status=answer.status, lease=self._lease
                    ),
                    repeatable=True,
                )
                if not ours:
                    return True
        return False

    def _client(self) -> "httpx2.AsyncClient":
        # A separate client per lease: connections are pooled by address, and two names may share one.
        import httpx2  # noqa: PLC0415 - an extra

        self._ssl_context = self._ssl_context or httpx2.create_ssl_context()
        return httpx2.AsyncClient(
            verify=self._ssl_context,
            timeout=self._options.timeout,
            follow_redirects=False,
            trust_env=False,
            headers={"user-agent": "bethink-webhooks", "content-type": "application/json"},
        )

    async def _send(self, http: "httpx2.AsyncClient", work: _Work, change: Change) -> Reply:
        import httpx2  # noqa: PLC0415 - an extra

        body, now = body_of(change), int(time.time())
        message_id = id_of(change)
        headers = {
            "webhook-id": message_id,
            "webhook-timestamp": str(now),
            "webhook-signature": sign_message(work.secret, message_id, now, body),
        }
        try:
            with anyio.fail_after(self._options.timeout):
                target = await resolve_url(work.webhook.url, allow_private=self._options.allow_private)
                request = http.build_request(
                    "POST", target.url, content=body, headers={**headers, "host": target.host},
                    extensions={"sni_hostname": target.name},
                )  # fmt: skip
                response = await http.send(request, stream=True)
                try:
                    await _drain(response)
                finally:
                    await response.aclose()
        except TimeoutError:
            return Reply(0, "timeout")
        except InvalidRequestError:
            return Reply(0, "the URL resolves to a private network")
        except (OSError, ValueError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            return Reply(0, type(error).__name__)
        wait = response.headers.get("retry-after", "")
        seconds = float(wait) if wait.isascii() and wait.isdigit() and len(wait) < 6 else 0.0
        return Reply(response.status_code, None if response.is_success else f"HTTP {response.status_code}", seconds)

    async def _record_failure(self, queue: LeasedQueue, change: Change, answer: Reply, *, first: bool) -> None:
        options, error = self._options, answer.error or ""
        # After a successful delivery under this lease, the count of failures starts again.
        attempts, failing_since = (queue.attempts, queue.failing_since) if first else (0, None)
        max_pause = options.max_pause
        seconds = pause_after(
            attempts, first=options.first_pause, max_pause=max_pause, at_least=min(max_pause, answer.wait)
        )

        def body(tx: Tx) -> bool:
            webhooks.delay(tx, queue, change, status=answer.status, error=error, seconds=seconds)
            patience = timedelta(days=options.give_up_days)
            too_long = failing_since is not None and tx.now - failing_since > patience
            if answer.status != _GONE and not too_long:
                return False
            why = "HTTP 410 Gone" if answer.status == _GONE else f"failed for {options.give_up_days:g} days"
            webhooks.disable(tx, webhook_id=queue.webhook_id, reason=f"{why}; last error: {error}")
            return True

        if await self._database.transact(body, repeatable=True):
            _log.warning("Webhook %s is disabled: %s", queue.webhook_id, error)


async def _drain(response: "httpx2.Response") -> None:
    """Read a short response so that the connection can be reused. A long one is dropped."""
    size = 0
    async for part in response.aiter_raw():
        size += len(part)
        if size > 65_536:
            return


def id_of(change: Change) -> str:
    """Return the id of the message for a change: the same for every attempt."""
    return "chg_" + hashlib.blake2b(f"{change.number}:{change.space}".encode(), digest_size=16).hexdigest()


def body_of(change: Change) -> bytes:
    """Serialize a change as the body of a message."""
    data = {"space": change.space, "number": change.number, "ref": change.ref, "session_id": change.session_id}
    return json.dumps({"type": change.kind, "timestamp": change.at.isoformat(), "data": data}).encode()
