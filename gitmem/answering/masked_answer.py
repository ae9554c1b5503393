"""Mask secrets in an answer before it is shown: only the lines and fields of the results are searched.

Private keys are searched in whole blobs, when these are read.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from gitmem.answering.blame import mask_blame
from gitmem.answering.hit_text import Piece
from gitmem.secrets.masking import mask_lines, mask_text, mask_value

MASKED_NOTE: Final = "keys, tokens and passwords are shown as dots"

if TYPE_CHECKING:
    from gitmem.answering.answer import Answer
    from gitmem.records.code_notes import CodeNote


def mask_answer(answer: "Answer") -> "Answer":
    """Return an answer in which the characters of secrets are dots, with a note if there are any."""
    shown = answer.without_keys or answer
    texts = [_mask_pieces(lines, adjacent) for (_, lines), adjacent in zip(shown.hits, shown.adjacent, strict=True)]
    hits = [(hit, lines) for (hit, _), (lines, _) in zip(answer.hits, texts, strict=True)]
    adjacent = [pieces for _, pieces in texts]
    records = {blob: _mask_fields(fields) for blob, fields in answer.records.items()}
    code_notes = [_mask_notes(notes) for notes in answer.code_notes]
    blames = answer.blames and [blame and mask_blame(blame, mask_text) for blame in answer.blames]
    masked = answer._replace(hits=hits, adjacent=adjacent, records=records, code_notes=code_notes, blames=blames)
    if masked == answer:
        return answer
    return masked._replace(notes=[*answer.notes, MASKED_NOTE])


def _mask_pieces(
    lines: Sequence[str], adjacent: "tuple[Piece | None, Piece | None]"
) -> "tuple[list[str], tuple[Piece | None, Piece | None]]":
    """Mask a chunk and those around it as one text: a value may stand in another chunk than its name."""
    before, after = adjacent
    first = len(before.lines) if before else 0
    masked = mask_lines([*(before.lines if before else []), *lines, *(after.lines if after else [])])
    return masked[first : first + len(lines)], (
        before._replace(lines=masked[:first]) if before else None,
        after._replace(lines=masked[first + len(lines) :]) if after else None,
    )


def _mask_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value if name == "id" else mask_value(value, name) for name, value in fields.items()}


def _mask_notes(notes: "Iterable[CodeNote]") -> "list[CodeNote]":
    return [note._replace(text=mask_text(note.text)) for note in notes]
