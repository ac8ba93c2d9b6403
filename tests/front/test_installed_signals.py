"""Signals of installed packages: found by their entry point, used by recall, and rejected if invalid."""

import importlib
import sys
from pathlib import Path

import pytest

import bethink
from bethink.errors import ConfigurationError
from tests.conftest import Quiet

DOCUMENTED = Path(__file__).parents[2] / "docs_src" / "pinned_signal.py"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an installed package that has the signal of the documentation, and two that are wrong."""
    module = DOCUMENTED.read_text(encoding="utf-8")
    module += (
        "\n\nclass Words(Pinned):\n    name = 'words'\n\n\nclass Heavy(Pinned):\n    name, weight = 'heavy', 2.0\n"
    )
    module += "\n\nclass Short(Pinned):\n    name = 'short'\n    def score(self, question, candidates): return []\n"
    folder = tmp_path / "site"
    info = folder / "acme_bethink-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "acme_bethink.py").write_text(module, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-bethink\nVersion: 1.0\n", encoding="utf-8")
    names = {"pinned": "Pinned", "words": "Words", "heavy": "Heavy", "short": "Short", "other": "Pinned"}
    lines = [f"{name} = acme_bethink:{value}" for name, value in names.items()]
    (info / "entry_points.txt").write_text("\n".join(["[bethink.signals]", *lines, ""]), encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    importlib.invalidate_caches()
    monkeypatch.delitem(sys.modules, "acme_bethink", raising=False)
    return folder


async def _asked(target: str, *, signals: str = "") -> bethink.RecallResult:
    async with bethink.connect(target, redactor=Quiet(), learn=False, signals=signals) as memory:
        alice = memory.space("alice")
        await alice.remember("The cello is in Oslo #pinned", conversation="one")
        await alice.remember("The cello is in Bergen now", conversation="two")
        return await alice.recall("Where is the cello?", explain=True)


@pytest.mark.usefixtures("site")
async def test_installed_signal_changes_the_order_and_is_explained(target: str) -> None:
    found = await _asked(target, signals="pinned")

    assert [item.text[-7:] for item in found.items] == ["#pinned", "gen now"]
    first, second = found.candidates
    assert first.signals["pinned"].added > 0
    assert "pinned" not in second.signals
    for each in found.candidates:
        assert each.score == pytest.approx(sum(signal.added for signal in each.signals.values()))


@pytest.mark.usefixtures("site")
async def test_a_signal_that_no_setting_names_is_not_used(target: str) -> None:
    found = await _asked(target)

    assert [item.text[-7:] for item in found.items] == ["gen now", "#pinned"]
    assert all("pinned" not in each.signals for each in found.candidates)


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("absent", r"No installed package has a signal 'absent'\. Installed signals: .*pinned"),
        ("words", "names of built-in signals are reserved"),
        ("other", "registered as 'other' is named 'pinned'"),
        ("heavy", "has the weight 2.0"),
        ("short", "finite number for each of 2 candidates"),
    ],
)
async def test_a_signal_that_recall_cannot_use_is_refused(target: str, name: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        await _asked(target, signals=f"pinned, {name}")
