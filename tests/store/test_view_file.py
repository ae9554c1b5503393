"""Views: round trips of paths of any bytes, search by name, and matching of keys."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import DamagedFile
from gitmem.paths import BASE_SUFFIX
from gitmem.store.format import Buffer, Container, build_container
from gitmem.store.keys import blob_keys, match_keys
from gitmem.store.stored_view import find_view, write_view
from gitmem.store.view_file import MAGIC, REASONS, ViewEntry, load_view, view_contents, view_parts
from gitmem.words import count_identifiers, terms_of

many = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
paths = st.one_of(
    st.binary(min_size=1, max_size=30).filter(lambda path: b"\0" not in path),
    st.lists(
        st.sampled_from(["src", "getUser.py", "old_name.tar.gz", ".hidden", "ü.go", "-x"]), min_size=1, max_size=4
    ).map(lambda parts: "/".join(parts).encode()),
)
entries = st.lists(
    st.builds(
        ViewEntry,
        path=paths,
        oid=st.binary(min_size=20, max_size=20),
        language=st.sampled_from(["", "python", "go", "日本語"]),
        reason=st.integers(0, len(REASONS) - 1),
    ),
    max_size=12,
    unique_by=lambda entry: entry.path,
).map(sorted)


@many
@given(entries=entries)
def test_a_view_survives_a_round_trip(tmp_path: Path, entries: list[ViewEntry]) -> None:
    """Property 9: Storage round trip."""
    write_view(tmp_path / "view", "tree", entries)
    view = find_view(tmp_path / "view")
    assert view is not None
    view.check()
    actual = [
        ViewEntry(view.path(place), bytes.fromhex(view.oid(place)), view.language(place), int(view.reasons[place]))
        for place in range(len(view))
    ]
    assert (view.tree, actual, view.paths) == ("tree", entries, [entry.path for entry in entries])


def test_a_view_with_more_languages_than_codes_is_damaged(tmp_path: Path) -> None:
    """Its codes and those of its edits would not fit into two bytes."""
    write_view(tmp_path / "view", "tree", [ViewEntry(b"a.py", bytes(20), "python", 0)])
    base = tmp_path / f"view{BASE_SUFFIX}"
    opened = Container(base, MAGIC, base.read_bytes())
    names = view_contents("tree", [])[1]
    sections: dict[str, Buffer] = {name: bytes(opened[name].all()) for name in names}
    fields = {**opened.fields, "languages": ["python"] * 70_000}
    base.write_bytes(b"".join(bytes(part) for part in build_container(MAGIC, fields, sections)))
    with pytest.raises(DamagedFile, match="too many languages"):
        find_view(tmp_path / "view")


@many
@given(entries=entries)
def test_every_word_of_an_indexed_path_is_found(entries: list[ViewEntry]) -> None:
    view = load_view(Path("view"), "tree", entries)
    for field in ("stem", "folder"):
        places_by_word: dict[bytes, list[int]] = {}
        for place, entry in enumerate(entries):
            folder, _, name = entry.path.rpartition(b"/")
            text = (name.split(b".")[0] or name) if field == "stem" else folder
            if entry.reason == 0:
                for identifier in count_identifiers(text.decode("utf-8", "replace")).identifiers:
                    for term in terms_of(identifier):
                        places_by_word.setdefault(term.encode(), []).append(place)
        for word, places in places_by_word.items():
            postings = view.find_postings(field, word)
            assert postings is not None
            assert postings.tolist() == sorted(set(places))
        assert view.find_postings(field, b"no such word") is None


def test_the_same_entries_give_the_same_bytes_with_ids_of_both_lengths() -> None:
    for width in (20, 32):
        entries = [ViewEntry(b"a.py", bytes(range(width)), "python", 0)]
        assert b"".join(view_parts("t", entries)) == b"".join(view_parts("t", list(entries)))
        assert load_view(Path("view"), "t", entries).oid(0) == bytes(range(width)).hex()


@many
@given(
    keys=st.lists(st.integers(0, 40), max_size=30),
    table=st.lists(st.integers(0, 40), max_size=30),
)
def test_a_key_is_matched_to_its_last_occurrence(keys: list[int], table: list[int]) -> None:
    expected = [max((place for place, key in enumerate(table) if key == target), default=-1) for target in keys]
    assert match_keys(np.array(keys, np.uint64), np.array(table, np.uint64)).tolist() == expected


def test_one_blob_in_two_languages_has_two_keys() -> None:
    oids = np.tile(np.arange(20, dtype=np.uint8), (3, 1))
    keys = blob_keys(oids, np.array([0, 1, 0], np.uint16), ["go", "python"])
    assert keys[0] != keys[1]
    assert keys[0] == keys[2]
    reordered = blob_keys(oids, np.array([1, 0, 1], np.uint16), ["python", "go"])
    assert keys.tolist() == reordered.tolist()
