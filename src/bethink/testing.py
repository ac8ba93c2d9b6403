"""Helpers for tests of programs that use Bethink."""

from bethink.providers.scripted_model import ScriptedModel

__all__ = ["ScriptedModel"]
