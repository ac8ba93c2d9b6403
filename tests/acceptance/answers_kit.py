"""Small files in the formats of the public sets, and a model that reads its notes and judges by the key."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import answers
from bethink.model.calls import ModelCall
from bethink.providers.scripted_model import Line, ScriptedModel

TOWNS = {"Ada": "Bergen", "Bo": "Lisbon", "Cy": "Quito"}
FILLER = [f"The weather was fine on walk number {number}, and we talked about bread." for number in range(40)]


LEAD = {"task_type": "Cas", "entity": ["reviewer"], "question": "Who reviews our code?"}
EPISODE = {
    "episode_id": "sw_001",
    "sessions": [
        {"timestamp": f"2023/03/0{day} (Wed) 09:00", "conversation": [{"role": "user", "content": text}]}
        for day, text in enumerate(("Lee reviews our code, or Kim if Ann leaves.", "Filler.", "Ann has left."), 1)
    ],
    "before_questions": {
        "timestamp": "2023/03/02 (Thu) 18:00",
        "position_after_session": 1,
        "questions": [{**LEAD, "expected_answer": "Lee"}],
    },
    "after_questions": {
        "timestamp": "2023/03/04 (Sat) 18:00",
        "position_after_session": 2,
        "questions": [{"task_type": "Tr", "entity": ["x"], "question": "Who?", "gold_answer": "Lee"},
                      {**LEAD, "gold_answer": "Kim"}],
    },
}  # fmt: skip


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def written(tmp_path: Path) -> Path:
    """Write one small file of each set, and return their folder."""
    locomo: list[dict[str, Any]] = []
    for name, town in TOWNS.items():
        said = [f"I moved to {town} yesterday!", *FILLER]
        turns = [{"speaker": name, "dia_id": f"D1:{place}", "text": text} for place, text in enumerate(said, 1)]
        questions = [
            {"question": f"Where did {name} move to?", "answer": town, "evidence": ["D1:1"], "category": 4},
            {"question": f"Why did {name} sell the boat?", "adversarial_answer": "money", "category": 5},
        ]
        talk = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
        locomo.append({"sample_id": f"conv-{name}", "conversation": talk, "qa": questions})
    write(tmp_path / "locomo" / "locomo10.json", locomo)
    chat = [{"clean_text": "hi", "speaker": "Ed", "date_time": "29.12.2023, 00:51:12", "dia_id": "D1:1"}]
    asked = {"question": "What?", "answer": "hi", "evidence": ["D1:01 and D:1:9"], "category": 2}
    write(tmp_path / "realtalk" / "Chat_1.json", {"session_1": chat, "qa": [asked]})
    turns = [
        {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "I use Flask. ->-> 1,1"},
        {"role": "assistant", "id": 1, "content": "Good."},
    ]
    write(tmp_path / "beam" / "100K" / "1" / "chat.json", [{"turns": [turns]}])
    probes = {
        "knowledge_update": [{"question": "What?", "answer": "Flask", "source_chat_ids": {"first": [0], "then": ["7"]}}]
    }
    write(tmp_path / "beam" / "100K" / "1" / "probing_questions" / "probing_questions.json", probes)
    write(tmp_path / "longmemeval" / "longmemeval_oracle.json", [long_record("q1", fillers=0)])
    write(tmp_path / "longmemeval" / "s_parts" / "1.json", long_record("q0_abs", fillers=60))
    write(tmp_path / "longmemeval" / "longmemeval_s.json", [long_record("q2", fillers=3)])
    write(tmp_path / "meme" / "meme_filler32k.json", [EPISODE])
    return tmp_path


def long_record(name: str, *, fillers: int) -> dict[str, Any]:
    names = ["answer_1", *(f"filler_{number}" for number in range(fillers))]
    told = [{"role": "user", "content": "My cat is Miez.", "has_answer": True}, {"role": "assistant", "content": "Oh."}]
    return {
        "question_id": name,
        "question_type": "single-session-user",
        "question": "What is my cat called?",
        "answer": "Miez",
        "question_date": "2023/05/20 (Sat) 02:21",
        "haystack_dates": ["2023/05/19 (Fri) 10:00"] * len(names),
        "haystack_session_ids": names,
        "haystack_sessions": [told, *([{"role": "user", "content": f"About {number}."}] for number in range(fillers))],
        "answer_session_ids": ["answer_1"],
    }


def reader(call: ModelCall) -> Line:
    """Answer from the notes, and judge by whether the key stands in the answer."""
    if "You mark one answer" in call.system:
        key, answer = re.findall(r"^(?:Key|Answer): (.*)$", call.prompt, re.MULTILINE)
        return "CORRECT" if key in answer else "I think not. WRONG"
    name = re.search(r"Where did (\w+)", call.prompt)
    if "lines of a memory" in call.system:  # the prompt of `ask`
        line = re.search(rf"I moved to (\w+) yesterday! \({name[1] if name else '?'}, .*(\[\^\w+\])", call.prompt)
        return f"{name[1]} moved to {line[1]}. {line[2]}" if name and line else "UNKNOWN"
    town = re.search(rf"{name[1] if name else '?'}: I moved to (\w+)", call.prompt)
    return f"{town[1]}." if town else "unknown"


def run(data: Path, *more: str, model: Callable[[ModelCall], Line] = reader, window: int = 32_000) -> int:
    scripted = ScriptedModel(model, name="reader", window=window)
    sets_asked = [] if "--set" in more or "--judge-only" in more else ["--set", "locomo"]
    arguments = ["--data", str(data), "--model", "openai:reader", "--embedder", "words", *sets_asked, *more]
    return answers.main(arguments, make=lambda _: scripted)


def rows(out: str) -> dict[str, list[str]]:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in out.splitlines() if line.startswith("|")]
    return {row[0]: row[1:] for row in cells}
