"""Packs of git objects as bytes: what a commit has and another one lacks, and the way back into a repository."""

import struct
from typing import Final

from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import run_git
from gitmem.git.references import DURABLE

_FEW: Final = 100
"""Number of objects up to which they are stored one by one; git's default for a fetch (`fetch.unpackLimit`)."""

_HEADER: Final = struct.Struct("!4sII")


def make_pack(location: RepositoryLocation, commit: str, without: str | None) -> bytes:
    """Return the objects that a commit reaches and `without` does not, as a pack. Raises GitFailed."""
    revisions = f"{commit}\n" + (f"^{without}\n" if without else "")
    args = ["pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset"]
    return run_git(args, git_dir=location.git_dir, stdin=revisions.encode("ascii")).stdout


def store_pack(location: RepositoryLocation, pack: bytes) -> None:
    """Store the objects of a pack that somebody sent, durably. Raises GitFailed if git finds a fault in them."""
    _, _, count = _HEADER.unpack(pack[: _HEADER.size].ljust(_HEADER.size, b"\0"))
    command = ["unpack-objects", "-q", "--strict"] if count <= _FEW else ["index-pack", "--stdin", "--strict"]
    run_git([*DURABLE, *command], git_dir=location.git_dir, stdin=pack)


def is_complete(location: RepositoryLocation, commit: str, known: str | None) -> bool:
    """Return whether the repository has all objects that a commit reaches, given that it has those of `known`."""
    args = ["rev-list", "--objects", "--quiet", commit, *([f"^{known}"] if known else [])]
    return run_git(args, git_dir=location.git_dir, check=False).code == 0
