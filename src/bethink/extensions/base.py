"""Common to all extensions: records, loggers, ids, names and settings."""

from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.config.groups import split_list
from bethink.config.settings import Settings
from bethink.model.ids import new_id, shard_for
from bethink.model.moments import to_micros
from bethink.model.records import checked_name

__all__ = ["Settings", "checked_name", "frozen", "logger", "new_id", "shard_for", "split_list", "to_micros"]
