"""Settings as they are shown: where each comes from, and never a secret."""

from bethink.base.frozen import frozen


@frozen
class SettingEntry:
    """A setting in force. `value` and `default` are written as in a file of settings; a secret is `"***"`."""

    name: str
    value: str
    default: str
    origin: str
    """Where the value comes from: default, a file, environment or argument."""
