"""Patterns, paths and comparisons with git for the tests of the glob matcher and of all that use it."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hypothesis import strategies as st

from tests.gitrepo import Repo, isolated_environment

PIECES: Final = ["a", "b", "a.c", "/", "/", "*", "**", "**/", "/**", "?", "[ab]", "[!a]", "[^b-c]", "[[:alpha:]]",
    "[]a]", "[a", "[[:no:]]", "[a-\\c]", "\\", "\\*", "\\ ", "\\/", " ", "!", "#", "*.c", "foo/", "\t", "-",
    "é"]  # fmt: skip
NAMES: Final = ["a", "b", "ab", "a.c", "b.c", "foo", "*", "a b", "a ", "!a", "#a", "-", "]", "[a", "\\a", "é"]
FOLDERS: Final = ["", "a", "a/b", "b"]

patterns = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=5).map("/".join).filter(lambda path: path not in FOLDERS)

SLOW_PATTERNS: Final = [b"*a" * 40 + b"b", b"a/**/" * 100 + b"b", b"**/*a*a*a*a*b/**/*a*a*a*b",
    b"/" + b"*a*/" * 20 + b"b", b"**/" + b"*/" * 50 + b"b", b"[a-z]*" * 50 + b"!", b"?*" * 100 + b"0",
    b"a**/" * 60 + b"b", b"**/a*a*a*a*a*a*a*a/**/a/b", b"*" * 3000 + b"b", b"[" * 3000, b"\\" * 3001]  # fmt: skip
"""Patterns for which a backtracking matcher takes years on SLOW_PATHS."""

SLOW_PATHS: Final = [b"/".join([b"a" * 100] * 40), b"a" * 4000, b"/".join([b"a"] * 2000)]


def make_folders(repo: Repo) -> Repo:
    """Create FOLDERS in the working tree, so that pattern files can be put there."""
    for folder in FOLDERS:
        (repo.path / folder).mkdir(exist_ok=True)
    return repo


def replace_pattern_files(repo: Repo, name: str, files: Mapping[str, str]) -> dict[bytes, bytes]:
    """Write these files, by folder, and delete all others of that name; return them as the rules expect them."""
    for folder in FOLDERS:
        (repo.path / folder / name).unlink(missing_ok=True)
    for folder, content in files.items():
        (repo.path / Path(folder) / name).write_bytes(content.encode())
    return {folder.encode(): content.encode() for folder, content in files.items()}


def find_ignored(repo: Repo, candidates: list[str]) -> set[str]:
    """Return the paths that git ignores; its exit code 1 means none."""
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin", "-z"],
        cwd=repo.path,
        env=isolated_environment(),
        input="\0".join(candidates).encode(),
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return set(done.stdout.decode().split("\0")[:-1])
