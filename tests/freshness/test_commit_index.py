"""The index of commit messages: what is embedded, kept and removed, and when."""

import pytest

from gitmem.errors import NoIndex
from gitmem.freshness.catch_up import catch_up
from gitmem.freshness.commit_index import find_history
from gitmem.freshness.commit_run import index_commits
from gitmem.store.snapshot import Snapshot
from gitmem.workspace import Workspace
from tests.commit_messages import Message, import_messages
from tests.gitrepo import MakeRepo, Repo
from tests.indexes import InlinePool, dump_rows, index, search, workspace_of
from tests.sample import damage

pytestmark = pytest.mark.usefixtures("fake_model")

MESSAGES = (
    Message("Add a parser for apples"),
    Message("Drop Python 3.8\n\nIts end of life was in October, and pears need the match statement.\n\nFixes: #421"),
    Message("Harvest pears twice a year (#87)", "Grace Hopper <grace@example.invalid>"),
)


@pytest.fixture
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    repo = Repo.init(tmp_path_factory.mktemp("messages") / "repo")
    import_messages(repo, MESSAGES)
    index(repo)
    return repo


def rows_of(workspace: Workspace) -> set[tuple[str, str]]:
    """Return commit and symbol of each row of the index of messages."""
    manifest = find_history(workspace)
    assert manifest is not None
    return {(row.blob, row.symbol) for row in dump_rows(Snapshot(workspace.paths.history, manifest))}


def symbols(workspace: Workspace) -> set[str]:
    return {symbol.partition("\0")[0] for _, symbol in rows_of(workspace)}


def test_only_new_commits_are_embedded(repo: Repo, fake_model: type[InlinePool]) -> None:
    workspace = workspace_of(repo)
    first = index_commits(workspace)
    assert (first.commits, first.indexed, fake_model.digested) == (3, 3, 3 + 1)  # and one file
    again = index_commits(workspace)
    assert (again.commits, again.indexed, fake_model.digested) == (3, 0, 4)
    import_messages(repo, [Message("Sell plums")], parent="main")
    assert index_commits(workspace_of(repo)).indexed == 1
    assert fake_model.digested == 5


def test_without_an_index_of_files_there_is_none_of_messages(make_repo: MakeRepo) -> None:
    empty = make_repo("other")
    empty.commit({"a.py": "x = 1\n"})
    with pytest.raises(NoIndex):
        index_commits(workspace_of(empty))
    assert not (empty.path / ".gitmem").exists()


def test_messages_add_nothing_to_the_index_of_files(repo: Repo) -> None:
    workspace = workspace_of(repo)
    before = workspace.paths.manifest.read_bytes()
    index_commits(workspace)
    assert workspace.paths.manifest.read_bytes() == before
    index(repo, full=True)
    assert find_history(workspace) is not None


def test_a_rewritten_branch_gives_the_rows_of_an_index_from_scratch(repo: Repo) -> None:
    old = import_messages(repo, [Message(f"Number {number} of the old branch") for number in range(12)], parent="main")
    index_commits(workspace_of(repo))
    repo.git("reset", "--quiet", "--hard", f"{old[0]}~1")
    new = import_messages(repo, [Message("Reword the branch")], parent="main")
    workspace = workspace_of(repo)
    report = index_commits(workspace)
    assert (report.commits, report.indexed) == (4, 1)
    # Unreachable commits are removed once they are many.
    assert {commit for commit, _ in rows_of(workspace)} == {*repo.git("rev-list", "main").split()}
    assert new[0] in {commit for commit, _ in rows_of(workspace)}


def test_only_as_many_commits_are_indexed_as_the_budget_allows(repo: Repo) -> None:
    repo.git("config", "gitmem.historyBudget", "2")
    workspace = workspace_of(repo)
    assert index_commits(workspace).commits == 2
    assert symbols(workspace) == {"Drop Python 3.8", "Harvest pears twice a year (#87)"}
    import_messages(repo, [Message("Sell plums")], parent="main")
    assert index_commits(workspace_of(repo)).commits == 2
    assert not search(repo, "Add a parser for apples", kinds=("commits",), min_score=0.9).hits


def test_the_hook_keeps_messages_fresh_and_never_begins_to_index_them(repo: Repo) -> None:
    catch_up(workspace_of(repo), "post-commit", {})
    assert find_history(workspace_of(repo)) is None
    index_commits(workspace_of(repo))
    import_messages(repo, [Message("Sell plums")], parent="main")
    workspace = workspace_of(repo)
    catch_up(workspace, "post-commit", {})
    assert "Sell plums" in symbols(workspace)
    assert "1 commit messages" in workspace.paths.log.read_text()


def test_damaged_messages_are_indexed_again(repo: Repo) -> None:
    workspace = workspace_of(repo)
    index_commits(workspace)
    expected = rows_of(workspace)
    damage(next(workspace.paths.history.segments.iterdir()), at=200)
    answer = search(repo, "Drop Python", kinds=("commits",))
    assert answer.hits[0][0].symbol == "Drop Python 3.8"
    assert rows_of(workspace) == expected


def test_a_damaged_list_of_commits_is_read_from_git(repo: Repo) -> None:
    workspace = workspace_of(repo)
    index_commits(workspace)
    damage(workspace.paths.history.commits)
    assert search(repo, "Drop Python", kinds=("commits",)).hits[0][0].symbol == "Drop Python 3.8"
    workspace.paths.history.commits.write_bytes(b"")
    assert index_commits(workspace).commits == 3


def test_damage_of_one_segment_leaves_the_other_messages(repo: Repo, fake_model: type[InlinePool]) -> None:
    index_commits(workspace_of(repo))
    import_messages(repo, [Message("Sell plums")], parent="main")
    workspace = workspace_of(repo)
    index_commits(workspace)
    expected, digested = rows_of(workspace), fake_model.digested
    manifest = find_history(workspace)
    assert manifest is not None
    first, second = manifest.segments
    assert (first.rows, second.rows) == (3, 1)
    file = workspace.paths.history.segment(second.name)
    size = file.stat().st_size
    for place in range(size // 4, 3 * size // 4, 16):  # some bytes only fill the space between sections
        damage(file, place)
    assert "checksum" in index_commits(workspace, check=True).rebuilt
    assert (rows_of(workspace), fake_model.digested - digested) == (expected, 1)
