"""A repository made of others: its files, its size, and its working tree."""

from pathlib import Path

import pytest

from tests.bench.side_by_side import BYTES_PER_CHUNK, LARGEST, build, choose_files, find_parts
from tests.bench.subjects import SubjectError
from tests.gitrepo import Repo

FILES = {f"f{number}.py": f"{number}" * BYTES_PER_CHUNK for number in range(4)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folder with a bare repository one level down, and a smaller one two levels down."""
    large = Repo.init(tmp_path / "large")
    large.commit({**FILES, "too-large.py": "x" * (LARGEST + 1)})
    large.git("clone", "-q", "--bare", str(large.path), str(tmp_path / "parts/a.git"))
    Repo.init(tmp_path / "parts/owner+b").commit({"src/small.py": "y" * BYTES_PER_CHUNK})
    return tmp_path / "parts"


def test_the_smallest_come_first_and_large_files_are_left_out(folder: Path) -> None:
    parts = find_parts(folder)
    assert [part.name for part in parts] == ["owner+b", "a"]
    assert parts[1].size == 4 * BYTES_PER_CHUNK
    paths = [path for _, _, _, path in choose_files(parts, 3)]
    assert paths == [b"src/small.py", b"f0.py", b"f1.py"]
    assert paths == [path for _, _, _, path in choose_files(parts, 5)][:3]


def test_the_result_has_the_files_in_its_working_tree(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    build(target, find_parts(folder), 3)
    repo = Repo(target)
    assert repo.git("status", "--porcelain") == ""
    assert sorted(repo.git("ls-files").split()) == ["a/f0.py", "a/f1.py", "owner+b/src/small.py"]
    assert (target / "a/f1.py").read_text() == FILES["f1.py"]


def test_too_few_files_are_an_error(folder: Path) -> None:
    with pytest.raises(SubjectError, match="too few files for 100 chunks"):
        list(choose_files(find_parts(folder), 100))
