"""The names of spans and metrics. The conventions still change, so they are written down once, here."""

NAMESPACE = "bethink"
"""What every metric's name begins with."""

CAPTURE_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""The variable that lets questions and memories into spans; without it they hold ids and counts."""

OPERATION = "gen_ai.operation.name"
STORE_ID = "gen_ai.memory.store.id"
RECORD_ID = "gen_ai.memory.record.id"
RECORD_COUNT = "gen_ai.memory.record.count"
QUERY_TEXT = "gen_ai.memory.query.text"
RECORDS = "gen_ai.memory.records"
ERROR_TYPE = "error.type"
