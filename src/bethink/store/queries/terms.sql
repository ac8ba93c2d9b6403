-- name: index_place
-- The index location of a space, and its last text.
SELECT key, place, (SELECT max(t.doc) FROM terms t WHERE t.doc < ((spaces.place + 1) << 34)) AS last_doc
FROM spaces WHERE id = :space;

-- name: insert_terms (sqlite)
-- Index a text.
INSERT INTO terms (doc, space_id, kind, id, number, at, length, asks, terms, hits)
VALUES (:doc, :space, :kind, :id, :number, :at, :length, :asks, :terms, :hits);

-- name: insert_terms (postgres)
-- Index a text.
INSERT INTO terms (doc, space_id, kind, id, number, at, length, asks, terms, hits)
VALUES (:doc, :space, :kind, :id, :number, :at, :length, :asks, CAST(:terms AS bigint[]), decode(:hits, 'hex'));

-- name: insert_terms_together (postgres)
-- The same for many texts, with all rows as one JSON value.
INSERT INTO terms (doc, space_id, kind, id, number, at, length, asks, terms, hits)
SELECT r.doc, r.space, r.kind, r.id, r.number, r.at, r.length, r.asks, r.terms, decode(r.hits, 'hex')
FROM json_to_recordset(:rows) AS r (
    doc bigint, space text, kind text, id text, number bigint, at bigint, length integer, asks integer,
    terms bigint[], hits text
);

-- name: insert_terms_fts (sqlite)
-- The same text in the index of hashes.
INSERT INTO terms_fts (rowid, terms) VALUES (:doc, :terms);

-- name: drop_terms
-- Remove a text from the index, before it is indexed again.
DELETE FROM terms WHERE space_id = :space AND kind = :kind AND id = :id;

-- name: terms_between
-- The terms of some texts of a space.
SELECT packed(terms) AS terms FROM terms WHERE doc >= :first AND doc < :end;

-- name: read_term_counts
-- The number of texts of a space that have each of its frequent terms.
SELECT blocks, terms, counts, missed FROM term_counts WHERE space_id = :space;

-- name: put_term_counts
-- Replace these counts.
INSERT INTO term_counts (space_id, blocks, terms, counts, missed)
VALUES (:space, :blocks, :terms, :counts, :missed)
ON CONFLICT (space_id) DO UPDATE SET blocks = excluded.blocks, terms = excluded.terms, counts = excluded.counts,
    missed = excluded.missed;

-- name: open_index
-- The index location of a space, its last text, and its frequent terms.
SELECT s.key, s.place, (SELECT max(t.doc) FROM terms t WHERE t.doc < ((s.place + 1) << 34)) AS last_doc,
       c.terms, c.counts, c.missed
FROM spaces s LEFT JOIN term_counts c ON c.space_id = s.id WHERE s.id = :space;

-- name: postings (sqlite)
-- The texts of some kinds that match each of these expressions, dated by a time.
SELECT CAST(a.key AS INTEGER) AS place, (
    SELECT json_group_array(f.rowid) FROM terms_fts f
    WHERE f.terms_fts MATCH a.value AND f.rowid & 3 IN (SELECT k.value FROM json_each(:kinds) k)
      AND (:always = 1 OR EXISTS (SELECT 1 FROM terms t WHERE t.doc = f.rowid AND t.at <= :at)) /*only(rowid f)*/
) AS docs
FROM json_each(:spelt) a;

-- name: postings (postgres)
-- The texts of some kinds that have each of these pairs of hashes, dated by a time. The space is
-- compared by an expression: by a column that has an index, the server might read all of the space for every hash.
SELECT a.place - 1 AS place, CAST(ARRAY(
    SELECT t.doc FROM terms t WHERE t.terms @> ARRAY[a.term, a.other] AND (t.doc >> 34) = (CAST(:start AS bigint) >> 34)
      AND (t.doc & 3) = ANY(CAST(:kinds AS bigint[])) AND t.at <= :at /*only(any t)*/
) AS text) AS docs
FROM unnest(CAST(:terms AS bigint[]), CAST(:others AS bigint[])) WITH ORDINALITY AS a (term, other, place);

-- name: best_docs (sqlite)
-- The texts with the highest weights, which are lower for long texts.
SELECT t.doc FROM json_each(:weighed) w CROSS JOIN terms t ON t.doc = w.value ->> 0
ORDER BY (w.value ->> 1) * :scale / (t.length + :half) DESC, t.doc DESC LIMIT :limit;

-- name: best_docs (postgres)
-- The texts with the highest weights, which are lower for long texts.
SELECT t.doc FROM unnest(CAST(:docs AS bigint[]), CAST(:weights AS bigint[])) AS w (doc, weight)
JOIN terms t ON t.doc = w.doc
ORDER BY w.weight * CAST(:scale AS bigint) / (t.length + CAST(:half AS bigint)) DESC, t.doc DESC LIMIT :limit;

-- name: newest_postings (sqlite)
-- The same for the newest texts of a space and one hash, newest first.
SELECT f.rowid AS doc FROM terms_fts f
WHERE f.terms_fts MATCH :spelt AND f.rowid >= :first AND f.rowid & 3 IN (SELECT k.value FROM json_each(:kinds) k)
  AND (:always = 1 OR EXISTS (SELECT 1 FROM terms t WHERE t.doc = f.rowid AND t.at <= :at)) /*only(rowid f)*/
ORDER BY f.rowid DESC LIMIT :limit;

-- name: newest_postings (postgres)
-- The same for the newest texts of a space and one hash, newest first. OFFSET 0 keeps the server from reading all
-- texts that have the hash.
SELECT n.doc FROM (
    SELECT t.doc, t.terms, t.at FROM terms t WHERE t.doc >= :first AND t.doc <= :last ORDER BY t.doc DESC OFFSET 0
) n
WHERE n.terms @> ARRAY[CAST(:term AS bigint)] AND (n.doc & 3) = ANY(CAST(:kinds AS bigint[])) AND n.at <= :at
  /*only(doc n)*/
LIMIT :limit;
