"""Adversarial input falls back to windows within a bound of processor time, and no text is lost."""

import random
import time
from pathlib import Path

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.chunk_size import ChunkBounds
from gitmem.chunking.further_names import add_further_names
from gitmem.chunking.text_names import find_text_names
from gitmem.chunking.text_roles import find_roles
from gitmem.types import ChunkedBlob
from tests.chunking.coverage_check import assert_sound


def chunk_within(data: bytes, language: str, bounds: ChunkBounds) -> ChunkedBlob:
    """Chunk a blob in at most ten seconds of processor time more than the parse may take."""
    started = time.thread_time()
    blob = chunk_blob(data, language, bounds)
    assert time.thread_time() - started < bounds.parse_seconds + 10
    return blob


def noise(size: int) -> bytes:
    return bytes(random.Random(7).choices(range(1, 256), k=size))


@pytest.mark.parametrize("language", ["json", "python", "javascript", "c"])
def test_a_million_brackets_are_not_parsed(language: str) -> None:
    data = b"[\n" * 1_000_000
    blob = chunk_within(data, language, ChunkBounds())
    assert not blob.parsed
    assert "deep" in blob.unparsed_reason
    assert_sound(data, blob)


def test_a_line_of_ten_megabytes_is_not_parsed() -> None:
    data = b"let a=1;" * 1_300_000
    blob = chunk_within(data, "javascript", ChunkBounds())
    assert not blob.parsed
    assert blob.unparsed_reason == "too large to parse"
    assert len(blob.chunks) <= ChunkBounds().max_chunks


def test_a_minified_script_is_not_parsed() -> None:
    data = b"function a(b){return b+1};" * 4000
    blob = chunk_within(data, "javascript", ChunkBounds())
    assert not blob.parsed
    assert blob.unparsed_reason == "a line too long to parse"
    assert_sound(data, blob)


def test_a_parse_that_takes_too_long_falls_back_to_windows() -> None:
    data = b"".join(b"value_%d = compute(%d)\n" % (i, i) for i in range(60_000))
    blob = chunk_within(data, "python", ChunkBounds(parse_seconds=0.001))
    assert not blob.parsed
    assert blob.unparsed_reason == "took too long to parse"
    assert_sound(data, blob)


def test_the_parse_after_a_stopped_one_is_complete() -> None:
    data = b"".join(b"value_%d = compute(%d)\n" % (i, i) for i in range(60_000))
    chunk_blob(data, "python", ChunkBounds(parse_seconds=0.001))
    blob = chunk_blob(b"def f():\n    pass\n", "python")
    assert [chunk.symbol for chunk in blob.chunks] == ["f"]


@pytest.mark.parametrize("language", ["python", "cpp", "haskell", "ruby", "html"])
def test_random_bytes_are_covered_in_any_language(language: str) -> None:
    data = noise(200_000)
    assert_sound(data, chunk_within(data, language, ChunkBounds(parse_seconds=0.5)))


@pytest.mark.parametrize(
    ("language", "opening", "closing"),
    [
        ("python", "class A:\n", ""),
        ("java", "class A {\n", "}\n"),
        ("javascript", "function f() {\n", "}\n"),
        ("html", "<div id='a'>\n", "</div>\n"),
        ("json", '{"a":\n', "}\n"),
        ("cpp", "namespace a {\n", "}\n"),
    ],
)
def test_deep_nesting_neither_exceeds_the_stack_nor_loses_lines(language: str, opening: str, closing: str) -> None:
    depth = 3000
    if language == "python":
        text = "".join(" " * level + opening for level in range(300)) + " " * 300 + "x = 1\n"
    else:
        text = opening * depth + closing * depth
    data = text.encode()
    assert_sound(data, chunk_within(data, language, ChunkBounds()))


def test_repetition_is_bounded_by_the_chunk_cap() -> None:
    data = b"def f(): pass\n" * 70_000
    blob = chunk_within(data, "python", ChunkBounds())
    assert len(blob.chunks) <= ChunkBounds().max_chunks + 1
    assert_sound(data, blob)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc to read the memory in use")
def test_a_parse_that_takes_too_much_memory_falls_back_to_windows() -> None:
    data = b"a<b<\n" * 200_000
    blob = chunk_within(data, "cpp", ChunkBounds(parse_seconds=60))
    assert not blob.parsed
    assert blob.unparsed_reason == "took too much memory to parse"
    assert_sound(data, blob)


@pytest.mark.parametrize("language", ["haskell", "ocaml", "php", "groovy", "clojure", "raku", "coffeescript", "ruby"])
@pytest.mark.parametrize("piece", [b"a, ", b"(f ", b"extends X<", b"(defrecord A [", b"class A ", b"A.new(", b"a"])
def test_a_long_line_is_not_read_again_for_each_of_its_words(language: str, piece: bytes) -> None:
    started = time.thread_time()
    data = b"x::class\n" + piece * (400_000 // len(piece)) + b"\n"
    add_further_names(data, {}, {}, language)
    starts = [role.start for role in find_roles(data, language)]
    starts += [name.start for name in find_text_names(data, None, language)]
    assert time.thread_time() - started < 15
    assert all(0 <= start < len(data) for start in starts)
