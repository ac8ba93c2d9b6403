-- name: page_held
-- What waits for a person in any space, the newest first.
SELECT space_id, kind, id, at FROM held
WHERE 1 = 1 /*given kind*/ AND kind = :kind /*end*/
  /*given key*/ AND (at, space_id, kind, id) < (:key, :space, :last, :id) /*end*/
ORDER BY at DESC, space_id DESC, kind DESC, id DESC LIMIT :limit;

-- name: count_held
-- How much waits for a person, up to a limit.
SELECT count(*) AS count FROM (
    SELECT 1 FROM held WHERE 1 = 1 /*given kind*/ AND kind = :kind /*end*/ LIMIT :limit
) AS waiting;
