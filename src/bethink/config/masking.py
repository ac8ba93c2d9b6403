"""Settings for display: by flat name, with secrets masked."""

import json
import re

from bethink.config.settings import SECRETS, Settings, flat_values
from bethink.model.setting_entries import SettingEntry

_PASSWORD = re.compile(r"(?<=://)([^/@\s:]*):[^/\s]*@")
_QUERY = re.compile(r"([?&][^=&\s]*(?:key|token|secret|pass|sig|auth)[^=&\s]*=)[^&\s]+", re.IGNORECASE)
_PASSWORD_WORD = re.compile(r"(password\s*=\s*)('(?:[^'\\]|\\.)*'|\S+)", re.IGNORECASE)


def mask_secrets(value: str) -> str:
    """Return an address with its passwords and keys masked."""
    return _PASSWORD_WORD.sub(r"\1***", _QUERY.sub(r"\1***", _PASSWORD.sub(r"\1:***@", value)))


def masked_values(settings: Settings) -> dict[str, object]:
    """Return every setting by its flat name, with secrets masked."""
    return {
        name: "***" if value and name in SECRETS else mask_secrets(value) if isinstance(value, str) else value
        for name, value in flat_values(settings).items()
    }


def setting_entries(settings: Settings) -> list[SettingEntry]:
    """Return every setting with its origin and its default, with secrets masked."""
    defaults = masked_values(Settings())
    return [
        SettingEntry(
            name=name,
            value=json.dumps(value, ensure_ascii=False),
            default=json.dumps(defaults[name], ensure_ascii=False),
            origin=settings.origins.get(name, "default"),
        )
        for name, value in masked_values(settings).items()
    ]
