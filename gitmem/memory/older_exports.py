"""Convert what older systems stored to lines of `json_lines`: records of S2 and S4, one JSON object a line. Pure.

S2 stored memories, turns, documents and chunks of documents, each with its fields in `metadata`. A long document has no
text of its own there, so it is put together from its chunks, which overlap and say where they begin. S4 stored chunks
of files, and documents that were added by hand under an id.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from gitmem.errors import UsageError
from gitmem.memory.document import MANUAL
from gitmem.memory.record_paths import is_note_id
from gitmem.named_tuple import NamedTuple

_DERIVED: Final = frozenset(
    {"embedding", "embedding_provider", "embedding_model", "embedding_dimensions", "token_count", "content_hash",
     "is_chunked", "num_chunks", "ingested_at", "chunk_index", "start_char", "end_char"}
)  # fmt: skip
"""Fields that follow from the content, or from the model of the old system."""

_CHUNK: Final = "::chunk::"

HasFile = Callable[[str], bool]
"""Returns whether the repository has a file."""


class ConvertedLine(NamedTuple):
    """Line of an export: its number from 1, the line for `parse_item`, and why it cannot be imported, "" if it can."""

    number: int
    line: str
    problem: str = ""


def convert_s2(lines: Iterable[str]) -> list[ConvertedLine]:
    """Convert memories, turns and documents. Chunks become part of their documents."""
    values: list[tuple[int, dict[str, Any]]] = []
    converted: list[ConvertedLine] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            values.append((number, _flatten(line)))
        except UsageError as problem:
            converted.append(ConvertedLine(number, "", problem.message))
    chunks = _collect_chunks(fields for _, fields in values)
    documents = {str(fields.get("id", "")) for _, fields in values if "artifact_type" in fields}
    for number, fields in values:
        owner, is_chunk, _ = str(fields.get("id", "")).partition(_CHUNK)
        if is_chunk and owner not in documents:
            converted.append(ConvertedLine(number, "", f"a chunk of `{owner}`, which is not in the export"))
        elif not is_chunk:
            converted.append(ConvertedLine(number, _to_line(fields, chunks)))
    return sorted(converted)


def _collect_chunks(values: Iterable[Mapping[str, Any]]) -> dict[str, list[tuple[int, str]]]:
    """Return the chunks of each document: the offsets of their first characters, and their texts."""
    chunks: dict[str, list[tuple[int, str]]] = {}
    for fields in values:
        owner, is_chunk, _ = str(fields.get("id", "")).partition(_CHUNK)
        if is_chunk:
            start = fields.get("start_char")
            chunk = (start if isinstance(start, int) else 0, str(fields.get("content", "")))
            chunks.setdefault(owner, []).append(chunk)
    return chunks


def _flatten(line: str) -> dict[str, Any]:
    """Return the fields of a line and of its `metadata`. Raises: UsageError."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError("not valid JSON") from error
    if not isinstance(value, dict):
        raise UsageError("expected a JSON object")
    metadata = value.pop("metadata", None)
    return {**value, **(metadata if isinstance(metadata, dict) else {})}


def _to_line(fields: Mapping[str, Any], chunks: Mapping[str, list[tuple[int, str]]]) -> str:
    values = {name: value for name, value in fields.items() if name not in _DERIVED and value is not None}
    identity = str(values.pop("id", ""))
    if "turn_index" in values:
        return json.dumps({"kind": "conversations", **values})
    if "artifact_type" in values:
        if not values.get("content") and identity in chunks:
            values["content"] = _join(chunks[identity])
        return json.dumps({"kind": "documents", **values})
    # An id of the same form is kept, so that references to it stay true. Any other becomes one that is always the same.
    if not is_note_id(identity):
        source = json.dumps([identity, values.get("content"), values.get("type")])
        identity = f"mem_{hashlib.sha256(source.encode()).hexdigest()[:12]}"
    return json.dumps({"kind": "notes", "id": identity, **values})


def _join(chunks: Iterable[tuple[int, str]]) -> str:
    """Return the text of overlapping chunks, given with the offsets of their first characters."""
    text = ""
    for start, content in sorted(chunks):
        text = text[:start] + content if start <= len(text) else text + content
    return text


def convert_s4(lines: Iterable[str], has_file: HasFile) -> list[ConvertedLine]:
    """Convert documents. Chunks of files that the repository has are left out: gitmem indexes files itself."""
    converted: list[ConvertedLine] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            converted.append(_convert_document(number, json.loads(line), has_file))
        except (ValueError, RecursionError):
            converted.append(ConvertedLine(number, "", "not valid JSON"))
    return converted


def _convert_document(number: int, value: Any, has_file: HasFile) -> ConvertedLine:
    if not isinstance(value, dict):
        return ConvertedLine(number, "", "expected a JSON object")
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    identity, path = str(value.get("doc_id") or value.get("id") or ""), str(metadata.get("file_path") or "")
    if not identity:
        return ConvertedLine(number, "", "the field `doc_id` is missing")
    is_chunk = path and identity.removeprefix(path).lstrip(":").removeprefix("chunk_").isdecimal()
    if is_chunk and has_file(path):
        return ConvertedLine(number, "", f"a chunk of `{path}`, which gitmem indexes itself")
    texts = {name: metadata[name] for name in ("file_path", "file_type") if isinstance(metadata.get(name), str)}
    document = {"kind": "documents", "source": MANUAL, "source_id": identity, "content": value.get("content"),
                "metadata": texts}  # fmt: skip
    return ConvertedLine(number, json.dumps(document))
