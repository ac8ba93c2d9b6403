"""The hook script for Claude Code and Codex: sends the payload to the resident process and prints the answer.

The script is copied next to its state and run by path. It imports little, and only from the standard library, because
it runs at every prompt. It never fails and never waits long. If the resident process cannot be reached, the script
writes a note with the path of the transcript to the spool, without any message text, and starts the process.
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
    "copied": 1,
}
"""Payload fields written to the spool, with their maximum length. None contains message text."""
START = "SessionStart"
_TIMEOUT = 1.0
_START_TIMEOUT = 5.0
"""Maximum seconds that a session start waits for the resident process to start."""
_BYTES = 16_000_000


def main() -> None:
    """Deliver one payload. Errors are hidden from the agent: memory must never interrupt it."""
    try:
        agent, event = sys.argv[1], sys.argv[2]
        answer = deliver(find_folder(), agent, event, sys.stdin.buffer.read(_BYTES))
        sys.stdout.write(answer)
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001, S110 - see above
        pass
    os._exit(0)  # a normal interpreter exit takes longer and may still fail


def deliver(folder: str, agent: str, event: str, payload: bytes) -> str:
    """Return the answer of the resident process. If it cannot be reached, write a note to the spool."""
    answer = ask(folder, agent, event, payload, _TIMEOUT if event != START else _START_TIMEOUT)
    if answer is None:
        answer = read_copy(folder, payload) if event == START else None
        spool(folder, agent, event, payload, copied=answer is not None)
        start(folder)
        deadline = time.monotonic() + _START_TIMEOUT
        while answer is None and event == START and time.monotonic() < deadline:
            time.sleep(0.05)
            answer = ask(folder, agent, event, payload, max(0.05, deadline - time.monotonic()))
    return answer or ""


def find_folder() -> str:
    """Return the state folder: the folder of this file, or the user's data folder if installed as a plugin."""
    script_folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib takes longer to load
    if os.path.exists(os.path.join(script_folder, "hook.json")):  # noqa: PTH110, PTH118
        return script_folder
    base = os.environ.get("XDG_DATA_HOME") or (os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else "")
    mac = "Library/Application Support" if sys.platform == "darwin" else ".local/share"
    return os.path.join(base or os.path.join(os.path.expanduser("~"), mac), "bethink", "agents")  # noqa: PTH111, PTH118


def ask(folder: str, agent: str, event: str, payload: bytes, timeout: float) -> "str | None":
    """Return the answer of the resident process (empty for most events), or None without an answer."""
    try:
        link, token = open_connection(folder, timeout)
    except (OSError, ValueError):
        return None
    head = f"POST /hooks/{agent}/{event} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {len(payload)}\r\n{token}\r\n"
    try:
        link.sendall(head.encode() + payload)
        parts: list[bytes] = []
        while part := link.recv(65_536):
            parts.append(part)
        status, separator, body = b"".join(parts).partition(b"\r\n\r\n")
        return body.decode() if separator and b" 200 " in status[:16] else None
    except (OSError, ValueError):
        return None
    finally:
        link.close()


def open_connection(folder: str, timeout: float) -> "tuple[socket, str]":
    """Return a connection and its authorization header. A socket file needs none: only its owner can use it."""
    import socket  # noqa: PLC0415

    if hasattr(socket, "AF_UNIX"):
        link, token = socket.socket(socket.AF_UNIX), ""
        os.chdir(folder)  # socket paths are limited to about 100 characters
        address: object = "socket"
    else:
        port, secret = (read_text(folder, name) for name in ("port", "token"))
        link, token = socket.socket(), f"Authorization: Bearer {secret}\r\n"
        address = ("127.0.0.1", int(port))
    link.settimeout(timeout)
    try:
        link.connect(address)
    except BaseException:
        link.close()
        raise
    return link, token


def read_text(folder: str, name: str) -> str:
    """Return the text of a small file."""
    with open(os.path.join(folder, name), encoding="utf-8") as file:  # noqa: PTH118, PTH123
        return file.read().strip()


def pointers(payload: bytes) -> "dict[str, str]":
    """Return the pointer fields of a payload, without message text."""
    import json  # noqa: PLC0415

    try:
        values: Any = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    pairs = ((name, values.get(name)) for name in POINTERS if hasattr(values, "get"))
    return {name: value for name, value in pairs if isinstance(value, str) and len(value) <= POINTERS[name]}


def read_copy(folder: str, payload: bytes) -> "str | None":
    """Return the answer to an earlier start in the same folder, so that a cold start need not wait; None without one.

    The copies are next to the database, which removes them when anything is deleted from it.
    """
    import hashlib  # noqa: PLC0415

    name = hashlib.sha256(pointers(payload).get("cwd", "").encode("utf-8", "replace")).hexdigest()[:32]
    try:
        return read_text(read_text(folder, "copies"), name) or None
    except (OSError, ValueError):
        return None


def spool(folder: str, agent: str, event: str, payload: bytes, *, copied: bool = False) -> None:
    """Write a note for the resident process. Each note is a separate file, so concurrent hooks lose nothing."""
    fields = pointers(payload)
    if "session_id" in fields:
        write_note(folder, {**fields, "agent": agent, "event": event, **({"copied": "1"} if copied else {})})


def write_note(folder: str, note: "dict[str, str]") -> str:
    """Write one note to the spool, readable by its owner only, and return its path."""
    import json  # noqa: PLC0415

    spool_folder = os.path.join(folder, "spool")  # noqa: PTH118
    os.makedirs(spool_folder, mode=0o700, exist_ok=True)  # noqa: PTH103
    path = os.path.join(spool_folder, f"{time.time_ns():020}-{os.getpid()}-{next_number()}.json")  # noqa: PTH118
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
    """Start the resident process in the background. It exits immediately if one is already running."""
    import json  # noqa: PLC0415
    import subprocess  # noqa: PLC0415

    try:
        command = json.loads(read_text(folder, "hook.json"))["start"]
    except (OSError, ValueError, KeyError, TypeError):
        command = ["bethink", "serve", "--agents", folder]
    windows = sys.platform == "win32"
    subprocess.Popen(  # noqa: S603 - the command that `connect` wrote
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        start_new_session=not windows,
        creationflags=0x208 if windows else 0,  # new process group, no window
    )


if __name__ == "__main__":
    main()
