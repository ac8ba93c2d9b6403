"""Waits at the start for a database that does not answer yet, as when all of a machine's services start together."""

import time

import anyio

from bethink.base.backoff import pause_after
from bethink.base.logs import logger
from bethink.config.settings import Settings
from bethink.errors import Unavailable
from bethink.host.databases import database_from

_FIRST, _LONGEST = 0.25, 5.0
"""Seconds between two tries, at first and at most."""
_log = logger("start")


async def wait_for_database(settings: Settings) -> None:
    """Open the database of these settings once, and close it. Until it answers, try again for `start_timeout` seconds.

    What waiting cannot mend is raised at once.

    Raises:
        Unavailable: if the database did not answer in time.
    """
    if not settings.enabled:
        return
    began, failures = time.monotonic(), 0
    while True:
        database = database_from(settings)
        try:
            await database.open()
        except Unavailable as error:
            passed = time.monotonic() - began
            left = settings.start_timeout - passed
            if left <= 0:
                _log.error("the database did not answer within %.0f seconds", passed)
                raise
            _log.warning("waiting for the database, for another %.0f seconds at most: %s", left, error.args[0])
            await anyio.sleep(min(pause_after(failures, first=_FIRST, max_pause=_LONGEST), left))
            failures += 1
        else:
            await database.close()
            if failures:
                _log.info("the database answers after %.1f seconds", time.monotonic() - began)
            return
