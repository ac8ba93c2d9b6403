"""The groups of settings. Each is a table of the settings file; `settings.py` puts them together."""

from dataclasses import field, fields

from bethink.base.frozen import frozen
from bethink.errors import Misconfigured
from bethink.model.calls import MODEL_TIMEOUT
from bethink.model.prices import Prices
from bethink.model.rules import CLAIM_FLAGS

_MOST_DAYS = 36_500
_LAST_PORT = 65_535
PERSONAL_KINDS = ("card", "iban", "phone", "email", "national_id", "ip_address")


def listed(setting: str) -> tuple[str, ...]:
    """Return the parts of a setting that has commas between them."""
    return tuple(filter(None, map(str.strip, setting.split(","))))


@frozen
class RedactionSettings:
    """What happens to secrets before they are stored."""

    enabled: bool = True
    """Cut secrets out of texts. Without it they are stored as they are sent, and a warning is logged."""
    key: str = field(default="", repr=False)
    """The key that fingerprints are made with; empty for one that the database keeps."""
    personal: str = ""
    """Personal numbers to cut out as well: `card`, `iban`, `phone`, `email`, `national_id`, `ip_address`, or `all`."""

    @property
    def personal_kinds(self) -> tuple[str, ...]:
        """The kinds of personal numbers to cut out. Raises `Misconfigured` for an unknown one."""
        given = tuple(self.personal.replace(",", " ").split())
        if given == ("all",):
            return PERSONAL_KINDS
        unknown = [kind for kind in given if kind not in PERSONAL_KINDS]
        if unknown:
            hint = f"Give some of {', '.join(PERSONAL_KINDS)}, with commas between, or `all`."
            raise Misconfigured(f"redaction_personal has an unknown kind: {unknown[0]!r}.", hint=hint)
        return given


@frozen
class ModelSettings:
    """The model that learns."""

    name: str = ""
    """`openai:NAME`, `anthropic:NAME` or `pydantic-ai:NAME`; empty for none; `none` to quote where a model learnt."""
    base_url: str = field(default="", repr=False)
    """The address of the model; empty for the provider's own."""
    api_key: str = field(default="", repr=False)
    """The provider's key; empty to let the provider's client find it."""
    window: int = 128_000
    """How many tokens the model takes."""
    timeout: float = MODEL_TIMEOUT
    """How many seconds an answer may take; `ask` has a limit of its own. A model on a small machine may need more."""
    output: str = "json_schema"
    """How an OpenAI-compatible server takes a schema: `json_schema`, `json_object` or `prompt`."""
    price_input: float = 1.0
    """Dollars for a million tokens of input."""
    price_output: float = 5.0
    """Dollars for a million tokens of output."""

    @property
    def prices(self) -> Prices:
        """What its tokens cost."""
        return Prices(input=self.price_input, output=self.price_output)


@frozen
class EmbedderSettings:
    """The embedder and the reranker of recall."""

    name: str = "auto"
    """`auto` for `local` where that extra is installed; `none`; a downloaded model's name; or KIND:NAME."""
    base_url: str = field(default="", repr=False)
    """The address of an `openai:` embedder; empty for OpenAI's own."""
    api_key: str = field(default="", repr=False)
    """The key of an `openai:` embedder; empty to let OpenAI's client find it."""
    dimension: int = 0
    """The length of the vectors of an `openai:` embedder; 0 for that of OpenAI's own models."""
    tokenizer: str = ""
    """The folder or file of the tokenizer of an `onnx:` embedder; empty if it is beside the model."""
    reranker: str = ""
    """Ranks what was found again: a downloaded reranker's name, `onnx:FOLDER`, or `tokens`; empty for none."""
    signals: str = ""
    """The signals of installed packages that recall uses, with commas between; empty for none."""


@frozen
class LearningSettings:
    """What is learnt from sessions, when, and for how much."""

    enabled: bool = True
    """Learn from sessions at all."""
    in_background: bool = True
    """Learn in the background of the process: at once from what is marked, and from sessions that went quiet."""
    after: float = 600.0
    """Seconds without a message after which a process with a model learns from a session that is open in it."""
    daily_spend_cap: float = 5.0
    """Dollars a day (UTC) over all spaces; `inf` for no cap."""
    second_reading: bool = True
    """Let a model check each claim against the messages again; without it facts are only quoted."""
    second_model: str = ""
    """The model of the second reading, as `KIND:NAME`; empty for the model that learns."""
    time_zone: str = "UTC"
    """The time zone in which a model is told when something was said, such as Europe/Berlin."""
    held_flags: str = "health,money,credential,child,doubtful"
    """What a claim is marked with to be held for review, with commas between; also `third_party`, `confidential`."""
    review: bool = False
    """Hold what a consolidation would change until it is approved."""
    write_transcripts: bool = False
    """Work every transcript into documents at once, for several calls a session."""
    max_unused_days: int = 30
    """Days without use after which a session memory is no longer consolidated."""
    max_consolidated: int = 256
    """Session memories in one consolidation."""
    artefacts_dir: str = ""
    """The folder in which each space has one with its memory as files; empty for none."""

    def __post_init__(self) -> None:
        for flag in listed(self.held_flags):
            if flag not in CLAIM_FLAGS:
                hint = f"Give some of {', '.join(CLAIM_FLAGS)}, with commas between."
                raise Misconfigured(f"held_flags has an unknown mark: {flag!r}.", hint=hint)


@frozen
class ScanSettings:
    """How quiet sessions are found."""

    idle_hours: int = 6
    """Hours without a message that make a session quiet."""
    age_days: int = 30
    """Days after which a quiet session is left alone."""
    limit: int = 5_000
    """Sessions looked at in one run."""
    claims: int = 16
    """Sessions learnt from in one run."""
    channels: str = ""
    """The channels to look at, with commas between; empty for all."""


@frozen
class WorkerSettings:
    """How the worker runs jobs."""

    interval: float = 30.0
    """Seconds between two polls, about."""
    batch: int = 10
    """Jobs claimed at a time."""
    concurrency: int = 8
    """Jobs of a batch that run at once."""
    lease: float = 60.0
    """Seconds that a claim lasts without a heartbeat."""
    max_attempts: int = 5
    """Attempts after which a job is given up."""
    listen: str = ""
    """Where `bethink worker` answers /healthz, /readyz and /metrics, such as `127.0.0.1:8378`; empty for nowhere."""


@frozen
class SqliteSettings:
    """The SQLite database."""

    path: str = ""
    """The file; empty for `memory.db` in the data folder."""
    wal: bool = True
    """Use a write-ahead log."""
    synchronous: str = "FULL"
    """SQLite's `synchronous`; anything less than FULL can lose acknowledged messages at a power cut."""
    busy_timeout: int = 5000
    """Milliseconds to wait for a lock."""
    readers: int = 2
    """Read-only connections beside the writer."""


@frozen
class PostgresSettings:
    """The PostgreSQL database. Times are in milliseconds."""

    dsn: str = field(default="", repr=False)
    """The address."""
    pool_size: int = 10
    """Connections."""
    connect_timeout: int = 5_000
    """How long a connection may take to open."""
    statement_timeout: int = 30_000
    """How long a statement may run."""
    lock_timeout: int = 5_000
    """How long a statement may wait for a lock."""
    idle_timeout: int = 60_000
    """How long a transaction may be idle."""
    tcp_timeout: int = 10_000
    """How long the network may leave something unanswered."""
    deadline: int = 35_000
    """How long a call may wait, from its start or from the server's last answer to it."""
    pooler: str = "auto"
    """What stands between: `transaction` for a pooler in that mode, `none`, or `auto` to find out."""
    replica_dsn: str = field(default="", repr=False)
    """The address of a standby that recall may read from; empty for none."""
    replica_lag: int = 5_000
    """How far behind the standby may be. What this process wrote is never missing."""
    replica_deadline: int = 2_000
    """How long the standby may leave a statement unanswered, before the server is asked instead."""


@frozen
class ServerSettings:
    """The HTTP server."""

    host: str = "127.0.0.1"
    """The address to listen on."""
    port: int = 8377
    """The port to listen on; 0 takes any that is free."""
    allowed_hosts: str = "localhost,127.0.0.1,[::1]"
    """The names it may be called by, without ports and with commas between; `*` for any."""
    allowed_origins: str = ""
    """The origins of web pages that may call it, with commas between; empty for none."""
    max_body: int = 1_000_000
    """Bytes of a request."""
    max_message: int = 65_536
    """Bytes of a message."""
    max_messages: int = 100
    """Messages in a request."""
    max_depth: int = 32
    """Levels of JSON."""
    rate: float = 200.0
    """Requests a second for each key; `inf` for no limit."""
    burst: int = 400
    """Requests that a key may make at once after a pause."""
    max_concurrency: int = 256
    """Requests at work at a time; more are refused with 503."""
    max_wait: float = 60.0
    """Seconds that a request may wait for a change; less than a proxy in front of it waits for an answer."""

    def __post_init__(self) -> None:
        if not 0 <= self.port <= _LAST_PORT:
            raise Misconfigured(f"server_port cannot be {self.port}.", hint=f"Give a port from 0 to {_LAST_PORT}.")


@frozen
class ProxySettings:
    """Calls to models that `bethink serve --proxy` passes on."""

    openai_url: str = field(default="https://api.openai.com/v1", repr=False)
    """The address of OpenAI's API, or of a server that speaks it; for /v1/chat/completions and /v1/responses."""
    openai_key: str = field(default="", repr=False)
    """The key that is sent there; empty to pass on the caller's own."""
    anthropic_url: str = field(default="https://api.anthropic.com", repr=False)
    """The address of Anthropic's API, or of a server that speaks it; for /v1/messages."""
    anthropic_key: str = field(default="", repr=False)
    """The key that is sent there; empty to pass on the caller's own."""
    budget: int = 1_000
    """Tokens of memory that may be added to a call."""
    deadline: float = 0.5
    """Seconds that memory has to answer; after them the call goes on without it."""
    timeout: float = 600.0
    """Seconds that a model may be silent."""
    max_body: int = 32_000_000
    """Bytes of a call."""


@frozen
class LogSettings:
    """What is logged on stderr, and how."""

    level: str = ""
    """`debug`, `info`, `warning` or `error`; empty for `info` where something runs until stopped, else `warning`."""
    format: str = ""
    """`json` for one object a line, `text` for people; empty for `json` where something runs until stopped."""


@frozen
class ChangesSettings:
    """The list of changes."""

    keep_days: int = 30
    """Days after which a worker removes a change, and what was noted of its deliveries."""


@frozen
class AccessSettings:
    """The access record."""

    keep_days: int = 365
    """Days after which an entry is removed; 0 to record nothing."""


@frozen
class RetentionSettings:
    """How long things are kept in all spaces. A space has rules of its own: see `bethink retention`."""

    message_days: int = 0
    """Days after which messages are erased, with what was made of them, where a space has no rule; 0 for never."""
    expired_days: int = 30
    """Days after which a fact is erased that has expired."""
    key_days: int = 30
    """Days for which the idempotency key of an erased message is refused, so that a late retry stores nothing."""

    def __post_init__(self) -> None:
        for each in fields(self):
            if not 0 <= getattr(self, each.name) <= _MOST_DAYS:
                hint = f"Give a number of days from 0 to {_MOST_DAYS:,}."
                raise Misconfigured(f"retention_{each.name} is out of range.", hint=hint)


@frozen
class WebhookSettings:
    """How changes are sent to webhooks."""

    allow_private: bool = False
    """Send to addresses of this machine and of private networks, too."""
    timeout: float = 15.0
    """Seconds that a receiver has to answer."""
    give_up_days: float = 3.0
    """Days of failure after which a webhook is disabled."""


@frozen
class AgentSettings:
    """What one agent may have of its own."""

    enabled: bool = True
    """Store anything for this agent."""
    data_dir: str | None = None
    """The agent's own folder; None for one in the data folder."""
