"""Data that Temporal receives and stores: names of spaces and sessions, kinds, tokens and outcomes."""

from bethink.errors import ConfigurationError
from bethink.extensions.base import Settings, frozen, split_list
from bethink.extensions.jobs import JobKind

NO_PROVIDER = "own"
"""Placeholder for jobs without a provider, or with a provider passed as an object."""


@frozen
class TemporalOptions:
    """Address of the cluster and options of the workers. Temporal's own variables set TLS and keys."""

    address: str = "127.0.0.1:7233"
    namespace: str = "default"
    task_queue: str = "bethink"
    """Task queue, and prefix of all names. Each database needs its own."""
    rates: str = ""
    """Jobs per second of the entire fleet for each model provider, such as `openai=5,voyage=20`."""
    drain: float = 20.0
    """Seconds to finish running jobs when a worker stops, before it releases them."""


@frozen
class JobName:
    """The job of a workflow, its task queue, and the heartbeat timeout in seconds."""

    space: str
    kind: str
    key: str
    queue: str
    lease: float


@frozen
class RunResult:
    """Outcome of a run, and the token of its lease, or 0 without a lease."""

    outcome: str
    token: int = 0


@frozen
class RelayPlan:
    """Start options of the relay: whether it is paused, and the heartbeat timeout in seconds."""

    lease: float
    paused: bool = False


@frozen
class Queues:
    """Task queues of a database: the main queue, and one per provider, with an optional rate."""

    main: str
    model: str
    embedder: str
    rates: dict[str, float]

    def queue_for(self, kind: JobKind) -> str:
        """Return the queue that jobs of a kind run on."""
        return f"{self.main}.{self.embedder if kind is JobKind.INDEX else self.model}"

    def rate(self, queue: str) -> float | None:
        """Return the maximum number of jobs of a queue per second, or None for no limit."""
        return self.rates.get(queue.removeprefix(f"{self.main}."))

    def job(self, kind: JobKind, space: str, key: str) -> str:
        """Return the workflow id of a job. Only one workflow per id can run."""
        return f"{self.main}/{kind}/{space}/{key}"

    @property
    def relay(self) -> str:
        """Id of the relay workflow."""
        return f"{self.main}/relay"

    @property
    def sweep(self) -> str:
        """Id of the sweep schedule."""
        return f"{self.main}/sweep"


def queues_from(settings: Settings, options: TemporalOptions) -> Queues:
    """Return the task queues of a database. Raises `ConfigurationError` for invalid rates."""
    return Queues(
        main=options.task_queue,
        model=_provider(settings.model.name),
        embedder=_provider(settings.embedder.name),
        rates=_rates(options.rates),
    )


def _provider(name: str) -> str:
    return name.partition(":")[0] or NO_PROVIDER


def _rates(text: str) -> dict[str, float]:
    rates: dict[str, float] = {}
    for item in split_list(text):
        provider, _, rate = item.partition("=")
        try:
            rates[provider.strip()] = float(rate)
        except ValueError:
            rates[provider.strip()] = 0.0
        if not 0.0 < rates[provider.strip()] < float("inf"):
            raise ConfigurationError(
                f"`--rates` contains {item!r}, which is not a provider and a rate.",
                hint="Pass jobs per second for each provider, such as openai=5,voyage=0.5.",
            )
    return rates
