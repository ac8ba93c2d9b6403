"""Recall of facts by questions that share few words with them: `data/facts.jsonl`, six people, six languages.

Each person has facts and some talk beside them. A question is answered if the right fact is among the first five. Set
weights and word lists on the half `tune`; the half `report` shows what they are worth.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import anyio

from bethink import Fact, Message, connect
from bethink.config.groups import EmbedderSettings
from bethink.config.settings import Settings
from bethink.model.refs import RefKind

DATA = Path(__file__).parent / "data" / "facts.jsonl"
FIRST = 5
HALVES = ("tune", "report")


def people(path: Path = DATA) -> list[dict[str, Any]]:
    """Read the set: one person a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def asked(rows: list[dict[str, Any]]) -> list[tuple[str, str, bool, str]]:
    """Ask every question, by words; returns for each its half, its language, whether it was answered, and what came."""
    found: list[tuple[str, str, bool, str]] = []
    async with connect(":memory:", settings=Settings(embedder=EmbedderSettings(name="none"))) as memory:
        for row in rows:
            space = memory.space(row["space"])
            session = await space.session("talk")
            await session.append([Message(role="user", content=text) for text in row["messages"]])
            for place, fact in enumerate(row["facts"]):
                await space.facts.save(_fact(place, fact))
            for question in row["questions"]:
                items = (await space.recall(question["question"], limit=FIRST)).items
                right = any(item.ref.kind is RefKind.FACT and int(item.ref.id) in question["answers"] for item in items)
                came = " | ".join(f"{item.ref.kind}: {item.text[:50]}" for item in items)
                found.append((question["half"], row["language"], right, f"{question['question']} {came}"))
    return found


def _fact(place: int, fact: dict[str, Any]) -> Fact:
    about = fact["about"]
    return Fact(
        id=str(place),
        text=fact["content"],
        kind=fact["kind"],
        slot=fact["slot"],
        subject="user" if about is None else about.casefold(),
        entities=() if about is None else (about,),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--missed", action="store_true", help="print the questions of the half `tune` that were missed")
    options = parser.parse_args()
    found = anyio.run(asked, people())
    print("| half | " + " | ".join(dict.fromkeys(language for _, language, _, _ in found)) + " | all |")
    for half in HALVES:
        mine = [each for each in found if each[0] == half]
        right = Counter(language for _, language, is_right, _ in mine if is_right)
        total = Counter(language for _, language, _, _ in mine)
        cells = [f"{right[language]} of {count}" for language, count in total.items()]
        print(f"| {half} | {' | '.join(cells)} | {right.total()} of {total.total()} |")
    for half, language, is_right, text in found:
        if options.missed and half == "tune" and not is_right:
            print(f"missed, {language}: {text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
