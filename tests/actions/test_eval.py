"""Evaluation with queries from the git history, which changes only the fusion weights."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gitmem.actions.eval import NO_TIME, Evaluation, evaluate, require_halves, require_weights, tune
from gitmem.actions.gc import collect
from gitmem.actions.verify import verify
from gitmem.answering.index_status import read_status
from gitmem.answering.labelled_queries import NO_CODE, TOO_WIDE, UNINFORMATIVE, find_targets, mine_queries
from gitmem.answering.weights_in_force import DEFAULT, FITTED, OUTDATED, UNREADABLE, read_tuning, reset_weights
from gitmem.errors import Busy, NoIndex, TooLittleHistory, UsageError
from gitmem.indexing.fingerprint import current_fingerprint, view_key
from gitmem.indexing.views import peek_view
from gitmem.locks import writer_lock
from gitmem.search.engine import FUSION_WEIGHTS
from gitmem.search.metrics import Quality, average
from gitmem.search.replay import measure_file_quality, measure_quality
from gitmem.store.fitted_weights import Tuning, find_tuning, write_tuning
from gitmem.store.manifest import write_manifest
from tests.commit_history import WORDS, make_history
from tests.gitrepo import ISOLATION, Repo
from tests.indexes import (
    InlinePool,
    brief_hits,
    files_in,
    index,
    manifest_of,
    python_file,
    search,
    snapshot_of,
    workspace_of,
)
from tests.sample import damage
from tests.search.judged_queries import decided_by_meaning, decided_by_words, make_judged

QUERY = "anchor which visitors rotates"


@pytest.fixture(scope="session")
def _history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Make a repository with many commits once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ISOLATION.items():
            patch.setenv(name, value)
        yield make_history(tmp_path_factory.mktemp("history") / "repo").path


@pytest.fixture
def repo(_history: Path, tmp_path: Path, fake_model: type[InlinePool]) -> Repo:
    """Copy the repository and index it with the fake model."""
    shutil.copytree(_history, tmp_path / "repo")
    repo = Repo(tmp_path / "repo")
    index(repo)
    return repo


def evaluate_all(repo: Repo) -> Evaluation:
    """Evaluate all queries of the history with a long budget."""
    return evaluate(workspace_of(repo), commits=200, budget=600)


def read_index_files(repo: Repo) -> dict[str, bytes]:
    """Return the content of each file of an index except locks."""
    root = repo.path / ".gitmem"
    return {str(file.relative_to(root)): file.read_bytes() for file in sorted(root.rglob("*"))
            if file.is_file() and "lock" not in file.name}  # fmt: skip


def evaluation_with(to_fit: int, held_out: int, repo: Repo, *, by_words: bool) -> Evaluation:
    """Return an evaluation whose queries are answered best by lexical or by semantic ranking."""
    evaluation = evaluate_all(repo)
    trials = decided_by_words if by_words else decided_by_meaning
    evaluation.to_fit.trials, evaluation.held_out.trials = trials(to_fit), trials(held_out)
    return evaluation


def test_each_commit_is_a_query_for_the_function_it_changed(repo: Repo) -> None:
    evaluation = evaluate_all(repo)
    assert (evaluation.commits, evaluation.queries) == (len(WORDS), len(WORDS))
    assert not evaluation.rejected
    assert len(evaluation.held_out.trials) == sum(int(oid[7], 16) % 2 for oid in _commits(repo))
    assert set(evaluation.quality) == {"hybrid", "semantic", "lexical"}
    assert evaluation.quality["lexical"].ndcg > 0.9
    assert all(len(values) == len(evaluation.held_out.trials) for values in evaluation.held_out.quality.values())
    assert evaluation.weights == FUSION_WEIGHTS


def _commits(repo: Repo) -> list[str]:
    return repo.git("rev-list", "HEAD").split()[:-1]


def test_the_same_repository_gives_the_same_figures(repo: Repo) -> None:
    first, second = (evaluate_all(repo) for _ in range(2))
    assert first.held_out.quality == second.held_out.quality
    assert first.to_fit.quality == second.to_fit.quality


def test_a_new_commit_does_not_change_the_half_of_the_others(repo: Repo) -> None:
    before = {one.commit: one.held_out for one in mine_queries(workspace_of(repo).location, 200).queries}
    repo.commit({"src/anchor.py": "def late():\n    pass\n"}, "anchor loses everything it held")
    after = {one.commit: one.held_out for one in mine_queries(workspace_of(repo).location, 200).queries}
    assert len(after) == len(before) + 1
    assert before.items() <= after.items()


def test_an_evaluation_does_not_change_the_index(repo: Repo) -> None:
    before = read_index_files(repo)
    evaluate_all(repo)
    assert read_index_files(repo) == before
    assert not workspace_of(repo).paths.scratch.exists()


def test_an_evaluation_embeds_no_indexed_blob_again(repo: Repo, fake_model: type[InlinePool]) -> None:
    blobs = set(repo.git("rev-list", "--objects", "--filter=object:type=blob", "HEAD", "--no-object-names").split())
    fake_model.digested = 0
    evaluate_all(repo)
    there = {repo.oid(f"HEAD:{path}") for path in repo.git("ls-files").split()}
    old = {oid for oid in blobs if repo.git("cat-file", "-t", oid) == "blob"} - there
    assert fake_model.digested == len(old)


def test_a_query_searches_the_tree_before_its_commit(repo: Repo) -> None:
    work, thing = WORDS[0]
    [query] = [one for one in mine_queries(workspace_of(repo).location, 200).queries
                  if one.text == f"{thing} which a late visitor {work} in hurry"]  # fmt: skip
    assert query.tree == repo.oid("main~48^{tree}")
    assert [path for path, _ in query.changed] == [f"src/{thing}.py".encode()]
    assert [[*span] for _, lines in query.changed for span in lines] == [[4, 1]]


def targets(repo: Repo, before: str, after: str, name: str = "lib/thing.py") -> list[str]:
    """Return the symbols of the chunks that a commit changed in a file."""
    repo.commit({name: before})
    repo.commit({name: after}, "anchor kettle lantern island")
    index(repo, full=True)
    workspace = workspace_of(repo)
    query = mine_queries(workspace.location, 1).queries[0]
    repo.git("checkout", "-q", "HEAD^")
    index(repo)
    snapshot, view = snapshot_of(repo), peek_view(workspace.location, workspace.paths, query.tree)
    rows = find_targets(query, snapshot, view, snapshot.match(view))
    return snapshot.symbols(np.asarray(rows))


TWO = "def a():\n    return 1\n\n\ndef b():\n    return 2\n"


@pytest.mark.parametrize(
    ("before", "after", "symbols"),
    [
        (TWO, TWO.replace("2", "3"), ["b"]),
        ("def a():\n    x = 1\n    return x\n", "def a():\n    x = 1\n    x += 1\n    return x\n", ["a"]),
        ("def a():\n    return 1\n", TWO, []),
        ("import os\n\n\ndef a():\n    return 1\n", "import os\nimport re\n\n\ndef a():\n    return 1\n", []),
    ],
)  # fmt: skip
def test_targets_are_the_innermost_named_chunks_that_changed(
    tmp_path: Path, fake_model: type[InlinePool], before: str, after: str, symbols: list[str]
) -> None:
    assert targets(Repo.init(tmp_path / "repo"), before, after) == symbols


def test_the_target_in_a_large_class_is_the_changed_method_or_the_class_with_a_new_one(
    tmp_path: Path, fake_model: type[InlinePool]
) -> None:
    body = "\n".join(f"        step_{number} = other_{number} + {number}" for number in range(60))
    before = (
        f"class Box:\n    def open(self):\n{body}\n        return 1\n\n    def close(self):\n{body}\n        return 2\n"
    )
    assert targets(Repo.init(tmp_path / "one"), before, before.replace("return 2", "return 3")) == ["Box.close"]
    more = before.replace("    def close", "    def peek(self):\n        return 3\n\n    def close")
    assert targets(Repo.init(tmp_path / "two"), before, more) == ["Box"]


@pytest.mark.parametrize("name", ["tests/test_thing.py", "docs/thing.py", "vendor/thing.py", "notes.md"])
def test_tests_documents_and_vendored_code_are_not_targets(
    tmp_path: Path, fake_model: type[InlinePool], name: str
) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({name: "def a():\n    return 1\n"})
    repo.commit({name: "def a():\n    return 2\n"}, "anchor kettle lantern island")
    mined_queries = mine_queries(workspace_of(repo).location, 10)
    assert not mined_queries.queries
    assert mined_queries.rejected == {NO_CODE: 1}


def test_rejected_commits_are_counted_by_reason(repo: Repo) -> None:
    repo.commit({f"wide/{number}.py": "x = 1\n" for number in range(11)}, "anchor kettle lantern island")
    repo.commit({"src/anchor.py": "x = 1\n"}, "fix")
    mined_queries = mine_queries(workspace_of(repo).location, 200)
    assert mined_queries.rejected == {TOO_WIDE: 1, UNINFORMATIVE: 1}
    assert mined_queries.commits == len(WORDS) + 2


def test_an_evaluation_stops_at_its_budget(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(10_000))
    clock = SimpleNamespace(monotonic=lambda: float(next(ticks)))  # only that of the evaluation: others use theirs too
    monkeypatch.setattr("gitmem.actions.eval.time", clock)
    reported: list[tuple[int, int]] = []
    evaluation = evaluate(workspace_of(repo), commits=200, budget=4.5, report=lambda *step: reported.append(step))
    assert evaluation.queries == 1 + 2 + 4 + 8, "a tick for each block of commits"
    assert evaluation.rejected == {NO_TIME: len(WORDS) - 15}
    assert reported[:3] == [(0, len(WORDS)), (1, len(WORDS)), (1, len(WORDS))], "reported before a block is indexed"


def test_a_budget_of_zero_is_an_error_with_a_hint(repo: Repo) -> None:
    with pytest.raises(TooLittleHistory, match=r"^no usable commits") as caught:
        evaluate(workspace_of(repo), commits=200, budget=0)
    assert "--budget" in caught.value.hint
    assert not workspace_of(repo).paths.scratch.exists()


def test_an_empty_history_is_an_error(tmp_path: Path, fake_model: type[InlinePool]) -> None:
    empty = Repo.init(tmp_path / "empty")
    index(empty)
    with pytest.raises(TooLittleHistory, match=r"^no usable commits"):
        evaluate_all(empty)


def test_a_short_history_is_measured_as_a_whole_and_not_tuned(tmp_path: Path, fake_model: type[InlinePool]) -> None:
    short = make_history(tmp_path / "short", 10)
    index(short)
    evaluation = evaluate_all(short)
    halves = [half.quality["lexical"] for half in (evaluation.to_fit, evaluation.held_out)]
    assert all(halves)
    assert evaluation.quality["lexical"] == average([*halves[0], *halves[1]])
    with pytest.raises(TooLittleHistory, match=r"^10 usable commits .* at least 15 of each"):
        require_halves(workspace_of(short), evaluation)


def test_the_right_file_counts_whichever_of_its_lines_are_shown(repo: Repo) -> None:
    evaluation = evaluate_all(repo)
    for mode, quality in evaluation.quality.items():
        assert evaluation.file_quality[mode].recall >= quality.recall
    judged = make_judged([0.5, 0.4], [0.9, 0.1], 1)
    wrong_lines = judged._replace(
        matched_targets=[frozenset(), frozenset()], matched_files=[frozenset([0]), frozenset()]
    )
    assert measure_quality(wrong_lines, FUSION_WEIGHTS) == Quality(0.0, 0.0)
    assert measure_file_quality(wrong_lines, FUSION_WEIGHTS) == Quality(1.0, 1.0)


def test_the_hint_for_a_shallow_clone_is_to_unshallow(repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "-q", "--depth", "5", f"file://{repo.path}", str(tmp_path / "shallow"))
    shallow = Repo(tmp_path / "shallow")
    index(shallow)
    with pytest.raises(TooLittleHistory, match=r"^4 usable commits") as caught:
        require_halves(workspace_of(shallow), evaluate_all(shallow))
    assert "git fetch --unshallow" in caught.value.hint


def test_a_bare_repository_and_a_linked_working_tree_give_the_same_figures(repo: Repo, tmp_path: Path) -> None:
    expected = evaluate_all(repo).quality
    repo.git("clone", "-q", "--bare", str(repo.path), str(tmp_path / "bare"))
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    for path in (tmp_path / "bare", tmp_path / "linked"):
        index(Repo(path))
        assert evaluate_all(Repo(path)).quality == expected


def test_without_an_index_nothing_is_measured(tmp_path: Path) -> None:
    workspace = workspace_of(Repo.init(tmp_path / "repo"))
    with pytest.raises(NoIndex):
        evaluate(workspace, commits=200, budget=600)
    with pytest.raises(NoIndex):
        reset_weights(workspace)


def test_a_second_concurrent_evaluation_is_rejected(repo: Repo) -> None:
    workspace = workspace_of(repo)
    with writer_lock(workspace.paths.scratch_lock, wait=False), pytest.raises(Busy):
        evaluate_all(repo)


def test_scratch_files_of_a_killed_evaluation_are_removed(repo: Repo) -> None:
    paths = workspace_of(repo).paths
    for sweep in (evaluate_all, lambda repo: collect(workspace_of(repo))):
        (paths.scratch / "segments").mkdir(parents=True)
        (paths.scratch / "segments" / "left").write_bytes(b"x")
        sweep(repo)
        assert not paths.scratch.exists()


def test_gc_keeps_the_scratch_files_of_a_running_evaluation(repo: Repo) -> None:
    paths = workspace_of(repo).paths
    (paths.scratch / "segments").mkdir(parents=True)
    (paths.scratch / "segments" / "held").write_bytes(b"x")
    with writer_lock(paths.scratch_lock, wait=False):
        collect(workspace_of(repo))
    assert (paths.scratch / "segments" / "held").exists()


def test_an_evaluation_first_refreshes_the_index(repo: Repo) -> None:
    repo.commit({"src/late.py": python_file("late")}, "late things come late to everybody")
    evaluate_all(repo)
    manifest = manifest_of(repo)
    assert view_key(repo.oid("HEAD^{tree}")) in manifest.views
    assert manifest.rows == len(WORDS) + 1


def test_an_evaluation_first_rebuilds_an_index_of_another_model(repo: Repo) -> None:
    expected = evaluate_all(repo).quality
    paths = workspace_of(repo).paths
    write_manifest(paths.manifest, manifest_of(repo)._replace(fingerprint="another"))
    assert evaluate_all(repo).quality == expected
    assert manifest_of(repo).fingerprint == current_fingerprint(workspace_of(repo).settings)


def test_better_weights_are_stored_and_used(repo: Repo) -> None:
    workspace = workspace_of(repo)
    before = brief_hits(search(repo, QUERY))
    fit = tune(workspace, evaluation_with(6, 4, repo, by_words=True))
    assert fit.is_better
    assert read_tuning(workspace).state == FITTED
    stored = find_tuning(workspace.paths.tuning)
    assert stored is not None
    assert (stored.semantic, stored.lexical, stored.queries) == (*fit.weights, 4)
    assert evaluate_all(repo).weights == fit.weights
    assert brief_hits(search(repo, QUERY)) != before
    assert read_status(workspace).tuning.weights == stored
    assert reset_weights(workspace)
    assert not reset_weights(workspace)
    assert brief_hits(search(repo, QUERY)) == before


def test_without_better_weights_the_default_is_restored(repo: Repo) -> None:
    workspace = workspace_of(repo)
    tune(workspace, evaluation_with(6, 4, repo, by_words=True))
    assert not tune(workspace, evaluation_with(6, 4, repo, by_words=False)).is_better
    assert read_tuning(workspace).state == DEFAULT
    assert not workspace.paths.tuning.exists()


def test_weights_of_another_model_or_ranking_are_not_used(repo: Repo) -> None:
    workspace = workspace_of(repo)
    before = brief_hits(search(repo, QUERY))
    write_tuning(workspace.paths.tuning, Tuning("another", 0.0, 5.0, 0.1, 50))
    answer = search(repo, QUERY)
    assert (brief_hits(answer), answer.notes) == (before, [])
    assert read_status(workspace).tuning.state == OUTDATED
    assert evaluate_all(repo).weights == FUSION_WEIGHTS


def test_damaged_weights_are_reported_once_and_removed(repo: Repo) -> None:
    workspace = workspace_of(repo)
    before = brief_hits(search(repo, QUERY))
    tune(workspace, evaluation_with(6, 4, repo, by_words=True))
    damage(workspace.paths.tuning, 40)
    assert read_status(workspace).tuning.state == UNREADABLE
    answer = search(repo, QUERY)
    assert brief_hits(answer) == before
    [note] = answer.notes
    assert "tuning` is damaged" in note
    assert "gitmem eval --tune" in note
    assert search(repo, QUERY).notes == []
    assert read_status(workspace).tuning.state == DEFAULT


def test_verify_finds_damaged_weights_and_removes_them(repo: Repo) -> None:
    workspace = workspace_of(repo)
    write_tuning(workspace.paths.tuning, Tuning("any", 0.0, 5.0, 0.1, 50))
    assert verify(workspace).sound
    damage(workspace.paths.tuning, 40)
    assert verify(workspace).findings.damaged == ["state/tuning"]
    assert verify(workspace, repair=True).sound
    assert not workspace.paths.tuning.exists()


def test_a_fusion_without_weights_is_not_tuned(repo: Repo) -> None:
    repo.git("config", "gitmem.fusion", "rrf")
    with pytest.raises(UsageError, match="rrf"):
        require_weights(workspace_of(repo))
    assert evaluate_all(repo).quality["lexical"] > Quality(0.9, 0.9)


def test_scratch_files_are_hard_links_to_the_segments(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    links: list[int] = []

    def note(_done: int, _total: int) -> None:
        links.extend(file.stat().st_nlink for file in files_in(workspace_of(repo).paths.segments))

    evaluate(workspace_of(repo), commits=200, budget=600, report=note)
    assert set(links) == {2}
