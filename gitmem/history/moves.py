"""Find the element of another file that an element came from, among the files that one commit changed."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from gitmem.git.file_history import FileChange
from gitmem.history.element_reader import ElementReader
from gitmem.history.line_tracking import find_lines
from gitmem.history.matching import EXTRACTED, find_among, find_in_renamed_file, without_counterpart
from gitmem.history.version import Version
from gitmem.named_tuple import NamedTuple

_MAX_FILES: Final = 400
"""Files of one commit that are read in search of an element; those of the same name come first."""

_MAX_PARSED: Final = 12
"""Files that are parsed: those that share most lines with the element."""

_LEAST_SHARED: Final = 0.4
"""Share of an element's lines that must occur in a file in which it is sought."""


class Origin(NamedTuple):
    """Element in the parent commit from which another one came. `file_moved` says that its whole file was renamed."""

    version: Version
    file_moved: bool


def find_elsewhere(version: Version, files: Sequence[FileChange], reader: ElementReader) -> Origin | None:
    """Return the predecessor of an element in another file of the commit; None if it is new.

    If git says that the file was renamed, its old version comes first.
    """
    for file in files:
        if file.path == version.path and file.old_path != file.path and file.old_blob:
            old = find_in_renamed_file(version, reader.version(file.old_path, file.old_blob))
            if old is not None:
                return Origin(old, file_moved=True)
    for file in _likely_sources(version, files, reader):
        olds = reader.version(file.old_path, file.old_blob).versions
        if file.blob:
            olds = without_counterpart(olds, reader.version(file.path, file.blob))
        old = find_among(version, olds, same_name=EXTRACTED) if file.blob else find_among(version, olds)
        if old is not None:
            same_name = file.old_path.rpartition(b"/")[2] == version.path.rpartition(b"/")[2]
            return Origin(old, file_moved=not file.blob and same_name)
    return None


def find_renamed_lines(version: Version, files: Sequence[FileChange], reader: ElementReader) -> Origin | None:
    """Return the predecessor of lines in the file from which git says that theirs was renamed."""
    for file in files:
        if file.path == version.path and file.old_path != file.path and file.old_blob:
            old = find_lines(version, reader.version(file.old_path, file.old_blob))
            return Origin(old, file_moved=True) if old is not None else None
    return None


def _likely_sources(version: Version, files: Sequence[FileChange], reader: ElementReader) -> Iterator[FileChange]:
    """Yield the files that lost most of the element's lines, or its name, best first."""
    lines = Counter(line.strip() for line in version.text.splitlines() if len(line.strip()) > 2)
    name = version.element.name.encode("utf-8", "replace")
    base, ending = version.path.rpartition(b"/")[2], version.path.rpartition(b".")[2]
    olds = [
        file
        for file in files
        if file.old_blob and file.old_path != version.path and file.old_path.rpartition(b".")[2] == ending
    ]
    olds.sort(key=lambda file: (file.old_path.rpartition(b"/")[2] != base, file.blob != "", file.old_path))
    scored = []
    reader.expect([file.old_blob for file in olds[:_MAX_FILES]])
    for number, file in enumerate(olds[:_MAX_FILES]):
        data = reader.read(file.old_blob)
        if name not in data and not lines:
            continue
        shared = sum(count for line, count in lines.items() if line in data) / max(lines.total(), 1)
        score = shared + 0.5 * (name in data)
        if score >= _LEAST_SHARED:
            scored.append((-score, number, file))
    for _, _, file in sorted(scored, key=lambda entry: entry[:2])[:_MAX_PARSED]:
        yield file
