"""Rules for features that no type checker covers: their files, and one handler for every operation."""

from collections import Counter
from importlib import import_module

import grimp
import pytest

from bethink.base.features import feature_files
from bethink.model.operations import OPERATIONS


def _handled(module: str) -> list[str]:
    classes = [value for value in vars(import_module(module)).values() if isinstance(value, type)]
    methods = [method for cls in classes if cls.__module__ == module for method in vars(cls).values()]
    return [operation for method in methods for operation in getattr(method, "__handles__", ())]


def test_every_operation_has_one_handler_in_its_module() -> None:
    handlers = Counter(
        (module, name) for module in {operation.service for operation in OPERATIONS} for name in _handled(module)
    )

    assert handlers == Counter((operation.service, operation.name) for operation in OPERATIONS)


def test_operations_of_a_feature_have_a_service() -> None:
    for name, files in feature_files().items():
        assert ("operations.py" in files) <= ("service.py" in files), name


def test_queries_are_a_module_and_a_text() -> None:
    for name, files in feature_files().items():
        assert ("queries.sql" in files) <= ("queries.py" in files), name


def test_features_do_not_import_each_other() -> None:
    graph = grimp.build_graph("bethink", exclude_type_checking_imports=False, cache_dir=None)
    crossing = [
        (importer, imported)
        for importer in graph.find_descendants("bethink.features")
        for imported in graph.find_modules_directly_imported_by(importer)
        if imported.startswith("bethink.features.") and importer.split(".")[:3] != imported.split(".")[:3]
    ]

    assert crossing == []


@pytest.mark.parametrize(
    ("low", "high"), [("records", "operations"), ("operations", "service"), ("queries", "service")]
)
def test_declarations_of_a_feature_do_not_import_its_rules(low: str, high: str) -> None:
    graph = grimp.build_graph("bethink", exclude_type_checking_imports=False, cache_dir=None)
    for feature in feature_files():
        module = f"bethink.features.{feature}.{low}"
        imported = graph.find_modules_directly_imported_by(module) if module in graph.modules else set[str]()
        assert not {name for name in imported if name.split(".")[-1] in (high, "command", "page", "worker")}, feature
