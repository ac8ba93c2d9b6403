-- name: select_memories
-- The session memories that a consolidation looks at: not unused for too long, the most used first, then the newest.
SELECT space_id, session_id, raw_memory, summary, slug, until_number, source_updated_at, generated_at, model, prompt,
       extractor, said_from, said_until, usage_count, last_usage, selected, selected_source_updated_at
FROM session_memories WHERE space_id = :space AND COALESCE(last_usage, generated_at) >= :since
ORDER BY usage_count DESC, COALESCE(last_usage, generated_at) DESC, session_id DESC LIMIT :limit;

-- name: previous_memories
-- The session memories that the last consolidation which succeeded has seen.
SELECT space_id, session_id, raw_memory, summary, slug, until_number, source_updated_at, generated_at, model, prompt,
       extractor, said_from, said_until, usage_count, last_usage, selected, selected_source_updated_at
FROM session_memories WHERE space_id = :space AND selected = 1 ORDER BY session_id;

-- name: clear_selection
-- Forget what was selected before.
UPDATE session_memories SET selected = 0, selected_source_updated_at = NULL WHERE space_id = :space AND selected = 1;

-- name: set_selection
-- Note that a session memory was seen, if it is still the one that was.
UPDATE session_memories SET selected = 1, selected_source_updated_at = source_updated_at
WHERE space_id = :space AND session_id = :session AND source_updated_at = :source_updated_at;

-- name: use_memory
-- Count that a session memory was of use.
UPDATE session_memories SET usage_count = usage_count + 1, last_usage = :now
WHERE space_id = :space AND session_id = :session;

-- name: expired_spaces
-- Whether a space still holds on to something that is no longer selected by age.
SELECT session_id FROM session_memories
WHERE space_id = :space AND selected = 1 AND COALESCE(last_usage, generated_at) < :since LIMIT 1;

-- name: put_change_set
-- Keep what a run changed, or wants to change.
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
-- The change sets of a space, newest first.
SELECT run, token, status, changes, selection, created_at, settled_at FROM change_sets
WHERE space_id = :space ORDER BY created_at DESC, run LIMIT :limit;

-- name: settle_change_set
-- Say what became of a change set, if it is as it was.
UPDATE change_sets SET status = :status, settled_at = :now WHERE space_id = :space AND run = :run AND status = :was;

-- name: list_change_set_texts
-- What every change set of a space says and looked at, as it is written.
SELECT run, CAST(changes AS text) AS changes, CAST(selection AS text) AS selection FROM change_sets
WHERE space_id = :space;

-- name: drop_change_set
-- Forget a change set that repeats what is gone.
DELETE FROM change_sets WHERE space_id = :space AND run = :run;

-- name: list_held
-- What waits to be approved.
SELECT run, token, status, changes, selection, created_at, settled_at FROM change_sets
WHERE space_id = :space AND status = 'held';

-- name: let_go
-- What was held will not come about: of its text nothing is kept.
UPDATE change_sets SET status = :status, changes = :changes, selection = '[]', settled_at = :now
WHERE space_id = :space AND run = :run AND status = 'held';

-- name: keep_written
-- Say where in the tree the text of a change set is now, instead of repeating it.
UPDATE change_sets SET changes = :changes WHERE space_id = :space AND run = :run;

-- name: rejected_run
-- A change set on the same inputs that somebody rejected.
SELECT run FROM change_sets
WHERE space_id = :space AND status = 'rejected' AND substr(run, 1, length(CAST(:run AS text))) = :run LIMIT 1;
