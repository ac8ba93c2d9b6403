"""Settings for display, with their sources and without secrets."""

from bethink.base.frozen import frozen


@frozen
class SettingEntry:
    """An effective setting. `value` and `default` are formatted as in a settings file; a secret is `"***"`."""

    name: str
    value: str
    default: str
    origin: str
    """Source of the value: default, a file, environment or argument."""
