"""What Temporal is told, and all that its histories hold: names of spaces and sessions, kinds, tokens, outcomes."""

from bethink.errors import Misconfigured
from bethink.extensions.base import Settings, frozen, listed
from bethink.extensions.jobs import JobKind

NO_PROVIDER = "own"
"""Stands for a provider where jobs call none, or one that was passed in as an object."""


@frozen
class TemporalOptions:
    """How to reach the cluster, and how workers run there. Temporal's own variables set TLS and keys."""

    address: str = "127.0.0.1:7233"
    namespace: str = "default"
    task_queue: str = "bethink"
    """The task queue, and the prefix of every name there. Each database needs its own."""
    rates: str = ""
    """Jobs per second of the whole fleet for each model provider, such as `openai=5,voyage=20`."""
    drain: float = 20.0
    """Seconds that a stopping worker gives to the jobs it runs, before it releases them."""


@frozen
class JobName:
    """Which job a workflow is about, on which task queue it runs, and after how many silent seconds it is given up."""

    space: str
    kind: str
    key: str
    queue: str
    lease: float


@frozen
class Ran:
    """How a run of a job ended, and the token it was claimed with; 0 if it was not claimed."""

    outcome: str
    token: int = 0


@frozen
class RelayPlan:
    """How the relay starts: whether it rests, and after how many silent seconds another worker takes it over."""

    lease: float
    paused: bool = False


@frozen
class Queues:
    """The task queues of a database: one that drives, and one for each provider, which may have a rate."""

    main: str
    model: str
    embedder: str
    rates: dict[str, float]

    def of(self, kind: JobKind) -> str:
        """Return the queue that jobs of a kind run on."""
        return f"{self.main}.{self.embedder if kind is JobKind.INDEX else self.model}"

    def rate(self, queue: str) -> float | None:
        """Return how many jobs of a queue may start in a second; None for no limit."""
        return self.rates.get(queue.removeprefix(f"{self.main}."))

    def job(self, kind: JobKind, space: str, key: str) -> str:
        """Return the name of the workflow for a job: there is never more than one of a name."""
        return f"{self.main}/{kind}/{space}/{key}"

    @property
    def relay(self) -> str:
        """The name of the workflow that relays."""
        return f"{self.main}/relay"

    @property
    def sweep(self) -> str:
        """The name of the schedule of sweeps."""
        return f"{self.main}/sweep"


def queues_from(settings: Settings, options: TemporalOptions) -> Queues:
    """Return the task queues of a database. Raises `Misconfigured` for rates of another form."""
    return Queues(
        main=options.task_queue,
        model=_provider(settings.model.name),
        embedder=_provider(settings.embedder.name),
        rates=_rates(options.rates),
    )


def _provider(name: str) -> str:
    return name.partition(":")[0] or NO_PROVIDER


def _rates(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for each in listed(text):
        provider, _, rate = each.partition("=")
        try:
            found[provider.strip()] = float(rate)
        except ValueError:
            found[provider.strip()] = 0.0
        if not 0.0 < found[provider.strip()] < float("inf"):
            raise Misconfigured(
                f"`--rates` contains {each!r}, which is not a provider with its rate.",
                hint="Pass jobs per second for each provider, such as openai=5,voyage=0.5.",
            )
    return found
