"""Tokens as a model counts them: the vocabulary is compiled into the package, so nothing is ever downloaded."""

from bethink.errors import Misconfigured


class ExactTokens:
    """Counts in one of the vocabularies that toktok carries: o200k_base, cl100k_base, o200k_harmony, qwen3.5."""

    def __init__(self, encoding: str = "o200k_base") -> None:
        try:
            from toktok import batch_count  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs]
        except ImportError as error:
            raise Misconfigured(
                "exact counting needs toktok-rs.", hint="Install the extra: bethink[tokens]."
            ) from error
        self._count = batch_count
        self._encoding = encoding
        try:
            self.count("")
        except KeyError as error:
            raise Misconfigured(
                f"there is no vocabulary {encoding!r}.", hint="Use o200k_base, for instance."
            ) from error

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        return self._count([text], self._encoding, threads=1)[0]
