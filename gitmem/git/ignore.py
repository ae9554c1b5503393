"""`.gitmemignore`: files to leave out of the index, in the syntax and with the rules of `.gitignore`."""

from collections.abc import Mapping

from gitmem.patterns.pattern_table import GlobTable, NestedTables, uncached_folders
from gitmem.patterns.wildmatch import Glob, parse_ignore_line

IGNORE_FILE = b".gitmemignore"


class IgnoreRules:
    """Ignore files of one tree, each in force below its own folder."""

    def __init__(self, tables: dict[bytes, GlobTable]) -> None:
        self._tables = NestedTables(tables)
        self._folders: dict[bytes, bool | None] = {b"": None}

    @classmethod
    def load(cls, files: Mapping[bytes, bytes]) -> "IgnoreRules":
        """Build rules from a mapping of folder (`b""` for the root) to the content of its ignore file."""
        return cls({folder: GlobTable(parse_ignore_file(content)) for folder, content in files.items()})

    def matches(self, path: bytes) -> bool:
        """Return whether a file is to be left out."""
        return self.verdict(path) is True

    def verdict(self, path: bytes) -> bool | None:
        """Return True to leave a file out, False if a `!` pattern includes it or its folder, None if nothing matches.

        As in git, a `!` pattern cannot include a file below a folder that is left out.
        """
        if not self._tables:
            return None
        folder, _, name = path.rpartition(b"/")
        above = self._folder_verdict(folder)
        if above is True:
            return True
        own = self._last_match(path, folder, name, is_folder=False)
        return above if own is None else own

    def _folder_verdict(self, folder: bytes) -> bool | None:
        for below in uncached_folders(folder, self._folders):
            parent, _, name = below.rpartition(b"/")
            verdict = self._folders[parent]
            if verdict is not True:
                own = self._last_match(below, parent, name, is_folder=True)
                verdict = verdict if own is None else own
            self._folders[below] = verdict
        return self._folders[folder]

    def _last_match(self, path: bytes, folder: bytes, name: bytes, *, is_folder: bool) -> bool | None:
        """Return the verdict of the last matching pattern in the nearest file that has one; None without a match."""
        for offset, _, table in self._tables.chain(folder):
            matching = table.matching(path[offset:], name, folder=is_folder)
            glob = table.globs[matching[-1]] if matching else None
            if glob is not None:
                return not glob.negated
        return None


def parse_ignore_file(content: bytes) -> list[Glob | None]:
    """Compile the lines of an ignore file; None for comments, empty lines and malformed patterns."""
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    # git reads a line as a C string, so that it ends at a NUL byte.
    return [parse_ignore_line(line.removesuffix(b"\r").partition(b"\0")[0]) for line in lines]
