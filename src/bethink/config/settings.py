"""One frozen object of settings, read once: defaults, then a TOML file, then the environment, then arguments."""

import math
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from bethink.base.folders import data_folder
from bethink.base.frozen import frozen
from bethink.base.installed import is_backend
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
from bethink.errors import Misconfigured
from bethink.model.service_variables import service_variables

_OWN_NAMES = {
    "redaction.enabled": "redact", "model.name": "model", "embedder.name": "embedder", "embedder.reranker": "reranker",
    "embedder.signals": "signals",
    "learning.enabled": "learn", "learning.in_background": "learn_in_background",
    "learning.after": "learn_after", "learning.daily_spend_cap": "daily_spend_cap",
    "learning.review": "review", "learning.write_transcripts": "write_transcripts",
    "learning.max_unused_days": "max_unused_days", "learning.max_consolidated": "max_consolidated",
    "learning.artefacts_dir": "artefacts_dir", "learning.second_reading": "second_reading",
    "learning.second_model": "second_model", "learning.time_zone": "time_zone", "learning.held_flags": "held_flags",
}  # fmt: skip
"""Settings whose flat names are not their group and field."""
_POSITIVE = (
    "model_window", "model_timeout", "worker_interval", "worker_batch", "worker_concurrency", "worker_lease",
    "worker_max_attempts", "scan_idle_hours", "scan_age_days", "scan_limit", "scan_claims", "learn_after",
    "max_unused_days", "max_consolidated", "server_max_body", "server_max_message", "server_max_messages",
    "server_max_depth", "server_rate", "server_burst", "server_max_concurrency", "server_max_wait",
    "changes_keep_days", "webhooks_timeout", "webhooks_give_up_days", "proxy_budget", "proxy_deadline",
    "proxy_timeout", "proxy_max_body",
)  # fmt: skip


@frozen
class Settings:
    """Everything that can be set, in groups. `origins` says where each value came from, by the setting's flat name.

    `load_settings` and `connect` take flat names: `model_window` for `settings.model.window`.
    """

    enabled: bool = True
    """Store anything at all."""
    data_dir: str = ""
    """The data folder; empty for the one that the command line uses."""
    models_dir: str = ""
    """The folder of downloaded models; empty for `models` in the data folder of this user."""
    models_url: str = "https://huggingface.co"
    """The address that `bethink models pull` downloads from: the model hub, or a mirror with the same paths."""
    key: str = field(default="", repr=False)
    """The API key for a server, used by the command line."""
    module: str = "memory.sqlite"
    """The database: `memory.sqlite`, `memory.postgres`, or `memory.shards` with a directory at `postgres_dsn`."""
    tombstones_file: str = ""
    """Where erasures are noted outside of the database; empty for a file beside a SQLite one, or none on PostgreSQL."""
    max_history_len: int = 100
    """Messages that a live history holds."""
    start_timeout: float = 60.0
    """Seconds that `serve` and `worker` wait for the database when they start; 0 to try once."""
    redaction: RedactionSettings = field(default_factory=RedactionSettings)
    """What happens to secrets."""
    model: ModelSettings = field(default_factory=ModelSettings)
    """The model that learns."""
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    """The embedder and the reranker of recall."""
    learning: LearningSettings = field(default_factory=LearningSettings)
    """What is learnt, when, and for how much."""
    scan: ScanSettings = field(default_factory=ScanSettings)
    """How quiet sessions are found."""
    worker: WorkerSettings = field(default_factory=WorkerSettings)
    """How the worker runs jobs."""
    changes: ChangesSettings = field(default_factory=ChangesSettings)
    """How long changes are kept."""
    access: AccessSettings = field(default_factory=AccessSettings)
    """How long the access record is kept."""
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    """How long things are kept in all spaces."""
    webhooks: WebhookSettings = field(default_factory=WebhookSettings)
    """How changes are sent to webhooks."""
    sqlite: SqliteSettings = field(default_factory=SqliteSettings)
    """The SQLite database."""
    postgres: PostgresSettings = field(default_factory=PostgresSettings)
    """The PostgreSQL database."""
    server: ServerSettings = field(default_factory=ServerSettings)
    """The HTTP server."""
    proxy: ProxySettings = field(default_factory=ProxySettings)
    """Calls to models that the server passes on."""
    log: LogSettings = field(default_factory=LogSettings)
    """What is logged, and how."""
    agents: Mapping[str, AgentSettings] = field(default_factory=dict[str, AgentSettings])
    """What single agents have of their own."""
    origins: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)
    """Where each value came from."""

    def __post_init__(self) -> None:
        for group, kind in _GROUPS.items():
            if not isinstance(getattr(self, group), kind):
                hint = f"Pass a {kind.__name__}, or use load_settings, which takes flat names."
                raise Misconfigured(f"{group} is not a {kind.__name__}.", hint=hint)
        values = cast("dict[str, Any]", flat_values(self))
        if self.max_history_len < 1:
            raise Misconfigured("max_history_len is below 1.", hint="Let an agent hold at least one message.")
        for name in _POSITIVE:
            if values[name] <= 0:
                raise Misconfigured(f"{name} is not above 0.", hint="Give a positive number, or leave it out.")
        if self.access.keep_days < 0:
            raise Misconfigured("access_keep_days is negative.", hint="Give a number of days, or 0 for no record.")
        if not self.start_timeout >= 0:
            raise Misconfigured("start_timeout is negative.", hint="Give a number of seconds, or 0 to try once.")
        for name in ("daily_spend_cap", "model_price_input", "model_price_output"):
            if values[name] < 0:
                raise Misconfigured(f"{name} is negative.", hint="Give an amount in dollars.")

    @property
    def models_folder(self) -> Path:
        """The folder of downloaded models. Raises `Misconfigured` for a user without a home folder."""
        return Path(self.models_dir).expanduser() if self.models_dir else data_folder() / "models"

    @property
    def database_path(self) -> str:
        """The file of the shared memory: as set, else `memory.db` in the data folder, else nothing."""
        return self.sqlite.path or (str(Path(self.data_dir) / "memory.db") if self.data_dir else "")

    @property
    def daily_cap(self) -> int | None:
        """What a day may cost, in millionths of a dollar; None if the model is free or the cap is `inf`."""
        cap, is_free = self.learning.daily_spend_cap, self.model.price_input + self.model.price_output == 0
        return None if is_free or math.isinf(cap) else round(cap * 1_000_000)

    @property
    def tombstones_path(self) -> Path | None:
        """The file in which erasures are noted outside of the database, if there is one."""
        if self.tombstones_file:
            return Path(self.tombstones_file).expanduser()
        if self.module != "memory.sqlite" or self.database_path in ("", ":memory:"):
            return None
        return Path(f"{self.database_path}.tombstones").expanduser()

    def agent(self, name: str) -> AgentSettings:
        """What is set for an agent; memory is on unless it was switched off."""
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


def _places() -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each setting's flat name with its group, empty for one outside the groups, and its field."""
    for each in fields(Settings):
        if each.name not in (*_GROUPS, "agents", "origins"):
            yield each.name, ("", each.name)
    for group, kind in _GROUPS.items():
        for each in fields(kind):
            dotted = f"{group}.{each.name}"
            yield _OWN_NAMES.get(dotted, dotted.replace(".", "_")), (group, each.name)


_PLACES = dict(_places())


def with_values(settings: Settings, values: Mapping[str, object]) -> Settings:
    """Return settings with some values replaced, by flat name. Raises `Misconfigured` as `load_settings` does."""
    if not values:
        return settings
    known: dict[str, object] = {**flat_values(settings), **values}
    changed = load_settings(environ={}, **known)  # pyright: ignore[reportArgumentType]
    return replace(changed, agents=settings.agents, origins={**settings.origins, **dict.fromkeys(values, "argument")})


def flat_values(settings: Settings) -> dict[str, object]:
    """Return every setting by its flat name, such as `model_window`; `agents` and `origins` are none."""
    return {
        name: getattr(getattr(settings, group) if group else settings, inner)
        for name, (group, inner) in _PLACES.items()
    }


SECRETS = ("embedder_api_key", "key", "model_api_key", "proxy_anthropic_key", "proxy_openai_key", "redaction_key")
_MODULES = {"sqlite": "memory.sqlite", "postgres": "memory.postgres"}
_TYPES: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "text in quotes"}
_FILE = "BETHINK_CONFIG"
_NO_SETTINGS = ("BETHINK_TEST_", "BETHINK_TEMPORAL_")
"""Prefixes of variables that only tests and bethink-temporal read."""
_DEFAULTS = flat_values(Settings())
_TABLES = {f"{group}.{inner}": name for name, (group, inner) in _PLACES.items() if group}
_POSTGRES = re.compile(r"^postgres(ql)?://|(^|\s)(host|dbname|service)=\S")
_NUMBER = re.compile(r"-?\d+")
_AMOUNT = re.compile(r"-?\d+(?:\.\d+)?|inf")
_SECRET = (
    *SECRETS, "postgres_dsn", "postgres_replica_dsn", "model_base_url", "embedder_base_url", "proxy_anthropic_url",
    "proxy_openai_url",
)  # fmt: skip
_WORDS = {
    "true": True,
    "1": True,
    "yes": True,
    "on": True,
    "false": False,
    "0": False,
    "no": False,
    "off": False,
}


def load_settings(
    file: str | os.PathLike[str] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    **arguments: object,
) -> Settings:
    """Read the settings: from a file, then from the environment, then from arguments. The last one counts.

    Args:
        file: A file in TOML; the one that BETHINK_CONFIG names, if left out.
        environ: Variables to read instead of those of this process.
        arguments: Single settings, by name.

    Raises:
        Misconfigured: for an unknown setting or a value that cannot be used.
    """
    environ = os.environ if environ is None else environ
    file = file or environ.get(_FILE)
    values = dict(_DEFAULTS)
    origins = dict.fromkeys(_DEFAULTS, "default")
    tree = _read(Path(file)) if file else {}
    agents = _agents(_table(tree.pop("agents", {}), "agents"))
    sources = [(_flat(tree, f"file {file}"), f"file {file}"), (_from(environ), "environment"), (arguments, "argument")]
    for found, origin in sources:
        for name, value in found.items():
            if name not in _DEFAULTS:
                raise _unknown(name, origin, known=_DEFAULTS)
            values[name] = _typed(name, value, origin)
            origins[name] = origin
    return _grouped(values, agents=agents, origins=MappingProxyType(origins))


def _grouped(values: Mapping[str, object], **others: Any) -> Settings:
    groups: dict[str, dict[str, object]] = {group: {} for group in ("", *_GROUPS)}
    for name, (group, inner) in _PLACES.items():
        groups[group][inner] = values[name]
    others |= groups.pop("")
    return Settings(**others, **{group: _GROUPS[group](**given) for group, given in groups.items()})


def settings_of(target: str) -> dict[str, str]:
    """Return the settings that a target stands for: its module, and its path or address; none for no target."""
    if not target:
        return {}
    if _POSTGRES.search(target):
        return {"module": "memory.postgres", "postgres_dsn": target}
    scheme, is_address, rest = target.partition("://")  # the rest may hold a password
    if is_address and is_backend(scheme):
        return {"module": f"memory.{scheme}", "postgres_dsn": f"postgresql://{rest}"}
    if is_address:
        hint = "Use a path, a postgresql:// or shards:// address, or the https:// address of a server."
        raise Misconfigured(f"unknown kind of address {scheme}://.", hint=hint)
    return {"module": "memory.sqlite", "sqlite_path": target}


def _read(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.expanduser().read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{path} cannot be read: {error}.", hint="Check the path and its TOML.") from error


def _flat(tree: Mapping[str, object], origin: str) -> dict[str, object]:
    """Name what a file sets by flat names, whether it is in a table or not."""
    flat: dict[str, object] = {}
    for name, value in tree.items():
        is_table = _is_table(value)
        if name in _GROUPS and (is_table or name not in _DEFAULTS):  # `model` may also be the model's name
            flat |= _group(name, _table(value, name), origin)
        elif is_table and name not in ("modules", *_DEFAULTS):
            raise _unknown(name, origin, known=(*_GROUPS, "agents"))
        elif name != "modules":
            flat[name] = value
    modules = _table(tree.get("modules", {}), "modules")
    for prefix, module in _MODULES.items():
        for name, value in _table(modules.pop(module, {}), f"modules.{module}").items():
            flat[f"{prefix}_{name}"] = value
    return flat | {f"modules.{name}": value for name, value in modules.items()}


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def _group(group: str, table: Mapping[str, object], origin: str) -> dict[str, object]:
    for name in table:
        if f"{group}.{name}" not in _TABLES:
            raise _unknown(f"{group}.{name}", origin, known=_TABLES)
    return {_TABLES[f"{group}.{name}"]: value for name, value in table.items()}


def _from(environ: Mapping[str, str]) -> dict[str, object]:
    known = {_variable(name): name for name in _DEFAULTS}
    foreign = service_variables(environ, "BETHINK")
    environ = {key: value for key, value in environ.items() if key not in foreign}
    for key in environ:
        if key.startswith("BETHINK_") and not (key in known or key == _FILE or key.startswith(_NO_SETTINGS)):
            raise Misconfigured(f"unknown setting {key} (environment).", hint=_instead(key, known))
    return {name: environ[key] for key, name in known.items() if key in environ}


def _variable(name: str) -> str:
    return f"BETHINK_{name.upper()}"


def _unknown(name: str, origin: str, *, known: Iterable[str]) -> Misconfigured:
    return Misconfigured(f"unknown setting {name!r} ({origin}).", hint=_instead(name, known))


def _instead(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - for those who mistype

    spelt = {each.lower().removeprefix("bethink_"): each for each in known}
    near = get_close_matches(name.lower().removeprefix("bethink_"), spelt, n=2, cutoff=0.7)
    return f"Did you mean {' or '.join(spelt[each] for each in near)}?" if near else f"Known: {', '.join(known)}."


def _agents(tree: Mapping[str, object]) -> Mapping[str, AgentSettings]:
    found: dict[str, AgentSettings] = {}
    for name, entry in tree.items():
        agent = _table(entry, f"agents.{name}")
        memory = _table(agent.pop("memory", {}), f"agents.{name}.memory")
        unknown = [*(set(agent) - {"data_dir"}), *(f"memory.{key}" for key in set(memory) - {"enabled"})]
        if unknown:
            raise Misconfigured(f"unknown setting agents.{name}.{unknown[0]}.", hint="Known: data_dir, memory.enabled.")
        enabled = bool(_typed("enabled", memory.get("enabled", True), f"agents.{name}.memory"))
        folder = agent.get("data_dir")
        found[name] = AgentSettings(
            enabled=enabled, data_dir=None if folder is None else str(_typed("data_dir", folder, f"agents.{name}"))
        )
    return MappingProxyType(found)


def _table(value: object, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Misconfigured(f"{name} is not a table.", hint=f"Write [{name}] and its settings below it.")
    return cast("dict[str, Any]", value)


def _typed(name: str, value: object, origin: str) -> object:
    default = _DEFAULTS[name]
    if isinstance(value, str) and isinstance(default, bool) and value.lower() in _WORDS:
        return _WORDS[value.lower()]
    if isinstance(value, str) and isinstance(default, int) and _NUMBER.fullmatch(value):
        value = int(value)
    if isinstance(value, str) and isinstance(default, float) and _AMOUNT.fullmatch(value):
        value = float(value)
    if type(value) is int and isinstance(default, float):
        value = float(value)
    if type(value) is not type(default):
        raise Misconfigured(
            f"{name}{'' if name in _SECRET else f' = {value!r}'} ({origin}) is not of the right type.",
            hint=f"Give {_TYPES[type(default)]}.",
        )
    return value
