"""Remove the memory, for a repository that stops using gitmem, after an export of every record or without."""

from collections.abc import Callable, Iterable

from gitmem.memory.json_lines import format_item
from gitmem.memory.record_store import Changes, RecordStore, Tip
from gitmem.memory.shared_state import forget_sharing
from gitmem.records.exchange_lock import exchange_lock
from gitmem.records.purge import PurgeResult, purge_memory
from gitmem.workspace import Workspace


def count_records(workspace: Workspace) -> int:
    """Return the number of records: notes, documents and turns."""
    with RecordStore(workspace.location) as store:
        return len(store.entries(store.tip()))


def remove_memory(workspace: Workspace) -> PurgeResult:
    """Delete and purge all records, without a copy. Raises: as `export_and_remove`."""
    return export_and_remove(workspace, lambda _: None)


def export_and_remove(workspace: Workspace, write: Callable[[Iterable[str]], None]) -> PurgeResult:
    """Hand all records to `write` as lines, then delete and purge them. The ref stays, with an empty tree.

    `write` must have stored the lines durably when it returns. It may be called again with newer records.

    Raises: DamagedFile, GitFailed, StorageFailed, and the errors of `write`; then nothing is deleted.
    """
    with RecordStore(workspace.location) as store:

        def remove_exported(tip: Tip) -> Changes:
            # Written within the change: a record that another process adds meanwhile is exported as well.
            entries = store.entries(tip)
            write(format_item(record) for record in store.read_records(entries))
            return {entry.path: None for entry in entries}

        # First, so that this clone's deletions are not those of everybody who shares its records.
        with exchange_lock(workspace.location), store.locked():
            forget_sharing(workspace.location)
        store.change("delete all records", remove_exported)
    return purge_memory(workspace, announce=False)
