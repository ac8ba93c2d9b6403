from pathlib import Path

import pytest

from bethink.config.settings import Settings, flat_values, load_settings
from bethink.errors import ConfigurationError

FILE = """
data_dir = "/data"
max_history_len = 7

[modules."memory.sqlite"]
path = "/data/shared.db"
wal = false
busy_timeout = 250

[modules."memory.postgres"]
pool_size = 3

[agents.support]
data_dir = "/elsewhere"

[agents.quiet.memory]
enabled = false
"""

NAMES = """
enabled data_dir api_key module max_history_len redact redaction_key redact_personal learn learn_in_background model
model_base_url model_timeout
model_api_key model_window model_output model_input_price model_output_price daily_budget embedder embedder_base_url
models_dir models_url
verify_claims verify_model review_flags time_zone learn_after_seconds
embedder_api_key embedder_dimension embedder_tokenizer reranker signals worker_interval worker_batch worker_concurrency
worker_lease worker_max_attempts scan_idle_hours scan_age_days scan_limit scan_claims scan_channels write_transcripts
max_unused_days max_consolidated review_documents artifacts_dir sqlite_path sqlite_wal sqlite_synchronous
sqlite_busy_timeout sqlite_readers postgres_dsn postgres_pool_size postgres_connect_timeout postgres_statement_timeout
postgres_lock_timeout postgres_idle_timeout postgres_tcp_timeout postgres_deadline postgres_pooler
postgres_replica_dsn postgres_replica_lag postgres_replica_deadline server_host
server_port server_allowed_hosts server_allowed_origins
server_max_body server_max_message server_max_messages server_max_depth server_rate_limit server_burst
server_max_concurrency
changes_keep_days access_log_days webhooks_allow_private webhooks_timeout webhooks_give_up_days server_max_wait
worker_health_address log_level log_format start_timeout tombstones_file
message_retention_days retention_expired_days retention_key_days
proxy_openai_url proxy_openai_key proxy_anthropic_url proxy_anthropic_key proxy_budget proxy_deadline proxy_timeout
proxy_max_body
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "bethink.toml"
    path.write_text(FILE)
    return path


@pytest.mark.spec("S4.62", "S4.63", "S4.64", "S4.65", "S4.67")
def test_the_defaults_are_those_of_the_specification() -> None:
    settings = load_settings(environ={}, data_dir="/data")

    assert settings.database_path == str(Path("/data") / "memory.db")
    assert settings.sqlite.wal is True
    assert settings.sqlite.busy_timeout == 5.0
    assert settings.sqlite.synchronous == "FULL"
    assert settings.agent("anyone").enabled is True
    assert settings.max_history_len == 100


@pytest.mark.spec("S4.62", "S4.63", "S4.64", "S4.65", "S4.67")
def test_a_file_sets_what_the_specification_names(file: Path) -> None:
    settings = load_settings(file, environ={})

    assert settings.database_path == "/data/shared.db"
    assert settings.sqlite.wal is False
    assert settings.sqlite.busy_timeout == 0.25
    assert settings.postgres.pool_size == 3
    assert settings.agent("support").data_dir == "/elsewhere"
    assert settings.agent("quiet").enabled is False
    assert settings.max_history_len == 7


def test_arguments_override_environment_and_environment_the_file(file: Path) -> None:
    environ = {"BETHINK_SQLITE_BUSY_TIMEOUT": "300", "BETHINK_MAX_HISTORY_LEN": "8", "BETHINK_ENABLED": "off"}

    settings = load_settings(file, environ=environ, max_history_len=9)

    assert (settings.sqlite.busy_timeout, settings.max_history_len, settings.enabled) == (300, 9, False)
    assert settings.origins["max_history_len"] == "argument"
    assert settings.origins["sqlite_busy_timeout"] == "environment"
    assert settings.origins["sqlite_wal"] == f"file {file}"
    assert settings.origins["postgres_dsn"] == "default"


@pytest.mark.parametrize("name", ["BETHINK_SQLITE_PAHT", "BETHINK_DATADIR", "BETHINK_CONFIGS", "BETHINK_TESTS"])
def test_unknown_variable_is_rejected(name: str) -> None:
    with pytest.raises(ConfigurationError, match=name):
        load_settings(environ={name: "x"})
    assert load_settings(environ={"BETHINK_TEST_DSN": "x", "PATH": "y"}).enabled


def service(name: str, port: str = "8377") -> dict[str, str]:
    """What Kubernetes puts into each container of a namespace for a service of this name."""
    return {
        f"{name}_SERVICE_HOST": "10.96.0.7",
        f"{name}_SERVICE_PORT": port,
        f"{name}_SERVICE_PORT_HTTP": port,
        f"{name}_PORT": f"tcp://10.96.0.7:{port}",
        f"{name}_PORT_{port}_TCP": f"tcp://10.96.0.7:{port}",
        f"{name}_PORT_{port}_TCP_PROTO": "tcp",
        f"{name}_PORT_{port}_TCP_PORT": port,
        f"{name}_PORT_{port}_TCP_ADDR": "10.96.0.7",
    }


@pytest.mark.parametrize("name", ["BETHINK", "BETHINK_SERVER", "BETHINK_WORKER", "BETHINK_2"])
def test_kubernetes_service_variables_are_not_settings(name: str) -> None:
    environ = {**service(name), "BETHINK_WORKER_BATCH": "3"}

    settings = load_settings(environ=environ)

    assert (settings.worker.batch, settings.server.port) == (3, 8377)
    assert settings.origins["server_port"] == "default"


def test_container_variable_overrides_the_kubernetes_one() -> None:
    environ = {**service("BETHINK_SERVER"), "BETHINK_SERVER_PORT": "9000"}

    assert load_settings(environ=environ).server.port == 9000


@pytest.mark.parametrize(
    "environ",
    [
        {"BETHINK_PORT": "tcp://10.96.0.7:8377"},
        {"BETHINK_SERVICE_HOST": "10.96.0.7"},
        {**service("BETHINK"), "BETHINK_PORT": "8377"},
        {**service("BETHINK"), "BETHINK_SERVER_PROT": "8377"},
        {**service("BETHINK"), "BETHINK_PORT_8377": "8377"},
        {**service("BETHINK_SERVER"), "BETHINK_PORT": "tcp://10.96.0.7:8377"},
    ],
)
def test_unknown_variable_is_rejected_next_to_a_service(environ: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match="Unknown setting: BETHINK_"):
        load_settings(environ=environ)


def test_misspelled_setting_error_suggests_a_name() -> None:
    with pytest.raises(
        ConfigurationError, match=r"Unknown setting: BETHINK_MODLE \(environment\)\. Did you mean .*BETHINK_MODEL\?"
    ):
        load_settings(environ={"BETHINK_MODLE": "x"})
    with pytest.raises(ConfigurationError, match=r"Did you mean postgres_dsn or postgres_deadline\?"):
        load_settings(environ={}, postgres_dns="x")
    with pytest.raises(ConfigurationError, match="Known: enabled, data_dir"):
        load_settings(environ={}, colour="x")


def test_invalid_number_is_rejected() -> None:
    with pytest.raises(ConfigurationError, match="wrong type"):
        load_settings(environ={"BETHINK_MAX_HISTORY_LEN": "--5"})


def test_the_environment_can_name_the_file(file: Path) -> None:
    assert load_settings(environ={"BETHINK_CONFIG": str(file)}).data_dir == "/data"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("busy_timout = 3", "busy_timout"),
        ('[modules."memory.sqlite"]\nbusy_timout = 3', "sqlite_busy_timout"),
        ('[modules."memory.oracle"]\nx = 3', "memory.oracle"),
        ("[agents.a]\nmemry = 1", "memry"),
        ("[agents.a.memory]\nenable = true", "memory.enable"),
        ("data_dir = 3", "wrong type"),
        ("[agents.a.memory]\nenabled = 3", "wrong type"),
        ("max_history_len = true", "wrong type"),
        ("=", "Cannot read"),
        ("modules = 3", "must be a table"),
        ("agents = 3", "must be a table"),
        ("[agents]\nx = 3", "must be a table"),
        ("[agents.x]\nmemory = false", "must be a table"),
        ("[agents.x]\ndata_dir = 3", "wrong type"),
        ("max_history_len = 0", "Use 1 or more"),
        ("[model]\nwindow = 0", "`model_window` must be above 0"),
        ('[model]\nwindow = "x"', "model_window = 'x' .* has the wrong type"),
        ("model = 3", "model = 3 .* has the wrong type.*Use text in quotes"),
        ('[server]\nport = "x"', "server_port = 'x' .* has the wrong type.*Use a whole number"),
        ("[server]\nport = 99999", "Invalid `server_port`: 99999"),
        ("[server]\nport = -1", "Invalid `server_port`: -1"),
        ('review_flags = "health,helth"', "Unknown flag in `review_flags`: 'helth'"),
        ("server = 8377", "`server` must be a table"),
        ("[model]\nwindw = 3", r"Unknown setting: 'model\.windw' .* Did you mean model\.window\?"),
        ("[model]\ndaily_budget = 3", r"Did you mean learning\.daily_budget"),
        ("[servr]\nport = 3", r"Unknown setting: 'servr' .* Did you mean server\?"),
    ],
)
def test_unknown_or_mistyped_setting_is_rejected_by_name(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)

    with pytest.raises(ConfigurationError, match=complaint):
        load_settings(path, environ={})


def test_a_table_and_flat_names_set_the_same(tmp_path: Path) -> None:
    flat, tables = tmp_path / "flat.toml", tmp_path / "tables.toml"
    flat.write_text(
        'model = "openai:x"\nmodel_window = 9\nreranker = "tokens"\nlearn = false\nredact = false\n'
        'daily_budget = 2\nserver_port = 1\nsqlite_path = "a.db"\npostgres_dsn = "host=b"\n'
    )
    tables.write_text(
        '[model]\nname = "openai:x"\nwindow = 9\n[embedder]\nreranker = "tokens"\n'
        "[learning]\nenabled = false\ndaily_budget = 2\n[redaction]\nenabled = false\n"
        '[server]\nport = 1\n[sqlite]\npath = "a.db"\n[postgres]\ndsn = "host=b"\n'
    )

    settings = load_settings(tables, environ={})

    assert settings == load_settings(flat, environ={})
    assert (settings.model.name, settings.learning.enabled, settings.redaction.enabled) == ("openai:x", False, False)
    assert settings.origins["model"] == settings.origins["daily_budget"] == f"file {tables}"


def test_every_setting_has_a_flat_name() -> None:
    values = {name: _other(value) for name, value in flat_values(Settings()).items()} | {"review_flags": "confidential"}

    settings = load_settings(environ={f"BETHINK_{name.upper()}": str(value) for name, value in values.items()})

    assert flat_values(settings) == values
    assert load_settings(environ={}, **values) == settings  # pyright: ignore[reportArgumentType]
    assert set(settings.origins) == set(values)


def _other(value: object) -> object:
    return not value if isinstance(value, bool) else value + 1 if isinstance(value, (int, float)) else f"{value}x"


def test_no_name_of_a_setting_has_changed() -> None:
    assert set(flat_values(Settings())) == set(NAMES.split())


def test_flat_value_for_a_group_is_rejected_with_a_hint() -> None:
    with pytest.raises(ConfigurationError, match=r"`model` must be a ModelSettings.* `Settings\.load`"):
        Settings(model="openai:x")  # pyright: ignore[reportArgumentType]


def test_missing_settings_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="Cannot read"):
        load_settings(tmp_path / "missing.toml", environ={})


def test_settings_without_a_path_have_no_database() -> None:
    assert Settings().database_path == ""


def test_neither_a_password_nor_a_key_shows_when_settings_are_printed() -> None:
    secret = "hunter2-and-more"
    settings = load_settings(
        environ={},
        model_api_key=secret,
        model_base_url=f"https://user:{secret}@models.example",
        embedder_api_key=secret,
        embedder_base_url=f"https://user:{secret}@models.example",
        redaction_key=secret,
        postgres_dsn=f"postgresql://me:{secret}@db/memory",
        postgres_replica_dsn=f"postgresql://me:{secret}@db/memory",
        api_key=secret,
    )

    assert secret not in repr(settings)
