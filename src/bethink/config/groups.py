"""The groups of settings. Each is a table of the settings file; `settings.py` puts them together."""

from dataclasses import field, fields

from bethink.base.frozen import frozen
from bethink.errors import ConfigurationError
from bethink.model.calls import MODEL_TIMEOUT
from bethink.model.prices import Prices
from bethink.model.rules import CLAIM_FLAGS

_MAX_DAYS = 36_500
_MAX_PORT = 65_535
PERSONAL_KINDS = ("card", "iban", "phone", "email", "national_id", "ip_address")


def split_list(setting: str) -> tuple[str, ...]:
    """Return the items of a comma-separated setting."""
    return tuple(filter(None, map(str.strip, setting.split(","))))


@frozen
class RedactionSettings:
    """Redaction of secrets before texts are stored."""

    enabled: bool = True
    """Remove secrets from texts. If false, texts are stored as sent, and a warning is logged."""
    key: str = field(default="", repr=False)
    """Key for the fingerprints of secrets; empty for the one in the database."""
    personal: str = ""
    """Personal numbers to remove as well: `card`, `iban`, `phone`, `email`, `national_id`, `ip_address`, or `all`."""

    @property
    def personal_kinds(self) -> tuple[str, ...]:
        """Kinds of personal numbers to remove. Raises `ConfigurationError` for an unknown one."""
        kinds = tuple(self.personal.replace(",", " ").split())
        if kinds == ("all",):
            return PERSONAL_KINDS
        unknown = [kind for kind in kinds if kind not in PERSONAL_KINDS]
        if unknown:
            hint = f"Use `all`, or a comma-separated list of: {', '.join(PERSONAL_KINDS)}."
            raise ConfigurationError(f"Unknown kind in `redact_personal`: {unknown[0]!r}.", hint=hint)
        return kinds


@frozen
class ModelSettings:
    """The model that learns."""

    name: str = ""
    """`openai:NAME`, `anthropic:NAME` or `pydantic-ai:NAME`; empty if unset; `none` for no model."""
    base_url: str = field(default="", repr=False)
    """Base URL of the model API; empty for the provider's default."""
    api_key: str = field(default="", repr=False)
    """API key of the provider; empty to let the provider's client find it."""
    window: int = 128_000
    """Context window of the model, in tokens."""
    timeout: float = MODEL_TIMEOUT
    """Maximum seconds per model call; `ask` has its own limit. Increase it for a slow local model."""
    output: str = "json_schema"
    """Output mode of an OpenAI-compatible server: `json_schema`, `json_object` or `prompt`."""
    input_price: float = 1.0
    """Dollars per million input tokens."""
    output_price: float = 5.0
    """Dollars per million output tokens."""

    @property
    def prices(self) -> Prices:
        """Prices of the model's tokens."""
        return Prices(input=self.input_price, output=self.output_price)


@frozen
class EmbedderSettings:
    """The embedder and the reranker of recall."""

    name: str = "auto"
    """`auto` (`local` if that extra is installed), `none`, the name of a downloaded model, or KIND:NAME."""
    base_url: str = field(default="", repr=False)
    """Base URL of an `openai:` embedder; empty for OpenAI's default."""
    api_key: str = field(default="", repr=False)
    """API key of an `openai:` embedder; empty to let OpenAI's client find it."""
    dimension: int = 0
    """Vector length of an `openai:` embedder; 0 for the default of OpenAI's models."""
    tokenizer: str = ""
    """Folder or file of the tokenizer of an `onnx:` embedder; empty if it is next to the model."""
    reranker: str = ""
    """Reranker of the matches: a downloaded reranker's name, `onnx:FOLDER` or `tokens`; empty for none."""
    signals: str = ""
    """Comma-separated signals of installed packages that recall uses; empty for none."""


@frozen
class LearningSettings:
    """Learning from sessions: scope, timing and cost."""

    enabled: bool = True
    """Learn from sessions."""
    in_background: bool = True
    """Learn in a background task: at once from queued sessions, and later from idle ones."""
    after_seconds: float = 600.0
    """Seconds without a message after which a process learns from a session that it has open."""
    daily_budget: float = 5.0
    """Maximum dollars per day (UTC) for all spaces; `inf` for no limit."""
    verify_claims: bool = True
    """Have a model verify each claim against the messages. If false, facts are only checked for their quotes."""
    verify_model: str = ""
    """Model that verifies claims, as `KIND:NAME`; empty for the model that learns."""
    time_zone: str = "UTC"
    """Time zone of the dates shown to the model, such as Europe/Berlin."""
    review_flags: str = "credential,doubtful"
    """Claim flags that require review. Also: `health`, `money`, `child`, `third_party`, `confidential`."""
    review_documents: bool = False
    """Require approval for changes by a consolidation."""
    write_transcripts: bool = False
    """Update documents from every transcript at once, with several model calls per session."""
    max_unused_days: int = 30
    """Days without use after which a session summary is no longer consolidated."""
    max_consolidated: int = 256
    """Maximum number of session summaries in one consolidation."""
    artifacts_dir: str = ""
    """Folder with one subfolder per space that contains its memory as files; empty for none."""

    def __post_init__(self) -> None:
        for flag in split_list(self.review_flags):
            if flag not in CLAIM_FLAGS:
                hint = f"Use a comma-separated list of: {', '.join(CLAIM_FLAGS)}."
                raise ConfigurationError(f"Unknown flag in `review_flags`: {flag!r}.", hint=hint)


@frozen
class ScanSettings:
    """Search for idle sessions."""

    idle_hours: int = 6
    """Hours without a message after which a session is idle."""
    age_days: int = 30
    """Days after which an idle session is ignored."""
    limit: int = 5_000
    """Maximum number of sessions checked in one run."""
    claims: int = 16
    """Maximum number of sessions learned from in one run."""
    channels: str = ""
    """Comma-separated channels to check; empty for all."""


@frozen
class WorkerSettings:
    """Background jobs and the worker."""

    interval: float = 30.0
    """Approximate seconds between two polls."""
    batch: int = 10
    """Jobs leased at a time."""
    concurrency: int = 8
    """Jobs of a batch that run concurrently."""
    lease: float = 60.0
    """Seconds that a lease lasts without a heartbeat."""
    max_attempts: int = 5
    """Attempts after which a job is abandoned."""
    health_address: str = ""
    """Address of /healthz, /readyz and /metrics of `bethink worker` (such as `127.0.0.1:8378`); empty for none."""


@frozen
class SqliteSettings:
    """The SQLite database."""

    path: str = ""
    """Database file; empty for `memory.db` in the data folder."""
    wal: bool = True
    """Use a write-ahead log."""
    synchronous: str = "FULL"
    """SQLite's `synchronous`; anything less than FULL can lose acknowledged messages in a power failure."""
    busy_timeout: float = 5.0
    """Seconds to wait for a lock."""
    readers: int = 2
    """Read-only connections in addition to the writer."""


@frozen
class PostgresSettings:
    """The PostgreSQL database. Times are in seconds."""

    dsn: str = field(default="", repr=False)
    """Connection string."""
    pool_size: int = 10
    """Maximum number of connections."""
    connect_timeout: float = 5.0
    """Maximum seconds to open a connection."""
    statement_timeout: float = 30.0
    """Maximum seconds of a statement."""
    lock_timeout: float = 5.0
    """Maximum seconds to wait for a lock."""
    idle_timeout: float = 60.0
    """Maximum idle seconds of a transaction."""
    tcp_timeout: float = 10.0
    """Maximum seconds without a network acknowledgment."""
    deadline: float = 35.0
    """Maximum seconds of a call, since its start or the server's last response."""
    pooler: str = "auto"
    """Connection pooler: `transaction` for one in that mode, `none`, or `auto` to detect one."""
    replica_dsn: str = field(default="", repr=False)
    """Connection string of a standby for recall; empty for none."""
    replica_lag: float = 5.0
    """Maximum lag of the standby, in seconds. Data that this process wrote is never missing."""
    replica_deadline: float = 2.0
    """Maximum seconds to wait for the standby before the primary server is used instead."""


@frozen
class ServerSettings:
    """The HTTP server."""

    host: str = "127.0.0.1"
    """The address to listen on."""
    port: int = 8377
    """The port to listen on; 0 for any free port."""
    allowed_hosts: str = "localhost,127.0.0.1,[::1]"
    """Comma-separated host names that clients may use, without ports; `*` for any."""
    allowed_origins: str = ""
    """Comma-separated origins of web pages that may call the server; empty for none."""
    max_body: int = 1_000_000
    """Maximum bytes per request."""
    max_message: int = 65_536
    """Maximum bytes per message."""
    max_messages: int = 100
    """Maximum number of messages per request."""
    max_depth: int = 32
    """Maximum nesting depth of JSON."""
    rate_limit: float = 200.0
    """Requests per second for each key; `inf` for no limit."""
    burst: int = 400
    """Requests that a key may make at once after a pause."""
    max_concurrency: int = 256
    """Maximum number of concurrent requests; more are rejected with 503."""
    max_wait: float = 60.0
    """Maximum seconds that a request waits for a change. Keep it below the timeout of any proxy in front."""

    def __post_init__(self) -> None:
        if not 0 <= self.port <= _MAX_PORT:
            raise ConfigurationError(f"Invalid `server_port`: {self.port}.", hint=f"Use a port from 0 to {_MAX_PORT}.")


@frozen
class ProxySettings:
    """Model calls that `bethink serve --proxy` forwards."""

    openai_url: str = field(default="https://api.openai.com/v1", repr=False)
    """Base URL of OpenAI's API, or of a compatible server, for /v1/chat/completions and /v1/responses."""
    openai_key: str = field(default="", repr=False)
    """API key to send there; empty to forward the caller's key."""
    anthropic_url: str = field(default="https://api.anthropic.com", repr=False)
    """Base URL of Anthropic's API, or of a compatible server, for /v1/messages."""
    anthropic_key: str = field(default="", repr=False)
    """API key to send there; empty to forward the caller's key."""
    budget: int = 1_000
    """Maximum tokens of memory added to a call."""
    deadline: float = 0.5
    """Maximum seconds to wait for memory; after that the call is forwarded without it."""
    timeout: float = 600.0
    """Maximum seconds without a response from the model."""
    max_body: int = 32_000_000
    """Maximum bytes per call."""


@frozen
class LogSettings:
    """Logging to stderr."""

    level: str = ""
    """`debug`, `info`, `warning` or `error`; empty for `info` in servers and workers, else `warning`."""
    format: str = ""
    """`json` for one object per line, or `text`; empty for `json` in servers and workers, else `text`."""


@frozen
class ChangesSettings:
    """The change feed."""

    keep_days: int = 30
    """Days after which a worker deletes a change and its delivery records."""


@frozen
class AccessSettings:
    """The access log."""

    keep_days: int = 365
    """Days after which an entry is deleted; 0 to record nothing."""


@frozen
class RetentionSettings:
    """Default retention for all spaces. A space can have its own rules: see `bethink admin retention`."""

    message_days: int = 0
    """Days after which messages and derived data are deleted in a space without a rule; 0 for never."""
    expired_days: int = 30
    """Days after which an expired fact is deleted."""
    key_days: int = 30
    """Days for which the idempotency key of a deleted message is rejected, so that a late retry stores nothing."""

    def __post_init__(self) -> None:
        for setting in fields(self):
            if not 0 <= getattr(self, setting.name) <= _MAX_DAYS:
                name = "message_retention_days" if setting.name == "message_days" else f"retention_{setting.name}"
                hint = f"Use a number of days from 0 to {_MAX_DAYS:,}."
                raise ConfigurationError(f"`{name}` is out of range.", hint=hint)


@frozen
class WebhookSettings:
    """Delivery of changes to webhooks."""

    allow_private: bool = False
    """Allow addresses of this machine and of private networks."""
    timeout: float = 15.0
    """Maximum seconds for a receiver to respond."""
    give_up_days: float = 3.0
    """Days of failure after which a webhook is disabled."""


@frozen
class AgentSettings:
    """Settings of one agent."""

    enabled: bool = True
    """Store messages and memory of this agent."""
    data_dir: str | None = None
    """Data folder of the agent; None for one inside the main data folder."""
