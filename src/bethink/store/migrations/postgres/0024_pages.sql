-- Pages of a memory: facts by time, and sessions by state.
CREATE INDEX facts_recorded ON facts (space_id, recorded_at, id, version);
CREATE INDEX facts_retired ON facts (space_id, retired_at, id, version) WHERE retired_at IS NOT NULL;
CREATE INDEX facts_about ON facts (space_id, subject, recorded_at, id, version) WHERE subject IS NOT NULL;
CREATE INDEX facts_of_slot ON facts (space_id, slot, recorded_at, id, version) WHERE slot IS NOT NULL;
CREATE INDEX facts_of_kind ON facts (space_id, kind, recorded_at, id, version);
CREATE INDEX sessions_marked ON sessions (space_id, id) WHERE invalidated_at IS NOT NULL;
CREATE INDEX sessions_ephemeral ON sessions (space_id, id) WHERE learns = 0;
CREATE INDEX jobs_failed ON jobs (space_id, kind, key) WHERE status IN ('failed', 'dead');
