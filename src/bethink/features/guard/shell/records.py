"""Records of a shell command after reading: simple commands with words, redirects and wrappers."""

from bethink.base.frozen import frozen


@frozen
class Word:
    """One argument. `text` is complete only if `is_literal`: variables and substitutions leave a gap."""

    text: str = ""
    is_literal: bool = True


@frozen
class Redirect:
    """A file that a command reads or writes: `>`, `>>`, `<`."""

    operator: str
    target: Word

    @property
    def is_write(self) -> bool:
        """True if the redirect writes to a file."""
        return ">" in self.operator and "&" not in self.operator.removeprefix("&")


@frozen
class ShellCommand:
    """A simple command as the shell would run it, without its wrappers.

    `sudo pip install x` gives two commands: `sudo`, and `pip` with the wrapper `sudo`.
    """

    program: str
    """Base name of the program; empty if a variable decides."""
    arguments: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    assignments: tuple[tuple[str, str], ...] = ()
    stdin: str | None = None
    """Text that it reads, if the same command shows it: a here-document or `echo … |`."""
    sources: tuple[str, ...] = ()
    """Programs whose output it reads, by a pipe or a substitution."""
    wrappers: tuple[str, ...] = ()
    separator: str = ""
    """Operator in front of it: `&&`, `||`, `;`, `|`."""
    folder: str | None = ""
    """Folder it runs in, relative to the start; None if unknown."""
    is_remote: bool = False
    """True in a container or on another machine."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The arguments as texts."""
        return tuple(word.text for word in self.arguments)

    @property
    def is_literal(self) -> bool:
        """True if every argument is fully visible."""
        return all(word.is_literal for word in self.arguments)

    def __str__(self) -> str:
        return " ".join((self.program, *self.texts))


@frozen
class Script:
    """All simple commands of a shell text, in the order in which they would run."""

    commands: tuple[ShellCommand, ...] = ()
    opaque: tuple[str, ...] = ()
    """Programs that run commands which the text does not show: `make`, scripts, variables."""
    is_complete: bool = True
    """False if the text was too long, too deep, or has a syntax error."""
