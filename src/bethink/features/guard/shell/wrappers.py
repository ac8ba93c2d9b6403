"""Programs that run another program, as a table: which options take a value, and where the inner command starts."""

from collections.abc import Mapping, Sequence

from bethink.base.frozen import frozen
from bethink.features.guard.shell.records import Word
from bethink.features.guard.tables import word_set

_ALL = -1


@frozen
class Wrapper:
    """How a program names the command that it runs."""

    subcommands: tuple[tuple[str, ...], ...] = ()
    """Subcommands that run something (`uv run`); empty if the program itself does."""
    excluded: frozenset[str] = frozenset()
    """With a shorthand such as `yarn TOOL`: first words that are the program's own."""
    value_options: frozenset[str] = frozenset()
    text_options: frozenset[str] = frozenset()
    """Options whose value is shell text (`-c`)."""
    module_options: frozenset[str] = frozenset()
    """Options whose value is a program (`-m pytest`)."""
    skipped: int = 0
    """Positional words before the inner command."""
    assignments: bool = False
    joins: bool = False
    """True if the words form a shell text (`eval`, `ssh`, `watch`)."""
    needs_dashes: bool = False
    """True if only the words behind `--` are a command."""
    is_remote: bool = False
    strips_version: bool = False
    """True if the tool may carry a version (`tool@1.2`)."""
    reads_input: bool = False
    """True if the program runs its standard input (`sh`)."""
    lookups: frozenset[str] = frozenset()
    """Options that only look something up (`command -v`)."""


@frozen
class Inner:
    """The command inside a wrapper: words, or shell text."""

    words: tuple[Word, ...] = ()
    text: Word | None = None
    wrapper: Wrapper


def _options(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _plain(values: str = "", *, skipped: int = 0) -> Wrapper:
    return Wrapper(value_options=_options(values), skipped=skipped)


def _runner(subcommands: str, values: str = "", *, modules: str = "", dashes: bool = False) -> Wrapper:
    return Wrapper(
        subcommands=tuple(tuple(item.split()) for item in subcommands.split(",")),
        value_options=_options(values),
        module_options=_options(modules),
        needs_dashes=dashes,
        strips_version=True,
    )


def _remote(subcommands: str, values: str, *, skipped: int = 1, dashes: bool = False) -> Wrapper:
    return Wrapper(
        subcommands=tuple(tuple(item.split()) for item in subcommands.split(",")) if subcommands else (),
        value_options=_options(values),
        skipped=skipped,
        is_remote=True,
        needs_dashes=dashes,
    )


_SHELL = Wrapper(
    text_options=_options("-c --command"),
    value_options=_options("-o +o -O +O --rcfile --init-file"),
    reads_input=True,
    lookups=_options("-n --version --help"),
)
_TOOL_VALUES = "--from --with -p --python --package --spec --index-url --index -c"
_UV_VALUES = (
    "--with --with-editable --with-requirements -p --python --extra --group --only-group --no-group --env-file "
    "--project --directory --package --index --index-url --extra-index-url --refresh-package -P"
)
_CONTAINER_VALUES = (
    "-e --env --env-file -v --volume -w --workdir -u --user --name --network --net -p --publish --entrypoint --mount "
    "-h --hostname -l --label --memory -m --cpus --platform --pull --gpus --add-host --restart --shm-size --ulimit "
    "--ip --index -f --file --profile --project-directory --project-name"
)
_JS_OWN = word_set(
    "add audit bin cache ci config create dedupe deploy dlx exec env fetch help import info init install i in it "
    "link list ls licenses login logout outdated owner pack patch prune publish rebuild remove rm root run run-script "
    "server setup store start stop test t tag tst uninstall un unlink up update upgrade upgrade-interactive version "
    "versions view why workspace workspaces set get plugin npm node self-update pm x build approve-builds"
)

WRAPPERS: Mapping[str, Wrapper] = {
    **dict.fromkeys(("sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "mksh", "rbash"), _SHELL),
    "sudo": Wrapper(
        value_options=_options(
            "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot --role --type "
            "--close-from --other-user --command-timeout"
        ),
        assignments=True,
    ),
    "doas": _plain("-u -C"),
    "sg": Wrapper(text_options=_options("-c"), skipped=1),
    "setpriv": _plain("--reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits --pdeathsig"),
    "gosu": _plain(skipped=1),
    "su-exec": _plain(skipped=1),
    "s6-setuidgid": _plain(skipped=1),
    "chpst": _plain("-u -e -m -o -p -f -c -t -/ -l -L"),
    "envdir": _plain(skipped=1),
    "faketime": _plain("-f", skipped=1),
    "wait-for-it": Wrapper(needs_dashes=True),
    "wait-for-it.sh": Wrapper(needs_dashes=True),
    "dockerize": _plain("-wait -timeout -template -stdout -stderr"),
    "numactl": _plain("-N -m -C -p -i --cpunodebind --membind --physcpubind"),
    "cgexec": _plain("-g"),
    "prlimit": _plain("-p --pid"),
    "choom": _plain("-n -p"),
    "arch": _plain("-e -d"),
    "linux64": _plain(),
    "setarch": _plain(skipped=1),
    "sshpass": _plain("-p -f -d -P"),
    "pueue": _runner("add", "-g -w -l -a --group --working-directory --label"),
    "lerna": _runner("exec", "--scope --ignore --concurrency", dashes=True),
    "nvm": Wrapper(subcommands=(("exec",),), skipped=1),
    "fnm": _runner("exec", "--using --fnm-dir"),
    "volta": _runner("run", "--node --npm --yarn --pnpm"),
    "foreman": _runner("run", "-e -f"),
    "honcho": _runner("run", "-e -f"),
    "infisical": _runner("run", "--env --path --projectId", dashes=True),
    "chamber": _runner("exec", dashes=True),
    "winpty": _plain(),
    "gdb": Wrapper(module_options=frozenset({"--args"}), value_options=_options("-ex -x"), skipped=_ALL),
    "rr": _runner("record"),
    "wsl": _plain("-d --distribution -u --user --cd"),
    "lxc": _remote("exec", "--env --cwd --user"),
    "multipass": _remote("exec", "-d --working-directory"),
    "adb": Wrapper(subcommands=(("shell",),), value_options=_options("-s -t -H -P"), joins=True, is_remote=True),
    "heroku": Wrapper(subcommands=(("run",),), value_options=_options("-a --app -r"), joins=True, is_remote=True),
    "toolbox": _remote("run", "-c --container -d -r", skipped=0),
    "distrobox": _remote("enter", "-n --name", dashes=True),
    "devcontainer": _remote("exec", "--workspace-folder --container-id", skipped=0),
    "pkexec": _plain("--user"),
    "env": Wrapper(
        value_options=_options("-u --unset -C --chdir"),
        text_options=_options("-S --split-string"),
        assignments=True,
    ),
    "nice": _plain("-n --adjustment"),
    "nohup": _plain(),
    "setsid": _plain(),
    "ionice": _plain("-c -n -p -P -u --class --classdata"),
    "chrt": _plain("-T -P -D -p", skipped=1),
    "taskset": _plain(skipped=1),
    "timeout": _plain("-s --signal -k --kill-after", skipped=1),
    "gtimeout": _plain("-s --signal -k --kill-after", skipped=1),
    "command": Wrapper(lookups=_options("-v -V")),
    "builtin": _plain(),
    "exec": _plain("-a"),
    "time": _plain("-f -o --format --output"),
    "gtime": _plain("-f -o --format --output"),
    "stdbuf": _plain("-i -o -e --input --output --error"),
    "unbuffer": _plain(),
    "chronic": _plain(),
    "caffeinate": _plain("-t -w"),
    "fakeroot": _plain("-l -s -i -b"),
    "proot": _plain("-r -b -w -q"),
    "firejail": _plain(),
    "bwrap": _plain("--chdir --setenv --unsetenv"),
    "unshare": _plain(),
    "nsenter": _plain("-t --target"),
    "chroot": _remote("", "--userspec --groups"),
    "torsocks": _plain(),
    "torify": _plain(),
    "proxychains": _plain("-f"),
    "proxychains4": _plain("-f"),
    "xvfb-run": _plain("-n -s -e -f -p -w --server-num --server-args --error-file"),
    "dbus-run-session": _plain("--config-file"),
    "systemd-run": _plain("-p --property -u --unit -E --setenv --slice --uid --gid --working-directory"),
    "systemd-inhibit": _plain("--what --who --why --mode"),
    "strace": _plain("-o -e -p -s -a -b -E -I -O -S -u -P"),
    "ltrace": _plain("-o -e -p -s -u"),
    "perf": _runner("stat,record,trace", "-e -o -p -F -c -r"),
    "valgrind": _plain(),
    "rlwrap": _plain("-a -b -C -f -H -P"),
    "busybox": _plain(),
    "toybox": _plain(),
    "coproc": _plain(),
    "xargs": _plain("-I -n -P -L -d -a -E -s --max-args --max-procs --max-lines --delimiter --arg-file --replace"),
    "parallel": _plain("-j --jobs -a --arg-file -I -N -n -L -d --delimiter --colsep -S --joblog --results --tmpdir"),
    "entr": _plain(),
    "watchexec": _plain("-e -w -i -f --exts --watch --ignore --filter -d --debounce -s --signal"),
    "nodemon": Wrapper(text_options=_options("-x --exec"), value_options=_options("-e --ext -w --watch -i --ignore")),
    "watch": Wrapper(joins=True, value_options=_options("-n --interval")),
    "eval": Wrapper(joins=True),
    "flock": Wrapper(
        value_options=_options("-w --timeout -E --conflict-exit-code"),
        text_options=_options("-c --command"),
        skipped=1,
    ),
    "script": Wrapper(text_options=_options("-c --command"), value_options=_options("-o -T -t -I -O -B"), skipped=_ALL),
    "su": Wrapper(text_options=_options("-c --command"), value_options=_options("-s --shell -g -G -w"), skipped=_ALL),
    "runuser": Wrapper(text_options=_options("-c --command"), value_options=_options("-u -s -g -G")),
    "tmux": Wrapper(
        subcommands=tuple((name,) for name in ("new", "new-session", "new-window", "neww", "split-window", "splitw")),
        value_options=_options("-s -n -t -c -x -y -F -e -L -f"),
        joins=True,
    ),
    "screen": _plain("-S -t -c -h -T -e"),
    "ssh": Wrapper(
        value_options=_options("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"),
        skipped=1,
        joins=True,
        is_remote=True,
    ),
    **dict.fromkeys(
        ("docker", "podman", "nerdctl"),
        _remote("run,exec,container run,container exec,compose run,compose exec", _CONTAINER_VALUES),
    ),
    "docker-compose": _remote("run,exec", _CONTAINER_VALUES),
    "kubectl": _remote("exec,run", "-n --namespace -c --container --context --image", dashes=True),
    "oc": _remote("exec,rsh", "-n --namespace -c --container", dashes=True),
    "vagrant": Wrapper(subcommands=(("ssh",),), text_options=_options("-c --command"), skipped=_ALL, is_remote=True),
    "uv": Wrapper(
        subcommands=(("run",), ("tool", "run")),
        value_options=_options(_UV_VALUES),
        module_options=_options("-m --module"),
        strips_version=True,
    ),
    "uvx": Wrapper(value_options=_options(_TOOL_VALUES), strips_version=True),
    "pipx": _runner("run", _TOOL_VALUES),
    "poetry": _runner("run", "-C --directory -P --project"),
    "pipenv": _runner("run"),
    "pdm": _runner("run", "-p --project"),
    "hatch": _runner("run", "-e --env"),
    "rye": _runner("run"),
    "pixi": _runner("run", "-e --environment --manifest-path"),
    **dict.fromkeys(("conda", "mamba", "micromamba"), _runner("run", "-n --name -p --prefix --cwd")),
    "coverage": _runner("run", "--source --rcfile --omit --include --context --concurrency", modules="-m --module"),
    "pyenv": _runner("exec"),
    "rbenv": _runner("exec"),
    "nodenv": _runner("exec"),
    "asdf": _runner("exec"),
    "mise": _runner("exec,x", dashes=True),
    "rtx": _runner("exec,x", dashes=True),
    "bundle": _runner("exec"),
    "direnv": Wrapper(subcommands=(("exec",),), skipped=1),
    "aws-vault": Wrapper(subcommands=(("exec",),), skipped=1, value_options=_options("-d --duration --region")),
    "op": _runner("run", "--env-file", dashes=True),
    "doppler": _runner("run", "-c --config -p --project", dashes=True),
    "dotenvx": _runner("run", "-f --env-file", dashes=True),
    "dotenv": Wrapper(value_options=_options("-e -f -c --file")),
    "cross-env": Wrapper(assignments=True),
    "cross-env-shell": Wrapper(assignments=True, joins=True),
    "nix-shell": Wrapper(
        text_options=_options("--run --command"), value_options=_options("-p -A -I --arg"), skipped=_ALL
    ),
    "nix": Wrapper(
        subcommands=(("develop",), ("shell",)),
        module_options=_options("-c --command"),
        value_options=_options("--profile"),
        skipped=_ALL,
    ),
    "npx": Wrapper(
        value_options=_options("-p --package -w --workspace"), text_options=_options("-c --call"), strips_version=True
    ),
    "bunx": Wrapper(value_options=_options("-p --package"), strips_version=True),
    "pnpx": Wrapper(value_options=_options("-p --package"), strips_version=True),
    "npm": Wrapper(
        subcommands=(("exec",), ("x",)),
        value_options=_options("-p --package -w --workspace --prefix -C"),
        text_options=_options("-c --call"),
        strips_version=True,
    ),
    "pnpm": Wrapper(
        subcommands=(("exec",), ("dlx",)),
        excluded=_JS_OWN,
        value_options=_options("-C --dir -F --filter --package -w --workspace"),
        strips_version=True,
    ),
    "yarn": Wrapper(
        subcommands=(("exec",), ("dlx",)),
        excluded=_JS_OWN,
        value_options=_options("--cwd -p --package"),
        strips_version=True,
    ),
    "bun": Wrapper(subcommands=(("x",),), value_options=_options("--cwd"), strips_version=True),
    "corepack": Wrapper(excluded=frozenset({"enable", "disable", "prepare", "use", "up", "install", "pack", "cache"})),
}


def unwrap(program: str, words: Sequence[Word]) -> Inner | None:
    """Return the command that a wrapper runs, or None if the program runs no other one."""
    wrapper = WRAPPERS.get(program)
    if wrapper is None:
        return None
    start = _after_subcommand(wrapper, words)
    return None if start is None else _inner(wrapper, words, start)


def _after_subcommand(wrapper: Wrapper, words: Sequence[Word]) -> int | None:
    """Return the index behind the subcommand that runs something, or None."""
    if not wrapper.subcommands and not wrapper.excluded:
        return 0
    index = _skip_options(wrapper, words, 0)
    texts = tuple(word.text for word in words[index : index + 2])
    for path in wrapper.subcommands:
        if texts[: len(path)] == path:
            return index + len(path)
        # Options of `docker compose` stand between the two words.
        if len(path) > 1 and texts[:1] == path[:1]:
            second = _skip_options(wrapper, words, index + 1)
            if second < len(words) and words[second].text == path[1]:
                return second + 1
    is_shorthand = bool(wrapper.excluded) and bool(texts) and texts[0] not in wrapper.excluded
    return index if is_shorthand else None


def _skip_options(wrapper: Wrapper, words: Sequence[Word], index: int) -> int:
    while index < len(words) and words[index].text.startswith("-") and words[index].text != "--":
        text = words[index].text
        index += 2 if text in wrapper.value_options else 1
    return index


def _inner(wrapper: Wrapper, words: Sequence[Word], index: int) -> Inner | None:
    skipped = 0
    while index < len(words):
        word = words[index]
        text = word.text
        following = words[index + 1] if index + 1 < len(words) else None
        if text == "--":
            index += 1
            return _finish(wrapper, words[index + max(wrapper.skipped - skipped, 0) :])
        if text in wrapper.lookups:
            return None
        if _is_text_option(wrapper, text):
            return None if following is None else Inner(text=following, wrapper=wrapper)
        if text in wrapper.module_options:
            return _finish(wrapper, words[index + 1 :])
        if text[:1] in "-+" and len(text) > 1 and word.is_literal:
            index += 2 if _takes_next(wrapper, text) else 1
        elif wrapper.assignments and "=" in text.lstrip("=") and not text.startswith("="):
            index += 1
        elif skipped < wrapper.skipped or wrapper.skipped == _ALL or wrapper.needs_dashes:
            skipped, index = skipped + 1, index + 1
        else:
            return _finish(wrapper, words[index:])
    return None


def _takes_next(wrapper: Wrapper, text: str) -> bool:
    """Return True if the next word is the value of an option, also behind a cluster such as `-iu`."""
    is_cluster = len(text) > 2 and text[1:].isalpha()
    return text in wrapper.value_options or (is_cluster and f"-{text[-1]}" in wrapper.value_options)


def _is_text_option(wrapper: Wrapper, text: str) -> bool:
    if text in wrapper.text_options:
        return True
    is_cluster = text.startswith("-") and not text.startswith("--") and text.endswith("c") and text[1:].isalpha()
    return is_cluster and "-c" in wrapper.text_options


def _finish(wrapper: Wrapper, words: Sequence[Word]) -> Inner | None:
    if not words:
        return None
    if wrapper.joins:
        text = Word(text=" ".join(word.text for word in words), is_literal=all(word.is_literal for word in words))
        return Inner(text=text, wrapper=wrapper)
    if wrapper.strips_version and words[0].is_literal:
        name = words[0].text
        head = name.split("==", 1)[0]
        cut = head.rfind("@")
        words = (Word(text=head[:cut] if cut > 0 else head), *words[1:])
    return Inner(words=tuple(words), wrapper=wrapper)
