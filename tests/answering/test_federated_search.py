"""Searches over several repositories, from the command line and in one process."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitmem.answering.federated_answer import answer_members
from gitmem.answering.federated_search import FederatedSearcher, Member, MemberHit, merge_by_rank
from gitmem.answering.search_query import MODES, Query, SearchFilters
from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.errors import ExitCode
from gitmem.freshness.commit_run import index_commits
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.objects import open_reader
from gitmem.memory.conversation import Turn
from gitmem.records.conversations import import_turns
from gitmem.registry import OFF_VARIABLE, add_repository
from gitmem.search.hits import Hit
from gitmem.store.manifest import find_manifest, write_manifest
from tests.commit_messages import Message, import_messages
from tests.gitrepo import ISOLATION, MakeRepo, Repo
from tests.indexes import index, python_file, workspace_of
from tests.sample import Cli, assert_error

SUBJECTS = ("cookie", "route", "backup")
VERBS = ("sign", "load", "rotate")


class Federation:
    """The same files in three repositories, and in the folders of one; all are open."""

    def __init__(self, folder: Path) -> None:
        whole = Repo.init(folder / "whole")
        self.members: list[Member] = []
        everything: dict[str, str | bytes] = {}
        for subject in SUBJECTS:
            files: dict[str, str | bytes] = {f"docs/{subject}.md": f"# {subject}\n\nHow to sign, load and rotate it.\n"}
            for verb in VERBS:
                files[f"lib/{verb}_{subject}.py"] = python_file(f"{verb}_{subject}", f"try_{verb}_{subject}")
            everything |= {f"{subject}/{path}": content for path, content in files.items()}
            repo = Repo.init(folder / subject)
            repo.commit(files)
            self.members.append(Member(subject, _open(repo)))
        whole.commit(everything)
        self.whole = _open(whole)
        self._searchers = {
            own: FederatedSearcher([member._replace(is_own=member.name == own) for member in self.members])
            for own in ("", *SUBJECTS)
        }

    def find(self, query: Query, own: str = "") -> list[tuple[str, Hit]]:
        """Return the hits with the names of their repositories."""
        return [(self.members[number].name, hit) for number, hit in self._searchers[own].find(query, 50).hits]


def _open(repo: Repo) -> Searcher:
    index(repo)
    return open_searcher(workspace_of(repo), WORKING_TREE)


@pytest.fixture(scope="module")
def federation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Federation]:
    """Index all with the real model."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ISOLATION.items():
            patch.setenv(name, value)
        yield Federation(tmp_path_factory.mktemp("federation"))


many_examples = settings(max_examples=100, deadline=None)
words = st.lists(st.sampled_from([*SUBJECTS, *VERBS, "sign_cookie", "docs", "value"]), min_size=1, max_size=4)


@many_examples
@given(words=words, mode=st.sampled_from(MODES))
@example(words=["sign_cookie", "value", "load", "cookie"], mode="lexical")
def test_several_repositories_are_ranked_like_folders_of_one(
    federation: Federation, words: list[str], mode: str
) -> None:
    query = Query(" ".join(words), 50, mode)
    together = {(f"{name}/{hit.path}", hit.start_line): hit.score for name, hit in federation.find(query)}
    expected = {(hit.path, hit.start_line): hit.score for hit in federation.whole.find(query, 50).hits}
    # Sums over other segments are rounded otherwise, so scores that should be equal may differ in their last bits, and
    # with them the order of ties.
    assert together == pytest.approx(expected, abs=1e-6)
    assert list(together.values()) == sorted(together.values(), reverse=True)


@many_examples
@given(
    words=words, folders=st.sets(st.sampled_from(["lib", "/docs", "none"]), max_size=2), own=st.sampled_from(SUBJECTS)
)
def test_filters_apply_in_each_repository(
    federation: Federation, words: list[str], folders: set[str], own: str
) -> None:
    """Property 16: Filters."""
    filters = SearchFilters(languages=("python",), folders=tuple(folders))
    found = federation.find(Query(" ".join(words), 50, filters=filters), own)

    def passes(hit: Hit) -> bool:
        return hit.language == "python" and (not folders or "lib" in folders)

    assert all(passes(hit) for _, hit in found)
    if any(passes(hit) for _, hit in federation.find(Query(" ".join(words), 50), own)):
        assert found
    scores = [hit.score for _, hit in found]
    assert scores == sorted(scores, reverse=True)


def test_the_repository_of_the_user_comes_first_unless_another_is_much_better(federation: Federation) -> None:
    for own in SUBJECTS:
        assert federation.find(Query("how is it loaded"), own)[0][0] == own
    assert federation.find(Query("rotate_backup"), "cookie")[0][0] == "backup"


def test_a_single_repository_gives_the_scores_of_a_query_in_it(federation: Federation) -> None:
    for member in federation.members:
        for text in ("sign_cookie", f"how is the {member.name} loaded", "value"):
            alone = member.searcher.find(Query(text), 20)
            for is_own in (False, True):
                together = FederatedSearcher([member._replace(is_own=is_own)]).find(Query(text), 20)
                assert [found.hit for found in together.hits] == alone.hits
                assert (together.terms, together.rejected) == (alone.terms, alone.rejected)


def test_a_quotation_is_read_in_the_repository_that_has_it(federation: Federation) -> None:
    query = Query("return load_route_table[value]")
    name, hit = federation.find(query, "backup")[0]
    assert (name, hit.path) == ("route", "lib/load_route.py")
    assert all(scored >= other for scored, other in pairwise(each.score for _, each in federation.find(query)))


def test_each_hit_has_the_text_of_its_repository(federation: Federation) -> None:
    searchers = [member.searcher for member in federation.members]
    query = Query("sign", details=True)
    answer = answer_members(
        FederatedSearcher(federation.members),
        query,
        5,
        lambda number: open_reader(searchers[number].tree.location, bulk=False),
        (),
    )
    assert len(answer.order) == 5
    assert {one.member for one in answer.order} == {0, 1, 2}
    for number, place in answer.order:
        hit, lines = answer.answers[number].hits[place]
        details = answer.answers[number].details[place]
        file = searchers[number].tree.location.worktree
        assert file is not None
        text = (file / hit.path).read_text()
        assert list(lines) == text.splitlines()[hit.start_line - 1 : hit.end_line]
        assert details.file_bytes == len(text)
        assert 0 <= details.chunk_index < details.total_chunks


def make_hit(path: str, score: float) -> Hit:
    """Return a hit of which only path and score matter."""
    return Hit(path, 0, 1, 1, 1, "function", "", "python", "", 0, score, {})


def test_lists_of_different_models_are_merged_by_rank() -> None:
    one = [MemberHit(0, make_hit("a", 0.9)), MemberHit(0, make_hit("b", 0.8))]
    other = [MemberHit(1, make_hit("c", 0.4)), MemberHit(1, make_hit("d", 0.3)), MemberHit(1, make_hit("e", 0.2))]
    merged = merge_by_rank([one, other])
    assert [hit.path for _, hit in merged] == ["a", "c", "b", "d", "e"]
    assert [hit.score for _, hit in merged] == [0.9, 0.4, 0.4, 0.3, 0.2]
    assert merge_by_rank([one]) == one


@pytest.fixture
def known(make_repo: MakeRepo, fake_model: object, monkeypatch: pytest.MonkeyPatch, home: Path) -> list[Repo]:
    """Make and register three repositories; the last one has no index."""
    monkeypatch.delenv(OFF_VARIABLE)
    repos = []
    for name, content in (("web", python_file("sign_cookie")), ("jobs", python_file("run_job")), ("new", "x = 1\n")):
        repo = make_repo(name)
        repo.commit({"lib/code.py": content})
        add_repository({"HOME": str(home)}, repo.path)
        repos.append(repo)
    for repo in repos[:2]:
        index(repo)
    return repos


def test_a_query_names_the_repositories_searched_and_those_skipped(cli: Cli, known: list[Repo], tmp_path: Path) -> None:
    known[1].path.rename(tmp_path / "moved")
    outcome = cli("query", "--all", "--json", "sign cookie", cwd=tmp_path)
    assert outcome.code == ExitCode.OK, outcome.err
    value = json.loads(outcome.out)
    first = value["results"][0]
    assert (first["repository"], first["id"]) == ("web", "web:lib/code.py:1-3")
    assert [one["name"] for one in value["repositories_searched"]] == ["web"]
    assert value["repositories_skipped"] == [
        {"name": "jobs", "reason": "missing: its folder does not exist"},
        {"name": "new", "reason": f"this repository has no index yet; run: gitmem -C {known[2].path} index"},
    ]
    assert value["stats"]["best_below_min_score"] is None
    none = json.loads(cli("query", "--all", "--json", "--min-score", "1", "sign cookie", cwd=tmp_path).out)["stats"]
    assert (none["below_min_score"], none["best_below_min_score"]) == (1, first["score"])
    text = cli("query", "--all", "sign cookie", cwd=tmp_path)
    assert text.out.startswith("web:lib/code.py:1-3")
    assert "1 repository, 2 skipped, " in text.out.splitlines()[-1]
    assert "note: skipped jobs: missing" in text.err


def test_repositories_skipped_for_one_reason_share_a_line(
    cli: Cli, known: list[Repo], make_repo: MakeRepo, tmp_path: Path, home: Path
) -> None:
    for number in range(8):
        add_repository({"HOME": str(home)}, make_repo(f"new{number}").path)
    outcome = cli("query", "--all", "sign cookie", cwd=tmp_path)
    names = "new, new0, new1, new2, new3, new4, new5, new6 and 1 more"
    cause = "this repository has no index yet; run `gitmem index` in each"
    assert outcome.err == f"note: skipped 9 repositories: {cause}: {names}\n"
    assert len(json.loads(cli("query", "--all", "--json", "sign cookie").out)["repositories_skipped"]) == 9
    none = cli("query", *(f"--repo=new{number}" for number in range(4)), "sign cookie")
    assert_error(
        none, ExitCode.NO_INDEX, f"none of these repositories can be searched: 4 repositories: {cause}: new0, "
    )


def test_a_name_beside_all_is_checked_and_searched_once(cli: Cli, known: list[Repo], tmp_path: Path) -> None:
    everything = cli("query", "--all", "-l", "sign cookie", cwd=tmp_path)
    assert cli("query", "--all", "--repo", "web", "-l", "sign cookie", cwd=tmp_path).out == everything.out != ""
    assert_error(
        cli("query", "--all", "--repo", "nope", "x", cwd=tmp_path), ExitCode.USAGE, "unknown repository `nope`"
    )


def test_a_repository_of_a_newer_gitmem_is_skipped_with_the_reason(
    cli: Cli, known: list[Repo], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = workspace_of(known[1]).paths
    manifest = find_manifest(paths.manifest)
    assert manifest is not None
    with monkeypatch.context() as newer:
        newer.setattr("gitmem.store.format.FORMAT", 99)
        write_manifest(paths.manifest, manifest)
    value = json.loads(cli("query", "--repo", "jobs", "--repo", "web", "--json", "job", cwd=known[0].path).out)
    assert [one["name"] for one in value["repositories_searched"]] == ["web"]
    assert "newer" in value["repositories_skipped"][0]["reason"]


def test_the_repository_of_the_folder_is_indexed_first_and_others_are_not(cli: Cli, known: list[Repo]) -> None:
    known[0].write({"lib/fresh.py": python_file("sign_token")})
    known[1].write({"lib/fresh.py": python_file("sign_token")})
    value = json.loads(cli("query", "--all", "--json", "sign_token", cwd=known[0].path).out)
    assert (value["results"][0]["repository"], value["results"][0]["path"]) == ("web", "lib/fresh.py")
    searched = {one["name"]: one for one in value["repositories_searched"]}
    assert searched["web"]["files_missing"] == 0
    assert (searched["jobs"]["stale"], searched["jobs"]["files_missing"]) == (True, 1)


def test_what_makes_no_sense_in_several_repositories_is_refused(cli: Cli, known: list[Repo], tmp_path: Path) -> None:
    for args, message in (
        (["--repo", "jops", "x"], "unknown repository `jops`"),
        (["--repo", "web", "--changed", "HEAD~1..HEAD", "x"], "`--changed` applies to one repository"),
        (["--repo", "web", "x", "--", "lib"], "paths after `--` apply to one repository"),
    ):
        assert_error(cli("query", *args, cwd=tmp_path), ExitCode.USAGE, message)
    assert "did you mean `jobs`?" in cli("query", "--repo", "jops", "x", cwd=tmp_path).err
    assert_error(cli("query", "--repo", "new", "x", cwd=tmp_path), ExitCode.NO_INDEX, "none of these repositories")


def test_a_revision_that_no_repository_has_is_refused_in_one_line(cli: Cli, known: list[Repo], tmp_path: Path) -> None:
    args = ("query", "--repo", "web", "--repo", "jobs", "--rev", "nope", "sign_token")
    assert_error(cli(*args, cwd=tmp_path), ExitCode.USAGE, "unknown commit, tag or branch: `nope`")
    # With another reason each repository is named with its own.
    known[0].path.rename(tmp_path / "elsewhere")
    refused = cli(*args, cwd=tmp_path)
    assert_error(refused, ExitCode.NO_INDEX, "jobs: unknown commit, tag or branch: `nope`")
    (tmp_path / "elsewhere").rename(known[0].path)
    known[0].git("tag", "nope")
    some = cli(*args, "--no-refresh", cwd=tmp_path)
    assert some.code == ExitCode.OK, some.err
    assert "jobs: unknown commit, tag or branch: `nope`" in some.err


def test_commits_of_several_repositories_are_searched_together(cli: Cli, known: list[Repo], tmp_path: Path) -> None:
    for repo, subject in ((known[0], "Sign pears"), (known[1], "Roast pears")):
        import_messages(repo, [Message(subject, "Grace Hopper <grace@example.invalid>"), Message("Peel apples")])
        index(repo)
        index_commits(workspace_of(repo))
    index(known[2])
    answer = json.loads(cli("query", "--all", "--kind", "commits", "--json", "pears", cwd=known[1].path).out)
    hits = [(hit["repository"], hit["record"]["subject"]) for hit in answer["results"]]
    assert set(hits[:2]) == {("web", "Sign pears"), ("jobs", "Roast pears")}
    assert answer["results"][0]["id"].startswith(f"{hits[0][0]}:{answer['results'][0]['blob'][:12]}")
    assert "new: commit messages are not indexed (gitmem index --history)" in answer["stats"]["notes"]
    by_author = cli("query", "--all", "--kind", "commits", "--author", "grace", "--json", "pears", cwd=tmp_path)
    assert {hit["record"]["subject"] for hit in json.loads(by_author.out)["results"]} == {"Sign pears", "Roast pears"}
    assert "last change" not in by_author.err
    one = cli("query", "--repo", "web", "--kind", "commits", "--json", "-n", "1", "pears", cwd=tmp_path)
    assert json.loads(one.out)["results"][0]["record"]["subject"] == "Sign pears"
    refused = cli("query", "--repo", "new", "--kind", "commits", "pears", cwd=tmp_path)
    assert_error(refused, ExitCode.NO_INDEX, "commit messages are not indexed")


def test_notes_and_documents_of_other_repositories_are_found(cli: Cli, known: list[Repo], tmp_path: Path) -> None:
    cli("memory", "add", "Pears are signed in autumn.", cwd=known[0].path)
    (known[1].path / "plan.md").write_text("# Pears\n\nHow pears are roasted.\n")
    cli("-C", str(known[1].path), "doc", "add", "plan.md", cwd=tmp_path)
    for kind, name in (("notes", "web"), ("documents", "jobs")):
        answer = json.loads(cli("query", "--all", "--kind", kind, "--json", "pears", cwd=tmp_path).out)
        assert [(hit["repository"], hit["kind"]) for hit in answer["results"]] == [(name, kind)]


@pytest.mark.usefixtures("fake_model")
def test_a_date_in_the_query_is_that_of_conversations_in_all_repositories(tmp_path: Path) -> None:
    members = []
    for name, time in (("spring", "2026-03-09T10:00:00Z"), ("autumn", "2025-10-02T10:00:00Z")):
        repo = Repo.init(tmp_path / name)
        repo.commit({f"{name}.py": python_file(name)})
        index(repo)
        import_turns(workspace_of(repo), [Turn(name, 0, "user", "We meet on Tuesday.", time)])
        members.append(Member(name, open_searcher(workspace_of(repo), WORKING_TREE)))
    searcher = FederatedSearcher(members)
    for date, first in (("in March", 0), ("on 2 October 2025", 1)):
        query = Query(f"when do we meet {date}", filters=SearchFilters(kinds=("conversations",)))
        assert [number for number, _ in searcher.find(query, 10).hits] == [first, 1 - first]


def test_a_repository_without_hits_keeps_its_notes(cli: Cli, known: list[Repo], tmp_path: Path) -> None:
    import_messages(known[0], [Message("Sign pears")])
    index(known[0])
    index_commits(workspace_of(known[0]))
    outcome = cli("query", "--all", "--kind", "commits", "pears", cwd=tmp_path)
    assert "note: jobs: commit messages are not indexed" in outcome.err


def test_files_and_folders_restrict_a_query(cli: Cli, known: list[Repo]) -> None:
    def paths(*args: str) -> list[str]:
        return cli("query", "-l", "def", *args, cwd=known[0].path).out.splitlines()

    known[0].write({"docs/lib/more.py": python_file("sign_more"), "other.py": python_file("other")})
    assert paths("--folder", "lib") == ["lib/code.py", "docs/lib/more.py"]
    assert paths("--folder", "/lib") == ["lib/code.py"]
    assert paths("--file", "other.py", "--file", "lib/code.py", "--folder", "/lib") == ["lib/code.py"]
    assert paths("--folder", "none") == []
    assert_error(cli("query", "--folder", "/", "x", cwd=known[0].path), ExitCode.USAGE, "an empty name in the folders")


def test_outside_a_repository_the_configuration_of_the_user_applies(
    cli: Cli, known: list[Repo], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.write_text("[gitmem]\n\tsearchMaxLimit = 3\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    outcome = cli("query", "--repo", "web", "--limit", "4", "token", cwd=tmp_path)
    assert_error(outcome, ExitCode.USAGE, "the limit is 4, it must be between 1 and 3")
