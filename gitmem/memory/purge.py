"""Which objects a purge takes away: all that gitmem ever wrote and nothing reaches any more.

The ref has lost its history by then. What it reached, and what writers that died left behind, is found again by its own
marks, so that a purge that was interrupted is finished by the next one.
"""

from gitmem.git.forget import StoredObject, find_unreachable, reached_by
from gitmem.git.locate import Location
from gitmem.memory.store import IDENTITY, RecordStore
from gitmem.record import is_record

MOST_BYTES = 64 << 20
"""No record is larger: a character of the longest document has four bytes at most."""

_WRITTEN_BY = f"\ncommitter {IDENTITY} ".encode()


def find_purged(location: Location, store: RecordStore) -> list[StoredObject]:
    """Unreachable objects that are gitmem's, without those that an unreachable object of somebody else reaches."""
    unreachable = find_unreachable(location)
    read = {item.oid: item for item in unreachable if item.kind in ("commit", "blob")}
    own = {oid for oid, item in read.items() if item.size <= MOST_BYTES and _is_own(item, store.find_object(oid))}
    own = reached_by(location, own)
    others = [item.oid for item in unreachable if item.oid not in own and item.kind != "blob"]
    kept = reached_by(location, others)
    return [item for item in unreachable if item.oid in own and item.oid not in kept]


def _is_own(item: StoredObject, data: bytes | None) -> bool:
    if data is None:
        return False
    return is_record(data) if item.kind == "blob" else _WRITTEN_BY in data.partition(b"\n\n")[0]
