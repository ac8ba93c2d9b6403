-- name: insert_erasure
-- Record that something is to be forgotten.
INSERT INTO erasures (space_id, id, asked_by, key_prefix, reason, requested_at, plan)
VALUES (:space, :id, :asked_by, :key_prefix, :reason, :now, :plan);

-- name: insert_erasure_sink
-- A place that has to confirm an erasure.
INSERT INTO erasure_sinks (space_id, erasure_id, sink, confirmed_at) VALUES (:space, :erasure, :sink, :confirmed_at);

-- name: confirm_erasure
-- A place says that nothing is left there.
UPDATE erasure_sinks SET confirmed_at = :now
WHERE space_id = :space AND erasure_id = :erasure AND sink = :sink AND confirmed_at IS NULL;

-- name: settle_erasure
-- An erasure that every place has confirmed.
UPDATE erasures SET settled_at = :now, plan = NULL, receipt = :receipt
WHERE space_id = :space AND id = :id AND settled_at IS NULL;

-- name: note_receipt
-- Keep what the one who asked is given, also while a place is still to confirm.
UPDATE erasures SET plan = :plan, receipt = :receipt WHERE space_id = :space AND id = :id AND settled_at IS NULL;

-- name: withdraw_erasure
-- There was nothing to forget.
DELETE FROM erasures WHERE space_id = :space AND id = :id;

-- name: withdraw_tombstones
-- There was nothing to forget.
DELETE FROM tombstones WHERE space_id = :space AND erasure_id = :erasure;

-- name: find_erasure
-- One erasure, locked, so that only one process finishes it.
SELECT space_id, id, asked_by, key_prefix, reason, requested_at, settled_at, plan, receipt FROM erasures
WHERE space_id = :space AND id = :id /*for_update*/;

-- name: list_erasures
-- The erasures of a space, the newest first.
SELECT space_id, id, asked_by, key_prefix, reason, requested_at, settled_at, plan, receipt FROM erasures
WHERE space_id = :space ORDER BY requested_at DESC, id DESC LIMIT :limit;

-- name: list_erasure_sinks
-- Which places have confirmed an erasure, and when.
SELECT sink, confirmed_at FROM erasure_sinks WHERE space_id = :space AND erasure_id = :erasure ORDER BY sink;

-- name: list_open_sinks
-- What is still to be confirmed, in any space.
SELECT space_id, erasure_id, sink FROM erasure_sinks WHERE confirmed_at IS NULL
ORDER BY space_id, erasure_id, sink LIMIT :limit;

-- name: confirm_logs
-- The write-ahead log was emptied: it holds nothing of what had been removed by then.
UPDATE erasure_sinks SET confirmed_at = :now
WHERE sink = 'log' AND confirmed_at IS NULL AND EXISTS (
    SELECT 1 FROM erasure_sinks r WHERE r.space_id = erasure_sinks.space_id
      AND r.erasure_id = erasure_sinks.erasure_id AND r.sink = 'rows' AND r.confirmed_at <= :until
);

-- name: insert_tombstone
-- What may not come back. The newest erasure of it counts.
INSERT INTO tombstones (space_id, kind, key_id, digest, erasure_id, at)
VALUES (:space, :kind, :key_id, :digest, :erasure, :at)
ON CONFLICT (space_id, kind, key_id, digest) DO UPDATE SET erasure_id = excluded.erasure_id, at = excluded.at
WHERE excluded.at >= tombstones.at;

-- name: list_tombstones
-- The tombstones of a space.
SELECT kind, key_id, digest, erasure_id, at FROM tombstones WHERE space_id = :space ORDER BY at, kind, digest;

-- name: tombstones_of_erasure
-- What one erasure forgot.
SELECT kind, key_id, digest, erasure_id, at FROM tombstones
WHERE space_id = :space AND erasure_id = :erasure ORDER BY kind, digest;

-- name: find_tombstones
-- Those of some digests that are forgotten.
SELECT kind, key_id, digest, erasure_id, at FROM tombstones
WHERE space_id = :space AND kind = :kind AND digest in_list(:digests);

-- name: note_written
-- A file or folder with texts of a space was written.
INSERT INTO written_files (space_id, host, path, kind, written_at) VALUES (:space, :host, :path, :kind, :now)
ON CONFLICT (space_id, host, path) DO UPDATE SET kind = excluded.kind, written_at = excluded.written_at;

-- name: list_written
-- Where files with texts of a space were written.
SELECT host, path, kind, written_at FROM written_files WHERE space_id = :space ORDER BY host, path;

-- name: drop_written
-- A file or folder that is gone.
DELETE FROM written_files WHERE space_id = :space AND host = :host AND path = :path;

-- name: list_deployment_keys
-- Every key of the deployment whose name begins alike.
SELECT name, value FROM deployment_keys WHERE name LIKE :pattern ORDER BY name;
