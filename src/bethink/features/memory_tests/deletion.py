"""Names the memory tests that repeat words of what is deleted."""

from collections.abc import Callable, Iterable

from bethink.features.memory_tests import queries
from bethink.features.memory_tests.records import contained, expected_texts, normalised
from bethink.store.db import Tx


class _Tests:
    def ids(self, tx: Tx, *, space: str) -> list[str]:
        return [test.id for test in queries.page(tx, space=space)]

    def naming(self, tx: Tx, texts: Callable[[], Iterable[str]], *, space: str) -> list[str]:
        tests = queries.page(tx, space=space)
        if not tests:
            return []
        deleted = [normalised(text) for text in texts()]
        return [test.id for test in tests if any(contained(text, deleted) for text in expected_texts(test))]


HOLDER = _Tests()
