-- columns: access
id, at, door, key_prefix, person, verb, space_id, refs;

-- name: insert_access
-- An entry of the access record. One that was stored by an attempt whose outcome was unknown stays as it is.
INSERT INTO access_log (space_id, at, id, door, key_prefix, person, verb, refs)
VALUES (:space, :at, :id, :door, :key, :person, :verb, :refs)
ON CONFLICT DO NOTHING;

-- name: access_edge
-- The entry at which one page stops looking.
SELECT at, id FROM access_log
WHERE at >= :since AND (at, id) < (:at, :id)
  /*given space*/ AND space_id = :space /*end*/
ORDER BY at DESC, id DESC LIMIT 1 OFFSET :window;

-- name: page_access
-- Entries of the access record between two places, the newest first.
SELECT access_columns() FROM access_log
WHERE at >= :since AND (at, id) < (:at, :id) AND (at, id) >= (:edge_at, :edge_id)
  /*given space*/ AND space_id = :space /*end*/
  /*given key*/ AND key_prefix = :key /*end*/
  /*given person*/ AND person = :person /*end*/
  /*given verb*/ AND verb = :verb /*end*/
  /*given ref*/ AND (refs LIKE :ref ESCAPE '!' OR refs LIKE :every OR refs = :everything) /*end*/
ORDER BY at DESC, id DESC LIMIT :limit;

-- name: prune_access
-- Remove the oldest entries, as far as they are from before a time.
DELETE FROM access_log WHERE (space_id, at, id) IN (
    SELECT o.space_id, o.at, o.id FROM access_log o WHERE o.at < :before ORDER BY o.at, o.id LIMIT :limit
);
