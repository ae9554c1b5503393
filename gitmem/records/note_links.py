"""Which notes of a memory others replace, and which expire, from the columns of the index."""

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from gitmem.indexing.record_views import PREFIX, Records
from gitmem.memory.record_paths import is_note_id, note_path
from gitmem.search.outdated import Outdated

Links = Mapping[str, Sequence[str]]
"""Ids of the notes that supersede a note, by its id, sorted."""


def find_links(records: Records) -> dict[str, list[str]]:
    """Return the links between notes that exist. The order of the records decides nothing, so all clones agree."""
    column = records.column("supersedes")
    if not any(column.values):
        return {}
    links: dict[str, list[str]] = {}
    for entry in np.flatnonzero(column.select(bool)).tolist():
        new = records.path(entry).rpartition(b"/")[2].decode()
        for old in column.text(entry).split("\n"):
            if is_note_id(old) and records.find(PREFIX + note_path(old)) is not None:
                links.setdefault(old, []).append(new)
    return {old: sorted(new) for old, new in links.items()}


def current_notes(links: Links, note: str) -> list[str]:
    """Return the notes at the ends of the links from a note, sorted; none if it is current itself.

    Two people may each replace the other's note. Then the links have no end, and both notes are current.
    """
    seen, waiting, current = {note}, [note], set()
    while waiting:
        for new in links.get(waiting.pop(), ()):
            if new not in seen:
                seen.add(new)
                if new in links:
                    waiting.append(new)
                else:
                    current.add(new)
    return sorted(current)


def find_outdated(records: Records | None, first: int) -> Outdated | None:
    """Return the outdated notes, and those that will be, as entries of a view in which the records begin at `first`."""
    outdated = _find_entries(records) if records is not None else None
    return outdated.shifted(first) if outdated is not None else None


def _find_entries(records: Records) -> Outdated | None:
    links = find_links(records)
    entries = {name: records.find(PREFIX + note_path(name)) for name in {*links, *chain.from_iterable(links.values())}}
    successors = {}
    for old in links:
        others = [entry for new in current_notes(links, old) if (entry := entries[new]) is not None]
        entry = entries[old]
        if entry is not None and others:
            successors[entry] = tuple(others)
    expires = records.column("expires")
    expiring = np.flatnonzero(expires.select(bool)).tolist() if any(expires.values) else []
    expiry = {entry: expires.text(entry) for entry in expiring}
    return Outdated(successors, expiry) if successors or expiry else None
