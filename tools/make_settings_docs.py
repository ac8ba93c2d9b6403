"""Writes docs/reference/settings.md and settings-advanced.md from the groups of settings and their docstrings."""

import argparse
import ast
import inspect
import sys
from dataclasses import fields
from pathlib import Path

from bethink.config import groups
from bethink.config.settings import Settings, flat_names

_FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
DOCUMENTED = {
    "Database": ("database", "data_dir", "postgres_pool_size"),
    "Client": ("api_key",),
    "Model": ("model", "model_base_url", "model_api_key", "model_input_price", "model_output_price"),
    "Search": ("embedder", "reranker"),
    "Learning": (
        "learn", "learn_in_background", "learn_after_seconds", "daily_budget", "verify_claims", "verify_model",
        "review_flags", "review_documents", "time_zone",
    ),
    "Privacy": ("redact", "redact_personal", "message_retention_days", "access_log_days"),
    "Server": ("server_host", "server_port", "server_allowed_hosts", "server_allowed_origins", "server_rate_limit"),
    "Proxy": ("proxy_openai_url", "proxy_anthropic_url"),
    "Worker": ("worker_concurrency", "worker_health_address"),
    "Logs": ("log_level", "log_format"),
}  # fmt: skip
"""The settings that most people need, in the order of the page."""
_DATABASE = (
    "One path or URL: a file, `:memory:`, `postgresql://…` or `shards://…`. Empty for `memory.db` in `data_dir`."
)
_HEAD = """\
# Settings

Pass a setting to `connect`, put it into the environment, or write it into a TOML file. Later sources win: defaults,
file, environment, arguments.

```toml
database = "/srv/bethink/memory.db"
model = "openai:gpt-5-mini"
daily_budget = 2.0                   # dollars

[server]                             # the same as server_port = 8400
port = 8400

[agents.scratch.memory]
enabled = false                      # nothing is stored for this agent
```

Name the file in `BETHINK_CONFIG`, with `--config`, or in `bethink.Settings.load(file)`. In the environment, a setting
is `BETHINK_` and its name in capitals: `BETHINK_DAILY_BUDGET`. In a file, a setting may also be written in the table of
its group, as above. An unknown name, an unknown `BETHINK_…` variable or an invalid value is an error that suggests the
closest name. `bethink admin config show --sources` prints every setting and where it comes from; secrets are masked.

The variables that Kubernetes adds to each container for a service called `bethink` are ignored.

These settings are enough for most installations. All others: [Advanced settings](settings-advanced.md).
"""
_ADVANCED = """\
# Advanced settings

Timeouts, limits and rare choices. The defaults suit most installations; how-tos link here where one of them matters.
The settings that most people need: [Settings](settings.md).

This page is written by `python -m tools.make_settings_docs`.
"""
_ROW = "| `{name}` | {default} | {text} |"


def descriptions() -> dict[str, str]:
    """Return the description of every setting by its flat name."""
    texts = {name: text for cls in (Settings, *_groups()) for name, text in _field_texts(cls).items()}
    return {flat: texts[path] for flat, path in flat_names().items() if path in texts}


def _groups() -> list[type]:
    return [cls for _, cls in inspect.getmembers(groups, inspect.isclass) if cls.__module__ == groups.__name__]


def _field_texts(cls: type) -> dict[str, str]:
    [tree] = ast.parse(inspect.getsource(cls)).body
    assert isinstance(tree, ast.ClassDef)
    texts: dict[str, str] = {}
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(written))):
                texts[f"{cls.__name__}.{name}"] = " ".join(written.split())
            case _:
                pass
    return texts


def pages() -> dict[Path, str]:
    """Return the text of both pages."""
    texts, defaults = {**descriptions(), "database": _DATABASE}, {**_defaults(), "database": ""}
    listed = [name for names in DOCUMENTED.values() for name in names]
    if missing := [name for name in listed if name not in texts]:
        raise SystemExit(f"make_settings_docs: no description for {', '.join(missing)}")
    lines = [_HEAD]
    for group, names in DOCUMENTED.items():
        lines += [f"## {group}", "", *_table(names, texts, defaults)]
    others = [name for name in texts if name not in listed]
    advanced = [_ADVANCED, *_table(others, texts, defaults)]
    return {_FOLDER / "settings.md": "\n".join(lines), _FOLDER / "settings-advanced.md": "\n".join(advanced)}


def _table(names: "list[str] | tuple[str, ...]", texts: dict[str, str], defaults: dict[str, object]) -> list[str]:
    rows = [_ROW.format(name=name, default=_shown(defaults[name]), text=texts[name]) for name in names]
    return ["| setting | default | description |", "|---|---|---|", *rows, ""]


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f"`{default}`" if default != "" else "(empty)"


def _defaults() -> dict[str, object]:
    settings = Settings()
    values: dict[str, object] = {}
    for flat, path in flat_names().items():
        cls, _, name = path.partition(".")
        owner = next(
            (value for field in fields(settings) if type(value := getattr(settings, field.name)).__name__ == cls),
            settings,
        )
        values[flat] = getattr(owner, name)
    return values


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if the pages are not what would be written")
    options = parser.parse_args()
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if options.check:
        print("the settings pages are out of date: run python -m tools.make_settings_docs" if stale else "up to date")
        return 1 if stale else 0
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
