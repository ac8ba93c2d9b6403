"""Fixtures for the documentation tests."""

import pytest


@pytest.fixture(autouse=True)
def by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let snippets print what they print for a reader without extras, also in processes of their own."""
    monkeypatch.setenv("BETHINK_EMBEDDER", "none")
