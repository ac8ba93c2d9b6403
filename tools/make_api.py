"""Writes the package `bethink.api`, the handles that people call, from the table of operations.

A parameter of a verb is declared once, as a field of its request. Its name, type, default and description here follow
from that field.
"""

import argparse
import ast
import inspect
import subprocess
import sys
import textwrap
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints

from bethink.base.features import modules_named
from bethink.base.frozen import frozen
from bethink.model.messages import AnyMessages, Messages
from bethink.model.moments import ReadsMoment
from bethink.model.operations import VERBS
from bethink.model.operations.base import HandleClass, Request, Verb
from bethink.model.recall import Ref
from bethink.model.records import SessionInfo
from tools.exports import with_exports

_ROOT = Path(__file__).parent.parent
_TARGET = _ROOT / "src" / "bethink" / "api"
_WIDTH = 116
_MADE = "Written by tools/make_api.py from the table of operations; change a request there and run it again."

BOUND = {"session": ("session_id",)}
"""What a handle knows itself, so that its methods do not ask for it."""


@frozen
class Class:
    """A class of the API: what it is called, where it is written to, and which handle returns it."""

    name: str
    about: str
    base: str = "Handle"
    parent: str = ""
    """The handle that has a property for it."""
    module: str = ""
    """Where it is written to, if not in `bethink.api` under the name of its handle."""


_CORE = {
    "memory": Class(name="MemoryVerbs", about="What can be asked of a memory as a whole."),
    "space": Class(name="Space", base="SpaceHandle", about="One space: the memory of a user, a project or a team."),
    "session": Class(name="Session", base="SessionHandle", about="One session of a conversation."),
    "facts": Class(name="Facts", parent="space", about="The facts of a space."),
    "reviews": Class(name="Reviews", parent="space", about="The claims of a space that need review."),
    "rules": Class(name="Rules", parent="space", about="The rules by which a space learns."),
    "documents": Class(name="Documents", parent="space", about="The documents of a space."),
    "threads": Class(name="Threads", parent="space", about="The working memory of a space."),
    "spaces": Class(
        name="Spaces", base="SpacesHandle", about="Several spaces, searched together: one ranking, one budget."
    ),
}


def _of_features() -> dict[str, Class]:
    declared: dict[str, HandleClass] = {
        module.__name__: module.HANDLE for module in modules_named("operations") if hasattr(module, "HANDLE")
    }
    return {
        handle.name: Class(
            name=handle.class_name,
            parent=handle.parent,
            about=handle.summary,
            module=module.replace(".operations", ".handle"),
        )
        for module, handle in declared.items()
    }


CLASSES = {**_CORE, **_of_features()}
ALSO = {
    "session": ("space.recall", "space.context", "space.shown", "space.forget"),
    "spaces": ("space.recall", "space.context"),
}
"""Verbs of a space that other handles have, too: a session asks for itself, and several spaces are asked together."""

_WITHOUT = {"spaces": ("session_id",)}
"""What a handle's methods do not ask for: a session is of one space, and so is its ledger."""

_ONLY = {("session", "space.forget"): ("dry_run",)}
"""The fields that a handle's method asks for, where the others name something else than the handle."""

_LATE = (
    "bethink.features.",
    "bethink.model.operations.changes",
    "bethink.model.operations.monitoring",
    "bethink.model.operations.steering",
)
"""Operations that most programs never call: the call imports them, so that `import bethink` stays quick."""

_PROPERTY = '''
    @property
    def {handle}(self) -> "{name}":
        """{about}"""
        from {module} import {name}  # noqa: PLC0415 - most programs never use it

        return {name}(self._backend{space})
'''


class _Imports:
    """The names that a module uses, by where they come from."""

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {}

    def add(self, module: str, name: str) -> str:
        self._names.setdefault(module, set()).add(name)
        return name

    def of(self, kind: Any) -> str:
        return kind.__name__ if kind.__module__ == "builtins" else self.add(kind.__module__, kind.__name__)

    def text(self) -> str:
        return "\n".join(f"from {module} import {', '.join(sorted(names))}" for module, names in self._names.items())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if bethink/api is not what would be written")
    options = parser.parse_args()
    wanted = {path_of(handle): _formatted(_module(handle)) for handle in CLASSES}
    wanted[_TARGET / "__init__.py"] = '"""The API: one method for each verb. Written by tools/make_api.py."""\n'
    root = _TARGET.parent / "__init__.py"
    wanted[root] = _formatted(with_exports(root.read_text(encoding="utf-8")))
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if options.check:
        print("the API is out of date: run python -m tools.make_api" if stale else "the API is up to date")
        return 1 if stale else 0
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    print(f"wrote {len(wanted)} files of the API")
    return 0


def module_of(handle: str) -> str:
    """Return the module that a class of the API is written to."""
    return CLASSES[handle].module or f"bethink.api.{handle}"


def path_of(handle: str) -> Path:
    """Return the file that a class of the API is written to."""
    return (_ROOT / "src" / module_of(handle).replace(".", "/")).with_suffix(".py")


def _module(handle: str) -> str:
    cls = CLASSES[handle]
    imports = _Imports()
    imports.add("bethink.api.handles", cls.base)
    verbs = [verb for verb in VERBS if verb.handle == handle]
    verbs += [verb for verb in VERBS if verb.name in ALSO.get(handle, ())]
    methods = [_method(verb, handle, imports) for verb in verbs]
    head = [f'"""{cls.about}\n\n{_MADE}\n"""\n']
    children = {name: child for name, child in CLASSES.items() if child.parent == handle}
    properties = "".join(_property(name, child, handle) for name, child in children.items())
    lines = [f"class {cls.name}({cls.base}):", f'    """{cls.about}"""', properties, *methods]
    if children:
        imports.add("typing", "TYPE_CHECKING")
        types = "".join(f"\n    from {module_of(name)} import {child.name}" for name, child in children.items())
        lines.insert(0, f"if TYPE_CHECKING:{types}\n\n")
    return "\n".join([*head, imports.text(), "\n", *lines])


def _property(handle: str, cls: Class, parent: str) -> str:
    space = ", self._space" if parent == "space" else ""
    return _PROPERTY.format(handle=handle, name=cls.name, about=cls.about, module=module_of(handle), space=space)


def parameters_of(verb: Verb[Any, Any], handle: str) -> tuple[list[Field[Any]], list[Field[Any]]]:
    """Return the fields that a handle's method takes by position, and those that it takes by name."""
    only = _ONLY.get((handle, verb.name), get_type_hints(verb.request))
    left_out = {*BOUND.get(handle, ()), *_WITHOUT.get(handle, ())}
    asked = [each for each in fields(verb.request) if each.name in only and each.name not in left_out]
    first = [each for each in asked if _required(each)]
    first += [each for each in asked if each.name in verb.positional and not _required(each)]
    return first, [each for each in asked if each not in first]


def _method(verb: Verb[Any, Any], handle: str, imports: _Imports) -> str:
    bound = BOUND.get(handle, ())
    hints = get_type_hints(verb.request, include_extras=True)
    first, rest = parameters_of(verb, handle)
    asked = [each for each in fields(verb.request) if each in first or each in rest]
    parameters = ["self", *(_parameter(each, hints[each.name], imports) for each in first)]
    if rest:
        parameters += ["*", *(_parameter(each, hints[each.name], imports) for each in rest)]
    opens, may = verb.result is SessionInfo, verb.result == SessionInfo | None
    opened = _session(handle, imports) if opens or may else ""
    returns = (f"{opened} | None" if may else opened) if opened else _spelt(verb.result, imports)
    given = [f"{each}=self.id" for each in bound if each in hints]
    given += [f"{each.name}={_converted(each.name, hints[each.name], imports)}" for each in asked]
    constant, module = _constant(verb)
    late = _Imports()
    loaded = late if _is_late(module, handle) else imports
    request_from = loaded if _is_late(verb.request.__module__, handle) else imports
    request = f"{request_from.of(verb.request)}({', '.join(given)})"
    call = f"await self._run({loaded.add(module, constant)}, {request})"
    body = f"return {opened.strip(chr(34))}(self._backend, {call})" if opens else f"return {call}"
    if may:
        body = f"found = {call}\n        return None if found is None else {opened}(self._backend, found)"
    about = _documentation(verb, [*first, *rest])
    return "\n".join(
        [
            f"    async def {verb.method_name}({', '.join(parameters)}) -> {returns}:",
            about,
            *(f"        {line}  # noqa: PLC0415 - see tools/make_api.py\n" for line in late.text().splitlines()),
            f"        {body}",
            "",
        ]
    )


def _is_late(module: str, handle: str) -> bool:
    # A class of a feature is itself loaded late.
    return module.startswith(_LATE) and not CLASSES[handle].module


def _session(handle: str, imports: _Imports) -> str:
    return '"Session"' if handle == "session" else imports.add("bethink.api.session", "Session")


def _constant(verb: Verb[Any, Any]) -> tuple[str, str]:
    module = verb.request.__module__
    for name in [name for name in sys.modules if name.startswith("bethink.") and "operations" in name.split(".")]:
        found = sys.modules[name]
        for constant, value in vars(found).items():
            if value is verb:
                return constant, found.__name__
    raise LookupError(f"{verb.name} of {module} has no constant")


def _required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _parameter(field: Field[Any], hint: Any, imports: _Imports) -> str:
    text = f"{field.name}: {_accepted(hint, imports)}"
    return text if _required(field) else f"{text} = {_default(field.default, imports)}"


def _default(value: Any, imports: _Imports) -> str:
    if isinstance(value, Enum):
        return f"{imports.of(type(value))}.{value.name}"
    first = next(iter(cast("tuple[object, ...]", value)), None) if isinstance(value, tuple) else None
    if isinstance(first, Enum) and tuple(type(first)) == value:
        return f"tuple({imports.of(type(first))})"
    return repr(cast("object", value))


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _accepted(hint: Any, imports: _Imports) -> str:
    """Spell the type that a person may pass for a field."""
    if hint in (Messages, AnyMessages):
        return imports.add("bethink.model.messages", "Given")
    hint = _bare(hint)
    if get_origin(hint) in (Union, UnionType):
        return " | ".join(_accepted(each, imports) for each in get_args(hint))
    if get_origin(hint) is tuple:
        return f"{imports.add('collections.abc', 'Iterable')}[{_accepted(get_args(hint)[0], imports)}]"
    if hint is datetime:
        return imports.add("bethink.model.moments", "When")
    if hint is Ref:
        return f"{imports.of(Ref)} | str"
    return _spelt(hint, imports)


def _spelt(hint: Any, imports: _Imports) -> str:
    hint = _bare(hint)
    if hint is None or hint is NoneType:
        return "None"
    if get_origin(hint) in (Union, UnionType):
        return " | ".join(_spelt(each, imports) for each in get_args(hint))
    if get_origin(hint) is not None:
        inner = ", ".join("..." if each is Ellipsis else _spelt(each, imports) for each in get_args(hint))
        return f"{imports.of(get_origin(hint))}[{inner}]"
    return imports.of(hint)


def _converted(name: str, hint: Any, imports: _Imports) -> str:
    """Spell how an argument becomes what its field holds."""
    if hint in (Messages, AnyMessages):
        return f"{imports.add('bethink.model.messages', 'messages_from')}({name})"
    declared, hint = hint, _bare(hint)
    optional = get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint)
    inner = next((_bare(each) for each in get_args(hint) if each is not NoneType), hint) if optional else hint
    convert = ""
    if inner is datetime:
        convert = f"{imports.of(_reader(declared))}({name})"
    elif inner is Ref:
        convert = f"Ref.read({name})"
    elif get_origin(inner) is tuple and get_args(inner)[0] is Ref:
        convert = f"tuple(map(Ref.read, {name}))"
    elif get_origin(inner) is tuple:
        convert = f"{imports.add('bethink.api.handles', 'tuple_of')}({name})"
    if not convert:
        return name
    return f"None if {name} is None else {convert}" if optional else convert


def _reader(hint: Any) -> Any:
    """Return the function that reads a time: a day means its end for one field, its beginning for another."""
    found = (each for part in (hint, *get_args(hint)) for each in getattr(part, "__metadata__", ()))
    return next(each.read for each in found if isinstance(each, ReadsMoment))


def _documentation(verb: Verb[Any, Any], asked: list[Field[Any]]) -> str:
    lines = [verb.summary]
    if verb.details:
        lines += ["", *_wrapped(verb.details, 8, "")]
    if asked:
        about = _descriptions(verb.request)
        lines += ["", "Args:"]
        for each in asked:
            lines += _wrapped(f"{each.name}: {about[each.name]}", 12, "    ")
    if verb.raises:
        lines += ["", "Raises:"]
        for each in verb.raises.replace(". ", ".\n").splitlines():
            lines += _wrapped(each, 12, "    ")
    if len(lines) == 1:
        return f'        """{verb.summary}"""'
    body = "\n".join(f"        {line}".rstrip() for line in lines[1:])
    return f'        """{lines[0]}\n{body}\n        """'


def _wrapped(text: str, indent: int, lead: str) -> list[str]:
    found = textwrap.wrap(text, _WIDTH - indent)
    return [
        f"{lead}{line}" if not number else f"{lead}    {line}" if lead else line for number, line in enumerate(found)
    ]


def _descriptions(request: type[Request]) -> dict[str, str]:
    """Read the texts that stand under the fields of a request and of its bases."""
    found: dict[str, str] = {}
    for base in reversed(request.__mro__):
        if not is_dataclass(base):
            continue
        [tree] = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(tree, ast.ClassDef)
        for field, text in zip(tree.body, tree.body[1:], strict=False):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(said))):
                    found[name] = " ".join(said.split())
                case _:
                    pass
    return found


def _formatted(text: str) -> str:
    name = str(_TARGET / "space.py")
    for step in (["check", "--select", "I,F401", "--fix", "--quiet"], ["format"]):
        command = [sys.executable, "-m", "ruff", *step, "--stdin-filename", name, "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    sys.exit(main())
