"""Answers cover the working tree with all uncommitted changes and mark them; no blob is embedded twice."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem import fsio
from gitmem.answering.answer import Answer, answer
from gitmem.answering.search_query import Query, SimilarQuery
from gitmem.answering.searcher import open_searcher
from gitmem.errors import GitFailed, UsageError
from gitmem.freshness.refresh import RefreshSettings, refresh
from gitmem.freshness.tree_selection import WORKING_TREE, TreeSelection
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.locks import writer_lock
from gitmem.search import engine
from gitmem.workspace import Workspace
from tests.gitrepo import Repo
from tests.indexes import (
    InlinePool,
    brief_hits,
    dump_outcomes,
    dump_rows,
    index,
    manifest_of,
    python_file,
    search,
    snapshot_of,
    workspace_of,
)

FILES: dict[str, str | bytes] = {
    "src/cookies.py": python_file("sign_cookie", "load_cookie"),
    "src/routes.py": python_file("match_route", "add_route"),
    "docs/guide.md": "# Guide\n\n## Backups\n\nCopy the database every night.\n",
}
QUERIES = ("sign cookie", "match_route", "copy the database", "load the table of a value", "brand_new")

Pool = type[InlinePool]


@pytest.fixture
def repo(tmp_path: Path, fake_model: Pool) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit(FILES)
    index(repo)
    return repo


@pytest.fixture(autouse=True)
def background_runs(monkeypatch: pytest.MonkeyPatch, fake_model: Pool) -> list[Workspace]:
    """Return the workspaces for which a background run was requested; no process is started."""
    workspaces: list[Workspace] = []
    monkeypatch.setattr("gitmem.freshness.background.start_background_refresh", workspaces.append)
    return workspaces


def answers(repo: Repo, **options: Any) -> list[Any]:
    return [brief_hits(search(repo, query, **options)) for query in QUERIES]


def paths(answer: Answer) -> list[str]:
    return [hit.path for hit, _ in answer.hits]


def committed_twin(repo: Repo, place: Path) -> Repo:
    """Copy the repository without its index, commit everything, and index it from scratch."""
    twin = Repo(place)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(repo.path, place, symlinks=True, ignore=shutil.ignore_patterns(".gitmem", "gitmem-made-here"))
    twin.git("add", "--all")
    twin.git("commit", "--quiet", "--allow-empty", "--no-verify", "-m", "all")
    index(twin)
    return twin


def rows_of_head(repo: Repo) -> set[Any]:
    blobs = {line.split()[2] for line in repo.git("ls-tree", "-r", "HEAD").splitlines()}
    return {row for row in dump_rows(snapshot_of(repo)) if row.blob in blobs}


def assert_like_from_scratch(repo: Repo, place: Path) -> None:
    results = answers(repo)
    twin = committed_twin(repo, place)
    assert results == answers(twin)
    expected = rows_of_head(twin)
    assert {row for row in dump_rows(snapshot_of(repo)) if row.blob in {row.blob for row in expected}} == expected


# -- the working tree


@pytest.mark.parametrize("change", ["modified", "staged", "untracked", "staged and modified", "renamed", "deleted"])
def test_uncommitted_changes_are_found_as_if_committed(repo: Repo, tmp_path: Path, change: str) -> None:
    name = {"untracked": "src/new.py", "renamed": "src/moved.py"}.get(change, "src/cookies.py")
    if change == "renamed":
        repo.git("mv", "src/cookies.py", name)
    elif change == "deleted":
        (repo.path / name).unlink()
    else:
        repo.write({name: python_file("brand_new", "sign_cookie")})
        if change.startswith("staged"):
            repo.git("add", name)
        if change.endswith("and modified"):
            repo.write({name: python_file("brand_new", "even_newer")})
    answer = search(repo, "sign_cookie" if change == "renamed" else "brand_new")
    assert answer.view.dirty is True
    assert not answer.view.stale
    assert answer.view.uncommitted == (2 if change == "renamed" else 1)
    if change != "deleted":
        assert paths(answer)[0] == name
        word = {"staged and modified": "modified", "renamed": "staged"}.get(change, change)
        assert answer.changes == {name: word}
        assert answer.hits[0][1], "the hit has lines"
    assert_like_from_scratch(repo, tmp_path / "twin")


def test_lines_come_from_the_working_file(repo: Repo) -> None:
    repo.write({"src/new.py": python_file("before", "brand_new")})
    (hit, lines), *_ = search(repo, "brand_new").hits
    assert lines == python_file("before", "brand_new").splitlines()[hit.start_line - 1 : hit.end_line]
    assert lines[0] == "def brand_new(value):"


def test_a_file_with_filters_is_shown_as_it_would_be_committed(repo: Repo) -> None:
    repo.commit({".gitattributes": "*.py text\n"})
    repo.write({"src/new.py": python_file("brand_new").replace("\n", "\r\n")})
    (hit, lines), *_ = search(repo, "brand_new").hits
    assert hit.path == "src/new.py"
    assert lines[0] == "def brand_new(value):"
    repo.git("add", "--all")
    assert hit.blob == repo.oid(":src/new.py")


def test_a_clean_tree_is_not_dirty(repo: Repo) -> None:
    answer = search(repo, "sign_cookie")
    assert (answer.view.dirty, answer.view.uncommitted, answer.view.source, answer.changes) == (
        False,
        0,
        "worktree",
        {},
    )


def test_related_includes_uncommitted_code(repo: Repo) -> None:
    repo.write({"src/new.py": python_file("sign_cookie", "brand_new")})
    result = answer(workspace_of(repo), SimilarQuery("src/new.py:1"))
    assert "src/cookies.py" in paths(result)
    assert "src/new.py" in paths(answer(workspace_of(repo), SimilarQuery("src/cookies.py:1")))


def test_before_the_first_commit_everything_is_uncommitted(tmp_path: Path, fake_model: Pool) -> None:
    repo = Repo.init(tmp_path / "unborn")
    repo.write(FILES)
    workspace = workspace_of(repo)
    assert refresh(workspace, None, RefreshSettings(uncommitted=True)).files == 3
    digested = fake_model.digested
    answer = search(repo, "sign_cookie")
    assert paths(answer)[0] == "src/cookies.py"
    assert answer.view.commit is None
    repo.commit()
    assert not search(repo, "sign_cookie").view.dirty
    assert fake_model.digested == digested


def test_a_commit_after_the_workspace_was_opened_is_searched_whole(repo: Repo) -> None:
    workspace = workspace_of(repo)
    commit = repo.commit({"src/new.py": python_file("brand_new")})
    result = answer(workspace, Query("brand_new"))
    assert result.view.commit == commit
    assert paths(result)[0] == "src/new.py"


def test_if_git_status_fails_head_is_searched_with_a_note(repo: Repo) -> None:
    repo.write(
        {".git/info/attributes": "*.py filter=broken\n", "src/cookies.py": python_file("sign_c00kie", "load_cookie")}
    )
    repo.git("config", "filter.broken.clean", "false")
    repo.git("config", "filter.broken.required", "true")
    answer = search(repo, "sign_cookie")
    assert paths(answer)[0] == "src/cookies.py"
    assert (answer.view.dirty, answer.view.stale) == (None, True)
    assert any("git status failed" in note for note in answer.notes)


def test_a_file_whose_filter_fails_is_skipped_with_a_note(repo: Repo) -> None:
    repo.write({".git/info/attributes": "new.py filter=broken\n", "src/new.py": python_file("brand_new")})
    repo.git("config", "filter.broken.clean", "false")
    repo.git("config", "filter.broken.required", "true")
    answer = search(repo, "brand_new")
    assert "src/new.py" not in paths(answer)
    assert answer.notes == ["`src/new.py` cannot be read and is left out"]


def test_an_index_that_git_cannot_read_is_an_error(repo: Repo) -> None:
    (repo.path / ".git" / "index").write_bytes(b"DIRC" + bytes(40))
    with pytest.raises(GitFailed, match="index file corrupt"):
        search(repo, "sign_cookie")


def change_before_opening(repo: Repo, text: str) -> Callable[..., ObjectReader]:
    """Return a replacement of `open_reader` that changes a file first."""

    def change_and_open(*args: Any, **options: Any) -> ObjectReader:
        repo.write({"src/new.py": text})
        return open_reader(*args, **options)

    return change_and_open


def test_a_file_that_changes_while_it_is_read_adds_a_note(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write({"src/new.py": python_file("brand_new")})
    search(repo, "brand_new")
    monkeypatch.setattr("gitmem.answering.answer.open_reader", change_before_opening(repo, python_file("other")))
    answer = search(repo, "brand_new")
    assert answer.view.stale
    assert any("src/new.py" in note and "changed while" in note for note in answer.notes)


def test_a_file_that_changes_before_it_is_indexed_is_indexed_later(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, background_runs: list[Workspace]
) -> None:
    text = python_file("brand_new")
    repo.write({"src/new.py": text})
    with monkeypatch.context() as patch:
        patch.setattr("gitmem.indexing.run.open_reader", change_before_opening(repo, python_file("other")))
        answer = search(repo, "brand_new")
    assert (answer.view.stale, answer.view.missing, len(background_runs)) == (True, 1, 1)
    repo.write({"src/new.py": text})
    answer = search(repo, "brand_new")
    assert (paths(answer)[0], answer.view.stale) == ("src/new.py", False)
    assert "missing" not in {outcome for _, _, outcome in dump_outcomes(snapshot_of(repo))}


# -- other trees


def test_head_the_staged_tree_and_the_working_tree_are_searched_separately(repo: Repo) -> None:
    repo.write({"src/staged.py": python_file("brand_new")})
    repo.git("add", "--all")
    repo.write({"src/staged.py": python_file("other"), "src/untracked.py": python_file("brand_new")})
    assert paths(search(repo, "brand_new"))[0] == "src/untracked.py"
    staged = search(repo, "brand_new", staged=True)
    assert paths(staged)[0] == "src/staged.py"
    assert staged.changes == {"src/staged.py": "staged"}
    assert (staged.view.source, staged.view.uncommitted, staged.view.dirty) == ("staged", 1, True)
    head = search(repo, "brand_new", rev="HEAD")
    assert not {"src/staged.py", "src/untracked.py"} & set(paths(head))
    assert (head.view.source, head.view.uncommitted, head.view.dirty) == ("commit", 0, False)


def test_in_a_bare_repository_head_is_searched(repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(tmp_path / "bare"))
    bare = Repo(tmp_path / "bare")
    index(bare)
    assert search(bare, "sign_cookie").view.source == "commit"
    assert paths(search(bare, "sign_cookie"))[0] == "src/cookies.py"
    with pytest.raises(UsageError, match="no staged tree"):
        search(bare, "sign_cookie", staged=True)


@pytest.mark.parametrize(
    "selection",
    [{"rev": "HEAD", "staged": True}, {"rev": "HEAD", "changed": "a..b"}, {"staged": True, "changed": "a..b"}],
)
def test_several_trees_are_rejected(repo: Repo, selection: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"^`--\w+` and `--\w+` exclude each other$"):
        search(repo, "x", **selection)


def test_changed_restricts_results_to_chunks_changed_between_two_revisions(repo: Repo) -> None:
    before = repo.oid("HEAD")
    code = python_file("sign_cookie", "load_cookie", "check_cookie")
    repo.commit({"src/cookies.py": code, "src/new.py": python_file("brand_new")})
    repo.git("mv", "src/routes.py", "src/roads.py")
    repo.commit()
    answer = search(repo, "cookie value route new", changed=f"{before}..HEAD")
    assert {(hit.path, hit.symbol) for hit, _ in answer.hits} == {
        ("src/cookies.py", "check_cookie"),
        ("src/new.py", "brand_new"),
    }
    assert answer.view.commit == repo.oid("HEAD")
    assert search(repo, "cookie", changed="HEAD..HEAD").hits == []
    assert {hit.path for hit, _ in search(repo, "value", changed=f"{before}..HEAD", include=("src/new*",)).hits} == {
        "src/new.py"
    }


def test_a_changed_or_removed_line_selects_its_chunk(repo: Repo) -> None:
    lines = python_file("first_step", "second_step", "third_step").splitlines(keepends=True)
    repo.commit({"src/steps.py": "".join(lines)})
    doc = next(number for number, line in enumerate(lines) if "second step" in line)
    for changed in (
        [*lines[:doc], '    """Something else."""\n', *lines[doc + 1 :]],
        [*lines[:doc], *lines[doc + 1 :]],
        lines[: doc + 1],
    ):
        repo.commit({"src/steps.py": "".join(changed)})
        assert [hit.symbol for hit, _ in search(repo, "step", changed="HEAD~1..").hits] == ["second_step"]
        repo.git("reset", "--quiet", "--hard", "HEAD~1")


def test_three_dots_exclude_the_changes_of_the_other_side(repo: Repo) -> None:
    repo.git("switch", "--quiet", "--create", "side")
    repo.commit({"src/side.py": python_file("side_step")})
    repo.git("switch", "--quiet", "main")
    repo.commit({"src/routes.py": python_file("main_step")})
    assert {hit.path for hit, _ in search(repo, "step", changed="main...side").hits} == {"src/side.py"}
    assert {hit.path for hit, _ in search(repo, "step value", changed="main..side").hits} == {
        "src/side.py",
        "src/routes.py",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("HEAD", "not a range"),
        ("..", "not a range"),
        ("...", "not a range"),
        ("nope..HEAD", "unknown commit, tag or branch: `nope`"),
        ("HEAD^{tree}...HEAD", "two commits"),
    ],
)
def test_an_invalid_range_is_rejected(repo: Repo, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        search(repo, "x", changed=text)


def test_unrelated_histories_have_no_three_dot_range(repo: Repo) -> None:
    repo.git("switch", "--quiet", "--orphan", "alone")
    repo.commit({"x.py": "x = 1\n"})
    with pytest.raises(UsageError, match="no common ancestor"):
        search(repo, "x", changed="main...alone")


# -- no blob is embedded twice


@pytest.mark.parametrize("action", ["commit", "stash", "stash untracked", "branch", "rebase", "revert", "cherry-pick",
                                 "move", "reset", "amend", "merge", "worktree"])  # fmt: skip
def test_known_content_is_never_embedded_again(repo: Repo, fake_model: Pool, tmp_path: Path, action: str) -> None:
    repo.write({"src/new.py": python_file("brand_new"), "src/routes.py": python_file("match_route", "other")})
    search(repo, "brand_new")
    digested = fake_model.digested
    git = repo.git
    actions: dict[str, Callable[[], object]] = {
        "commit": lambda: repo.commit(),
        "stash": lambda: (git("stash"), search(repo, "x"), git("stash", "pop")),
        "stash untracked": lambda: (git("stash", "--include-untracked"), search(repo, "x"), git("stash", "pop")),
        "branch": lambda: (repo.commit(), git("switch", "-qc", "old", "HEAD~1"), search(repo, "x"), git("switch", "-")),
        "rebase": lambda: (repo.commit(), git("switch", "-qc", "s", "HEAD~1"), repo.commit(), git("rebase", "main")),
        "revert": lambda: (repo.commit(), git("revert", "--no-edit", "HEAD")),
        "cherry-pick": lambda: (repo.commit(), git("switch", "-qc", "s", "HEAD~1"), git("cherry-pick", "main")),
        "move": lambda: (git("add", "-A"), git("mv", "src", "lib")),
        "reset": lambda: (repo.commit(), git("reset", "--soft", "HEAD~1"), search(repo, "x"), git("reset", "-q")),
        "amend": lambda: (repo.commit(), git("commit", "--amend", "-qm", "other")),
        "merge": lambda: (git("switch", "-qc", "s"), repo.commit(), git("switch", "main"), git("merge", "s")),
        "worktree": lambda: (repo.commit(), git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "w")),
    }  # fmt: skip
    actions[action]()
    answer = search(Repo(tmp_path / "linked") if action == "worktree" else repo, "brand_new")
    assert not answer.view.stale
    refresh(workspace_of(repo), workspace_of(repo).location.head_tree, RefreshSettings(uncommitted=True))
    assert fake_model.digested == digested


def test_fifty_working_trees_share_one_index(repo: Repo, fake_model: Pool, tmp_path: Path) -> None:
    root = workspace_of(repo).paths.root
    digested = fake_model.digested
    before = index_bytes(root)
    for number in range(50):
        repo.git("worktree", "add", "--quiet", str(tmp_path / f"w{number}"), "-b", f"b{number}")
        linked = Repo(tmp_path / f"w{number}")
        assert workspace_of(linked).paths.root == root
        answer = search(linked, "sign_cookie")
        assert (paths(answer)[0], answer.view.branch, answer.view.stale) == ("src/cookies.py", f"b{number}", False)
    assert fake_model.digested == digested
    assert index_bytes(root) == before


def index_bytes(root: Path) -> int:
    """Return the bytes of an index, without the notes of searches and runs in `state`."""
    files = (file for file in root.rglob("*") if file.is_file() and "state" not in file.relative_to(root).parts)
    return sum(file.stat().st_size for file in files)


def test_each_working_tree_has_its_own_changes(repo: Repo, fake_model: Pool, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"), "-b", "side")
    linked = Repo(tmp_path / "linked")
    linked.write({"src/new.py": python_file("brand_new")})
    repo.write({"src/mine.py": python_file("brand_new")})
    assert paths(search(linked, "brand_new"))[0] == "src/new.py"
    digested = fake_model.digested
    assert paths(search(repo, "brand_new"))[0] == "src/mine.py"
    assert fake_model.digested == digested, "the same content in another working tree"
    assert search(linked, "brand_new").changes == {"src/new.py": "untracked"}


def test_a_working_tree_inside_the_repository_is_not_part_of_it(repo: Repo) -> None:
    repo.git("worktree", "add", "--quiet", str(repo.path / ".claude/worktrees/one"), "-b", "one")
    Repo(repo.path / ".claude/worktrees/one").write({"src/new.py": python_file("brand_new")})
    assert search(repo, "brand_new").view.uncommitted == 0


# -- indexing before an answer


def test_a_query_stops_indexing_at_its_budget_and_keeps_the_finished_part(
    repo: Repo, fake_model: Pool, monkeypatch: pytest.MonkeyPatch, background_runs: list[Workspace]
) -> None:
    files = 20  # with a budget a batch has eight
    repo.git("config", "gitmem.healBudget", "1")
    repo.write({f"src/new{number}.py": python_file(f"brand_new_{number}") for number in range(files)})
    digested, missing = fake_model.digested, files
    for _ in range(files):
        answer = search(repo, "brand_new")
        assert answer.view.missing < missing, "each query continues where the last one stopped"
        missing = answer.view.missing
        assert answer.view.stale == (missing > 0)
        assert fake_model.digested - digested == files - missing
        if not missing:
            break
    assert missing == 0
    assert background_runs, "a background run indexes the rest"


@pytest.mark.parametrize("reason", ["refresh=False", "no budget", "another process writes"])
def test_changes_that_cannot_be_indexed_now_are_counted(
    repo: Repo, fake_model: Pool, background_runs: list[Workspace], reason: str
) -> None:
    repo.write({"src/new.py": python_file("brand_new")})
    before, digested = manifest_of(repo), fake_model.digested
    if reason == "refresh=False":
        answer = search(repo, "brand_new", refresh=False)
    elif reason == "no budget":
        repo.git("config", "gitmem.healBudget", "0")
        answer = search(repo, "brand_new")
    else:
        with writer_lock(workspace_of(repo).paths.lock, wait=False):
            answer = search(repo, "brand_new")
        assert "another process is writing this index" in answer.notes
    assert (answer.view.stale, answer.view.missing) == (True, 1)
    assert "src/new.py" not in paths(answer)
    assert (manifest_of(repo), fake_model.digested) == (before, digested)
    assert len(background_runs) == (0 if reason == "refresh=False" else 1)


def test_after_an_uncommitted_refresh_a_second_one_has_nothing_to_do(repo: Repo, fake_model: Pool) -> None:
    repo.write({"src/new.py": python_file("brand_new"), "src/routes.py": python_file("staged_route")})
    repo.git("add", "src/routes.py")
    repo.write({"src/routes.py": python_file("modified_route")})
    workspace = workspace_of(repo)
    report = refresh(workspace, workspace.location.head_tree, RefreshSettings(uncommitted=True))
    assert report.embedded == 3
    digested, before = fake_model.digested, manifest_of(repo)
    assert refresh(workspace, workspace.location.head_tree, RefreshSettings(uncommitted=True)).up_to_date
    assert manifest_of(repo) == before
    assert paths(search(repo, "modified_route", refresh=False))[0] == "src/routes.py"
    assert paths(search(repo, "staged_route", refresh=False, staged=True))[0] == "src/routes.py"
    assert fake_model.digested == digested


class NoDisk(fsio.Disk):
    """Disk that fails on any access."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"a query tried to {name}")


def test_a_query_in_a_read_only_index_tries_no_write(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit({"src/more.py": python_file("more_code")})
    repo.write({"src/new.py": python_file("brand_new"), ".gitattributes": "*.md linguist-generated\n"})
    monkeypatch.setattr(fsio, "disk", NoDisk())
    with pytest.raises(AssertionError, match="tried"):
        search(repo, "brand_new")
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode, **options: mode != os.W_OK and real(path, mode, **options))
    answer = search(repo, "sign_cookie")
    assert paths(answer)[0] == "src/cookies.py"
    assert (answer.view.stale, answer.view.missing) == (True, 3)


# -- searchers held open


def test_a_searcher_is_not_current_after_any_change(repo: Repo, settled_files: None) -> None:
    steps: list[Callable[[], object]] = [
        lambda: repo.write({"src/new.py": python_file("brand_new")}),
        lambda: repo.write({"src/new.py": python_file("brand_old")}),
        lambda: repo.git("add", "--all"),
        lambda: repo.commit(),
        lambda: repo.git("switch", "--quiet", "--create", "side"),
        lambda: repo.git("rm", "--quiet", "src/new.py"),
    ]
    searcher = open_searcher(workspace_of(repo), WORKING_TREE)
    assert searcher.is_current()
    for step in steps:
        step()
        assert not searcher.is_current()
        searcher = open_searcher(workspace_of(repo), WORKING_TREE)
        assert searcher.is_current()
    repo.commit({"src/other.py": python_file("elsewhere")})
    named = open_searcher(workspace_of(repo), TreeSelection("HEAD~1"))
    assert named.is_current()
    repo.commit({"src/another.py": python_file("elsewhere_too")})
    assert not named.is_current()


# -- any sequence of actions

_names = st.sampled_from(["a.py", "b.py", "lib/c.py", "lib/d.txt", "e.md", ".gitattributes"])
_words = st.lists(st.sampled_from(["sign_cookie", "load_cookie", "match_route", "brand_new"]), max_size=3, unique=True)
_kinds = st.sampled_from(["write", "write", "write", "remove", "stage", "commit", "stash", "pop", "branch", "back",
                          "reset", "amend", "revert", "move", "ask", "refresh"])  # fmt: skip


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture,
                                                                  HealthCheck.too_slow])  # fmt: skip
@given(steps=st.lists(st.tuples(_kinds, _names, _words), min_size=3, max_size=14))
def test_after_any_actions_answers_equal_those_from_scratch_and_each_blob_is_embedded_once(
    tmp_path_factory: pytest.TempPathFactory, fake_model: Pool, steps: list[tuple[str, str, list[str]]]
) -> None:
    place = tmp_path_factory.mktemp("work")
    repo = Repo.init(place / "repo")
    repo.commit({"a.py": python_file("start"), "e.md": "# Start\n"})
    fake_model.digested = 0
    index(repo)
    for action, name, words in steps:
        step(repo, action, name, words)
        if action == "ask":
            assert not search(repo, "sign cookie").view.stale
    answer = search(repo, "sign cookie")
    assert not answer.view.stale
    assert fake_model.digested == len(dump_outcomes(snapshot_of(repo))), "each blob was embedded once"
    assert_like_from_scratch(repo, place / "twin")


def step(repo: Repo, action: str, name: str, words: list[str]) -> None:
    target = repo.path / name
    quiet = ("-c", "advice.detachedHead=false", "-c", "merge.conflictStyle=merge")
    if action == "write":
        text = python_file(*words) if name.endswith(".py") else " ".join(words) + "\n"
        repo.write({name: "*.txt linguist-generated\n" if name.startswith(".") else text})
    elif action == "remove" and target.exists():
        target.unlink()
    elif action == "stage":
        repo.git("add", "--all")
    elif action == "commit":
        repo.commit()
    elif action == "refresh":
        refresh(workspace_of(repo), workspace_of(repo).location.head_tree, RefreshSettings(uncommitted=True))
    elif action == "move" and target.exists():
        target.rename(target.with_name(f"moved{target.suffix}"))
    else:
        commands = {
            "stash": ["stash", "--include-untracked"],
            "pop": ["stash", "pop"],
            "branch": ["switch", "--create", f"branch{len(words)}"],
            "back": ["switch", "main"],
            "reset": ["reset", "--hard"],
            "amend": ["commit", "--amend", "--allow-empty", "-m", "amended"],
            "revert": ["revert", "--no-edit", "HEAD"],
        }
        if action in commands:
            try_git(repo, *quiet, *commands[action])


def try_git(repo: Repo, *args: str) -> None:
    """Run git and ignore failures: a refused command or a conflict leaves a valid state too."""
    try:
        repo.git(*args)
    except AssertionError:
        return


def test_the_lines_of_unchanged_files_are_read_without_git(repo: Repo, blobs_read: list[str]) -> None:
    before = {query: search(repo, query, rev="HEAD").hits for query in QUERIES}
    assert any(lines for hits in before.values() for _, lines in hits)
    blobs_read.clear()
    assert {query: search(repo, query).hits for query in QUERIES} == before
    assert blobs_read == []


def test_a_file_that_changes_during_a_query_is_shown_as_indexed(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    before = search(repo, "sign cookie").hits
    real_search = engine.search

    def change_and_search(*args: Any, **options: Any) -> Any:
        repo.write({"src/cookies.py": python_file("changed", "meanwhile")})
        return real_search(*args, **options)

    monkeypatch.setattr(engine, "search", change_and_search)
    assert search(repo, "sign cookie").hits == before
