"""Find out who shared the records of a union, and by which commit. Pure."""

from collections.abc import Mapping

from gitmem.memory.shared_state import SharedState
from gitmem.memory.union import Placed
from gitmem.memory.versions import State
from gitmem.memory.writer_tree import WriterState
from gitmem.records.signed_records import rank


def find_sharers(
    before: SharedState,
    states: Mapping[str, WriterState],
    signatures: Mapping[str, str],
    union: State,
    placed: Mapping[bytes, Placed],
    known: Mapping[bytes, Placed],
) -> dict[bytes, str]:
    """Return the sharer of every record of the union that is not this clone's, by path, see `SharedState`.

    `states` are those of writers by commit, `known` the records before. If several commits have a record, the best
    signature counts: an unsigned commit on top takes nothing from the signed one below.
    """
    offers: dict[str, tuple[int, str]] = {}
    for commit, state in states.items():
        worth = rank(signatures.get(commit, ""))
        for versions in state.versions.values():
            for name in versions if state.name else ():
                if name not in offers or worth > offers[name][0]:
                    offers[name] = worth, f"{state.name}\n{commit}"
    sharers = {}
    for path, each in placed.items():
        own = before.own.get(each.path, {})
        makers = sorted(name for name, version in union[each.path].items() if version.content == each.content)
        candidates = [offers[name] for name in makers if name in offers]
        # The first of the best ones: `max` keeps the order of the ids, which is the same in every clone.
        best = max(candidates, key=lambda offer: offer[0], default=None)
        former = before.sharers.get(path, "") if known.get(path) == each else ""
        worth = rank(signatures.get(former.partition("\n")[2], ""))
        # A version that this clone made as well, for example after a crash, is its own.
        if best and own.keys().isdisjoint(makers) and not (former and best[0] <= worth):
            sharers[path] = f"{each.oid} {best[1]}"
        elif former:
            sharers[path] = former
    return sharers
