"""Find out who shared the records of a union, and by which commit. Pure."""

from collections.abc import Mapping

from gitmem.memory.shared_state import SharedState
from gitmem.memory.union import Placed
from gitmem.memory.versions import State
from gitmem.memory.writer_tree import WriterState
from gitmem.named_tuple import NamedTuple
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
    signature counts: an unsigned commit on top takes nothing from the signed one below. Of equal ones the person whose
    name is the first in the alphabet counts, so that all clones agree, whatever they pulled first.
    """
    offers: dict[str, _Offer] = {}
    for commit, state in states.items():
        offer = _Offer(rank(signatures.get(commit, "")), state.name, commit)
        for versions in state.versions.values():
            for name in versions if state.name else ():
                offers[name] = _better(offers.get(name), offer)
    # By content and not by place: a concurrent change moves a record to the path of a variant, or back from there.
    former = {
        (each.path, each.content): _parse(before.sharers[path], signatures)
        for path, each in known.items()
        if path in before.sharers
    }
    sharers = {}
    for path, each in placed.items():
        own = before.own.get(each.path, {})
        makers = [name for name, version in union[each.path].items() if version.content == each.content]
        best = former.get((each.path, each.content))
        # A version that this clone made as well, for example after a crash, is its own.
        for name in makers if own.keys().isdisjoint(makers) else ():
            best = _better(best, offers[name]) if name in offers else best
        if best:
            sharers[path] = f"{each.oid} {best.person}\n{best.commit}"
    return sharers


class _Offer(NamedTuple):
    """Commit with a record, the person who made it, and how much its signature is worth."""

    worth: int
    person: str
    commit: str


def _better(one: _Offer | None, other: _Offer) -> _Offer:
    """Return the better of two offers, the first one of equal ones."""
    if one is None or other.worth > one.worth or (other.worth == one.worth and other.person < one.person):
        return other
    return one


def _parse(sharer: str, signatures: Mapping[str, str]) -> _Offer:
    """Return the offer of a stored sharer, see `SharedState`."""
    person, _, commit = sharer.partition(" ")[2].partition("\n")
    return _Offer(rank(signatures.get(commit, "")), person, commit)
