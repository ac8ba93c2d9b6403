import re

import pytest

from bethink.store import sql
from bethink.store.sql import Dialect, queries


def test_the_queries_that_differ_between_the_databases_are_few_and_known() -> None:
    assert sorted({name for name, dialect, _ in sql._sections() if dialect}) == [
        "best_docs",
        "describe_growth",
        "describe_role",
        "describe_roles",
        "describe_server",
        "describe_standby",
        "find_log_position",
        "insert_messages_together",
        "insert_shown_together",
        "insert_terms",
        "insert_terms_fts",
        "insert_terms_together",
        "is_vector_index_filled",
        "list_unguarded_tables",
        "make_vectors",
        "nearest_vectors",
        "nearest_within",
        "newest_postings",
        "postings",
        "put_vectors",
        "put_vectors_together",
    ]


def test_every_query_has_a_comment() -> None:
    for file in sql.query_files():
        sections = re.split(r"^-- name: .*$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert all(section.lstrip().startswith("-- ") for section in sections[1:]), file.name


def test_parameters_are_numbered_by_first_use_and_strings_are_left_alone() -> None:
    text = "SELECT ':no', :b, :a, :b -- :never\nFROM t WHERE x in_list(:c) /*for_update*/;"

    lite, pg = (sql.compile_query("q", text, dialect) for dialect in (Dialect.SQLITE, Dialect.POSTGRES))

    assert lite.parameters == pg.parameters == ("b", "a", "c")
    assert "SELECT ':no', ?1, ?2, ?1" in lite.text
    assert "IN (SELECT value FROM json_each(?3))" in lite.text
    assert "SELECT ':no', $1, $2, $1" in pg.text
    assert pg.text.endswith("= ANY($3) FOR NO KEY UPDATE;")
    assert "never" not in lite.text + pg.text


def test_pairs_of_ids_and_numbers_are_spelt_for_each_database() -> None:
    text = "SELECT pairs.id FROM pairs(:ids, :numbers) WHERE pairs.number > :n;"

    lite, pg = (sql.compile_query("q", text, dialect) for dialect in (Dialect.SQLITE, Dialect.POSTGRES))

    assert set(lite.parameters) == set(pg.parameters) == {"ids", "numbers", "n"}
    assert "unnest(CAST($1 AS text[]), CAST($2 AS bigint[])) AS pairs (id, number)" in pg.text
    assert "json_each" in lite.text


def test_columns_are_defined_once_and_expanded_in_queries() -> None:
    text = "SELECT fact_columns(), 1 FROM a; SELECT fact_columns(f) FROM facts f;"

    assert sql._with_columns(text, {"fact": ["id", "kind"]}) == (
        "SELECT id, kind, 1 FROM a; SELECT f.id, f.kind FROM facts f;"
    )
    for dialect in Dialect:
        every = queries(dialect)
        assert every["find_fact"].text.startswith("SELECT id, version, content, kind, origin, source, tags,")
        assert not [query.name for query in every.values() if "_columns(" in query.text]


def test_a_query_defined_twice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "_sections", lambda: [("q", "", "SELECT 1"), ("q", "", "SELECT 2")])

    with pytest.raises(ValueError, match="defined twice"):
        sql.queries.__wrapped__(Dialect.SQLITE)


def test_both_databases_have_the_same_queries_but_server_checks() -> None:
    missing = set(queries(Dialect.POSTGRES)) ^ set(queries(Dialect.SQLITE))

    assert missing == {
        "describe_growth",
        "describe_role",
        "describe_roles",
        "describe_server",
        "describe_standby",
        "find_log_position",
        "insert_messages_together",
        "insert_shown_together",
        "insert_terms_fts",
        "insert_terms_together",
        "list_unguarded_tables",
        "make_vectors",
        "nearest_within",
        "put_vectors_together",
    }
