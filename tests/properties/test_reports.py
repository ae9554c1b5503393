"""The report of an index run and the content of the index, for any tree."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from gitmem.answering.searcher import open_searcher
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.store.columns import OUTCOMES
from tests.gitrepo import Repo
from tests.indexes import InlinePool, dump_rows, manifest_of, snapshot_of
from tests.properties.trees import Tree, Writer, class_of, count_classes, trees


@pytest.fixture
def writer(tmp_path: Path, fake_model: type[InlinePool]) -> Writer:
    """Share one repository and its growing index between all examples."""
    return Writer.create(Repo.init(tmp_path / "repo"))


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(tree=trees)
def test_a_run_indexes_the_texts_of_a_tree_and_reports_their_counts(writer: Writer, tree: Tree) -> None:
    """Property 5: Recursive discovery. Property 10: Report accuracy."""
    manifest = manifest_of(writer.repo)
    writer.commit(tree)
    report = writer.index()
    assert indexed_paths(writer) == {path for path, file in tree.items() if class_of(path, file) == "indexed"}
    if report.up_to_date:  # the tree of the last example
        return
    expected = count_classes(tree)
    assert report.parsed.total() + report.as_text.total() == expected.pop("indexed", 0)
    assert report.skipped == expected
    assert report.files == len(tree)
    assert report.chunks_before == (manifest.rows if manifest else 0)
    assert report.chunks == report.chunks_before + report.chunks_added == len(dump_rows(snapshot_of(writer.repo)))
    assert (report.status, report.problems) == ("success", [])


def indexed_paths(writer: Writer) -> set[str]:
    """Return the paths of HEAD whose text the index has."""
    searcher = open_searcher(writer.workspace, TreeSelection("HEAD"))
    view, snapshot = searcher.view, searcher.snapshot
    matches = snapshot.match(view)
    outcomes = [OUTCOMES[snapshot.blob_outcomes[blob]] if blob >= 0 else "" for blob in matches]
    return {view.path(entry).decode() for entry, outcome in enumerate(outcomes) if outcome in ("parsed", "text")}
