"""States of the places that gitmem writes to: read from a repository, put into one, and told apart."""

import re
import shutil
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from gitmem.errors import GitmemError
from gitmem.store.format import FIRST_FORMAT, Container
from gitmem.store.manifest import MAGIC, find_manifest
from tests.gitrepo import Repo

WATCHED: Final = (".gitmem", ".git/info")
"""What may differ after a fault; besides it the token in the git directory."""

TOKEN: Final = "gitmem-made-here"
MANIFEST: Final = ".gitmem/manifest"

State = dict[str, bytes | None]
"""Content of each path below a repository; None for a folder."""

_TEMPORARY: Final = re.compile(r"\.([^/]+)\.[0-9a-f]{12}\.tmp$")
"""Name of a file that is not yet published; chance is in it."""

_TOKEN_CONTENT: Final = re.compile(rb"[0-9a-f]{32}")


def read_base(repo: Repo) -> State:
    """Return what the watched places contain."""
    found: State = {".git": None}
    for top in WATCHED:
        root = repo.path / top
        paths = [root, *sorted(root.rglob("*"))] if root.is_dir() else []
        for path in paths:
            found[str(path.relative_to(repo.path))] = None if path.is_dir() else path.read_bytes()
    token = repo.path / ".git" / TOKEN
    if token.exists():
        found[f".git/{TOKEN}"] = token.read_bytes()
    return found


def put_state(repo: Repo, state: State) -> None:
    """Make the watched places of a working copy those of a state."""
    for top in WATCHED:
        shutil.rmtree(repo.path / top, ignore_errors=True)
    for path in (repo.path / ".git").glob(f"*{TOKEN}*"):
        path.unlink()
    for name, content in state.items():
        path = repo.path / name
        if content is None:
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(content)


def digest(state: State) -> int:
    """Return a number that two states share if gitmem cannot tell them apart.

    They may differ in what chance gives: names of unpublished files, tokens as long as the same files share one, and
    the identity of the segment files in the manifest. A state is put into a working copy by writing its files anew, so
    it matches none of these.
    """
    return hash(tuple(sorted(_essence(state))))


def _essence(state: State) -> Iterator[tuple[str, int]]:
    tokens: dict[bytes, int] = {}
    for path, content in sorted(state.items()):
        name = _TEMPORARY.sub(r".\1.tmp", path)
        if content is not None and _TOKEN_CONTENT.fullmatch(content):
            yield name, tokens.setdefault(content, len(tokens))
        elif content is not None and content.startswith(MAGIC):
            yield name, hash(_timeless(content))
        else:
            yield name, hash(content)


@lru_cache(maxsize=4096)
def _timeless(manifest: bytes) -> bytes | str:
    """Return the content of a manifest without inodes and times; of a damaged one its bytes."""
    try:
        fields = dict(Container(Path(MANIFEST), MAGIC, manifest, oldest=FIRST_FORMAT).fields)
        return repr({**fields, "segments": [entry[:4] for entry in fields["segments"]]})
    except (GitmemError, KeyError, TypeError):
        return manifest


def trusted_segments(repo: Repo) -> frozenset[str]:
    """Return the segments that are read without verification, because they are as their writer left them."""
    folder = repo.path / ".gitmem"
    try:
        manifest = find_manifest(folder / "manifest")
        entries = manifest.segments if manifest is not None else ()
        stats = [(entry, (folder / "segments" / entry.name).stat()) for entry in entries]
    except (GitmemError, OSError):
        return frozenset()
    return frozenset(
        entry.name
        for entry, found in stats
        if (entry.inode, entry.modified, entry.bytes) == (found.st_ino, found.st_mtime_ns, found.st_size)
    )
