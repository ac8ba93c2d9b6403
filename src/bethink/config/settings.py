"""Loads all settings into one frozen object: defaults, then a TOML file, then the environment, then arguments."""

import math
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from bethink.base.folders import data_folder
from bethink.base.frozen import frozen
from bethink.config.addresses import settings_of
from bethink.config.groups import (
    AccessSettings,
    AgentSettings,
    ChangesSettings,
    EmbedderSettings,
    LearningSettings,
    LogSettings,
    ModelSettings,
    PostgresSettings,
    ProxySettings,
    RedactionSettings,
    RetentionSettings,
    ScanSettings,
    ServerSettings,
    SqliteSettings,
    WebhookSettings,
    WorkerSettings,
)
from bethink.config.spelling import suggestion, unknown_setting
from bethink.config.units import seconds_of
from bethink.errors import ConfigurationError
from bethink.model.service_variables import service_variables

_OWN_NAMES = {
    "redaction.enabled": "redact", "redaction.personal": "redact_personal",
    "retention.message_days": "message_retention_days", "access.keep_days": "access_log_days",
    "model.name": "model", "embedder.name": "embedder", "embedder.reranker": "reranker",
    "embedder.signals": "signals",
    "learning.enabled": "learn", "learning.in_background": "learn_in_background",
    "learning.after_seconds": "learn_after_seconds", "learning.daily_budget": "daily_budget",
    "learning.review_documents": "review_documents", "learning.write_transcripts": "write_transcripts",
    "learning.max_unused_days": "max_unused_days", "learning.max_consolidated": "max_consolidated",
    "learning.artifacts_dir": "artifacts_dir", "learning.verify_claims": "verify_claims",
    "learning.verify_model": "verify_model", "learning.time_zone": "time_zone", "learning.review_flags": "review_flags",
}  # fmt: skip
"""Settings whose flat names differ from `GROUP_FIELD`."""
_DATABASE = "database"
_POSITIVE = (
    "model_window", "model_timeout", "worker_interval", "worker_batch", "worker_concurrency", "worker_lease",
    "worker_max_attempts", "scan_idle_hours", "scan_age_days", "scan_limit", "scan_claims", "learn_after_seconds",
    "max_unused_days", "max_consolidated", "server_max_body", "server_max_message", "server_max_messages",
    "server_max_depth", "server_rate_limit", "server_burst", "server_max_concurrency", "server_max_wait",
    "changes_keep_days", "webhooks_timeout", "webhooks_give_up_days", "proxy_budget", "proxy_deadline",
    "proxy_timeout", "proxy_max_body",
)  # fmt: skip


@frozen
class Settings:
    """All settings, in groups. `origins` has the source of each value, by the setting's flat name.

    `Settings.load` and `connect` take flat names: `model_window` for `settings.model.window`.
    """

    enabled: bool = True
    """Store messages and memory."""
    data_dir: str = ""
    """Data folder; empty for the default of the command line."""
    models_dir: str = ""
    """The folder of downloaded models; empty for `models` in the data folder of this user."""
    models_url: str = "https://huggingface.co"
    """The address that `bethink data models pull` downloads from: the model hub, or a mirror with the same paths."""
    api_key: str = field(default="", repr=False)
    """The API key for a server, used by the command line."""
    module: str = "memory.sqlite"
    """The database: `memory.sqlite`, `memory.postgres`, or `memory.shards` with a directory at `postgres_dsn`."""
    tombstones_file: str = ""
    """File that records erasures outside the database; empty for one next to a SQLite file, or none on PostgreSQL."""
    max_history_len: int = 100
    """Maximum number of messages in a live history."""
    start_timeout: float = 60.0
    """Seconds that `serve` and `worker` wait for the database at startup; 0 to try once."""
    redaction: RedactionSettings = field(default_factory=RedactionSettings)
    """Redaction of secrets."""
    model: ModelSettings = field(default_factory=ModelSettings)
    """The model that learns."""
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    """The embedder and the reranker of recall."""
    learning: LearningSettings = field(default_factory=LearningSettings)
    """Learning from sessions: scope, timing and cost."""
    scan: ScanSettings = field(default_factory=ScanSettings)
    """Search for idle sessions."""
    worker: WorkerSettings = field(default_factory=WorkerSettings)
    """Background jobs and the worker."""
    changes: ChangesSettings = field(default_factory=ChangesSettings)
    """Retention of the change feed."""
    access: AccessSettings = field(default_factory=AccessSettings)
    """Retention of the access log."""
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    """Default retention for all spaces."""
    webhooks: WebhookSettings = field(default_factory=WebhookSettings)
    """Delivery of changes to webhooks."""
    sqlite: SqliteSettings = field(default_factory=SqliteSettings)
    """The SQLite database."""
    postgres: PostgresSettings = field(default_factory=PostgresSettings)
    """The PostgreSQL database."""
    server: ServerSettings = field(default_factory=ServerSettings)
    """The HTTP server."""
    proxy: ProxySettings = field(default_factory=ProxySettings)
    """Model calls that the server forwards."""
    log: LogSettings = field(default_factory=LogSettings)
    """Logging to stderr."""
    agents: Mapping[str, AgentSettings] = field(default_factory=dict[str, AgentSettings])
    """Settings of individual agents."""
    origins: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)
    """Source of each value."""

    def __post_init__(self) -> None:
        for group, kind in _GROUPS.items():
            if not isinstance(getattr(self, group), kind):
                hint = f"Pass a {kind.__name__}, or use `Settings.load`, which takes flat names."
                raise ConfigurationError(f"`{group}` must be a {kind.__name__}.", hint=hint)
        values = cast("dict[str, Any]", flat_values(self))
        if self.max_history_len < 1:
            raise ConfigurationError(f"`max_history_len` is {self.max_history_len}.", hint="Use 1 or more.")
        for name in _POSITIVE:
            if values[name] <= 0:
                raise ConfigurationError(f"`{name}` must be above 0.", hint="Use a positive number, or omit it.")
        if self.access.keep_days < 0:
            raise ConfigurationError("`access_log_days` is negative.", hint="Use a number of days, or 0 to disable.")
        if not self.start_timeout >= 0:
            raise ConfigurationError("`start_timeout` is negative.", hint="Use a number of seconds, or 0 to try once.")
        for name in ("daily_budget", "model_input_price", "model_output_price"):
            if values[name] < 0:
                raise ConfigurationError(f"`{name}` is negative.", hint="Use an amount in dollars.")

    @property
    def models_folder(self) -> Path:
        """Folder of downloaded models. Raises `ConfigurationError` for a user without a home folder."""
        return Path(self.models_dir).expanduser() if self.models_dir else data_folder() / "models"

    @property
    def database_path(self) -> str:
        """Path of the shared database: as set, else `memory.db` in the data folder, else empty."""
        return self.sqlite.path or (str(Path(self.data_dir) / "memory.db") if self.data_dir else "")

    @property
    def daily_cap(self) -> int | None:
        """Maximum cost per day, in millionths of a dollar; None if the model is free or the cap is `inf`."""
        cap, is_free = self.learning.daily_budget, self.model.input_price + self.model.output_price == 0
        return None if is_free or math.isinf(cap) else round(cap * 1_000_000)

    @property
    def tombstones_path(self) -> Path | None:
        """File that records erasures outside the database, or None."""
        if self.tombstones_file:
            return Path(self.tombstones_file).expanduser()
        if self.module != "memory.sqlite" or self.database_path in ("", ":memory:"):
            return None
        return Path(f"{self.database_path}.tombstones").expanduser()

    @property
    def copies_path(self) -> Path | None:
        """Folder of texts copied from a database file, which every deletion removes, or None."""
        if self.module != "memory.sqlite" or self.database_path in ("", ":memory:"):
            return None
        return Path(f"{self.database_path}.copies").expanduser()

    @classmethod
    def load(
        cls,
        file: str | os.PathLike[str] | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        **arguments: object,
    ) -> "Settings":
        """Read the settings from a file, the environment and arguments. Later sources override earlier ones.

        Args:
            file: TOML file (default: the one named by BETHINK_CONFIG).
            environ: Variables to read instead of those of this process.
            arguments: Individual settings, by name.

        Raises:
            ConfigurationError: for an unknown setting or an invalid value.
        """
        return load_settings(file, environ=environ, **arguments)

    def agent(self, name: str) -> AgentSettings:
        """Return the settings of an agent. Memory is enabled by default."""
        return self.agents.get(name, AgentSettings())


_GROUPS: dict[str, type[Any]] = {
    "redaction": RedactionSettings,
    "model": ModelSettings,
    "embedder": EmbedderSettings,
    "learning": LearningSettings,
    "scan": ScanSettings,
    "worker": WorkerSettings,
    "changes": ChangesSettings,
    "access": AccessSettings,
    "retention": RetentionSettings,
    "webhooks": WebhookSettings,
    "sqlite": SqliteSettings,
    "postgres": PostgresSettings,
    "server": ServerSettings,
    "proxy": ProxySettings,
    "log": LogSettings,
}


def _setting_paths() -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each setting's flat name with its group (empty if it has none) and its field."""
    for setting in fields(Settings):
        if setting.name not in (*_GROUPS, "agents", "origins"):
            yield setting.name, ("", setting.name)
    for group, kind in _GROUPS.items():
        for setting in fields(kind):
            dotted = f"{group}.{setting.name}"
            yield _OWN_NAMES.get(dotted, dotted.replace(".", "_")), (group, setting.name)


_PATHS = dict(_setting_paths())


def flat_names() -> dict[str, str]:
    """Return the flat name of every setting with its class and field, such as `ModelSettings.window`."""
    return {
        name: f"{_GROUPS[group].__name__ if group else 'Settings'}.{inner}" for name, (group, inner) in _PATHS.items()
    }


def with_values(settings: Settings, values: Mapping[str, object]) -> Settings:
    """Return settings with some values replaced, by flat name. Raises `ConfigurationError` as `load_settings` does."""
    if not values:
        return settings
    merged: dict[str, object] = {**flat_values(settings), **_without_database(values)}
    changed = load_settings(environ={}, **merged)  # pyright: ignore[reportArgumentType]
    return replace(changed, agents=settings.agents, origins={**settings.origins, **dict.fromkeys(values, "argument")})


def flat_values(settings: Settings) -> dict[str, object]:
    """Return every setting by its flat name, such as `model_window`, except `agents` and `origins`."""
    return {
        name: getattr(getattr(settings, group) if group else settings, inner) for name, (group, inner) in _PATHS.items()
    }


SECRETS = ("api_key", "embedder_api_key", "model_api_key", "proxy_anthropic_key", "proxy_openai_key", "redaction_key")
_MODULES = {"sqlite": "memory.sqlite", "postgres": "memory.postgres"}
_TYPES: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "text in quotes"}
_FILE = "BETHINK_CONFIG"
_FOREIGN_PREFIXES = ("BETHINK_TEST_", "BETHINK_TEMPORAL_")
"""Prefixes of variables that only tests and bethink-temporal read."""
_DEFAULTS = flat_values(Settings())
_TABLES = {f"{group}.{inner}": name for name, (group, inner) in _PATHS.items() if group}
_NUMBER = re.compile(r"-?\d+")
_AMOUNT = re.compile(r"-?\d+(?:\.\d+)?|inf")
_HIDDEN_VALUES = (
    *SECRETS, "postgres_dsn", "postgres_replica_dsn", "model_base_url", "embedder_base_url", "proxy_anthropic_url",
    "proxy_openai_url",
)  # fmt: skip
_BOOLEANS = {**dict.fromkeys(("true", "1", "yes", "on"), True), **dict.fromkeys(("false", "0", "no", "off"), False)}


def load_settings(
    file: str | os.PathLike[str] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    **arguments: object,
) -> Settings:
    """Load settings: see `Settings.load`."""
    environ = os.environ if environ is None else environ
    file = file or environ.get(_FILE)
    values = dict(_DEFAULTS)
    origins = dict.fromkeys(_DEFAULTS, "default")
    tree = _load_file(Path(file)) if file else {}
    agents = _agents(_table(tree.pop("agents", {}), "agents"))
    sources = [
        (_flat(tree, f"file {file}"), f"file {file}"),
        (_from_environment(environ), "environment"),
        (arguments, "argument"),
    ]
    for entries, origin in sources:
        for name, value in _without_database(entries).items():
            if name not in _DEFAULTS:
                raise unknown_setting(name, origin, choices=_DEFAULTS)
            values[name] = _convert(name, value, origin)
            origins[name] = origin
    return _build_settings(values, agents=agents, origins=MappingProxyType(origins))


def _without_database(entries: Mapping[str, object]) -> dict[str, object]:
    """Replace `database`, a path or URL, with the settings that it implies."""
    others = {name: value for name, value in entries.items() if name != _DATABASE}
    return {**settings_of(str(entries.get(_DATABASE) or "")), **others}


def _build_settings(values: Mapping[str, object], **others: Any) -> Settings:
    groups: dict[str, dict[str, object]] = {group: {} for group in ("", *_GROUPS)}
    for name, (group, inner) in _PATHS.items():
        groups[group][inner] = values[name]
    others |= groups.pop("")
    return Settings(**others, **{group: _GROUPS[group](**entries) for group, entries in groups.items()})


def _load_file(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.expanduser().read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"Cannot read {path}: {error}.", hint="Check the path and the TOML syntax.") from error


def _flat(tree: Mapping[str, object], origin: str) -> dict[str, object]:
    """Return the settings of a file by flat name, inside and outside of tables."""
    flat: dict[str, object] = {}
    for name, value in tree.items():
        is_table = _is_table(value)
        if name in _GROUPS and (is_table or name not in _DEFAULTS):  # `model` may also be the model's name
            flat |= _group(name, _table(value, name), origin)
        elif is_table and name not in ("modules", *_DEFAULTS):
            raise unknown_setting(name, origin, choices=(*_GROUPS, "agents"))
        elif name != "modules":
            flat[name] = value
    modules = _table(tree.get("modules", {}), "modules")
    for prefix, module in _MODULES.items():
        for name, value in _table(modules.pop(module, {}), f"modules.{module}").items():
            flat[f"{prefix}_{name}"] = seconds_of(name, value)
    return flat | {f"modules.{name}": value for name, value in modules.items()}


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def _group(group: str, table: Mapping[str, object], origin: str) -> dict[str, object]:
    for name in table:
        if f"{group}.{name}" not in _TABLES:
            raise unknown_setting(f"{group}.{name}", origin, choices=_TABLES)
    return {_TABLES[f"{group}.{name}"]: value for name, value in table.items()}


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    names_by_variable = {_variable(name): name for name in (*_DEFAULTS, _DATABASE)}
    foreign = service_variables(environ, "BETHINK")
    environ = {key: value for key, value in environ.items() if key not in foreign}
    for key in environ:
        if key.startswith("BETHINK_") and not (
            key in names_by_variable or key == _FILE or key.startswith(_FOREIGN_PREFIXES)
        ):
            raise ConfigurationError(f"Unknown setting: {key} (environment).", hint=suggestion(key, names_by_variable))
    return {name: environ[key] for key, name in names_by_variable.items() if key in environ}


def _variable(name: str) -> str:
    return f"BETHINK_{name.upper()}"


def _agents(tree: Mapping[str, object]) -> Mapping[str, AgentSettings]:
    agents: dict[str, AgentSettings] = {}
    for name, entry in tree.items():
        agent = _table(entry, f"agents.{name}")
        memory = _table(agent.pop("memory", {}), f"agents.{name}.memory")
        unknown = [*(set(agent) - {"data_dir"}), *(f"memory.{key}" for key in set(memory) - {"enabled"})]
        if unknown:
            raise ConfigurationError(
                f"Unknown setting agents.{name}.{unknown[0]}.", hint="Known: data_dir, memory.enabled."
            )
        enabled = bool(_convert("enabled", memory.get("enabled", True), f"agents.{name}.memory"))
        folder = agent.get("data_dir")
        agents[name] = AgentSettings(
            enabled=enabled, data_dir=None if folder is None else str(_convert("data_dir", folder, f"agents.{name}"))
        )
    return MappingProxyType(agents)


def _table(value: object, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigurationError(f"`{name}` must be a table.", hint=f"Write [{name}] and its settings below it.")
    return cast("dict[str, Any]", value)


def _convert(name: str, value: object, origin: str) -> object:
    default = _DEFAULTS[name]
    if isinstance(value, str) and isinstance(default, bool) and value.lower() in _BOOLEANS:
        return _BOOLEANS[value.lower()]
    if isinstance(value, str) and isinstance(default, int) and _NUMBER.fullmatch(value):
        value = int(value)
    if isinstance(value, str) and isinstance(default, float) and _AMOUNT.fullmatch(value):
        value = float(value)
    if type(value) is int and isinstance(default, float):
        value = float(value)
    if type(value) is not type(default):
        raise ConfigurationError(
            f"{name}{'' if name in _HIDDEN_VALUES else f' = {value!r}'} ({origin}) has the wrong type.",
            hint=f"Use {_TYPES[type(default)]}.",
        )
    return value
