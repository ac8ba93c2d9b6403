"""Adds the weights to the wheel: they are built, not committed."""

import importlib.util
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelHook(BuildHookInterface):
    """Builds the model's files in a temporary folder while the wheel is written."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the files and add them; an editable install gets them in its own folder."""
        spec = importlib.util.spec_from_file_location("build_model", Path(self.root) / "build.py")
        model = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(model)
        if version == "editable":
            model.build(model.HOME)
            return
        self._files = tempfile.TemporaryDirectory()
        folder = Path(self._files.name)
        model.build(folder)
        build_data["force_include"] |= {str(folder / name): f"{model.HOME.name}/{name}" for name in model.FILES}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary folder."""
        if version != "editable":
            self._files.cleanup()
