"""The line that a message answers: the question directly before it, by another speaker."""

from collections.abc import Mapping

from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.signals.exchange import answers
from bethink.memory.recall.truth import Truth
from bethink.memory.recall.tuning import Tuning
from bethink.model.operations.memory import RecallRequest
from bethink.model.refs import Ref, RefKind
from bethink.store import search
from bethink.store.db import Tx
from bethink.store.search import Text


def questions_before(
    tx: Tx, space: str, request: RecallRequest, *, question: ParsedQuestion, truth: Truth, tuning: Tuning
) -> Mapping[Ref, Text]:
    """Return the questions that the best messages answer. The filter of the request applies to them, too."""
    best = [candidate.ref for candidate in truth.ranked if candidate.fate is None][: request.limit + tuning.exchanges]
    before = {
        ref: Ref(ref.kind, ref.id, ref.number - 1) for ref in best if ref.kind is RefKind.MESSAGE and ref.number > 1
    }
    missing = {ref for ref in before.values() if ref not in truth.texts}
    texts = search.texts(tx, space=space, refs=missing, view=request.view, only=request.only) if missing else {}
    pairs = {ref: truth.texts.get(earlier) or texts.get(earlier) for ref, earlier in before.items()}
    return {
        ref: text
        for ref, text in pairs.items()
        if text is not None and text.fate is None and answers(text, truth.texts[ref], question.language, tuning)
    }
