-- columns: access
id, at, interface, key_prefix, person, operation, space_id, refs;

-- name: insert_access
-- An entry of the access log. One that was stored by an attempt with an unknown outcome is left unchanged.
INSERT INTO access_log (space_id, at, id, interface, key_prefix, person, operation, refs)
VALUES (:space, :at, :id, :interface, :key, :person, :operation, :refs)
ON CONFLICT DO NOTHING;

-- name: access_edge
-- The entry at which the scan for one page stops.
SELECT at, id FROM access_log
WHERE at >= :since AND (at, id) < (:at, :id)
  /*given space*/ AND space_id = :space /*end*/
ORDER BY at DESC, id DESC LIMIT 1 OFFSET :window;

-- name: page_access
-- Entries of the access log between two positions, the newest first.
SELECT access_columns() FROM access_log
WHERE at >= :since AND (at, id) < (:at, :id) AND (at, id) >= (:edge_at, :edge_id)
  /*given space*/ AND space_id = :space /*end*/
  /*given key*/ AND key_prefix = :key /*end*/
  /*given person*/ AND person = :person /*end*/
  /*given operation*/ AND operation = :operation /*end*/
  /*given ref*/ AND (refs LIKE :ref ESCAPE '!' OR refs LIKE :every OR refs = :everything) /*end*/
ORDER BY at DESC, id DESC LIMIT :limit;

-- name: prune_access
-- Delete the oldest entries before a time.
DELETE FROM access_log WHERE (space_id, at, id) IN (
    SELECT o.space_id, o.at, o.id FROM access_log o WHERE o.at < :before ORDER BY o.at, o.id LIMIT :limit
);
