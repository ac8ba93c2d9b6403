"""Routes of the service itself: jobs, spaces, audits, keys, health and metrics."""

from bethink.model.access import KeyInfo, NewKey, Scope
from bethink.model.jobs import Job
from bethink.server import metrics as figures
from bethink.server.bodies import KeyBody, RotateBody
from bethink.server.route import Call, Verb, Verbs
from bethink.server.wire import AuditView, Cursor, Done, Items, Limit, Name, Page, Standing, page, place_of
from bethink.worker import RunReport

verbs = Verbs("", "service")
_ADMIN = Scope.ADMIN


@verbs.add("GET", "/v1/spaces/{space}/jobs", Verb(scope=Scope.READ, answer=Items[Job]))
async def jobs(call: Call, space: Name, limit: Limit = 100) -> Items[Job]:
    """Return the jobs of a space, the newest promise first: where each stands, what it took, why it failed."""
    return Items(items=await call.memory.jobs(space=space, limit=limit))


@verbs.add("POST", "/v1/spaces/{space}/consolidate", Verb(scope=Scope.WRITE, answer=Done))
async def consolidate(call: Call, space: Name) -> Done:
    """Promise a consolidation; a worker does it."""
    await call.memory.consolidate(space=space)
    return Done(done=True)


@verbs.add("GET", "/v1/spaces", Verb(scope=_ADMIN, answer=Page[str]))
async def spaces(call: Call, limit: Limit = 100, cursor: Cursor = None) -> Page[str]:
    """Return the names of all spaces that hold anything, in order."""
    after = "" if cursor is None else place_of(cursor)
    found = await call.memory.spaces(limit=limit, after=after)
    return page(found, limit=limit, place=str)


@verbs.add("GET", "/v1/audit", Verb(scope=_ADMIN, answer=AuditView))
async def audit(call: Call) -> AuditView:
    """Count what waits, what was given up, what was spent today, and what must never be."""
    return AuditView.of(await call.memory.audit())


@verbs.add("POST", "/v1/learn", Verb(scope=_ADMIN, answer=RunReport), also=(502,))
async def learn(call: Call) -> RunReport:
    """Learn once from what is marked, in all spaces, and say what came of it."""
    return await call.memory.learn()


@verbs.add("GET", "/v1/keys", Verb(scope=_ADMIN, answer=Items[KeyInfo]))
async def keys(call: Call) -> Items[KeyInfo]:
    """Return every key there ever was, without its secret."""
    return Items(items=await call.door.access.list())


@verbs.add("POST", "/v1/keys", Verb(scope=_ADMIN, answer=NewKey, status=201))
async def create_key(call: Call, body: KeyBody) -> NewKey:
    """Make a key. Its text is in this answer and can never be read again."""
    return await call.door.access.create(
        name=body.name, scopes=body.scopes, spaces=body.spaces, expires_at=body.expires_at
    )


@verbs.add("POST", "/v1/keys/{prefix}/rotate", Verb(scope=_ADMIN, answer=NewKey, status=201), also=(409,))
async def rotate_key(call: Call, prefix: Name, body: RotateBody) -> NewKey:
    """Make a key that may do the same; the old one expires after `overlap` seconds."""
    return await call.door.access.rotate(prefix, overlap=body.overlap)


@verbs.add("DELETE", "/v1/keys/{prefix}", Verb(scope=_ADMIN, status=204))
async def revoke_key(call: Call, prefix: Name) -> None:
    """Let a key in no more: here at once, in other processes within seconds."""
    await call.door.access.revoke(prefix)


@verbs.add("GET", "/healthz", Verb(open=True, answer=Standing))
async def healthz(call: Call) -> Standing:
    """Say that the process answers."""
    del call
    return Standing()


@verbs.add("GET", "/readyz", Verb(open=True, answer=Standing))
async def readyz(call: Call) -> Standing:
    """Say that the database answers, too."""
    await call.memory.spaces(limit=1)
    return Standing()


@verbs.add("GET", "/metrics", Verb(scope=Scope.READ, everywhere=True, media_type=figures.MEDIA_TYPE))
async def metrics(call: Call) -> bytes:
    """Write the figures as Prometheus reads them. They are about all spaces, so the key must be for all of them."""
    return await call.door.metrics.page(call.memory)
