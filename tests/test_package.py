"""The wheel as a user gets it: built, installed somewhere else, and asked a question without a network."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

from gitmem.cli.man_pages import render_pages
from gitmem.errors import ExitCode
from tests.gitrepo import Repo

ROOT = Path(__file__).resolve().parent.parent

NO_NETWORK = """
import socket

def refuse(*args, **kwargs):
    raise OSError("the network is blocked")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
"""


TOP_LEVEL = set(
    "CHANGELOG.md CONTRIBUTING.md LICENSE README.md SECURITY.md docs gitmem hooks models pyproject.toml tests".split()
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(out.glob("*.whl"))


def tracked_paths() -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listing.returncode:
        pytest.skip("not a checkout")
    return [Path(name) for name in filter(None, listing.stdout.decode().split("\0"))]


def test_no_large_file_is_tracked_but_the_model() -> None:
    """A file that was downloaded into the checkout is easily committed with everything else."""
    large = [path for path in tracked_paths() if (ROOT / path).is_file() and (ROOT / path).stat().st_size > 1 << 20]
    assert {path.parent for path in large} <= {Path("models")}


def test_nothing_else_is_tracked_at_the_top_level() -> None:
    """So is the log of a command."""
    names = {path.parts[0] for path in tracked_paths()}
    assert {name for name in names if not name.startswith(".")} <= TOP_LEVEL


def test_the_wheel_holds_model_and_hooks_and_no_tests(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        f"gitmem/_bundled/models/{name}" for name in ("model.onnx", "pieces.bin", "tokenizer.json", "card.json")
    } <= names
    assert {f"gitmem/_bundled/hooks/{name}.sh" for name in ("block", "wrapper", "command")} <= names
    assert "gitmem/py.typed" in names
    page = {path.relative_to(ROOT).as_posix() for path in (ROOT / "gitmem" / "web" / "page").glob("*/*.*")}
    assert {one for one in page if "__pycache__" not in one} <= names
    pages = {name.partition("share/man/man1/")[2] for name in names if "share/man/man1/" in name}
    assert pages == set(render_pages())
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


@pytest.fixture(scope="module")
def shared_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install gitmem and then a wheel of another project called gitmem into one virtual environment."""
    folder = tmp_path_factory.mktemp("shared")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "venv")}))
    # The dependencies come from the environment of the tests; sites added in this way run no `.pth` files of their own.
    (site / "dependencies.pth").write_text("".join(f"{path}\n" for path in sys.path if path.endswith("-packages")))
    for archive in (wheel, _write_other_wheel(folder, "templates.py")):
        _install(folder / "venv", archive)
    return folder / "venv"


def test_doctor_reports_another_project_called_gitmem(shared_environment: Path, tmp_path: Path) -> None:
    report = _gitmem_of(shared_environment, tmp_path, "doctor", "--json")
    (check,) = [check for check in json.loads(report.stdout)["checks"] if check["name"] == "conflicts"]
    assert report.returncode == ExitCode.FAILED
    assert check["state"] == "fail"
    assert "gitmem" in check["message"]
    assert "pip uninstall gitmem" in check["remedy"]
    assert "pip install --force-reinstall --no-deps gitmem-cli" in check["remedy"]


def test_a_replaced_module_is_reported_with_the_remedy(shared_environment: Path, tmp_path: Path) -> None:
    _install(shared_environment, _write_other_wheel(tmp_path, "errors.py"), "--force-reinstall")
    report = _gitmem_of(shared_environment, tmp_path, "doctor")
    assert report.returncode == ExitCode.FAILED
    assert "hint: pip uninstall gitmem && pip install --force-reinstall --no-deps gitmem-cli" in report.stderr
    uninstall = [sys.executable, "-m", "pip", "--python", str(shared_environment / "bin" / "python"), "uninstall", "-y"]
    subprocess.run([*uninstall, "gitmem"], check=True, capture_output=True)
    report = _gitmem_of(shared_environment, tmp_path, "doctor")  # pip took the replaced module with it
    assert report.returncode == 5
    assert "hint: pip install --force-reinstall --no-deps gitmem-cli" in report.stderr


def _write_other_wheel(folder: Path, module: str) -> Path:
    """Write a wheel of a distribution named gitmem with one module in the package gitmem."""
    target = folder / "gitmem-0.1.0-py3-none-any.whl"
    metadata = "gitmem-0.1.0.dist-info"
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(f"gitmem/{module}", "")
        archive.writestr(f"{metadata}/METADATA", "Metadata-Version: 2.1\nName: gitmem\nVersion: 0.1.0\n")
        archive.writestr(f"{metadata}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{metadata}/RECORD", f"gitmem/{module},,\n{metadata}/METADATA,,\n{metadata}/WHEEL,,\n")
    return target


def _install(venv: Path, archive: Path, *options: str) -> None:
    python = venv / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", *options]
    subprocess.run([*command, str(archive)], check=True, capture_output=True)


def _gitmem_of(venv: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(venv / "bin" / "gitmem"), *arguments]
    return subprocess.run(command, cwd=folder, env={**environment, "HOME": str(folder)}, capture_output=True, text=True)


def _without_network() -> list[str]:
    """A network namespace of its own, where the system lets us have one; the blocked sockets hold in any case."""
    unshare = shutil.which("unshare")
    if unshare and subprocess.run([unshare, "-rn", "true"], capture_output=True).returncode == 0:
        return [unshare, "-rn"]
    return []


def test_every_dependency_is_imported_by_the_package() -> None:
    """What nothing imports would only cost space and time in each installation."""
    modules = {
        "tree-sitter": "tree_sitter",
        "tree-sitter-language-pack": "tree_sitter_language_pack",
        "chroma-hnswlib": "hnswlib",
    }
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = [re.split(r"[<>=!~;\[ ]", line)[0] for line in dependencies]
    sources = "\n".join(path.read_text() for path in (ROOT / "gitmem").rglob("*.py"))
    unused = [
        name
        for name in names
        if not re.search(rf"(?:import|from) {modules.get(name, name.replace('-', '_'))}\b", sources)
    ]
    assert unused == []
