"""The server as a process: one per user, found and stopped over its private socket, and gone when it is idle."""

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import httpx2
import pytest

from gitmem.registry import add_repository
from gitmem.web.control import ask_server, find_server
from gitmem.web.starting import launch_server, show_in_browser
from tests.gitrepo import Repo
from tests.web.server_process import GITMEM, run, server_environment, serving, wait_for


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A user with a registry and a folder for sockets of their own."""
    return server_environment(tmp_path)


def test_there_is_one_server_which_is_found_used_and_stopped(environment: dict[str, str], indexed: Repo) -> None:
    add_repository(environment, indexed.path, "sample")
    with serving(environment, "--port", "0") as process:
        running = find_server(environment)
        assert running is not None
        assert running.pid == process.pid
        second = run(environment, "serve")
        assert second.returncode == 4
        assert running.url in second.stderr
        assert f"process {process.pid}" in second.stderr
        listed = json.loads(run(environment, "serve", "list", "--json").stdout)
        assert [one["url"] for one in listed["servers"]] == [running.url]
        opened = json.loads(run(environment, "open", "--json", folder=indexed.path).stdout)
        with httpx2.Client(base_url=opened["url"]) as browser:
            assert browser.get("/").status_code == 401
            assert "/?repository=sample" in browser.get(opened["link"]).text
            assert "sample" in browser.get("/").text
            found = browser.get("/api/v1/search", params={"query": "sign the cookie"}).json()
            assert found["results"][0]["path"] == "src/cookies.py"
        for page in ("https://evil.example", "//evil.example", "/\\evil.example", ""):
            answer = ask_server(environment, b"link", page)
            assert answer is not None
            with httpx2.Client() as browser:
                assert "evil" not in browser.get(answer["link"]).text
        # Shell queries use the same open repositories.
        served = wait_for(lambda: "gitmem serve" in run(environment, "status", folder=indexed.path).stdout)
        assert served
        assert run(environment, "serve", "stop").returncode == 0
        assert process.wait(20) == 0
    assert find_server(environment) is None
    assert run(environment, "serve", "list").stdout == "no server runs; `gitmem serve` starts one\n"
    assert run(environment, "serve", "stop").stdout == "no server runs\n"


def test_a_killed_server_leaves_nothing_that_keeps_the_next_one_from_starting(environment: dict[str, str]) -> None:
    with serving(environment, "--port", "0") as process:
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        assert find_server(environment) is None
    with serving(environment) as process:
        running = find_server(environment)
        assert running is not None
        assert 8008 <= int(running.url.rstrip("/").rpartition(":")[2]) < 8108
        process.terminate()
        assert process.wait(20) == 0


def test_open_starts_a_server_that_ends_when_it_is_idle(environment: dict[str, str]) -> None:
    own = {**environment, "GITMEM_SERVE_IDLE": "1"}
    opened = run(own, "open", "--print")
    assert opened.returncode == 0, opened.stderr
    assert opened.stdout.startswith("http://127.0.0.1:")
    assert "started a server" in opened.stderr
    wait_for(lambda: find_server(own) is None)


def test_open_says_why_a_server_does_not_start(environment: dict[str, str], tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    opened = run({**environment, "GITMEM_RUNTIME_DIR": str(shared)}, "open", "--print")
    assert opened.returncode == 5
    assert opened.stderr.startswith("error: the server did not start: no folder for the socket of the server: ")
    assert opened.stderr.count("hint: ") == 1


def test_a_chosen_port_that_is_taken_is_refused(environment: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = run(environment, "serve", "--port", str(port))
        assert refused.returncode == 2
        assert f"cannot listen on 127.0.0.1 port {port}" in refused.stderr


def test_a_server_answers_under_names_of_a_proxy(environment: dict[str, str]) -> None:
    environment["GITMEM_SERVE_HOSTS"] = "code.example.com, Search:80"
    with serving(environment, "--port", "0"):
        running = find_server(environment)
        assert running is not None
        for name, code in (("code.example.com", 200), ("search:80", 200), ("example.com", 421), ("search", 421)):
            assert httpx2.get(f"{running.url}health", headers={"Host": name}).status_code == code, name


def test_a_socket_file_needs_no_token(environment: dict[str, str], tmp_path: Path) -> None:
    place = Path(environment["GITMEM_RUNTIME_DIR"]) / "own"
    with serving(environment, "--socket", str(place)):
        wait_for(place.exists)
        assert place.stat().st_mode & 0o077 == 0
        with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(place))) as http:
            assert http.get("http://anything/api/v1/status").json()["status"] == "ok"
        refused = run(environment, "open")
        assert refused.returncode == 2
        assert "socket file" in refused.stderr
    assert not place.exists()


@pytest.mark.parametrize("remote", ["SSH_CONNECTION", "SSH_TTY"])
def test_over_ssh_and_without_a_browser_nothing_is_opened(tmp_path: Path, remote: str) -> None:
    folder = tmp_path / "gitmem"
    folder.mkdir()
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\ncp "${{1#file://}}" {opened}\n')
    browser.chmod(0o700)
    own = {"XDG_RUNTIME_DIR": str(tmp_path), "PATH": os.environ["PATH"]}
    link = "http://127.0.0.1:8008/login?code=x&y"
    assert not show_in_browser(link, {**own, "BROWSER": str(browser), remote: "x"}, "linux")
    assert not show_in_browser(link, own, "linux")
    assert show_in_browser(link, {**own, "BROWSER": str(browser)}, "linux")
    # The code is in a private file, not among the arguments that other users can see.
    text = wait_for(lambda: opened.exists() and opened.read_text())
    assert "code=x&amp;y" in text
    assert (folder / "open.html").stat().st_mode & 0o077 == 0


def test_the_first_query_starts_the_server_if_the_user_enables_it(environment: dict[str, str], indexed: Repo) -> None:
    add_repository(environment, indexed.path, "sample")
    own = {**environment, "GITMEM_AUTO_SERVE": "true"}
    for off in (["query", "cookie"], environment), (["--no-server", "query", "cookie"], own):
        assert run(off[1], *off[0], folder=indexed.path).returncode == 0
    assert not list(Path(environment["GITMEM_RUNTIME_DIR"]).iterdir())
    assert "the next query starts" in run(own, "doctor", folder=indexed.path).stdout
    first = run(environment, "query", "sign the cookie", folder=indexed.path)
    lines = first.stdout.splitlines()[:-1]  # the last one has the time
    # Its reader may be gone already, as with `head`.
    reader, writer = os.pipe()
    os.close(reader)
    query = subprocess.run(
        [*GITMEM, "query", "sign the cookie"], env=own, cwd=indexed.path, stdout=writer, stderr=subprocess.PIPE,
        check=True,
    )  # fmt: skip
    os.close(writer)
    assert query.stderr == b""
    try:
        running = wait_for(lambda: find_server(own))
        wait_for(lambda: "gitmem serve" in run(own, "status", folder=indexed.path).stdout)
        assert run(own, "query", "sign the cookie", folder=indexed.path).stdout.splitlines()[:-1] == lines
        assert find_server(own) == running
    finally:
        run(own, "serve", "stop")
    assert find_server(own) is None


def test_only_one_of_several_processes_starts_a_server(environment: dict[str, str]) -> None:
    own = {**environment, "GITMEM_SERVE_IDLE": "1"}
    assert [launch_server(own) for _ in range(3)] == [True, False, False]
    # It outlives the one that started it and ends by itself; then nothing keeps the next one from starting.
    first = wait_for(lambda: find_server(own))
    assert not launch_server(own)
    os.kill(first.pid, signal.SIGKILL)
    wait_for(lambda: launch_server(own))
    assert wait_for(lambda: find_server(own)).pid != first.pid
    wait_for(lambda: find_server(own) is None)
