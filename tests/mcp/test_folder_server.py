"""The server, and the watcher, in a folder that is no repository: a real client, and files that change meanwhile."""

import threading
from pathlib import Path

import pytest
from mcp.client.client import Client

from gitmem.actions.watch import WatchEvent, watch
from gitmem.freshness.refresh import RefreshSettings, refresh
from gitmem.git.plain_folders import make_plain_folder
from gitmem.workspace import open_workspace
from tests.mcp.clients import ask, talk

PATIENCE = 300.0
"""Seconds until a test gives up."""


@pytest.fixture
def folder(tmp_path: Path, fake_model: object) -> Path:
    """Make and index a folder of texts outside of any repository."""
    place = tmp_path / "papers"
    place.mkdir()
    (place / "plan.md").write_text("# Plan\n\nRotate the signing key.\n")
    make_plain_folder(place, {"HOME": str(tmp_path.with_name(f"{tmp_path.name}-home"))})
    workspace = open_workspace(place, {})
    refresh(workspace, workspace.location.head_tree, RefreshSettings(uncommitted=True))
    return place


def test_a_client_searches_reads_and_remembers_in_a_folder(folder: Path) -> None:
    async def action(client: Client) -> None:
        assert "folder papers" in await ask(client, "status")
        assert "plan.md:1-3" in await ask(client, "search", query="signing key")
        (folder / "zebra.md").write_text("# Zebra\n\nFeed the zebra.\n")
        assert "zebra.md:1-3" in await ask(client, "search", query="zebra")
        assert "Feed the zebra." in await ask(client, "get", ids=["zebra.md:3"])
        (folder / "zebra.md").unlink()
        assert "zebra.md" not in await ask(client, "search", query="zebra")
        assert "stored" in await ask(client, "memory_store", content="The zebra is called Otto.", type="fact")
        assert "Otto" in await ask(client, "search", query="zebra", kind=["notes"])

    talk(folder, action)


def test_a_watcher_indexes_new_files_of_a_folder(folder: Path) -> None:
    stop, changed, indexed = threading.Event(), threading.Event(), threading.Event()

    def note(event: WatchEvent) -> None:
        if event.report is not None and event.report.embedded:
            indexed.set()

    thread = threading.Thread(target=watch, args=(folder, {}, note, stop, changed))
    thread.start()
    try:
        (folder / "zebra.md").write_text("# Zebra\n\nFeed the zebra.\n")
        assert indexed.wait(PATIENCE)
    finally:
        stop.set()
        changed.set()
        thread.join(PATIENCE)
    assert not thread.is_alive()
