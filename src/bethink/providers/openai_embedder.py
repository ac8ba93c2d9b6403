"""Embed texts with any server that has the OpenAI embeddings API: OpenAI itself, vLLM, llama.cpp, Ollama."""

import math
from collections.abc import Generator, Sequence
from typing import cast

from openai import omit

from bethink.errors import ConfigurationError, ModelResponseError
from bethink.extend import TextKind
from bethink.model.text import clean
from bethink.providers.http_body import MAX_BODY, at, invalid_response_error, read_json
from bethink.providers.openai_client import OpenAIServer, limit_openai_call

_NATIVE = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
# OpenAI accepts 8,192 tokens per text and 300,000 per request; a character is rarely more than one token.
_MAX_CHARACTERS = 6_000
_BATCH_CHARACTERS = 200_000
_BATCH_TEXTS = 256
_BYTES_PER_NUMBER = 32
_TOO_LARGE = 1e300


class OpenAIEmbedder:
    """Sends texts to an embeddings server; unless that is local, the texts leave this machine.

    Only the first 6,000 characters of a text are sent. The default key is `OPENAI_API_KEY`; a local server needs none.
    `dimension` is optional for the models of OpenAI. Raises `ConfigurationError` if a setting is missing.
    """

    def __init__(
        self, name: str, *, base_url: str = "", api_key: str = "", dimension: int = 0, timeout: float = 60.0
    ) -> None:
        self._server = OpenAIServer(base_url=base_url, api_key=api_key)
        self.dimension = dimension or _NATIVE.get(name, 0)
        if self.dimension < 1:
            raise ConfigurationError(f"Unknown dimension of {name!r}.", hint="Set `embedder_dimension`.")
        self.name = f"openai:{name}-{self.dimension}"
        self._model = name
        self._timeout = timeout
        # Other servers may not support the parameter, and have only one dimension.
        self._shortened = self.dimension != _NATIVE.get(name, self.dimension)

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
        """Return a vector of length one for each text, in order.

        Raises `ModelUnavailableError`, `ModelTimeoutError`, or `ModelResponseError` for a rejected request or unusable
        vectors.
        """
        del kind  # the API has no such parameter
        vectors: list[Sequence[float]] = []
        for batch in _batches(texts):
            with limit_openai_call(self._model, self._timeout):
                body = await self._post(batch)
            vectors += self._parse_vectors(body, len(batch))
        return vectors

    async def _post(self, batch: list[str]) -> object:
        async with (
            self._server.client() as client,
            client.embeddings.with_streaming_response.create(
                model=self._model,
                input=batch,
                dimensions=self.dimension if self._shortened else omit,
                encoding_format="float",
            ) as response,
        ):
            limit = max(MAX_BODY, len(batch) * self.dimension * _BYTES_PER_NUMBER)
            return await read_json(self._model, response.iter_bytes(), limit=limit)

    def _parse_vectors(self, body: object, count: int) -> list[list[float]]:
        data = at(body, "data")
        if not isinstance(data, list):
            raise invalid_response_error(self._model)
        items = cast("list[object]", data)
        if len(items) != count:
            raise self._invalid_vectors(f"{len(items)} vectors for {count} texts")
        return [self._unit(at(item, "embedding")) for item in self._in_order(items)]

    def _in_order(self, items: list[object]) -> list[object]:
        indexes = [at(item, "index") for item in items]
        if all(index is None for index in indexes):
            return items
        by_index = {index: item for index, item in zip(indexes, items, strict=True) if type(index) is int}
        if by_index.keys() != set(range(len(items))):
            raise self._invalid_vectors("vectors with wrong indexes")
        return [by_index[index] for index in range(len(items))]

    def _unit(self, vector: object) -> list[float]:
        numbers = cast("list[object]", vector) if isinstance(vector, list) else []
        if len(numbers) != self.dimension:
            raise self._invalid_vectors(f"a vector of {len(numbers)} numbers instead of {self.dimension}")
        floats = [number for number in numbers if isinstance(number, (int, float)) and abs(number) < _TOO_LARGE]
        length = math.hypot(*floats) if len(floats) == len(numbers) else 0.0
        if length == 0:
            raise self._invalid_vectors("a zero or invalid vector")
        return [number / length for number in floats]

    def _invalid_vectors(self, problem: str) -> ModelResponseError:
        return ModelResponseError(
            f"{self._model} sent {problem}.",
            hint="Check `embedder_dimension`, and that the model is an embedding model.",
        )


def _batches(texts: Sequence[str]) -> Generator[list[str]]:
    batch: list[str] = []
    characters = 0
    for text in texts:
        cut = clean(text[:_MAX_CHARACTERS]) or " "  # the API rejects an empty text
        if batch and (len(batch) == _BATCH_TEXTS or characters + len(cut) > _BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(cut)
        characters += len(cut)
    if batch:
        yield batch
