"""Publishing through a cluster: what the command line says if that is not possible. `tests.faults.org_ray` uses one."""

import json
import socket
import sys
from collections.abc import Callable
from functools import partial

import psycopg
import pytest

from gitmem.org.ray_cluster import ClusterAddress, explain_failure, parse_address
from tests.gitrepo import Repo
from tests.indexing.engines import answer_now, engine
from tests.sample import Cli, assert_error, make_sample


def test_an_address_has_a_host_and_a_port() -> None:
    assert parse_address("ray://head.example.com:7001") == ("head.example.com", 7001)
    assert str(parse_address("ray://head")) == "ray://head:10001"
    assert str(parse_address("ray://[::1]:7001/")) == "ray://[::1]:7001"


@pytest.mark.parametrize(
    "address",
    [
        "head:10001",
        "http://head",
        "ray://",
        "ray://head:port",
        "ray://head:0",
        "ray://head/x",
        "ray://head#x",
        "ray://me:secret@head",
        "ray://:secret@head",
        "ray://me:secret/1@head",
    ],
)
def test_another_address_is_refused(own: Repo, cli: Cli, address: str) -> None:
    outcome = cli("-C", str(own.path), "org", "publish", "--dsn", "postgresql:///x", "--on", address)
    assert_error(outcome, 2, "--on ray://HOST:10001")
    assert "secret" not in outcome.err
    assert "secret" not in outcome.err


def test_without_ray_the_extra_is_named(own: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    own.commit({"src/refund.py": "def book_refund(order):\n    return order.total\n"})
    monkeypatch.setitem(sys.modules, "ray", None)
    outcome = cli("-C", str(own.path), "org", "publish", "--dsn", "postgresql:///x", "--on", "ray://head")
    assert_error(outcome, 2, "this needs Ray", "pip install 'gitmem-cli[org,ray]'")


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (RuntimeError("remote\n  ModuleNotFoundError: No module named 'gitmem.indexing.batch_task'"), "does not have"),
        (ConnectionError("Failed to reconnect within the grace period"), "connection to the cluster was lost"),
    ],
)
def test_a_failure_of_the_cluster_is_one_line_with_a_remedy(problem: Exception, message: str) -> None:
    error = explain_failure(problem)
    assert message in error.message
    assert "\n" not in error.message
    assert error.hint
    assert error.exit_code == 5


def test_a_cluster_that_nobody_runs_is_one_line(own: Repo, cli: Cli) -> None:
    pytest.importorskip("ray", reason="ray is not installed (extra `ray`)")
    own.commit({"src/refund.py": "def book_refund(order):\n    return order.total\n"})
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    outcome = cli("-C", str(own.path), "org", "publish", "--dsn", "postgresql:///x", "--on", f"ray://127.0.0.1:{port}")
    assert_error(outcome, 5, f"cannot reach ray://127.0.0.1:{port}: Connection refused", "client server")


def test_a_clone_without_an_index_is_published_through_an_engine(
    published: str, cli: Cli, make_repo: Callable[..., Repo], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_repo("fresh")
    make_sample(repo.path)
    opened: list[ClusterAddress] = []

    def open_cluster(address: ClusterAddress) -> object:
        opened.append(address)
        return engine(answer_now)()

    monkeypatch.setattr("gitmem.org.ray_cluster.open_cluster", open_cluster)
    publish = partial(cli, "-C", str(repo.path), "org", "publish", "--dsn", published, "--on", "ray://head", "--json")
    head = json.loads(publish("--name", "fresh").out)["published"][0]
    # The server has the same files from a publication without an engine.
    assert (head["files"], head["blobs"], opened) == (5, 0, [("head", 10001)])
    assert not json.loads(publish("--name", "fresh").out)["published"][0]["is_changed"]
    assert len(opened) == 1, "nothing is missing, so there is no connection"
    with psycopg.connect(published) as database:
        rows = database.execute("SELECT path, blob, words FROM gitmem.entries ORDER BY head, path").fetchall()
        assert rows[:5] == rows[5:]
