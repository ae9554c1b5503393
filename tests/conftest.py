"""Fixtures of all tests: isolation from the machine, repositories, the command line, and fake and real models."""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage
from hypothesis import settings

from gitmem.cli.main import run
from gitmem.embedding.bundled import BundledEncoder
from gitmem.git.batch import ProgramReader
from gitmem.indexing.spare_worker import spare_worker
from gitmem.paths import bundled
from tests.gitrepo import ISOLATION, MakeRepo, Repo
from tests.indexes import HashEncoder, InlinePool
from tests.sample import Cli, Outcome, make_sample

WORKER_SECONDS = 3600.0
"""Seconds for which the indexing worker of one test is kept for the next ones."""

# Examples of hypothesis: random ones find new faults during development and at night. `python -m tests` judges a
# change, so it repeats the same examples in each run. No example has a deadline: a busy machine is no fault.
settings.register_profile("random", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("random")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Save the coverage now: pytest-xdist kills a worker that needs more than ten seconds after its last test."""
    measured = Coverage.current()
    if measured is not None:
        measured.stop()
        measured.save()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Make an empty home directory beside the test's folder."""
    folder = tmp_path.with_name(f"{tmp_path.name}-home")
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def runtime_folder() -> Iterator[Path]:
    """Make a folder for sockets; its path is short, because that of a socket is limited."""
    folder = Path(tempfile.mkdtemp(prefix="gm-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def _isolated(monkeypatch: pytest.MonkeyPatch, home: Path, runtime_folder: Path) -> None:
    """Give each test an empty home directory, no host configuration and no inherited repository."""
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime_folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for name in [name for name in os.environ if name.startswith(("GITMEM_", "GIT_"))]:
        monkeypatch.delenv(name)
    for name in ("NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "PAGER", "LESS", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ISOLATION.items():
        monkeypatch.setenv(name, value)
    # As in a server. Each test that indexes with the real model would start a worker, which costs half a second.
    monkeypatch.setattr(spare_worker, "seconds", WORKER_SECONDS)


@pytest.fixture(scope="session", autouse=True)
def _spare_worker() -> Iterator[None]:
    """End the worker that the tests share."""
    yield
    spare_worker.end()


@pytest.fixture
def make_repo(tmp_path: Path) -> MakeRepo:
    """Make a repository below the test's folder: `make_repo("name", "--bare")`."""

    def make(name: str = "repo", *options: str) -> Repo:
        return Repo.init(tmp_path / name, *options)

    return make


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Make a repository with one commit of one file; modules that need another one override this fixture."""
    repo = Repo.init(tmp_path / "repo")
    repo.git("config", "maintenance.auto", "false")
    repo.commit({"a.py": "def a():\n    return 1\n"})
    return repo


@pytest.fixture
def program(tmp_path: Path) -> tuple[str, ...]:
    """Make a program to install instead of gitmem: it writes its arguments into a file.

    A shell that does not quote its path misreads it.
    """
    file = tmp_path / "it's a $HOME `pwd` \\ place" / "gitmem"
    file.parent.mkdir()
    file.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/called\n')
    file.chmod(0o755)
    return (str(file),)


@pytest.fixture(scope="session")
def _indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make and index the sample repository, once in a session."""
    path = tmp_path_factory.mktemp("sample") / "repo"
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ISOLATION.items():
            patch.setenv(name, value)
        make_sample(path)
        assert run(["-q", "-C", str(path), "init", "--no-hooks", "--no-mcp"]) == 0
    # Searches of other revisions index them: copies for single tests must not depend on which tests ran before.
    shutil.copytree(path, path.with_name("untouched"), symlinks=True)
    return path


@pytest.fixture
def indexed(_indexed: Path) -> Repo:
    """Return the indexed sample repository, which all tests share and none may change."""
    return Repo(_indexed)


@pytest.fixture
def own(_indexed: Path, tmp_path: Path) -> Repo:
    """Copy the indexed sample repository, for tests that change it."""
    shutil.copytree(_indexed.with_name("untouched"), tmp_path / "own", symlinks=True)
    return Repo(tmp_path / "own")


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run a command line in this process: `cli("query", "x", cwd=repo.path, stdin=b"")`."""

    def call(*args: str, cwd: Path | None = None, stdin: bytes | None = b"") -> Outcome:
        if cwd is not None:
            monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "stdin", None if stdin is None else TextIOWrapper(BytesIO(stdin)))
        capsys.readouterr()
        code = run(list(args))
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture
def fake_model(monkeypatch: pytest.MonkeyPatch) -> type[InlinePool]:
    """Index and query in this process with the fake model; the pool counts the blobs that it digests."""

    class CountingPool(InlinePool):
        poison = b""
        digested = 0

    monkeypatch.setattr("gitmem.indexing.run.Pool", CountingPool)
    monkeypatch.setattr("gitmem.embedding.bundled.BundledEncoder", HashEncoder)
    # A process started by a stale answer would index with the real model.
    monkeypatch.setattr("gitmem.freshness.background.start_background_refresh", lambda workspace: False)
    return CountingPool


@pytest.fixture
def settled_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the clock forward, so that files that were just written are older than a tick of any file system's clock."""
    real = time.time_ns
    monkeypatch.setattr("time.time_ns", lambda: real() + 3_600_000_000_000)


@pytest.fixture
def blobs_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the ids of all blobs read from git."""
    read: list[str] = []
    original = ProgramReader.read_many

    def record(reader: ProgramReader, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        batch = list(oids)
        read.extend(batch)
        return original(reader, batch)

    monkeypatch.setattr(ProgramReader, "read_many", record)
    return read


@pytest.fixture(scope="session")
def encoder() -> BundledEncoder:
    """Open the bundled model."""
    return BundledEncoder()


@pytest.fixture
def tampered(tmp_path: Path) -> Callable[[str, int], Path]:
    """Copy the bundled model with one byte of one file changed: `tampered("model.onnx", 100)`."""

    def tamper(name: str, place: int) -> Path:
        folder = tmp_path / "models"
        shutil.copytree(bundled("models"), folder)
        data = bytearray((folder / name).read_bytes())
        data[place] ^= 1
        (folder / name).write_bytes(data)
        return folder

    return tamper


@pytest.fixture(scope="session")
def library() -> Any:
    """Open the model's vocabulary with the tokenizers library."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(bundled("models") / "tokenizer.json"))
