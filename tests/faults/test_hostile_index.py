"""Whatever bytes of `.gitmem` are wrong: the right answer, from a new index where it must be, or a clean error."""

import random
import shutil
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import GitmemError
from gitmem.records.conversations import append_turn
from gitmem.records.documents import add_document
from gitmem.records.notes import add_note, list_notes
from gitmem.store.format import FORMAT
from tests.faults.flips import without_checksums
from tests.faults.oracle import small_steps
from tests.faults.worlds import fill
from tests.gitrepo import Repo
from tests.indexes import index, search, workspace_of

QUESTIONS = (("base load", ("code",)), ("parcels are late", ("documents", "notes", "conversations")))

START = struct.Struct("<8sII")
"""First bytes of each file of the store: its kind, the format version and the length of the header."""

PREFIX_BYTES = 64
END = struct.Struct("<II")
"""Last bytes of each file: the length and the checksum of the header before them."""


class Place:
    """A repository with code and records, and its index as it was made."""

    def __init__(self, folder: Path) -> None:
        self.repo = Repo.init(folder / "repo")
        fill(self.repo, "base", 8)
        index(self.repo)
        self.workspace = workspace = workspace_of(self.repo)
        for number in range(6):
            add_note(workspace, f"note {number}: parcels are late on Mondays", type_="decision")
        add_document(workspace, "parcels are late. " * 400, {"title": "Late parcels"})
        append_turn(workspace, "plan", "user", "why are parcels late", 0)
        self.tell()
        self.right = self.tell()
        self.root = workspace.paths.root
        self.whole = folder / "whole"
        shutil.copytree(self.root, self.whole)
        self.files = sorted(
            path.relative_to(self.whole) for path in self.whole.rglob("*") if path.is_file() and path.stat().st_size
        )

    def tell(self) -> Any:
        """Answers about code and records and a list, or the class of the error that each gives."""
        told: list[Any] = []
        for text, sources in QUESTIONS:
            try:
                made = search(self.repo, text, self.workspace, kinds=sources)
                told.append(
                    [(hit.path, hit.start_line, hit.symbol, round(hit.score, 6), lines) for hit, lines in made.hits]
                )
            except GitmemError as problem:
                told.append(type(problem).__name__)
        told.append([note.content for note in list_notes(self.workspace, type_="decision")])
        return told

    def lies(self) -> bool:
        """Whether an answer is neither the right one nor an error."""
        return any(
            told != right and not isinstance(told, str) for told, right in zip(self.tell(), self.right, strict=True)
        )

    def restore(self) -> None:
        """The index as it was."""
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.whole, self.root)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with small_steps():
        yield Place(tmp_path_factory.mktemp("hostile"))


def harm(place: Place, file: int, changes: list[tuple[float, int]], length: float) -> None:
    """Change bytes of a file at some fractions of it, and cut it at another."""
    path = place.root / place.files[file % len(place.files)]
    data = bytearray(path.read_bytes())
    for where, wrong in changes:
        data[int(where * (len(data) - 1))] ^= wrong
    path.unlink()
    path.write_bytes(data[: int(length * len(data))])


many = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
fraction = st.floats(0, 1)


@many
@given(
    file=st.integers(0, 99),
    changes=st.lists(st.tuples(fraction, st.integers(1, 255)), max_size=4),
    length=st.one_of(st.just(1.0), fraction),
)
def test_no_byte_of_an_index_gives_another_answer(
    place: Place, file: int, changes: list[tuple[float, int]], length: float
) -> None:
    """Property 51: Hostile index."""
    assert all(place.right)
    place.restore()
    harm(place, file, changes, length)
    assert not place.lies()


@many
@given(file=st.integers(0, 99), version=st.integers(0, 2**32 - 1).filter(lambda version: version != FORMAT))
def test_a_file_of_another_version_is_refused_or_rebuilt_and_records_stay(
    place: Place, file: int, version: int
) -> None:
    """Property 32: Schema check."""
    place.restore()
    containers = [name for name in place.files if (place.root / name).read_bytes().startswith(b"GITMEM")]
    path = place.root / containers[file % len(containers)]
    before = place.repo.git("for-each-ref")
    set_version(path, version)
    assert not place.lies()
    assert place.repo.git("for-each-ref") == before


def set_version(path: Path, version: int) -> None:
    """Write another format version into a file, and the checksum that belongs to it."""
    data = bytearray(path.read_bytes())
    magic, _, length = START.unpack_from(data)
    START.pack_into(data, 0, magic, version, length)
    header = data[START.size + 4 : START.size + 4 + length]
    data[START.size : START.size + 4] = zlib.crc32(header, zlib.crc32(data[: START.size])).to_bytes(4, "little")
    path.unlink()
    path.write_bytes(data)


def harm_section(path: Path, chance: random.Random) -> None:
    """Change one byte of the sections, which lie between the prefix and the header at the end.

    More bytes would nearly always break the structure too, which is an error and no other answer.
    """
    data = bytearray(path.read_bytes())
    length, _ = END.unpack(data[-END.size :])
    data[chance.randrange(PREFIX_BYTES, len(data) - END.size - length)] ^= chance.randrange(1, 256)
    path.unlink()
    path.write_bytes(data)


def test_a_reader_without_checksums_would_be_caught(place: Place) -> None:
    chance = random.Random(1)
    segments = [at for at, name in enumerate(place.files) if name.parts[0] == "segments" or name.name == "records"]

    def is_caught() -> bool:
        place.restore()
        harm_section(place.root / place.files[chance.choice(segments)], chance)
        try:
            return place.lies()
        except Exception:
            return True

    with without_checksums():  # one change in eight is caught, so that 200 miss all with a probability of 1e-12
        assert any(is_caught() for _ in range(200))
