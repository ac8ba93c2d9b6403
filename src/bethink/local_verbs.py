"""Which function carries out which verb on a database in this process.

Each service is imported by the first request that needs it: most processes use few of them.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bethink.handles import Handlers
from bethink.model.recall import RefKind
from bethink.model.verbs import memory, service, sessions
from bethink.model.verbs.base import Verb

if TYPE_CHECKING:
    from bethink.backend import Local


def _installation(local: "Local") -> Handlers:
    return (
        Handlers()
        .on(service.LIST_SPACES, local.spaces)
        .on(service.AUDIT, local.audit)
        .on(service.LEARN, local.learn)
        .on(memory.LEARN_SPACE, local.learn)
        .on(memory.JOBS, local.jobs)
        .on(memory.CONSOLIDATE, local.consolidate)
    )


def _keys(local: "Local") -> Handlers:
    keys = local.keys()
    return (
        Handlers()
        .on(service.CREATE_KEY, keys.create)
        .on(service.LIST_KEYS, keys.all)
        .on(service.ROTATE_KEY, keys.rotate)
        .on(service.REVOKE_KEY, keys.revoke)
    )


def _sessions(local: "Local") -> Handlers:
    from bethink.log.service import SessionService  # noqa: PLC0415 - see the top

    has_model = lambda: local.parts.worker is not None and local.parts.worker().has_model  # noqa: E731
    found = SessionService(
        local.parts.database,
        redactor=local.parts.redactor,
        listeners=local.listeners(),
        has_model=has_model,
    )
    return (
        Handlers()
        .on(memory.REMEMBER, found.remember)
        .on(sessions.OPEN_SESSION, found.open)
        .on(sessions.FIND_SESSION, found.find)
        .on(sessions.LIST_SESSIONS, found.all)
        .on(sessions.GET_SESSION, found.get)
        .on(sessions.APPEND, found.append)
        .on(sessions.READ_MESSAGES, found.read)
        .on(sessions.TRANSCRIPT, found.transcript)
        .on(sessions.END_TURN, found.end_turn)
        .on(sessions.IDLE, found.idle)
        .on(sessions.RESET, found.reset)
        .on(sessions.COMPACTED, found.compacted)
        .on(sessions.END, found.end)
        .on(sessions.RETRY, found.retry)
        .on(sessions.SESSION_MEMORY, found.summary)
    )


def _recall(local: "Local") -> Handlers:
    # A searcher is created for each request: an embedder that was missing may be available by now.
    made = local.parts.searcher
    return (
        Handlers()
        .on(memory.RECALL, lambda space, request: made().recall(space, request))
        .on(memory.CONTEXT, lambda space, request: made().context(space, request))
        .on(memory.EXPLAIN, lambda space, request: made().explain(space, request))
        .on(memory.USED, lambda space, request: made().used(space, request))
        .on(memory.SHOWN, lambda space, request: made().shown(space, request))
        .on(sessions.CITED, lambda space, request: made().cited(space, request))
    )


def _asking(local: "Local") -> Handlers:
    from bethink.services import asking_handlers  # noqa: PLC0415 - see the top

    return Handlers(asking_handlers(local.parts.answering))


def _pages(local: "Local") -> Handlers:
    from bethink.services import page_handlers  # noqa: PLC0415 - see the top

    return Handlers(page_handlers(local.parts.database, local.parts.settings))


def _files(local: "Local") -> Handlers:
    from bethink.files.service import FileService  # noqa: PLC0415 - see the top
    from bethink.model.verbs import files  # noqa: PLC0415

    parts = local.parts
    found = FileService(parts.database, redactor=parts.redactor, listeners=local.listeners())
    return Handlers().on(files.ADD_FILE, found.add)


def _forgetting(local: "Local") -> Handlers:
    from bethink.forgetting.forget import ForgetService  # noqa: PLC0415 - see the top

    found = ForgetService(local.parts.database, redactor=local.parts.redactor, files_folder=local.parts.files_folder)
    return Handlers(found.handlers())


def _retracting(local: "Local") -> Handlers:
    from bethink.forgetting.retract import RetractService  # noqa: PLC0415 - see the top

    return Handlers().on(sessions.RETRACT, RetractService(local.parts.database).retract)


def _retention(local: "Local") -> Handlers:
    from bethink.services import retention_service  # noqa: PLC0415 - see the top

    parts = local.parts
    return Handlers(retention_service(parts.database, parts.settings, redactor=parts.redactor).handlers())


def _people(local: "Local") -> Handlers:
    from bethink.services import people_handlers  # noqa: PLC0415 - see the top

    parts = local.parts
    found = people_handlers(parts.database, parts.redactor, files_folder=parts.files_folder, run=local.run)
    return Handlers(found)


def _relearning(local: "Local") -> Handlers:
    from bethink.services import relearn_handlers  # noqa: PLC0415 - see the top

    return Handlers(relearn_handlers(local.relearning))


def _steering(local: "Local") -> Handlers:
    from bethink.services import steering_handlers  # noqa: PLC0415 - see the top

    return Handlers(steering_handlers(local.parts.database, local.parts.redactor, local.worker))


def _correcting(local: "Local") -> Handlers:
    from bethink.documents.service import DocumentService  # noqa: PLC0415 - see the top
    from bethink.facts.service import FactService  # noqa: PLC0415

    parts = local.parts
    correct = {
        RefKind.FACT: FactService(parts.database, redactor=parts.redactor).correct,
        RefKind.DOCUMENT: DocumentService(parts.database, redactor=parts.redactor).correct,
    }
    return Handlers().on(memory.CORRECT, lambda space, request: correct[request.ref.kind](space, request))


def _facts(local: "Local") -> Handlers:
    from bethink.facts.service import FactService  # noqa: PLC0415 - see the top
    from bethink.model.verbs import facts  # noqa: PLC0415

    found = FactService(local.parts.database, redactor=local.parts.redactor)
    return (
        Handlers()
        .on(facts.LIST_FACTS, found.all)
        .on(facts.PAGE_FACTS, found.page)
        .on(facts.SEARCH_FACTS, found.search)
        .on(facts.FACTS_BY_METADATA, found.by_metadata)
        .on(facts.COUNT_FACTS, found.count)
        .on(facts.GET_FACT, found.get)
        .on(facts.SAVE_FACT, found.save)
        .on(facts.FACT_VERSIONS, found.versions)
        .on(facts.FACT_SOURCES, found.sources)
        .on(facts.FACT_QUOTES, found.quotes)
    )


def _reviews(local: "Local") -> Handlers:
    from bethink.facts.reviews import ReviewService  # noqa: PLC0415 - see the top
    from bethink.model.verbs import reviews  # noqa: PLC0415

    found = ReviewService(local.parts.database, redactor=local.parts.redactor)
    return (
        Handlers()
        .on(reviews.LIST_REVIEWS, found.all)
        .on(reviews.COUNT_REVIEWS, found.count)
        .on(reviews.GET_REVIEW, found.get)
        .on(reviews.PROPOSE_REVIEW, found.propose)
        .on(reviews.APPROVE_REVIEW, found.approve)
        .on(reviews.REJECT_REVIEW, found.reject)
        .on(reviews.APPROVE_REVIEWS, found.approve_all)
        .on(reviews.REJECT_REVIEWS, found.reject_all)
    )


def _rules(local: "Local") -> Handlers:
    from bethink.learning.steering import RulesService  # noqa: PLC0415 - see the top
    from bethink.model.verbs import rules  # noqa: PLC0415

    found = RulesService(local.parts.database, redactor=local.parts.redactor)
    return Handlers().on(rules.GET_RULES, found.get).on(rules.SET_RULES, found.set)


def _documents(local: "Local") -> Handlers:
    from bethink.documents.service import DocumentService  # noqa: PLC0415 - see the top
    from bethink.model.verbs import documents  # noqa: PLC0415

    found = DocumentService(local.parts.database, redactor=local.parts.redactor)
    return (
        Handlers()
        .on(documents.TREE, found.tree)
        .on(documents.SEARCH_DOCUMENTS, found.search)
        .on(documents.FIND_DOCUMENT, found.find)
        .on(documents.CHILDREN, found.children)
        .on(documents.OUTLINE, found.outline)
        .on(documents.GET_DOCUMENT, found.get)
        .on(documents.CREATE_DOCUMENT, found.create)
        .on(documents.UPDATE_DOCUMENT, found.update)
        .on(documents.WRITTEN, found.written)
        .on(documents.DELETE_DOCUMENT, found.delete)
        .on(documents.RESTORE_DOCUMENT, found.restore)
        .on(documents.DOCUMENT_VERSIONS, found.versions)
        .on(documents.DOCUMENT_HISTORY, found.history)
        .on(documents.BLAME, found.blame)
        .on(documents.DIFF_DOCUMENT, found.diff)
        .on(documents.DOCUMENT_SOURCES, found.sources)
        .on(documents.FILES, found.files)
        .on(documents.LIST_CHANGES, found.changes)
        .on(documents.APPROVE, found.approve)
        .on(documents.REJECT, found.reject)
        .on(documents.UNDO, found.undo)
    )


def _threads(local: "Local") -> Handlers:
    from bethink.services import thread_handlers  # noqa: PLC0415 - see the top

    return Handlers(thread_handlers(local.working))


def _tests(local: "Local") -> Handlers:
    from bethink.model.verbs import tests  # noqa: PLC0415 - see the top
    from bethink.recall.memory_tests import MemoryTestService  # noqa: PLC0415

    parts = local.parts
    found = MemoryTestService(parts.database, searcher=parts.searcher, redactor=parts.redactor)
    return (
        Handlers()
        .on(tests.ADD_TEST, found.add)
        .on(tests.LIST_TESTS, found.all)
        .on(tests.REMOVE_TEST, found.remove)
        .on(tests.RUN_TESTS, found.run)
    )


def _changes(local: "Local") -> Handlers:
    from bethink.model.verbs import changes  # noqa: PLC0415 - see the top
    from bethink.telling.changes import ChangeService  # noqa: PLC0415

    background = local.parts.background
    found = ChangeService(local.parts.database, begin=None if background is None else background.begin)
    return Handlers().on(changes.CHANGES, found.changes).on(changes.LEARNT, found.learnt)


def _webhooks(local: "Local") -> Handlers:
    from bethink.model.verbs import changes  # noqa: PLC0415 - see the top
    from bethink.telling.webhooks import WebhookService  # noqa: PLC0415

    found = WebhookService(local.parts.database, allow_private=local.parts.allow_private)
    return (
        Handlers()
        .on(changes.CREATE_WEBHOOK, found.create)
        .on(changes.LIST_WEBHOOKS, found.all)
        .on(changes.DELETE_WEBHOOK, found.delete)
        .on(changes.DELIVERIES, found.deliveries)
    )


_PAGES = (
    "space.timeline", "space.page_jobs", "space.job", "space.retry_job", "space.spending", "memory.page_jobs",
    "memory.spending", "memory.settings", "memory.held", "memory.page_spaces", "memory.counters", "space.summary",
    "space.page_shown", "memory.access",
)  # fmt: skip
_PEOPLE = tuple(f"{handle}.{verb}_person" for handle in ("space", "memory") for verb in ("find", "export", "forget"))
_RELEARNING = ("space.relearn", "space.apply_relearning", "space.undo_relearning")
_STEERING = ("space.preview", "space.pin", "space.unpin", "space.pins", "space.feedback")
_LOADED: tuple[tuple[tuple[Verb[Any, Any], ...], Callable[["Local"], Handlers]], ...] = (
    (sessions.VERBS, _sessions),
    ((memory.REMEMBER,), _sessions),
    ((memory.RECALL, memory.CONTEXT, memory.EXPLAIN, memory.USED, memory.SHOWN, sessions.CITED), _recall),
    ((memory.FORGET,), _forgetting),
    ((sessions.RETRACT,), _retracting),
    (
        (memory.JOBS, memory.CONSOLIDATE, memory.LEARN_SPACE, service.LIST_SPACES, service.AUDIT, service.LEARN),
        _installation,
    ),
    ((memory.CORRECT,), _correcting),
    ((service.CREATE_KEY, service.LIST_KEYS, service.ROTATE_KEY, service.REVOKE_KEY), _keys),
)
_SERVICES: dict[str, Callable[["Local"], Handlers]] = {
    **{verb.name: load for verbs, load in _LOADED for verb in verbs},
    "space.ask": _asking,
    "space.add_file": _files,
    "facts": _facts,
    "reviews": _reviews,
    "rules": _rules,
    "documents": _documents,
    "threads": _threads,
    "tests": _tests,
    **dict.fromkeys(_PAGES, _pages),
    **dict.fromkeys(_PEOPLE, _people),
    **dict.fromkeys(_RELEARNING, _relearning),
    **dict.fromkeys(_STEERING, _steering),
    "retention": _retention,
    "memory.legal_holds": _retention,
    "memory.lift_legal_hold": _retention,
    "space.erasures": _forgetting,
    "memory.open_erasures": _forgetting,
    "space.changes": _changes,
    "session.learnt": _changes,
    "webhooks": _webhooks,
}
"""What makes the functions for a verb, by its name or else by its handle."""


def handlers_of(verb: Verb[Any, Any], local: "Local") -> Handlers:
    """Return the functions that carry out a verb and those that belong with it, on a memory in this process."""
    load = _SERVICES.get(verb.name) or _SERVICES[verb.handle]
    return load(local)
