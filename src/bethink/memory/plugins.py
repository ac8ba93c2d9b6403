"""Finds the models, embedders, rerankers and signals that the settings name: built-in, or from an installed package."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from bethink.base.installed import registered
from bethink.base.logs import logger
from bethink.config.groups import listed
from bethink.config.settings import Settings
from bethink.errors import Misconfigured
from bethink.extend import Embedder, Model, Reranker, TextKind, Tokens
from bethink.providers.local_extra import local_is_installed

if TYPE_CHECKING:  # a process that only appends need not load what searches
    from bethink.memory.recall.signals.base import RecallSignal

_log = logger("recall")
_NO_MODEL = ("", "none")
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
        self._reader: Model | None = None
        self._embedder = embedder
        self._reranker: Reranker | None = None
        self._signals: Sequence[RecallSignal] | None = None
        if model is None and settings.learning.enabled:
            _model_named(settings)
        named = None if embedder is not None else _embedder_named(settings)
        if settings.embedder.reranker != "tokens":
            _reranker_named(settings)
        elif named is None or named.extra != "onnx":
            reranker_from(settings, embedder)

    def tokens(self) -> Tokens:
        """Return the token counter that was passed in, or an estimate."""
        if self._tokens is None:
            from bethink.providers.estimated_tokens import EstimatedTokens  # noqa: PLC0415 - when first counted

            self._tokens = EstimatedTokens()
        return self._tokens

    @property
    def has_model(self) -> bool:
        """Whether there is a model, or one is named that may yet be created."""
        return self._model is not None or self._settings.model.name not in _NO_MODEL

    @property
    def has_embedder(self) -> bool:
        """Whether there is an embedder, or one is named that may yet be created."""
        return self._embedder is not None or bool(embedder_in_use(self._settings))

    def model(self) -> Model | None:
        """Return the model, if one is named. Raises `Misconfigured` while its client or its key is missing."""
        if self._model is None:
            self._model = model_from(self._settings)
        return self._model

    def reader(self) -> Model | None:
        """Return the model of the second reading: the one named for it, or the one that learns; None for none."""
        learning = self._settings.learning
        if not learning.second_reading or not learning.second_model:
            return self.model() if learning.second_reading else None
        if self._reader is None:
            model = replace(self._settings.model, name=learning.second_model)
            self._reader = model_from(replace(self._settings, model=model))
        return self._reader

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
        if self._reranker is None:
            try:
                self._reranker = reranker_from(self._settings, embedder)
            except Misconfigured as error:
                _log.warning("recall continues without its reranker: %s", error)
        return embedder, self._reranker

    def signals(self) -> "Sequence[RecallSignal]":
        """Return the signals of installed packages that recall uses."""
        if self._signals is None:
            self._signals = signals_from(self._settings)
        return self._signals


class _Absent:
    """Replaces an embedder that could not be created, and raises the reason when it is used."""

    def __init__(self, name: str, why: Misconfigured) -> None:
        self.name = name
        self._why = why

    @property
    def dimension(self) -> int:
        """Raise `Misconfigured`."""
        raise self._why

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
        """Raise `Misconfigured`."""
        del texts, kind
        raise self._why


def _known(ours: Mapping[str, object], group: str) -> str:
    from importlib.metadata import entry_points  # noqa: PLC0415 - for names that are not ours

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
    if settings.model.name in _NO_MODEL:
        return None
    provider, _, name = settings.model.name.partition(":")
    make = _MODELS.get(provider) or registered("bethink.models", provider)
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
        timeout=settings.model.timeout,
    )


def _anthropic_model(settings: Settings, name: str) -> Model:
    from bethink.providers.anthropic_model import AnthropicModel  # noqa: PLC0415 - an extra

    return AnthropicModel(
        name,
        base_url=settings.model.base_url,
        api_key=settings.model.api_key,
        window=settings.model.window,
        timeout=settings.model.timeout,
    )


def _pydantic_ai_model(settings: Settings, name: str) -> Model:
    from bethink.providers.pydantic_ai_model import PydanticAIModel  # noqa: PLC0415 - an extra

    return PydanticAIModel(name, window=settings.model.window, timeout=settings.model.timeout)


_MODELS: dict[str, Callable[[Settings, str], Model]] = {
    "openai": _openai_model,
    "anthropic": _anthropic_model,
    "pydantic-ai": _pydantic_ai_model,
}


def embedder_in_use(settings: Settings) -> str:
    """Return the name of the embedder as the settings give it, `local` where that is the default; empty for none."""
    named = _embedder_named(settings)
    return "" if named is None else "local" if named.extra == "local" else settings.embedder.name


def embedder_from(settings: Settings) -> Embedder | None:
    """Create the embedder that the settings name, if any: by default the one of the extra `local`, if it is installed.

    A model in a folder is checked now and read when it is first used; nothing is ever downloaded.
    """
    return _made(_embedder_named(settings), settings)


def _embedder_named(settings: Settings) -> "_Named[Embedder] | None":
    given = settings.embedder.name
    if given in ("", "none") or (given == "auto" and not local_is_installed()):
        return None
    if given in ("auto", "local"):
        return _Named(_local, "local", given)
    if _is_downloadable(settings, given):
        return _Named(_downloaded_embedder, "onnx", given)
    kind, _, name = given.partition(":")
    make = _EMBEDDERS.get(kind) or registered("bethink.embedders", kind)
    if make is None or not name:
        raise _unknown("embedder", given, "auto, none, local", _EMBEDDERS)
    return _Named(make, kind, name)


def reranker_from(settings: Settings, embedder: Embedder | None) -> Reranker | None:
    """Create the reranker that the settings name, if any. `tokens` uses the model of an ONNX embedder."""
    if settings.embedder.reranker != "tokens":
        return _made(_reranker_named(settings), settings)
    from bethink.providers.onnx_embedder import OnnxEmbedder  # noqa: PLC0415 - for those who rerank
    from bethink.providers.token_reranker import TokenReranker  # noqa: PLC0415

    if not isinstance(embedder, OnnxEmbedder):
        raise Misconfigured("reranker = 'tokens' needs an ONNX embedder.", hint="Set embedder to onnx: and a folder.")
    return TokenReranker(embedder)


def _reranker_named(settings: Settings) -> "_Named[Reranker] | None":
    given = settings.embedder.reranker
    if given in ("", "none"):
        return None
    if _is_downloadable(settings, given):
        return _Named(_downloaded_reranker, "onnx", given)
    kind, _, name = given.partition(":")
    make = _RERANKERS.get(kind) or registered("bethink.rerankers", kind)
    if make is None or not name:
        raise _unknown("reranker", given, "tokens, none", _RERANKERS)
    return _Named(make, kind, name)


def _unknown(setting: str, given: str, others: str, ours: Mapping[str, object]) -> Misconfigured:
    return Misconfigured(
        f"{setting} = {given!r} is unknown.",
        hint=f"Use {others}, a name that 'bethink models list' shows, or KIND:NAME, where KIND is "
        f"{_known(ours, f'bethink.{setting}s')}.",
    )


def _is_downloadable(settings: Settings, name: str) -> bool:
    """Return whether a name is in the catalogue, or that of a folder beside the downloaded models."""
    from bethink.providers.weights.catalogue import is_model_name, read_catalogue  # noqa: PLC0415 - for those who name a model

    return is_model_name(name) and ((settings.models_folder / name).is_dir() or name in read_catalogue())


def _downloaded(settings: Settings, name: str) -> Path:
    folder = settings.models_folder / name
    if not folder.is_dir():
        raise Misconfigured(f"the model {name} is not downloaded.", hint=f"Run 'bethink models pull {name}'.")
    return folder


def _downloaded_embedder(settings: Settings, name: str) -> Embedder:
    from bethink.providers.onnx_embedder import OnnxEmbedder  # noqa: PLC0415 - for those who embed

    return OnnxEmbedder(_downloaded(settings, name))


def _downloaded_reranker(settings: Settings, name: str) -> Reranker:
    return _onnx_reranker(settings, str(_downloaded(settings, name)))


def _onnx_reranker(_: Settings, name: str) -> Reranker:
    from bethink.providers.cross_encoder import CrossEncoder  # noqa: PLC0415 - for those who rerank

    return CrossEncoder(name)


_RERANKERS: dict[str, Callable[[Settings, str], Reranker]] = {"onnx": _onnx_reranker}


def _local(_: Settings, name: str) -> Embedder:
    from bethink.providers.static_embedder import LocalEmbedder  # noqa: PLC0415 - for those who embed

    return LocalEmbedder(automatic=name == "auto")


def signals_from(settings: Settings) -> "list[RecallSignal]":
    """Make the signals that the settings name. Packages register them as `bethink.signals`.

    Raises `Misconfigured` for an unknown name, and for a signal that recall cannot use.
    """
    return [_signal(name) for name in dict.fromkeys(listed(settings.embedder.signals))]


def _signal(name: str) -> "RecallSignal":
    from bethink.memory.recall.fuse import NAMES  # noqa: PLC0415 - for those who have a signal of their own

    make = registered("bethink.signals", name)
    if make is None:
        known = _known({}, "bethink.signals") or "none"
        raise Misconfigured(f"no installed package has a signal {name!r}.", hint=f"Installed signals: {known}.")
    signal: RecallSignal = make()
    if signal.name != name or name in NAMES:
        hint = "A signal is registered under its own name, which must not be that of a built-in one."
        raise Misconfigured(f"the signal that is registered as {name!r} is called {signal.name!r}.", hint=hint)
    if not 0 < signal.weight <= 1:
        hint = "The weight of a signal must be above 0 and at most 1."
        raise Misconfigured(f"the signal {name!r} weighs {signal.weight}.", hint=hint)
    return signal


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
