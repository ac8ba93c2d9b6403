"""A schema as a set of lines that can be compared, independent of creation order."""
# pyright: reportUnknownMemberType=false

import re

import apsw
import psycopg

_OURS = (
    "n.nspname = current_schema() AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = {}.oid AND d.deptype = 'e')"
)
_POSTGRES = (
    # Tables, views, sequences: what kind, how they are partitioned, stored and walled off.
    f"""SELECT concat_ws(' ', c.relkind, c.relname, c.reloptions, pg_get_partkeydef(c.oid),
            pg_get_expr(c.relpartbound, c.oid), c.relrowsecurity, c.relforcerowsecurity,
            CASE c.relkind WHEN 'v' THEN pg_get_viewdef(c.oid) END) AS line
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind NOT IN ('i', 'I') AND {_OURS.format("c")}""",
    f"""SELECT concat_ws(' ', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
            a.attgenerated, a.attstorage, a.attcollation::regcollation, pg_get_expr(f.adbin, f.adrelid)) AS line
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
        WHERE c.relkind IN ('r', 'p', 'v') AND a.attnum > 0 AND NOT a.attisdropped AND {_OURS.format("c")}""",
    f"""SELECT concat_ws(' ', r.conrelid::regclass, r.conname, pg_get_constraintdef(r.oid)) AS line
        FROM pg_constraint r JOIN pg_namespace n ON n.oid = r.connamespace WHERE {_OURS.format("r")}""",
    # The index of a partition is named by the server, by what else was there when it was made.
    f"""SELECT CASE WHEN c.relispartition THEN regexp_replace(pg_get_indexdef(c.oid), 'INDEX \\S+ ON', 'INDEX ON')
            ELSE pg_get_indexdef(c.oid) END AS line
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('i', 'I') AND {_OURS.format("c")}""",
    "SELECT pg_get_triggerdef(t.oid) AS line FROM pg_trigger t WHERE NOT t.tgisinternal",
    "SELECT concat_ws(' ', p.*) AS line FROM pg_policies p WHERE p.schemaname = current_schema()",
    f"""SELECT pg_get_functiondef(p.oid) AS line FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE p.prokind = 'f' AND {_OURS.format("p")}""",
)


def described(target: str) -> set[str]:
    """Return every table with its columns and constraints, and every index, trigger, policy, function and view."""
    if target.startswith("postgresql:"):
        with psycopg.connect(target) as connection:
            return {str(row[0]) for query in _POSTGRES for row in connection.execute(query.encode())}
    file = apsw.Connection(target)
    rows = list(file.execute("SELECT type, name, sql FROM sqlite_schema"))
    file.close()
    return {line for kind, name, sql in rows for line in _sqlite(str(kind), str(name), str(sql or ""))}


def _sqlite(kind: str, name: str, sql: str) -> list[str]:
    text = " ".join(re.sub(r"--[^\n]*", "", sql).split())
    if kind != "table" or text.startswith("CREATE VIRTUAL"):
        return [f"{kind} {name} {text}"]
    # A column that was added later stands at the end of the text: each part of a table is a line of its own.
    opening, closing = text.index("("), text.rindex(")")
    parts = _parts(text[opening + 1 : closing])
    return [f"table {name} {text[closing + 1 :].strip()}", *(f"table {name}: {part}" for part in parts)]


def _parts(text: str) -> list[str]:
    """Split at the commas that stand in no brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip().replace("( ", "(").replace(" )", ")") for part in parts]
