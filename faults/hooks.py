"""Hooks send payloads of all kinds, valid, odd and broken, to a resident process that is killed (--payloads).

No hook fails, and in the end each line of each transcript is stored once, where it belongs.
"""

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import anyio

import bethink
from bethink.agents.capture import Capture
from bethink.agents.folder import AgentFolder, free_port, hook_file
from bethink.agents.payloads import EVENTS
from bethink.agents.resident import serve
from bethink.model.records import Message
from faults.command import command
from faults.ledger import Verdict
from faults.places import Place, fork
from tests import transcripts_kit as kit

SESSIONS = 24
PROJECTS = 3
TURNS = 60
_STUCK = 120.0
_TOKEN = "campaign"
_ODD: tuple[Any, ...] = (
    None, 7, [], {}, "", "\ud800", "x" * 100_000, "\0", True, {"a": {"b": []}}, "../../etc/passwd",
)  # fmt: skip


class Mutant(StrEnum):
    """Bugs on purpose."""

    SKIPS = "skips"
    """A line counts as read and is not stored."""
    DOUBLES = "doubles"
    """Lines have no key, and how far a transcript was read is not kept."""


@dataclass(slots=True, kw_only=True)
class Talk:
    """A session: what is said in it, and what of that is in its transcript already."""

    agent: str
    session: str
    cwd: Path
    path: Path
    said: list[kit.Said]
    lines: list[kit.Tree]
    written: int = 0

    def write(self, count: int) -> None:
        """Write some more lines to the transcript."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        kit.write(self.path, self.lines[self.written : self.written + count], mode="a")
        self.written += count

    def payload(self, event: str) -> dict[str, Any]:
        """Return the payload of a hook."""
        about = {"session_id": self.session, "transcript_path": str(self.path), "cwd": str(self.cwd)}
        return {**about, "hook_event_name": event, "prompt": "x", "last_assistant_message": "y", "new_field": [1]}


@dataclass(slots=True, kw_only=True)
class Campaign:
    """What one run does to one database."""

    place: Place
    home: Path
    dice: random.Random
    mutant: Mutant | None
    folder: AgentFolder
    talks: list[Talk]
    running: int | None = None
    kills: int = 0
    failures: list[str] = field(default_factory=list[str])
    sent: Counter[str] = field(default_factory=Counter[str])

    def start(self) -> None:
        """Start the resident process, if it does not run."""
        if self.running is None:
            self.running = fork(lambda: _resident(self.place.target, self.folder, self.mutant))

    def kill(self) -> None:
        """Kill it wherever it is."""
        if self.running is not None:
            if os.waitpid(self.running, os.WNOHANG)[0]:
                self.failures.append("the resident process ended by itself")
            else:
                os.kill(self.running, signal.SIGKILL)
                os.waitpid(self.running, 0)
            self.running, self.kills = None, self.kills + 1

    def by_script(self, agent: str, event: str, body: bytes) -> None:
        """Send a payload as Codex does: by a process that must end well, whatever it is given."""
        script = str(self.folder.path / "hook.py")
        done = subprocess.run(
            [sys.executable, "-I", "-S", script, agent, event], input=body, capture_output=True, timeout=60, check=False
        )
        if done.returncode or done.stderr:
            self.failures.append(f"a hook ended with {done.returncode}: {done.stderr[-200:]!r}")

    def by_http(self, agent: str, event: str, body: bytes) -> None:
        """Send a payload as Claude Code does; it does not care whether anyone listens."""
        link = http.client.HTTPConnection("127.0.0.1", self.folder.port, timeout=30)
        with suppress(OSError, http.client.HTTPException):
            link.request("POST", f"/hooks/{agent}/{event}", body, {"Authorization": f"Bearer {_TOKEN}"})
            status = link.getresponse().status
            if status != 200:
                self.failures.append(f"an HTTP hook was answered with {status}")
        link.close()


def _resident(target: str, folder: AgentFolder, mutant: Mutant | None) -> None:
    _mutate(mutant)
    serve(bethink.connect(target, learn=False), folder, learns_freely=False)


def _mutate(mutant: Mutant | None) -> None:
    if mutant is Mutant.SKIPS:
        append: Callable[..., Any] = Capture._append

        async def forgetful(self: Capture, session: Any, messages: list[Message]) -> None:
            await append(self, session, [each for each in messages if "number 4" not in each.content])

        Capture._append = forgetful
    elif mutant is Mutant.DOUBLES:
        append = Capture._append

        async def keyless(self: Capture, session: Any, messages: list[Message]) -> None:
            await append(
                self, session, [Message(role=each.role, content=each.content, name=each.name) for each in messages]
            )

        Capture._append = keyless
        setattr(AgentFolder, "save", _nothing)  # noqa: B010 - it takes anything


def _nothing(*given: object) -> None:
    del given


def _talks(home: Path) -> Iterator[Talk]:
    for number in range(SESSIONS):
        cwd = home / f"project {number % PROJECTS}"
        said = list(kit.turns(TURNS, seed=number))
        if number % 2:
            session = kit.thread_id(number)
            lines = list(kit.codex(said, thread=session, cwd=str(cwd)))
            path = kit.codex_path(home, session)
            yield Talk(agent="codex", session=session, cwd=cwd, path=path, said=said, lines=lines)
        else:
            session = f"session-{number}"
            lines = list(kit.claude_code(said, session=session, cwd=str(cwd)))
            path = kit.claude_path(home, session, str(cwd))
            yield Talk(agent="claude-code", session=session, cwd=cwd, path=path, said=said, lines=lines)


def _odd(dice: random.Random, talk: Talk) -> bytes:
    """Return a payload that no agent should send."""
    whole = talk.payload(dice.choice(EVENTS))
    name = dice.choice(list(whole))
    value = dice.choice(_ODD)
    if name == "transcript_path" and value is None:
        whole |= {"prompt": "", "last_assistant_message": ""}  # there would be something to store
    return json.dumps({**whole, name: value}).encode()


def _broken(dice: random.Random, talk: Talk) -> bytes:
    """Return bytes that are no payload at all."""
    whole = json.dumps(talk.payload("Stop")).encode()
    return dice.choice(
        [
            b"",
            b"\xff\xfe\x00",
            whole[: dice.randrange(len(whole))],
            b"[" * 50_000,
            b"null",
            b"[1]",
            b'"x"',
            whole + b"}",
        ]
    )


def campaign(place: Place, total: int, seed: int, mutant: Mutant | None) -> tuple[str, Verdict]:
    """Send so many payloads while the resident process comes and goes, and compare what is stored."""
    home = place.ledger / "home"
    os.environ["HOME"] = str(home)
    for number in range(PROJECTS):
        config = home / f"project {number}" / ".git" / "config"
        config.parent.mkdir(parents=True)
        config.write_text(f'[remote "origin"]\n\turl = https://git.example/project-{number}\n')
    folder = AgentFolder(home / "state")
    folder.make()
    folder.write(folder.path / "hook.py", hook_file().read_text(encoding="utf-8"))
    folder.write(folder.path / "hook.json", json.dumps({"start": ["true"], "since": 0}))
    folder.write(folder.path / "port", str(free_port()))
    folder.write(folder.path / "token", _TOKEN)
    run = Campaign(
        place=place, home=home, dice=random.Random(seed), mutant=mutant, folder=folder, talks=list(_talks(home))
    )
    began = time.monotonic()
    try:
        _run(run, total)
        _finish(run)
    finally:
        run.kill()
    done = f"{total} payloads ({', '.join(f'{count} {kind}' for kind, count in sorted(run.sent.items()))})"
    verdict = anyio.run(_check, run)
    return f"{done}, {run.kills - 1} kills, {time.monotonic() - began:.0f} s", verdict


def _run(run: Campaign, total: int) -> None:
    dice = run.dice
    for _ in range(total):
        if dice.random() < 0.03:
            run.kill()
        elif run.running is None and dice.random() < 0.2:
            run.start()
        talk, event = dice.choice(run.talks), dice.choice(EVENTS[1:])
        kind = dice.choices(["valid", "odd", "broken"], [6, 2, 2])[0]
        if kind == "valid":
            talk.write(dice.randint(0, 8))
            body = json.dumps(talk.payload(event)).encode()
        else:
            body = (_odd if kind == "odd" else _broken)(dice, talk)
            event = dice.choice([*EVENTS[1:], "Unknown", "x" * 500, "%00"])
        run.sent[kind] += 1
        send = run.by_http if talk.agent == "claude-code" and dice.random() < 0.5 else run.by_script
        send(talk.agent, event, body)


def _finish(run: Campaign) -> None:
    """Write the rest of every transcript, tell of it, and wait until nothing is left to do."""
    for talk in run.talks:
        talk.write(len(talk.lines))
        run.by_script(talk.agent, "SessionEnd", json.dumps(talk.payload("SessionEnd")).encode())
    run.start()
    deadline = time.monotonic() + _STUCK
    while any(run.folder.spool.iterdir()):
        if time.monotonic() > deadline:
            run.failures.append("the spool was not worked off")
            break
        time.sleep(0.1)
    time.sleep(0.5)  # the last note goes before its session's state is closed


async def _check(run: Campaign) -> Verdict:
    violations = list(run.failures)
    stored = wanted_all = 0
    async with bethink.connect(run.place.target, learn=False) as memory:
        for number in range(PROJECTS):
            cwd = run.home / f"project {number}"
            wanted = Counter(
                (talk.session, each.role, each.content) for talk in run.talks if talk.cwd == cwd for each in talk.said
            )
            found = await _found(memory.space(f"project:git.example/project-{number}"))
            stored, wanted_all = stored + found.total(), wanted_all + wanted.total()
            lost, more = wanted - found, found - wanted
            if lost or more:
                some = next(iter((lost or more).items()))
                what = f"{lost.total()} lines lost, {more.total()} doubled or made up"
                violations.append(f"project {number}: {what}, such as {some}")
        others = {space.name for space in await memory.spaces.list()} - {
            f"project:git.example/project-{each}" for each in range(PROJECTS)
        }
        if others:
            violations.append(f"stored in {sorted(others)}")
    return Verdict(figures=f"{stored} of {wanted_all} lines stored", violations=violations)


async def _found(space: bethink.Space) -> Counter[tuple[str, str, str]]:
    found: Counter[tuple[str, str, str]] = Counter()
    for entry in await space.sessions.list(limit=1_000):
        session = await space.sessions.get(entry.session.id)
        own = entry.conversation.split(":")[1]
        found.update(
            (own, str(each.message.role), each.message.content) for each in await session.messages(limit=1_000)
        )
    return found


if __name__ == "__main__":
    sys.exit(command(__doc__, "--payloads", Mutant, campaign))
