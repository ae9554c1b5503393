"""The index of the past: what is read and kept, and when."""

import shutil
from collections.abc import Callable
from pathlib import Path

import msgpack
import pytest

from gitmem.actions.gc import collect
from gitmem.actions.verify import verify
from gitmem.errors import DamagedFile, NoIndex
from gitmem.freshness.catch_up import catch_up
from gitmem.freshness.past_index import find_past
from gitmem.freshness.past_run import index_past, plan_past
from gitmem.indexing import lifetimes
from gitmem.indexing.lifetimes import find_past_view
from gitmem.store.format import build_container
from gitmem.store.manifest import write_manifest
from gitmem.store.packed_file import find_packed_container
from gitmem.store.segment import find_segment
from gitmem.store.segment_writer import write_segment
from gitmem.workspace import Workspace
from tests.gitrepo import MakeRepo, Repo
from tests.indexes import InlinePool, index, workspace_of
from tests.past_histories import ENCODER, PARSE, RETRY, RETRY_WITH_JITTER, ask, make_past, symbols_of
from tests.sample import damage

pytestmark = pytest.mark.usefixtures("fake_model")

SORT = "def sort_names(names):\n    return sorted(names, key=str.casefold)\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    make_past(repo)
    index(repo)
    return repo


def lives_of(workspace: Workspace) -> list[object]:
    """Return everything that the file of the lives says, apart from the numbers of groups."""
    view = find_past_view(workspace.paths.past.lifetimes)
    assert view is not None
    columns = [view.chunk_column(name).tolist() for name in ("introduced", "removed")]
    groups = view.chunk_column("group").tolist()
    first = [groups.index(group) for group in groups]
    return [view.bounds, view.commits, view.seconds.tolist(), view.marks.tolist(), columns, first]


def test_only_new_versions_are_read(repo: Repo, fake_model: type[InlinePool]) -> None:
    workspace, before = workspace_of(repo), fake_model.digested
    first = index_past(workspace)
    assert (first.commits, first.versions, first.indexed, first.problems) == (5, 4, 4, [])
    assert fake_model.digested == before + 4
    assert index_past(workspace).indexed == 0
    repo.commit({"src/sort.py": SORT}, "Sort names")
    again = index_past(workspace_of(repo))
    assert (again.commits, again.versions, again.indexed) == (6, 5, 1)
    assert fake_model.digested == before + 5


def test_the_plan_is_what_the_run_then_reads(repo: Repo) -> None:
    plan = plan_past(workspace_of(repo))
    assert (plan.commits, plan.versions) == (5, 4)
    assert plan.bytes > len(ENCODER) + len(PARSE) + len(RETRY)
    index_past(workspace_of(repo))
    assert plan_past(workspace_of(repo)).versions == 0


def test_commits_added_one_by_one_give_the_lives_of_a_whole_run(repo: Repo) -> None:
    index_past(workspace_of(repo))
    for change in ({"src/wire.py": ENCODER}, {"src/head.py": PARSE + SORT}, {"src/wire.py": SORT}):
        repo.commit(change)
        index_past(workspace_of(repo))
    grown = lives_of(workspace_of(repo))
    workspace_of(repo).paths.past.lifetimes.unlink()
    index_past(workspace_of(repo))
    assert lives_of(workspace_of(repo)) == grown


def test_a_rewritten_branch_is_read_again(repo: Repo) -> None:
    index_past(workspace_of(repo))
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    repo.commit({"src/sort.py": SORT}, "Sort names")
    workspace = workspace_of(repo)
    assert index_past(workspace).indexed == 1
    (found,) = ask(repo, "encode dates as json", path="src/wire.py").hits[:1]
    assert found.is_alive


def test_only_as_many_commits_are_read_as_the_budget_allows(repo: Repo) -> None:
    repo.git("config", "gitmem.historyBudget", "2")
    report = index_past(workspace_of(repo))
    assert report.commits == 2
    assert symbols_of(ask(repo, "json encoder"))  # the removal shows what there was
    assert "parse_header" not in symbols_of(ask(repo, "parse header"))


def test_commits_before_a_time_are_left_out_until_another_one_is_given(repo: Repo) -> None:
    later = max(int(time) for time in repo.git("log", "--format=%ct").split()) + 1
    assert index_past(workspace_of(repo), since=later).commits == 0
    assert index_past(workspace_of(repo)).commits == 0
    assert index_past(workspace_of(repo), since=0).commits == 5


def test_without_an_index_of_files_there_is_none_of_the_past(make_repo: MakeRepo) -> None:
    empty = make_repo("other")
    empty.commit({"a.py": "x = 1\n"})
    with pytest.raises(NoIndex):
        index_past(workspace_of(empty))
    assert not (empty.path / ".gitmem").exists()


def test_the_hook_keeps_the_past_fresh_and_never_begins_to_index_it(repo: Repo) -> None:
    catch_up(workspace_of(repo), "post-commit", {})
    assert find_past(workspace_of(repo)) is None
    index_past(workspace_of(repo))
    repo.commit({"src/sort.py": SORT}, "Sort names")
    catch_up(workspace_of(repo), "post-commit", {})
    assert symbols_of(ask(repo, "sort names"))[0] == "sort_names"
    assert "1 former versions" in workspace_of(repo).paths.log.read_text()


def test_damaged_lives_are_computed_again(repo: Repo) -> None:
    workspace = workspace_of(repo)
    index_past(workspace)
    expected = lives_of(workspace)
    damage(workspace.paths.past.lifetimes, at=40)
    with pytest.raises(NoIndex):
        ask(repo, "encode dates")
    index_past(workspace)
    assert lives_of(workspace) == expected


def test_gc_removes_versions_of_deleted_branches_and_no_row_that_others_need(repo: Repo) -> None:
    repo.git("switch", "-q", "-c", "topic")
    repo.commit({"src/sort.py": SORT, "src/head.py": PARSE + ENCODER}, "Sort names")
    index_past(workspace_of(repo))
    repo.git("switch", "-q", "main")
    repo.git("branch", "-D", "topic")
    repo.git("reflog", "expire", "--expire=all", "--all")
    workspace = workspace_of(repo)
    index_past(workspace)
    expected = lives_of(workspace)
    assert collect(workspace, now=True, dry_run=True).blobs >= 2
    assert collect(workspace, now=True).blobs >= 2
    manifest = find_past(workspace)
    assert manifest is not None
    assert manifest.blobs == 4
    assert symbols_of(ask(repo, "encode dates as json"))[0].startswith("JsonEncoder")
    workspace.paths.past.lifetimes.unlink()
    index_past(workspace)
    assert lives_of(workspace)[:3] == expected[:3]


def test_gc_removes_what_a_killed_one_left(repo: Repo) -> None:
    workspace = workspace_of(repo)
    index_past(workspace)
    paths = workspace.paths.past
    leftovers = [paths.root / ".manifest.0123456789ab.tmp", paths.segments / ".segment.0123456789ab.tmp"]
    for file in leftovers:
        file.write_bytes(b"half")
    collect(workspace, now=True, dry_run=True)
    assert all(file.exists() for file in leftovers)
    collect(workspace, now=True)
    assert not any(file.exists() for file in leftovers)


def test_gc_keeps_versions_from_which_the_records_of_others_differ(repo: Repo) -> None:
    def module(changed: str) -> str:
        return (
            "".join(f"def task_{number}(queue):\n    return queue.take({number})\n\n" for number in range(20)) + changed
        )

    repo.commit({"src/tasks.py": module("")}, "Add tasks")
    repo.git("switch", "-q", "-c", "topic")
    tip = repo.commit({"src/tasks.py": module(SORT)}, "Sort names")
    repo.git("switch", "-q", "main")
    repo.commit({"src/tasks.py": module(PARSE + RETRY_WITH_JITTER)}, "Send again")
    repo.git("merge", "-q", "-s", "ours", "topic")
    index_past(workspace_of(repo))
    repo.git("reset", "-q", "--hard", tip)
    repo.git("branch", "-D", "topic")
    repo.git("reflog", "expire", "--expire=all", "--all")
    index_past(workspace_of(repo))
    collect(workspace_of(repo), now=True)
    workspace_of(repo).paths.past.lifetimes.unlink()
    index_past(workspace_of(repo))
    (found,) = [hit for hit in ask(repo, "task 7 queue take").hits if hit.hit.symbol == "task_7"]
    assert found.is_alive


@pytest.mark.parametrize("kind", ["segment", "lives", "manifest"])
def test_damage_is_found_and_repaired(repo: Repo, kind: str) -> None:
    workspace = workspace_of(repo)
    index_past(workspace)
    expected = lives_of(workspace)
    assert verify(workspace).sound
    paths = workspace.paths.past
    file = {"segment": next(paths.segments.iterdir()), "lives": paths.lifetimes, "manifest": paths.manifest}[kind]
    damage(file, at=200)
    name = file.relative_to(workspace.paths.root).as_posix()
    assert verify(workspace).findings.damaged == [name]
    assert verify(workspace, repair=True).sound
    assert lives_of(workspace) == expected


def test_the_hook_leaves_a_stopped_run_to_the_user(repo: Repo) -> None:
    workspace = workspace_of(repo)
    index_past(workspace)
    manifest = find_past(workspace)
    assert manifest is not None
    write_manifest(workspace.paths.past.manifest, manifest._replace(complete=False))
    repo.commit({"src/sort.py": SORT}, "Sort names")
    catch_up(workspace_of(repo), "post-commit", {})
    assert "former versions" not in workspace.paths.log.read_text()
    assert "the index of the past is not complete (gitmem index --history)" in ask(repo, "sort names").notes
    assert index_past(workspace_of(repo)).indexed == 1


def test_versions_that_differ_in_a_few_words_count_as_one(repo: Repo) -> None:
    slightly = RETRY_WITH_JITTER.replace("random_jitter)", "random_jitter * 2)")
    repo.commit({"src/client.py": slightly}, "Wait longer")
    index_past(workspace_of(repo))
    (found,) = [hit for hit in ask(repo, "policy random jitter").hits if hit.hit.symbol == "retry_request"]
    assert (found.versions, found.is_current) == (2, True)


def test_the_loss_of_one_segment_has_every_version_indexed_again(repo: Repo) -> None:
    index_past(workspace_of(repo))
    repo.commit({"src/sort.py": SORT}, "Sort names")
    workspace = workspace_of(repo)
    versions = index_past(workspace).versions
    expected = lives_of(workspace)
    manifest = find_past(workspace)
    assert manifest is not None
    _, second = manifest.segments
    workspace.paths.past.segment(second.name).unlink()
    report = index_past(workspace)
    assert "is missing" in report.rebuilt
    assert report.indexed == versions
    assert lives_of(workspace) == expected


def _rename_with_changes(repo: Repo) -> str:
    """Change a file twice, the second time with another name; return the version in between."""
    repo.commit({"src/client.py": RETRY_WITH_JITTER + SORT}, "Sort names")
    blob = repo.oid("HEAD:src/client.py")
    repo.git("mv", "src/client.py", "src/names.py")
    repo.commit({"src/names.py": RETRY_WITH_JITTER + SORT + PARSE}, "Name it after the names")
    return blob


def test_a_version_that_git_lacks_is_left_out_and_reported_until_it_is_back(repo: Repo) -> None:
    blob = _rename_with_changes(repo)
    index_past(workspace_of(repo))
    expected = lives_of(workspace_of(repo))
    shutil.rmtree(workspace_of(repo).paths.past.root)
    file = repo.loose_object(blob)
    content = file.read_bytes()
    file.unlink()

    report = index_past(workspace_of(repo))
    assert (report.versions, report.indexed, report.unread) == (6, 5, 1)
    (problem,) = report.problems
    assert problem.startswith(f"src/client.py: the version {blob} cannot be read")
    assert "git fetch --refetch" in problem
    # The versions around it follow each other: nothing was removed by the commit of the lost one.
    found = {hit.hit.symbol: hit for hit in ask(repo, "retry sort names request").hits}
    assert found["retry_request"].is_alive
    assert found["sort_names"].introduced is not None
    assert found["sort_names"].introduced.subject == "Name it after the names"

    again = index_past(workspace_of(repo))
    assert (again.indexed, again.unread, again.problems) == (0, 1, report.problems)
    assert plan_past(workspace_of(repo)).versions == 0
    repo.commit({"src/wire.py": ENCODER}, "Encode dates again")
    later = index_past(workspace_of(repo))
    assert (later.indexed, later.unread) == (0, 1)

    file.write_bytes(content)
    repo.git("reset", "-q", "--hard", "HEAD~1")
    back = index_past(workspace_of(repo))
    assert (back.indexed, back.unread, back.problems) == (1, 0, [])
    assert lives_of(workspace_of(repo)) == expected


def test_a_version_that_comes_back_without_a_new_commit_is_indexed(repo: Repo) -> None:
    blob = _rename_with_changes(repo)
    file = repo.loose_object(blob)
    content = file.read_bytes()
    file.chmod(0o644)
    file.write_bytes(content[:-5])  # cut, so that git still knows its size
    assert index_past(workspace_of(repo)).unread == 1
    assert not verify(workspace_of(repo)).findings.problems
    file.write_bytes(content)
    assert index_past(workspace_of(repo)).unread == 0
    (found,) = [hit for hit in ask(repo, "sort names").hits if hit.hit.symbol == "sort_names"]
    assert found.introduced is not None
    assert found.introduced.subject == "Sort names"


def test_changes_of_a_lost_version_belong_to_the_next_one_also_in_later_runs(repo: Repo) -> None:
    index_past(workspace_of(repo))
    repo.commit({"src/head.py": PARSE + SORT}, "Sort names")
    blob = repo.oid("HEAD:src/head.py")
    repo.loose_object(blob).unlink()
    assert index_past(workspace_of(repo)).unread == 1
    repo.commit({"src/head.py": SORT}, "Leave the headers")
    assert index_past(workspace_of(repo)).unread == 1
    found = {hit.hit.symbol: hit for hit in ask(repo, "parse header sort names").hits}
    assert found["parse_header"].removed is not None
    assert found["parse_header"].removed.subject == "Leave the headers"
    assert found["sort_names"].introduced is not None
    assert found["sort_names"].introduced.subject == "Leave the headers"


def test_what_was_there_before_a_lost_first_version_has_no_commit(repo: Repo) -> None:
    repo.commit({"src/head.py": PARSE + SORT}, "Sort names")
    repo.loose_object(repo.oid("HEAD~1:src/head.py")).unlink()
    repo.git("config", "gitmem.historyBudget", "1")
    report = index_past(workspace_of(repo))
    assert (report.commits, report.unread) == (1, 1)
    assert {hit.introduced for hit in ask(repo, "parse header sort names").hits} == {None}


def _section_spans(file: Path) -> dict[str, tuple[int, int]]:
    """Return where each section of a file begins, and its stored bytes."""
    data = file.read_bytes()
    length = int.from_bytes(data[-8:-4], "little")
    sections = msgpack.unpackb(data[-8 - length : -8])["sections"]
    first = 64  # the sections follow the prefix, aligned
    return {name: (first + start, size) for name, (start, size, _, _) in sections.items()}


def test_a_flipped_byte_in_any_section_is_found(repo: Repo) -> None:
    workspace = workspace_of(repo)
    index_past(workspace)
    paths = workspace.paths.past
    (segment,) = paths.segments.iterdir()
    counts = []
    for file in (segment, paths.lifetimes):
        places = {name: start + size // 2 for name, (start, size) in _section_spans(file).items() if size}
        counts.append(len(places))
        whole = file.read_bytes()
        for name, place in places.items():
            data = bytearray(whole)
            data[place] ^= 1
            file.write_bytes(data)
            damaged = verify(workspace).findings.damaged
            assert damaged == [file.relative_to(workspace.paths.root).as_posix()], name
        file.write_bytes(whole)
    assert verify(workspace).sound
    assert counts[0] > 30
    assert counts[1] > 10


def _forge_records(workspace: Workspace, forge: Callable[[list[bytes]], None]) -> str:
    """Replace the only segment of the past by one with other records and right checksums; return its name."""
    paths, manifest = workspace.paths.past, find_past(workspace)
    assert manifest is not None
    (entry,) = manifest.segments
    segment = find_segment(paths.segments, entry)
    assert segment is not None
    rows = segment.load_rows()
    forge(rows.blobs.names)
    forged = write_segment(paths.segments, rows, is_compact=True)
    write_manifest(paths.manifest, manifest.with_segments([forged]))
    return forged.name


def _cut(records: list[bytes]) -> None:
    records[0] = records[0][:-1]


def _exchange(records: list[bytes]) -> None:
    records[0], records[1] = records[1], records[0]


def _refer_to_nothing(records: list[bytes]) -> None:
    records[0] = b"\1" + bytes(10)


@pytest.mark.parametrize("forge", [_cut, _exchange, _refer_to_nothing])
def test_records_that_no_writer_made_are_found_and_repaired(repo: Repo, forge: Callable[[list[bytes]], None]) -> None:
    workspace = workspace_of(repo)
    index_past(workspace)
    expected = lives_of(workspace)
    name = _forge_records(workspace, forge)
    assert verify(workspace).findings.damaged == [f"history/code/segments/{name}"]
    assert verify(workspace, repair=True).sound
    assert lives_of(workspace) == expected


@pytest.mark.parametrize("number", [5, 1 << 30, -3])
@pytest.mark.parametrize("column", ["introduced", "removed", "group"])
def test_lives_with_impossible_numbers_are_damage(repo: Repo, column: str, number: int) -> None:
    workspace = workspace_of(repo)
    index_past(workspace)
    file = workspace.paths.past.lifetimes
    container = find_packed_container(file, lifetimes.MAGIC)
    assert container is not None
    sections = {name: bytes(container[name].all()) for name in _section_spans(file)}
    data = bytearray(sections[column])
    data[:4] = number.to_bytes(4, "little", signed=True)
    sections[column] = bytes(data)
    fields = {name: value for name, value in container.fields.items() if name != "packed"}
    file.write_bytes(b"".join(map(bytes, build_container(lifetimes.MAGIC, fields, sections))))
    with pytest.raises(DamagedFile):
        ask(repo, "encode dates")
    assert verify(workspace).findings.damaged == ["history/code/state/lifetimes"]
    repo.commit({"src/sort.py": SORT}, "Sort names")
    index_past(workspace_of(repo))
    repaired = lives_of(workspace_of(repo))
    file.unlink()
    index_past(workspace_of(repo))
    assert lives_of(workspace_of(repo)) == repaired
