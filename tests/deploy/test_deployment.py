"""The compose file and the chart: accepted by their linters, with real commands and no password in them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from click.testing import CliRunner

from gitmem.cli.root import root
from gitmem.workspace import read_user_settings
from tests.deploy.linters import find_compose, find_helm, run

FOLDER: Final = Path(__file__).resolve().parents[2] / "docs" / "deploy"
CHART: Final = FOLDER / "helm" / "gitmem"
SECRETS: Final = {"PG_ADMIN_PASSWORD": "a", "PG_SEARCH_PASSWORD": "b", "GITMEM_MCP_TOKEN": "c"}
VARIANTS: Final[dict[str, dict[str, Any]]] = {
    "default": {},
    "without schema": {"migrate": False},
    "behind an ingress": {"hosts": ["code.example.com"], "service": {"type": "ClusterIP", "port": 80}},
}
"""Values of the chart that change what it renders."""

OLDEST: Final = (1, 27)
"""Version of Kubernetes that the chart needs."""


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


@pytest.fixture(scope="session")
def helm(tmp_path_factory: pytest.TempPathFactory) -> str:
    program = find_helm(tmp_path_factory.mktemp("helm"))
    if program is None:
        pytest.skip("needs Helm, installed or from PyPI (tests/deploy/linters.py)")
    return str(program)


def test_docker_compose_accepts_the_file_and_asks_for_each_secret() -> None:
    compose = find_compose()
    if not compose:
        pytest.skip("needs Docker Compose, installed or from PyPI (tests/deploy/linters.py)")
    command = [*compose, "--file", str(FOLDER / "compose.yaml"), "config", "--format", "json"]
    accepted = run(command, **SECRETS)
    assert (accepted.returncode, accepted.stderr) == (0, "")
    assert set(json.loads(accepted.stdout)["services"]) == {"db", "schema", "search"}
    for name in SECRETS:
        refused = run(command, **{**SECRETS, name: ""})
        assert refused.returncode != 0
        assert name in refused.stderr


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


def options_of(values: dict[str, Any]) -> list[str]:
    """Return the options of Helm for values that differ from those of the chart."""
    return [word for name, value in values.items() for word in ("--set-json", f"{name}={json.dumps(value)}")]


def render(helm: str, variant: str = "default") -> list[Any]:
    """Render the chart for a variant of its values, and parse the result."""
    command = [helm, "template", "code", str(CHART), "--namespace", "tools", *options_of(VARIANTS[variant])]
    result = run(command)
    assert (result.returncode, result.stderr) == (0, "")
    return [document for document in yaml.safe_load_all(result.stdout) if document]


@pytest.mark.parametrize("variant", VARIANTS)
def test_helm_finds_nothing_to_complain_about(helm: str, variant: str) -> None:
    result = run([helm, "lint", "--strict", str(CHART), *options_of(VARIANTS[variant])])
    assert result.returncode == 0, result.stdout + result.stderr
    assert "WARNING" not in result.stdout
    assert "ERROR" not in result.stdout


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_object_follows_the_schema_of_kubernetes(helm: str, variant: str) -> None:
    validator = pytest.importorskip("kubernetes_validate", reason="has the schemas: kubernetes-validate")
    for document in render(helm, variant):
        for version in (".".join(map(str, OLDEST)), validator.latest_version()):
            validator.validate(document, version, strict=True)


def test_the_oldest_version_is_the_one_that_the_chart_names() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["kubeVersion"] == f">={OLDEST[0]}.{OLDEST[1]}.0-0"


def test_the_chart_renders_to_objects_that_fit_together(helm: str) -> None:
    objects = {document["kind"]: document for document in render(helm)}
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
    others = render(helm, "behind an ingress")
    container = {each["kind"]: each for each in others}["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    settings = {each["name"]: each.get("value", "") for each in container["env"]}
    assert settings["GITMEM_SERVE_HOSTS"].split(",")[::4] == ["code-search", "code.example.com"]
    dsn = settings["GITMEM_ORG"]
    assert dsn == (
        "postgresql://search@db.example.com:5432/code?target_session_attrs=prefer-standby"
        "&sslmode=verify-full&sslrootcert=/certs/ca.pem"
    )
    assert "Job" not in {document["kind"] for document in render(helm, "without schema")}
