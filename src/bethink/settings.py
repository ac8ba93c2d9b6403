"""One frozen object of settings, read once: defaults, then a TOML file, then the environment, then arguments."""

import os
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from bethink.errors import Misconfigured


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """What one agent may have of its own."""

    enabled: bool = True
    data_dir: str | None = None


_POSITIVE = (
    "model_window", "worker_interval", "worker_batch", "worker_concurrency", "worker_lease", "worker_max_attempts",
    "scan_idle_hours", "scan_age_days", "scan_limit", "scan_claims", "max_unused_days",
    "max_consolidated", "server_max_body", "server_max_message", "server_max_messages", "server_max_depth",
    "server_rate", "server_burst", "server_max_concurrency",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set. `origins` says where each value came from."""

    enabled: bool = True
    data_dir: str = ""
    key: str = field(default="", repr=False)
    module: str = "memory.sqlite"
    max_history_len: int = 100
    redact: bool = True
    redaction_key: str = field(default="", repr=False)
    learn: bool = True
    learn_at_start: bool = True
    model: str = ""
    model_base_url: str = ""
    model_api_key: str = field(default="", repr=False)
    model_window: int = 128_000
    model_output: str = "json_schema"
    model_price_input: float = 1.0
    model_price_output: float = 5.0
    daily_spend_cap: float = 5.0
    embedder: str = ""
    embedder_base_url: str = ""
    embedder_api_key: str = field(default="", repr=False)
    embedder_dimension: int = 0
    embedder_tokenizer: str = ""
    reranker: str = ""
    worker_interval: float = 30.0
    worker_batch: int = 10
    worker_concurrency: int = 8
    worker_lease: float = 60.0
    worker_max_attempts: int = 5
    scan_idle_hours: int = 6
    scan_age_days: int = 30
    scan_limit: int = 5_000
    scan_claims: int = 16
    scan_channels: str = ""
    write_transcripts: bool = False
    max_unused_days: int = 30
    max_consolidated: int = 256
    review: bool = False
    artefacts_dir: str = ""
    sqlite_path: str = ""
    sqlite_wal: bool = True
    sqlite_synchronous: str = "FULL"
    sqlite_busy_timeout: int = 5000
    sqlite_readers: int = 2
    postgres_dsn: str = ""
    postgres_pool_size: int = 10
    postgres_connect_timeout: int = 5_000
    postgres_statement_timeout: int = 30_000
    postgres_lock_timeout: int = 5_000
    postgres_idle_timeout: int = 60_000
    postgres_tcp_timeout: int = 10_000
    server_host: str = "127.0.0.1"
    server_port: int = 8377
    server_allowed_hosts: str = "localhost,127.0.0.1,[::1]"
    server_allowed_origins: str = ""
    server_max_body: int = 1_000_000
    server_max_message: int = 65_536
    server_max_messages: int = 100
    server_max_depth: int = 32
    server_rate: float = 200.0
    server_burst: int = 400
    server_max_concurrency: int = 256
    agents: Mapping[str, AgentSettings] = field(default_factory=dict[str, AgentSettings])
    origins: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)

    def __post_init__(self) -> None:
        if self.max_history_len < 1:
            raise Misconfigured("max_history_len is below 1.", hint="Let an agent hold at least one message.")
        for name in _POSITIVE:
            if getattr(self, name) <= 0:
                raise Misconfigured(f"{name} is not above 0.", hint="Give a positive number, or leave it out.")
        for name in ("daily_spend_cap", "model_price_input", "model_price_output"):
            if getattr(self, name) < 0:
                raise Misconfigured(f"{name} is negative.", hint="Give an amount in dollars.")

    @property
    def database_path(self) -> str:
        """The file of the shared memory: as set, else `memory.db` in the data folder, else nothing."""
        return self.sqlite_path or (str(Path(self.data_dir) / "memory.db") if self.data_dir else "")

    def agent(self, name: str) -> AgentSettings:
        """What is set for an agent; memory is on unless it was switched off."""
        return self.agents.get(name, AgentSettings())


_MODULES = {"sqlite": "memory.sqlite", "postgres": "memory.postgres"}
_FILE, _TESTS = "BETHINK_CONFIG", "BETHINK_TEST_"
_PLAIN = {each.name: each.default for each in fields(Settings) if each.name not in ("agents", "origins")}
_POSTGRES = re.compile(r"^postgres(ql)?://|(^|\s)(host|dbname|service)=\S")
_NUMBER = re.compile(r"-?\d+")
_AMOUNT = re.compile(r"-?\d+(?:\.\d+)?|inf")
_SECRET = (
    "embedder_api_key", "key", "model_api_key", "redaction_key", "postgres_dsn", "model_base_url", "embedder_base_url",
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
    values: dict[str, object] = dict(_PLAIN)
    origins = dict.fromkeys(_PLAIN, "default")
    tree = _read(Path(file)) if file else {}
    agents = _agents(_table(tree.pop("agents", {}), "agents"))
    sources = [(_flat(tree), f"file {file}"), (_from(environ), "environment"), (arguments, "argument")]
    for found, origin in sources:
        for name, value in found.items():
            if name not in _PLAIN:
                raise Misconfigured(f"unknown setting {name!r} ({origin}).", hint=_instead(name, spelt=str))
            values[name] = _typed(name, value, origin)
            origins[name] = origin
    return Settings(**cast("dict[str, Any]", values), agents=agents, origins=MappingProxyType(origins))


def settings_of(target: str) -> dict[str, str]:
    """Return the settings that a target stands for: its module, and its path or address; none for no target."""
    if not target:
        return {}
    if _POSTGRES.search(target):
        return {"module": "memory.postgres", "postgres_dsn": target}
    scheme, is_address, _ = target.partition("://")  # the rest may hold a password
    if is_address:
        hint = "Use a path, a postgresql:// address, or the https:// address of a server."
        raise Misconfigured(f"unknown kind of address {scheme}://.", hint=hint)
    return {"module": "memory.sqlite", "sqlite_path": target}


def _read(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.expanduser().read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{path} cannot be read: {error}.", hint="Check the path and its TOML.") from error


def _flat(tree: Mapping[str, object]) -> dict[str, object]:
    flat = {name: value for name, value in tree.items() if name != "modules"}
    modules = _table(tree.get("modules", {}), "modules")
    for prefix, module in _MODULES.items():
        for name, value in _table(modules.pop(module, {}), f"modules.{module}").items():
            flat[f"{prefix}_{name}"] = value
    return flat | {f"modules.{name}": value for name, value in modules.items()}


def _from(environ: Mapping[str, str]) -> dict[str, object]:
    known = {_variable(name): name for name in _PLAIN}
    for key in environ:
        if key.startswith("BETHINK_") and not (key in known or key == _FILE or key.startswith(_TESTS)):
            raise Misconfigured(f"unknown setting {key} (environment).", hint=_instead(key, spelt=_variable))
    return {name: environ[key] for key, name in known.items() if key in environ}


def _variable(name: str) -> str:
    return f"BETHINK_{name.upper()}"


def _instead(name: str, *, spelt: Callable[[str], str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - for those who mistype

    near = get_close_matches(name.lower().removeprefix("bethink_"), _PLAIN, n=2, cutoff=0.7)
    return f"Did you mean {' or '.join(map(spelt, near))}?" if near else f"Known: {', '.join(map(spelt, _PLAIN))}."


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
    default = _PLAIN[name]
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
            hint=f"Give a {type(default).__name__}.",
        )
    return value


def data_folder() -> Path:
    """Return the folder of a person's own memory where nothing else is configured."""
    return _folder("XDG_DATA_HOME", mac="Library/Application Support", other=".local/share")


def config_folder() -> Path:
    """Return the folder of a person's own settings file."""
    return _folder("XDG_CONFIG_HOME", mac="Library/Application Support", other=".config")


def _folder(variable: str, *, mac: str, other: str) -> Path:
    given = os.environ.get(variable) or (os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else "")
    if given:
        return Path(given) / "bethink"
    try:
        return Path.home() / (mac if sys.platform == "darwin" else other) / "bethink"
    except RuntimeError as error:
        raise Misconfigured(
            "this user has no home folder.", hint="Set HOME, or name a database with --database."
        ) from error
