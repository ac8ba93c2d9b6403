"""No Bethink logger emits a secret, however the record carries it."""

import ast
import importlib
import logging
import pkgutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import bethink
from bethink.base.logs import logger
from tests.conftest import Quiet

SECRET = "ghp_" + "a1B2" * 9
SOURCE = Path(bethink.__file__).parent


class Everything(logging.Handler):
    """Keeps all that a formatter could write of each record."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(f"{self.format(record)} {vars(record)!r} {record.exc_info}")


@contextmanager
def listening(source: logging.Logger) -> Generator[list[str]]:
    handler, level, off = Everything(), source.level, source.disabled
    source.addHandler(handler)
    source.setLevel(logging.DEBUG)
    source.disabled = False
    try:
        yield handler.records
    finally:
        source.removeHandler(handler)
        source.setLevel(level)
        source.disabled = off


def say(source: logging.Logger) -> None:
    source.info("it broke: %s", SECRET)
    source.info(SECRET, stack_info=True)
    source.info("mind", extra={"token": SECRET, "fields": {"deep": [SECRET, {SECRET: 1}], "error": ValueError(SECRET)}})
    try:
        int(SECRET)
    except ValueError:
        source.exception("it broke")


def our_loggers() -> dict[str, logging.Logger]:
    for module in pkgutil.walk_packages(bethink.__path__, "bethink."):
        if not module.name.endswith("__main__"):
            adapter = module.name.startswith("bethink.integrations.")
            with suppress(ModuleNotFoundError) if adapter else nullcontext():  # some frameworks are not installed here
                importlib.import_module(module.name)
    known: dict[str, Any] = logging.root.manager.loggerDict
    return {
        name: each
        for name, each in known.items()
        if name.partition(".")[0] == "bethink" and isinstance(each, logging.Logger)
    }


def test_every_logger_redacts_secrets(tmp_path: Path) -> None:
    bethink.connect(tmp_path / "m.db", redaction_key="k")
    bethink.connect(tmp_path / "m.db", redactor=Quiet())  # another Memory's takes nothing away
    logger()
    logger("made.later")
    loggers = our_loggers()

    assert {"bethink", "bethink.recall", "bethink.mcp", "bethink.server", "bethink.made.later"} <= set(loggers)
    for source in loggers.values():
        with listening(source) as records:
            say(source)
        assert len(records) == 4, source
        for record in records:
            assert SECRET not in record, source
            assert "[REDACTED:github_token:" in record, source


def test_a_redactor_of_the_callers_own_cuts_our_logs_too(tmp_path: Path) -> None:
    class Names:
        def redact(self, text: str) -> str:
            return text.replace("Anna", "[name]")

    bethink.connect(tmp_path / "m.db", redactor=Names())
    with listening(logger("recall")) as records:
        logger("recall").info("%s asked %d times", "Anna", 3, extra={"by": "Anna", "times": 3})

    assert "Anna" not in records[0]
    assert "[name] asked 3 times" in records[0]
    assert "'times': 3" in records[0]


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            yield str(name), node


def test_loggers_are_created_in_one_module() -> None:
    made = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for name, call in calls(ast.parse(path.read_text(encoding="utf-8")))
        if name in {"getChild", "Logger", "LoggerAdapter"}
        or (name == "getLogger" and not all(_is_foreign(each) for each in call.args))
    ]

    assert made == ["base/logs.py"]


def _is_foreign(name: ast.expr) -> bool:
    return isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value.partition(".")[0] != "bethink"
