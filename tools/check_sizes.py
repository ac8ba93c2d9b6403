"""Fail if a file has over 500 lines or a function over 80; list those over 400 and 50."""

import ast
import sys
from pathlib import Path

FILE_TARGET, FILE_LIMIT = 400, 500
FUNCTION_TARGET, FUNCTION_LIMIT = 50, 80
_ROOT = Path(__file__).parent.parent
_FOLDERS = ("src", "packages", "tests", "tools", "faults", "benchmarks", "docs_src", "examples")
_GENERATED = ("src/bethink/sync.py", "src/bethink/api/")


def sizes(path: Path) -> list[tuple[str, int, int, int]]:
    """Measure a file and its functions: name, lines, target and limit."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(_ROOT).as_posix() if path.is_relative_to(_ROOT) else path.name
    results = [(name, len(text.splitlines()), FILE_TARGET, FILE_LIMIT)]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            results.append((f"{name}:{node.lineno} {node.name}", lines, FUNCTION_TARGET, FUNCTION_LIMIT))
    return results


def main() -> int:
    files = [
        path
        for folder in _FOLDERS
        for path in sorted((_ROOT / folder).rglob("*.py"))
        if not path.relative_to(_ROOT).as_posix().startswith(_GENERATED)
    ]
    measured = [entry for path in files for entry in sizes(path)]
    for name, lines, target, limit in measured:
        if lines > target:
            print(f"{'too long' if lines > limit else 'growing'}: {name}: {lines} lines (limit {limit})")
    failed = sum(lines > limit for _, lines, _, limit in measured)
    print(f"sizes: {len(files)} files, {failed} over the limit")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
