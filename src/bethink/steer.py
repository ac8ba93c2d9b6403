"""Look at what would be learnt, with what a worker learns with."""

from bethink.errors import Invalid
from bethink.learning.extraction.extract import Extractor
from bethink.learning.extraction.preview import Previewer
from bethink.model.jobs import JobKind
from bethink.model.preview import Preview
from bethink.model.verbs.steering import PreviewRequest
from bethink.worker import Worker


async def preview(worker: Worker, space: str, request: PreviewRequest) -> Preview:
    """Learn from messages without storing anything."""
    extractor = worker.handler(JobKind.EXTRACT)
    if not isinstance(extractor, Extractor):
        raise Invalid("there is nothing to learn with.", hint="Set model, such as 'openai:NAME'.")
    return await Previewer(extractor=extractor, daily_cap=worker.options.daily_cap).preview(space, request)
