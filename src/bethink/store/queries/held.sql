-- name: page_held
-- Pending reviews in all spaces, the newest first.
SELECT space_id, kind, id, at FROM held
WHERE 1 = 1 /*given kind*/ AND kind = :kind /*end*/
  /*given key*/ AND (at, space_id, kind, id) < (:key, :space, :last, :id) /*end*/
ORDER BY at DESC, space_id DESC, kind DESC, id DESC LIMIT :limit;

-- name: count_held
-- The number of pending reviews, up to a limit.
SELECT count(*) AS count FROM (
    SELECT 1 FROM held WHERE 1 = 1 /*given kind*/ AND kind = :kind /*end*/ LIMIT :limit
) AS waiting;
