-- name: select_memories
-- The session summaries for a consolidation: not unused for too long, the most used first, then the newest.
SELECT space_id, session_id, raw_memory, summary, slug, until_number, source_updated_at, generated_at, model, prompt,
       extractor, said_from, said_until, usage_count, last_usage, selected, selected_source_updated_at
FROM session_summaries WHERE space_id = :space AND COALESCE(last_usage, generated_at) >= :since
ORDER BY usage_count DESC, COALESCE(last_usage, generated_at) DESC, session_id DESC LIMIT :limit;

-- name: previous_memories
-- The session summaries that the last successful consolidation read.
SELECT space_id, session_id, raw_memory, summary, slug, until_number, source_updated_at, generated_at, model, prompt,
       extractor, said_from, said_until, usage_count, last_usage, selected, selected_source_updated_at
FROM session_summaries WHERE space_id = :space AND selected = 1 ORDER BY session_id;

-- name: clear_selection
-- Clear the previous selection.
UPDATE session_summaries SET selected = 0, selected_source_updated_at = NULL WHERE space_id = :space AND selected = 1;

-- name: set_selection
-- Record that session summaries were read, as far as they have not changed since.
UPDATE session_summaries SET selected = 1, selected_source_updated_at = source_updated_at
WHERE space_id = :space AND (session_id, source_updated_at) IN (
    SELECT pairs.id, pairs.number FROM pairs(:sessions, :times)
);

-- name: use_memory
-- Count a session summary as used.
UPDATE session_summaries SET usage_count = usage_count + 1, last_usage = :now
WHERE space_id = :space AND session_id = :session;

-- name: expired_spaces
-- Whether a space has a session summary that is no longer selected because of its age.
SELECT session_id FROM session_summaries
WHERE space_id = :space AND selected = 1 AND COALESCE(last_usage, generated_at) < :since LIMIT 1;

-- name: put_change_set
-- Store the changes or proposed changes of a run.
INSERT INTO change_sets (space_id, run, token, status, changes, selection, created_at, settled_at)
VALUES (:space, :run, :token, :status, :changes, :selection, :now, :settled_at)
ON CONFLICT (space_id, run) DO UPDATE SET
    token = excluded.token, status = excluded.status, changes = excluded.changes, selection = excluded.selection,
    created_at = excluded.created_at, settled_at = excluded.settled_at;

-- name: find_change_set
-- A change set by its run.
SELECT run, token, status, changes, selection, created_at, settled_at FROM change_sets
WHERE space_id = :space AND run = :run;

-- name: list_change_sets
-- The change sets of a space, the newest first.
SELECT run, token, status, changes, selection, created_at, settled_at FROM change_sets
WHERE space_id = :space /*given before*/ AND (created_at, run) < (:before, :run) /*end*/
ORDER BY created_at DESC, run DESC LIMIT :limit;

-- name: set_change_status
-- Change the status of a change set, if it is still the expected one.
UPDATE change_sets SET status = :status, settled_at = :now WHERE space_id = :space AND run = :run AND status = :was;

-- name: list_change_set_texts
-- The changes and inputs of every change set of a space.
SELECT run, CAST(changes AS text) AS changes, CAST(selection AS text) AS selection FROM change_sets
WHERE space_id = :space;

-- name: drop_change_sets
-- Delete change sets that repeat deleted text.
DELETE FROM change_sets WHERE space_id = :space AND run in_list(:runs);

-- name: list_held
-- The change sets that need approval.
SELECT run, token, status, changes, selection, created_at, settled_at FROM change_sets
WHERE space_id = :space AND status = 'pending';

-- name: let_go
-- Settle a change set that will not be applied, without its text.
UPDATE change_sets SET status = :status, changes = :changes, selection = '[]', settled_at = :now
WHERE space_id = :space AND run = :run AND status = 'pending';

-- name: keep_written
-- Replace the text of a change set with the versions that contain it.
UPDATE change_sets SET changes = :changes WHERE space_id = :space AND run = :run;

-- name: rejected_run
-- A change set on the same inputs that was rejected.
SELECT run FROM change_sets
WHERE space_id = :space AND status = 'rejected' AND substr(run, 1, length(CAST(:run AS text))) = :run LIMIT 1;
