"""Finds memory tests that contain deleted texts."""

from collections.abc import Callable, Iterable

from bethink.features.memory_tests import queries
from bethink.features.memory_tests.records import expected_texts, is_contained, normalize
from bethink.store.db import Tx


class _Tests:
    def ids(self, tx: Tx, *, space: str) -> list[str]:
        return [test.id for test in queries.page(tx, space=space)]

    def naming(self, tx: Tx, texts: Callable[[], Iterable[str]], *, space: str) -> list[str]:
        tests = queries.page(tx, space=space)
        if not tests:
            return []
        deleted = [normalize(text) for text in texts()]
        return [test.id for test in tests if any(is_contained(text, deleted) for text in expected_texts(test))]


HOLDER = _Tests()
