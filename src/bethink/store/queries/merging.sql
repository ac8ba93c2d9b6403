-- name: copy_quotes
-- Give the quotes of a fact to another one, which has its text.
INSERT INTO fact_quotes (space_id, fact_id, support, place, session_id, number, text, context, statement, parts)
SELECT space_id, :heir, support, place, session_id, number, text, context, statement, parts
FROM fact_quotes WHERE space_id = :space AND fact_id = :id
ON CONFLICT (space_id, fact_id, support, place) DO NOTHING;

-- name: copy_sources
-- Give the source messages of a fact to another one, which has its text.
INSERT INTO fact_sources (space_id, fact_id, session_id, number)
SELECT space_id, :heir, session_id, number FROM fact_sources WHERE space_id = :space AND fact_id = :id
ON CONFLICT (space_id, fact_id, session_id, number) DO NOTHING;

-- name: copy_statement
-- Give a statement to another fact, which has its text, with its subject and slot.
INSERT INTO fact_statements (space_id, fact_id, support, said_at, session_id, number, position, recorded_at, dropped_at,
                             begins_at, ends_at, subject, slot, trust, change)
SELECT space_id, :heir, support, said_at, session_id, number, position, recorded_at, dropped_at, begins_at, ends_at,
       :subject, :slot, trust, change
FROM fact_statements WHERE space_id = :space AND fact_id = :id AND support = :support
ON CONFLICT (space_id, fact_id, support) DO NOTHING;

-- name: copy_links_from
-- Let a statement of another fact do what a statement did.
INSERT INTO fact_links (space_id, target_id, kind, fact_id, support, said_at, session_id, number, position, recorded_at,
                        begins_at)
SELECT space_id, target_id, kind, :heir, :heir_support, said_at, session_id, number, position, recorded_at, begins_at
FROM fact_links WHERE space_id = :space AND fact_id = :id AND support = :support AND target_id <> :heir
ON CONFLICT (space_id, target_id, kind, fact_id, support) DO NOTHING;

-- name: copy_links_to
-- Let links to a fact lead to another one, which has its text.
INSERT INTO fact_links (space_id, target_id, kind, fact_id, support, said_at, session_id, number, position, recorded_at,
                        begins_at)
SELECT space_id, :heir, kind, fact_id, support, said_at, session_id, number, position, recorded_at, begins_at
FROM fact_links WHERE space_id = :space AND target_id = :id AND fact_id <> :heir
ON CONFLICT (space_id, target_id, kind, fact_id, support) DO NOTHING;

-- name: retire_merged_fact
-- Mark a fact as replaced by the one that has its words, since it was learned.
UPDATE facts SET retired_at = recorded_at, retired_by = :heir, ended_as = NULL
WHERE space_id = :space AND id = :id AND retired_at IS NULL;

-- name: drop_statements_at
-- Stop counting the statements of a fact since a time.
UPDATE fact_statements SET dropped_at = :at WHERE space_id = :space AND fact_id = :fact AND dropped_at IS NULL;

-- name: refuse_merged_fact
-- Hide a fact about words that a person rejected.
UPDATE facts SET retired_at = CASE WHEN recorded_at > :at THEN recorded_at ELSE :at END, retired_by = '', ended_as = NULL
WHERE space_id = :space AND id = :id AND retired_at IS NULL;
