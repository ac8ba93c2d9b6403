"""Reads a shell text into the simple commands that it would run, in order."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from bethink.features.guard.shell.effects import FolderScope, deeper, surround, visible_output
from bethink.features.guard.shell.records import Redirect, Script, ShellCommand, Word
from bethink.features.guard.shell.runner import MAX_COMMANDS, MAX_DEPTH, CommandRunner
from bethink.features.guard.shell.words import expand_braces, text_of, word_of
from bethink.features.guard.tables import word_set

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_LENGTH = 50_000
"""Longer texts are not read: parsing them would take longer than a hook may."""
_MAX_TEXTS = 12
_MAX_VALUES = 8
_GAP = Word(is_literal=False)
_REDIRECTS = ("file_redirect", "heredoc_redirect", "herestring_redirect")
_LISTS = ("program", "compound_statement", "do_group", "else_clause", "elif_clause", "case_item", "ERROR")
_ARGUMENTS = word_set(
    "word number string raw_string ansi_c_string translated_string concatenation simple_expansion expansion "
    "command_substitution process_substitution brace_expression extglob_pattern regex arithmetic_expansion"
)


@cache
def _parser() -> "Parser":
    # Loaded on first use: most commands of the program never read shell text.
    import tree_sitter_bash  # noqa: PLC0415
    from tree_sitter import Language, Parser  # noqa: PLC0415

    return Parser(Language(tree_sitter_bash.language()))


@lru_cache(maxsize=512)
def read_shell(text: str) -> Script:
    """Return the simple commands of a shell text. Never raises: what cannot be read makes the script incomplete."""
    if len(text) > MAX_LENGTH:
        return Script(is_complete=False)
    reader = Reader()
    try:
        reader.read_text(text, FolderScope())
    except (RecursionError, ValueError, IndexError):
        reader.is_complete = False
    return Script(commands=tuple(reader.commands), opaque=tuple(reader.opaque), is_complete=reader.is_complete)


class Reader(CommandRunner):
    """Walks the tree of one text. Aliases, functions and variables of the text are followed."""

    def read_text(self, text: str, scope: FolderScope) -> None:
        """Read a nested shell text, such as the argument of `bash -c`."""
        self.texts += 1
        if self.texts > _MAX_TEXTS or len(text) > MAX_LENGTH:
            self.is_complete = False
            return
        tree = _parser().parse(text.encode("utf-8", "replace"))
        if tree.root_node.has_error:
            self.is_complete = False
        self.walk(tree.root_node, scope)

    def walk(self, node: "Node", scope: FolderScope) -> None:
        """Collect the commands of a node in the order in which the shell would run them."""
        if scope.depth > MAX_DEPTH or len(self.commands) > MAX_COMMANDS:
            self.is_complete = False
            return
        inside = deeper(scope)
        handler = _HANDLERS.get(node.type)
        if handler is not None:
            handler(self, node, inside)
        elif node.type in _LISTS:
            self.walk_list(node.children, inside)
        elif node.type in _ARGUMENTS or node.type in _REDIRECTS:
            word_of(node, self)
        elif node.is_named and node.type != "comment":
            for child in node.children:
                self.walk(child, inside)

    def walk_list(self, nodes: Sequence["Node"], scope: FolderScope) -> None:
        """Read statements one after another. Commands behind a plain `exit` do not run."""
        for node in nodes:
            if not node.is_named:
                self.separator = node.type if node.type in (";", "&", "&&", "||") else (self.separator or ";")
                continue
            self.walk(node, scope)
            self.separator = ";"
            if node.type == "command" and text_of(node).split()[:1] == ["exit"]:
                return

    # Values of words -----------------------------------------------------------------------------------------------
    def variable(self, name: str) -> Word:
        """Return the value of a variable that the text sets."""
        return self.variables.get(name, _GAP)

    def substitution(self, node: "Node") -> Word:
        """Read the commands of a substitution; return its output if the text shows it."""
        start, separator = len(self.commands), self.separator
        stdin, sources = self.stdin, self.sources
        self.stdin, self.sources = None, ()
        self.walk_list([child for child in node.children if child.is_named], FolderScope(depth=5))
        added = self.commands[start:]
        self.separator, self.stdin = separator, stdin
        self.sources = (*sources, *(command.program for command in added))
        output = visible_output(added[0]) if len(added) == 1 else None
        if output is None:
            return _GAP
        if node.type == "process_substitution":
            path = f"/dev/fd/{len(self.files)}"
            self.files[path] = output
            return Word(text=path)
        return Word(text=output.rstrip("\n"))

    # Nodes ---------------------------------------------------------------------------------------------------------
    def command(self, node: "Node", scope: FolderScope) -> None:
        """Read a simple command with its assignments, arguments and redirects."""
        words: list[Word] = []
        assignments = list(scope.assignments)
        sources = self.sources
        for child in node.children:
            if child.type == "variable_assignment":
                assignments.append(self.assignment(child))
            elif child.type in _REDIRECTS:
                scope = self.redirect(child, scope)
            elif child.type == "command_name" or child.type in _ARGUMENTS:
                words.extend(self.split(child))
        words.extend(self.trailing)
        self.trailing = []
        self.run(words, surround(scope, assignments=tuple(assignments)))
        self.sources = sources
        if not words and scope.redirects:
            self.emit(ShellCommand(program=":", redirects=scope.redirects))

    def split(self, node: "Node") -> list[Word]:
        """Return the words of one node: unquoted variables and braces may give several."""
        source = text_of(node)
        items = self.variables.get(_SPLATS.get(source) or source.strip('"${}'))
        if items is not None and ("@" in source or "*" in source):
            return [Word(text=text) for text in items.text.split("\0") if text] if items.is_literal else [_GAP]
        word = word_of(node, self)
        inner = node.children[0] if node.type == "command_name" and node.child_count else node
        if inner.type in ("simple_expansion", "expansion") and word.is_literal:
            return [Word(text=text) for text in word.text.split()]
        return expand_braces(word) if inner.type in ("concatenation", "word") else [word]

    def assignment(self, node: "Node") -> tuple[str, str]:
        """Record a variable of the text, and return its name and value."""
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        word = Word() if value is None else word_of(value, self)
        key = text_of(name) if name is not None else ""
        self.variables[key] = word
        if value is not None and value.type == "array":
            items = [item for child in value.children if child.is_named for item in self.split(child)]
            is_literal = all(item.is_literal for item in items)
            self.variables[f"{key}[@]"] = Word(text="\0".join(item.text for item in items), is_literal=is_literal)
        return key, word.text

    def plain_assignment(self, node: "Node", scope: FolderScope) -> None:
        """Read `A=b` without a command."""
        del scope
        sources = self.sources
        self.assignment(node)
        self.sources = sources

    def redirect(self, node: "Node", scope: FolderScope) -> FolderScope:
        """Return the surroundings with a redirect or the text of a here-document."""
        if node.type == "herestring_redirect":
            word = word_of(node.children[-1], self)
            self.stdin = word.text if word.is_literal else None
            return scope
        if node.type == "heredoc_redirect":
            for child in node.children:
                if child.type == "heredoc_body":
                    self.stdin = text_of(child)
                elif child.type in _REDIRECTS:
                    scope = self.redirect(child, scope)
            return scope
        operator = "".join(child.type for child in node.children if not child.is_named)
        target = node.child_by_field_name("destination")
        word = _GAP if target is None else word_of(target, self)
        return surround(scope, redirects=(*scope.redirects, Redirect(operator=operator, target=word)))

    def redirected_statement(self, node: "Node", scope: FolderScope) -> None:
        """Read a statement with redirects. A here-document also holds the rest of its first line."""
        body = node.child_by_field_name("body")
        outer = self.stdin
        start = len(self.commands)
        redirects = [child for child in node.children if child.type in _REDIRECTS]
        for child in redirects:
            scope = self.redirect(child, scope)
        if body is not None and body.type == "command" and _lone_dash(node, body):
            self.trailing = [Word(text="-")]
        if body is None:
            self.emit(ShellCommand(program=":", redirects=scope.redirects, stdin=self.stdin))
        else:
            if body.type not in ("command", "list", "pipeline") and scope.redirects:
                self.emit(ShellCommand(program=":", redirects=scope.redirects))
            self.walk(body, scope)
        self.stdin = outer
        for child in redirects:
            if child.type == "heredoc_redirect":
                self.heredoc_line(child, start, scope)

    def heredoc_line(self, node: "Node", start: int, scope: FolderScope) -> None:
        """Read what stands behind `<<EOF` on its line: a pipe, or the next command of a list."""
        separator = ";"
        for child in node.children:
            if not child.is_named and child.type in ("&&", "||", ";", "&"):
                separator = child.type
            elif child.type == "pipeline":
                self.stages([item for item in child.children if item.is_named], start, scope)
            elif node.field_name_for_child(node.children.index(child)) == "right":
                self.separator = separator
                self.walk(child, FolderScope(depth=scope.depth))

    def pipeline(self, node: "Node", scope: FolderScope) -> None:
        """Read a pipeline: each stage knows the programs and the visible text in front of it."""
        self.stages([child for child in node.children if child.is_named], None, scope)

    def stages(self, nodes: Sequence["Node"], start: int | None, scope: FolderScope) -> None:
        """Read the stages of a pipeline. `start` is the first command in front of it, if it began elsewhere."""
        outer, sources = self.stdin, self.sources
        first = len(self.commands) if start is None else start
        for index, node in enumerate(nodes):
            if index or start is not None:
                added = self.commands[first:]
                self.sources = tuple(command.program for command in added)
                self.stdin = visible_output(added[-1]) if added else None
                self.separator = "|"
            self.walk(node, scope)
        self.stdin, self.sources = outer, sources

    def list_of(self, node: "Node", scope: FolderScope) -> None:
        """Read `a && b` and `a || b`; leave out what a plain `true` or `false` skips."""
        for child in node.children:
            if not child.is_named:
                self.separator = child.type
                if (text_of(node.children[0]).strip(), child.type) in (("false", "&&"), ("true", "||"), (":", "||")):
                    return
            else:
                self.walk(child, scope)

    def condition(self, node: "Node", scope: FolderScope) -> None:
        """Read `if`: a plain `false` as its condition skips the branch."""
        test = node.child_by_field_name("condition")
        is_false = test is not None and text_of(test) == "false"
        for child in node.children:
            if is_false and child.type not in ("else_clause", "elif_clause"):
                continue
            if child.is_named:
                self.separator = ";"
                self.walk(child, scope)

    def loop(self, node: "Node", scope: FolderScope) -> None:
        """Read a `for` loop once for each visible value."""
        name = node.child_by_field_name("variable")
        body = node.child_by_field_name("body")
        values = [word for value in node.children_by_field_name("value") for word in self.split(value)]
        key = text_of(name) if name is not None else ""
        if body is None:
            return
        for value in values[:_MAX_VALUES] or [_GAP]:
            has_glob = value.is_literal and any(sign in value.text for sign in "*?[")
            self.variables[key] = value if not has_glob else Word(text=value.text, is_literal=False)
            self.walk(body, scope)

    def subshell(self, node: "Node", scope: FolderScope) -> None:
        """Read `( … )`: its folder and variables end with it."""
        folder, variables = self.folder, dict(self.variables)
        self.walk_list(node.children, scope)
        self.folder, self.variables = folder, variables

    def function(self, node: "Node", scope: FolderScope) -> None:
        """Record a function; its commands run only where it is called."""
        del scope
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is not None and body is not None:
            self.functions[text_of(name)] = body

    def declaration(self, node: "Node", scope: FolderScope) -> None:
        """Read `export A=b` and its kin."""
        for child in node.children:
            if child.type == "variable_assignment":
                self.plain_assignment(child, scope)
            elif child.type in _ARGUMENTS:
                word_of(child, self)


def _lone_dash(node: "Node", body: "Node") -> bool:
    """Return True for `command - <<EOF`: the grammar drops a lone dash in front of a here-document."""
    source = node.text or b""
    start = body.end_byte - node.start_byte
    following = min((child.start_byte for child in node.children if child.start_byte >= body.end_byte), default=0)
    return source[start : following - node.start_byte].strip() == b"-"


_SPLATS = {'"$@"': "@", "$@": "@", "$*": "@", '"$*"': "@"}
_HANDLERS: Mapping[str, Callable[[Reader, "Node", FolderScope], None]] = {
    "command": Reader.command,
    "redirected_statement": Reader.redirected_statement,
    "pipeline": Reader.pipeline,
    "list": Reader.list_of,
    "if_statement": Reader.condition,
    "for_statement": Reader.loop,
    "subshell": Reader.subshell,
    "function_definition": Reader.function,
    "declaration_command": Reader.declaration,
    "variable_assignment": Reader.plain_assignment,
}
