"""Spaces of a folder: the user's own, and one per project, read from git files without running git."""

import hashlib
import re
from configparser import Error as ConfigError
from configparser import RawConfigParser
from pathlib import Path
from urllib.parse import urlsplit

from bethink.agents.ignore import is_ignored
from bethink.base.frozen import frozen

PERSON = "default"
"""The user's own space, which is also the default of `bethink recall`."""
_PREFIX = "project:"
_MAX_NAME = 120
_REMOTE = re.compile(r'remote "(.+)"')
_SCP = re.compile(r"(?:[^@/\s]+@)?([^:/\s]+):(?!//)(.+)")
_DEFAULT_PORTS = (None, 80, 443)
_UNSAFE = re.compile(r"[^\w./@+-]+")


@frozen
class ProjectScope:
    """The spaces of a folder. Sessions are stored in `home`; context comes from `spaces`."""

    person: str | None
    project: str | None
    ignored: bool = False

    @property
    def home(self) -> str | None:
        """The space where sessions in this folder are stored; None if they are not stored."""
        return None if self.ignored else self.project or self.person

    @property
    def spaces(self) -> tuple[str, ...]:
        """The spaces that provide context in this folder, the project's first."""
        return () if self.ignored else tuple(filter(None, (self.project, self.person)))


def scope_of(folder: str | Path, *, project_only: bool = False) -> ProjectScope:
    """Return the spaces of a folder.

    A folder in a git repository belongs to the project of its remote, so clones and worktrees share a project.
    Without a remote, the project is the local repository. Other folders, and a home folder that is itself a
    repository, belong to the user. With `project_only`, nothing is stored or shown outside projects.
    """
    path = Path(folder).expanduser()
    try:
        path = path.resolve()
        person = None if project_only else PERSON
        return ProjectScope(person=person, project=_project(path), ignored=is_ignored(path))
    except (OSError, RuntimeError, ValueError):  # an inaccessible folder is ignored
        return ProjectScope(person=None, project=None, ignored=True)


def _project(path: Path) -> str | None:
    home = _home()
    for folder in (path, *path.parents):
        marker = folder / ".git"
        if folder != home and marker.exists():
            shared = _shared_folder(marker)
            return None if shared is None else _project_name(shared)
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


def _project_name(shared: Path) -> str:
    remote = _remote(shared / "config")
    plain = "" if remote is None else plain_remote(remote)
    if plain:
        return _PREFIX + (plain if len(plain) <= _MAX_NAME else f"{plain[:_MAX_NAME]}-{_digest(plain)}")
    root = shared.parent if shared.name == ".git" else shared
    return f"{_PREFIX}{_UNSAFE.sub('-', root.name)[:_MAX_NAME]}-{_digest(str(shared))}"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()


def _remote(config: Path) -> str | None:
    """Return the URL of `origin`, or of the first remote by name."""
    parser = RawConfigParser(strict=False, allow_no_value=True, comment_prefixes=("#", ";"))
    try:
        parser.read_string(config.read_text(encoding="utf-8", errors="replace"))
    except (OSError, ConfigError):
        return None
    urls = {
        match[1]: parser.get(section, "url", fallback=None)
        for section in parser.sections()
        if (match := _REMOTE.fullmatch(section))
    }
    remotes = {name: url for name, url in urls.items() if url}
    return remotes.get("origin") or next((remotes[name] for name in sorted(remotes)), None)


def plain_remote(address: str) -> str:
    """Normalize the URL of a remote to `host/path`, without a password."""
    address = address.strip().strip('"')
    if "://" in address:
        try:
            parts = urlsplit(address)
            host, path = parts.hostname or "", parts.path
            # The port separates two servers on one machine. For ssh, it does not identify the repository.
            if parts.port not in _DEFAULT_PORTS and parts.scheme in ("http", "https"):
                host = f"{host}@{parts.port}"
        except ValueError:
            return ""
    elif scp := _SCP.fullmatch(address):
        host, path = scp[1].lower(), scp[2]
    else:
        host, path = "", address  # a folder on this machine
        if not path.startswith(("/", "~")):
            return ""
    path = _UNSAFE.sub("-", path.strip("/").removesuffix("/").removesuffix(".git"))
    return f"{host}/{path}".strip("/")
