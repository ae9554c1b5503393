"""`.gitmemignore`: what the person does not want to find, in the syntax and with the rules of `.gitignore`."""

from collections.abc import Mapping

from gitmem.git.pattern_table import GlobTable, NestedTables, unknown_folders
from gitmem.git.wildmatch import Glob, parse_glob

IGNORE_FILE = b".gitmemignore"


class IgnoreRules:
    """The ignore files of one tree, each valid below the folder it stands in."""

    def __init__(self, tables: dict[bytes, GlobTable]) -> None:
        self._tables = NestedTables(tables)
        self._folders: dict[bytes, bool | None] = {b"": None}

    @classmethod
    def load(cls, files: Mapping[bytes, bytes]) -> "IgnoreRules":
        """Build rules from folder (`b""` for the root) to content of its ignore file."""
        return cls({folder: GlobTable(parse_ignore_file(content)) for folder, content in files.items()})

    def matches(self, path: bytes) -> bool:
        """Whether a file is to be left out."""
        return self.verdict(path) is True

    def verdict(self, path: bytes) -> bool | None:
        """True to leave a file out, False where a `!` pattern asks for it (or its folder), None where nothing does.

        As in git, a file below a folder that is left out cannot be asked for again.
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
        for below in unknown_folders(folder, self._folders):
            parent, _, name = below.rpartition(b"/")
            verdict = self._folders[parent]
            if verdict is not True:
                own = self._last_match(below, parent, name, is_folder=True)
                verdict = verdict if own is None else own
            self._folders[below] = verdict
        return self._folders[folder]

    def _last_match(self, path: bytes, folder: bytes, name: bytes, *, is_folder: bool) -> bool | None:
        for offset, _, table in self._tables.chain(folder):
            found = table.matching(path[offset:], name, folder=is_folder)
            glob = table.globs[found[-1]] if found else None
            if glob is not None:
                return not glob.negated
        return None


def parse_ignore_file(content: bytes) -> list[Glob | None]:
    """Compile the lines of an ignore file; comments, empty lines and broken patterns fall away."""
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    stripped = (line.removesuffix(b"\r").partition(b"\0")[0] for line in lines)
    return [parse_glob(_without_trailing_spaces(line)) for line in stripped if line and not line.startswith(b"#")]


def _without_trailing_spaces(line: bytes) -> bytes:
    """Spaces at the end do not count unless a backslash stands before them."""
    bare = line.rstrip(b" ")
    backslashes = len(bare) - len(bare.rstrip(b"\\"))
    return bare + b" " if backslashes % 2 and len(bare) < len(line) else bare
