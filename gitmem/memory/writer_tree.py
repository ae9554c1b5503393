"""Encoding of what one writer shares: a tree with its versions of records, its name, and purges. Pure.

records/PATH/ID     blob of the record, as in the memory
seen/PATH/ID        ids that the version has seen, one per line
gone/PATH/ID        id of the blob of a purged version
writer              line of JSON: version of the format, name and address
purges/ID           ids of the blobs that a purge removed, one per line; every reader leaves them out

A version with `seen` alone is a deletion.
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from gitmem.errors import DamagedFile, NewerFormat
from gitmem.git.trees import TreeEntry
from gitmem.memory.record_paths import is_record_path, is_turn_path
from gitmem.memory.versions import State, Version, Versions, version_id
from gitmem.named_tuple import NamedTuple

FORMAT: Final = 2
"""Version of the tree that is read at most. 2 has turns of conversations; a tree without these is still 1."""

_RECORDS: Final = b"records"
_SEEN: Final = b"seen"
_GONE: Final = b"gone"
_PURGES: Final = b"purges"
_WRITER: Final = b"writer"
_VERSION_FOLDERS: Final = (_RECORDS, _SEEN, _GONE)
_ID: Final = re.compile(r"[0-9a-f]{20}\Z")
_OID: Final = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_ID_DIGITS: Final = 20
_MAX_NAME: Final = 200

ReadBlob = Callable[[str], bytes]
"""Function that returns the bytes of a blob. Raises DamagedFile."""

Purges = Mapping[str, frozenset[str]]
"""Ids of removed blobs by the id of the purge that removed them."""


class WriterState(NamedTuple):
    """What one writer shares. `name` is that of a person with the address, `purges` are all that the writer knows."""

    versions: State
    name: str = ""
    purges: Mapping[str, frozenset[str]] = {}


class TreeContent(NamedTuple):
    """Content of a tree: blobs that exist already by path, and bytes of new ones by path."""

    stored: dict[bytes, str]
    new: dict[bytes, bytes]


def purged_blobs(purges: Purges) -> frozenset[str]:
    """Return the ids of all blobs that purges removed."""
    return frozenset[str]().union(*purges.values())


def add_purge(purges: Purges, blobs: Collection[str]) -> Purges:
    """Return purges with one more, of these blobs. Its id is a hash of them, so a repetition adds nothing."""
    if not blobs:
        return purges
    return {**purges, _purge_id(_format_lines(blobs)): frozenset(blobs)}


def _purge_id(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_ID_DIGITS]


def _format_lines(values: Iterable[str]) -> bytes:
    return "".join(f"{each}\n" for each in sorted(values)).encode()


def format_versions(versions: State, purged: Collection[str]) -> TreeContent:
    """Return the tree of versions. Of purged contents only the ids remain, so that nothing keeps their blobs."""
    stored: dict[bytes, str] = {}
    new: dict[bytes, bytes] = {}
    for path, by_id in versions.items():
        for name, version in by_id.items():
            below = b"%s/%s" % (path, name.encode())
            if version.content in purged:
                new[b"%s/%s" % (_GONE, below)] = f"{version.content}\n".encode()
            elif version.content is not None:
                stored[b"%s/%s" % (_RECORDS, below)] = version.content
            # A version without content and without anything seen would be no file at all: a deletion of nothing.
            if version.seen or version.content is None:
                new[b"%s/%s" % (_SEEN, below)] = _format_lines(version.seen)
    return TreeContent(stored, new)


def format_purges(purges: Purges) -> dict[bytes, bytes]:
    """Return the files of purges."""
    return {b"%s/%s" % (_PURGES, name.encode()): _format_lines(blobs) for name, blobs in purges.items()}


def format_writer(state: WriterState) -> TreeContent:
    """Return the tree of a state."""
    stored, new = format_versions(state.versions, purged_blobs(state.purges))
    version = FORMAT if any(map(is_turn_path, state.versions)) else 1
    head = json.dumps({"v": version, "name": state.name}, ensure_ascii=False).encode() + b"\n"
    return TreeContent(stored, {**new, **format_purges(state.purges), _WRITER: head})


def parse_writer(entries: Iterable[TreeEntry], read: ReadBlob, writer: str) -> WriterState:
    """Decode a writer's tree, with paths below its root. `writer` identifies it in errors.

    Raises: NewerFormat, DamagedFile.
    """
    listed = list(entries)
    heads = [entry.oid for entry in listed if entry.path == _WRITER]
    name = _parse_head(read(heads[0]) if heads else b"", writer)
    return WriterState(parse_versions(listed, read, writer), name, parse_purges(listed, read, writer))


def parse_purges(entries: Iterable[TreeEntry], read: ReadBlob, writer: str) -> Purges:
    """Return the purges of a tree. Raises DamagedFile."""
    purges = {}
    for path, _, oid in entries:
        folder, _, name = path.partition(b"/")
        if folder == _PURGES:
            data = read(oid)
            # The name is a hash of the list, so two writers who know a purge of that name know the same one.
            blobs = data.decode("latin-1").split("\n")[:-1]
            if _purge_id(data).encode() != name or not all(map(_OID.match, blobs)):
                raise damaged_writer(writer)
            purges[name.decode()] = frozenset(blobs)
    return purges


def parse_versions(entries: Iterable[TreeEntry], read: ReadBlob, writer: str) -> dict[bytes, Versions]:
    """Return the versions of a tree. Their ids are computed again, so a forged one is found. Raises DamagedFile."""
    files: dict[tuple[bytes, str], dict[bytes, str]] = {}
    for path, _, oid in entries:
        folder, _, below = path.partition(b"/")
        if folder in _VERSION_FOLDERS:
            record, _, digits = below.rpartition(b"/")
            files.setdefault((record, digits.decode("latin-1")), {})[folder] = oid
    # Many versions have seen the same ones, for example after a folder was deleted as a whole.
    cached: dict[str, list[str]] = {}

    def read_lines(oid: str) -> list[str]:
        if oid not in cached:
            cached[oid] = read(oid).decode("latin-1").split("\n")[:-1]
        return cached[oid]

    versions: dict[bytes, dict[str, Version]] = {}
    for (path, name), parts in files.items():
        seen = read_lines(parts[_SEEN]) if _SEEN in parts else []
        gone = read_lines(parts[_GONE]) if _GONE in parts else []
        content = parts.get(_RECORDS) or next(iter(gone), None)
        version = Version(content, frozenset(seen))
        valid = is_record_path(path) and all(map(_ID.match, seen)) and all(map(_OID.match, gone))
        if not valid or version_id(path, version) != name:
            raise damaged_writer(writer)
        versions.setdefault(path, {})[name] = version
    return dict(versions)


def _parse_head(data: bytes, writer: str) -> str:
    """Return the name in a writer's line of JSON. Raises NewerFormat, DamagedFile."""
    try:
        head = json.loads(data)
        version, name = head["v"], head["name"]
        name.encode("utf-8")  # half of a surrogate pair is valid JSON, but can be neither printed nor stored
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as problem:
        raise damaged_writer(writer) from problem
    if not isinstance(version, int) or isinstance(version, bool) or version < 1 or not isinstance(name, str):
        raise damaged_writer(writer)
    if version > FORMAT:
        raise NewerFormat(f"a newer gitmem wrote the records of `{writer}`", hint="install the newest gitmem")
    return name[:_MAX_NAME]


def damaged_writer(writer: str) -> DamagedFile:
    """Return the error for a tree that no gitmem wrote."""
    return DamagedFile(f"the shared records of `{writer}` are damaged or forged", hint="ask the writer to push again")
