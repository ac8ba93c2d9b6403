"""One frozen object of settings, read once: defaults, then a TOML file, then the environment, then arguments."""

import os
import tomllib
from collections.abc import Mapping
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set. `origins` says where each value came from."""

    enabled: bool = True
    data_dir: str = ""
    module: str = "memory.sqlite"
    max_history_len: int = 100
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
    agents: Mapping[str, AgentSettings] = field(default_factory=dict[str, AgentSettings])
    origins: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)

    @property
    def database_path(self) -> str:
        """The file of the shared memory: as set, else `memory.db` in the data folder, else nothing."""
        return self.sqlite_path or (str(Path(self.data_dir) / "memory.db") if self.data_dir else "")

    def agent(self, name: str) -> AgentSettings:
        """What is set for an agent; memory is on unless it was switched off."""
        return self.agents.get(name, AgentSettings())


_MODULES = {"sqlite": "memory.sqlite", "postgres": "memory.postgres"}
_PLAIN = {each.name: each.default for each in fields(Settings) if each.name not in ("agents", "origins")}
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
    """Read the settings. `file` defaults to what BETHINK_CONFIG names; a name nobody knows is an error."""
    environ = os.environ if environ is None else environ
    file = file or environ.get("BETHINK_CONFIG")
    values: dict[str, object] = dict(_PLAIN)
    origins = dict.fromkeys(_PLAIN, "default")
    tree = _read(Path(file)) if file else {}
    agents = _agents(cast("dict[str, object]", tree.pop("agents", {})))
    sources = [(_flat(tree), f"file {file}"), (_from(environ), "environment"), (arguments, "argument")]
    for found, origin in sources:
        for name, value in found.items():
            if name not in _PLAIN:
                raise Misconfigured(f"{name!r} ({origin}) is no setting.", hint=f"Known: {', '.join(_PLAIN)}.")
            values[name] = _typed(name, value, origin)
            origins[name] = origin
    return Settings(**cast("dict[str, Any]", values), agents=agents, origins=MappingProxyType(origins))


def _read(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.expanduser().read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{path} cannot be read: {error}.", hint="Check the path and its TOML.") from error


def _flat(tree: Mapping[str, object]) -> dict[str, object]:
    flat = {name: value for name, value in tree.items() if name != "modules"}
    modules = cast("dict[str, dict[str, object]]", tree.get("modules", {}))
    for prefix, module in _MODULES.items():
        for name, value in modules.pop(module, {}).items():
            flat[f"{prefix}_{name}"] = value
    return flat | {f"modules.{name}": value for name, value in modules.items()}


def _from(environ: Mapping[str, str]) -> dict[str, object]:
    return {name: environ[key] for name in _PLAIN if (key := f"BETHINK_{name.upper()}") in environ}


def _agents(tree: Mapping[str, object]) -> Mapping[str, AgentSettings]:
    found: dict[str, AgentSettings] = {}
    for name, entry in tree.items():
        agent = cast("dict[str, Any]", entry)
        memory = cast("dict[str, object]", agent.pop("memory", {}))
        unknown = [*(set(agent) - {"data_dir"}), *(f"memory.{key}" for key in set(memory) - {"enabled"})]
        if unknown:
            raise Misconfigured(f"agents.{name}.{unknown[0]} is no setting.", hint="Known: data_dir, memory.enabled.")
        enabled = bool(_typed("enabled", memory.get("enabled", True), f"agents.{name}.memory"))
        found[name] = AgentSettings(enabled=enabled, data_dir=agent.get("data_dir"))
    return MappingProxyType(found)


def _typed(name: str, value: object, origin: str) -> object:
    default = _PLAIN[name]
    if isinstance(value, str) and isinstance(default, bool) and value.lower() in _WORDS:
        return _WORDS[value.lower()]
    if isinstance(value, str) and isinstance(default, int) and value.lstrip("-").isdigit():
        value = int(value)
    if type(value) is not type(default):
        raise Misconfigured(
            f"{name} = {value!r} ({origin}) is not of the right type.",
            hint=f"Give a {type(default).__name__}.",
        )
    return value
