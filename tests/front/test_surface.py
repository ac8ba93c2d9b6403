"""The public surface is small: 30 names, few members on a handle, and one shape for lists."""

import inspect
from importlib import import_module
from typing import Any, get_origin

import pytest

import bethink
import bethink.sync
from bethink import errors
from bethink.model.operations import OPERATIONS
from tests.front import calls
from tools.make_api import CLASSES

_NAMES = {
    "connect", "Memory", "Space", "SpaceGroup", "Session",
    "Message", "Fact", "Document", "Ref", "Match", "RecallResult", "ContextBlock", "Answer", "Lineage", "Deletion",
    "Review", "LearningRules", "Page", "Change", "Settings", "acting_for", "verify_webhook",
    "BethinkError", "InvalidRequestError", "NotFoundError", "ConflictError", "PermissionDeniedError",
    "ConfigurationError", "ModelError", "DatabaseError",
}  # fmt: skip
_HANDLES = [getattr(import_module(cls.module), cls.name) for cls in CLASSES.values()]
_COLLECTIONS = [handle for handle in _HANDLES if hasattr(handle, "list")]
_ERRORS = [name for name, error in vars(errors).items() if inspect.isclass(error)]


def _members(handle: object) -> set[str]:
    return {name for name in dir(handle) if not name.startswith("_")}


def test_public_names_are_these_and_no_others() -> None:
    assert len(_NAMES) == 30
    assert set(bethink.__all__) == _NAMES
    assert len(bethink.__all__) == 30


@pytest.mark.parametrize("library", [bethink, bethink.sync], ids=["async", "blocking"])
@pytest.mark.parametrize(("name", "limit"), [("Memory", 9), ("Space", 16), ("Session", 16)])
def test_handle_has_few_members(library: Any, name: str, limit: int) -> None:
    assert len(_members(getattr(library, name))) <= limit, sorted(_members(getattr(library, name)))


async def test_open_session_has_few_members(memory: bethink.Memory) -> None:
    session = await memory.space("mira").session("chat")

    assert len(_members(session)) <= 16, sorted(_members(session))


@pytest.mark.parametrize("collection", _COLLECTIONS, ids=lambda collection: collection.__name__)
def test_every_list_returns_a_page(collection: type[Any]) -> None:
    blocking = getattr(bethink.sync, collection.__name__)

    assert get_origin(inspect.signature(collection.list).return_annotation) is bethink.Page
    assert get_origin(inspect.signature(blocking.list).return_annotation) is bethink.sync.Page


def test_collections_are_found() -> None:
    assert len(_COLLECTIONS) > 15


def test_every_list_operation_returns_a_page() -> None:
    results = {operation.name: operation.result for operation in OPERATIONS if operation.name.endswith(".list")}

    assert {name for name, result in results.items() if get_origin(result) is not bethink.Page} == set()


@pytest.mark.parametrize("name", _ERRORS)
def test_every_error_can_be_imported_from_bethink(name: str) -> None:
    assert getattr(bethink, name) is getattr(errors, name)


def test_errors_are_found() -> None:
    assert len(_ERRORS) == 23


async def test_words_dates_and_texts_are_accepted(target: str) -> None:
    async with bethink.connect(target, learn_in_background=False) as memory:
        mira = memory.space("mira")
        ref = await calls.remember(mira)

        assert "I like tea." in await calls.search(mira, ref)
        assert await calls.list_everything(mira) == ["The user likes tea."]
        await calls.converse(mira)
        hint, field, no_model, current = await calls.handle_errors(mira)
        assert hint == bethink.NotFoundError.default_hint
        assert (field, current) == ("limit", 1)
        assert "No model is configured" in str(no_model)
        assert (await calls.administer(memory, mira)).facts == 1
