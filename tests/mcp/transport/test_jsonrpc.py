"""Lines in, messages out; whatever arrives, nothing is raised and little is kept."""

import json
import os
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.mcp.transport.jsonrpc import INVALID_REQUEST, PARSE_ERROR, InvalidMessage, MessageStream, parse_message

MOST_BYTES = 1 << 20


def feed(chunks: Iterator[bytes] | list[bytes]) -> list[object]:
    """What a wire reads of bytes that arrive in pieces."""
    source, target = os.pipe()

    def write() -> None:
        try:
            for chunk in chunks:
                os.write(target, chunk)
        finally:
            os.close(target)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        return list(MessageStream(source, -1, MOST_BYTES).read())
    finally:
        writer.join()
        os.close(source)


def test_messages_may_arrive_in_any_pieces() -> None:
    data = b'{"a":1}\r\n\n  \n{"b":"\xc3\xa4"}\n{"c":3}'
    for size in (1, 2, 3, 7, 100):
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        assert feed(pieces) == [{"a": 1}, {"b": "ä"}, {"c": 3}]


@pytest.mark.parametrize("reads", [MOST_BYTES // 65536 + 2, 2 * MOST_BYTES // 65536 + 1])
def test_a_line_that_is_too_long_is_refused_and_the_next_one_read(reads: int) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(reads):
            yield b"x" * 65536
        yield b'"}\n{"a":1}\n'

    refused, message = feed(chunks())
    assert isinstance(refused, InvalidMessage)
    assert refused.code == INVALID_REQUEST
    assert message == {"a": 1}


def test_a_line_may_have_as_many_bytes_as_is_said() -> None:
    line = b'{"a":"' + b"x" * (MOST_BYTES - 8) + b'"}'
    assert len(line) == MOST_BYTES
    assert isinstance(feed([line + b"\n"])[0], dict)
    assert isinstance(feed([b" " + line + b"\n"])[0], InvalidMessage)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", PARSE_ERROR),
        (b"\xff\xfe", PARSE_ERROR),
        (b'{"a": NaN}', PARSE_ERROR),
        (b"[" * 100_000, PARSE_ERROR),
        (b"9" * 10_000, PARSE_ERROR),
        (b"[]", INVALID_REQUEST),
        (b"null", INVALID_REQUEST),
        (b'"x"', INVALID_REQUEST),
    ],
)
def test_what_is_no_message_is_answered_with_an_error(line: bytes, code: int) -> None:
    made = parse_message(line)
    assert isinstance(made, InvalidMessage)
    assert made.to_json() == {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": made.message}}


@given(st.binary(max_size=300))
def test_no_line_raises(line: bytes) -> None:
    assert isinstance(parse_message(line), dict | InvalidMessage)


def test_messages_are_written_whole_and_in_ascii() -> None:
    source, target = os.pipe()
    message = {"text": "ä\u2028\ud800\n", "n": [1, 2]}
    MessageStream(-1, target, MOST_BYTES).write(message)
    os.close(target)
    with os.fdopen(source, "rb") as file:
        data = file.read()
    assert data.count(b"\n") == 1
    assert data.isascii()
    assert json.loads(data) == message


def test_writing_to_a_closed_pipe_raises_oserror() -> None:
    source, target = os.pipe()
    os.close(source)
    with pytest.raises(BrokenPipeError):
        MessageStream(-1, target, MOST_BYTES).write({"a": 1})
    os.close(target)
