"""The command that previews memory from recent coding sessions: try."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import groupby, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from bethink.cli.command import NO_SPACE, CommandContext, command
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine, Progress, one_line
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.agents.transcripts.lines import TranscriptLine
    from bethink.api.connect import Memory
    from bethink.api.space import Space
    from bethink.features.importers.trial import Estimate, Trial
    from bethink.model.recall import Match

app = typer.Typer()

_LINES = 10
_WIDTH = 110
_NUMBER = re.compile(r"\d+")
_PREFERENCES = "I prefer, I want, I always, please never, do not, use instead, from now on, remember that"
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
    question: Annotated[str | None, typer.Argument(help="Question.  [default: five typical questions]")] = None,
    *,
    days: Annotated[int, typer.Option(metavar="N", help="Number of days to look back.", min=1, max=3_650)] = 30,
) -> Result:
    """Preview what Bethink would learn from your coding sessions.

    It reads the transcripts of Claude Code and Codex, and prints your preferences, ten results with their sources, and
    the cost of learning. Nothing is stored, and no model is called.
    """
    from bethink.base.features import modules_named  # noqa: PLC0415
    from bethink.features.importers.trial import Trial, estimate, recent_lines  # noqa: PLC0415
    from bethink.providers.estimated_tokens import EstimatedTokens  # noqa: PLC0415

    settings = ctx.target.settings
    tokens = EstimatedTokens()
    trial = Trial(since=datetime.now(UTC) - timedelta(days=days))
    ctx.note("reading transcripts of Claude Code and Codex; nothing is stored…")
    messages = list(trial.count(recent_lines(trial), tokens))
    if not messages:
        hint = "Look back further with --days, or try 'bethink demo'."
        raise UsageError(f"No transcripts of the last {plural(days, 'day')}.", hint=hint)
    async with _in_memory(ctx) as memory:
        space = memory.space("try")
        await _fill(ctx, space, messages)
        preferences = (await space.recall(_PREFERENCES, limit=_LINES * _LINES, origin=("user",))).items
        questions = (question,) if question else _QUESTIONS
        answers = [(await space.recall(text, limit=_LINES)).items for text in questions]
        agents = {entry.session.id: entry.conversation for entry in await space.sessions.list(limit=1_000)}
    remembered = [_Line("", item, agents) for _, item in islice(_unique([preferences], ("",)), _LINES)]
    recalled = [_Line(*match, agents) for match in islice(_unique(answers, questions), _LINES)]
    cost = estimate(trial, tokens, settings.model, verify_claims=settings.learning.verify_claims)
    data, sections = _data(trial, remembered, recalled, cost), list[OutputLine]()
    for module in modules_named("try_section"):
        lines, more = module.section(days, quiet=ctx.options.quiet)
        sections += [OutputLine(), *lines] if lines else []
        data |= more
    return Result(data=data, lines=_lines(trial, remembered, recalled, cost, sections))


def _in_memory(ctx: CommandContext) -> "Memory":
    """Return an in-memory database without a model."""
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
    from bethink.features.importers.coding_agents import message_from_line  # noqa: PLC0415
    from bethink.features.importers.store import Importer, ImportReport  # noqa: PLC0415

    importer = Importer(space=space, report=ImportReport(), skip_copies=True)
    with Progress("messages", len(lines), quiet=ctx.options.quiet) as progress:
        await importer.store(map(message_from_line, lines), progress.advance)


class _Line(NamedTuple):
    """A match, its question, and the conversations of sessions."""

    question: str
    item: "Match"
    conversations: Mapping[str, str]

    @property
    def source(self) -> str:
        """The speaker, the date, the project and the session."""
        agent, _, session = self.conversations.get(self.item.session_id or "", "").rstrip(":").partition(":")
        folder = Path(str(self.item.metadata.get("cwd") or "")).name
        speaker = f"{self.item.origin}, {self.item.said_at:%Y-%m-%d %H:%M}"
        return ", ".join(filter(None, (speaker, folder, f"{agent} {session[:8]}".strip())))

    @property
    def lines(self) -> list[OutputLine]:
        """The lines to print."""
        return [OutputLine(f"  {one_line(self.item.text, _WIDTH)}"), OutputLine(f"    {self.source}", "dim")]


def _unique(answers: "Sequence[Sequence[Match]]", questions: Sequence[str]) -> "Iterator[tuple[str, Match]]":
    """Yield the best match of each question, then the second best, without repeats; numbers are ignored."""
    gists = set[str]()
    for row in zip_longest(*answers):
        for question, item in zip(questions, row, strict=True):
            gist = "" if item is None else " ".join(_NUMBER.sub("", item.text).split())
            if item is not None and gist not in gists:
                gists.add(gist)
                yield question, item


def _data(trial: "Trial", remembered: list[_Line], recalled: list[_Line], cost: "Estimate") -> dict[str, Any]:
    return {
        "since": trial.since,
        "files": trial.files,
        "unread": trial.unread,
        "messages": trial.messages,
        "sessions": len(trial.tokens),
        "agents": dict(trial.agents),
        "projects": dict(trial.projects.most_common()),
        "remembered": [{"text": line.item.text, "source": line.source} for line in remembered],
        "recalled": [{"question": line.question, "text": line.item.text, "source": line.source} for line in recalled],
        "cost": cost,
    }


def _lines(
    trial: "Trial", remembered: list[_Line], recalled: list[_Line], cost: "Estimate", sections: list[OutputLine]
) -> list[OutputLine]:
    agents = " and ".join(f"{count:,} of {agent}" for agent, count in trial.agents.items())
    sessions = f"{plural(len(trial.tokens), 'session')} in {plural(len(trial.projects), 'project')}"
    unread = f" {plural(trial.unread, 'file')} could not be read." if trial.unread else ""
    lines = [OutputLine(f"{plural(trial.messages, 'message', form=',')} in {sessions}: {agents}.{unread}")]
    lines += [OutputLine(), OutputLine("Your preferences", "bold")]
    lines += [line for match in remembered for line in match.lines]
    lines += [OutputLine(), OutputLine("What recall finds", "bold")]
    for question, several in groupby(
        sorted(recalled, key=lambda match: match.question), key=lambda match: match.question
    ):
        lines += [OutputLine(f"  {question}", "cyan"), *(line for match in several for line in match.lines)]
    lines += [OutputLine(), OutputLine("Cost of learning", "bold")]
    tokens = f"{cost.input_tokens:,} tokens in, {cost.output_tokens:,} out"
    lines.append(OutputLine(f"  about ${cost.dollars:.2f}: {plural(cost.calls, 'call')}, {tokens}, by the prices set"))
    lines.append(OutputLine("  nothing without a model: messages are stored and searched as they are"))
    lines += sections
    keep = [f"  bethink import {agent} --by-project --yes" for agent in trial.agents]
    keep += [f"  bethink connect {' '.join(trial.agents)}   # and capture new sessions"]
    hint = "Nothing was stored. To keep it, each session in the space of its project:"
    return [*lines, OutputLine(), OutputLine(hint), *map(OutputLine, keep)]
