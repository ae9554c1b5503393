"""Records of a repository on the server of the organisation, as a place that takes refs (`records.transport`).

The exchange with its merge, visibility and purges is that of git remotes. A ref moves by compare-and-swap, in one
transaction with the pack of git objects that it needs.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from gitmem.display import visible
from gitmem.errors import GitFailed, GitmemError, UsageError
from gitmem.git.locate import RepositoryLocation
from gitmem.git.packs import is_complete, make_pack, store_pack
from gitmem.git.ref_log import is_ancestor
from gitmem.git.references import read_reference, update_reference
from gitmem.git.remotes import PushedRef, RefUpdate
from gitmem.memory.writer_refs import REF
from gitmem.org.migrations import require_version

if TYPE_CHECKING:
    from gitmem.org.connection import Database

MOST_PACKS: Final = 50
"""Packs of a ref from which on a push replaces them by one."""

MOST_BYTES: Final = 1 << 28
"""Size of the packs of one ref that a clone takes."""

_OBJECT_ID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")

_OTHERS: Final = "it belongs to another role"
_PACKS: Final = """
SELECT pack FROM gitmem.read_packs(%(repository)s, %(name)s, coalesce((SELECT max(number)
  FROM gitmem.list_packs(%(repository)s, %(name)s) WHERE commit = %(known)s), -1)) ORDER BY number
"""
_SIZE: Final = "SELECT coalesce(sum(bytes), 0), count(*) FROM gitmem.list_packs(%s, %s)"


class DatabaseTransport:
    """Refs of the writers of one published repository, with the rights of the role of the connection."""

    def __init__(self, database: "Database", location: RepositoryLocation, repository: str) -> None:
        """Find the repository. Raises UsageError if the role cannot see it, DatabaseFailed."""
        require_version(database)
        row = database.execute("SELECT id FROM gitmem.visible_repositories() WHERE name = %s", (repository,)).fetchone()
        database.commit()
        if row is None:
            raise UsageError(f"no repository `{repository}` that this role may read", hint="gitmem org repos")
        self.name = f"org:{repository}"
        # The name of a repository need not be one of a ref, and git refuses remotes of such names.
        digest = hashlib.sha256(f"{database.info.host} {database.info.dbname} {repository}".encode()).hexdigest()
        self.cache = f"@org-{digest[:16]}"
        self.command = f"gitmem org sync --name {repository}"
        self.remedy = "synchronise with the role that did before; `git clone` makes a writer of its own"
        self._database = database
        self._location = location
        self._repository = int(str(row[0]))

    def place(self) -> str:
        """Return the place of refs: the server refuses none."""
        return REF

    def list_refs(self) -> dict[str, str]:
        """Return the commits of all writers."""
        rows: Any = self._execute("SELECT name, commit FROM gitmem.visible_refs(%s)").fetchall()
        self._database.commit()
        commits = dict(rows)
        # Others have written them, and git would take another text for an option or a name.
        if malformed := [name for name, commit in commits.items() if not _OBJECT_ID.fullmatch(commit)]:
            raise GitFailed(f"`{visible(malformed[0])}` on `{self.name}` has no id of a commit")
        return commits

    def fetch(self, targets: Mapping[str, str]) -> None:
        """Store the packs that this clone lacks, and move its refs. Raises GitFailed, DatabaseFailed."""
        for name, target in targets.items():
            known = read_reference(self._location, target)
            # Both statements must see one state of the ref.
            self._database.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            row: Any = self._execute("SELECT commit FROM gitmem.visible_refs(%s) WHERE name = %s", name)
            commit, packs = row.fetchone(), self._read_packs(name, known)
            self._database.commit()
            if commit is None or not _OBJECT_ID.fullmatch(commit[0]):
                continue  # changed since the list
            for pack in packs:
                store_pack(self._location, pack)
            if not is_complete(self._location, commit[0], known):
                raise GitFailed(f"`{name}` on `{self.name}` is incomplete", hint="its writer pushes again")
            update_reference(self._location, target, commit[0], known, reflog=False)

    def _read_packs(self, name: str, known: str | None) -> list[bytes]:
        size: Any = self._execute(_SIZE, name).fetchone()
        if size[0] > MOST_BYTES:
            raise GitmemError(f"the records of `{name}` on `{self.name}` are too large: {size[0]:,} bytes")
        parameters = {"repository": self._repository, "name": name, "known": known}
        rows: Any = self._database.execute(_PACKS, parameters).fetchall()
        return [row[0] for row in rows]

    def push(self, updates: Sequence[RefUpdate]) -> list[PushedRef]:
        """Move refs, each in a transaction of its own."""
        return [self._push(update) for update in updates]

    def _push(self, update: RefUpdate) -> PushedRef:
        row: Any = self._execute(
            "SELECT commit, is_own FROM gitmem.visible_refs(%s) WHERE name = %s", update.name
        ).fetchone()
        current, is_own = row or (None, True)
        if not is_own:
            self._database.rollback()
            return PushedRef(update.name, accepted=False, moved=False, reason=_OTHERS)
        moved = PushedRef(update.name, accepted=False, moved=True, reason="stale info")
        if update.expected:
            follows = current == update.expected
        else:
            follows = current is None or is_ancestor(self._location, current, update.commit)
        if not follows or not self._move(update, current):
            self._database.rollback()
            return moved
        self._store_pack(update, current)
        self._database.commit()
        return PushedRef(update.name, accepted=True, moved=False, reason="")

    def _move(self, update: RefUpdate, current: str | None) -> bool:
        """Set the commit of a ref if it is still the one that was seen; return whether it was."""
        values = (self._repository, update.name, current, update.commit)
        row: Any = self._database.execute("SELECT gitmem.move_ref(%s, %s, %s, %s)", values).fetchone()
        return bool(row[0])

    def _store_pack(self, update: RefUpdate, current: str | None) -> None:
        """Store what the new commit adds. A commit that replaces others leaves nothing of them behind."""
        sizes: Any = self._execute(_SIZE, update.name).fetchone()
        size, number = sizes
        if update.expected or number >= MOST_PACKS:
            self._execute("SELECT gitmem.remove_packs(%s, %s)", update.name)
            size, current = 0, None
        pack = make_pack(self._location, update.commit, current)
        if size + len(pack) > MOST_BYTES:
            # Clones would refuse it, and so could synchronise no more.
            raise GitmemError(f"the records of this clone are too large for `{self.name}`: {size + len(pack):,} bytes")
        values = (self._repository, update.name, update.commit, pack)
        self._database.execute("SELECT gitmem.add_pack(%s, %s, %s, %s)", values)

    def _execute(self, statement: str, *names: str) -> Any:
        return self._database.execute(statement.encode(), (self._repository, *names))
