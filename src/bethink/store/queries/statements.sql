-- columns: statement
fact_id, support, said_at, session_id, number, position, recorded_at, dropped_at, begins_at, ends_at, subject, slot,
trust, change;

-- columns: link
target_id, kind, fact_id, support, said_at, session_id, number, position, recorded_at, begins_at;

-- name: insert_statement
-- Add one time that a fact was stated, once.
INSERT INTO fact_statements (space_id, fact_id, support, said_at, session_id, number, position, recorded_at, begins_at,
                             ends_at, subject, slot, trust, change)
VALUES (:space, :fact, :support, :said_at, :session, :number, :position, :now, :begins_at, :ends_at, :subject, :slot,
        :trust, :change)
ON CONFLICT (space_id, fact_id, support) DO NOTHING;

-- name: drop_statements
-- Stop counting the statements of a fact, because a program stored other times.
UPDATE fact_statements SET dropped_at = :now WHERE space_id = :space AND fact_id = :fact AND dropped_at IS NULL;

-- name: restore_statements
-- Count the statements of a fact again that were dropped at a time.
UPDATE fact_statements SET dropped_at = NULL WHERE space_id = :space AND fact_id = :fact AND dropped_at = :at;

-- name: restore_version
-- Restore a version of a fact that was replaced.
UPDATE facts SET retired_at = NULL, retired_by = NULL WHERE space_id = :space AND id = :id AND version = :version;

-- name: insert_link
-- Add what a statement does to an earlier fact, once.
INSERT INTO fact_links (space_id, target_id, kind, fact_id, support, said_at, session_id, number, position, recorded_at,
                        begins_at)
VALUES (:space, :target, :kind, :fact, :support, :said_at, :session, :number, :position, :now, :begins_at)
ON CONFLICT (space_id, target_id, kind, fact_id, support) DO NOTHING;

-- name: statements_of
-- The statements of some facts.
SELECT statement_columns() FROM fact_statements WHERE space_id = :space AND fact_id in_list(:ids);

-- name: statements_in_slots
-- The statements of the facts that were stated about some values that can only be one at a time.
SELECT statement_columns() FROM fact_statements WHERE space_id = :space AND fact_id IN (
    SELECT s.fact_id FROM fact_statements s
    WHERE s.space_id = :space AND s.subject in_list(:subjects) AND s.slot in_list(:slots) AND s.slot IS NOT NULL
);

-- name: links_to
-- What later statements do to some facts.
SELECT link_columns() FROM fact_links WHERE space_id = :space AND target_id in_list(:ids);

-- name: links_from
-- What some facts do to earlier ones, or rest on.
SELECT link_columns() FROM fact_links WHERE space_id = :space AND fact_id in_list(:ids);

-- name: delete_links
-- Remove the links to and from a fact.
DELETE FROM fact_links WHERE space_id = :space AND (fact_id = :id OR target_id = :id);

-- name: delete_links_of
-- Remove the links with a support, such as a request that was withdrawn.
DELETE FROM fact_links WHERE space_id = :space AND kind = :kind AND support = :support;

-- name: targets_of_links
-- The facts that the links with a support lead to.
SELECT DISTINCT target_id FROM fact_links WHERE space_id = :space AND kind = :kind AND support = :support;

-- name: delete_statements
-- Remove the statements of a fact.
DELETE FROM fact_statements WHERE space_id = :space AND fact_id = :id;

-- name: move_statement
-- Give a statement to another fact, which now has its text.
UPDATE fact_statements SET fact_id = :heir WHERE space_id = :space AND fact_id = :id AND support = :support;

-- name: move_links_from
-- Give the links of a statement to another fact, which now has its text.
UPDATE fact_links SET fact_id = :heir WHERE space_id = :space AND fact_id = :id AND support = :support;

-- name: move_links_to
-- Let links lead to the fact that has the text of a deleted one.
UPDATE fact_links SET target_id = :heir WHERE space_id = :space AND target_id = :id;

-- name: delete_unquoted_statements
-- Remove the statements of some facts that have lost their quotes; those without a message never had any.
DELETE FROM fact_statements WHERE space_id = :space AND fact_id in_list(:ids) AND session_id <> '' AND NOT EXISTS (
    SELECT 1 FROM fact_quotes q
    WHERE q.space_id = :space AND q.fact_id = fact_statements.fact_id AND q.support = fact_statements.support
);

-- name: delete_unstated_links
-- Remove the links of some facts whose statement no longer exists.
DELETE FROM fact_links WHERE space_id = :space AND fact_id in_list(:ids) AND NOT EXISTS (
    SELECT 1 FROM fact_statements s
    WHERE s.space_id = :space AND s.fact_id = fact_links.fact_id AND s.support = fact_links.support
);

-- name: put_fact_times
-- Store when the newest version of a fact is true, as far as it is known now.
UPDATE facts SET created_at = :created_at, valid_from = :valid_from, valid_to = :valid_to, ended_by = :ended_by,
    ended_as = :ended_as, doubted_by = :doubted_by, doubted_at = :doubted_at, end_recorded_at = :end_recorded_at
WHERE space_id = :space AND id = :id AND retired_at IS NULL;

-- name: hide_fact
-- Hide a fact that a person asked to forget.
UPDATE facts SET retired_at = :now, retired_by = '', ended_as = 'hidden'
WHERE space_id = :space AND id = :id AND retired_at IS NULL;

-- name: unhide_fact
-- Show a fact again, because the request to forget it was withdrawn.
UPDATE facts SET retired_at = NULL, retired_by = NULL, ended_as = NULL
WHERE space_id = :space AND id = :id AND ended_as = 'hidden' AND version = (
    SELECT max(version) FROM facts WHERE space_id = :space AND id = :id
);

-- name: fact_times
-- The stored times of the newest versions of some facts.
SELECT id, version, created_at, valid_from, valid_to, ended_by, ended_as, doubted_by, doubted_at, end_recorded_at,
       retired_at
FROM facts f WHERE space_id = :space AND id in_list(:ids) AND version = (
    SELECT max(version) FROM facts n WHERE n.space_id = :space AND n.id = f.id
);

-- name: date_fact_terms
-- Date the terms of a fact by when it was first said.
UPDATE terms SET at = :at WHERE space_id = :space AND kind = 'fact' AND id = :id AND at > :at;
