-- columns: fact
id, version, content, kind, origin, source, tags, metadata, entities, subject, slot, valid_from, valid_to,
created_at, recorded_at, retired_at, retired_by, model, prompt, extractor, evidence, speaker, scope, happened_from,
happened_to, flags, ended_by, ended_as, doubted_by, doubted_at, expires_at, pinned_at, unpinned_at;

-- expression: is_in_view(f)
f.created_at <= :said AND f.recorded_at <= :known
    AND (f.retired_at IS NULL OR f.retired_at > :known OR f.retired_by = f.id)
    AND NOT EXISTS (
        SELECT 1 FROM facts newer
        WHERE newer.space_id = f.space_id AND newer.id = f.id AND newer.version > f.version
          AND newer.created_at <= :said AND newer.recorded_at <= :known
    );

-- name: insert_fact
-- Insert a fact. A learned fact has an effect key, which is rejected a second time.
INSERT INTO facts (space_id, id, version, content, kind, origin, source, tags, metadata, entities, subject, slot,
                   valid_from, valid_to, created_at, recorded_at, digest, effect, token, model, prompt, extractor,
                   evidence, speaker, scope, happened_from, happened_to, flags, expires_at, pinned_at)
VALUES (:space, :id, :version, :content, :kind, :origin, :source, :tags, :metadata, :entities, :subject, :slot,
        :valid_from, :valid_to, :created_at, :now, :digest, :effect, :token, :model, :prompt, :extractor,
        :evidence, :speaker, :scope, :happened_from, :happened_to, :flags, :expires_at, :pinned_at);

-- name: retire_fact
-- Mark a fact as replaced. It can still be found as of an earlier time.
UPDATE facts SET retired_at = :now, retired_by = :by, ended_as = NULL
WHERE space_id = :space AND id = :id AND retired_at IS NULL;

-- name: mark_fact_stated
-- Record that a person approved the current version of a fact.
UPDATE facts SET evidence = 'stated' WHERE space_id = :space AND id = :id AND retired_at IS NULL;

-- name: mark_version_corrected
-- Record that a person corrected or rejected a version of a fact, unless it is hidden.
UPDATE facts SET ended_as = 'corrected'
WHERE space_id = :space AND id = :id AND version = :version AND retired_by IN (id, '') AND retired_at IS NOT NULL
  AND (ended_as IS NULL OR ended_as <> 'hidden');

-- name: renew_fact
-- Postpone the expiry of a fact, because it was said again.
UPDATE facts SET expires_at = :at
WHERE space_id = :space AND id = :id AND retired_at IS NULL AND expires_at < :at;

-- name: pin_fact
-- Pin the current version of a fact, unless it is pinned.
UPDATE facts SET pinned_at = :now, unpinned_at = NULL
WHERE space_id = :space AND id = :id AND retired_at IS NULL AND (pinned_at IS NULL OR unpinned_at IS NOT NULL);

-- name: unpin_fact
-- Unpin a fact, and record when.
UPDATE facts SET unpinned_at = :now
WHERE space_id = :space AND id = :id AND retired_at IS NULL AND pinned_at IS NOT NULL AND unpinned_at IS NULL;

-- name: last_fact_version
-- The newest version of a fact; deleted ones that were shown count, so that their refs are not reused.
SELECT max(version) AS version FROM (
    SELECT version FROM facts WHERE space_id = :space AND id = :id
    UNION ALL SELECT number FROM ledger_items WHERE space_id = :space AND kind = 'fact' AND id = :id
) AS known;

-- name: find_fact
-- The current version of a fact.
SELECT fact_columns() FROM facts
WHERE space_id = :space AND id = :id AND retired_at IS NULL;

-- name: origins_of_facts
-- The origins of some facts, as far as they are current.
SELECT id, origin FROM facts WHERE space_id = :space AND id in_list(:ids) AND retired_at IS NULL;

-- name: fact_versions
-- Every version of a fact, oldest first.
SELECT fact_columns() FROM facts WHERE space_id = :space AND id = :id ORDER BY version;

-- name: learned_fact
-- The version of a fact that was learned from messages; later versions were written by hand.
SELECT fact_columns() FROM facts
WHERE space_id = :space AND id = :id AND effect IS NOT NULL ORDER BY version LIMIT 1;

-- name: learned_effect
-- The effect key under which a fact was first learned.
SELECT effect FROM facts WHERE space_id = :space AND id = :id AND effect IS NOT NULL ORDER BY version LIMIT 1;

-- name: facts_saying
-- Current facts with the same words in another spelling.
SELECT fact_columns() FROM facts
WHERE space_id = :space AND digest = :digest AND retired_at IS NULL ORDER BY recorded_at, id;

-- name: facts_in_slot
-- Current facts about the value of a slot.
SELECT fact_columns() FROM facts
WHERE space_id = :space AND subject = :subject AND slot = :slot AND slot IS NOT NULL
  AND retired_at IS NULL ORDER BY recorded_at, id;

-- name: list_attributes
-- Valid facts that can have only one value at a time, the newest first.
SELECT fact_columns() FROM facts
WHERE space_id = :space AND slot IS NOT NULL AND retired_at IS NULL AND (valid_to IS NULL OR valid_to > :now)
  AND (expires_at IS NULL OR expires_at > :now)
ORDER BY created_at DESC, id DESC LIMIT :limit;

-- name: list_wishes
-- Preferences and instructions that are valid at a time, the newest first.
SELECT fact_columns() FROM facts
WHERE space_id = :space AND kind in_list(:kinds) AND origin = 'user' AND retired_at IS NULL
  AND (valid_to IS NULL OR valid_to > :now) AND (expires_at IS NULL OR expires_at > :now)
ORDER BY created_at DESC, id LIMIT :limit;

-- name: search_facts
-- Some facts with their terms, if they had been said and learned.
SELECT t.terms_packed AS terms, t.hits, t.doc, fact_columns(f)
FROM (SELECT doc, id, number, packed(terms) AS terms_packed, hits FROM terms WHERE doc in_list(:docs)) t
JOIN facts f ON f.space_id = :space AND f.id = t.id AND f.version = t.number
WHERE /*given now*/ f.retired_at IS NULL /*else*/ is_in_view(f) /*end*/
ORDER BY f.id;

-- name: list_facts
-- Every fact that had been said and learned, oldest first. Ended ones are included.
SELECT fact_columns(f) FROM facts f
WHERE f.space_id = :space AND /*given now*/ f.retired_at IS NULL /*else*/ is_in_view(f) /*end*/ /*only(fact f)*/
ORDER BY f.recorded_at, f.id;

-- name: page_facts
-- The facts that had been said and learned, ordered by id, after one. Now, ended and expired facts are left out.
SELECT fact_columns(f) FROM facts f
WHERE f.space_id = :space AND f.id > :after AND
  /*given now*/ f.retired_at IS NULL AND (f.valid_to IS NULL OR f.valid_to > :now)
  AND (f.expires_at IS NULL OR f.expires_at > :now) /*else*/ is_in_view(f) /*end*/
  /*only(fact f)*/
ORDER BY f.id LIMIT :limit;

-- name: delete_fact
-- Remove all versions of a fact.
DELETE FROM facts WHERE space_id = :space AND id = :id;

-- name: list_unsupported_facts
-- Learned facts without any remaining source message.
SELECT DISTINCT f.id FROM facts f WHERE f.space_id = :space AND f.effect IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM fact_sources s WHERE s.space_id = f.space_id AND s.fact_id = f.id
);

-- name: delete_fact_sources
-- Remove the sources of a fact.
DELETE FROM fact_sources WHERE space_id = :space AND fact_id = :id;

-- name: count_facts
-- The number of current facts in a space. Ended and expired facts are not counted.
SELECT count(*) AS count FROM facts
WHERE space_id = :space AND retired_at IS NULL
  AND (valid_to IS NULL OR valid_to > :now) AND (expires_at IS NULL OR expires_at > :now);

-- name: insert_fact_source
-- Add a source message to a fact, once.
INSERT INTO fact_sources (space_id, fact_id, session_id, number) VALUES (:space, :fact, :session, :number)
ON CONFLICT (space_id, fact_id, session_id, number) DO NOTHING;

-- name: drop_message_sources
-- Remove a message from the sources of facts.
DELETE FROM fact_sources WHERE space_id = :space AND session_id = :session AND number = :number;

-- name: drop_message_quotes
-- Delete the quotes of a message.
DELETE FROM fact_quotes WHERE space_id = :space AND session_id = :session AND number = :number;

-- name: fact_sources
-- The source messages of a fact, in order.
SELECT session_id, number FROM fact_sources WHERE space_id = :space AND fact_id = :id ORDER BY session_id, number;

-- name: fact_last_said
-- When the newest source message of a fact was said.
SELECT max(m.said_at) AS at FROM fact_sources s
JOIN messages m ON m.space_id = s.space_id AND m.session_id = s.session_id AND m.number = s.number
WHERE s.space_id = :space AND s.fact_id = :id;

-- name: all_fact_sources
-- The source messages of every fact of a space, in order.
SELECT fact_id, session_id, number FROM fact_sources WHERE space_id = :space ORDER BY fact_id, session_id, number;

-- name: facts_stated_by
-- The facts learned from some messages, or from entire sessions (number 0), in all versions. Each fact is read once,
-- however many messages lead to it.
WITH cited AS (
    SELECT DISTINCT s.session_id, s.number, s.fact_id FROM pairs(:ids, :numbers)
    JOIN fact_sources s ON s.space_id = :space AND s.session_id = pairs.id
        AND s.number BETWEEN pairs.number AND CASE WHEN pairs.number = 0 THEN :no_limit ELSE pairs.number END
)
SELECT f.id, f.version, f.content, f.valid_from, f.valid_to, f.expires_at, f.created_at, f.retired_at, f.retired_by,
       f.ended_by, f.ended_as, f.doubted_by, f.doubted_at, cited.session_id, cited.number, f.effect
FROM cited JOIN facts f ON f.space_id = :space AND f.id = cited.fact_id
WHERE f.recorded_at <= :known
ORDER BY f.id, f.version, cited.session_id, cited.number;

-- name: newest_versions
-- The versions of some facts that were the newest in a view.
SELECT f.id, f.version, f.content, f.valid_from, f.valid_to, f.expires_at, f.created_at, f.retired_at, f.retired_by,
       f.ended_by, f.ended_as, f.doubted_by, f.doubted_at
FROM facts f WHERE f.space_id = :space AND f.id in_list(:ids) AND f.version = (
    SELECT max(n.version) FROM facts n
    WHERE n.space_id = :space AND n.id = f.id AND n.recorded_at <= :known AND n.created_at <= :said
);

-- name: confidential_sources
-- Those of some messages, or entire sessions (number 0), that state a fact with one of the flags. The newest version
-- of a fact decides, whatever time a question asks about: a later request for confidence covers earlier messages.
SELECT DISTINCT pairs.id, pairs.number FROM pairs(:ids, :numbers)
JOIN fact_sources s ON s.space_id = :space AND s.session_id = pairs.id
    AND s.number BETWEEN pairs.number AND CASE WHEN pairs.number = 0 THEN :no_limit ELSE pairs.number END
JOIN facts f ON f.space_id = :space AND f.id = s.fact_id
    AND f.version = (SELECT max(version) FROM facts WHERE space_id = :space AND id = s.fact_id)
WHERE CAST(f.flags AS TEXT) LIKE :confidential OR CAST(f.flags AS TEXT) LIKE :health
    OR CAST(f.flags AS TEXT) LIKE :money OR CAST(f.flags AS TEXT) LIKE :child OR CAST(f.flags AS TEXT) LIKE :third_party;

-- name: insert_fact_quote
-- Add one of the quotes that support a fact, once.
INSERT INTO fact_quotes (space_id, fact_id, support, place, session_id, number, text, context, statement, parts)
VALUES (:space, :fact, :support, :place, :session, :number, :text, :context, :statement, :parts)
ON CONFLICT (space_id, fact_id, support, place) DO NOTHING;

-- name: fact_quotes
-- The quotes of a fact, one occurrence after the other.
SELECT support, place, session_id, number, text, context, statement, parts FROM fact_quotes
WHERE space_id = :space AND fact_id = :id ORDER BY support, place;

-- name: delete_broken_supports
-- Delete the remaining quotes and statements of occurrences that have lost a quote.
DELETE FROM fact_quotes WHERE space_id = :space AND fact_id in_list(:ids) AND parts > (
    SELECT count(*) FROM fact_quotes q
    WHERE q.space_id = :space AND q.fact_id = fact_quotes.fact_id AND q.support = fact_quotes.support
);

-- name: delete_fact_quotes
-- Remove the quotes of a fact.
DELETE FROM fact_quotes WHERE space_id = :space AND fact_id = :id;
