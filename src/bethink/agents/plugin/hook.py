"""What Claude Code and Codex run at a hook: passes the payload on to the resident process, and prints its answer.

It is copied beside the state that it uses, and run by path: it imports nothing but the standard library, and of that
little, because it runs at every prompt. It never fails and never waits for long. Where the resident process cannot be
reached, it leaves a note in the spool that says where the transcript is, with no word of what was said, and starts it.
"""

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from socket import socket
    from typing import Any

POINTERS = {
    "session_id": 200,
    "transcript_path": 4_096,
    "agent_transcript_path": 4_096,
    "agent_id": 200,
    "cwd": 4_096,
    "source": 40,
    "trigger": 40,
    "reason": 40,
}
"""The fields of a payload that are noted, and how long each may be. None of them is anything that was said."""
START = "SessionStart"
_TIMEOUT = 1.0
_COLD = 5.0
"""Seconds that a session's start may wait for a resident process that has to be started first."""
_BYTES = 16_000_000


def main() -> None:
    """Pass one payload on. Whatever goes wrong, the agent is not told: memory must never be in its way."""
    try:
        agent, event = sys.argv[1], sys.argv[2]
        answer = deliver(find_folder(), agent, event, sys.stdin.buffer.read(_BYTES))
        sys.stdout.write(answer)
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001, S110 - see above
        pass
    os._exit(0)  # an interpreter that ends in order takes longer, and may still fail


def deliver(folder: str, agent: str, event: str, payload: bytes) -> str:
    """Return what the resident process answers; note the payload in the spool if that cannot be reached."""
    answer = ask(folder, agent, event, payload, _TIMEOUT if event != START else _COLD)
    if answer is None:
        spool(folder, agent, event, payload)
        start(folder)
        deadline = time.monotonic() + _COLD
        while answer is None and event == START and time.monotonic() < deadline:
            time.sleep(0.05)
            answer = ask(folder, agent, event, payload, max(0.05, deadline - time.monotonic()))
    return answer or ""


def find_folder() -> str:
    """Return the folder of the state: that of this file, or the user's own where this file came with a plugin."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib takes longer to load
    if os.path.exists(os.path.join(here, "hook.json")):  # noqa: PTH110, PTH118
        return here
    given = os.environ.get("XDG_DATA_HOME") or (os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else "")
    mac = "Library/Application Support" if sys.platform == "darwin" else ".local/share"
    return os.path.join(given or os.path.join(os.path.expanduser("~"), mac), "bethink", "agents")  # noqa: PTH111, PTH118


def ask(folder: str, agent: str, event: str, payload: bytes, timeout: float) -> "str | None":
    """Return the answer of the resident process, which is empty for most events; None if there was none."""
    try:
        link, token = connected(folder, timeout)
    except (OSError, ValueError):
        return None
    head = f"POST /hooks/{agent}/{event} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {len(payload)}\r\n{token}\r\n"
    try:
        link.sendall(head.encode() + payload)
        parts: list[bytes] = []
        while part := link.recv(65_536):
            parts.append(part)
        status, found, body = b"".join(parts).partition(b"\r\n\r\n")
        return body.decode() if found and b" 200 " in status[:16] else None
    except (OSError, ValueError):
        return None
    finally:
        link.close()


def connected(folder: str, timeout: float) -> "tuple[socket, str]":
    """Return a connection, and the header that opens it. A socket file needs none: only its owner can use it."""
    import socket  # noqa: PLC0415

    if hasattr(socket, "AF_UNIX"):
        link, token = socket.socket(socket.AF_UNIX), ""
        os.chdir(folder)  # the path of a socket may have about 100 characters, and a folder can be deep
        address: object = "socket"
    else:
        port, secret = (read(folder, name) for name in ("port", "token"))
        link, token = socket.socket(), f"Authorization: Bearer {secret}\r\n"
        address = ("127.0.0.1", int(port))
    link.settimeout(timeout)
    try:
        link.connect(address)
    except BaseException:
        link.close()
        raise
    return link, token


def read(folder: str, name: str) -> str:
    """Return the text of a small file."""
    with open(os.path.join(folder, name), encoding="utf-8") as file:  # noqa: PTH118, PTH123
        return file.read().strip()


def pointers(payload: bytes) -> "dict[str, str]":
    """Return where a payload points to, and nothing of what was said."""
    import json  # noqa: PLC0415

    try:
        given: Any = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    found = ((name, given.get(name)) for name in POINTERS if hasattr(given, "get"))
    return {name: value for name, value in found if isinstance(value, str) and len(value) <= POINTERS[name]}


def spool(folder: str, agent: str, event: str, payload: bytes) -> None:
    """Leave a note for the next contact. A file of its own each: nothing is lost if two hooks run at once."""
    found = pointers(payload)
    if "session_id" in found:
        write_note(folder, {**found, "agent": agent, "event": event})


def write_note(folder: str, note: "dict[str, str]") -> str:
    """Write one note to the spool, readable by its owner only, and return its path."""
    import json  # noqa: PLC0415

    place = os.path.join(folder, "spool")  # noqa: PTH118
    os.makedirs(place, mode=0o700, exist_ok=True)  # noqa: PTH103
    path = os.path.join(place, f"{time.time_ns():020}-{os.getpid()}-{next_number()}.json")  # noqa: PTH118
    with os.fdopen(os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(note, file)
    os.rename(f"{path}.new", path)  # noqa: PTH104
    return path


def next_number() -> int:
    """Return a number that this process has not used yet."""
    _numbers.append(len(_numbers))
    return _numbers[-1]


_numbers: "list[int]" = []


def start(folder: str) -> None:
    """Start the resident process, on its own and without waiting. One that runs already makes it end at once."""
    import json  # noqa: PLC0415
    import subprocess  # noqa: PLC0415

    try:
        command = json.loads(read(folder, "hook.json"))["start"]
    except (OSError, ValueError, KeyError, TypeError):
        command = ["bethink", "serve", "--agents", folder]
    windows = sys.platform == "win32"
    subprocess.Popen(  # noqa: S603 - what `connect` wrote
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        start_new_session=not windows,
        creationflags=0x208 if windows else 0,  # a group of its own, without a window
    )


if __name__ == "__main__":
    main()
