"""Generated trees of files, and a simple model of the class of each path in a report."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import pygit2
from hypothesis import strategies as st

from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.refresh import RefreshSettings, refresh
from gitmem.workspace import Workspace
from tests.gitrepo import Repo
from tests.indexes import workspace_of

MAX_FILE_BYTES: Final = 2048
"""Size limit of the generated repositories; `LARGE` exceeds it."""

LARGE: Final = b"large = 1\n" * 300
LFS: Final = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 1\n"
LATE_NUL: Final = b"text = 1\n" * 200 + b"\0"
NO_TEXT: Final[Mapping[bytes, str]] = {
    LARGE: "large", LFS: "lfs", b"": "empty", b" \n\n": "empty", b"a\0b\n": "binary", LATE_NUL: "binary"
}  # fmt: skip
TEXTS: Final = (
    b"def sign_cookie(value):\n    return value\n",
    b"export function matchRoute(path) {\n  return path;\n}\n",
    b"package web\n\nfunc Route(path string) string {\n\treturn path\n}\n",
    b"fn route(path: &str) -> &str {\n    path\n}\n",
    b"class Route {\n    int match(int path) {\n        return path;\n    }\n}\n",
    b"# Notes\n\nRotate the signing key.\n",
    b"# a comment and nothing else\n",
    b"def broken(:\n    return }\n",
    "größer = 'ü'\n".encode(),
)
FOLDERS: Final = ("src", "a folder", "ünï", "c:d", "-x", "new\nline", "deep", "node_modules")
SUFFIXES: Final = (".py", ".js", ".go", ".rs", ".java", ".md", ".txt", ".unknown", "", ".png", ".min.js")
MODES: Final = (pygit2.enums.FileMode.BLOB, pygit2.enums.FileMode.BLOB_EXECUTABLE)


class File(NamedTuple):
    """One path of a tree."""

    mode: pygit2.enums.FileMode
    content: bytes


Tree = dict[str, File]


def regular(text: str) -> File:
    """Return a file that is not executable."""
    return File(pygit2.enums.FileMode.BLOB, text.encode())


names = st.builds("file{}{}".format, st.integers(0, 9), st.sampled_from(SUFFIXES))
paths = st.builds(
    lambda folders, name: "/".join([*folders, name]), st.lists(st.sampled_from(FOLDERS), max_size=3), names
)
files = st.one_of(
    st.builds(File, st.sampled_from(MODES), st.sampled_from(TEXTS)),
    st.builds(File, st.sampled_from(MODES), st.sampled_from(sorted(NO_TEXT))),
    st.just(File(pygit2.enums.FileMode.LINK, b"src/file1.py")),
    st.just(File(pygit2.enums.FileMode.COMMIT, b"")),
)
trees = st.dictionaries(paths, files, min_size=1, max_size=12)


def class_of(path: str, file: File) -> str:
    """Return the reason why a path is not indexed, or `indexed`."""
    if file.mode == pygit2.enums.FileMode.LINK:
        return "symlink"
    if file.mode == pygit2.enums.FileMode.COMMIT:
        return "submodule"
    if "node_modules" in path.split("/")[:-1]:
        return "vendored"
    if path.endswith(".min.js"):
        return "generated"
    if path.endswith(".png"):
        return "binary"
    return NO_TEXT.get(file.content, "indexed")


def count_classes(tree: Tree) -> Counter[str]:
    """Count the paths of a tree by class."""
    return Counter(class_of(path, file) for path, file in tree.items())


@dataclass(slots=True)
class Writer:
    """Repository that gets trees without a working tree, without a process for each file, and is opened only once."""

    repo: Repo
    objects: pygit2.Repository
    workspace: Workspace

    @classmethod
    def create(cls, repo: Repo) -> "Writer":
        """Set the size limit of a new repository and open it."""
        repo.git("config", "gitmem.maxFileBytes", str(MAX_FILE_BYTES))
        return cls(repo, pygit2.Repository(str(repo.path)), workspace_of(repo))

    def commit(self, tree: Tree) -> str:
        """Commit a tree to the branch; return the id of the tree."""
        index = pygit2.Index()
        empty = self.objects.create_blob(b"")
        for path, file in tree.items():
            submodule = file.mode == pygit2.enums.FileMode.COMMIT
            oid = empty if submodule else self.objects.create_blob(file.content)
            index.add(pygit2.IndexEntry(path, oid, file.mode))
        tree_id = index.write_tree(self.objects)
        author = pygit2.Signature("A Person", "person@example.invalid", 1_700_000_000, 0)
        parents = [] if self.objects.head_is_unborn else [self.objects.head.target]
        commit = self.objects.create_commit("refs/heads/main", author, author, "change", tree_id, parents)
        location = self.workspace.location._replace(head_commit=str(commit), head_tree=str(tree_id))
        self.workspace = self.workspace._replace(location=location)
        return str(tree_id)

    def index(self, *, list_files: bool = False, full: bool = False) -> IndexReport:
        """Index the last tree, as `gitmem index` does, with `list_files` as with `--verbose`."""
        settings = RefreshSettings(list_files=list_files, full=full)
        return refresh(self.workspace, self.workspace.location.head_tree, settings)

    def list_files(self) -> dict[str, str]:
        """Return the blob of each regular file of the last tree, read from git's objects."""
        tree = self.workspace.location.head_tree
        assert tree is not None
        entries = pygit2.Index()
        entries.read_tree(self.objects[tree].peel(pygit2.Tree))
        return {entry.path: str(entry.id) for entry in entries if entry.mode in MODES}
