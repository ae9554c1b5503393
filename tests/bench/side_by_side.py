"""Large repository of real code: many public repositories side by side, one folder each, in one commit.

It is built without a checkout of the parts: git reads their objects where they are, and only the result gets a working
tree. Sizes are numbers of chunks; the smallest repositories come first, so a smaller size is a part of a larger one.
"""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.bench.subjects import SubjectError
from tests.bench.synthetic import DATE

BYTES_PER_CHUNK: Final = 690
"""Mean size of a chunk, with the text that is not indexed, in repositories of many languages."""

LARGEST: Final = 1 << 20
"""Larger files are not indexed, so they are left out."""

_FILES: Final = (b"100644", b"100755", b"120000")
_IDENTITY: Final = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")


@dataclass(frozen=True, slots=True)
class Part:
    """Repository to include: its git directory, the name of its folder, and its files with mode, id and size."""

    git_dir: Path
    name: str
    files: list[tuple[bytes, bytes, int, bytes]]

    @property
    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(size for _, _, size, _ in self.files)


def find_parts(folder: Path) -> list[Part]:
    """Return the repositories in the git directories at most two levels below a folder, smallest first."""
    heads = sorted({*folder.glob("*/HEAD"), *folder.glob("*/*/HEAD"), *folder.glob("*/.git/HEAD")})
    git_dirs = [head.parent for head in heads if (head.parent / "objects").is_dir()]
    parts = [Part(git_dir, _folder_name(git_dir.relative_to(folder)), list_files(git_dir)) for git_dir in git_dirs]
    return sorted((part for part in parts if part.files), key=lambda part: (part.size, part.name))


def _folder_name(git_dir: Path) -> str:
    return str(git_dir).removesuffix("/.git").removesuffix("/repo").removesuffix(".git").replace("/", "+")


def list_files(git_dir: Path) -> list[tuple[bytes, bytes, int, bytes]]:
    """Return the files of HEAD whose content exists; a partial copy may lack large ones."""
    output = subprocess.run(
        ["git", f"--git-dir={git_dir}", "ls-tree", "-r", "-l", "-z", "HEAD"], capture_output=True, check=False
    ).stdout
    files = []
    for entry in output.split(b"\0")[:-1]:
        meta, path = entry.split(b"\t", 1)
        mode, _, oid, size = meta.split()
        if mode in _FILES and size.isdigit() and int(size) <= LARGEST:
            files.append((mode, oid, int(size), path))
    return files


def choose_files(parts: list[Part], chunks: int) -> Iterator[tuple[Part, bytes, bytes, bytes]]:
    """Yield part, mode, id and path of as many files as this number of chunks needs.

    Raises: SubjectError if all of them are too few.
    """
    rest = chunks * BYTES_PER_CHUNK
    for part in parts:
        for mode, oid, size, path in part.files:
            if rest <= 0:
                return
            rest -= size
            yield part, mode, oid, path
    if rest > chunks * BYTES_PER_CHUNK // 10:
        raise SubjectError(f"the repositories have too few files for {chunks:,} chunks")


def build(target: Path, parts: list[Part], chunks: int) -> None:
    """Make a repository with one commit and its working tree. Raises: SubjectError."""
    chosen = list(choose_files(parts, chunks))
    _git(["init", "-q", "-b", "main", str(target)], target.parent)
    alternates = dict.fromkeys(str((part.git_dir / "objects").resolve()) for part, *_ in chosen)
    (target / ".git/objects/info/alternates").write_text("".join(f"{folder}\n" for folder in alternates))
    lines = (mode + b" " + oid + b"\t" + part.name.encode() + b"/" + path + b"\0" for part, mode, oid, path in chosen)
    _git(["update-index", "-z", "--index-info"], target, b"".join(lines))
    tree = _git(["write-tree"], target).decode().strip()
    environment = ["-c", "gc.auto=0", *_IDENTITY]
    commit = _git([*environment, "commit-tree", tree, "-m", f"side by side, {DATE}"], target).decode().strip()
    _git(["update-ref", "refs/heads/main", commit], target)
    _git(["reset", "-q", "--hard"], target)


def _git(args: list[str], folder: Path, stdin: bytes = b"") -> bytes:
    process = subprocess.run(["git", "-C", str(folder), *args], input=stdin, capture_output=True, check=False)
    if process.returncode:
        raise SubjectError(f"git {args[0]}: {process.stderr.decode(errors='replace').strip()[-1000:]}")
    return process.stdout
