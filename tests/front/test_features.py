"""What no type checker can say about features: their files, and that every operation has one handler."""

from collections import Counter
from importlib import import_module

from bethink.base.features import feature_files
from bethink.model.operations import VERBS

_REQUIRED = {"__init__.py"}


def _handled(module: str) -> list[str]:
    classes = [value for value in vars(import_module(module)).values() if isinstance(value, type)]
    methods = [method for cls in classes if cls.__module__ == module for method in vars(cls).values()]
    return [operation for method in methods for operation in getattr(method, "__handles__", ())]


def test_every_operation_has_one_handler_in_its_module() -> None:
    handlers = Counter((module, name) for module in {verb.service for verb in VERBS} for name in _handled(module))

    assert handlers == Counter((verb.service, verb.name) for verb in VERBS)


def test_operations_and_service_of_a_feature_come_together() -> None:
    for name, files in feature_files().items():
        assert ("operations.py" in files) == ("service.py" in files) or "operations.py" not in files, name


def test_queries_are_a_module_and_a_text() -> None:
    for name, files in feature_files().items():
        assert ("queries.sql" in files) <= ("queries.py" in files), name
