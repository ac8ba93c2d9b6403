"""Writes minimal ONNX files and tokenizers byte by byte, without an extra package."""

from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

INT64, FLOAT = 7, 1


def write_tokenizer(path: Path, vocabulary: dict[str, int]) -> None:
    """Write a tokenizer that knows whole words only; `[UNK]` must be one of them."""
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(path))


def write_logarithm(path: Path, *, tokens: bool = True, width: int | bytes = b"length") -> None:
    """Write a model whose one number for each token is the logarithm of its id; flat, unless for `tokens`."""
    nodes = [_node("Cast", "input_ids", "number", _attribute("to", FLOAT)), _node("Log", "number", "flat")]
    output = _value("flat", FLOAT, [b"batch", width])
    if tokens:
        nodes.append(_node("Unsqueeze", "flat", "hidden", _attribute("axes", [2])))
        output = _value("hidden", FLOAT, [b"batch", b"length", 1])
    graph = [_field(1, node) for node in nodes]
    graph += [_field(2, b"g"), _field(11, _value("input_ids", INT64, [b"batch", b"length"])), _field(12, output)]
    opset = _field(1, b"") + _field(2, 11)
    path.write_bytes(_field(1, 6) + _field(7, b"".join(graph)) + _field(8, opset))


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + _varint(value >> 7)


def _node(kind: str, source: str, target: str, attribute: bytes = b"") -> bytes:
    node = _field(1, source.encode()) + _field(2, target.encode()) + _field(4, kind.encode())
    return node + (_field(5, attribute) if attribute else b"")


def _attribute(name: str, value: int | list[int]) -> bytes:
    if isinstance(value, int):
        return _field(1, name.encode()) + _field(3, value) + _field(20, 2)
    return _field(1, name.encode()) + b"".join(_field(8, each) for each in value) + _field(20, 7)


def _value(name: str, kind: int, shape: list[int | bytes]) -> bytes:
    dimensions = b"".join(_field(1, _field(2 if isinstance(each, bytes) else 1, each)) for each in shape)
    tensor = _field(1, kind) + _field(2, dimensions)
    return _field(1, name.encode()) + _field(2, _field(1, tensor))
