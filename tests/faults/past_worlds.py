"""A repository whose past is indexed in several compact segments, and all that this index answers."""

from pathlib import Path
from typing import Any

import numpy as np

from gitmem.actions.gc import collect
from gitmem.errors import DamagedFile, NewerFormat, NoIndex, UnsafeIndex
from gitmem.freshness.past_index import find_past
from gitmem.freshness.past_run import index_past
from gitmem.indexing.lifetimes import find_past_view
from gitmem.indexing.mark_records import RecordReader
from gitmem.store.snapshot import Snapshot
from gitmem.workspace import Workspace
from tests.faults.worlds import Scenario
from tests.gitrepo import Repo
from tests.indexes import index, python_file, workspace_of
from tests.past_histories import ask

Life = tuple[str, int, int]


def _build(repo: Repo) -> None:
    repo.commit({"wing.py": python_file("old_wing", "old_roof")}, "Build the old wing")
    index(repo)


def _extend(repo: Repo) -> None:
    """More definitions than a segment holds, in versions that differ by some of them."""
    for number in range(5):
        names = [f"{part}_{number}" for part in ("door", "window", "stairs")]
        repo.commit({"wing.py": python_file(*names), "cellar.py": python_file(*names[:2], "cellar")}, f"Wing {number}")


def _behind(repo: Repo) -> None:
    _build(repo)
    index_past(workspace_of(repo))
    _extend(repo)


def _first(repo: Repo) -> None:
    _build(repo)
    _extend(repo)
    index(repo)


def _dropped(repo: Repo) -> None:
    """A branch of its own is indexed and deleted without a trace."""
    _behind(repo)
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit({"attic.py": python_file("attic_floor", "attic_stairs"), "wing.py": python_file("attic")}, "An attic")
    index_past(workspace_of(repo))
    repo.git("checkout", "--quiet", "main")
    index_past(workspace_of(repo))
    repo.git("branch", "--quiet", "-D", "side")
    repo.git("reflog", "expire", "--expire=all", "--all")


def _index(repo: Repo) -> object:
    return index_past(workspace_of(repo))


def _collect(repo: Repo) -> object:
    return collect(workspace_of(repo), now=True)


SCENARIOS = (
    Scenario("first index", _first, ("index", "--history"), _index),
    Scenario("new commits", _behind, ("index", "--history"), _index),
    Scenario("collection", _dropped, ("gc", "--now"), _collect),
)


def lives_of(repo: Repo) -> set[Life]:
    """Return symbol and life of each definition in the history of HEAD; nothing without an index of the past."""
    workspace = workspace_of(repo)
    manifest, view = find_past(workspace), find_past_view(workspace.paths.past.lifetimes)
    if manifest is None or view is None:
        return set()
    snapshot = Snapshot(workspace.paths.past, manifest)
    lives = view.lives(snapshot)
    symbols = snapshot.symbols(np.arange(snapshot.rows))
    columns = (lives.introduced.tolist(), lives.removed.tolist(), lives.group.tolist())
    return {row[:3] for row in zip(symbols, *columns, strict=True) if row[3] >= 0}


def make_past_index(folder: Path) -> Workspace:
    """Make an index of the past with several segments."""
    repo = Repo.init(folder / "repo")
    _behind(repo)
    index_past(workspace_of(repo))
    return workspace_of(repo)


def past_files(workspace: Workspace) -> list[Path]:
    """Return the files of an index of the past."""
    paths = workspace.paths.past
    return sorted([paths.manifest, paths.lifetimes, *paths.segments.iterdir()])


def tell_past(workspace: Workspace) -> Any:
    """Return what an index of the past answers, or that it refuses to."""
    try:
        paths = workspace.paths.past
        manifest, view = find_past(workspace), find_past_view(paths.lifetimes)
        if manifest is None or view is None:
            return "no index"
        snapshot = Snapshot(paths, manifest)
        if snapshot.lost:
            return "lost"
        told: list[Any] = [column.tolist() for column in view.lives(snapshot)]
        told += [view.commits, view.entries(), snapshot.symbols(np.arange(snapshot.rows))]
        reader = RecordReader(snapshot)
        told += [sorted(reader.read(key)) for key in snapshot.blob_keys.tolist()]
        repo = Repo(workspace.location.git_dir.parent)
        for found in ask(repo, "window stairs of the old wing").hits:
            hit, commits = found.hit, (found.introduced, found.removed, found.since, found.until)
            ids = [commit and commit.commit for commit in commits]
            told.append([hit.path, hit.start, hit.end, hit.symbol, hit.score, found.lines, found.versions, *ids])
    except (DamagedFile, UnsafeIndex, NewerFormat, NoIndex) as problem:
        return type(problem).__name__
    return told
