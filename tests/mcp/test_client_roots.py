"""A server that starts outside a repository serves the folders that its client has open."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gitmem.mcp.tools.client_roots import find_repositories, parse_uri
from gitmem.registry import add_repository
from tests.gitrepo import Repo
from tests.mcp.clients import INITIALIZE, INITIALIZED, RawClient
from tests.sample import make_sample

QUESTION = "sign the cookie with the secret key"
ROOTS = INITIALIZE | {
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"roots": {"listChanged": True}},
        "clientInfo": {"name": "test", "version": "1"},
    }
}


class RootsClient(RawClient):
    """Client that answers requests for its roots, and counts them. Without `uris` it answers with an error."""

    def __init__(self, folder: Path, *uris: str) -> None:
        super().__init__(folder)
        self.uris: Sequence[str] | None = uris
        self.asked = 0
        self.answer(ROOTS)
        self.send(INITIALIZED)

    def read(self) -> dict[str, Any]:
        """Read the next message, and answer it if it asks for the roots."""
        message = super().read()
        if message.get("method") == "roots/list":
            self.asked += 1
            answer: dict[str, Any] = {"error": {"code": -32603, "message": "no"}}
            if self.uris is not None:
                answer = {"result": {"roots": [{"uri": uri, "name": "any"} for uri in self.uris]}}
            self.send({"jsonrpc": "2.0", "id": message["id"], **answer})
        return message

    def change(self, *uris: str) -> None:
        """Open other folders."""
        self.uris = uris
        self.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Make a folder that is in no repository."""
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


def make_other(path: Path) -> Repo:
    """Make a repository with one function."""
    repo = Repo.init(path)
    repo.commit({"brew.py": "def brew_coffee():\n    return 'hot'\n"})
    return repo


def test_a_sub_folder_of_a_repository_with_odd_characters_is_served(tmp_path: Path, outside: Path) -> None:
    repo = make_sample(tmp_path / "a b#c?ü%41")
    with RootsClient(outside, (repo.path / "src").as_uri()) as client:
        first = client.call(1, "search", query=QUESTION)
        assert "src/cookies.py:" in first
        assert "also open" not in first
        assert "src/cookies.py:" in client.call(2, "search", query=QUESTION)
        assert client.asked == 1
        assert "stored " in client.call(3, "memory_store", content="Cookies are signed.", type="fact")
    assert repo.git("rev-parse", "refs/gitmem/memory")


def test_several_roots_are_several_repositories(tmp_path: Path, outside: Path) -> None:
    sample, other = make_sample(tmp_path / "sample"), make_other(tmp_path / "other")
    plain = tmp_path / "plain"
    plain.mkdir()
    uris = [path.as_uri() for path in (plain, sample.path, other.path, sample.path / "docs")]
    with RootsClient(outside, *uris) as client:
        note = "note: this is `sample`; also open, for `root`: `other`"
        assert note in client.call(1, "search", query=QUESTION)
        assert note in client.call(2, "status")
        assert note in client.call(3, "memory_store", content="Cookies are signed.", type="fact")
        found = client.call(4, "search", query="brew coffee", root="other")
        assert "brew.py:" in found
        assert "also open" not in found
        assert "brew.py:" in client.call(5, "search", query="brew coffee", root=str(other.path))
        assert "no access" in client.call(6, "search", query="x", root=str(make_other(tmp_path / "closed").path))
        assert "known repositories: sample, other" in client.call(7, "search", query="x", root="nosuch")


def test_a_change_of_the_roots_is_noticed(tmp_path: Path, outside: Path) -> None:
    sample, other = make_sample(tmp_path / "sample"), make_other(tmp_path / "other")
    with RootsClient(outside) as client:
        assert "is not inside a git repository" in client.call(1, "search", query=QUESTION)
        client.change(sample.path.as_uri())
        assert "src/cookies.py:" in client.call(2, "search", query=QUESTION)
        client.change(other.path.as_uri())
        assert "brew.py:" in client.call(3, "search", query="brew coffee")
        assert client.asked == 3


def test_a_failed_answer_is_not_remembered(tmp_path: Path, outside: Path) -> None:
    sample = make_sample(tmp_path / "sample")
    with RootsClient(outside) as client:
        client.uris = None
        assert "hint: open a folder of a git repository in the client" in client.call(1, "search", query=QUESTION)
        client.uris = [sample.path.as_uri()]
        assert "src/cookies.py:" in client.call(2, "search", query=QUESTION)


def test_a_client_without_roots_is_not_asked(outside: Path) -> None:
    with RawClient(outside) as client:
        client.greet()
        told = client.call(1, "search", query=QUESTION)
        assert "is not inside a git repository" in told
        assert "hint: open a folder of a git repository in the client, or set the folder: gitmem -C FOLDER mcp" in told


def test_a_server_outside_names_the_registered_repositories(tmp_path: Path, outside: Path) -> None:
    environment = {"GITMEM_NO_REGISTRY": "", "XDG_DATA_HOME": str(tmp_path / "data")}
    add_repository(environment, make_sample(tmp_path / "sample").path, "sample")
    with RawClient(outside, env=environment) as client:
        client.greet()
        assert "hint: pass `root`, one of: sample; or open a folder" in client.call(1, "search", query=QUESTION)
        assert "src/cookies.py:" in client.call(2, "search", query=QUESTION, root="sample")


def test_a_server_in_a_repository_asks_for_nothing(tmp_path: Path) -> None:
    sample, other = make_sample(tmp_path / "sample"), make_other(tmp_path / "other")
    with RootsClient(sample.path, other.path.as_uri()) as client:
        assert "src/cookies.py:" in client.call(1, "search", query=QUESTION)
        assert client.asked == 0
        assert "brew.py:" in client.call(2, "search", query="brew coffee", root="other")


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b", "/a/b"),
        ("file://localhost/a%20b%23%3F/", "/a b#?"),
        ("file:///%C3%BC%FF", os.fsdecode(b"/\xc3\xbc\xff")),
        ("file:/a", "/a"),
        ("file://server/share", None),
        ("https://example.org/a", None),
        ("file:///a%00b", None),
        ("file://[", None),
        ("a/b", None),
        ("", None),
    ],
)
def test_only_files_of_this_machine_are_roots(uri: str, path: str | None) -> None:
    assert parse_uri(uri) == (None if path is None else Path(path))


def test_the_first_folder_without_a_repository_is_named(tmp_path: Path) -> None:
    roots = find_repositories([(tmp_path / "none").as_uri(), tmp_path.as_uri()])
    assert roots.repositories == ()
    assert str(roots.problem) == f"{tmp_path / 'none'} does not exist"
