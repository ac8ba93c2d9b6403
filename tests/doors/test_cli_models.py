"""Only one command downloads models, here from a mirror of the hub; each file is checked against its hash."""

import hashlib
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import pytest

from bethink.config.settings import load_settings
from bethink.memory.plugins import embedder_from
from bethink.providers.onnx_embedder import OnnxEmbedder
from bethink.providers.weights.catalog import read_catalog
from bethink.providers.weights.manifest import MANIFEST, read_manifest
from tests.doors.cli_kit import ok, run
from tests.unit.onnx_files import write_logarithm, write_tokenizer
from tests.unit.static_files import WORDS

REVISION = "0123456789abcdef0123456789abcdef01234567"


class Mirror:
    """A mirror of the hub on this machine: what it holds by path, what was asked for, and where it breaks off."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.moved: dict[str, str] = {}
        self.asked: list[str] = []
        self.cut = ""
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                mirror.answer(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named by its parent
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.asked.append(handler.path)
        if handler.path in self.moved:
            handler.send_response(302)
            handler.send_header("Location", self.moved[handler.path])
            handler.end_headers()
            return
        body = self.files.get(handler.path)
        handler.send_response(404 if body is None else 200)
        handler.send_header("Content-Length", str(len(body or b"")))
        handler.end_headers()
        handler.wfile.write((body or b"")[: 10 if self.cut and handler.path.endswith(self.cut) else None])


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    found = Mirror()
    thread = threading.Thread(target=found.server.serve_forever)
    thread.start()
    monkeypatch.setenv("BETHINK_MODELS_URL", found.url)
    yield found
    found.server.shutdown()
    thread.join()
    found.server.server_close()


@pytest.fixture
def folder(home: Path) -> Path:
    """Where downloaded models lie by default."""
    return home / ".local/share/bethink/models"


@pytest.fixture
def tiny(home: Path, mirror: Mirror) -> dict[str, Any]:
    """The entry of a model that the mirror holds."""
    write_logarithm(home / "model.onnx")
    write_tokenizer(home / "tokenizer.json", WORDS)
    sources = {"model.onnx": "onnx/model_quantized.onnx", "tokenizer.json": "tokenizer.json"}
    described: dict[str, dict[str, str]] = {}
    for local, path in sources.items():
        content = (home / local).read_bytes()
        mirror.files[f"/acme/tiny-v1/resolve/{REVISION}/{path}"] = content
        described[local] = {"path": path, "sha256": hashlib.sha256(content).hexdigest()}
    return {
        "about": "a logarithm",
        "megabytes": 1,
        "repository": "acme/tiny-v1",
        "revision": REVISION,
        "files": described,
        "manifest": {"question_prefix": "cat ", "license": "MIT", "languages": ["en"]},
    }


def catalogue(home: Path, entry: dict[str, Any], name: str = "tiny") -> str:
    file = home / "catalogue.json"
    file.write_text(json.dumps({name: entry}))
    return str(file)


def test_model_is_downloaded_once_and_used_by_name(
    home: Path, mirror: Mirror, tiny: dict[str, Any], folder: Path
) -> None:
    path = catalogue(home, tiny)

    done = ok("data", "models", "pull", "tiny", "--catalog", path)

    assert done == {"name": "tiny", "folder": str(folder / "tiny"), "license": "MIT", "new": True}
    assert mirror.asked == list(mirror.files), "the paths of the hub, each once"
    assert {file.name for file in (folder / "tiny").iterdir()} == {"model.onnx", "tokenizer.json", MANIFEST}
    assert [file.name for file in folder.iterdir()] == ["tiny"], "nothing is left beside it"
    manifest = read_manifest(folder / "tiny")
    assert manifest is not None
    assert (manifest.repository, manifest.revision, manifest.license) == ("acme/tiny-v1", REVISION, "MIT")
    embedder = embedder_from(load_settings(environ={}, embedder="tiny"))
    assert isinstance(embedder, OnnxEmbedder)
    assert embedder.asymmetric
    assert anyio.run(embedder.embed, ["sofa"]) == [[1.0]]

    assert ok("data", "models", "pull", "tiny", "--catalog", path)["new"] is False
    assert len(mirror.asked) == 2, "nothing was asked for again"
    assert ok("data", "models", "where", "tiny") == {"folder": str(folder / "tiny")}
    assert [each["downloaded"] for each in ok("data", "models", "list", "--catalog", path)] == [True]


def test_a_model_that_was_changed_since_is_downloaded_again(
    home: Path, mirror: Mirror, tiny: dict[str, Any], folder: Path
) -> None:
    path = catalogue(home, tiny)
    ok("data", "models", "pull", "tiny", "--catalog", path)
    whole = (folder / "tiny" / "tokenizer.json").read_bytes()
    (folder / "tiny" / "tokenizer.json").write_bytes(b"{}")

    assert [each["downloaded"] for each in ok("data", "models", "list", "--catalog", path)] == [False]
    assert ok("data", "models", "pull", "tiny", "--catalog", path)["new"] is True
    assert (folder / "tiny" / "tokenizer.json").read_bytes() == whole


def test_changed_manifest_is_rewritten_without_a_download(
    home: Path, mirror: Mirror, tiny: dict[str, Any], folder: Path
) -> None:
    ok("data", "models", "pull", "tiny", "--catalog", catalogue(home, tiny))
    asked = len(mirror.asked)
    changed = catalogue(home, tiny | {"manifest": {"license": "MIT", "pooling": "cls"}})

    assert [each["downloaded"] for each in ok("data", "models", "list", "--catalog", changed)] == [False]
    assert ok("data", "models", "pull", "tiny", "--catalog", changed)["new"] is False
    manifest = read_manifest(folder / "tiny")
    assert manifest is not None
    assert (manifest.pooling, len(mirror.asked)) == ("cls", asked)


def test_the_mirror_may_send_elsewhere_as_the_hub_does(home: Path, mirror: Mirror, tiny: dict[str, Any]) -> None:
    for path in list(mirror.files):
        mirror.moved[path] = f"/store{path}"
        mirror.files[f"/store{path}"] = mirror.files.pop(path)

    assert ok("data", "models", "pull", "tiny", "--catalog", catalogue(home, tiny))["new"] is True


@pytest.mark.parametrize(
    ("harm", "message", "hint"),
    [
        ("wrong", "tokenizer.json of tiny does not match the catalog", "Nothing was changed"),
        ("cut", "The download of tokenizer.json of tiny was interrupted", "Run the command again"),
        ("gone", "returned status 404", "Check `models_url`"),
    ],
)
def test_incomplete_download_changes_nothing(
    home: Path, mirror: Mirror, tiny: dict[str, Any], folder: Path, harm: str, message: str, hint: str
) -> None:
    tokenizer = f"/acme/tiny-v1/resolve/{REVISION}/tokenizer.json"
    whole = mirror.files[tokenizer]
    if harm == "wrong":
        mirror.files[tokenizer] = whole[::-1]
    elif harm == "cut":
        mirror.cut = "tokenizer.json"
    else:
        del mirror.files[tokenizer]
    path = catalogue(home, tiny)

    done = run("data", "models", "pull", "tiny", "--catalog", path, "--json")

    assert done.code == 1
    assert message in done.envelope["error"]["message"]
    assert hint in done.envelope["error"]["hint"]
    assert list(folder.iterdir()) == []
    mirror.cut, mirror.files[tokenizer] = "", whole
    assert ok("data", "models", "pull", "tiny", "--catalog", path)["new"] is True


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"manifest": {"pooling": "mean"}}, "tiny: the license is missing"),
        ({"revision": "main"}, "not a commit of 40 hexadecimal digits"),
        ({"repository": "https://elsewhere.example/x"}, "not OWNER/NAME"),
        ({"files": {"model.onnx": {"path": "m", "sha256": "1234"}}}, "SHA-256 of model.onnx"),
        ({"files": {"../model.onnx": {"path": "m", "sha256": "0" * 64}}}, "a file name is invalid"),
        ({"files": {"model.onnx": {"path": "../m", "sha256": "0" * 64}}}, "a file name is invalid"),
        ({"files": {"model.onnx": {"path": "m"}}}, "'sha256' is missing"),
        ({"license": "MIT"}, "unknown field 'license'"),
        ({"manifest": {"license": "MIT", "poling": "cls"}}, "unknown field 'poling'"),
    ],
)
def test_incomplete_model_entry_is_rejected_before_any_download(
    home: Path, mirror: Mirror, tiny: dict[str, Any], change: dict[str, Any], why: str
) -> None:
    done = run("data", "models", "pull", "tiny", "--catalog", catalogue(home, tiny | change), "--json")

    assert done.code == 4
    assert why in done.envelope["error"]["message"]
    assert "docs/howto/vectors.md" in done.envelope["error"]["hint"]
    assert mirror.asked == []


def test_a_name_that_would_leave_the_folder_is_refused(home: Path, tiny: dict[str, Any]) -> None:
    assert (
        "the name is not a valid folder name"
        in run("data", "models", "list", "--catalog", catalogue(home, tiny, "../tiny")).err
    )


def test_unknown_model_name_lists_available_models(home: Path, folder: Path) -> None:
    assert "all-MiniLM-L6-v2, bge-small-en, multilingual-e5-small" in run("data", "models", "pull", "gpt").err
    assert "models pull bge-small-en" in run("data", "models", "where", "bge-small-en").err
    assert ok("data", "models", "where") == {"folder": str(folder)}


def test_the_folder_and_the_address_are_settings(home: Path, tiny: dict[str, Any], monkeypatch: Any) -> None:
    monkeypatch.setenv("BETHINK_MODELS_DIR", str(home / "elsewhere"))
    ok("data", "models", "pull", "tiny", "--catalog", catalogue(home, tiny))
    assert (home / "elsewhere" / "tiny" / MANIFEST).is_file()

    monkeypatch.setenv("BETHINK_MODELS_URL", "ftp://mirror.example")
    monkeypatch.setenv("BETHINK_MODELS_DIR", str(home / "empty"))
    done = run("data", "models", "pull", "tiny", "--catalog", catalogue(home, tiny))
    assert "is not an http:// or https:// URL" in done.err


def test_without_a_client_the_extra_is_named(home: Path, tiny: dict[str, Any], monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)

    assert "'.[onnx]'" in run("data", "models", "pull", "tiny", "--catalog", catalogue(home, tiny)).err


def test_catalog_pins_every_file_and_names_every_license() -> None:
    found = read_catalog()

    assert {name: (entry.manifest.task, entry.manifest.license) for name, entry in found.items()} == {
        "all-MiniLM-L6-v2": ("embedder", "Apache-2.0"),
        "bge-small-en": ("embedder", "MIT"),
        "multilingual-e5-small": ("embedder", "MIT"),
        "ms-marco-MiniLM-L-12": ("reranker", "Apache-2.0"),
        "mmarco-mMiniLMv2-L12": ("reranker", "Apache-2.0"),
    }
    for entry in found.values():
        assert set(entry.manifest.files) == set(entry.sources) == {"model.onnx", "tokenizer.json"}
        assert entry.manifest.one_at_a_time, "all of them are int8"
        assert entry.manifest.languages
