"""For any bytes, spans are valid, no text is lost, and the same input gives the same chunks."""

from pathlib import Path
from typing import Final

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.chunk_size import ChunkBounds
from gitmem.chunking.languages import language_from_head, language_of
from tests.chunking.coverage_check import assert_sound

SAMPLES: Final = sorted((Path(__file__).parent / "samples").iterdir())
LANGUAGES: Final = sorted({language_of(path.name) for path in SAMPLES} | {"text", "proto", "erlang", "r", "vue", ""})
SMALL: Final = ChunkBounds(max_bytes=96, min_bytes=24, overlap=16, max_chunks=400)
RELAXED: Final = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@RELAXED
@given(st.binary(max_size=600), st.sampled_from(LANGUAGES))
def test_any_bytes_are_covered(data: bytes, language: str) -> None:
    assert_sound(data, chunk_blob(data, language, SMALL))


@RELAXED
@given(st.text(max_size=600), st.sampled_from(["text", "markdown", "yaml", "bash"]))
def test_any_text_is_covered(text: str, language: str) -> None:
    """Property 6: Supported parsing."""
    data = text.encode("utf-8", "surrogatepass")
    assert_sound(data, chunk_blob(data, language, SMALL))


@RELAXED
@given(st.sampled_from(SAMPLES), st.data())
def test_a_damaged_sample_is_covered(path: Path, draw: st.DataObject) -> None:
    """Property 6: Supported parsing."""
    data = bytearray(path.read_bytes())
    for _ in range(draw.draw(st.integers(1, 6))):
        at = draw.draw(st.integers(0, len(data)))
        length = draw.draw(st.integers(0, 40))
        data[at : at + length] = draw.draw(
            st.sampled_from([b"", b"{", b"}\n", b"\r\n", b'"', b"\xff\xfe", b"\n\n", b"("])
        )
    blob = bytes(data)
    for bounds in (SMALL, ChunkBounds()):
        chunked = chunk_blob(blob, language_of(path.name), bounds)
        assert_sound(blob, chunked)
        assert chunked == chunk_blob(blob, language_of(path.name), bounds)


@RELAXED
@given(st.sampled_from(SAMPLES), st.integers(64, 2000))
def test_chunks_of_any_size_cover_a_sample(path: Path, size: int) -> None:
    data = path.read_bytes()
    blob = chunk_blob(
        data, language_of(path.name), ChunkBounds(max_bytes=size, min_bytes=size // 8, overlap=size // 10)
    )
    assert_sound(data, blob)


@RELAXED
@given(
    st.integers(1, 6), st.integers(0, 6), st.lists(st.sampled_from(["# note\n", "@wrap\n", ""]), min_size=6, max_size=6)
)
def test_methods_are_inside_their_class_and_include_comments_and_decorators(
    depth: int, count: int, above: list[str]
) -> None:
    """Property 11: Context kept. Property 12: Nesting."""
    lines = []
    for level in range(depth):
        lines.append("    " * level + f"class K{level}:\n")
    inner = "    " * depth
    for index in range(count):
        lines.extend([inner + above[index]] if above[index] else [])
        lines.append(f"{inner}def m{index}(self):\n{inner}    return {index}\n")
    lines.extend([] if count else [inner + "pass\n"])
    data = "".join(lines).encode()
    blob = chunk_blob(data, "python")
    assert_sound(data, blob)
    owner = ".".join(f"K{level}" for level in range(depth))
    classes = [chunk for chunk in blob.chunks if chunk.symbol == owner]
    methods = [chunk for chunk in blob.chunks if chunk.chunk_type == "method"]
    assert len(classes) == 1
    assert [chunk.symbol for chunk in methods] == [f"{owner}.m{index}" for index in range(count)]
    for index, chunk in enumerate(methods):
        assert classes[0].start <= chunk.start
        assert chunk.end <= classes[0].end
        assert above[index].strip().encode() in data[chunk.start : chunk.end]


@given(st.binary(max_size=200))
def test_any_first_lines_have_a_language(head: bytes) -> None:
    assert language_from_head(head)


@given(st.text(max_size=80))
def test_any_path_is_accepted(path: str) -> None:
    assert isinstance(language_of(path), str)
