"""Sends the server what schemathesis makes of its OpenAPI, with keys on: no 5xx, and every answer documented."""

import argparse
import secrets
import sys
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import anyio
import requests
import schemathesis
import uvicorn
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from schemathesis.checks import CHECKS, load_all_checks  # pyright: ignore[reportUnknownVariableType]
from schemathesis.core.failures import FailureGroup
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode

import bethink
from bethink.http import ServerOptions, create_app
from bethink.model.access import EVERYWHERE, Scope
from bethink.model.documents import DocumentDraft
from faults.places import DATABASES, place

_CHECKS = (
    "negative_data_rejection",
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "missing_required_header",
)
_SPACE = "fuzzed"
_CHUNK = 20
_KEPT = 0.7
"""How often a name in a path is one that is there: what is made up leads to a 404 and no further."""


@dataclass(kw_only=True)
class Tally:
    """What a run came to."""

    cases: int = 0
    statuses: Counter[int] = field(default_factory=Counter[int])
    operations: Counter[str] = field(default_factory=Counter[str])
    failures: list[str] = field(default_factory=list[str])


@contextmanager
def served(app: FastAPI) -> Generator[str]:
    """Serve an app on a port of loopback, in a thread."""
    config = uvicorn.Config(app, port=0, log_config=None, access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise SystemExit("the server did not start")
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


async def _copy_chunks(target: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Put something there to be found, and return the keys and the names of it by their place in a path."""
    async with bethink.connect(target) as memory:
        stored = await memory.space(_SPACE).remember("The parrot likes figs.")
        await memory.space(_SPACE).facts.save(bethink.Fact(id="fact", text="parrots like figs"))
        document = await memory.space(_SPACE).documents.create(
            DocumentDraft(slug="parrot", title="Parrot", body="figs")
        )
        thread = await memory.backend.local().working(_SPACE).open_thread()
        keys = {
            "all": await memory.admin.keys.create("all", list(Scope)),
            "read": await memory.admin.keys.create("read", [Scope.READ], spaces=[_SPACE]),
            "elsewhere": await memory.admin.keys.create("elsewhere", set(Scope) - EVERYWHERE, spaces=["elsewhere"]),
        }
        names = {
            "space": [_SPACE],
            "session_id": [stored.session.id],
            "ref": [str(stored.refs[0]), "fact:fact:1", f"document:{document.id}:1"],
            "fact_id": ["fact"],
            "document_id": [document.id],
            "thread_id": [thread.id],
            "prefix": ["000000000000"],
            "webhook_id": [(await memory.admin.webhooks.create("https://93.184.215.14/")).info.id],
        }
        return {name: made.key for name, made in keys.items()}, names


class _Fuzz:
    def __init__(self, url: str, keys: dict[str, str], names: dict[str, list[str]], seed: int) -> None:
        self.schema: Any = schemathesis.openapi.from_url(f"{url}/openapi.json")
        self.tally = Tally()
        self._keys = keys
        self._names = names
        self._random = Random(seed)
        self._session = requests.Session()
        load_all_checks()
        self._checks: list[Any] = [CHECKS.get_one(name) for name in _CHECKS]

    def run(self, operation: Any, mode: GenerationMode, count: int, seed: int) -> None:
        """Send so many cases of one operation."""
        quiet = settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=[*HealthCheck],  # pyright: ignore[reportArgumentType]
        )

        @seeded(seed)
        @quiet
        @given(operation.as_strategy(generation_mode=mode))
        def each(case: Any) -> None:
            self.one(case, positive=mode is GenerationMode.POSITIVE)

        each()

    def one(self, case: Any, *, positive: bool) -> None:
        # The key is ours to give. If a wrong one was all that was wrong with a case, nothing is any more.
        negated = case.meta.components.get(ParameterLocation.HEADER)
        ours = negated is not None and negated.mode.is_negative
        for name in [name for name in case.headers if name.lower() == "authorization"]:
            del case.headers[name]
        if positive:
            self._point(case)
        who = self._random.choices(["all", "read", "elsewhere", ""], [85, 5, 5, 5])[0]
        key = self._keys.get(who)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        try:
            response = case.call(headers=headers, session=self._session)
        except requests.exceptions.RequestException as error:
            self._failed(case, f"no answer: {type(error).__name__}: {error}")
            return
        self.tally.cases += 1
        self.tally.statuses[response.status_code] += 1
        self.tally.operations[case.operation.label] += 1
        try:
            case.validate_response(response, checks=self._checks[ours:], headers=headers)
        except FailureGroup as group:
            for failure in group.exceptions:
                self._failed(case, f"{response.status_code}: {failure} {response.text[:300]}")

    def _point(self, case: Any) -> None:
        """Let most cases be about what is there, and few of them take it away."""
        likely = 0.1 if case.method == "DELETE" else _KEPT
        names: list[str] = list(case.path_parameters or ())
        for name in names:
            if name in self._names and self._random.random() < likely:
                case.path_parameters[name] = self._random.choice(self._names[name])
        if case.path.endswith("/forget") and self._random.random() < _KEPT:
            case.body = {**case.body, "dry_run": True}

    def _failed(self, case: Any, said: str) -> None:
        self.tally.failures.append(f"{case.as_curl_command()[:600]}\n    {said}")


def fuzz(target: str, *, cases: int, seed: int) -> Tally:
    """Send so many cases, spread over all operations, some of which fit the OpenAPI and some of which do not."""
    keys, names = anyio.run(_copy_chunks, target)
    memory = bethink.connect(target, learn_in_background=False)
    app = create_app(memory, options=ServerOptions(rate=float("inf"), mcp=False, max_wait=0.01))
    with served(app) as url:
        run = _Fuzz(url, keys, names, seed)
        found: list[Any] = [result.ok() for result in run.schema.get_all_operations()]
        operations = [each for each in found if not each.path.endswith("/stream")]  # which has no end
        turn = 0
        while run.tally.cases < cases:
            operation = operations[turn % len(operations)]
            mode = GenerationMode.NEGATIVE if turn // len(operations) % 3 == 2 else GenerationMode.POSITIVE
            left = cases - run.tally.cases
            count = min(_CHUNK, left, max(1, cases // len(operations) // 3))
            if mode is GenerationMode.NEGATIVE and not _negatable(operation):
                mode = GenerationMode.POSITIVE
            run.run(operation, mode, count, seed + turn)
            turn += 1
        return run.tally


def _negatable(operation: Any) -> bool:
    return bool(operation.body) or bool(operation.query) or bool(operation.path_parameters)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2_000)
    parser.add_argument("--database", choices=[*DATABASES, "both"], default="both")
    parser.add_argument("--seed", type=int, default=None, help="repeat the random choices of an earlier run")
    chosen = parser.parse_args()
    seed = secrets.randbelow(2**31) if chosen.seed is None else chosen.seed
    failed = False
    for database in DATABASES if chosen.database == "both" else (chosen.database,):
        with place(database) as where:
            tally = fuzz(where.target, cases=chosen.cases, seed=seed)
        for failure in tally.failures[:20]:
            print(failure)
        failed = failed or bool(tally.failures) or any(status >= 500 for status in tally.statuses)
        told = ", ".join(f"{count} with {status}" for status, count in sorted(tally.statuses.items()))
        print(
            f"{database}: {tally.cases} cases of {len(tally.operations)} operations ({told}), "
            f"{len(tally.failures)} failures (seed {seed})"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
