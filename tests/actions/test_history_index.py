"""`verify` finds and repairs damage of the index of commit messages, and `cancel` stops a run of it."""

import os
from pathlib import Path

import pytest

from gitmem.actions.cancel import cancel
from gitmem.actions.verify import verify
from gitmem.errors import ExitCode
from gitmem.freshness.commit_index import RESUME, find_history
from gitmem.freshness.commit_run import index_commits
from gitmem.store.snapshot import Snapshot
from tests.cli.test_cancel import running
from tests.commit_messages import Message, import_messages
from tests.gitrepo import Repo
from tests.indexes import DumpedRow, dump_rows, index, workspace_of
from tests.sample import Cli, damage

pytestmark = pytest.mark.usefixtures("fake_model")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    import_messages(repo, [Message(f"Add part {number} of the wing") for number in range(40)])
    index(repo)
    return repo


def rows_of(repo: Repo) -> set[DumpedRow]:
    paths, manifest = workspace_of(repo).paths.history, find_history(workspace_of(repo))
    assert manifest is not None
    return dump_rows(Snapshot(paths, manifest))


@pytest.mark.parametrize("kind", ["flip", "cut", "missing", "manifest"])
def test_damage_is_found_and_repaired(repo: Repo, kind: str) -> None:
    workspace = workspace_of(repo)
    index_commits(workspace)
    expected = rows_of(repo)
    assert verify(workspace).sound
    paths = workspace.paths.history
    (segment,) = paths.segments.iterdir()
    if kind == "flip":
        damage(segment, segment.stat().st_size // 2)
    elif kind == "cut":
        os.truncate(segment, segment.stat().st_size // 2)
    elif kind == "missing":
        segment.unlink()
    else:
        damage(paths.manifest, paths.manifest.stat().st_size // 2)
    findings = verify(workspace).findings
    name = "manifest" if kind == "manifest" else f"segments/{segment.name}"
    assert findings.damaged == [f"history/{name}"]
    assert verify(workspace, repair=True).sound
    assert rows_of(repo) == expected


def test_a_run_is_stopped_and_the_next_one_completes_it(repo: Repo, cli: Cli) -> None:
    with running(repo, "index", "--history") as process:
        outcome = cancel(workspace_of(repo))
        _, errors = process.communicate()
    assert (outcome.found, outcome.stopped, outcome.resume) == (True, True, RESUME)
    assert process.returncode == ExitCode.FAILED
    assert f"{RESUME}" in errors
    kept = rows_of(repo)
    assert 0 < len(kept) < 40
    assert index_commits(workspace_of(repo)).indexed == 40 - len(kept)
    assert kept < rows_of(repo)
    assert not cancel(workspace_of(repo)).found
    assert cli("cancel", cwd=repo.path).code == ExitCode.OK
