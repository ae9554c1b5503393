"""Parse the changed paths of many commits, at once and while git writes them."""

import io
import subprocess
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.git.raw_diff import RawCommit, parse_raw_commits, parse_raw_stream
from tests.gitrepo import Repo

LOG: Final = ("-c", "log.showRoot=true", "log", "--diff-merges=combined", "--raw", "--no-abbrev", "-z",
              "--find-renames", "--format=%H%x00%s%x00%ct")  # fmt: skip


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return what git says about commits with renames, merges, no changes, and subjects that begin with a colon."""
    repo = Repo.init(tmp_path_factory.mktemp("raw"))
    repo.commit({f"{number}.py": f"number = {number}\n" * 9 for number in range(30)}, "many files")
    repo.git("commit", "-q", "--allow-empty", "-m", ":100644 a subject like a change")
    repo.git("switch", "-qc", "side")
    repo.git("mv", "1.py", "moved.py")
    repo.commit({"2.py": "two\n"}, "rename")
    repo.git("switch", "-q", "main")
    repo.commit({"2.py": "three\n", "new.py": "new\n"}, "main")
    repo.git("merge", "-q", "-s", "ours", "--no-commit", "side")
    repo.write({"2.py": "two and three\n"})
    repo.git("commit", "-qam", "merge")
    repo.git("rm", "-q", "3.py")
    repo.commit(message="remove")
    return subprocess.check_output(["git", *LOG], cwd=repo.path)


class Blocks(io.BytesIO):
    """Stream that returns blocks of certain sizes, whatever is asked for."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        super().__init__(data)
        self._sizes = sizes

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self._sizes.pop() if self._sizes else size)


def test_commits_have_their_changes(output: bytes) -> None:
    commits = {commit.fields[1]: commit for commit in parse_raw_commits(output)}
    assert {name: len(commit.changes) for name, commit in commits.items()} == {
        "remove": 1, "merge": 2, "main": 2, "rename": 2, ":100644 a subject like a change": 0, "many files": 30,
    }  # fmt: skip
    renamed = next(change for change in commits["rename"].changes if change.old_path != change.path)
    assert (renamed.old_path, renamed.path) == (b"1.py", b"moved.py")
    assert len({change.before for change in commits["merge"].changes}) == 2


@given(st.lists(st.integers(1, 400), max_size=60))
def test_a_stream_in_any_blocks_gives_the_same_commits(output: bytes, sizes: list[int]) -> None:
    expected: list[RawCommit] = list(parse_raw_commits(output))
    assert list(parse_raw_stream(Blocks(output, sizes))) == expected
