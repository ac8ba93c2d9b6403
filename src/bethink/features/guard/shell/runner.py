"""Runs the words of simple commands on paper: follows wrappers, aliases, functions and scripts of the same text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bethink.features.guard.shell.effects import FolderScope, base_name, change_folder, visible_output
from bethink.features.guard.shell.nested import is_opaque, nested_commands
from bethink.features.guard.shell.records import ShellCommand, Word
from bethink.features.guard.shell.wrappers import Inner
from bethink.features.guard.tables import word_set

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH = 40
MAX_COMMANDS = 300
_SHELLS = word_set("sh bash zsh dash ksh ash")


class CommandRunner:
    """Collects commands. Its subclass reads text and walks nodes."""

    def __init__(self) -> None:
        self.commands: list[ShellCommand] = []
        self.opaque: list[str] = []
        self.is_complete = True
        self.variables: dict[str, Word] = {}
        self.aliases: dict[str, str] = {}
        self.functions: dict[str, Node] = {}
        self.files: dict[str, str] = {}
        self.folder: str | None = ""
        self.separator = ""
        self.stdin: str | None = None
        self.sources: tuple[str, ...] = ()
        self.trailing: list[Word] = []
        self.texts = 0

    def read_text(self, text: str, scope: FolderScope) -> None:
        """Read a nested shell text, such as the argument of `bash -c`."""
        raise NotImplementedError

    def walk(self, node: "Node", scope: FolderScope) -> None:
        """Collect the commands of a node in the order in which the shell would run them."""
        raise NotImplementedError

    def run(self, words: Sequence[Word], scope: FolderScope) -> None:
        """Record a command, and the commands that it runs in turn."""
        if not words:
            return
        if scope.depth > MAX_DEPTH or len(self.commands) > MAX_COMMANDS:
            self.is_complete = False
            return
        head, arguments = words[0], tuple(words[1:])
        if not head.is_literal or not head.text:
            self.opaque.append("a variable")
            self.emit(self.simple("", arguments, scope))
            return
        if head.text in self.functions:
            self.call(head.text, arguments, scope)
        elif head.text in self.aliases:
            self.expand(head.text, arguments, scope)
        else:
            self.program(head.text, arguments, scope)

    def program(self, name: str, arguments: tuple[Word, ...], scope: FolderScope) -> None:
        """Record the call of a program, and what it changes for the commands behind it."""
        program = base_name(name)
        self.emit(self.simple(program, arguments, scope))
        if program == "cd":
            self.folder = change_folder(self.folder, arguments)
        elif program == "alias":
            pairs = [word.text.partition("=") for word in arguments if "=" in word.text]
            self.aliases.update({alias: value for alias, _, value in pairs})
        elif is_opaque(program, arguments) or ("/" in name and name in self.files):
            self.script(name if name in self.files else arguments[0].text if arguments else name, program, scope)
        for inner in nested_commands(program, arguments):
            self.enter(program, inner, scope)
        self.read_input(program, arguments, scope)

    def enter(self, program: str, inner: Inner, scope: FolderScope) -> None:
        """Read the command inside a wrapper."""
        inside = FolderScope(
            wrappers=(*scope.wrappers, program),
            redirects=scope.redirects,
            assignments=scope.assignments,
            is_remote=scope.is_remote or inner.wrapper.is_remote,
            depth=scope.depth + 2,
        )
        if inner.text is not None:
            if not inner.text.is_literal:
                self.opaque.append("a variable")
            self.read_text(inner.text.text, inside)
        elif inner.wrapper.reads_input:
            self.script(inner.words[0].text if inner.words else "", program, inside)
        else:
            self.run(inner.words, inside)

    def read_input(self, program: str, arguments: tuple[Word, ...], scope: FolderScope) -> None:
        """Read the text on the standard input of a shell."""
        is_shell = program in _SHELLS and all(word.text.startswith("-") for word in arguments)
        is_shell = is_shell or (program in ("at", "batch") and self.stdin is not None)
        if not is_shell or any(word.text in ("-c", "-n", "--version", "--help") for word in arguments):
            return
        if self.stdin is None:
            self.opaque.extend([program] if self.sources else [])
            return
        text, self.stdin = self.stdin, None
        self.read_text(text, FolderScope(wrappers=(*scope.wrappers, program), depth=scope.depth + 2))

    def script(self, path: str, program: str, scope: FolderScope) -> None:
        """Read a script that the same text wrote, or note that its commands are hidden."""
        content = self.files.pop(path.removeprefix("./"), None) or self.files.pop(path, None)
        if content is None:
            self.opaque.append(program)
        else:
            self.read_text(content, scope)

    def call(self, name: str, arguments: tuple[Word, ...], scope: FolderScope) -> None:
        """Read the body of a function with its arguments."""
        body = self.functions.pop(name)  # A function that calls itself must not be read for ever.
        variables = dict(self.variables)
        for index, word in enumerate(arguments, 1):
            self.variables[str(index)] = word
        is_literal = all(word.is_literal for word in arguments)
        self.variables["@"] = Word(text="\0".join(word.text for word in arguments), is_literal=is_literal)
        self.walk(body, scope)
        self.variables = variables
        self.functions[name] = body

    def expand(self, name: str, arguments: tuple[Word, ...], scope: FolderScope) -> None:
        """Read the command behind an alias."""
        value = self.aliases.pop(name)
        words = value.split()
        is_plain = words and not any(sign in value for sign in "'\"|;&$()<>`")
        if is_plain:
            self.run([*(Word(text=word) for word in words), *arguments], scope)
        else:
            self.read_text(" ".join((value, *(word.text for word in arguments))), scope)
        self.aliases[name] = value

    def simple(self, program: str, arguments: tuple[Word, ...], scope: FolderScope) -> ShellCommand:
        """Return a simple command in its surroundings."""
        return ShellCommand(
            program=program,
            arguments=arguments,
            redirects=scope.redirects,
            assignments=scope.assignments,
            stdin=self.stdin,
            sources=self.sources,
            wrappers=scope.wrappers,
            separator=self.separator,
            folder=self.folder,
            is_remote=scope.is_remote,
        )

    def emit(self, command: ShellCommand) -> None:
        """Record a command, and the text that it writes to a file."""
        self.commands.append(command)
        output = visible_output(command)
        for redirect in command.redirects if output is not None else ():
            if redirect.is_write and redirect.target.is_literal and output is not None:
                self.files[redirect.target.text.removeprefix("./")] = output
