"""The union of what this clone holds and what writers share, as records of its memory. Pure, but for the reader.

The result does not depend on the order, grouping or number of the unions that led to it.
"""

from collections.abc import Callable, Mapping

from gitmem.memory.shared_state import SharedState
from gitmem.memory.union import Memory, Placed, place_records
from gitmem.memory.versions import State, merge_states
from gitmem.memory.writer_tree import WriterState
from gitmem.named_tuple import NamedTuple
from gitmem.records.record_sharers import find_sharers


class United(NamedTuple):
    """Versions that the memory holds after a union, the sharers of its records, and these records by their paths.

    `hidden` are the paths of records that a private one with the same id keeps out of the memory.
    """

    held: State
    sharers: Mapping[bytes, str]
    placed: Mapping[bytes, Placed]
    hidden: frozenset[bytes]


def unite(
    before: SharedState,
    states: Mapping[str, WriterState],
    signatures: Mapping[str, str],
    memory: Memory,
    read: Callable[[str], bytes],
    object_format: str,
) -> United:
    """Unite the state of this clone and those of writers, by commit. `memory` has the records of before."""
    union = merge_states([before.held, *(state.versions for state in states.values())])
    after = before.with_purges({name: blobs for state in states.values() for name, blobs in state.purges.items()})
    known, placed = (
        place_records(versions, purged, read, object_format)
        for versions, purged in ((before.held, before.purged), (union, after.purged))
    )
    # A private record hides shared ones with the same id. These are not part of the memory, and so not seen by it.
    hidden = {each.path for path, each in placed.items() if memory.is_private(path) and each != known.get(path)}
    held = {path: each for path, each in union.items() if path not in hidden}
    held |= {path: before.held[path] for path in hidden if path in before.held}
    sharers = find_sharers(before, states, signatures, union, placed, known)
    placed = {path: each for path, each in placed.items() if each.path not in hidden}
    # Other contents of a hidden record stay as they were: without them, this clone would seem to have deleted them.
    placed |= {path: each for path, each in known.items() if each.path in hidden}
    return United(held, sharers, placed, frozenset(hidden))
