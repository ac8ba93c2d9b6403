"""Finds the models, embedders and rerankers that the settings name: built-in, or from an installed package."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from bethink.errors import Misconfigured
from bethink.extend import Embedder, Model, Reranker, Tokens
from bethink.settings import Settings

T = TypeVar("T")


class _Named(NamedTuple, Generic[T]):
    """What a setting names: its factory, the extra that has its client, and its name there."""

    make: Callable[[Settings, str], T]
    extra: str
    name: str


class Providers:
    """The model, embedder and reranker of a memory, each created when it is first needed.

    Only an unknown name is refused at once. What could not be created is tried again on the next request.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        model: Model | None = None,
        embedder: Embedder | None = None,
        tokens: Tokens | None = None,
    ) -> None:
        self._settings = settings
        self._tokens = tokens
        self._model = model
        self._embedder = embedder
        if model is None and settings.learning.enabled:
            _model_named(settings)
        if embedder is None:
            _embedder_named(settings)
        if embedder is not None or not settings.embedder.name.startswith("onnx:"):
            reranker_from(settings, embedder)

    def tokens(self) -> Tokens:
        """Return the token counter that was passed in, or an estimate."""
        if self._tokens is None:
            from bethink.providers.estimated_tokens import EstimatedTokens  # noqa: PLC0415 - when first counted

            self._tokens = EstimatedTokens()
        return self._tokens

    def model(self) -> Model | None:
        """Return the model, if one is named. Raises `Misconfigured` while its client or its key is missing."""
        if self._model is None:
            self._model = model_from(self._settings)
        return self._model

    def embedder(self) -> Embedder | None:
        """Return the embedder, if one is named. Raises `Misconfigured` while something that it needs is missing."""
        if self._embedder is None:
            self._embedder = embedder_from(self._settings)
        return self._embedder

    def searching(self) -> tuple[Embedder | None, Reranker | None]:
        """Return what recall uses. An embedder that cannot be created reports why when used: words still match."""
        try:
            embedder = self.embedder()
        except Misconfigured as error:
            return _Absent(self._settings.embedder.name, error), None
        return embedder, reranker_from(self._settings, embedder)


class _Absent:
    """Replaces an embedder that could not be created, and raises the reason when it is used."""

    def __init__(self, name: str, why: Misconfigured) -> None:
        self.name = name
        self._why = why

    @property
    def dimension(self) -> int:
        """Raise `Misconfigured`."""
        raise self._why

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Raise `Misconfigured`."""
        del texts
        raise self._why


def _registered(group: str, name: str) -> Callable[[Settings, str], Any] | None:
    """Return the factory that an installed package registers under a name, if any."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - for names that are not ours

    for found in entry_points(group=group, name=name):
        return found.load()
    return None


def _known(ours: Mapping[str, object], group: str) -> str:
    from importlib.metadata import entry_points  # noqa: PLC0415 - as above

    return ", ".join(sorted({*ours, *(each.name for each in entry_points(group=group))}))


def model_from(settings: Settings) -> Model | None:
    """Create the model that the settings name as `openai:NAME`, `anthropic:NAME` or `pydantic-ai:NAME`, if any."""
    return _made(_model_named(settings), settings)


def _made(named: "_Named[T] | None", settings: Settings) -> T | None:
    if named is None:
        return None
    try:
        return named.make(settings, named.name)
    except ImportError as error:
        extra = named.extra
        raise Misconfigured(
            f"the client library for {extra} is not installed.",
            hint=f"pip install 'bethink[{extra}]', or '.[{extra}]' from a clone.",
        ) from error


def _model_named(settings: Settings) -> "_Named[Model] | None":
    if not settings.model.name:
        return None
    provider, _, name = settings.model.name.partition(":")
    make = _MODELS.get(provider) or _registered("bethink.models", provider)
    if make is None or not name:
        raise Misconfigured(
            f"model = {settings.model.name!r} does not name a provider and a model.",
            hint=f"Write PROVIDER:NAME, where PROVIDER is {_known(_MODELS, 'bethink.models')}.",
        )
    return _Named(make, provider, name)


def _openai_model(settings: Settings, name: str) -> Model:
    from bethink.providers.openai_model import OpenAIModel  # noqa: PLC0415 - an extra

    return OpenAIModel(
        name,
        base_url=settings.model.base_url,
        api_key=settings.model.api_key,
        window=settings.model.window,
        output=settings.model.output,
    )


def _anthropic_model(settings: Settings, name: str) -> Model:
    from bethink.providers.anthropic_model import AnthropicModel  # noqa: PLC0415 - an extra

    return AnthropicModel(
        name, base_url=settings.model.base_url, api_key=settings.model.api_key, window=settings.model.window
    )


def _pydantic_ai_model(settings: Settings, name: str) -> Model:
    from bethink.providers.pydantic_ai_model import PydanticAIModel  # noqa: PLC0415 - an extra

    return PydanticAIModel(name, window=settings.model.window)


_MODELS: dict[str, Callable[[Settings, str], Model]] = {
    "openai": _openai_model,
    "anthropic": _anthropic_model,
    "pydantic-ai": _pydantic_ai_model,
}


def embedder_from(settings: Settings) -> Embedder | None:
    """Create the embedder that the settings name as `static:FOLDER`, `onnx:FOLDER` or `openai:NAME`, if any.

    A model in a folder is checked now and read when it is first used; nothing is ever downloaded.
    """
    return _made(_embedder_named(settings), settings)


def _embedder_named(settings: Settings) -> "_Named[Embedder] | None":
    if not settings.embedder.name:
        return None
    kind, _, name = settings.embedder.name.partition(":")
    make = _EMBEDDERS.get(kind) or _registered("bethink.embedders", kind)
    if make is None or not name:
        raise Misconfigured(
            f"embedder = {settings.embedder.name!r} does not name a kind and a model.",
            hint=f"Write KIND:NAME, where KIND is {_known(_EMBEDDERS, 'bethink.embedders')}.",
        )
    return _Named(make, kind, name)


def reranker_from(settings: Settings, embedder: Embedder | None) -> Reranker | None:
    """Create the reranker that the settings name, if any: `tokens`, on top of an ONNX embedder."""
    if not settings.embedder.reranker:
        return None
    if settings.embedder.reranker != "tokens":
        raise Misconfigured(f"unknown reranker {settings.embedder.reranker!r}.", hint="Use tokens, or leave it empty.")
    from bethink.providers.onnx_embedder import OnnxEmbedder  # noqa: PLC0415 - for those who rerank
    from bethink.providers.token_reranker import TokenReranker  # noqa: PLC0415

    if not isinstance(embedder, OnnxEmbedder):
        raise Misconfigured("reranker = 'tokens' needs an ONNX embedder.", hint="Set embedder to onnx: and a folder.")
    return TokenReranker(embedder)


def _static(_: Settings, name: str) -> Embedder:
    from bethink.providers.static_embedder import StaticEmbedder  # noqa: PLC0415 - for those who embed

    return StaticEmbedder(name)


def _onnx(settings: Settings, name: str) -> Embedder:
    from bethink.providers.onnx_embedder import OnnxEmbedder  # noqa: PLC0415 - for those who embed

    return OnnxEmbedder(name, tokenizer=settings.embedder.tokenizer)


def _openai_embedder(settings: Settings, name: str) -> Embedder:
    from bethink.providers.openai_embedder import OpenAIEmbedder  # noqa: PLC0415 - an extra

    return OpenAIEmbedder(
        name,
        base_url=settings.embedder.base_url,
        api_key=settings.embedder.api_key,
        dimension=settings.embedder.dimension,
    )


_EMBEDDERS: dict[str, Callable[[Settings, str], Embedder]] = {
    "static": _static,
    "onnx": _onnx,
    "openai": _openai_embedder,
}
