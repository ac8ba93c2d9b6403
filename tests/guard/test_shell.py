"""The shell reader finds the commands that would run, and no others."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bethink.features.guard.shell import read_shell

_RUNS = [
    "deploy now",
    "cd web && deploy now",
    "sudo -u www deploy now",
    "sudo -iu www deploy now",
    "env -u HOME A=1 deploy now",
    "timeout -k 5 30 deploy now",
    "nice -n 5 nohup deploy now &",
    "stdbuf -oL deploy now | tee log",
    "/usr/bin/env deploy now",
    "bash -lc 'deploy now'",
    'sh -ec "cd a; deploy now"',
    "eval 'deploy now'",
    "eval deploy now",
    "echo 'deploy now' | sh",
    "printf 'deploy now\\n' | bash -s",
    "sh <<EOF\ndeploy now\nEOF",
    "cat <<'EOF' | bash\ndeploy now\nEOF",
    "bash <<< 'deploy now'",
    "source <(echo deploy now)",
    "x=$(deploy now)",
    "echo `deploy now`",
    "cat <(deploy now)",
    "if deploy now; then :; fi",
    "while deploy now; do :; done",
    "until deploy now; do :; done",
    "for i in 1 2; do deploy now; done",
    "for c in deploy; do $c now; done",
    "case $x in a) deploy now;; esac",
    "! deploy now",
    "( deploy now )",
    "{ deploy now; }",
    "f() { deploy now; }; f",
    'f() { "$@"; }; f deploy now',
    "alias d='deploy now'; d",
    "alias d=deploy; d now",
    "D=deploy; $D now",
    'a=(deploy now); "${a[@]}"',
    "d\\eploy 'now'",
    "trap 'deploy now' EXIT",
    "find . -name x -exec deploy now ';'",
    "fd -x deploy now",
    "ls | xargs -n 1 -I{} deploy now {}",
    "parallel -j 2 deploy now ::: a b",
    "watch -n 5 deploy now",
    "script -qc 'deploy now' /dev/null",
    "su - www -c 'deploy now'",
    "flock /tmp/lock deploy now",
    "tmux new-session -d 'deploy now'",
    "screen -dmS name deploy now",
    "npx -y deploy@1.2 now",
    "uv run --with rich deploy now",
    "poetry run deploy now",
    "conda run -n env deploy now",
    "mise exec node@20 -- deploy now",
    "nix develop -c deploy now",
    "python -m deploy now",
    "coverage run -m deploy now",
    "python -c \"import os; os.system('deploy now')\"",
    "git submodule foreach 'deploy now'",
    "git bisect run deploy now",
    "echo 'deploy now' > x.sh; bash x.sh",
    "false || deploy now",
]
_DOES_NOT_RUN = [
    "echo deploy now",
    "git commit -m 'deploy now'",
    "grep -rn 'deploy now' .",
    "# deploy now",
    "cat > notes.md <<'EOF'\ndeploy now\nEOF",
    "f() { deploy now; }",
    "alias d='deploy now'",
    "which deploy",
    "command -v deploy",
    "false && deploy now",
    "true || deploy now",
    "if false; then deploy now; fi",
    "exit 0; deploy now",
    "bash -n -c 'deploy now'",
    "rg -- 'deploy now' | sh_history",
    "ls deploy/now",
]


def _runs(text: str) -> bool:
    commands = read_shell(text).commands
    return any(command.program == "deploy" and command.texts[:1] == ("now",) for command in commands)


@pytest.mark.parametrize("text", _RUNS)
def test_wrapped_command_is_found(text: str) -> None:
    assert _runs(text)


@pytest.mark.parametrize("text", _DOES_NOT_RUN)
def test_mentioned_command_is_not_found(text: str) -> None:
    assert not _runs(text)


@pytest.mark.parametrize(
    "text", ["ssh host deploy now", "docker exec -it web deploy now", "docker compose run --rm web deploy now"]
)
def test_command_elsewhere_is_remote(text: str) -> None:
    assert [command.is_remote for command in read_shell(text).commands if command.program == "deploy"] == [True]


@pytest.mark.parametrize("text", ["make all", "bash unknown.sh", "$TOOL now", "./build.sh", "curl x | sh"])
def test_hidden_commands_make_a_script_opaque(text: str) -> None:
    assert read_shell(text).opaque


def test_redirects_and_folders_are_read() -> None:
    first, second = read_shell("cd a/b && echo x >> ../c.txt 2>&1").commands

    assert first.program == "cd"
    assert second.folder == "a/b"
    assert [(r.operator, r.target.text, r.is_write) for r in second.redirects] == [
        (">>", "../c.txt", True),
        (">&", "1", False),
    ]


def test_substitution_with_a_here_document_is_an_argument() -> None:
    text = "git commit -m \"$(cat <<'EOF'\nfix: a\n\nbody\nEOF\n)\""

    assert read_shell(text).commands[-1].texts == ("commit", "-m", "fix: a\n\nbody")


def test_separators_are_kept() -> None:
    assert [command.separator for command in read_shell("a && b; c | d || e").commands] == ["", "&&", ";", "|", "||"]


def test_long_text_is_incomplete() -> None:
    assert not read_shell("x" * 60_000).is_complete


_PIECES = st.sampled_from(
    [
        *"(){}`'\"; *>ü\n\0\\",
        *("$(", "&&", "|", "<<EOF\n", "EOF\n", "sudo ", "bash -c ", "if ", "fi", "then ", "do ", "done "),
        *("$x", "${a[@]}", "a=(b)", "eval ", "f() ", "alias a=", "xargs ", "-c", "<("),
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(_PIECES, max_size=60).map("".join)))
def test_any_text_can_be_read(text: str) -> None:
    script = read_shell(text)

    assert len(script.commands) < 2_000


@pytest.mark.parametrize(
    "unit", ["sudo ", "$(", "(", "a; ", "bash -c '", "f() { f; }; ", "a=$a$a; ", "x | ", "{a,b}", "eval ", "<<E\n", "`"]
)
def test_reading_time_is_linear(unit: str) -> None:
    """Four times the text takes far less than sixteen times as long."""

    def seconds(count: int) -> float:
        times = list[float]()
        for attempt in range(3):
            text = unit * count + f"x{attempt}"
            start = time.perf_counter()
            read_shell(text)
            times.append(time.perf_counter() - start)
        return min(times)

    read_shell("warm up")
    small, large = seconds(300), seconds(1_200)

    assert large < max(small * 10, 0.05)
