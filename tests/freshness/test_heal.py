"""A query indexes what it lacks within its time, the files that the user is working on first."""

import time

from gitmem.freshness.heal import heal
from gitmem.freshness.tree_selection import WORKING_TREE, TreeReader
from gitmem.freshness.tree_view import open_tree
from gitmem.workspace import open_snapshot, require_index
from tests.gitrepo import MakeRepo
from tests.indexes import InlinePool, index, python_file, workspace_of


def test_uncommitted_files_are_indexed_first(make_repo: MakeRepo, fake_model: type[InlinePool]) -> None:
    repo = make_repo()
    repo.commit({"old.py": python_file("old")})
    index(repo)
    repo.commit({f"a{number}.py": python_file(f"new_{number}") for number in range(5)})
    repo.write({"z.py": python_file("uncommitted")})
    workspace = workspace_of(repo)
    manifest = require_index(workspace)
    with TreeReader(workspace.location, WORKING_TREE) as reader:
        overlay = open_tree(workspace, reader.read(), manifest)
    # At its deadline a query indexes one blob.
    healed = heal(workspace, overlay.view, overlay.files, deadline=time.monotonic(), wait=False)
    assert healed is not None
    matches = open_snapshot(workspace, healed).match(overlay.view)
    indexed = {overlay.view.path(entry) for entry, blob in enumerate(matches.tolist()) if blob >= 0}
    assert indexed == {b"old.py", b"z.py"}
