"""Killed at any change of the disk, a store of vectors is whole and has lost none, and no text is paid for twice."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray

from gitmem import fsio
from gitmem.errors import GitmemError
from gitmem.fsio import remove_file
from gitmem.store.vector_files import VectorFiles, drop_unused, iter_vector_files, model_folder
from gitmem.workspace import create_index, open_workspace
from tests.embedding.provider_server import ProviderServer, provider_server
from tests.faults.dying_disk import DyingDisk, Killed
from tests.faults.oracle import find_faults, small_steps
from tests.gitrepo import Repo
from tests.indexes import dump_rows, index, snapshot_of

MODEL: Final = "model"
DIMENSIONS: Final = 24
NUMBERS: Final = range(14)


class ForgetfulDisk(DyingDisk):
    """Control: a disk that loses the vectors of each request, as a program would that keeps them until its end."""

    def __getattribute__(self, name: str) -> object:
        if name == "rename":
            return self.forget
        return super().__getattribute__(name)

    def forget(self, source: Path, target: Path) -> None:
        change = super().__getattribute__("rename")  # counts the change
        if target.suffix == ".vectors":
            remove_file(source)
        else:
            change(source, target)


@pytest.fixture(autouse=True)
def _merge_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitmem.store.vector_files.MAX_SMALL_FILES", 4)


def hash_of(number: int) -> bytes:
    return hashlib.blake2b(b"%d" % number, digest_size=16).digest()


def vector_of(number: int) -> NDArray[np.int8]:
    return np.random.default_rng(number).integers(-127, 128, DIMENSIONS).astype(np.int8)


def open_store(folder: Path) -> VectorFiles:
    return VectorFiles(folder, MODEL, DIMENSIONS)


def is_even(contents: NDArray[np.uint8]) -> NDArray[np.bool_]:
    even = {hash_of(number) for number in NUMBERS if number % 2 == 0}
    return np.array([content.tobytes() in even for content in contents], np.bool_)


def prune(folder: Path) -> None:
    for file in iter_vector_files(model_folder(folder, MODEL)):
        drop_unused(file, is_even, write=True)


def add_and_prune(folder: Path, added: list[int]) -> None:
    """Store one vector after the other, which merges files, then prune; `added` gets each that has been stored."""
    store = open_store(folder)
    for number in NUMBERS:
        if not store.find([hash_of(number)]):
            store.add([hash_of(number)], vector_of(number)[None], np.array([number], np.float16))
        added.append(number)
    prune(folder)


def find_problems(folder: Path, needed: list[int]) -> list[str]:
    """Return what a new process finds wrong: lost vectors, and different ones."""
    found = open_store(folder).find([hash_of(number) for number in NUMBERS])
    bad = [f"vector {number} is lost" for number in needed if hash_of(number) not in found]
    for number in NUMBERS:
        if hash_of(number) in found and not np.array_equal(found[hash_of(number)][0], vector_of(number)):
            bad.append(f"vector {number} is another one")
    return bad


def kill_each(folder: Path, disk: type[DyingDisk]) -> tuple[int, list[str]]:
    """Kill a process at every change of the disk, until something is wrong; return the kills, and what it was."""
    kills = 0
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        added: list[int] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fsio, "disk", disk(kills))
            try:
                add_and_prune(folder / "vectors", added)
            except Killed:
                kills += 1
            else:
                return kills, []
        # Odd vectors may have been pruned once all had been stored.
        needed = added if len(added) < len(NUMBERS) else [number for number in added if number % 2 == 0]
        bad = find_problems(folder / "vectors", needed)
        add_and_prune(folder / "vectors", [])
        bad += find_problems(folder / "vectors", [number for number in NUMBERS if number % 2 == 0])
        if bad:
            return kills, bad


def test_a_kill_at_any_change_loses_no_stored_vector(tmp_path: Path) -> None:
    kills, bad = kill_each(tmp_path / "place", DyingDisk)
    assert bad == []
    assert kills > 50


def test_a_store_that_forgets_would_be_caught(tmp_path: Path) -> None:
    assert kill_each(tmp_path / "place", ForgetfulDisk)[1]


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with provider_server() as server, small_steps(grace=0.0):
        yield server


def run_killed(repo: Repo, environment: dict[str, str], disk: DyingDisk) -> bool:
    """Index with a disk that dies; return whether it died."""
    workspace = open_workspace(repo.path, environment)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fsio, "disk", disk)
        try:
            create_index(workspace)
            index(repo, workspace)
        except Killed:
            return True
    return False


def kill_runs(folder: Path, server: ProviderServer, disk: type[DyingDisk], *, step: int) -> tuple[int, list[str]]:
    """Kill a run at every `step`-th change of the disk, and let the next one complete the index."""
    environment = {**os.environ, "GITMEM_PROVIDER": "openai-compatible", "GITMEM_PROVIDER_URL": server.url,
                   "GITMEM_MODEL": "small"}  # fmt: skip
    world = Repo.init(folder / "world")
    world.commit({f"part{at:02}.py": f"def part_{at}():\n    return {at} * {at}\n" for at in range(16)})
    kills, expected = 0, set[object]()
    while True:
        repo = Repo(folder / "copy")
        shutil.rmtree(repo.path, ignore_errors=True)
        shutil.copytree(world.path, repo.path)
        server.received.clear()
        # Once without a kill first, for the rows to compare with.
        is_dead = run_killed(repo, environment, disk(kills * step) if expected else disk(1 << 30))
        if not is_dead and expected:
            return kills, []
        asked = len(server.received)
        # The answer to the last request may not have been stored yet.
        paid = {text for request in server.received[: asked - 1] for text in request.body["input"]} - {"dimensions"}
        bad = []
        try:
            run_killed(repo, environment, DyingDisk(1 << 30))
            bad += [f"sent again: {text}" for request in server.received[asked:] for text in request.body["input"]
                    if text in paid]  # fmt: skip
            paths = open_workspace(repo.path, environment).paths
            rows: set[object] = set(dump_rows(snapshot_of(repo)))
            bad += find_faults(paths)
            bad += ["other rows than without a kill"] if expected and rows != expected else []
            expected = expected or rows
        except GitmemError as problem:
            bad.append(problem.message)
        kills += is_dead
        if bad:
            return kills, bad


@pytest.mark.parametrize("step", [41, pytest.param(1, marks=pytest.mark.long)])
def test_after_a_kill_at_any_change_the_next_run_sends_no_text_again(
    step: int, tmp_path: Path, server: ProviderServer
) -> None:
    kills, bad = kill_runs(tmp_path, server, DyingDisk, step=step)
    assert bad == []
    assert kills >= 3


def test_a_run_that_stores_nothing_would_be_caught(tmp_path: Path, server: ProviderServer) -> None:
    assert kill_runs(tmp_path, server, ForgetfulDisk, step=41)[1]
