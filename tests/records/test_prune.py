"""Expired documents are found by the columns of the index; no others are read."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gitmem.memory.bounds import format_time
from gitmem.records import documents as documents_module
from gitmem.records.documents import add_document, prune_expired
from tests.gitrepo import Repo
from tests.indexes import index, workspace_of


@pytest.mark.usefixtures("fake_model")
def test_only_expired_documents_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blobs_read: list[str]
) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"a": "1"})
    index(repo)
    workspace = workspace_of(repo)
    with monkeypatch.context() as patched:
        old = format_time(datetime.now(UTC) - timedelta(days=366))
        patched.setattr(documents_module, "current_time", lambda: old)
        expired = add_document(workspace, "a year old", {"retention": "1y"}).document
        add_document(workspace, "kept forever", {"retention": "forever"})
    add_document(workspace, "fresh", {"retention": "1y"})
    blobs_read.clear()
    assert prune_expired(workspace, dry_run=True) == [expired]
    assert blobs_read == [repo.oid(f"refs/gitmem/memory:v1/documents/{expired.id[4:6]}/{expired.id}")]
