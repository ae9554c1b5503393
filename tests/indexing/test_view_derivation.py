"""A view derived from another one equals the view built from scratch, as one file byte for byte."""

from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.git.locate import RepositoryLocation, locate
from gitmem.git.trees import GITLINK, SYMLINK
from gitmem.indexing import views
from gitmem.indexing.fingerprint import view_key
from gitmem.indexing.views import build_view, ensure_view
from gitmem.paths import IndexPaths
from gitmem.store import stored_view
from gitmem.store.path_postings import PATH_FIELDS
from gitmem.store.stored_view import write_view
from gitmem.store.view_file import View, ViewColumns, view_parts
from tests.gitrepo import Repo

PATHS = (b"a.py", b"src/a.py", b"src/user_names.go", b"src/deep/HTTPServer.tsx", b"src", b"docs/guide.md", b"Makefile",
    b"build/out.js", b"pkg/build/out.js", b"pkg/dist", b"pkg/package.json", b"pkg/CMakeLists.txt", b"node_modules/x.js",
    b".gitattributes", b"src/.gitattributes", b".gitmemignore", b"x.min.js", b"logo.png",
    b"\xff\xfe.py", "naïve/größe.rs".encode())  # fmt: skip
CONTENTS = ("one\n", "two\n", "*.py linguist-generated\n", "src linguist-language=C\nout.js -linguist-generated\n")
MODES = (0o100644, 0o100755, SYMLINK, GITLINK)
COMMIT = "1" * 40


class File(NamedTuple):
    """Mode and content of a path."""

    mode: int
    content: int


def whole_file(view: View) -> bytes:
    """Return a view as one file, its postings included."""
    postings = {field: view.load_postings(field) for field in PATH_FIELDS}
    return b"".join(view_parts(view.tree, view.columns(), postings))


class Place(NamedTuple):
    """A repository and an index folder outside it."""

    repo: Repo
    paths: IndexPaths
    blobs: list[str]

    def tree(self, files: dict[bytes, File]) -> str:
        """Write a tree; paths below a file are left out."""
        possible = {path for path in files if not any(path.startswith(other + b"/") for other in files)}
        lines = [b"%06o %s\t%s\0" % (files[path].mode, self._oid(files[path]), path) for path in sorted(possible)]
        self.repo.git("read-tree", "--empty")
        self.repo.git("update-index", "-z", "--index-info", stdin=b"".join(lines))
        return self.repo.git("write-tree")

    def _oid(self, file: File) -> bytes:
        return (COMMIT if file.mode == GITLINK else self.blobs[file.content]).encode()

    def derived(self, old: str, new: str) -> bytes:
        """Return a tree's view, derived from that of another tree, as one file."""
        location = locate(self.repo.path)
        ensure_view(location, self.paths, old)
        return whole_file(ensure_view(location, self.paths, new, base=view_key(old)))

    def from_scratch(self, tree: str) -> bytes:
        """Return the expected file of a tree's view."""
        return b"".join(view_parts(tree, build_view(locate(self.repo.path), tree)))


def make_place(folder: Path) -> Place:
    repo = Repo.init(folder / "repo")
    paths = IndexPaths(folder / "index")
    paths.views.mkdir(parents=True)
    return Place(repo, paths, [repo.git("hash-object", "-w", "--stdin", stdin=text.encode()) for text in CONTENTS])


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


files = st.builds(File, st.sampled_from(MODES) | st.just(MODES[0]), st.integers(0, len(CONTENTS) - 1))
trees = st.dictionaries(st.sampled_from(PATHS), files, max_size=len(PATHS))
changes = st.dictionaries(st.sampled_from(PATHS), st.none() | files, max_size=4)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(start=trees, steps=st.lists(changes, min_size=1, max_size=4), most=st.sampled_from([0, 2, 5, 512]))
def test_a_derived_view_equals_the_view_built_from_scratch(
    tmp_path_factory: pytest.TempPathFactory,
    start: dict[bytes, File],
    steps: list[dict[bytes, File | None]],
    most: int,
) -> None:
    place = make_place(tmp_path_factory.mktemp("derived"))
    files, old = start, place.tree(start)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_view, "MIN_EDITS", most)
        for step in steps:
            merged = {**files, **step}
            files = {path: file for path, file in merged.items() if file is not None}
            new = place.tree(files)
            assert place.derived(old, new) == place.from_scratch(new)
            old = new


def count_builds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    built: list[str] = []
    build = views.build_view

    def counted(location: RepositoryLocation, tree: str) -> ViewColumns:
        built.append(tree)
        return build(location, tree)

    monkeypatch.setattr(views, "build_view", counted)
    return built


PLAIN = {path: File(MODES[0], 0) for path in (b"a.py", b"src/a.py", b"pkg/package.json", b".gitattributes")}


@pytest.mark.parametrize("change", [
    {b"a.py": File(MODES[0], 1)},
    {b"new/b.py": File(MODES[0], 0)},
    {b"a.py": File(SYMLINK, 0)},
    {b"pkg/package.json": File(MODES[0], 1)},
    {b".gitattributes": File(MODES[0], 2)},
    {b"src/.gitmemignore": File(MODES[0], 0)},
    {b"src/Cargo.toml": File(MODES[0], 0)},
])  # fmt: skip
def test_changed_files_are_merged_into_the_old_view(
    place: Place, monkeypatch: pytest.MonkeyPatch, change: dict[bytes, File]
) -> None:
    old, new = place.tree(PLAIN), place.tree(PLAIN | change)
    built = count_builds(monkeypatch)
    assert place.derived(old, new) == place.from_scratch(new)
    assert built == [old]


@pytest.mark.parametrize("spoil", ["missing", "damaged", "other rules", "tree gone"])
def test_an_unusable_base_view_is_ignored(place: Place, spoil: str) -> None:
    old, new = place.tree(PLAIN), place.tree(PLAIN | {b"a.py": File(MODES[0], 1)})
    location = locate(place.repo.path)
    ensure_view(location, place.paths, old)
    base = place.paths.view(view_key(old))
    if spoil == "missing":
        base.unlink()
    elif spoil == "damaged":
        base.write_bytes(base.read_bytes()[:-400] + b"x" * 400)
    elif spoil == "other rules":
        base = base.rename(base.with_name("0" * 40))
    else:
        write_view(place.paths.view(view_key("2" * 40)), "2" * 40, [])
        base = place.paths.view(view_key("2" * 40))
    ensure_view(location, place.paths, new, base=base.name)
    assert whole_file(ensure_view(location, place.paths, new)) == place.from_scratch(new)
