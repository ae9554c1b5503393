"""A server whose disk has any amount of room for a publication: the tables of the database are on a small file system.

A publication that does not fit fails with one clear line, the head stays, and the next one after room was made passes.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest import mock

from gitmem.org import head_publication
from tests.faults.elsewhere import CONTROL, LONG, SHORT, mounted, run_elsewhere, tell
from tests.faults.org_worlds import DATABASE, NAME, World, make_world
from tests.faults.report import Tally
from tests.org.clusters import cluster_folder, open_folder, running

ROOM: Final = 48 << 20
_LINES: Final = 3_000
_STEP: Final = 64 << 10
_SHORT_ROOMS: Final = (0, 256 << 10)
_MESSAGE: Final = "No space left on device"


def run(*, long: bool) -> Tally:
    """Try every amount of room up to that which a publication needs, or two."""
    return run_elsewhere(__name__, "publications to full disks", LONG if long else SHORT)


def run_control() -> Tally:
    """The same with a publisher that removes the old paths first."""
    return run_elsewhere(__name__, "publications to full disks that remove first", CONTROL)


def _try_all(form: str, only: str, tally: Tally) -> None:
    with (
        running() as cluster,
        tempfile.TemporaryDirectory() as folder,
        cluster_folder() as place,
        mounted("tmpfs", place, f"size={ROOM}"),
    ):
        place.chmod(0o755)
        tables = place / "tables"
        tables.mkdir()
        with cluster.connect() as database:
            database.execute(f"CREATE TABLESPACE small LOCATION '{open_folder(tables)}'")
        world = make_world(cluster, Path(folder), _LINES, "TABLESPACE small")
        if form == CONTROL:
            with _removing_first():
                _try_rooms(world, tally, place)
        elif form == SHORT:
            for room in _SHORT_ROOMS:
                _try_room(world, tally, place, room)
        else:
            _try_rooms(world, tally, place)


def _try_rooms(world: World, tally: Tally, disk: Path) -> None:
    """Publish with more and more room, until a publication fits."""
    room = 0
    while not _try_room(world, tally, disk, room) and not tally.decided:
        room += _STEP


def _try_room(world: World, tally: Tally, disk: Path, room: int) -> bool:
    """Publish with so many bytes of room; return whether that was enough."""
    target, dsn = world.other, world.cluster.dsn(DATABASE)
    with world.cluster.connect(DATABASE) as database:
        database.execute("VACUUM FULL")  # pages that earlier cases left would be room, too
        database.execute("CHECKPOINT")
    filler = disk / "filler"
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, shutil.disk_usage(disk).free - room))
    acknowledged = world.try_publish(dsn, target)
    faults = [] if acknowledged or _MESSAGE in world.problem else [f"unclear: {world.problem}"]
    filler.unlink()
    faults += world.faults(dsn, acknowledged=acknowledged, target=target)
    tally.note(f"{room:,} bytes free", faults)
    return acknowledged


@contextmanager
def _removing_first() -> Iterator[None]:
    """Make publishers remove the paths of a head before they store blobs."""
    upload = head_publication.upload_tree

    def remove_and_store(database: Any, *args: Any) -> tuple[int, int, int]:
        database.execute(
            "DELETE FROM gitmem.entries WHERE head IN (SELECT heads.id FROM gitmem.heads JOIN gitmem.repositories"
            " ON repository = repositories.id WHERE name = %s)", (NAME,)
        )  # fmt: skip
        database.commit()
        return upload(database, *args)

    with mock.patch.object(head_publication, "upload_tree", remove_and_store):
        yield


if __name__ == "__main__":
    tell(_try_all)
