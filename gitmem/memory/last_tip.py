"""Remember the last commit of the memory, and notice if the ref was deleted or moved back by something else.

A fetch that prunes, or a forced one, may do that, and git deletes the reflog together with a ref. The id is kept in a
file that no fetch can reach. A second ref, outside the namespace that users fetch, keeps the objects alive.
"""

import re
from typing import Final

from gitmem.fsio import read_file, remove_file, write_atomic
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import run_git
from gitmem.git.ref_log import is_ancestor
from gitmem.git.references import delete_reference, read_reference
from gitmem.memory.record_paths import BACKUP_REFERENCE, REFERENCE
from gitmem.named_tuple import NamedTuple
from gitmem.paths import MEMORY_TIP

_OID: Final = re.compile(rb"(?:[0-9a-f]{40}|[0-9a-f]{64})\n\Z")


class LostTip(NamedTuple):
    """The last known commit of the memory, which its ref does not contain any more.

    `current` is the present commit, None if the ref is gone. `exists` says whether git still has the lost commit.
    """

    commit: str
    current: str | None
    exists: bool

    @property
    def problem(self) -> str:
        """Return one line for the user."""
        what = f"`{REFERENCE}` was moved back" if self.current else f"`{REFERENCE}` is gone"
        gone = "" if self.exists else ", and git has removed its objects"
        return f"{what}: it was at {self.commit[:12]}{gone}"

    @property
    def remedy(self) -> str:
        """Return the command that helps."""
        return "gitmem memory recover" if self.exists else "gitmem memory recover --forget"


def find_lost_tip(location: RepositoryLocation, current: str | None) -> LostTip | None:
    """Return the last known commit if the present one does not contain it. Takes no process if they are equal."""
    known = read_last_tip(location)
    if known is None or known == current:
        return None
    exists = run_git(["cat-file", "-e", known], git_dir=location.git_dir, check=False).code == 0
    if exists and current and (is_ancestor(location, known, current) or _was_purged(location, known, current)):
        return None
    return LostTip(known, current, exists)


def find_lost_records(location: RepositoryLocation) -> LostTip | None:
    """Do the same for the present state of the ref."""
    if read_last_tip(location) is None:
        return None
    return find_lost_tip(location, read_reference(location, REFERENCE))


def _was_purged(location: RepositoryLocation, known: str, current: str) -> bool:
    """Return whether the present commits begin with the records of the known one, as after a purge that was killed."""
    roots = run_git(["rev-list", "--max-parents=0", current, "--"], git_dir=location.git_dir).stdout.decode().split()
    names = [f"{commit}^{{tree}}" for commit in (known, *roots)]
    tree, *others = run_git(["rev-parse", *names], git_dir=location.git_dir).stdout.decode().split()
    return tree in others


def read_last_tip(location: RepositoryLocation) -> str | None:
    """Return the last commit that gitmem wrote, None if that is unknown."""
    data = read_file(location.common_dir / MEMORY_TIP, limit=100) or b""
    return data.decode("ascii").strip() if _OID.match(data) else None


def write_last_tip(location: RepositoryLocation, commit: str, *, durable: bool = False) -> None:
    """Remember a commit. Without `durable` an earlier one may return after a power cut; the ref contains that as well.

    Raises: StorageFailed.
    """
    write_atomic(location.common_dir / MEMORY_TIP, [f"{commit}\n".encode("ascii")], durable=durable)


def forget_last_tip(location: RepositoryLocation) -> None:
    """Forget the last commit and drop the ref that keeps it, for a memory that was removed on purpose."""
    remove_file(location.common_dir / MEMORY_TIP)
    if read_reference(location, BACKUP_REFERENCE) is not None:
        delete_reference(location, BACKUP_REFERENCE)
