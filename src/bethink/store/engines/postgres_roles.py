"""Two roles: one owns the tables and migrates them, another works with the rows and owns nothing."""

from psycopg import sql as pgsql

from bethink.errors import Misconfigured
from bethink.store.db import Tx

_GRANTS = """GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role};
REVOKE INSERT, UPDATE, DELETE ON schema_version, schema_now FROM {role};
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {role};
ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role};
ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT USAGE, SELECT ON SEQUENCES TO {role};"""
_MAKERS = ("make_vectors", "open_vector_index", "drop_vector_index")
"""Functions that make and drop the tables of vectors: as the owner, for any role that registers an embedder."""


def grant_runner(tx: Tx, role: str) -> None:
    """Let a role work with this database: it may read and write rows, and can change no table, policy or function.

    Raises `Misconfigured` if there is no such role, or one that passes row-level security.
    """
    found = tx.one("describe_roles", role=role)
    assert found is not None  # noqa: S101 - one row, whatever it says
    if found["unbound"] is None:
        raise Misconfigured(
            f"the role {role!r} does not exist.", hint=f"CREATE ROLE {role} LOGIN NOSUPERUSER NOBYPASSRLS;"
        )
    if found["unbound"] or found["owns"]:
        raise Misconfigured(
            f"the role {role!r} can bypass row-level security or owns the tables.",
            hint="Name another role, created with LOGIN NOSUPERUSER NOBYPASSRLS.",
        )
    names = {"schema": pgsql.Identifier(found["schema"]), "role": pgsql.Identifier(role)}
    tx.script(pgsql.SQL(_GRANTS).format(**names).as_string())
    for name in _MAKERS:
        tx.script(f"ALTER FUNCTION {name}() SECURITY DEFINER SET search_path FROM CURRENT")
