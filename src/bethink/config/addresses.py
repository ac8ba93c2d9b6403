"""Reads the address of a database: a path, or a URL."""

import re

from bethink.base.installed import is_backend
from bethink.errors import ConfigurationError

_POSTGRES = re.compile(r"^postgres(ql)?://|(^|\s)(host|dbname|service)=\S")


def settings_of(target: str) -> dict[str, str]:
    """Return the settings for a target: its module, and its path or address. Empty for no target."""
    if not target:
        return {}
    if _POSTGRES.search(target):
        return {"module": "memory.postgres", "postgres_dsn": target}
    scheme, is_address, remainder = target.partition("://")  # this part may contain a password
    if is_address and is_backend(scheme):
        return {"module": f"memory.{scheme}", "postgres_dsn": f"postgresql://{remainder}"}
    if is_address:
        hint = "Use a path, a postgresql:// or shards:// address, or the https:// address of a server."
        raise ConfigurationError(f"Unknown address scheme: {scheme}://.", hint=hint)
    return {"module": "memory.sqlite", "sqlite_path": target}
