"""A collection that spares nothing may remove a view between its publication and its first use."""

from pathlib import Path

import pytest

from gitmem import fsio
from gitmem.git.locate import locate
from gitmem.indexing.views import ensure_view
from gitmem.paths import IndexPaths
from tests.gitrepo import MakeRepo


class RemovingDisk(fsio.Disk):
    """Disk on which another process removes each view as soon as it has its name."""

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        if target.parent.name == "views":
            target.unlink()


def test_a_view_that_is_removed_at_once_is_opened_nevertheless(
    make_repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_repo()
    repo.commit({"a.py": "a = 1\n", "b/c.md": "# c\n"})
    paths = IndexPaths(tmp_path / "index")
    paths.views.mkdir(parents=True)
    tree = repo.oid("HEAD^{tree}")
    monkeypatch.setattr(fsio, "disk", RemovingDisk())
    removed = ensure_view(locate(repo.path), paths, tree)
    assert not list(paths.views.iterdir())
    assert list(removed.paths) == [b"a.py", b"b/c.md"]
    monkeypatch.undo()
    kept = ensure_view(locate(repo.path), paths, tree)
    assert [kept.oid(entry) for entry in range(2)] == [removed.oid(entry) for entry in range(2)]
