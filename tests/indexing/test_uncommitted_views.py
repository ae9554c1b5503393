"""A tree under uncommitted work is the tree that committing it would give, entry by entry."""

import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gitmem.git.locate import locate
from gitmem.git.status import MODIFIED, STAGED, UNTRACKED, read_staged, read_status
from gitmem.git.trees import empty_tree
from gitmem.git.working_files import hash_files
from gitmem.indexing import uncommitted_views as uncommitted
from gitmem.indexing.overlaid_view import OverlaidView
from gitmem.indexing.overlay import Overlay
from gitmem.indexing.uncommitted_views import build_overlay
from gitmem.indexing.views import build_view, ensure_view
from gitmem.paths import IndexPaths
from gitmem.store.uncommitted_ids import (
    EMPTY,
    KEEP_DAYS,
    FileStat,
    KnownFile,
    UncommittedFiles,
    read_uncommitted,
    write_uncommitted,
)
from gitmem.store.view_file import INDEXED, PATH_FIELDS, REASONS, View, ViewEntry, load_view
from tests.gitrepo import Repo

LIMIT = 1 << 20


class Place:
    """A repository with uncommitted work, and an index folder elsewhere."""

    def __init__(self, folder: Path) -> None:
        self.repo = Repo.init(folder / "repo")
        self.paths = IndexPaths(folder / "index")
        self.paths.views.mkdir(parents=True)

    def overlay(self, known: UncommittedFiles | None = EMPTY, *, staged: bool = False, **options: Any) -> Overlay:
        location = locate(self.repo.path)
        base = ensure_view(location, self.paths, location.head_tree or empty_tree(location))
        entries = read_staged(location) if staged else read_status(location).entries
        assert known is not None
        return build_overlay(location, self.paths, base, entries, known, **{"max_bytes": LIMIT, **options})

    def committed(self) -> View:
        """The view of the tree that committing everything would give."""
        twin = Repo(self.repo.path.parent / "twin")
        shutil.rmtree(twin.path, ignore_errors=True)
        shutil.copytree(self.repo.path, twin.path, symlinks=True)
        twin.git("add", "--all")
        return self._view(twin)

    def in_index(self) -> View:
        """The view of the tree that is staged."""
        return self._view(self.repo)

    def _view(self, repo: Repo) -> View:
        tree = repo.git("write-tree")
        return load_view(Path("wanted"), tree, build_view(locate(repo.path), tree))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def contents(view: View) -> list[tuple[bytes, str, str, str]]:
    """Everything a view says; of what is left out the blob does not matter."""
    assert view.paths == [view.path(entry) for entry in range(len(view))]
    reasons = [REASONS[code] for code in view.reasons.tolist()]
    return [
        (path, view.oid(entry) if reason == "indexed" else "", view.language(entry), reason)
        for entry, (path, reason) in enumerate(zip(view.paths, reasons, strict=True))
    ]


def words(view: View) -> dict[tuple[str, bytes], list[int]]:
    """Where each word of the paths stands."""
    found = {}
    for field in PATH_FIELDS:
        for term in view.load_postings(field).terms:
            entries = view.find_postings(field, term)
            if entries is not None:
                found[field, term] = entries.tolist()
    return found


def assert_same(made: View, wanted: View) -> None:
    assert contents(made) == contents(wanted)
    assert words(made) == words(wanted)
    assert made.find_postings("stem", b"no-such-word") is None
    indexed = made.reasons == INDEXED
    assert made.keys[indexed].tolist() == wanted.keys[indexed].tolist()


# -- the view alone

_names = st.sampled_from([b"a.py", b"b.go", b"lib/a.py", b"lib/x/y.rs", b"z", b"\xff", b"lib.py"])
_entries = st.builds(
    lambda path, oid, language, reason: ViewEntry(path, bytes([oid]) * 20, "" if reason else language, reason),
    _names, st.integers(0, 9), st.sampled_from(["python", "go", ""]), st.sampled_from([0, 0, 0, 1, 4]),
)  # fmt: skip
_views = st.lists(_entries, unique_by=lambda entry: entry.path).map(sorted)


@settings(max_examples=150, deadline=None)
@given(base=_views, edits=st.dictionaries(_names, st.none() | _entries, max_size=7), many=st.booleans())
def test_a_view_under_edits_is_the_view_of_what_is_left(
    base: list[ViewEntry], edits: dict[bytes, ViewEntry | None], many: bool
) -> None:
    placed = {path: entry and entry._replace(path=path) for path, entry in edits.items()}
    merged = {**{entry.path: entry for entry in base}, **placed}
    wanted = load_view(Path("wanted"), "1" * 40, sorted(entry for entry in merged.values() if entry is not None))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gitmem.indexing.overlaid_view._MANY_EDITS", 0 if many else 100)
        made = OverlaidView(load_view(Path("base"), "1" * 40, base), placed)
        assert len(made) == len(wanted)
        assert made.oids.tolist() == wanted.oids.tolist()
        assert_same(made, wanted)
        made.check()


# -- of a real working tree

BASE: Mapping[str, str | bytes] = {
    "a.py": "a = 1\n", "lib/b.py": "b = 2\n", "lib/c.go": "package c\n", "build/out.js": "out()\n",
    "pkg/build/gen.js": "gen()\n", "docs/guide.md": "# Guide\n", "logo.png": b"\x89PNG", "Makefile": "all:\n",
}  # fmt: skip

Change = tuple[str, str, str]
_paths = st.sampled_from([*BASE, "new.py", "lib/new/deep.ts", "pkg/package.json", ".gitattributes",
                          "lib/.gitattributes", ".gitmemignore", "node_modules/x.js", "odd\n.py", "lib"])  # fmt: skip
_texts = st.sampled_from(["x = 1\n", "y\r\nz\r\n", "*.py linguist-vendored\n", "*.go text eol=crlf\n",
                          "c.go linguist-language=C\n", "docs/\n", ""])  # fmt: skip
_what = st.sampled_from(["write", "write", "write", "remove", "stage", "unstage", "chmod", "link", "intend", "commit"])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example(changes=[("link", "pkg/package.json", "")])
@example(changes=[("link", "lib/.gitattributes", ""), ("write", "a.py", "x = 1\n")])
@given(changes=st.lists(st.tuples(_what, _paths, _texts), min_size=1, max_size=8))
def test_any_uncommitted_work_is_seen_as_it_would_be_committed(
    tmp_path_factory: pytest.TempPathFactory, changes: list[Change]
) -> None:
    place = Place(tmp_path_factory.mktemp("work"))
    place.repo.commit(BASE)
    for what, path, text in changes:
        apply(place.repo, what, path, text)
    assert_same(place.overlay().view, place.committed())
    assert_same(place.overlay(staged=True).view, place.in_index())


def apply(repo: Repo, what: str, path: str, text: str) -> None:
    target = repo.path / path
    if what in ("write", "link", "remove") and not target.is_dir() and (target.exists() or target.is_symlink()):
        target.unlink()
    if what in ("write", "link") and (target.is_dir() or any(above.is_file() for above in target.parents)):
        return
    if what == "write":
        repo.write({path: text})
    elif what == "link":
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to("/etc/passwd")
    elif what == "stage":
        repo.git("add", "--all", "--", *([path] if target.exists() else []))
    elif what == "unstage":
        repo.git("reset", "--quiet")
    elif what == "chmod" and target.is_file() and not target.is_symlink():
        target.chmod(0o755)
    elif what == "intend" and target.is_file():
        repo.git("add", "--intent-to-add", "--", path)
    elif what == "commit":
        repo.git("add", "--all")
        repo.git("commit", "--quiet", "--allow-empty", "-m", "more")


def test_before_the_first_commit_the_files_are_all_there_is(place: Place) -> None:
    place.repo.write(BASE)
    place.repo.git("add", "a.py")
    assert_same(place.overlay().view, place.committed())
    assert_same(place.overlay(staged=True).view, place.in_index())


def test_the_ids_may_be_sha256(tmp_path: Path) -> None:
    place = Place(tmp_path)
    shutil.rmtree(place.repo.path)
    place.repo = Repo.init(tmp_path / "repo", "--object-format=sha256")
    place.repo.write(BASE)
    assert_same(place.overlay().view, place.committed())


def test_changes_are_named(place: Place) -> None:
    place.repo.commit(BASE)
    place.repo.write({"a.py": "a = 2\n", "lib/b.py": "b = 3\n", "new.py": "n\n", "logo.png": b"\x89P"})
    place.repo.git("add", "lib/b.py")
    assert place.overlay().changes == {
        b"a.py": MODIFIED,
        b"lib/b.py": STAGED,
        b"new.py": UNTRACKED,
        b"logo.png": MODIFIED,
    }


def hashed_by(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The paths that git is asked to hash from now on."""
    asked: list[bytes] = []

    def spied(location: Any, paths: Any, **options: Any) -> Any:
        asked.extend(paths)
        return hash_files(location, paths, **options)

    monkeypatch.setattr(uncommitted, "hash_files", spied)
    return asked


def test_what_is_left_out_or_known_is_not_hashed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.repo.commit(BASE)
    place.repo.write({"a.py": "a = 2\n", "logo.png": b"\x89P", "node_modules/x.js": "x\n", "big.py": "x" * (LIMIT + 1)})
    place.repo.write({"lib/b.py": "b = 3\n"})
    place.repo.git("add", "lib/b.py")
    asked = hashed_by(monkeypatch)
    made = place.overlay()
    assert asked == [b"a.py"]
    assert b"big.py" not in made.view.paths
    assert b"big.py" in made.changes


def test_links_and_pipes_are_neither_followed_nor_waited_for(place: Place, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("secret = 1\n")
    place.repo.commit(BASE)
    (place.repo.path / "new.py").symlink_to(tmp_path / "secret.py")
    (place.repo.path / "a.py").unlink()
    os.mkfifo(place.repo.path / "a.py")
    made = place.overlay()
    told = {path: reason for path, _, _, reason in contents(made.view)}
    assert told[b"new.py"] == "symlink"
    assert b"a.py" not in told
    assert made.files == {}


# -- what is remembered


def test_a_file_that_has_not_changed_is_hashed_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uncommitted, "_SETTLED_NS", -(10**18))
    place.repo.commit(BASE)
    place.repo.write({"a.py": "a = 2\n", "new.py": "n\n"})
    asked = hashed_by(monkeypatch)
    first = place.overlay()
    assert sorted(asked) == [b"a.py", b"new.py"]
    asked.clear()
    second = place.overlay(first.uncommitted)
    assert asked == []
    assert contents(second.view) == contents(first.view)
    place.repo.write({"a.py": "a = 3\n"})
    assert contents(place.overlay(second.uncommitted).view) == contents(place.committed())
    assert asked == [b"a.py"]


def test_a_file_that_may_change_without_a_sign_is_hashed_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.repo.commit(BASE)
    place.repo.write({"a.py": "a = 2\n"})
    first = place.overlay()
    assert first.uncommitted is not None
    assert first.uncommitted.files[b"a.py"].stat is None, "it was written just now"
    asked = hashed_by(monkeypatch)
    assert place.overlay(first.uncommitted).uncommitted == first.uncommitted
    assert asked == [b"a.py"]


@pytest.mark.parametrize("how", ["size", "time", "another file"])
def test_any_sign_of_a_change_is_enough(place: Place, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setattr(uncommitted, "_SETTLED_NS", -(10**18))
    place.repo.commit(BASE)
    file = place.repo.path / "a.py"
    file.write_text("a = 2\n")
    first, before = place.overlay(), file.stat()
    if how == "another file":
        file.with_name("other").write_text("a = 3\n")
        file.with_name("other").replace(file)
    else:
        file.write_text("a = 3\n" if how == "time" else "a = 33\n")
    if how != "time":
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert contents(place.overlay(first.uncommitted).view) == contents(place.committed())


def test_blobs_that_were_here_before_are_remembered_for_a_while() -> None:
    one, two = {b"a.py": KnownFile("1" * 40, None)}, {b"a.py": KnownFile("2" * 40, None)}
    record = UncommittedFiles(one, {}).updated(two, 100)
    assert record == UncommittedFiles(two, {"1" * 40: 100})
    assert record.updated(one, 101) == UncommittedFiles(one, {"2" * 40: 101})
    assert record.updated({}, 100 + KEEP_DAYS) == UncommittedFiles({}, {"2" * 40: 100 + KEEP_DAYS})
    assert record.updated(two, 500) is record


def test_a_record_is_read_as_it_was_written_and_damage_costs_it_alone(tmp_path: Path) -> None:
    place = tmp_path / "record"
    record = UncommittedFiles({b"\xff\n.py": KnownFile("1" * 40, FileStat(1, 2**62, -5, 2**63, 33188)),
                     b"b": KnownFile("2" * 64, None)}, {"3" * 40: 20_000})  # fmt: skip
    assert read_uncommitted(place) == EMPTY
    write_uncommitted(place, record)
    assert read_uncommitted(place) == record
    whole = place.read_bytes()
    for at in range(0, len(whole), 3):
        place.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert read_uncommitted(place) in (EMPTY, record)
        place.write_bytes(whole[:at])
        assert read_uncommitted(place) in (EMPTY, record)  # the file ends in filling


# -- in time


def test_files_there_is_no_time_for_are_left_out_and_counted(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitmem.git.working_files._HASHED_AT_ONCE", 2)
    place.repo.commit(BASE)
    place.repo.write({f"new{number}.py": f"n = {number}\n" for number in range(5)})
    made = place.overlay(deadline=time.monotonic() - 1)
    assert made.unhashed == 3
    assert sum(path.startswith(b"new") for path in made.view.paths) == 2
    assert place.overlay(made.uncommitted).unhashed == 0


def test_a_file_that_goes_while_it_is_looked_at_is_gone(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.repo.commit(BASE)
    place.repo.write({"a.py": "a = 2\n", "new.py": "n\n", "other.py": "o\n"})

    def spied(location: Any, paths: Any, **options: Any) -> Any:
        (place.repo.path / "new.py").unlink(missing_ok=True)
        return hash_files(location, paths, **options)

    monkeypatch.setattr(uncommitted, "hash_files", spied)
    made = place.overlay()
    assert_same(made.view, place.committed())
    assert (made.unhashed, list(made.unreadable)) == (0, [])


def test_a_file_that_cannot_be_read_is_left_out_and_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.repo.commit(BASE)
    place.repo.write({"a.py": "a = 2\n", "new.py": "n\n"})

    def spied(location: Any, paths: Any, **options: Any) -> Any:
        return {
            **hash_files(location, paths, **options),
            b"a.py": None,
        }  # the tests may run as root, who reads everything

    monkeypatch.setattr(uncommitted, "hash_files", spied)
    made = place.overlay()
    assert list(made.unreadable) == [b"a.py"]
    assert b"a.py" not in made.view.paths
    assert b"new.py" in made.view.paths


# -- rules


def test_the_whole_tree_is_judged_once_for_a_change_of_the_rules(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.repo.commit(BASE)
    place.repo.write({".gitattributes": "*.go linguist-vendored\n"})
    assert_same(place.overlay().view, place.committed())
    monkeypatch.setattr("gitmem.indexing.views.build_view", None)
    monkeypatch.setattr("gitmem.indexing.views.read_tree", None)
    place.repo.write({"a.py": "a = 2\n", "lib/b.py": "b = 3\n"})
    made = place.overlay().view
    monkeypatch.undo()
    assert_same(made, place.committed())


def test_nothing_is_written_where_nothing_may_be(place: Place) -> None:
    place.repo.commit(BASE)
    place.overlay()
    before = sorted(place.paths.root.rglob("*"))
    place.repo.write({".gitattributes": "*.go linguist-vendored\n", "a.py": "a = 2\n"})
    assert_same(place.overlay(keep=False).view, place.committed())
    assert sorted(place.paths.root.rglob("*")) == before


def test_whether_anything_changed_since_is_told_by_a_look(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.repo.commit(BASE)
    place.repo.write({"a.py": "a = 2\n"})
    location = locate(place.repo.path)
    assert not place.overlay().is_current(location), "it was written just now"
    monkeypatch.setattr(uncommitted, "_SETTLED_NS", -(10**18))
    made = place.overlay()
    assert made.is_current(location)
    place.repo.write({"a.py": "a = 4\n"})
    assert not made.is_current(location)
    (place.repo.path / "a.py").unlink()
    assert not made.is_current(location)
