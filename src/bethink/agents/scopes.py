"""Which spaces a folder belongs to: the person's own, and one per project, told by git without running it."""

import hashlib
import re
from configparser import Error as ConfigError
from configparser import RawConfigParser
from pathlib import Path
from urllib.parse import urlsplit

from bethink.agents.ignore import ignored
from bethink.base.frozen import frozen

PERSON = "default"
"""The person's own space: the one that `bethink recall` asks, too, when no space is named."""
_PREFIX = "project:"
_LONGEST = 120
_REMOTE = re.compile(r'remote "(.+)"')
_SCP = re.compile(r"(?:[^@/\s]+@)?([^:/\s]+):(?!//)(.+)")
_USUAL = (None, 80, 443)
_ODD = re.compile(r"[^\w./@+-]+")


@frozen
class ProjectScope:
    """The spaces of a folder. `home` is where its sessions are stored; what is shown there comes from `spaces`."""

    person: str | None
    project: str | None
    ignored: bool = False

    @property
    def home(self) -> str | None:
        """The space that sessions in this folder are stored in; None if they are not stored at all."""
        return None if self.ignored else self.project or self.person

    @property
    def spaces(self) -> tuple[str, ...]:
        """The spaces whose memory may be shown in this folder, the project's first."""
        return () if self.ignored else tuple(filter(None, (self.project, self.person)))


def scope_of(folder: str | Path, *, project_only: bool = False) -> ProjectScope:
    """Return the spaces of a folder.

    A folder in a git repository belongs to the project of its remote: a clone and a worktree are the same project.
    Without a remote, it is the repository on this machine. All others belong to the person; so does a home folder that
    is itself a repository. With `project_only`, nothing is stored or shown outside of projects.
    """
    path = Path(folder).expanduser()
    try:
        path = path.resolve()
        person = None if project_only else PERSON
        return ProjectScope(person=person, project=_project(path), ignored=ignored(path))
    except (OSError, RuntimeError, ValueError):  # a folder that cannot be looked at is left out
        return ProjectScope(person=None, project=None, ignored=True)


def _project(path: Path) -> str | None:
    home = _home()
    for folder in (path, *path.parents):
        marker = folder / ".git"
        if folder != home and marker.exists():
            shared = _shared_folder(marker)
            return None if shared is None else _named(shared)
    return None


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except RuntimeError:
        return None


def _shared_folder(marker: Path) -> Path | None:
    """Return the folder that all worktrees of a repository share."""
    if marker.is_dir():
        return marker
    word, _, target = marker.read_text(encoding="utf-8", errors="replace").strip().partition(":")
    if word != "gitdir":
        return None
    own = (marker.parent / target.strip()).resolve()
    common = own / "commondir"
    return (own / common.read_text(encoding="utf-8").strip()).resolve() if common.is_file() else own


def _named(shared: Path) -> str:
    remote = _remote(shared / "config")
    plain = "" if remote is None else plain_remote(remote)
    if plain:
        return _PREFIX + (plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST]}-{_digest(plain)}")
    root = shared.parent if shared.name == ".git" else shared
    return f"{_PREFIX}{_ODD.sub('-', root.name)[:_LONGEST]}-{_digest(str(shared))}"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()


def _remote(config: Path) -> str | None:
    """Return the address of `origin`, or else of the first remote by name."""
    parser = RawConfigParser(strict=False, allow_no_value=True, comment_prefixes=("#", ";"))
    try:
        parser.read_string(config.read_text(encoding="utf-8", errors="replace"))
    except (OSError, ConfigError):
        return None
    found = {
        match[1]: parser.get(each, "url", fallback=None)
        for each in parser.sections()
        if (match := _REMOTE.fullmatch(each))
    }
    known = {name: url for name, url in found.items() if url}
    return known.get("origin") or next((known[name] for name in sorted(known)), None)


def plain_remote(address: str) -> str:
    """Return the address of a remote as `host/path`, the same for every way to write it, and without a password."""
    address = address.strip().strip('"')
    if "://" in address:
        try:
            parts = urlsplit(address)
            host, path = parts.hostname or "", parts.path
            # Two servers on one machine are told apart; by ssh the port says nothing about the repository.
            if parts.port not in _USUAL and parts.scheme in ("http", "https"):
                host = f"{host}@{parts.port}"
        except ValueError:
            return ""
    elif scp := _SCP.fullmatch(address):
        host, path = scp[1].lower(), scp[2]
    else:
        host, path = "", address  # a folder on this machine
        if not path.startswith(("/", "~")):
            return ""
    path = _ODD.sub("-", path.strip("/").removesuffix("/").removesuffix(".git"))
    return f"{host}/{path}".strip("/")
