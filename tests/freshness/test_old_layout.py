"""Indexes of earlier layouts are rebuilt or upgraded by the next command that meets them, and no record is lost."""

import shutil
import tarfile
from pathlib import Path

import pytest

from gitmem.actions.verify import verify
from gitmem.fsio import write_atomic
from gitmem.indexing.fingerprint import view_key
from gitmem.records.notes import add_note
from gitmem.store.format import build_container
from gitmem.store.manifest import find_manifest
from gitmem.store.stored_view import find_view
from gitmem.store.view_file import view_contents
from tests.freshness.test_old_format import TREE
from tests.gitrepo import Repo
from tests.indexes import InlinePool, brief_hits, index, search, workspace_of

WHOLE_VIEW_MAGIC = b"GITMEMVW"
"""Of views that held all entries of a tree, before they were stored as differences from a base."""

FIRST_FORMAT = Path(__file__).with_name("index_of_format_1.tar.gz")
"""Index of TREE and a note, as gitmem wrote it when format 1 was the latest."""

MADE_HERE = "gitmem-made-here"


def notes_of(repo: Repo) -> list[str]:
    """Return the texts of the notes that a search finds."""
    return ["\n".join(lines) for _, lines in search(repo, "parcels are late", kinds=("notes",)).hits]


def write_whole_views(repo: Repo) -> None:
    """Replace the files of all views by those of the earlier layout."""
    folder = workspace_of(repo).paths.views
    files = [file for file in folder.iterdir() if not file.suffix]
    views = {file: find_view(file) for file in files}
    parts = {}
    for file, view in views.items():
        assert view is not None
        fields, sections = view_contents(view.tree, view.columns())
        del sections["sorted_keys"], sections["sorted_entries"]
        parts[file] = [bytes(part) for part in build_container(WHOLE_VIEW_MAGIC, fields, sections)]
    shutil.rmtree(folder)
    folder.mkdir(mode=0o700)
    for file, content in parts.items():
        write_atomic(file, content)


@pytest.fixture
def two_commits(tmp_path: Path, fake_model: type[InlinePool]) -> Repo:
    """Return a repository with two indexed commits, the first tagged, and a note."""
    repo = Repo.init(tmp_path / "repo")
    repo.commit(TREE)
    index(repo)
    repo.git("tag", "first")
    repo.commit({"c.py": "def save():\n    return 2\n"})
    index(repo)
    add_note(workspace_of(repo), "parcels are late on Mondays")
    return repo


def test_views_of_whole_trees_are_built_again_and_rows_stay(two_commits: Repo, fake_model: type[InlinePool]) -> None:
    repo, paths = two_commits, workspace_of(two_commits).paths
    found = {rev: brief_hits(search(repo, "load save", rev=rev)) for rev in ("HEAD", "first")}
    before = find_manifest(paths.manifest)
    write_whole_views(repo)
    fake_model.digested = 0
    assert {rev: brief_hits(search(repo, "load save", rev=rev, refresh=False)) for rev in found} == found
    for rev, hits in found.items():
        answer = search(repo, "load save", rev=rev)
        assert (brief_hits(answer), answer.notes) == (hits, [])
        assert find_view(paths.view(view_key(repo.oid(f"{rev}^{{tree}}")))) is not None
    assert notes_of(repo) == ["parcels are late on Mondays"]
    assert (fake_model.digested, find_manifest(paths.manifest)) == (0, before)
    assert verify(workspace_of(repo)).findings.problems == []
    repo.commit({"d.py": "def drop():\n    return 3\n"})
    assert index(repo).rebuilt == ""
    assert fake_model.digested == 1


@pytest.mark.usefixtures("fake_model")
def test_an_index_that_gitmem_wrote_in_format_1_is_rebuilt_and_keeps_notes(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit(TREE)
    note = add_note(workspace_of(repo), "parcels are late on Mondays").note
    with tarfile.open(FIRST_FORMAT) as archive:
        if hasattr(tarfile, "data_filter"):  # from Python 3.11.4 on
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(repo.path)
    (repo.path / ".git" / MADE_HERE).write_bytes((repo.path / ".gitmem" / MADE_HERE).read_bytes())
    tip = repo.oid("refs/gitmem/memory")
    answer = search(repo, "sign cookie")
    assert brief_hits(answer)[0][0] == "src/cookies.py"
    assert ["rebuilt" in line for line in answer.notes] == [True]
    assert notes_of(repo) == [note.content]
    assert repo.oid("refs/gitmem/memory") == tip
    assert verify(workspace_of(repo)).findings.problems == []
    assert not index(repo).rebuilt
