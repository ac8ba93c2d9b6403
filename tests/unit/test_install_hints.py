"""Hints name only packages that exist: Bethink is installed from a clone, not from a package index."""

import re
import tomllib
from pathlib import Path

from bethink.base.installed import DISTRIBUTIONS, install_hint, not_installed

_ROOT = Path(__file__).parents[2]
_SOURCES = {path: path.read_text(encoding="utf-8") for path in (_ROOT / "src").rglob("*.py")}


def test_no_hint_installs_from_a_package_index() -> None:
    pattern = re.compile(r"pip install (?:--upgrade )?['\"]?bethink")

    assert [str(path) for path, source in _SOURCES.items() if pattern.search(source)] == []


def test_install_hints_name_declared_extras() -> None:
    extras = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    hinted = {extra for text in _SOURCES.values() for extra in re.findall(r"install_hint\(['\"]([\w-]+)['\"]\)", text)}

    assert len(hinted) >= 8
    assert hinted <= set(extras)
    assert install_hint("pdf") == "From a clone of Bethink, run: pip install '.[pdf]'"


def test_missing_distribution_is_installed_from_its_folder() -> None:
    for name, (distribution, _) in DISTRIBUTIONS.items():
        assert str(not_installed(name).hint).endswith(f"pip install ./packages/{distribution}")
        assert (_ROOT / "packages" / distribution / "pyproject.toml").is_file()
