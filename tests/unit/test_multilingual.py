"""The multilingual model that the extra `local` installs: its files, its vectors, and the rule that chooses it."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import threadpoolctl  # pyright: ignore[reportMissingTypeStubs]
from numpy.typing import NDArray

from bethink.errors import ConfigurationError
from bethink.memory.recall.signals.vector import supports_language
from bethink.providers import multilingual_embedder
from bethink.providers.gram_encoder import GramEncoder
from bethink.providers.local_extra import MODEL_PACKAGE, local_is_installed, model_is_installed
from bethink.providers.multilingual_embedder import MultilingualEmbedder
from bethink.providers.weights.manifest import read_manifest
from tools.minilm import package

TEA = (
    "I like drinking tea in the evening.",
    "我喜欢晚上喝茶。",
    "Ich trinke abends gern Tee.",
    "夜にお茶を飲むのが好きです。",
)
RENT = "The rent is due on the first of the month."


@pytest.fixture(scope="module")
def embedder() -> MultilingualEmbedder:
    return MultilingualEmbedder()


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the model's folder that can be damaged."""
    home = tmp_path / "model"
    shutil.copytree(package(MODEL_PACKAGE), home)

    def folder(_: str) -> Path:
        return home

    monkeypatch.setattr(multilingual_embedder, "package_folder", folder)
    return home


async def vectors(embedder: MultilingualEmbedder, texts: Sequence[str]) -> NDArray[np.float64]:
    return np.array(await embedder.embed(texts))


def test_files_are_those_that_the_manifest_names() -> None:
    home = package(MODEL_PACKAGE)
    manifest = read_manifest(home)

    assert manifest is not None
    assert set(manifest.files) == {"layers.safetensors", "table.npy", "tokenizer.model"}
    manifest.check_files(home)


async def test_texts_match_by_meaning_in_four_languages(embedder: MultilingualEmbedder) -> None:
    *tea, rent = await vectors(embedder, [*TEA, RENT])

    assert embedder.dimension == 512
    assert min(tea[0] @ other for other in tea) > 0.7
    assert max(rent @ other for other in tea) < 0.2


async def test_vectors_are_those_of_the_original_network(embedder: MultilingualEmbedder) -> None:
    """The cosines that onnxruntime returns for the source of the weights, which also rounds activations."""
    first, second, third, rent = await vectors(embedder, [*TEA[:3], RENT])

    cosines = [first @ second, first @ third, second @ rent, first @ rent]

    assert cosines == pytest.approx([0.854, 0.731, 0.044, 0.065], abs=0.02)


async def test_text_has_the_same_vector_alone_and_in_a_batch(embedder: MultilingualEmbedder) -> None:
    texts = [*TEA, RENT, "", "a", "\0", "\ud800", "word " * 3_000, "長" * 9_000]

    together = await embedder.embed(texts, kind="question")

    assert together == [(await embedder.embed([text]))[0] for text in texts]
    assert np.linalg.norm(np.array(together), axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-6)


async def test_only_the_first_512_tokens_count(embedder: MultilingualEmbedder) -> None:
    start = "tea " * 510

    first, second, shorter = await vectors(embedder, [start, f"{start} {RENT}", start[:-8]])

    assert (first == second).all()
    assert (first != shorter).any()


async def test_embedding_leaves_the_threads_of_numpy_as_they_were(embedder: MultilingualEmbedder) -> None:
    def threads() -> list[Any]:
        info = cast("list[dict[str, Any]]", threadpoolctl.threadpool_info())
        return [(pool["filepath"], pool["num_threads"]) for pool in info]

    before = threads()
    await embedder.embed(TEA)

    assert threads() == before


async def test_convolution_reads_the_neighbors_of_a_token(embedder: MultilingualEmbedder) -> None:
    """The order of words matters, as it does not in the table of tokens that is the fallback."""
    one, other = await vectors(embedder, ["Mira owes Jonas money.", "Jonas owes Mira money."])

    assert 0.8 < one @ other < 0.999


def test_manifest_describes_the_model(embedder: MultilingualEmbedder) -> None:
    assert supports_language(embedder, "ja")
    assert not supports_language(embedder, "hi")
    assert embedder.cosines.related > embedder.cosines.unrelated + 0.2
    assert embedder.name == MultilingualEmbedder(automatic=True).name
    assert embedder.name.startswith("local:multilingual-")


@pytest.mark.parametrize("name", ["table.npy", "layers.safetensors", "tokenizer.model"])
async def test_damaged_file_has_another_name_and_is_refused(
    copy: Path, embedder: MultilingualEmbedder, name: str
) -> None:
    (copy / name).write_bytes((copy / name).read_bytes()[:5_000])

    assert MultilingualEmbedder().name != embedder.name
    with pytest.raises(ConfigurationError, match=r"Cannot read the model.*packages/bethink-model-multilingual"):
        await MultilingualEmbedder().embed(["tea"])

    (copy / name).unlink()
    with pytest.raises(ConfigurationError, match=f"does not contain {name}"):
        MultilingualEmbedder()


def test_table_that_is_too_short_for_the_tokenizer_is_refused(copy: Path) -> None:
    np.save(copy / "table.npy", np.zeros((10, 512), dtype=np.uint8))

    with pytest.raises(ConfigurationError, match="Cannot read"):
        GramEncoder(copy / "table.npy", copy / "layers.safetensors", copy / "tokenizer.model", max_tokens=512)


def test_package_without_files_is_refused(copy: Path) -> None:
    (copy / "bethink-model.json").unlink()

    with pytest.raises(ConfigurationError, match="does not contain its manifest"):
        MultilingualEmbedder()


@pytest.mark.parametrize("module", [MODEL_PACKAGE, "sentencepiece", "threadpoolctl"])
def test_table_is_the_default_without_a_part_of_the_model(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert model_is_installed()

    monkeypatch.setitem(sys.modules, module, None)

    assert not model_is_installed()
    assert local_is_installed()
    with pytest.raises(ConfigurationError, match=r"bethink\[local\]"):
        MultilingualEmbedder()
