"""The folders of a person on this machine: where a memory and its settings are, if nothing else is configured."""

import os
import sys
from pathlib import Path

from bethink.errors import Misconfigured


def data_folder() -> Path:
    """Return the folder of a person's own memory where nothing else is configured."""
    return _folder("XDG_DATA_HOME", other=".local/share")


def config_folder() -> Path:
    """Return the folder of a person's own settings file."""
    return _folder("XDG_CONFIG_HOME", other=".config")


def _folder(variable: str, *, other: str) -> Path:
    given = os.environ.get(variable) or (os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else "")
    if given:
        return Path(given) / "bethink"
    try:
        return Path.home() / ("Library/Application Support" if sys.platform == "darwin" else other) / "bethink"
    except RuntimeError as error:
        raise Misconfigured(
            "this user has no home folder.", hint="Set HOME, or name a database with --database."
        ) from error
