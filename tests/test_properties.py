"""Properties of the whole package that no single module guarantees."""

import ast
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gitmem
from tests.gitrepo import Repo
from tests.indexes import brief_hits, index, python_file, search

SOURCE = Path(gitmem.__file__).parent


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit(
        {"src/cookies.py": python_file("sign_cookie", "load_cookie"), "notes.md": "# Notes\n\nRotate the keys.\n"}
    )
    return repo


def test_indexing_and_searching_open_no_socket(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **options: Any) -> None:
        raise AssertionError("a socket was opened")

    for name in ("socket", "create_connection", "getaddrinfo", "socketpair"):
        monkeypatch.setattr(socket, name, refuse)
    with pytest.raises(AssertionError):
        socket.create_connection(("127.0.0.1", 9))
    assert index(repo).status == "success"
    assert brief_hits(search(repo, "sign_cookie"))[0][0] == "src/cookies.py"


def test_only_the_http_server_and_remote_providers_import_network_modules() -> None:
    server = {SOURCE / name for name in ("mcp/transport/http.py", "mcp/transport/listening_socket.py", "web/server.py")}
    # Imported only if the user has selected a remote provider of embeddings.
    server |= {SOURCE / "embedding" / name for name in ("remote_model.py", "timed_http.py")}
    # The clients of a database and of a cluster, whose libraries open the sockets; `gitmem org` alone imports them.
    server |= {SOURCE / "org" / name for name in ("connection.py", "ray_cluster.py")}
    local = {SOURCE / name for name in ("git/status_shortcuts.py", "resident/client.py", "resident/socket_owner.py",
                                        "resident/command_server.py", "resident/running_server.py",
                                        "resident/wire.py", "web/control.py", "web/starting.py")}  # fmt: skip
    network = {"socket", "ssl", "http.client", "http.server", "urllib.request", "requests", "httpx", "aiohttp"}
    network |= {"ftplib", "smtplib", "xmlrpc", "psycopg"}
    for file in SOURCE.rglob("*.py"):
        imported: set[str] = set()
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        # `_socket`, for example, is the module below `socket`.
        public = {name.lstrip("_ ") for name in imported}
        parts = {name.rsplit(".", depth)[0] for name in public for depth in range(name.count(".") + 1)}
        if file in local:  # Unix sockets of this user only
            assert parts & network <= {"socket"}, file
            assert not {"AF_INET", "AF_INET6", "create_connection", "create_server"} & set(_names(file)), file
        else:
            assert file in server or not parts & network, file


def _names(file: Path) -> Iterator[str]:
    """Yield the names and attributes that a file uses."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def test_only_the_front_ends_print_read_arguments_or_exit() -> None:
    for file in SOURCE.rglob("*.py"):
        if file.relative_to(SOURCE).parts[0] in ("cli", "__main__.py"):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            function = node.func if isinstance(node, ast.Call) else None
            assert not (isinstance(function, ast.Name) and function.id in ("print", "exit", "quit", "input")), file
            exits = isinstance(function, ast.Attribute) and function.attr in ("exit", "argv")
            assert not exits or "worker" in file.name, file


def test_a_run_without_changes_loads_no_heavy_library(repo: Repo) -> None:
    index(repo)
    program = (
        "import sys\nfrom pathlib import Path\nfrom gitmem.workspace import open_workspace\n"
        "from gitmem.freshness.refresh import refresh\n"
        "workspace = open_workspace(Path(sys.argv[1]), {})\nreport = refresh(workspace, workspace.location.head_tree)\n"
        "heavy = {'numpy', 'pygit2', 'onnxruntime', 'tokenizers', 'tree_sitter', 'hnswlib', 'click'}\n"
        "print(report.up_to_date, sorted(heavy & sys.modules.keys()))"
    )
    result = subprocess.run([sys.executable, "-c", program, str(repo.path)], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "True []"


def test_a_query_loads_neither_the_parser_nor_the_embedding_runtime(repo: Repo) -> None:
    index(repo)
    program = (
        "import sys\nfrom pathlib import Path\nfrom gitmem.workspace import open_workspace\n"
        "from gitmem.answering.answer import answer\n"
        "from gitmem.answering.search_query import Query\n"
        "results = answer(open_workspace(Path(sys.argv[1]), {}), Query('sign the cookie'))\n"
        "heavy = {'pygit2', 'onnxruntime', 'tokenizers', 'tree_sitter', 'hnswlib'}\n"
        "print(len(results.hits) > 0, sorted(heavy & sys.modules.keys()))"
    )
    result = subprocess.run([sys.executable, "-c", program, str(repo.path)], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "True []"


def test_two_runs_of_the_real_model_give_the_same_bytes(repo: Repo, tmp_path: Path) -> None:
    index(repo)
    repo.git("clone", "--quiet", str(repo.path), str(tmp_path / "again"))
    index(Repo(tmp_path / "again"))
    names = [
        {file.name for file in (folder / ".gitmem/segments").iterdir()} for folder in (repo.path, tmp_path / "again")
    ]
    assert names[0] == names[1]


@pytest.mark.long
def test_fifty_thousand_files_are_indexed_and_searched(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "repo")
    stream = [b"commit refs/heads/main\ncommitter A <a@example.invalid> 1700000000 +0000\ndata 1\nx\n"]
    for number in range(50_000):
        data = python_file(f"step_{number}", f"part_{number % 977}").encode()
        stream.append(b"M 100644 inline d%d/f%d.py\ndata %d\n%s\n" % (number % 300, number, len(data), data))
    repo.git("fast-import", "--quiet", stdin=b"".join(stream))
    report = index(repo)
    assert (report.files, report.embedded) == (50_000, 50_000)
    assert brief_hits(search(repo, "step_31415", rev="HEAD"))[0][0] == "d215/f31415.py"
    assert index(repo).up_to_date
