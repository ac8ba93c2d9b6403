"""What is purged or deleted is gone: from every kind of memory, every version of it, and as of every day."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from benchmarks.lifecycle_lives import HOME
from benchmarks.lifecycle_model import NOTES
from benchmarks.lifecycle_stage import Goal, Names, Stage, Tally, assistant, conversation, tool, user
from bethink import Message
from bethink.errors import NotFoundError
from bethink.model.recall import Candidate
from bethink.model.refs import Ref, RefKind


@dataclass(frozen=True, slots=True, kw_only=True)
class _Secret:
    """Something that is to be forgotten: in its own conversation, under a word that is said nowhere else."""

    space: str
    chat: str
    word: str
    purged: bool
    refs: tuple[Ref, ...] = ()


async def forgetting(stage: Stage, cases: int) -> list[Tally]:
    """Purge conversations and delete facts; then look for them everywhere, at every time, before and after learning."""
    times = [stage.clock.time]
    secrets = await _confide(stage, cases, times)
    spaces = sorted({secret.space for secret in secrets})
    for secret in secrets:
        await _forget(stage, secret)
    times.append(stage.pass_days(1))
    tally = Tally(name="forgetting: what is gone and still shows", goal=Goal.NONE)
    for secret in secrets:
        await _look(stage, secret, times, tally)
    for space in spaces:
        await stage.talk(space, "after", [user("Hello again."), user("I like cake.")])
    await stage.learn()
    times.append(stage.pass_days(5))
    for secret in secrets:
        await _look(stage, secret, times, tally)
    return [tally, await _what_is_left(stage, spaces, times)]


async def _confide(stage: Stage, cases: int, times: list[datetime]) -> list[_Secret]:
    """Tell what is to be forgotten, some of it too late to be learnt, and note where it can then be found."""
    names = Names(stage.dice)
    # In a space either conversations are purged or facts deleted: one must not do the other's work.
    spaces = max(4, cases // 4)
    places = [number % spaces for number in range(cases)]
    secrets = [
        _Secret(space=f"forget-{place}", chat=f"secret-{number}", word=names.new(), purged=place % 2 == 0)
        for number, place in enumerate(places)
    ]
    for number, space in enumerate({secret.space: None for secret in secrets}):
        if number % 4 >= 2:  # half of the spaces of either kind
            stage.delay(space)
        await stage.talk(space, "before", [user("Hello."), user(f"I live in {names.new()}."), user("I like tea.")])
    late = [secret for secret in secrets if secret.purged][::5]
    for secret in secrets:
        if secret not in late:
            await stage.talk(secret.space, secret.chat, _confession(stage, secret.word))
    times.append(stage.pass_days(1))
    await stage.learn()
    times.append(stage.pass_days(5))
    await stage.import_late()
    for secret in late:
        await stage.talk(secret.space, secret.chat, _confession(stage, secret.word))
    times.append(stage.pass_days(1))
    return [await _known_refs(stage, secret, times) for secret in secrets]


def _confession(stage: Stage, word: str) -> Sequence[Message]:
    said = stage.dice.choice(["My therapist is {}.", "I moved to {}.", "My favourite singer is {}."]).format(word)
    return [user("Hello."), user(said), assistant("I see."), tool("Nothing found.")]


async def _known_refs(stage: Stage, secret: _Secret, times: Iterable[datetime]) -> _Secret:
    refs: set[Ref] = set()
    for at in times:
        found = await stage.memory.space(secret.space).recall(secret.word, as_of=at, explain=True, limit=50)
        refs |= {each.ref for each in found.candidates if _holds(each, secret)}
    return replace(secret, refs=tuple(sorted(refs)))


async def _forget(stage: Stage, secret: _Secret) -> None:
    space = stage.memory.space(secret.space)
    if secret.purged:
        await space.forget(conversation=conversation(secret.chat))
        return
    for fact in {ref.id: ref for ref in secret.refs if ref.kind is RefKind.FACT}.values():
        await space.forget(fact)


def _holds(candidate: Candidate, secret: _Secret) -> bool:
    # Who deletes a fact has not taken back the message: that, and the notes on its session, stay.
    kinds = set(RefKind) if secret.purged else {RefKind.FACT, RefKind.DOCUMENT}
    return candidate.ref.kind in kinds and secret.word.casefold() in candidate.text.casefold()


async def _look(stage: Stage, secret: _Secret, times: Sequence[datetime], tally: Tally) -> None:
    questions = (secret.word, "Who is my therapist?", HOME.asked, "Who is my favourite singer?")
    case = f"{secret.space} {secret.word} {'purged' if secret.purged else 'deleted'}"
    kinds = set(RefKind) if secret.purged else {RefKind.FACT, RefKind.DOCUMENT}
    for at in (None, *times):
        for question in questions:
            found = await stage.memory.space(secret.space).recall(question, as_of=at, explain=True, limit=50)
            still = [(each.ref, each.fate) for each in found.candidates if _holds(each, secret)]
            tally.add(bool(still), f"{case}, as of {at}, asked {question!r}: {still}")
        block = await stage.memory.space(secret.space).context(as_of=at, question=secret.word)
        shown = [item for item in block.items if item.ref.kind in kinds and secret.word in item.text]
        tally.add(bool(shown) or (secret.purged and secret.word in block.text), f"{case}, in a block as of {at}")
    for ref in secret.refs:
        tally.add(await _is_traced(stage, secret, ref), f"{case}, explained: {ref}")
    documents = stage.memory.space(secret.space).documents
    for each in await documents.list():
        for version in await documents.versions(each.id):
            tally.add(secret.word in version.body, f"{case}, in {version.slug}, version {version.version}")


async def _is_traced(stage: Stage, secret: _Secret, ref: Ref) -> bool:
    try:
        lineage = await stage.memory.space(secret.space).explain(ref)
    except NotFoundError:
        return False
    said = f"{lineage}" if secret.purged else f"{lineage.text} {lineage.versions}"
    return secret.word in said


async def _what_is_left(stage: Stage, spaces: Sequence[str], times: Sequence[datetime]) -> Tally:
    """Make sure that not everything was forgotten."""
    tally = Tally(name="forgetting: what was to stay and is there", goal=Goal.ALL)
    for space in spaces:
        for question, word in ((HOME.asked, "live"), ("Do I like tea?", "tea"), ("Do I like cake?", "cake")):
            found = await stage.memory.space(space).recall(question, as_of=times[-1])
            tally.add(any(word in item.text for item in found.items), f"{space}: {question!r}")
        found = await stage.memory.space(space).documents.find(NOTES)
        body = "" if found is None else found.body
        tally.add("tea" in body and "cake" in body, f"{space}: {body!r}")
    return tally
