"""A remote, a store, and two people with indexes, before a push or a pull of an index dies; and what must hold then."""

import shutil
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.actions.index_exchange import pull_index, push_index
from gitmem.actions.remote_check import verify_remote
from gitmem.git.object_quarantine import PREFIX
from tests.actions.index_team import clone_of
from tests.faults.oracle import find_faults
from tests.gitrepo import Repo
from tests.indexes import dump_rows, index, python_file, snapshot_of, workspace_of

REFS: Final = ""
FOLDER: Final = "../store"


class World(NamedTuple):
    """Folder with a remote, a store, a clone that has indexed all, and one that has indexed some files of its own."""

    folder: Path

    @property
    def remote(self) -> Repo:
        return Repo(self.folder / "remote")

    @property
    def ann(self) -> Repo:
        return Repo(self.folder / "ann")

    @property
    def bob(self) -> Repo:
        return Repo(self.folder / "bob")

    def copy(self, name: str) -> "World":
        target = self.folder.with_name(name)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.folder, target, symlinks=True)
        return World(target)


def make_world(folder: Path) -> World:
    """Make the world; no rows are shared yet."""
    folder.mkdir()
    remote = Repo.init(folder / "remote", "--bare")
    ann = clone_of(remote, "ann")
    ann.git("checkout", "--quiet", "-b", "main")
    ann.commit({"own.py": python_file("own_door")})
    ann.git("push", "--quiet", "-u", "origin", "main")
    bob = clone_of(remote, "bob")
    index(bob)
    ann.commit({f"part_{number}.py": python_file(f"door_{number}", f"roof_{number}") for number in range(3)})
    ann.git("push", "--quiet")
    index(ann)
    bob.git("pull", "--quiet", "origin", "main")
    for clone in (ann, bob):
        clone.git("config", "remote.origin.url", "../remote")  # so that a copy of the world is a world of its own
    (folder / "store").mkdir()
    return World(folder)


def push(world: World, store: str) -> None:
    push_index(workspace_of(world.ann), store=store)


def pull(world: World, store: str) -> None:
    pull_index(workspace_of(world.bob), store=store)


def look_after(world: World, store: str, expected: Set[object]) -> Iterator[str]:
    """Yield what is wrong after a kill: for readers now, and after both commands ran again."""
    workspace = workspace_of(world.bob)
    own = dump_rows(snapshot_of(world.bob))
    yield from find_faults(workspace.paths)
    yield from verify_remote(workspace, "", store).faults
    yield from pull_index(workspace, store=store).notices
    push(world, store)
    again = pull_index(workspace, store=store)
    yield from again.notices
    if again.missing:
        yield f"{again.missing} blobs are missing after all"
    rows = set(dump_rows(snapshot_of(world.bob)))
    if not set(own) <= rows or rows != expected:
        yield "other rows than those that were pushed"
    yield from find_faults(workspace.paths)


def look_at_objects(remote: Repo, *clones: Repo) -> Iterator[str]:
    """Yield what git finds wrong in a remote and its clones, and what gitmem left among their objects."""
    for repo in (remote, *clones):
        yield from repo.git("fsck", "--strict", "--no-dangling", "--no-progress").splitlines()
    for clone in clones:
        yield from (f"{path} is left" for path in (clone.path / ".git/objects").glob(f"{PREFIX}*"))
