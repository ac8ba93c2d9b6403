"""Finds the models, embedders, rerankers and signals that the settings name: built-in, or from an installed package."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from bethink.base.installed import install_hint, load_entry_point
from bethink.base.logs import logger
from bethink.config.groups import split_list
from bethink.config.settings import Settings
from bethink.errors import ConfigurationError
from bethink.extend import Embedder, Model, Reranker, TextKind, Tokens
from bethink.providers.local_extra import local_is_installed, model_is_installed

if TYPE_CHECKING:  # a process that only appends need not load the search code
    from bethink.memory.recall.signals.base import RecallSignal

_log = logger("recall")
_NO_MODEL = ("", "none")
T = TypeVar("T")


class _Provider(NamedTuple, Generic[T]):
    """A provider that a setting names: its factory, the extra with its client, and the name of its model."""

    make: Callable[[Settings, str], T]
    extra: str
    name: str


class Providers:
    """The model, embedder and reranker of a memory, each created when it is first needed.

    Only an unknown name raises an error at once. Other failures are retried on the next request.
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
            _find_model(settings)
        provider = None if embedder is not None else _find_embedder(settings)
        if settings.embedder.reranker != "tokens":
            _find_reranker(settings)
        elif provider is None or provider.extra != "onnx":
            reranker_from(settings, embedder)

    def tokens(self) -> Tokens:
        """Return the token counter that was passed in, or an estimate."""
        if self._tokens is None:
            from bethink.providers.estimated_tokens import EstimatedTokens  # noqa: PLC0415 - when first counted

            self._tokens = EstimatedTokens()
        return self._tokens

    @property
    def has_model(self) -> bool:
        """True if there is a model, or the settings name one that can be created later."""
        return self._model is not None or self._settings.model.name not in _NO_MODEL

    @property
    def has_embedder(self) -> bool:
        """True if there is an embedder, or the settings name one that can be created later."""
        return self._embedder is not None or bool(embedder_in_use(self._settings))

    def model(self) -> Model | None:
        """Return the model, if one is named. Raises `ConfigurationError` while its client or its key is missing."""
        if self._model is None:
            self._model = model_from(self._settings)
        return self._model

    def reader(self) -> Model | None:
        """Return the model of the second pass: the one named for it, or the learning model; None if there is none."""
        learning = self._settings.learning
        if not learning.verify_claims or not learning.verify_model:
            return self.model() if learning.verify_claims else None
        if self._reader is None:
            model = replace(self._settings.model, name=learning.verify_model)
            self._reader = model_from(replace(self._settings, model=model))
        return self._reader

    def embedder(self) -> Embedder | None:
        """Return the embedder, if one is named. Raises `ConfigurationError` while a part of it is missing."""
        if self._embedder is None:
            self._embedder = embedder_from(self._settings)
        return self._embedder

    def search_providers(self) -> tuple[Embedder | None, Reranker | None]:
        """Return the embedder and reranker for recall. An embedder that cannot be created raises when it is used."""
        try:
            embedder = self.embedder()
        except ConfigurationError as error:
            return _UnavailableEmbedder(self._settings.embedder.name, error), None
        if self._reranker is None:
            try:
                self._reranker = reranker_from(self._settings, embedder)
            except ConfigurationError as error:
                _log.warning("Recall continues without its reranker: %s", error)
        return embedder, self._reranker

    def signals(self) -> "Sequence[RecallSignal]":
        """Return the signals of installed packages that recall uses."""
        if self._signals is None:
            self._signals = signals_from(self._settings)
        return self._signals


class _UnavailableEmbedder:
    """Replaces an embedder that could not be created, and raises the reason when it is used."""

    def __init__(self, name: str, reason: ConfigurationError) -> None:
        self.name = name
        self._why = reason

    @property
    def dimension(self) -> int:
        """Raise `ConfigurationError`."""
        raise self._why

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
        """Raise `ConfigurationError`."""
        del texts, kind
        raise self._why


def _list_names(builtin: Mapping[str, object], group: str) -> str:
    from importlib.metadata import entry_points  # noqa: PLC0415 - only to list names

    return ", ".join(sorted({*builtin, *(entry.name for entry in entry_points(group=group))}))


def model_from(settings: Settings) -> Model | None:
    """Create the model that the settings name as `openai:NAME`, `anthropic:NAME` or `pydantic-ai:NAME`, if any."""
    return _create(_find_model(settings), settings)


def _create(provider: "_Provider[T] | None", settings: Settings) -> T | None:
    if provider is None:
        return None
    try:
        return provider.make(settings, provider.name)
    except ImportError as error:
        extra = provider.extra
        raise ConfigurationError(
            f"The client library for {extra} is not installed.",
            hint=install_hint(extra),
        ) from error


def _find_model(settings: Settings) -> "_Provider[Model] | None":
    if settings.model.name in _NO_MODEL:
        return None
    provider, _, name = settings.model.name.partition(":")
    make = _MODELS.get(provider) or load_entry_point("bethink.models", provider)
    if make is None or not name:
        raise ConfigurationError(
            f"`model` = {settings.model.name!r} does not name a provider and a model.",
            hint=_model_hint(settings.model.name),
        )
    return _Provider(make, provider, name)


def _model_hint(value: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only for a misspelled name

    provider, _, name = value.partition(":")
    if name and (similar := get_close_matches(provider.lower(), _MODELS, n=1)):
        return f"Did you mean {similar[0]}:{name}?"
    return f"Write PROVIDER:NAME, where PROVIDER is one of {_list_names(_MODELS, 'bethink.models')}."


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
    """Return the name of the embedder in the settings, `local` if that is the default, or an empty string."""
    provider = _find_embedder(settings)
    return "" if provider is None else "local" if provider.extra == "local" else settings.embedder.name


def embedder_from(settings: Settings) -> Embedder | None:
    """Create the embedder that the settings name, if any; by default that of the extra `local`, if it is installed.

    A model in a folder is checked now and loaded on first use. Nothing is downloaded.
    """
    return _create(_find_embedder(settings), settings)


def _find_embedder(settings: Settings) -> "_Provider[Embedder] | None":
    setting = settings.embedder.name
    if setting in ("", "none") or (setting == "auto" and not local_is_installed()):
        return None
    if setting in ("auto", "local"):
        return _Provider(_local, "local", setting)
    if _is_downloadable(settings, setting):
        return _Provider(_downloaded_embedder, "onnx", setting)
    kind, _, name = setting.partition(":")
    make = _EMBEDDERS.get(kind) or load_entry_point("bethink.embedders", kind)
    if make is None or not name:
        raise _unknown_name("embedder", setting, "auto, none, local", _EMBEDDERS)
    return _Provider(make, kind, name)


def reranker_from(settings: Settings, embedder: Embedder | None) -> Reranker | None:
    """Create the reranker that the settings name, if any. `tokens` uses the model of an ONNX embedder."""
    if settings.embedder.reranker != "tokens":
        return _create(_find_reranker(settings), settings)
    from bethink.providers.onnx_embedder import OnnxEmbedder  # noqa: PLC0415 - only to rerank
    from bethink.providers.token_reranker import TokenReranker  # noqa: PLC0415

    if not isinstance(embedder, OnnxEmbedder):
        raise ConfigurationError("`reranker` = 'tokens' needs an ONNX embedder.", hint="Set `embedder` to onnx:FOLDER.")
    return TokenReranker(embedder)


def _find_reranker(settings: Settings) -> "_Provider[Reranker] | None":
    setting = settings.embedder.reranker
    if setting in ("", "none"):
        return None
    if _is_downloadable(settings, setting):
        return _Provider(_downloaded_reranker, "onnx", setting)
    kind, _, name = setting.partition(":")
    make = _RERANKERS.get(kind) or load_entry_point("bethink.rerankers", kind)
    if make is None or not name:
        raise _unknown_name("reranker", setting, "tokens, none", _RERANKERS)
    return _Provider(make, kind, name)


def _unknown_name(setting: str, value: str, special_names: str, builtin: Mapping[str, object]) -> ConfigurationError:
    return ConfigurationError(
        f"`{setting}` = {value!r} is unknown.",
        hint=f"Use {special_names}, a name that 'bethink data models list' shows, or KIND:NAME, where KIND is one of "
        f"{_list_names(builtin, f'bethink.{setting}s')}.",
    )


def _is_downloadable(settings: Settings, name: str) -> bool:
    """Return whether a name is in the catalog, or that of a folder next to the downloaded models."""
    from bethink.providers.weights.catalog import is_model_name, read_catalog  # noqa: PLC0415 - only for downloads

    return is_model_name(name) and ((settings.models_folder / name).is_dir() or name in read_catalog())


def _model_folder(settings: Settings, name: str) -> Path:
    folder = settings.models_folder / name
    if not folder.is_dir():
        raise ConfigurationError(f"The model {name} is not downloaded.", hint=f"Run `bethink data models pull {name}`.")
    return folder


def _downloaded_embedder(settings: Settings, name: str) -> Embedder:
    from bethink.providers.onnx_embedder import OnnxEmbedder  # noqa: PLC0415 - only to embed

    return OnnxEmbedder(_model_folder(settings, name))


def _downloaded_reranker(settings: Settings, name: str) -> Reranker:
    return _onnx_reranker(settings, str(_model_folder(settings, name)))


def _onnx_reranker(_: Settings, name: str) -> Reranker:
    from bethink.providers.cross_encoder import CrossEncoder  # noqa: PLC0415 - only to rerank

    return CrossEncoder(name)


_RERANKERS: dict[str, Callable[[Settings, str], Reranker]] = {"onnx": _onnx_reranker}


def _local(_: Settings, name: str) -> Embedder:
    if model_is_installed():
        from bethink.providers.multilingual_embedder import MultilingualEmbedder  # noqa: PLC0415 - only to embed

        return MultilingualEmbedder(automatic=name == "auto")
    from bethink.providers.static_embedder import LocalEmbedder  # noqa: PLC0415 - only to embed

    return LocalEmbedder(automatic=name == "auto")


def signals_from(settings: Settings) -> "list[RecallSignal]":
    """Create the signals that the settings name. Packages register them as `bethink.signals`.

    Raises `ConfigurationError` for an unknown name, and for a signal that recall cannot use.
    """
    return [_signal(name) for name in dict.fromkeys(split_list(settings.embedder.signals))]


def _signal(name: str) -> "RecallSignal":
    from bethink.memory.recall.fuse import NAMES  # noqa: PLC0415 - for custom signals

    make = load_entry_point("bethink.signals", name)
    if make is None:
        installed = _list_names({}, "bethink.signals") or "none"
        raise ConfigurationError(
            f"No installed package has a signal {name!r}.", hint=f"Installed signals: {installed}."
        )
    signal: RecallSignal = make()
    if signal.name != name or name in NAMES:
        hint = "Register a signal under its own name. The names of built-in signals are reserved."
        raise ConfigurationError(f"The signal registered as {name!r} is named {signal.name!r}.", hint=hint)
    if not 0 < signal.weight <= 1:
        hint = "The weight of a signal must be above 0 and at most 1."
        raise ConfigurationError(f"The signal {name!r} has the weight {signal.weight}.", hint=hint)
    return signal


def _static(_: Settings, name: str) -> Embedder:
    from bethink.providers.static_embedder import StaticEmbedder  # noqa: PLC0415 - only to embed

    return StaticEmbedder(name)


def _onnx(settings: Settings, name: str) -> Embedder:
    from bethink.providers.onnx_embedder import OnnxEmbedder  # noqa: PLC0415 - only to embed

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
