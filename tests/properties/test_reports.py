"""The report of an index run and the content of the index, for any tree."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.answering.searcher import open_searcher
from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.store.columns import OUTCOMES
from tests.gitrepo import Repo
from tests.indexes import InlinePool, dump_rows, manifest_of, snapshot_of
from tests.properties.trees import MAX_FILE_BYTES, Tree, Writer, class_of, count_classes, trees


@pytest.fixture
def writer(tmp_path: Path, fake_model: type[InlinePool]) -> Writer:
    """Share one repository and its growing index between all examples."""
    return Writer.create(Repo.init(tmp_path / "repo"))


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(tree=trees, full=st.booleans())
def test_a_run_indexes_the_texts_of_a_tree_and_reports_their_counts(writer: Writer, tree: Tree, full: bool) -> None:
    """Property 5: Recursive discovery. Property 7: Unsupported handling.

    Property 10: Report accuracy. Property 35: Diff.
    """
    manifest = manifest_of(writer.repo)
    writer.commit(tree)
    report = writer.index(list_files=True, full=full)
    assert indexed_paths(writer) == {path for path, file in tree.items() if class_of(path, file) == "indexed"}
    # A run with nothing to do, for the tree of the last example, reports the same.
    expected = count_classes(tree)
    assert report.parsed.total() + report.as_text.total() == expected.pop("indexed", 0)
    assert report.skipped == expected
    assert report.files == len(tree)
    assert report.chunks_before == (manifest.rows if manifest else 0)
    # Only a full run removes something: every chunk that there was.
    assert report.chunks_removed == (report.chunks_before if full else 0)
    assert report.chunks_added - report.chunks_removed == report.chunks - report.chunks_before
    assert report.chunks == len(dump_rows(snapshot_of(writer.repo)))
    assert (report.status, report.problems) == ("success", [])
    assert_details(report, tree)


def assert_details(report: IndexReport, tree: Tree) -> None:
    """Assert that a report names each skipped file once, with the reason, the size, and the limit it exceeds."""
    assert report.details is not None
    classes = {path: class_of(path, file) for path, file in tree.items()}
    skipped = {file.path: file for file in report.details.skipped}
    assert len(skipped) == len(report.details.skipped)
    assert {path: file.reason for path, file in skipped.items()} == {
        path: reason for path, reason in classes.items() if reason != "indexed"
    }
    for path, file in skipped.items():
        assert file.size == (None if file.reason == "submodule" else len(tree[path].content))
        assert file.limit == (MAX_FILE_BYTES if file.reason == "large" else None)
    assert not report.details.latin1
    assert sum(report.details.extensions.values()) == report.as_text.total()


def indexed_paths(writer: Writer) -> set[str]:
    """Return the paths of HEAD whose text the index has."""
    searcher = open_searcher(writer.workspace, TreeSelection("HEAD"))
    view, snapshot = searcher.view, searcher.snapshot
    matches = snapshot.match(view)
    outcomes = [OUTCOMES[snapshot.blob_outcomes[blob]] if blob >= 0 else "" for blob in matches]
    return {view.path(entry).decode() for entry, outcome in enumerate(outcomes) if outcome in ("parsed", "text")}
