"""A tree under uncommitted changes equals the tree that a commit of them would give, entry by entry."""

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
from gitmem.git.working_files import HASHED_AT_ONCE, hash_files
from gitmem.indexing import uncommitted_views as uncommitted
from gitmem.indexing.overlay import Overlay
from gitmem.indexing.uncommitted_views import build_overlay
from gitmem.indexing.views import build_view, ensure_view
from gitmem.paths import IndexPaths
from gitmem.store.overlaid_view import OverlaidView
from gitmem.store.path_postings import PATH_FIELDS
from gitmem.store.uncommitted_ids import (
    EMPTY,
    KEEP_DAYS,
    FileStat,
    KnownFile,
    UncommittedFiles,
    read_uncommitted,
    write_uncommitted,
)
from gitmem.store.view_file import INDEXED, REASONS, View, ViewEntry, load_view
from tests.gitrepo import Repo

LIMIT = 1 << 20


class Place:
    """A repository with uncommitted changes, and an index folder outside it."""

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
        """Return the view of the tree that a commit of everything would give."""
        twin = Repo(self.repo.path.parent / "twin")
        shutil.rmtree(twin.path, ignore_errors=True)
        shutil.copytree(self.repo.path, twin.path, symlinks=True)
        twin.git("add", "--all")
        return self._view(twin)

    def in_index(self) -> View:
        """Return the view of the staged tree."""
        return self._view(self.repo)

    def _view(self, repo: Repo) -> View:
        tree = repo.git("write-tree")
        return load_view(Path("expected"), tree, build_view(locate(repo.path), tree))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def contents(view: View) -> list[tuple[bytes, str, str, str]]:
    """Return all facts of a view; the blobs of excluded paths do not matter."""
    assert view.paths == [view.path(entry) for entry in range(len(view))]
    reasons = [REASONS[code] for code in view.reasons.tolist()]
    return [
        (path, view.oid(entry) if reason == "indexed" else "", view.language(entry), reason)
        for entry, (path, reason) in enumerate(zip(view.paths, reasons, strict=True))
    ]


def postings(view: View) -> dict[tuple[str, bytes], list[int]]:
    """Return the entries of each term of the paths."""
    lists = {}
    for field in PATH_FIELDS:
        for term in view.load_postings(field).terms:
            entries = view.find_postings(field, term)
            if entries is not None:
                lists[field, term] = entries.tolist()
    return lists


def assert_same(actual: View, expected: View) -> None:
    assert contents(actual) == contents(expected)
    assert postings(actual) == postings(expected)
    assert actual.find_postings("stem", b"no-such-word") is None
    indexed = actual.reasons == INDEXED
    assert actual.keys[indexed].tolist() == expected.keys[indexed].tolist()


# -- overlaid views without a repository

_names = st.sampled_from([b"a.py", b"b.go", b"lib/a.py", b"lib/x/y.rs", b"z", b"\xff", b"lib.py"])
_entries = st.builds(
    lambda path, oid, language, reason: ViewEntry(path, bytes([oid]) * 20, "" if reason else language, reason),
    _names, st.integers(0, 9), st.sampled_from(["python", "go", ""]), st.sampled_from([0, 0, 0, 1, 4]),
)  # fmt: skip
_views = st.lists(_entries, unique_by=lambda entry: entry.path).map(sorted)


@settings(max_examples=150, deadline=None)
@given(base=_views, edits=st.dictionaries(_names, st.none() | _entries, max_size=7), many=st.booleans())
def test_a_view_under_edits_equals_the_view_of_the_edited_tree(
    base: list[ViewEntry], edits: dict[bytes, ViewEntry | None], many: bool
) -> None:
    placed = {path: entry and entry._replace(path=path) for path, entry in edits.items()}
    placed |= {b"absent/%d" % number: None for number in range(64 if many else 0)}
    merged = {**{entry.path: entry for entry in base}, **placed}
    expected = load_view(Path("expected"), "1" * 40, sorted(entry for entry in merged.values() if entry is not None))
    overlaid = OverlaidView.of(load_view(Path("base"), "1" * 40, base), placed)
    assert len(overlaid) == len(expected)
    assert overlaid.oids.tolist() == expected.oids.tolist()
    assert_same(overlaid, expected)
    overlaid.check()
    entries = range(len(expected))
    assert [overlaid.entry(entry) for entry in entries] == [expected.entry(entry) for entry in entries]
    shared = [entry for entry in entries if not expected.reasons[entry]]
    assert [overlaid.same_blob(entry) for entry in shared] == [expected.same_blob(entry) for entry in shared]


# -- overlays of a working tree

BASE: Mapping[str, str | bytes] = {
    "a.py": "a = 1\n", "lib/b.py": "b = 2\n", "lib/c.go": "package c\n", "build/out.js": "out()\n",
    "pkg/build/gen.js": "gen()\n", "docs/guide.md": "# Guide\n", "logo.png": b"\x89PNG", "Makefile": "all:\n",
}  # fmt: skip

Change = tuple[str, str, str]
_paths = st.sampled_from([*BASE, "new.py", "lib/new/deep.ts", "pkg/package.json", ".gitattributes",
                          "lib/.gitattributes", ".gitmemignore", "node_modules/x.js", "odd\n.py", "lib"])  # fmt: skip
_texts = st.sampled_from(["x = 1\n", "y\r\nz\r\n", "*.py linguist-vendored\n", "*.go text eol=crlf\n",
                          "c.go linguist-generated\n", "docs/\n", ""])  # fmt: skip
_actions = st.sampled_from(
    ["write", "write", "write", "remove", "stage", "unstage", "chmod", "link", "intend", "commit"]
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example(changes=[("link", "pkg/package.json", "")])
@example(changes=[("link", "lib/.gitattributes", ""), ("write", "a.py", "x = 1\n")])
@given(changes=st.lists(st.tuples(_actions, _paths, _texts), min_size=1, max_size=8))
def test_uncommitted_changes_look_as_if_committed(
    tmp_path_factory: pytest.TempPathFactory, changes: list[Change]
) -> None:
    place = Place(tmp_path_factory.mktemp("work"))
    place.repo.commit(BASE)
    for action, path, text in changes:
        apply(place.repo, action, path, text)
    assert_same(place.overlay().view, place.committed())
    assert_same(place.overlay(staged=True).view, place.in_index())


def apply(repo: Repo, action: str, path: str, text: str) -> None:
    target = repo.path / path
    if action in ("write", "link", "remove") and not target.is_dir() and (target.exists() or target.is_symlink()):
        target.unlink()
    if action in ("write", "link") and (target.is_dir() or any(above.is_file() for above in target.parents)):
        return
    if action == "write":
        repo.write({path: text})
    elif action == "link":
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to("/etc/passwd")
    elif action == "stage":
        repo.git("add", "--all", "--", *([path] if target.exists() else []))
    elif action == "unstage":
        repo.git("reset", "--quiet")
    elif action == "chmod" and target.is_file() and not target.is_symlink():
        target.chmod(0o755)
    elif action == "intend" and target.is_file():
        repo.git("add", "--intent-to-add", "--", path)
    elif action == "commit":
        repo.git("add", "--all")
        repo.git("commit", "--quiet", "--allow-empty", "-m", "more")


def test_before_the_first_commit_all_files_are_uncommitted(place: Place) -> None:
    place.repo.write(BASE)
    place.repo.git("add", "a.py")
    assert_same(place.overlay().view, place.committed())
    assert_same(place.overlay(staged=True).view, place.in_index())


def test_sha256_ids_are_supported(tmp_path: Path) -> None:
    place = Place(tmp_path)
    shutil.rmtree(place.repo.path)
    place.repo = Repo.init(tmp_path / "repo", "--object-format=sha256")
    place.repo.write(BASE)
    assert_same(place.overlay().view, place.committed())


def test_changes_are_reported_by_kind(place: Place) -> None:
    place.repo.commit(BASE)
    place.repo.write({"a.py": "a = 2\n", "lib/b.py": "b = 3\n", "new.py": "n\n", "logo.png": b"\x89P"})
    place.repo.git("add", "lib/b.py")
    assert place.overlay().changes == {
        b"a.py": MODIFIED,
        b"lib/b.py": STAGED,
        b"new.py": UNTRACKED,
        b"logo.png": MODIFIED,
    }


def record_hashed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return a list that receives the paths that git hashes from now on."""
    hashed: list[bytes] = []

    def recording(location: Any, paths: Any, **options: Any) -> Any:
        hashed.extend(paths)
        return hash_files(location, paths, **options)

    monkeypatch.setattr(uncommitted, "hash_files", recording)
    return hashed


def test_excluded_large_and_staged_files_are_not_hashed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.repo.commit(BASE)
    place.repo.write({"a.py": "a = 2\n", "logo.png": b"\x89P", "node_modules/x.js": "x\n", "big.py": "x" * (LIMIT + 1)})
    place.repo.write({"lib/b.py": "b = 3\n"})
    place.repo.git("add", "lib/b.py")
    hashed = record_hashed(monkeypatch)
    overlay = place.overlay()
    assert hashed == [b"a.py"]
    reasons = {path: reason for path, _, _, reason in contents(overlay.view)}
    assert (reasons[b"big.py"], reasons[b"logo.png"]) == ("large", "binary")
    assert b"big.py" in overlay.changes


def test_a_large_file_of_rules_counts_as_absent(place: Place) -> None:
    place.repo.commit(BASE)
    place.repo.write({".gitmemignore": "a.py\n" + "#" * LIMIT})
    overlay = place.overlay()
    assert b".gitmemignore" not in overlay.view.paths
    assert {path: reason for path, _, _, reason in contents(overlay.view)}[b"a.py"] == "indexed"


def test_links_are_not_followed_and_pipes_not_waited_for(place: Place, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("secret = 1\n")
    place.repo.commit(BASE)
    (place.repo.path / "new.py").symlink_to(tmp_path / "secret.py")
    (place.repo.path / "a.py").unlink()
    os.mkfifo(place.repo.path / "a.py")
    overlay = place.overlay()
    reasons = {path: reason for path, _, _, reason in contents(overlay.view)}
    assert reasons[b"new.py"] == "symlink"
    assert b"a.py" not in reasons
    assert overlay.files == {}


# -- known blob ids


def test_an_unchanged_file_is_hashed_once(place: Place, monkeypatch: pytest.MonkeyPatch, settled_files: None) -> None:
    place.repo.commit(BASE)
    place.repo.write({"a.py": "a = 2\n", "new.py": "n\n"})
    hashed = record_hashed(monkeypatch)
    first = place.overlay()
    assert sorted(hashed) == [b"a.py", b"new.py"]
    hashed.clear()
    second = place.overlay(first.uncommitted)
    assert hashed == []
    assert contents(second.view) == contents(first.view)
    place.repo.write({"a.py": "a = 3\n"})
    assert contents(place.overlay(second.uncommitted).view) == contents(place.committed())
    assert hashed == [b"a.py"]


def test_a_file_changed_within_a_clock_tick_is_hashed_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.repo.commit(BASE)
    place.repo.write({"a.py": "a = 2\n"})
    first = place.overlay()
    assert first.uncommitted is not None
    assert first.uncommitted.files[b"a.py"].stat is None, "it was written just now"
    hashed = record_hashed(monkeypatch)
    assert place.overlay(first.uncommitted).uncommitted == first.uncommitted
    assert hashed == [b"a.py"]


@pytest.mark.parametrize("how", ["size", "time", "another file"])
def test_any_difference_of_the_stat_data_is_detected(place: Place, settled_files: None, how: str) -> None:
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


def test_earlier_blobs_are_remembered_for_some_days() -> None:
    one, two = {b"a.py": KnownFile("1" * 40, None)}, {b"a.py": KnownFile("2" * 40, None)}
    record = UncommittedFiles(one, {}).updated(two, 100)
    assert record == UncommittedFiles(two, {"1" * 40: 100})
    assert record.updated(one, 101) == UncommittedFiles(one, {"2" * 40: 101})
    assert record.updated({}, 100 + KEEP_DAYS) == UncommittedFiles({}, {"2" * 40: 100 + KEEP_DAYS})
    assert record.updated(two, 500) is record


def test_known_ids_are_read_as_written_and_damage_only_loses_them(tmp_path: Path) -> None:
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
        assert read_uncommitted(place) in (EMPTY, record)  # the file ends with padding


# -- deadlines and unreadable files


def test_files_beyond_the_deadline_are_left_out_and_counted(place: Place) -> None:
    place.repo.commit(BASE)
    place.repo.write({f"new{number}.py": f"n = {number}\n" for number in range(HASHED_AT_ONCE + 3)})
    overlay = place.overlay(deadline=time.monotonic() - 1)
    assert overlay.unhashed == 3
    assert sum(path.startswith(b"new") for path in overlay.view.paths) == HASHED_AT_ONCE
    assert place.overlay(overlay.uncommitted).unhashed == 0


def test_a_file_deleted_while_it_is_examined_counts_as_deleted(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.repo.commit(BASE)
    place.repo.write({"a.py": "a = 2\n", "new.py": "n\n", "other.py": "o\n"})

    def hash_with_side_effect(location: Any, paths: Any, **options: Any) -> Any:
        (place.repo.path / "new.py").unlink(missing_ok=True)
        return hash_files(location, paths, **options)

    monkeypatch.setattr(uncommitted, "hash_files", hash_with_side_effect)
    overlay = place.overlay()
    assert_same(overlay.view, place.committed())
    assert (overlay.unhashed, list(overlay.unreadable)) == (0, [])


def test_an_unreadable_file_is_left_out_and_reported(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.repo.commit(BASE)
    place.repo.write({"a.py": "a = 2\n", "new.py": "n\n"})

    def hash_with_side_effect(location: Any, paths: Any, **options: Any) -> Any:
        # Simulated, because the tests may run as root, who can read everything.
        return {**hash_files(location, paths, **options), b"a.py": None}

    monkeypatch.setattr(uncommitted, "hash_files", hash_with_side_effect)
    overlay = place.overlay()
    assert list(overlay.unreadable) == [b"a.py"]
    assert b"a.py" not in overlay.view.paths
    assert b"new.py" in overlay.view.paths


# -- rules


def test_changed_rules_classify_the_whole_tree_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.repo.commit(BASE)
    place.repo.write({".gitattributes": "*.go linguist-vendored\n"})
    assert_same(place.overlay().view, place.committed())
    monkeypatch.setattr("gitmem.indexing.views.build_view", None)
    monkeypatch.setattr("gitmem.indexing.view_derivation.derive", None)
    place.repo.write({"a.py": "a = 2\n", "lib/b.py": "b = 3\n"})
    view = place.overlay().view
    monkeypatch.undo()
    assert_same(view, place.committed())


def test_without_keep_nothing_is_written(place: Place) -> None:
    place.repo.commit(BASE)
    place.overlay()
    before = sorted(place.paths.root.rglob("*"))
    place.repo.write({".gitattributes": "*.go linguist-vendored\n", "a.py": "a = 2\n"})
    assert_same(place.overlay(keep=False).view, place.committed())
    assert sorted(place.paths.root.rglob("*")) == before


def test_an_overlay_is_current_until_an_examined_file_changes(place: Place, request: pytest.FixtureRequest) -> None:
    place.repo.commit(BASE)
    place.repo.write({"a.py": "a = 2\n"})
    location = locate(place.repo.path)
    assert not place.overlay().is_current(location), "it was written just now"
    request.getfixturevalue("settled_files")
    overlay = place.overlay()
    assert overlay.is_current(location)
    place.repo.write({"a.py": "a = 4\n"})
    assert not overlay.is_current(location)
    (place.repo.path / "a.py").unlink()
    assert not overlay.is_current(location)
