-- name: insert_showing
-- Add an entry to the context log.
INSERT INTO ledger (space_id, id, purpose, session_id, shown_at, tokens, digest)
VALUES (:space, :id, :purpose, :session, :now, :tokens, :digest);

-- name: insert_shown
-- Add one memory to an entry, with its label.
INSERT INTO ledger_items (space_id, ledger_id, place, kind, id, number, label)
VALUES (:space, :showing, :place, :kind, :id, :number, :label);

-- name: insert_shown_together (postgres)
-- The same for many memories, with all rows as one JSON value.
INSERT INTO ledger_items (space_id, ledger_id, place, kind, id, number, label)
SELECT r.space, r.showing, r.place, r.kind, r.id, r.number, r.label
FROM json_to_recordset(:rows) AS r (
    space text, showing text, place bigint, kind text, id text, number bigint, label text
);

-- name: last_showing
-- The last entry of a session for a purpose.
SELECT id, digest FROM ledger WHERE space_id = :space AND session_id = :session AND purpose = :purpose
ORDER BY shown_at DESC, id DESC LIMIT 1;

-- name: list_showings
-- Entries of a space by a time, or of one session, the newest first.
SELECT id, purpose, session_id, shown_at, tokens, digest FROM ledger
WHERE space_id = :space AND shown_at <= :at AND (CAST(:session AS text) IS NULL OR session_id = :session)
ORDER BY shown_at DESC, id DESC LIMIT :limit;

-- name: list_shown
-- The memories of some entries, in order.
SELECT ledger_id, kind, id, number, label FROM ledger_items
WHERE space_id = :space AND ledger_id in_list(:ids) ORDER BY ledger_id, place;

-- name: where_shown
-- When and to which session a memory was shown, the newest first.
SELECT l.id, l.purpose, l.session_id, l.shown_at, l.tokens, l.digest, i.number
FROM ledger_items i JOIN ledger l ON l.space_id = i.space_id AND l.id = i.ledger_id
WHERE i.space_id = :space AND i.kind = :kind AND i.id = :id
  AND (CAST(:number AS bigint) IS NULL OR i.number = :number) ORDER BY l.shown_at DESC, l.id DESC LIMIT :limit;

-- name: labelled
-- The memories behind some labels that a session was shown.
SELECT DISTINCT i.label, i.kind, i.id, i.number
FROM ledger_items i JOIN ledger l ON l.space_id = i.space_id AND l.id = i.ledger_id
WHERE i.space_id = :space AND l.session_id = :session AND i.label in_list(:labels);

-- name: count_usage
-- Count a memory as used.
INSERT INTO usage (space_id, kind, id, number, usage_count, last_usage)
VALUES (:space, :kind, :id, :number, 1, :now)
ON CONFLICT (space_id, kind, id, number) DO UPDATE SET
    usage_count = usage.usage_count + 1, last_usage = excluded.last_usage;

-- name: usage_among
-- How often some memories were used, without those that never were.
SELECT u.kind, u.id, u.number, u.usage_count, u.last_usage
FROM pairs(:ids, :numbers)
JOIN usage u ON u.space_id = :space AND u.kind in_list(:kinds) AND u.id = pairs.id AND u.number = pairs.number;

-- name: sessions_behind_facts
-- The sessions that some facts come from.
SELECT DISTINCT session_id FROM fact_sources WHERE space_id = :space AND fact_id in_list(:ids) ORDER BY session_id;

-- name: sessions_behind_documents
-- The sessions that some versions of documents are based on, directly or through facts.
SELECT DISTINCT COALESCE(f.session_id, s.source_id) AS session_id
FROM pairs(:ids, :numbers)
JOIN document_sources s ON s.space_id = :space AND s.document_id = pairs.id AND s.version <= pairs.number
  AND (s.last_version IS NULL OR s.last_version >= pairs.number)
LEFT JOIN fact_sources f ON s.kind = 'fact' AND f.space_id = s.space_id AND f.fact_id = s.source_id
WHERE s.kind <> 'fact' OR f.session_id IS NOT NULL ORDER BY session_id;

-- name: find_usage
-- How often one memory was used.
SELECT usage_count, last_usage FROM usage WHERE space_id = :space AND kind = :kind AND id = :id AND number = :number;
