"""A cross-encoder reads a question and a text together, and scores how well the text answers."""

import json
import shutil
from pathlib import Path

import pytest

from bethink.errors import ConfigurationError, ModelResponseError
from bethink.extend import Reranker
from bethink.memory.recall.tuning import TUNING
from bethink.providers.cross_encoder import CrossEncoder
from bethink.providers.onnx_embedder import OnnxEmbedder
from bethink.providers.token_reranker import TokenReranker
from bethink.providers.weights.catalog import read_catalog
from bethink.providers.weights.manifest import MANIFEST, ModelManifest
from tests.unit.onnx_files import write_logarithm, write_tokenizer
from tools import minilm, weights

QUESTION = "Where does Mira work?"
TEXTS = [
    "Mira said hello and asked where I was.",
    "She joined the observatory on La Palma as an engineer in spring.",
    "Quarterly revenue rose by nine percent.",
    "Mira has had a job at the observatory on La Palma since spring.",
]


@pytest.fixture(scope="module")
def reranker() -> CrossEncoder:
    return CrossEncoder(weights.CROSS_ENCODER, manifest=weights.CROSS_ENCODER_MANIFEST)


async def test_reranker_ranks_the_answer_first_and_noise_last(reranker: Reranker) -> None:
    scores = await reranker.rerank(QUESTION, TEXTS)

    assert (max(scores), min(scores)) == (scores[3], scores[2])
    assert scores[3] > 0 > scores[2]


async def test_a_score_is_the_same_alone_and_in_a_crowd(reranker: CrossEncoder) -> None:
    together = await reranker.rerank(QUESTION, TEXTS)

    assert [(await reranker.rerank(QUESTION, [text]))[0] for text in TEXTS] == together


async def test_no_text_is_too_odd_to_score(reranker: CrossEncoder) -> None:
    odd = ["", " ", "\0", "\ud800", "[SEP] [PAD]", "☃" * 50_000]

    assert len(await reranker.rerank(QUESTION, odd)) == len(odd)
    assert len(await reranker.rerank("", odd[:2])) == 2
    assert len(await reranker.rerank("tea " * 9_999, ["tea " * 9_999])) == 1
    assert await reranker.rerank(QUESTION, []) == []


async def test_without_a_manifest_pairs_are_scored_in_batches(reranker: CrossEncoder) -> None:
    plain = CrossEncoder(weights.CROSS_ENCODER)

    assert await plain.rerank(QUESTION, TEXTS) == pytest.approx(await reranker.rerank(QUESTION, TEXTS), abs=0.7)
    assert plain.name != reranker.name


def test_rerankers_have_a_small_weight() -> None:
    """A large one loses first places on three sets."""
    downloads = [entry.manifest for entry in read_catalog().values() if entry.manifest.task == "reranker"]
    defaults = [ModelManifest().weight, TokenReranker.weight, TUNING.reranker, *(each.weight for each in downloads)]

    assert downloads
    assert all(0.1 <= weight <= 0.2 for weight in defaults)


def test_a_reranker_brings_its_own_weight(tmp_path: Path) -> None:
    home = tmp_path / "mine"
    home.mkdir()
    for file in ("model.onnx", "tokenizer.json"):
        (home / file).symlink_to(weights.CROSS_ENCODER / file)
    (home / MANIFEST).write_text(json.dumps({"task": "reranker", "weight": 0.6}))

    own = CrossEncoder(home)
    tokens = TokenReranker(OnnxEmbedder(minilm.FOLDER, tokenizer=minilm.TOKENIZER))

    assert own.name.startswith("onnx:mine-")
    assert (own.weight, tokens.weight) == (0.6, 0.2)
    with pytest.raises(ConfigurationError, match="for the setting 'reranker'"):
        OnnxEmbedder(home)
    (home / MANIFEST).write_text("{}")
    with pytest.raises(ConfigurationError, match="for the setting 'embedder'"):
        CrossEncoder(home)


async def test_a_model_that_gives_no_score_for_a_pair_is_refused(tmp_path: Path) -> None:
    shutil.copy(minilm.TOKENIZER, tmp_path)
    (tmp_path / "model.onnx").symlink_to(minilm.FOLDER / "model.onnx")

    with pytest.raises(ConfigurationError, match="does not return one score"):
        await CrossEncoder(tmp_path).rerank(QUESTION, TEXTS)


async def test_nan_never_becomes_a_score(tmp_path: Path) -> None:
    write_tokenizer(tmp_path / "tokenizer.json", {"[UNK]": 0, "tea": 2})
    write_logarithm(tmp_path / "model.onnx", tokens=False, width=1)

    assert await CrossEncoder(tmp_path).rerank("tea", [""]) == [pytest.approx(0.6931, abs=1e-3)]
    with pytest.raises(ModelResponseError, match="cannot"):
        await CrossEncoder(tmp_path).rerank("coffee", [""])
