"""Clones of one bare remote whose people share records."""

import json
from collections.abc import Callable
from pathlib import Path

from gitmem.record import RECEIVED
from gitmem.records.exchange import Exchange, exchange
from gitmem.records.notes import list_notes
from gitmem.records.transfer import export_records, import_records
from gitmem.workspace import Workspace, open_workspace
from tests.gitrepo import Repo

MakeClone = Callable[..., "Clone"]

NOTE = "mem_0123456789ab"
OTHER = "mem_abcdefabcdef"


class Clone:
    """One person's clone."""

    def __init__(self, path: Path) -> None:
        self.repo = Repo(path)
        self.workspace: Workspace = open_workspace(path, {})

    def sync(self, remote: str = "", *, allow_secrets: bool = False) -> Exchange:
        """Pull and push."""
        return exchange(self.workspace, remote, pull=True, push=True, allow_secrets=allow_secrets)

    def texts(self) -> list[str]:
        """Return the texts of all notes, sorted."""
        return sorted(note.content for note in list_notes(self.workspace, limit=100))

    def records(self) -> list[str]:
        """Return every record as a line, without the person who shared it: that is nobody in this person's clone."""
        records = map(json.loads, export_records(self.workspace))
        return [json.dumps({name: each[name] for name in each if name not in RECEIVED}) for each in records]

    def put(self, note: str, text: str, time: str = "2026-01-01T00:00:00Z") -> None:
        """Store or replace the note of an id."""
        import_records(self.workspace, [json.dumps({"kind": "notes", "id": note, "content": text, "time": time})])


def make_remote(path: Path, *options: str) -> Repo:
    """Make a bare repository with one commit."""
    remote = Repo.init(path, "--bare", *options)
    tree = remote.git("mktree")
    remote.git("update-ref", "refs/heads/main", remote.git("commit-tree", "-m", "first", tree))
    return remote


def make_clone(remote: Repo, name: str, *options: str) -> Clone:
    """Clone a remote for a person of that name."""
    path = remote.path.with_name(name)
    remote.git("clone", "-q", *options, remote.path.as_uri(), str(path))
    for key, value in (("name", name), ("email", f"{name}@example.invalid")):
        Repo(path).git("config", f"user.{key}", value)
    return Clone(path)
