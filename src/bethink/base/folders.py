"""Default folders of the current user's database and settings file."""

import os
import sys
from pathlib import Path

from bethink.errors import ConfigurationError


def data_folder() -> Path:
    """Return the default data folder of the current user."""
    return _folder("XDG_DATA_HOME", fallback=".local/share")


def config_folder() -> Path:
    """Return the folder of the current user's settings file."""
    return _folder("XDG_CONFIG_HOME", fallback=".config")


def _folder(variable: str, *, fallback: str) -> Path:
    base = os.environ.get(variable) or (os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else "")
    if base:
        return Path(base) / "bethink"
    try:
        return Path.home() / ("Library/Application Support" if sys.platform == "darwin" else fallback) / "bethink"
    except RuntimeError as error:
        raise ConfigurationError(
            "The current user has no home folder.", hint="Set HOME, or pass a database with --database."
        ) from error
