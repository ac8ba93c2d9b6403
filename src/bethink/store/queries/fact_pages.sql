-- name: page_facts_recorded
-- Versions of facts that match the given values, by when they were recorded.
SELECT fact_columns() FROM facts
WHERE space_id = :space
  /*given at*/ AND recorded_at <= :at /*end*/
  /*given subject*/ AND subject = :subject /*end*/
  /*given slot*/ AND slot = :slot /*end*/
  /*given kind*/ AND kind = :kind /*end*/
  /*given origin*/ AND origin = :origin /*end*/
  /*given current*/ AND retired_at IS NULL /*end*/
  /*given current_then*/ AND (retired_at IS NULL OR retired_at > :current_then) /*end*/
  /*given lasting*/ AND (valid_to IS NULL OR valid_to > :lasting) AND (expires_at IS NULL OR expires_at > :lasting) /*end*/
  /*given ended*/ AND (valid_to <= :ended OR expires_at <= :ended) /*end*/
  /*given older*/ AND (recorded_at, id, version) < (:older, :id, :version) /*end*/
  /*given later*/ AND (recorded_at, id, version) > (:later, :id, :version) /*end*/
ORDER BY /*given oldest*/ recorded_at, id, version /*else*/ recorded_at DESC, id DESC, version DESC /*end*/
LIMIT :limit;

-- name: page_facts_retired
-- Replaced versions of facts that match the given values, by when they were replaced.
SELECT fact_columns() FROM facts
WHERE space_id = :space AND retired_at IS NOT NULL AND retired_at <= :until
  /*given subject*/ AND subject = :subject /*end*/
  /*given slot*/ AND slot = :slot /*end*/
  /*given kind*/ AND kind = :kind /*end*/
  /*given origin*/ AND origin = :origin /*end*/
  /*given older*/ AND (retired_at, id, version) < (:older, :id, :version) /*end*/
  /*given later*/ AND (retired_at, id, version) > (:later, :id, :version) /*end*/
ORDER BY /*given oldest*/ retired_at, id, version /*else*/ retired_at DESC, id DESC, version DESC /*end*/
LIMIT :limit;

-- name: fact_successors
-- Some versions of facts; the newest that was recorded by a time, where the number is 0. The plus keeps SQLite from
-- reading all facts by their time instead of the few versions of each.
SELECT f.id, f.version, f.content, pairs.number FROM pairs(:ids, :numbers)
JOIN facts f ON f.space_id = :space AND f.id = pairs.id AND f.version = CASE
    WHEN pairs.number > 0 THEN pairs.number
    ELSE (SELECT max(n.version) FROM facts n WHERE n.space_id = :space AND n.id = pairs.id AND +n.recorded_at <= :until)
    END;
