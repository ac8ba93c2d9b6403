"""Waits at startup for a database that is not available yet, such as after a reboot."""

import time

import anyio

from bethink.base.backoff import pause_after
from bethink.base.logs import logger
from bethink.config.settings import Settings
from bethink.errors import DatabaseUnavailableError
from bethink.host.databases import database_from

_FIRST_PAUSE, _MAX_PAUSE = 0.25, 5.0
"""First and maximum pause between two attempts, in seconds."""
_log = logger("start")


async def wait_for_database(settings: Settings) -> None:
    """Open and close the database of these settings once, retrying for up to `start_timeout` seconds.

    Errors that waiting cannot fix are raised immediately.

    Raises:
        DatabaseUnavailableError: if the database did not answer in time.
    """
    if not settings.enabled:
        return
    began, failures = time.monotonic(), 0
    while True:
        database = database_from(settings)
        try:
            await database.open()
        except DatabaseUnavailableError as error:
            elapsed = time.monotonic() - began
            remaining = settings.start_timeout - elapsed
            if remaining <= 0:
                _log.error("Database unavailable after %.0f seconds", elapsed)
                raise
            _log.warning("Waiting for the database for up to %.0f more seconds: %s", remaining, error.args[0])
            await anyio.sleep(min(pause_after(failures, first=_FIRST_PAUSE, max_pause=_MAX_PAUSE), remaining))
            failures += 1
        else:
            await database.close()
            if failures:
                _log.info("Database available after %.1f seconds", time.monotonic() - began)
            return
