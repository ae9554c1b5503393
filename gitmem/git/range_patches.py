"""The commits of a range with their messages, and the lines that each of them added and removed.

Merges are left out: they repeat what their parents did. Lines are read as a stream and bounded for each file and each
commit, so that neither a long range nor a commit of generated files takes much memory.
"""

import subprocess
from collections.abc import Iterator, Sequence
from typing import Final

from gitmem.errors import GitFailed
from gitmem.git.file_history import run_history
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import first_error_line, start_git
from gitmem.git.promisor import is_partial
from gitmem.named_tuple import NamedTuple

_LOG: Final = ("-c", "log.showSignature=false", "log", "--no-patch", "-z", "--encoding=UTF-8", "--date-order",
               "--format=%H%x00%an%x00%ae%x00%aI%x00%B%x00")  # fmt: skip
_FIELDS: Final = 5

_PATCHES: Final = ("diff-tree", "--stdin", "-r", "--root", "--patch", "--unified=0", "--find-renames=50%", "-l1000",
                   "--diff-algorithm=myers", "--no-ext-diff", "--no-textconv", "--no-color", "--no-prefix",
                   "--ignore-submodules=all")  # fmt: skip

_AT_ONCE: Final = 200
"""Commits of one git process. Their names fit into a pipe, so writing them never waits for the output."""

_LINE: Final = 400
"""Bytes of a line that are kept."""

_FILE: Final = 8_000
_COMMIT: Final = 64_000
"""Bytes of the lines of one file, and of one commit, that are kept."""

_BLOCK: Final = 1 << 16
"""Longest piece of a line that is read at once."""


class RangeCommit(NamedTuple):
    """Commit with its author, the time of authorship in ISO 8601, and its whole message."""

    commit: str
    author: str
    address: str
    date: str
    message: str

    @property
    def subject(self) -> str:
        """First line of the message."""
        return self.message.partition("\n")[0]


class FileLines(NamedTuple):
    """File that a commit changed: its path, the surroundings of each change as git names them, and the lines.

    Lines are those that were added or removed, at most some of them; `size` counts all of them.
    """

    path: bytes
    surroundings: list[bytes]
    lines: list[bytes]
    size: int


def count_range(location: RepositoryLocation, good: Sequence[str], bad: str) -> int:
    """Return the number of commits that `bad` has and none of `good`, without merges. Raises GitFailed."""
    return int(run_history(location, ["rev-list", "--count", "--no-merges", bad, *(f"^{each}" for each in good)]))


def list_range(location: RepositoryLocation, good: Sequence[str], bad: str, limit: int) -> list[RangeCommit]:
    """Return the newest commits, at most `limit`, that `bad` has and none of `good`, without merges.

    Newest first, children before their parents. Raises GitFailed.
    """
    selection = [f"--max-count={limit}", "--no-merges", bad, *(f"^{each}" for each in good)]
    fields = run_history(location, [*_LOG, *selection, "--"]).decode("utf-8", "replace").split("\0")
    # `-z` ends each commit with one more NUL.
    steps = range(0, len(fields) - _FIELDS, _FIELDS + 1)
    commits = [RangeCommit._make(fields[at : at + _FIELDS]) for at in steps]
    return [commit._replace(message=commit.message.strip()) for commit in commits]


def iter_patches(location: RepositoryLocation, commits: Sequence[str]) -> Iterator[tuple[str, list[FileLines]]]:
    """Yield each commit with the files that it changed, in the given order. Raises GitFailed."""
    for at in range(0, len(commits), _AT_ONCE):
        yield from _read_patches(location, commits[at : at + _AT_ONCE])


def _read_patches(location: RepositoryLocation, commits: Sequence[str]) -> Iterator[tuple[str, list[FileLines]]]:
    with start_git(["--no-replace-objects", *_PATCHES], git_dir=location.git_dir) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        # Lines are counted and cut while git writes them: a patch may be larger than the memory.
        process.stdin.write("".join(f"{commit}\n" for commit in commits).encode("ascii"))
        process.stdin.close()
        files_of = dict(_parse_patches(process))
        message = process.stderr.read().decode("utf-8", "replace")
    if process.returncode != 0:
        partial = "this partial clone lacks objects; fetch them with: git fetch --refetch --no-filter"
        hint = partial if is_partial(location) else "run: git fsck"
        raise GitFailed(f"git cannot read the commits of the range: {first_error_line(message)}", hint=hint)
    # A commit that changes no file, or only submodules, is not printed.
    for commit in commits:
        # Files without a path changed their mode only, or are empty.
        yield commit, [file for file in files_of.get(commit, ()) if file.path]


def _parse_patches(process: "subprocess.Popen[bytes]") -> Iterator[tuple[str, list[FileLines]]]:
    """Yield the commits of a patch as git prints it. Only `_COMMIT` bytes of lines are kept of each."""
    files: list[FileLines] = []
    room = file_room = 0
    in_hunk = 0
    for line in _iter_lines(process):
        if in_hunk and line[:1] in (b"+", b"-", b"\\"):
            # Counted, because a removed line that begins with two hyphens looks like the header of a file.
            in_hunk -= line[:1] != b"\\"
            files[-1] = files[-1]._replace(size=files[-1].size + 1)
            kept = line[1:_LINE]
            if len(kept) <= min(room, file_room):
                files[-1].lines.append(kept)
                room, file_room = room - len(kept), file_room - len(kept)
        elif line.startswith(b"@@ "):
            header, _, around = line[3:].partition(b" @@")
            in_hunk = sum(_hunk_size(side) for side in header.split(b" ")[:2])
            if around.strip() and len(files[-1].surroundings) < _FILE // _LINE:
                files[-1].surroundings.append(around.strip()[:_LINE])
        # The names in this line are not parsed: with spaces they are ambiguous.
        elif line.startswith(b"diff --git "):
            files.append(FileLines(b"", [], [], 0))
            file_room, in_hunk = _FILE, 0
        elif line.startswith((b"+++ ", b"--- ", b"rename to ")) and files:
            path = _unquote(line.split(b" ", 2 if line.startswith(b"rename") else 1)[-1].rstrip(b"\t"))
            # The old path comes first, and is the only one of a removed file.
            if path != b"/dev/null":
                files[-1] = files[-1]._replace(path=path)
        elif _is_commit(line):
            files, room = [], _COMMIT
            yield line.decode("ascii"), files


def _iter_lines(process: "subprocess.Popen[bytes]") -> Iterator[bytes]:
    """Yield the lines of the output, of long ones only the beginning."""
    assert process.stdout is not None
    is_rest = False
    while piece := process.stdout.readline(_BLOCK):
        if not is_rest:
            yield piece.rstrip(b"\r\n")
        is_rest = not piece.endswith(b"\n")


def _hunk_size(side: bytes) -> int:
    """Return the number of lines of one side of a hunk, `-12,3` or `+12`."""
    _, comma, size = side.partition(b",")
    return int(size) if comma else 1


def _is_commit(line: bytes) -> bool:
    return len(line) in (40, 64) and not line.strip(b"0123456789abcdef")


def _unquote(path: bytes) -> bytes:
    """Return a path as it is: git quotes those with control characters, quotes and backslashes, as C does."""
    if not (path.startswith(b'"') and path.endswith(b'"')):
        return path
    return path[1:-1].decode("unicode_escape").encode("latin-1")
