"""An index is current only if the manifest lists the tree and all its files exist."""

import pytest

from gitmem.freshness.currency import is_current
from gitmem.workspace import require_index
from tests.gitrepo import MakeRepo
from tests.indexes import InlinePool, index, workspace_of


@pytest.mark.parametrize("lost", ["segment", "view"])
def test_an_index_that_lost_a_file_is_not_current(make_repo: MakeRepo, fake_model: type[InlinePool], lost: str) -> None:
    repo = make_repo()
    repo.commit({"a.py": "def a():\n    return 1\n"})
    index(repo)
    workspace = workspace_of(repo)
    tree, manifest, paths = repo.oid("HEAD^{tree}"), require_index(workspace), workspace.paths
    assert is_current(workspace, tree)
    assert not is_current(workspace, "0" * 40)
    (paths.segment(manifest.segments[0].name) if lost == "segment" else paths.view(manifest.views[0])).unlink()
    assert not is_current(workspace, tree)
