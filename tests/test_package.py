"""The wheel as a user gets it: built, installed somewhere else, and asked a question without a network."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.gitrepo import Repo

ROOT = Path(__file__).resolve().parent.parent

NO_NETWORK = """
import socket

def refuse(*args, **kwargs):
    raise OSError("the network is blocked")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(out.glob("*.whl"))


def test_the_wheel_holds_model_and_hooks_and_no_tests(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        f"gitmem/_bundled/models/{name}" for name in ("model.onnx", "pieces.bin", "tokenizer.json", "card.json")
    } <= names
    assert {f"gitmem/_bundled/hooks/{name}.sh" for name in ("block", "wrapper", "command")} <= names
    assert "gitmem/py.typed" in names
    assert not any(name.startswith(("tests/", "models/")) or "recipe" in name for name in names)


def test_an_installed_wheel_answers_with_the_network_blocked(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", str(site), str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    (site / "sitecustomize.py").write_text(NO_NETWORK)
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"jar.py": "def sign_cookie(value, key):\n    return hmac(key, value)\n"})
    environment = {**os.environ, "PYTHONPATH": str(site), "HOME": str(tmp_path)}

    def gitmem(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*_without_network(), sys.executable, "-P", "-m", "gitmem", *arguments]
        return subprocess.run(command, cwd=repo.path, env=environment, capture_output=True, text=True)

    where = [sys.executable, "-P", "-c", "import gitmem; print(gitmem.__file__)"]
    found = subprocess.run(where, cwd=repo.path, env=environment, capture_output=True, text=True)
    assert found.stdout.strip().startswith(str(site))
    made = gitmem("init")
    assert made.returncode == 0, made.stderr
    asked = gitmem("query", "where are cookies signed")
    assert asked.returncode == 0, asked.stderr
    assert "jar.py:1-2" in asked.stdout


def _without_network() -> list[str]:
    """A network namespace of its own, where the system lets us have one; the blocked sockets hold in any case."""
    unshare = shutil.which("unshare")
    if unshare and subprocess.run([unshare, "-rn", "true"], capture_output=True).returncode == 0:
        return [unshare, "-rn"]
    return []
