"""Two roles: one owns the tables and migrates them, another works with the rows and owns nothing."""

from psycopg import sql as pgsql

from bethink.errors import ConfigurationError
from bethink.store.db import Tx

_GRANTS = """GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role};
REVOKE INSERT, UPDATE, DELETE ON schema_version, schema_now FROM {role};
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {role};
ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role};
ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT USAGE, SELECT ON SEQUENCES TO {role};"""
_TABLE_FUNCTIONS = ("make_vectors", "open_vector_index", "drop_vector_index")
"""Functions that create and drop vector tables as the owner, for any role that registers an embedder."""


def grant_runner(tx: Tx, role: str) -> None:
    """Grant a role access to this database: it can read and write rows, but not change tables or policies.

    Raises `ConfigurationError` if the role does not exist or can bypass row-level security.
    """
    row = tx.first("describe_roles", role=role)
    assert row is not None  # noqa: S101 - the query always returns one row
    if row["unbound"] is None:
        raise ConfigurationError(
            f"The role {role!r} does not exist.", hint=f"CREATE ROLE {role} LOGIN NOSUPERUSER NOBYPASSRLS;"
        )
    if row["unbound"] or row["owns"]:
        raise ConfigurationError(
            f"The role {role!r} can bypass row-level security or owns the tables.",
            hint="Use another role, created with LOGIN NOSUPERUSER NOBYPASSRLS.",
        )
    names = {"schema": pgsql.Identifier(row["schema"]), "role": pgsql.Identifier(role)}
    tx.script(pgsql.SQL(_GRANTS).format(**names).as_string())
    for name in _TABLE_FUNCTIONS:
        tx.script(f"ALTER FUNCTION {name}() SECURITY DEFINER SET search_path FROM CURRENT")
