"""Documents are parsed in a process of their own: one that takes too much, or kills the parser, is one clear error."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitmem.errors import UsageError, WorkersFailed
from gitmem.memory.extract import extract
from gitmem.memory.extraction_process import Limits, extract_in_process
from gitmem.memory.mail import read_mail
from tests.gitrepo import isolated_environment

PAGE = b"<title>T</title><p>one <b>two</b></p>"
MAIL = b"From: A <a@example.com>\nTo: b@example.com, c@example.com\nSubject: S\nMessage-ID: <1>\n\ntext"


@pytest.mark.parametrize(("data", "name"), [(PAGE, "a.html"), (MAIL, "a.eml"), (b"text", "a.txt")])
def test_the_text_is_that_of_the_parser(data: bytes, name: str) -> None:
    assert extract_in_process(data, name) == extract(data, name)


def test_a_refusal_is_that_of_the_parser() -> None:
    with pytest.raises(UsageError) as here:
        extract(b"%PDF-1.4 broken", "a.pdf")
    with pytest.raises(UsageError) as there:
        extract_in_process(b"%PDF-1.4 broken", "a.pdf")
    assert (there.value.message, there.value.hint) == (here.value.message, here.value.hint)


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of Linux")
@pytest.mark.parametrize(
    "limits",
    [Limits(seconds=0.5, byte_seconds=0), Limits(memory=8 << 20, memory_per_byte=0)],
    ids=["time", "memory"],
)
def test_a_document_that_takes_too_much_is_refused(limits: Limits) -> None:
    page = b"<p>some <b>words</b> of text</p>\n" * 60_000
    with pytest.raises(UsageError, match=r"`a\.html` takes too much time or memory to read as html") as refusal:
        extract_in_process(page, "a.html", limits=limits)
    assert refusal.value.hint == "extract its text first: ... | gitmem doc add -"


@pytest.mark.parametrize(
    "header",
    [
        b"To: " + b"a@b.c, " * 88_000,
        b"To: " + b"word " * 120_000,
        b"Subject: " + b"=?utf-8?q?abc?= x " * 34_000,
        b"\n".join([b"To: a@b.c"] * 60_000),
        b"Content-Type: text/plain; " + b"a=b; " * 120_000,
        b"From: " + b"(" * 600_000,
    ],
    ids=["addresses", "words", "encoded", "headers", "parameters", "comments"],
)
def test_long_headers_take_little_time(header: bytes) -> None:
    started = time.process_time()
    read_mail(header + b"\n\ntext", "a.eml")
    assert time.process_time() - started < 5  # the shortest took 10 s


def test_the_addresses_of_a_long_header_stay_whole() -> None:
    addresses = [f"person{number}@example.com" for number in range(2000)]
    _, fields = read_mail(f"To: {', '.join(addresses)}\n\ntext".encode(), "a.eml")
    assert fields["participants"] == tuple(addresses[:100])


SOCKETS = """
import sys
seen = []
sys.addaudithook(lambda event, args: seen.append(event) if event.startswith("socket.") else None)
from gitmem.cli.main import run
code = run(["doc", "add", sys.argv[1]])
assert not seen, seen
sys.exit(code)
"""


@pytest.mark.parametrize("name", ["a.md", "a.html", "a.eml"])
def test_adding_a_document_opens_no_socket(tmp_path: Path, name: str) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True, env=isolated_environment())
    (tmp_path / name).write_bytes({"a.md": Path("README.md").read_bytes(), "a.html": PAGE, "a.eml": MAIL}[name])
    done = subprocess.run(
        [sys.executable, "-c", SOCKETS, name],
        cwd=tmp_path, env={**isolated_environment(), "PYTHONPATH": str(Path.cwd())},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_process_that_cannot_work_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitmem.processes.single_request.can_fork", lambda: False)
    monkeypatch.setattr("gitmem.memory.extraction_process.COMMAND", (sys.executable, "-c", "raise OSError('no')"))
    with pytest.raises(WorkersFailed, match="the process that reads documents failed: OSError: no"):
        extract_in_process(PAGE, "a.html")
