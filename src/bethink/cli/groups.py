"""Groups of commands that do something when they are called alone."""

from typing import Any

from typer.core import TyperGroup


def called_alone(command: str) -> type[TyperGroup]:
    """Return a group that runs one of its commands where none is named."""

    class _Group(TyperGroup):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            bare = not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)
            return super().parse_args(ctx, [command, *args] if bare else args)

    return _Group
