"""A search over damaged files gives the same results or a clean error, whichever byte is wrong."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gitmem.errors import DamagedFile
from gitmem.paths import IndexPaths
from gitmem.search.engine import search
from gitmem.search.query_parser import parse_query
from gitmem.search.scope import Filters, Scope
from gitmem.store.manifest import find_manifest
from gitmem.store.snapshot import Snapshot
from gitmem.store.stored_view import find_view
from tests.gitrepo import Repo
from tests.indexes import HashEncoder, InlinePool, files_in, index, python_file, workspace_of

QUERIES = ("sign cookie", "match_route", "handle the guide")
FLIPS = 250


@pytest.fixture
def paths(tmp_path: Path, fake_model: type[InlinePool]) -> IndexPaths:
    """Return an index of two segments."""
    repo = Repo.init(tmp_path / "repo")
    repo.commit({f"src/cookies{number}.py": python_file("sign_cookie", f"load_{number}") for number in range(12)})
    index(repo)
    repo.commit({f"lib/routes{number}.py": python_file("match_route", f"route_{number}") for number in range(4)})
    index(repo)
    return workspace_of(repo).paths


def search_all(paths: IndexPaths) -> Any:
    """Return the results of some queries, "lost" if segments are skipped, or "damaged" for an error of ours."""
    try:
        manifest = find_manifest(paths.manifest)
        assert manifest is not None
        snapshot = Snapshot(paths, manifest)
        view = find_view(paths.view(manifest.views[-1]))
        assert view is not None
        if snapshot.lost:
            return "lost"
        results = []
        for filters in (Filters(), Filters(include=("src/",), languages=("python",), chunk_types=("function",))):
            scope = Scope(snapshot, view, filters)
            for text in QUERIES:
                query = parse_query(text)
                hits = search([scope], query, HashEncoder(), limit=5, min_score=0).hits
                results.append([(hit.path, hit.start, hit.end, hit.start_line, hit.symbol, hit.score) for hit in hits])
        return results
    except DamagedFile:
        return "damaged"


def detects_damage(file: Path, paths: IndexPaths, expected: Any, change: Callable[[bytearray], Any]) -> bool:
    """Damage a file, search, restore it; return whether the damage was detected."""
    whole = file.read_bytes()
    data = bytearray(whole)
    change(data)
    file.unlink()
    file.write_bytes(data)
    results = search_all(paths)
    file.write_bytes(whole)
    assert results == expected or results in ("lost", "damaged")
    return bool(results != expected)


@pytest.mark.parametrize("flips", [FLIPS, pytest.param(40 * FLIPS, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["segments", "views", "manifest"])
def test_no_flipped_bit_changes_the_results(paths: IndexPaths, kind: str, flips: int) -> None:
    expected = search_all(paths)
    assert len(expected) == 2 * len(QUERIES)
    assert sum(map(bool, expected)) > len(QUERIES)
    chance = random.Random(kind)
    files = files_in(paths.root / kind) if kind != "manifest" else [paths.manifest]
    if kind == "views":
        manifest = find_manifest(paths.manifest)
        assert manifest is not None
        files = [paths.view(manifest.views[-1])]
    detected = 0
    for _ in range(flips):
        position, bits = chance.random(), 1 << chance.randrange(8)

        def flip(data: bytearray, position: float = position, bits: int = bits) -> None:
            data[int(position * len(data))] ^= bits

        detected += detects_damage(chance.choice(files), paths, expected, flip)
    assert detected > flips / 4, "the harness hit hardly any used byte"


def test_no_truncation_changes_the_results(paths: IndexPaths) -> None:
    expected = search_all(paths)
    for file in [*files_in(paths.segments), *files_in(paths.views), paths.manifest]:
        size = file.stat().st_size
        for length in sorted({*range(0, 200, 7), *range(0, size, max(1, size // 40)), size - 1, size - 70}):
            detects_damage(file, paths, expected, lambda data, length=length: data.__delitem__(slice(length, None)))  # type: ignore[misc]


def test_a_tail_of_zeros_is_detected(paths: IndexPaths) -> None:
    expected = search_all(paths)
    file = files_in(paths.segments)[0]
    half = file.stat().st_size // 2

    def zero(data: bytearray) -> None:
        data[half:] = bytes(len(data) - half)

    assert detects_damage(file, paths, expected, zero)


def test_swapped_segments_are_detected(paths: IndexPaths) -> None:
    expected = search_all(paths)
    first, second = files_in(paths.segments)
    content = first.read_bytes(), second.read_bytes()
    first.write_bytes(content[1])
    second.write_bytes(content[0])
    assert search_all(paths) == "lost"
    first.write_bytes(content[0])
    second.write_bytes(content[1])
    assert search_all(paths) == expected


def test_a_reader_without_checksums_would_be_caught(paths: IndexPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = search_all(paths)
    monkeypatch.setattr("gitmem.store.section.Section.check_block", lambda section, block: None)
    chance = random.Random(1)
    caught = 0
    for _ in range(60):
        position = chance.random()
        file = chance.choice(files_in(paths.segments))
        whole = file.read_bytes()
        data = bytearray(whole)
        data[int(position * len(data))] ^= 0x41
        file.write_bytes(data)
        with np.errstate(all="ignore"):
            try:
                caught += search_all(paths) not in (expected, "lost", "damaged")
            except (IndexError, ValueError, UnicodeDecodeError, KeyError, RuntimeWarning):
                caught += 1
        file.write_bytes(whole)
    assert caught
