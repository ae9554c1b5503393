"""Lines of former exports and of other systems are understood."""

import json

import pytest

from gitmem.errors import UsageError
from gitmem.memory.document import Document
from gitmem.memory.json_lines import parse_item


def test_former_names_of_fields_are_understood() -> None:
    line = {"kind": "document", "artifact_id": "art_01234567", "artifact_type": "doc", "source_system": "wiki",
            "source_url": "https://example.invalid", "content": "text"}  # fmt: skip
    document = parse_item(json.dumps(line))
    assert isinstance(document, Document)
    assert (document.id, document.fields.source, document.content) == ("art_01234567", "wiki", "text")


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(UsageError):
        parse_item(json.dumps({"kind": "notes", "content": "x", "colour": "red"}))
