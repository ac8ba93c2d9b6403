"""Count tokens exactly as a model does. The vocabularies are part of a package, so nothing is downloaded."""

from bethink.errors import ConfigurationError


class ExactTokens:
    """Counts with one of the vocabularies of toktok: o200k_base, cl100k_base, o200k_harmony, qwen3.5.

    Raises `ConfigurationError` without toktok, or for an unknown vocabulary.
    """

    def __init__(self, encoding: str = "o200k_base") -> None:
        try:
            from toktok import batch_count  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs]
        except ImportError as error:
            raise ConfigurationError(
                "Exact token counting needs toktok-rs.", hint="Install the extra: bethink[tokens]."
            ) from error
        self._count = batch_count
        self._encoding = encoding
        try:
            self.count("")
        except KeyError as error:
            raise ConfigurationError(
                f"Unknown vocabulary {encoding!r}.", hint="Use o200k_base, for example."
            ) from error

    def count(self, text: str) -> int:
        """Return the number of tokens in a text."""
        return self._count([text], self._encoding, threads=1)[0]
