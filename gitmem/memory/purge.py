"""Which objects a purge takes away: all that gitmem ever wrote and nothing reaches any more.

The ref has lost its history by then. What it reached, and what writers that died left behind, is found by its own
marks. Trees have none, and once their commits are gone nothing tells whose they are; so what is about to go is written
down before, and a purge that was interrupted is finished by the next one.
"""

import re
from collections.abc import Collection
from typing import Final

from gitmem.fsio import read_file, remove_file, write_atomic
from gitmem.git.forget import StoredObject, find_unreachable, reached_by
from gitmem.git.locate import Location
from gitmem.memory.store import IDENTITY, RecordStore
from gitmem.paths import PURGING
from gitmem.record import is_record

MOST_BYTES: Final = 64 << 20
"""No record is larger: a character of the longest document has four bytes at most."""

_WRITTEN_BY: Final = f"\ncommitter {IDENTITY} ".encode()


def begin_purge(location: Location, oids: Collection[str]) -> None:
    """Write down what is about to be removed. Raises StorageFailed."""
    write_atomic(location.common_dir / PURGING, ["\n".join(sorted(oids)).encode("ascii")])


def end_purge(location: Location) -> None:
    """Nothing of it is left to be removed."""
    remove_file(location.common_dir / PURGING)


def _read_begun(location: Location) -> frozenset[str]:
    """What an interrupted purge was about to remove."""
    data = read_file(location.common_dir / PURGING) or b""
    return frozenset(oid.decode("ascii") for oid in _OID.findall(data))


_OID: Final = re.compile(rb"^[0-9a-f]{40,64}$", re.MULTILINE)


def find_purged(location: Location, store: RecordStore) -> list[StoredObject]:
    """Unreachable objects that are gitmem's, without those that an unreachable object of somebody else reaches."""
    unreachable = find_unreachable(location)
    read = {item.oid: item for item in unreachable if item.kind in ("commit", "blob")}
    own = {oid for oid, item in read.items() if item.size <= MOST_BYTES and _is_own(item, store.find_object(oid))}
    own |= _read_begun(location) & {item.oid for item in unreachable}
    own = reached_by(location, own, parents=False)  # each commit has its own mark, and parents may be gone already
    others = [item.oid for item in unreachable if item.oid not in own and item.kind != "blob"]
    kept = reached_by(location, others)
    return [item for item in unreachable if item.oid in own and item.oid not in kept]


def _is_own(item: StoredObject, data: bytes | None) -> bool:
    if data is None:
        return False
    return is_record(data) if item.kind == "blob" else _WRITTEN_BY in data.partition(b"\n\n")[0]
