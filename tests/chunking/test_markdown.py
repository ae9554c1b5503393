"""Markdown sections and plain text windows."""

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.chunk_size import ChunkBounds
from tests.chunking.coverage_check import assert_sound, text_bytes


def sections(text: str) -> list[str]:
    data = text.encode()
    blob = chunk_blob(data, "markdown")
    assert_sound(data, blob)
    return [chunk.symbol for chunk in blob.chunks]


def test_a_heading_without_text_joins_the_section_below() -> None:
    assert sections("# A\n\n## B\n\ntext\n") == ["A > B"]


def test_a_hash_in_a_fence_is_not_a_heading() -> None:
    assert sections("# A\n\n```sh\n# no\n```\ntext\n") == ["A"]


def test_an_unclosed_fence_runs_to_the_end() -> None:
    assert sections("# A\n\ntext\n\n~~~\n# no\n\n# nor this\n") == ["A"]


def test_underlined_lines_are_headings_and_thematic_breaks_are_not() -> None:
    assert sections("Title\n=====\n\nfew words\n\n---\n\nmore\n\nPart\n----\n\nend\n") == ["Title", "Title > Part"]


def test_front_matter_is_not_a_heading() -> None:
    assert sections("---\ntitle: x\n---\n# A\n\ntext\n")[-1] == "A"


def test_links_and_emphasis_are_removed_from_a_title() -> None:
    assert sections("# See [the *docs*](http://x) `now` ##\n\ntext\n") == ["See the docs now"]


def test_a_long_section_is_split_and_keeps_its_path() -> None:
    text = "# A\n\n## B\n\n" + "A sentence of some length, over and over.\n\n" * 120
    assert set(sections(text)) == {"A > B"}
    assert len(sections(text)) > 2


def test_text_is_split_at_blank_lines_into_windows_of_limited_size() -> None:
    data = ("word " * 60 + "\n\n").encode() * 40
    blob = chunk_blob(data, "text")
    assert_sound(data, blob)
    assert not blob.parsed
    assert {chunk.chunk_type for chunk in blob.chunks} == {"text"}
    assert text_bytes(blob) <= 1600


def test_a_long_line_is_split_between_characters() -> None:
    data = "\u00e4\u20ac\U0001f600".encode() * 3000
    blob = chunk_blob(data, "text", ChunkBounds(overlap=0))
    assert_sound(data, blob)
    for chunk in blob.chunks:
        data[chunk.start : chunk.end].decode()


def test_neighbouring_windows_overlap() -> None:
    data = b"".join(b"line %04d of a log without any blank line\n" % i for i in range(400))
    blob = chunk_blob(data, "text")
    assert_sound(data, blob)
    pairs = list(zip(blob.chunks, blob.chunks[1:], strict=False))
    assert pairs
    assert all(0 < before.end - after.start <= 200 for before, after in pairs)


def test_white_space_gives_no_chunks() -> None:
    for data in (b"", b"\n\n", b" \t\r\n"):
        assert chunk_blob(data, "python").chunks == []
        assert chunk_blob(data, "text").unparsed_reason == "empty"


def test_without_a_language_the_content_decides() -> None:
    blob = chunk_blob(b"#!/usr/bin/env python3\ndef f():\n    pass\n", "")
    assert blob.language == "python"
    assert blob.parsed
