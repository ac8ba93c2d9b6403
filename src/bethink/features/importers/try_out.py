"""The command that shows what memory would make of the last weeks, and stores nothing: try."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import groupby, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from bethink.cli.command import NO_SPACE, CommandContext, Result, UsageError, command
from bethink.cli.terminal import OutputLine, Progress, one_line
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.agents.transcripts.lines import TranscriptLine
    from bethink.api.connect import Memory
    from bethink.api.space import Space
    from bethink.features.importers.trial import Estimate, Trial
    from bethink.model.recall import Recalled

app = typer.Typer()

_LINES = 10
_WIDTH = 110
_NUMBER = re.compile(r"\d+")
_WISHES = "I prefer, I want, I always, please never, do not, use instead, from now on, remember that"
_QUESTIONS = (
    "What did we decide, and why?",
    "What is still left to do?",
    "How do I run the tests?",
    "What went wrong, and how was it fixed?",
    "What do I prefer?",
)


@command(app, "try", opens=False, local=True, without=(*NO_SPACE, "database"))
async def try_out(
    ctx: CommandContext,
    question: Annotated[
        str | None, typer.Argument(help="What to ask memory.  [default: five questions of a programmer]")
    ] = None,
    *,
    days: Annotated[int, typer.Option(metavar="N", help="How many days to look back.", min=1, max=3_650)] = 30,
) -> Result:
    """Show what memory would make of your last weeks with Claude Code and Codex. Nothing is stored, no model is asked.

    It prints what you said that would be remembered, ten recalled lines with their sources, and what learning from all
    of it would cost.
    """
    from bethink.features.importers.trial import Trial, estimate, recent  # noqa: PLC0415
    from bethink.providers.estimated_tokens import EstimatedTokens  # noqa: PLC0415

    settings = ctx.target.settings
    tokens = EstimatedTokens()
    found = Trial(since=datetime.now(UTC) - timedelta(days=days))
    ctx.note("reading transcripts of Claude Code and Codex; nothing is stored…")
    lines = list(found.count(recent(found), tokens))
    if not lines:
        hint = "Look back further with --days, or try 'bethink demo'."
        raise UsageError(f"no transcripts of the last {plural(days, 'day')} were found.", hint=hint)
    async with _in_memory(ctx) as memory:
        space = memory.space("try")
        await _fill(ctx, space, lines)
        wishes = (await space.recall(_WISHES, limit=_LINES * _LINES, origins=("user",))).items
        asked = (question,) if question else _QUESTIONS
        answers = [(await space.recall(each, limit=_LINES)).items for each in asked]
        agents = {each.session.id: each.conversation for each in await space.sessions(limit=1_000)}
    remembered = [_Line("", each, agents) for _, each in islice(_each_once([wishes], ("",)), _LINES)]
    recalled = [_Line(*each, agents) for each in islice(_each_once(answers, asked), _LINES)]
    cost = estimate(found, tokens, settings.model, second_reading=settings.learning.second_reading)
    return Result(data=_data(found, remembered, recalled, cost), lines=_lines(found, remembered, recalled, cost))


def _in_memory(ctx: CommandContext) -> "Memory":
    """Return a memory that leaves nothing behind, and asks no model."""
    from bethink.api.connect import connect  # noqa: PLC0415
    from bethink.config.groups import EmbedderSettings, LearningSettings, SqliteSettings  # noqa: PLC0415

    settings = ctx.target.settings
    return connect(
        settings=replace(
            settings,
            enabled=True,
            module="memory.sqlite",
            sqlite=SqliteSettings(path=":memory:"),
            embedder=EmbedderSettings(name="none"),
            learning=LearningSettings(in_background=False),
            model=replace(settings.model, name="none"),
        )
    )


async def _fill(ctx: CommandContext, space: "Space", lines: "list[TranscriptLine]") -> None:
    from bethink.features.importers.coding_agents import imported  # noqa: PLC0415
    from bethink.features.importers.store import Importer, ImportReport  # noqa: PLC0415

    importer = Importer(space=space, report=ImportReport(), copies_are_known=True)
    with Progress("messages", len(lines), quiet=ctx.options.quiet) as progress:
        await importer.store(map(imported, lines), progress.advance)


class _Line(NamedTuple):
    """A memory, the question that it answers, and the conversations of sessions."""

    question: str
    item: "Recalled"
    conversations: Mapping[str, str]

    @property
    def source(self) -> str:
        """Who said it, when, in which project and which session."""
        agent, _, session = self.conversations.get(self.item.session_id or "", "").rstrip(":").partition(":")
        folder = Path(str(self.item.metadata.get("cwd") or "")).name
        said = f"{self.item.origin}, {self.item.at:%Y-%m-%d %H:%M}"
        return ", ".join(filter(None, (said, folder, f"{agent} {session[:8]}".strip())))

    @property
    def shown(self) -> list[OutputLine]:
        """The lines to print."""
        return [OutputLine(f"  {one_line(self.item.text, _WIDTH)}"), OutputLine(f"    {self.source}", "dim")]


def _each_once(answers: "Sequence[Sequence[Recalled]]", asked: Sequence[str]) -> "Iterator[tuple[str, Recalled]]":
    """Yield the best answer to each question, then the second best, each once: numbers make no other text."""
    seen = set[str]()
    for row in zip_longest(*answers):
        for question, item in zip(asked, row, strict=True):
            gist = "" if item is None else " ".join(_NUMBER.sub("", item.text).split())
            if item is not None and gist not in seen:
                seen.add(gist)
                yield question, item


def _data(found: "Trial", remembered: list[_Line], recalled: list[_Line], cost: "Estimate") -> dict[str, Any]:
    return {
        "since": found.since,
        "files": found.files,
        "unread": found.unread,
        "messages": found.messages,
        "sessions": len(found.tokens),
        "agents": dict(found.agents),
        "projects": dict(found.projects.most_common()),
        "remembered": [{"text": each.item.text, "source": each.source} for each in remembered],
        "recalled": [{"question": each.question, "text": each.item.text, "source": each.source} for each in recalled],
        "cost": cost,
    }


def _lines(found: "Trial", remembered: list[_Line], recalled: list[_Line], cost: "Estimate") -> list[OutputLine]:
    agents = " and ".join(f"{count:,} of {agent}" for agent, count in found.agents.items())
    sessions = f"{plural(len(found.tokens), 'session')} in {plural(len(found.projects), 'project')}"
    unread = f" {plural(found.unread, 'file')} could not be read." if found.unread else ""
    lines = [OutputLine(f"{plural(found.messages, 'message', form=',')} in {sessions}: {agents}.{unread}")]
    lines += [OutputLine(), OutputLine("What you said that would be remembered", "bold")]
    lines += [line for each in remembered for line in each.shown]
    lines += [OutputLine(), OutputLine("What memory would recall", "bold")]
    for question, several in groupby(sorted(recalled, key=lambda each: each.question), key=lambda each: each.question):
        lines += [OutputLine(f"  {question}", "cyan"), *(line for each in several for line in each.shown)]
    lines += [OutputLine(), OutputLine("What learning would cost", "bold")]
    tokens = f"{cost.input_tokens:,} tokens in, {cost.output_tokens:,} out"
    lines.append(OutputLine(f"  about ${cost.dollars:.2f}: {plural(cost.calls, 'call')}, {tokens}, by the prices set"))
    lines.append(OutputLine("  without a model nothing: messages are found as they were said"))
    kept = "Nothing was stored. To keep it: bethink import claude-code, bethink import codex"
    return [*lines, OutputLine(), OutputLine(kept)]
