-- name: page_facts_recorded
-- Versions of facts that match the given values, by when they were recorded, without those that a person asked to
-- forget or that a merge gave to another fact at once. is_older: a later version had been stored.
SELECT fact_columns(), EXISTS (
    SELECT 1 FROM facts newer
    WHERE newer.space_id = :space AND newer.id = facts.id AND newer.version > facts.version
      AND newer.recorded_at <= :known AND newer.created_at <= :said
) AS is_older FROM facts
WHERE space_id = :space AND recorded_at <= :known AND created_at <= :said AND NOT EXISTS (
    SELECT 1 FROM facts h WHERE h.space_id = facts.space_id AND h.id = facts.id AND h.ended_as = 'hidden'
      AND h.retired_at IS NOT NULL
  ) AND NOT (retired_at IS NOT NULL AND retired_at = recorded_at AND COALESCE(retired_by, '') NOT IN ('', id))
  /*given subject*/ AND subject = :subject /*end*/
  /*given slot*/ AND slot = :slot /*end*/
  /*given kind*/ AND kind = :kind /*end*/
  /*given origin*/ AND origin = :origin /*end*/
  /*given lasting*/ AND retired_at IS NULL AND (valid_to IS NULL OR valid_to > :lasting)
  AND (expires_at IS NULL OR expires_at > :lasting) /*end*/
  /*given upcoming*/ AND valid_from > :upcoming /*end*/
  /*given doubted*/ AND doubted_at <= :doubted /*end*/
  /*given ended*/ AND retired_at IS NULL
  AND ((valid_to <= :ended AND COALESCE(ended_as, 'ended') = 'ended') OR expires_at <= :ended) /*end*/
  /*given corrected*/ AND ended_as = 'corrected' AND (retired_at IS NOT NULL OR valid_to <= :corrected) /*end*/
  /*given pending*/ AND retired_by = '' AND retired_at <= :pending /*end*/
  /*given replaced*/ AND (retired_by <> '' OR ended_as = 'replaced')
  AND (retired_at IS NOT NULL OR valid_to <= :replaced) /*end*/
  /*given older*/ AND (recorded_at, id, version) < (:older, :id, :version) /*end*/
  /*given later*/ AND (recorded_at, id, version) > (:later, :id, :version) /*end*/
ORDER BY /*given oldest*/ recorded_at, id, version /*else*/ recorded_at DESC, id DESC, version DESC /*end*/
LIMIT :limit;

-- name: fact_successors
-- Some versions of facts; the newest that was recorded by a time, where the number is 0. The plus keeps SQLite from
-- reading all facts by their time instead of the few versions of each.
SELECT f.id, f.version, f.content, pairs.number FROM pairs(:ids, :numbers)
JOIN facts f ON f.space_id = :space AND f.id = pairs.id AND f.version = CASE
    WHEN pairs.number > 0 THEN pairs.number
    ELSE (SELECT max(n.version) FROM facts n WHERE n.space_id = :space AND n.id = pairs.id AND +n.recorded_at <= :until)
    END;
