"""Resolution of names to commits and trees."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import GitFailed, UnknownRevision, UsageError
from gitmem.git.locate import locate
from gitmem.git.revisions import resolve, resolve_range
from tests.gitrepo import MakeRepo, Repo


def test_every_name_of_a_commit_gives_its_tree(make_repo: MakeRepo) -> None:
    repo = make_repo()
    first = repo.commit({"a": "1", "sub/b": "2"}, "first")
    repo.git("tag", "light")
    repo.git("tag", "-a", "-m", "heavy", "heavy")
    repo.commit({"a": "2"}, "second")
    repo.git("branch", "side/topic", first)
    location = locate(repo.path)
    tree = repo.oid(f"{first}^{{tree}}")
    names = [
        first,
        first[:9],
        "light",
        "heavy",
        "HEAD~1",
        "HEAD^",
        "main~1",
        "refs/tags/heavy",
        ":/first",
        "side/topic",
    ]
    for name in names:
        revision = resolve(location, name)
        assert (revision.name, revision.commit, revision.tree) == (name, first, tree)
    assert resolve(location, "side/topic").branch == "side/topic"
    assert resolve(location, "refs/heads/side/topic").branch == "side/topic"
    assert resolve(location, "light").branch is None
    assert resolve(location, "@").branch == resolve(location, "HEAD").branch == "main"


def test_the_name_of_a_tree_has_no_commit(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"sub/b": "2"})
    repo.git("tag", "tree-tag", "HEAD^{tree}")
    location = locate(repo.path)
    for name in ("HEAD^{tree}", "HEAD:", "HEAD:sub", "tree-tag", repo.oid("HEAD:sub")):
        revision = resolve(location, name)
        assert (revision.commit, revision.tree) == (None, repo.oid(name))


COMMIT = ["commit", "-q", "--allow-empty", "-m", "change"]


def _commit_at(repo: Repo, time: str, *merged: str) -> str:
    """Commit, or merge a branch, at a time of 2024."""
    env = {"GIT_COMMITTER_DATE": f"2024-{time}+00:00"}
    command = ["merge", "-q", "--no-ff", "-m", "merge", *merged] if merged else COMMIT
    repo.git(*command, env=env)
    return repo.head()


def test_a_date_is_the_last_commit_before_it_that_the_branch_had(make_repo: MakeRepo) -> None:
    repo = make_repo()
    first = _commit_at(repo, "01-10T12:00:00")
    repo.git("switch", "-q", "-c", "side")
    side = _commit_at(repo, "02-10T12:00:00")
    repo.git("switch", "-q", "main")
    second = _commit_at(repo, "03-10T12:00:00")
    merge = _commit_at(repo, "04-10T12:00:00", "side")
    location = locate(repo.path)
    expected = {
        "2024-01-11": first,
        "2024-02-20": first,  # the commit of the side branch was merged later
        "2024-03-10": first,  # a date is its beginning
        "2024-03-10T12:00:00": first,
        "2024-03-10T12:00:01": second,
        "2024-03-10T14:00:01+02:00": second,
        "2030-01-01": merge,
    }
    for date, commit in expected.items():
        revision = resolve(location, f"at:{date}")
        assert (revision.name, revision.commit, revision.branch) == (f"at:{date}", commit, None), date
    assert side not in expected.values()
    since, until = resolve_range(location, "at:2024-02-01..at:2024-03-11")
    assert (since.commit, until.commit) == (first, second)


def test_a_date_before_the_history_and_a_text_that_is_no_date_are_errors(make_repo: MakeRepo) -> None:
    repo = make_repo()
    location = locate(repo.path)
    with pytest.raises(UnknownRevision, match="no commit yet"):
        resolve(location, "at:2024-01-01")
    _commit_at(repo, "01-10T12:00:00")
    location = locate(repo.path)
    for early in ("2024-01-10", "1950-01-01", "1970-01-01"):
        with pytest.raises(UnknownRevision, match=f"no commit before `{early}`"):
            resolve(location, f"at:{early}")
    with pytest.raises(UsageError, match="the date is `yesterday`"):
        resolve(location, "at:yesterday")


def test_a_name_of_git_takes_precedence_over_a_date(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"2024-01-11/file": "text"})
    repo.git("branch", "at")
    assert resolve(locate(repo.path), "at:2024-01-11").tree == repo.oid("at:2024-01-11")


def test_a_tag_takes_precedence_over_a_branch_of_the_same_name(make_repo: MakeRepo) -> None:
    repo = make_repo()
    first = repo.commit({"a": "1"})
    repo.git("tag", "main")
    repo.commit({"a": "2"})
    revision = resolve(locate(repo.path), "main")
    assert (revision.commit, revision.branch) == (first, None)


def test_a_blob_is_not_a_revision(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a": "1"})
    repo.git("tag", "-a", "-m", "key", "key", repo.oid("HEAD:a"))
    location = locate(repo.path)
    for name in ("HEAD:a", "key", repo.oid("HEAD:a")):
        with pytest.raises(UnknownRevision, match="not a commit or a folder"):
            resolve(location, name)


def test_for_a_misspelt_name_similar_ones_are_suggested(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a": "1"})
    repo.git("tag", "v8")
    repo.git("branch", "feature/login")
    location = locate(repo.path)
    with pytest.raises(UnknownRevision, match="unknown commit, tag or branch: `v9`") as caught:
        resolve(location, "v9")
    assert caught.value.hint == "did you mean `v8`?"
    with pytest.raises(UnknownRevision) as caught:
        resolve(location, "feature/logni")
    assert "`feature/login`" in caught.value.hint


def test_in_a_shallow_clone_the_hint_is_to_unshallow(make_repo: MakeRepo, tmp_path: Path) -> None:
    source = make_repo()
    source.commit({"a": "1"})
    source.commit({"a": "2"})
    source.git("clone", "--quiet", "--depth=1", source.path.as_uri(), str(tmp_path / "shallow"))
    with pytest.raises(UnknownRevision) as caught:
        resolve(locate(tmp_path / "shallow"), "HEAD~1")
    assert "git fetch --unshallow" in caught.value.hint


def test_an_empty_repository_has_no_revision(make_repo: MakeRepo) -> None:
    location = locate(make_repo().path)
    with pytest.raises(UnknownRevision, match="no commit yet"):
        resolve(location, "HEAD")
    with pytest.raises(UnknownRevision, match="unknown commit, tag or branch: `main`"):
        resolve(location, "main")


@pytest.mark.parametrize(
    "name",
    ["--all", "-h", "--output=/tmp/x", "--upload-pack=touch x", "HEAD..main", "^HEAD", "", "  ", "HEAD\nHEAD",
     "HEAD\0", "a" * 5000, "HEAD~99999999999999", ":/nothing", "HEAD:..", "HEAD^{/", "\udcff", "@{-1}",
     "$(touch x)", "main missing", "main commit"],
)  # fmt: skip
def test_a_hostile_name_is_unknown_and_has_no_effect(make_repo: MakeRepo, name: str) -> None:
    repo = make_repo()
    repo.commit({"a": "1"})
    with pytest.raises(UnknownRevision):
        resolve(locate(repo.path), name)
    assert sorted(path.name for path in repo.path.iterdir()) == [".git", "a"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(st.sampled_from("-@{}^~:/.HEADmain0 \n\0é"), max_size=12))
def test_any_text_is_either_a_tree_or_unknown(make_repo: MakeRepo, name: str) -> None:
    repo = make_repo()
    if not (repo.path / "a").exists():
        repo.commit({"a": "1"})
    location = locate(repo.path)
    try:
        revision = resolve(location, name)
    except UnknownRevision:
        return
    assert revision.tree == location.head_tree


def test_a_replaced_commit_is_followed_as_in_git(make_repo: MakeRepo) -> None:
    repo = make_repo()
    old = repo.commit({"a": "old"})
    new = repo.commit({"a": "new"})
    repo.git("replace", old, new)
    assert resolve(locate(repo.path), old).tree == repo.oid(f"{new}^{{tree}}")


def test_a_revision_missing_in_a_partial_clone_is_reported(make_repo: MakeRepo, tmp_path: Path) -> None:
    source = make_repo()
    source.git("config", "uploadpack.allowFilter", "true")
    source.git("config", "uploadpack.allowAnySHA1InWant", "true")
    source.commit({"a": "1"})
    source.commit({"a": "2"})
    source.git("clone", "--quiet", "--filter=tree:0", source.path.as_uri(), str(tmp_path / "part"))
    with pytest.raises(UnknownRevision, match="not in this partial clone"):
        resolve(locate(tmp_path / "part"), "HEAD~1")
    source.git("clone", "--quiet", "--no-checkout", "--filter=tree:0", source.path.as_uri(), str(tmp_path / "none"))
    with pytest.raises(GitFailed) as caught:
        locate(tmp_path / "none")
    assert "git checkout" in caught.value.hint
