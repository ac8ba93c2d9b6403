"""A model manifest says how to run the model and which files it consists of."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bethink.errors import ConfigurationError
from bethink.providers.onnx_embedder import OnnxEmbedder
from bethink.providers.onnx_session import Encoded, OnnxVectors
from bethink.providers.weights.manifest import MANIFEST, ModelManifest, manifest_from, read_manifest, sha256_of
from tools import minilm, weights

TEXTS = ["The cat is asleep on the sofa.", "Rain", "Quarterly revenue rose by nine percent, as nobody had expected."]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with MiniLM and its tokenizer, as an export would leave it."""
    home = tmp_path / "mini"
    home.mkdir()
    (home / "model.onnx").symlink_to(minilm.FOLDER / "model.onnx")
    shutil.copy(minilm.TOKENIZER, home)
    return home


def describe(folder: Path, **fields: object) -> None:
    (folder / MANIFEST).write_text(json.dumps(fields))


async def test_questions_and_messages_get_their_prefixes(folder: Path) -> None:
    plain = OnnxEmbedder(folder)
    describe(folder, question_prefix="query: ", message_prefix="passage: ")
    trained = OnnxEmbedder(folder)

    assert await trained.embed(["tea"], kind="question") == await plain.embed(["query: tea"])
    assert await trained.embed(["tea"], kind="message") == await plain.embed(["passage: tea"])
    assert (plain.asymmetric, trained.asymmetric) == (False, True)


async def test_manifest_selects_the_first_token_as_vector(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden: list[list[float]] = []
    read = OnnxVectors._hidden

    def watched(self: OnnxVectors, batch: Sequence[Encoded]) -> object:
        found = read(self, batch)
        hidden.extend(found[0][:, 0].tolist())
        return found

    monkeypatch.setattr(OnnxVectors, "_hidden", watched)
    describe(folder, pooling="cls")
    (made,) = await OnnxEmbedder(folder).embed(TEXTS[:1])

    assert made == pytest.approx(np.array(hidden[0]) / np.linalg.norm(hidden[0]), abs=1e-6)
    (mean,) = await OnnxEmbedder(folder, manifest=ModelManifest()).embed(TEXTS[:1])
    assert np.dot(made, mean) < 0.99


async def test_a_manifest_says_how_many_tokens_are_read(folder: Path) -> None:
    describe(folder, max_tokens=8)
    short, long = await OnnxEmbedder(folder).embed(["cat " * 6, "cat " * 6 + "revenue " * 50])

    assert short == pytest.approx(long, abs=1e-6)


def test_a_manifest_comes_before_what_the_export_says_of_its_pooling(folder: Path) -> None:
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode": "cls"}')
    with pytest.raises(ConfigurationError, match=MANIFEST):
        OnnxEmbedder(folder)

    for pooling in ("cls", "mean"):
        describe(folder, pooling=pooling)
        assert OnnxEmbedder(folder)


def test_a_name_changes_with_what_makes_the_vectors_and_with_nothing_else(folder: Path) -> None:
    plain = OnnxEmbedder(folder).name

    for same in ({}, {"license": "MIT", "languages": ["en"], "weight": 2}):
        describe(folder, **same)
        assert OnnxEmbedder(folder).name == plain
    others: list[dict[str, object]] = [
        {"pooling": "cls"},
        {"max_tokens": 512},
        {"question_prefix": "q: "},
        {"message_prefix": "q: "},
        {"one_at_a_time": True},
    ]
    names = {plain}
    for other in others:
        describe(folder, **other)
        names.add(OnnxEmbedder(folder).name)
    assert len(names) == 1 + len(others)


async def test_one_at_a_time_makes_quantized_vectors_repeatable() -> None:
    together = OnnxEmbedder(weights.BGE_SMALL, manifest=ModelManifest())
    alone = OnnxEmbedder(weights.BGE_SMALL, manifest=ModelManifest(one_at_a_time=True))

    for text, in_crowd, by_itself in zip(TEXTS, await together.embed(TEXTS), await alone.embed(TEXTS), strict=True):
        assert by_itself == (await alone.embed([text]))[0]
        assert in_crowd != by_itself, "this is why: the flag would not be needed for another model"


async def test_a_file_that_is_not_the_one_described_is_never_run(folder: Path) -> None:
    digest = sha256_of(folder / "tokenizer.json")
    describe(folder, files={"tokenizer.json": digest})
    assert len(await OnnxEmbedder(folder).embed(["cat"])) == 1

    for name, wrong in (("tokenizer.json", digest[::-1]), ("elsewhere.json", digest)):
        describe(folder, files={name: wrong})
        with pytest.raises(ConfigurationError, match=rf"{name}.*describes.*models pull mini"):
            await OnnxEmbedder(folder).embed(["cat"])


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("{", "delimiter|Expecting"),
        ("[]", "not an object"),
        ('{"poling": "cls"}', "unknown field 'poling'"),
        ('{"pooling": "max"}', "pooling is not one of mean, cls"),
        ('{"task": "judge"}', "task is not one of"),
        ('{"max_tokens": 0}', "max_tokens is out of range"),
        ('{"max_tokens": true}', "max_tokens has the wrong type"),
        ('{"one_at_a_time": 1}', "one_at_a_time has the wrong type"),
        ('{"languages": [1]}', "languages has the wrong type"),
        ('{"files": {"model.onnx": "abc"}}', "SHA-256 of model.onnx"),
        ('{"files": {"model.onnx": 1}}', "files has the wrong type"),
    ],
)
def test_a_manifest_that_cannot_be_used_says_why(folder: Path, written: str, why: str) -> None:
    (folder / MANIFEST).write_text(written)

    with pytest.raises(ConfigurationError, match=rf"'mini'.*({why})"):
        OnnxEmbedder(folder)


def test_reranker_is_rejected_as_embedder(folder: Path) -> None:
    describe(folder, task="reranker")

    with pytest.raises(ConfigurationError, match="for the setting 'reranker'"):
        OnnxEmbedder(folder)


def test_manifest_round_trips(tmp_path: Path) -> None:
    manifest = ModelManifest(
        task="reranker",
        question_prefix="Frage: ",
        languages=("de", "en"),
        weight=0.5,
        license="MIT",
        files={"model.onnx": "0" * 64},
    )
    manifest.write(tmp_path)

    assert read_manifest(tmp_path) == manifest
    assert manifest_from({"weight": 2}).weight == 2.0
