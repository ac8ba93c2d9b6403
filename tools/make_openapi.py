"""Write docs/reference/openapi.json from the table of operations. With --check, only compare."""

import json
import sys
from pathlib import Path

import bethink
from bethink.http import ServerOptions, create_app

PATH = Path(__file__).parent.parent / "docs" / "reference" / "openapi.json"


def build_document() -> str:
    """Return the text of the OpenAPI document."""
    document = create_app(bethink.connect(":memory:"), options=ServerOptions(mcp=False)).openapi()
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def main() -> int:
    text = build_document()
    if "--check" in sys.argv[1:]:
        current = PATH.read_text(encoding="utf-8") if PATH.exists() else ""
        if current != text:
            print(f"{PATH.name} is out of date: run python -m tools.make_openapi")
        return int(current != text)
    PATH.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
