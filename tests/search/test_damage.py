"""A search over damaged files: the same answer, or a clean error, whatever byte is wrong."""

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
from gitmem.store.view_file import find_view
from tests.gitrepo import Repo
from tests.indexes import HashEncoder, InlinePool, files_in, index, python_file, workspace_of

QUESTIONS = ("sign cookie", "match_route", "handle the guide")
FLIPS = 250


@pytest.fixture
def paths(tmp_path: Path, fake_model: type[InlinePool]) -> IndexPaths:
    """An index of two segments."""
    repo = Repo.init(tmp_path / "repo")
    repo.commit({f"src/cookies{number}.py": python_file("sign_cookie", f"load_{number}") for number in range(12)})
    index(repo)
    repo.commit({f"lib/routes{number}.py": python_file("match_route", f"route_{number}") for number in range(4)})
    index(repo)
    return workspace_of(repo).paths


def answers(paths: IndexPaths) -> Any:
    """What the files say, or how they fail: an error of ours, or segments that are left out by name."""
    try:
        manifest = find_manifest(paths.manifest)
        assert manifest is not None
        snapshot = Snapshot(paths, manifest)
        view = find_view(paths.view(manifest.views[-1]))
        assert view is not None
        if snapshot.lost:
            return "lost"
        told = []
        for filters in (Filters(), Filters(include=("src/",), languages=("python",), chunk_types=("function",))):
            scope = Scope(snapshot, view, filters)
            for question in QUESTIONS:
                query = parse_query(question)
                hits = search(scope, query, HashEncoder(), limit=5)
                told.append([(hit.path, hit.start, hit.end, hit.start_line, hit.symbol, hit.score) for hit in hits])
        return told
    except DamagedFile:
        return "damaged"


def harm(file: Path, paths: IndexPaths, wanted: Any, change: Callable[[bytearray], Any]) -> bool:
    """Change a file, ask, put it back; whether the damage was noticed."""
    whole = file.read_bytes()
    data = bytearray(whole)
    change(data)
    file.unlink()
    file.write_bytes(data)
    told = answers(paths)
    file.write_bytes(whole)
    assert told == wanted or told in ("lost", "damaged")
    return bool(told != wanted)


@pytest.mark.parametrize("flips", [FLIPS, pytest.param(40 * FLIPS, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["segments", "views", "manifest"])
def test_no_flipped_byte_gives_another_answer(paths: IndexPaths, kind: str, flips: int) -> None:
    wanted = answers(paths)
    assert len(wanted) == 2 * len(QUESTIONS)
    assert sum(map(bool, wanted)) > len(QUESTIONS)
    chance = random.Random(kind)
    files = files_in(paths.root / kind) if kind != "manifest" else [paths.manifest]
    if kind == "views":
        manifest = find_manifest(paths.manifest)
        assert manifest is not None
        files = [paths.view(manifest.views[-1])]
    noticed = 0
    for _ in range(flips):
        place, bits = chance.random(), 1 << chance.randrange(8)

        def flip(data: bytearray, place: float = place, bits: int = bits) -> None:
            data[int(place * len(data))] ^= bits

        noticed += harm(chance.choice(files), paths, wanted, flip)
    assert noticed > flips / 4, "the harness never hit anything"


def test_no_cut_gives_another_answer(paths: IndexPaths) -> None:
    wanted = answers(paths)
    for file in [*files_in(paths.segments), *files_in(paths.views), paths.manifest]:
        size = file.stat().st_size
        for length in sorted({*range(0, 200, 7), *range(0, size, max(1, size // 40)), size - 1, size - 70}):
            harm(file, paths, wanted, lambda data, length=length: data.__delitem__(slice(length, None)))  # type: ignore[misc]


def test_a_tail_of_zeros_is_noticed(paths: IndexPaths) -> None:
    wanted = answers(paths)
    file = files_in(paths.segments)[0]
    half = file.stat().st_size // 2

    def zero(data: bytearray) -> None:
        data[half:] = bytes(len(data) - half)

    assert harm(file, paths, wanted, zero)


def test_segments_that_change_places_are_noticed(paths: IndexPaths) -> None:
    wanted = answers(paths)
    first, second = files_in(paths.segments)
    content = first.read_bytes(), second.read_bytes()
    first.write_bytes(content[1])
    second.write_bytes(content[0])
    assert answers(paths) == "lost"
    first.write_bytes(content[0])
    second.write_bytes(content[1])
    assert answers(paths) == wanted


def test_a_reader_that_skips_checksums_would_be_caught(paths: IndexPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = answers(paths)
    monkeypatch.setattr("gitmem.store.format.Section._check", lambda section, block: None)
    chance = random.Random(1)
    caught = 0
    for _ in range(60):
        place = chance.random()
        file = chance.choice(files_in(paths.segments))
        whole = file.read_bytes()
        data = bytearray(whole)
        data[int(place * len(data))] ^= 0x41
        file.write_bytes(data)
        with np.errstate(all="ignore"):
            try:
                caught += answers(paths) not in (wanted, "lost", "damaged")
            except (IndexError, ValueError, UnicodeDecodeError, KeyError, RuntimeWarning):
                caught += 1
        file.write_bytes(whole)
    assert caught
