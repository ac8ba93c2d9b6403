"""The size of the command line: 15 commands, 7 groups, and help lines of at most 60 characters."""

import subprocess
import sys

from bethink.base.installed import DISTRIBUTIONS
from bethink.cli.catalog import ALIASES, COMMANDS, GROUPS, RENAMED, SECTIONS, listed_commands, listed_groups
from bethink.cli.command import SHARED_OPTIONS

MAX_COMMANDS = 15
MAX_GROUPS = 7
MAX_SECTIONS = 3
MAX_HELP = 60
UNLISTED = {"status", "sessions", "log"}


def test_top_level_has_15_commands_in_3_sections_and_7_groups() -> None:
    assert len(listed_commands()) == MAX_COMMANDS
    assert len(listed_groups()) == len(GROUPS) == MAX_GROUPS
    assert len(SECTIONS) == MAX_SECTIONS


def test_every_command_is_in_a_section_or_a_group() -> None:
    top = {name for name in COMMANDS if " " not in name}

    assert top - UNLISTED == set(listed_commands())
    assert {name.split()[0] for name in COMMANDS if " " in name} == set(GROUPS)


def test_help_lines_have_at_most_60_characters() -> None:
    lines = [line for _, line in COMMANDS.values()]
    lines += [*GROUPS.values(), *(f"{line.rstrip('.')} ({package})." for package, line in DISTRIBUTIONS.values())]

    assert [line for line in lines if len(line) > MAX_HELP or not line.endswith(".")] == []


def test_names_do_not_overlap() -> None:
    top = {*listed_commands(), *UNLISTED, *GROUPS, *ALIASES, "help"}

    assert not top & {name for name in RENAMED if " " not in name}
    assert set(ALIASES.values()) <= {*COMMANDS, *GROUPS}
    renamed = {target.partition(" --")[0] for target in RENAMED.values()}
    ours = {f"admin {name}" for name in DISTRIBUTIONS}
    assert {name for name in renamed if not any(name == key or name.startswith(f"{key} ") for key in COMMANDS)} <= ours


def test_seven_options_are_shared() -> None:
    assert set(SHARED_OPTIONS) == {"space", "config", "database", "api_key", "json", "quiet", "verbose"}


def test_help_is_the_documented_screen() -> None:
    done = subprocess.run([sys.executable, "-m", "bethink", "--help"], capture_output=True, text=True, check=True)

    titles = [line for line in done.stdout.splitlines() if line and not line.startswith(" ")]
    assert titles == [
        "Usage: bethink [COMMAND] [OPTIONS]",
        *SECTIONS,
        "More commands, by group (bethink GROUP --help)",
    ]
    assert len(done.stdout.splitlines()) <= 40
