"""Manifest: round trips, and rejection of names that lead outside the index."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import DamagedFile
from gitmem.store.format import build_container
from gitmem.store.manifest import MAGIC, MAX_TREES, Manifest, SegmentEntry, find_manifest, write_manifest

many = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
sizes = st.integers(0, 2**40)
entries = st.builds(
    SegmentEntry, st.text("0123456789abcdef", min_size=40, max_size=40), sizes, sizes, sizes, sizes, sizes
)
manifests = st.builds(
    Manifest,
    fingerprint=st.text(max_size=40),
    generation=sizes,
    segments=st.lists(entries, max_size=5).map(tuple),
    views=st.lists(st.text("0123456789abcdef", min_size=40, max_size=40), max_size=5).map(tuple),
    complete=st.booleans(),
    graph=st.sampled_from(["", "ab" * 20]),
)
GOOD: dict[str, Any] = {
    "fingerprint": "1", "generation": 1, "complete": True, "graph": "", "views": [], "segments": [["a" * 40, 1, 1, 1]],
}  # fmt: skip


def write_fields(path: Path, fields: dict[str, Any]) -> None:
    path.write_bytes(b"".join(build_container(MAGIC, fields, {})))


@many
@given(manifest=manifests)
def test_a_manifest_survives_a_round_trip(tmp_path: Path, manifest: Manifest) -> None:
    """Property 9: Storage round trip."""
    write_manifest(tmp_path / "manifest", manifest)
    assert find_manifest(tmp_path / "manifest") == manifest


def test_the_fields_used_below_form_a_valid_manifest(tmp_path: Path) -> None:
    write_fields(tmp_path / "manifest", GOOD)
    assert find_manifest(tmp_path / "manifest") is not None


@pytest.mark.parametrize(
    "change",
    [
        {"segments": [["../../../../../../../../../../../etc/pass", 1, 1, 1]]},
        {"segments": [["/" + "a" * 39, 1, 1, 1]]},
        {"segments": [["a" * 39 + "\0", 1, 1, 1]]}, {"segments": [["a" * 41, 1, 1, 1]]},
        {"segments": [["٣" * 40, 1, 1, 1]]},
        {"segments": [[7, 1, 1, 1]]}, {"segments": [["a" * 40, 1, 1]]}, {"segments": ["abcd"]}, {"segments": 5},
        {"segments": [["a" * 40, float("inf"), 1, 1]]}, {"segments": [["a" * 40, None, 1, 1]]}, {"segments": [None]},
        {"graph": "../../x"}, {"graph": "a" * 39 + "/"}, {"graph": 5}, {"graph": "a" * 40 + "\n"},
        {"views": ["../../../../../../../../../../../../etc/pass"]}, {"views": ["a" * 39]}, {"views": [7]},
        {"generation": float("inf")}, {"generation": float("nan")}, {"generation": []}, {"views": 5},
    ],
)  # fmt: skip
def test_a_manifest_with_a_hostile_field_is_damage(tmp_path: Path, change: dict[str, Any]) -> None:
    write_fields(tmp_path / "manifest", GOOD | change)
    with pytest.raises(DamagedFile):
        find_manifest(tmp_path / "manifest")


def test_fields_of_a_later_gitmem_are_ignored(tmp_path: Path) -> None:
    write_fields(tmp_path / "manifest", GOOD)
    expected = find_manifest(tmp_path / "manifest")
    write_fields(tmp_path / "manifest", GOOD | {"later": 1, "segments": [["a" * 40, 1, 1, 1, 0, 0, "later"]]})
    assert find_manifest(tmp_path / "manifest") == expected


@pytest.mark.parametrize("name", GOOD)
def test_a_manifest_without_a_field_is_damage(tmp_path: Path, name: str) -> None:
    write_fields(tmp_path / "manifest", {key: value for key, value in GOOD.items() if key != name})
    with pytest.raises(DamagedFile):
        find_manifest(tmp_path / "manifest")


def test_only_the_latest_views_are_recorded() -> None:
    manifest = Manifest("1")
    for number in range(MAX_TREES + 10):
        manifest = manifest.with_view(str(number))
    manifest = manifest.with_view(str(MAX_TREES))
    assert len(manifest.views) == MAX_TREES
    assert manifest.views[-1] == str(MAX_TREES)
    assert len(set(manifest.views)) == MAX_TREES
    assert manifest.generation == MAX_TREES + 11
    assert manifest.complete


def test_a_generation_follows_another_and_lists_the_latest_views() -> None:
    manifest = Manifest("1")
    for number in range(MAX_TREES + 3):
        manifest = manifest.with_view(f"{number:040x}")
    assert (len(manifest.views), manifest.views[-1]) == (MAX_TREES, f"{MAX_TREES + 2:040x}")
    assert manifest.with_view(manifest.views[0]).views == (*manifest.views[1:], manifest.views[0])
    later = manifest.with_segments([SegmentEntry("a" * 40, 1, 1, 1)])
    assert (later.generation, later.as_complete().generation) == (manifest.generation + 1, manifest.generation + 2)
