-- What was only quoted is not used up: a model, once there is one, learns from it. Whatever was done without a call
-- to a model was quoted.
ALTER TABLE jobs ADD COLUMN quoted_from bigint;
CREATE INDEX jobs_quoted ON jobs (queued_at) WHERE quoted_from IS NOT NULL;
UPDATE jobs SET quoted_from = 0 WHERE kind = 'extract' AND calls = 0 AND success_watermark > 0;
