"""The files in deploy/ are consistent: valid manifests and units, existing settings and metrics."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import kubernetes_validate  # pyright: ignore[reportMissingTypeStubs]
import pytest
import yaml

from bethink.config.settings import load_settings
from bethink.model.jobs import LearnReport
from tests.doors.cli_kit import environment
from tests.doors.server_kit import serving
from tests.service_kit import ask, service

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
_VARIABLE = re.compile(r"\b(BETHINK_[A-Z_]+)(?:=|: *)(\S*)")


def documents(path: Path) -> list[dict[str, Any]]:
    return list(cast("Iterator[dict[str, Any]]", yaml.safe_load_all(path.read_text())))


def manifests() -> list[dict[str, Any]]:
    names: list[str] = documents(KUBERNETES / "kustomization.yaml")[0]["resources"]
    return [each for name in (*names, "secret.example.yaml") for each in documents(KUBERNETES / name)]


def pods() -> list[dict[str, Any]]:
    return [each["spec"]["template"] for each in manifests() if "template" in each.get("spec", {})]


@pytest.mark.parametrize("release", ["1.30", "1.37"])
def test_every_manifest_fits_the_schema_of_kubernetes(release: str) -> None:
    for each in manifests():
        kubernetes_validate.validate(each, release, strict=True)


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")
def test_kustomization_builds_and_admits_clients_only_by_label() -> None:
    built = subprocess.run(["kubectl", "kustomize", KUBERNETES], check=True, capture_output=True, text=True).stdout
    made = list(cast("Iterator[dict[str, Any]]", yaml.safe_load_all(built)))
    for each in made:
        kubernetes_validate.validate(each, "1.37", strict=True)
    assert len(made) == len(manifests())  # the secret is left to the operator, a config map is made
    [policy] = [
        each for each in made if each["kind"] == "NetworkPolicy" and each["metadata"]["name"] == "bethink-server"
    ]
    assert policy["spec"]["ingress"][0]["from"][0]["podSelector"] == {"matchLabels": {"bethink-client": "true"}}
    [settings] = [each for each in made if each["kind"] == "ConfigMap"]
    for pod in (each["spec"]["template"] for each in made if "template" in each.get("spec", {})):
        assert pod["spec"]["containers"][0]["envFrom"][0]["configMapRef"]["name"] == settings["metadata"]["name"]


def test_no_pod_runs_as_root_writes_its_root_filesystem_or_gets_a_token() -> None:
    assert len(pods()) == 3
    for pod in pods():
        spec = pod["spec"]
        [container] = spec["containers"]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["automountServiceAccountToken"] is False
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert "memory" in container["resources"]["limits"]


def test_selectors_of_services_budgets_and_policies_find_their_pods() -> None:
    labels = [pod["metadata"]["labels"] | {"app.kubernetes.io/name": "bethink"} for pod in pods()]
    for each in manifests():
        spec = each.get("spec", {})
        wanted = spec.get("selector") or spec.get("podSelector")
        if wanted:
            wanted = wanted.get("matchLabels", wanted)
            assert any(wanted.items() <= found.items() for found in labels), each["metadata"]


def test_every_setting_in_deploy_is_one() -> None:
    files = [path for path in DEPLOY.rglob("*") if path.is_file() and not path.name.startswith("requirements")]
    found = {match for path in files for match in _VARIABLE.findall(path.read_text())}
    names = {name for name, _ in found} - {"BETHINK_DATABASE_PASSWORD"}
    assert len(names) > 5
    for name, value in found:
        if name in names:
            plain = value.strip("\"'") if re.fullmatch(r"[\w.:,\"']+", value) else "x"
            load_settings(environ={name: plain})


async def test_rules_and_board_use_only_figures_and_labels_that_a_server_shows(tmp_path: Path) -> None:
    async with serving(str(tmp_path / "memory.db")) as served:
        await served("POST", "/v1/spaces/alice/remember", {"messages": "tea"})
        await served("POST", "/v1/spaces/alice/recall", {"question": "tea?"})
        report = LearnReport()
        report.outcomes["succeeded"] += 1
        served.app.state.context.metrics.count_jobs(report)
        page = (await served("GET", "/metrics")).body.decode()
    shown = set(re.findall(r"^(bethink_\w+)", page, flags=re.MULTILINE))
    labels = set(re.findall(r'[{,](\w+)="', page))
    board = json.loads((DEPLOY / "grafana" / "bethink.json").read_text())
    [group] = documents(DEPLOY / "prometheus" / "rules.yaml")[0]["groups"]
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked += [rule["expr"] for rule in group["rules"]]
    assert len(asked) > 20
    for expression in asked:
        names = set(re.findall(r"\b(bethink_\w+|up)\b", expression))
        assert names, expression
        assert names <= shown | {"up"}, expression
        used = {word.strip() for by in re.findall(r"by \(([^)]*)\)", expression) for word in by.split(",")}
        used |= set(re.findall(r"[{,](\w+)=", expression))
        assert used <= labels | {"job"}, expression


def test_the_image_has_the_packages_that_the_tests_run_with() -> None:
    def pins(path: Path) -> dict[str, str]:
        return dict(re.findall(r"^([\w.-]+)==([\w.]+)", path.read_text(), flags=re.MULTILINE))

    image = pins(DEPLOY / "requirements.txt")
    assert len(image) > 40
    assert image.items() <= pins(ROOT / "requirements-dev.txt").items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    asked = re.findall(r"--extra (\S+)", (DEPLOY / "requirements.txt").read_text())
    assert set(asked) <= set(project)
    assert {"postgres", "server", "web", "mcp"} <= set(asked)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
@pytest.mark.parametrize("unit", sorted(path.name for path in (DEPLOY / "systemd").glob("*.service")))
def test_every_unit_is_understood_by_systemd_and_exposes_little(tmp_path: Path, unit: str) -> None:
    for path in (DEPLOY / "systemd").glob("*.service"):
        text = path.read_text().replace("/opt/bethink/bin/bethink", "/bin/true")  # it is looked for
        (tmp_path / path.name).write_text(text)
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / unit], check=False, capture_output=True, text=True
    )
    ours = [line for line in checked.stderr.splitlines() if "bethink" in line]
    assert (checked.returncode, ours) == (0, [])
    rated = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--threshold=20", tmp_path / unit],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert rated.returncode == 0, rated.stdout[-200:]


@pytest.mark.slow
def test_compose_services_pass_their_health_checks_on_postgres(tmp_path: Path, clean_dsn: str) -> None:
    services: dict[str, Any] = documents(DEPLOY / "compose.yaml")[0]["services"]
    image = (DEPLOY / "Dockerfile").read_text()
    [default] = re.findall(r"^HEALTHCHECK .*\\\n\s*CMD (\[.*\])$", image, flags=re.MULTILINE)

    def settings(name: str) -> dict[str, str]:
        given: dict[str, str] = {**services[name]["environment"], "BETHINK_DATABASE": clean_dsn}
        return {key.removeprefix("BETHINK_").lower(): value for key, value in given.items()}

    def check(command: list[str], address: str) -> int:
        port = address.rpartition(":")[2]
        words = [sys.executable, *(re.sub(r":837\d/", f":{port}/", word) for word in command[1:])]
        return subprocess.run(words, check=False, capture_output=True).returncode

    once = [sys.executable, "-m", "bethink", *services["migrate"]["command"]]
    named = {f"BETHINK_{key.upper()}": value for key, value in settings("migrate").items()}
    assert subprocess.run(once, env=environment(tmp_path, **named), check=False, capture_output=True).returncode == 0
    with (
        service(tmp_path, *services["server"]["command"], **settings("server"), server_port="0") as server,
        service(
            tmp_path, *services["worker"]["command"], **settings("worker"), worker_health_address="127.0.0.1:0"
        ) as worker,
    ):
        here = re.findall(r"http://[\d.:]+", server.wait_for("serving at"))[0]
        there = re.findall(r"http://[\d.:]+", worker.wait_for("health and metrics at"))[0]
        assert check(json.loads(default), here) == 0
        assert check(services["worker"]["healthcheck"]["test"][1:], there) == 0
        assert ask(here, "GET", "/readyz")[0] == 200
        assert [server.end(), worker.end()] == [0, 0]
    assert check(json.loads(default), here) != 0, "a health check must fail where nothing runs"


def test_the_compose_file_gives_the_containers_little() -> None:
    services: dict[str, Any] = documents(DEPLOY / "compose.yaml")[0]["services"]
    for name in ("migrate", "server", "worker"):
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
    assert services["server"]["ports"] == ["127.0.0.1:8377:8377"]
    assert services["postgres"].get("ports") is None


def test_postgres_role_is_bound_by_row_security() -> None:
    script = (DEPLOY / "postgres-init.sh").read_text()
    assert "NOSUPERUSER NOBYPASSRLS" in script
    assert subprocess.run(["sh", "-n", DEPLOY / "postgres-init.sh"], check=False).returncode == 0
    assert os.access(DEPLOY / "postgres-init.sh", os.X_OK)
    assert shlex.split(script.splitlines()[0])[0] == "#!/bin/sh"
