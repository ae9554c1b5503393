"""An example query about this repository: the first sentence about one of its functions or classes.

Any query returns results from an index with code, so the example is not tried.
"""

import re
from collections.abc import Iterator
from typing import Final

import numpy as np

from gitmem.answering.searcher import Searcher
from gitmem.arrays import NDArray, is_among
from gitmem.chunking.blob_text import text_of
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.git.path_encoding import path_text
from gitmem.search.path_roles import path_role
from gitmem.search.qualified_names import own_name
from gitmem.types import CHUNK_TYPES
from gitmem.words import decode, split_identifier

_SAMPLE: Final = 1000
_FILES: Final = 24
"""Files that are looked at: their blobs are read, which costs some milliseconds."""

_CHUNKS: Final = 8
"""Chunks of a file that are looked at."""

_MIN_WORDS: Final = 3
_TELLING_WORDS: Final = 4
_MAX_WORDS: Final = 8
_LINES: Final = 6
"""First lines of a chunk, in which its documentation begins."""

_NAMED: Final = tuple(map(CHUNK_TYPES.index, ("class", "interface", "struct", "trait", "function", "method")))
_COMMENT: Final = re.compile(
    r"""^\s*(?:[rRbBuU]{0,2}\"{3}|'{3}|/\*\*?|//[/!]?|\#+|;+|--+|\*)\s*(.*?)\s*(?:\"{3}|'{3}|\*/)?$"""
)
_COMMENT_ENDS: Final = ('"""', "'''", "*/")
_STOP: Final = re.compile(r"\.(?=\s|$)")
_NO_BEGINNINGS: Final = frozenset(
    "and are because but either even he however if is it note now otherwise she so since that then there these they "
    "this those though todo unless we when whether while you".split()
)
"""First words of sentences that say something about the code instead of naming what it does."""

_SENTENCE: Final = re.compile(r"[^\W\d_]+(?:[ -][^\W\d_]+)*")
"""Words only: the query is printed in quotation marks, to be pasted into a shell."""


def find_example(searcher: Searcher) -> str:
    """Return a query of plain words, "" if the tree has no named code: a sentence of some length if there is one."""
    short = name = ""
    with open_reader(searcher.tree.location, bulk=False, files=searcher.files) as reader:
        for symbol, lines in _iter_chunks(searcher, reader):
            sentence = _first_sentence(lines, own_name(symbol))
            if len(sentence.split()) >= _TELLING_WORDS:
                return sentence
            short, name = short or sentence, name or _words_of(symbol)
    return short or name


def _iter_chunks(searcher: Searcher, reader: ObjectReader) -> Iterator[tuple[str, list[str]]]:
    """Yield symbol and first lines of chunks of ordinary code, from files all over the tree."""
    snapshot, view = searcher.snapshot, searcher.view
    blob_of = snapshot.match(view)
    indexed = np.flatnonzero(blob_of >= 0)
    sample = indexed[:: max(1, len(indexed) // _SAMPLE)].tolist()
    code = [entry for entry in sample if not path_role(path_text(view.path(entry)))]
    for entry in code[:: max(1, len(code) // _FILES)][:_FILES]:
        blob = int(blob_of[entry])
        rows = np.arange(*snapshot.blob_first[blob : blob + 2], dtype=np.int64)
        rows = _named_rows(searcher, rows)
        if not len(rows):
            continue
        data = next(iter(reader.read_many([view.oid(entry)])))[1]
        lines = decode(text_of(data or b"", view.language(entry))).split("\n")
        starts = snapshot.gather(("line",), rows)["line"].tolist()
        for symbol, start in zip(snapshot.symbols(rows), starts, strict=True):
            yield symbol, lines[max(0, start - 1) : start - 1 + _LINES]


def _named_rows(searcher: Searcher, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    kinds = searcher.snapshot.gather(("kind",), rows)["kind"]
    return rows[is_among(kinds, _NAMED)][:_CHUNKS]


def _first_sentence(lines: list[str], name: str) -> str:
    """Return the first sentence of the first comment, "" if it is not short, whole, and made of words only.

    In Go it begins with the `name` of the definition, which is left out.
    """
    comment = next((match for line in lines if (match := _COMMENT.match(line)) and match[1]), None)
    if comment is None:
        return ""
    text, *rest = _STOP.split(comment[1], maxsplit=1)
    words = text.split()
    words = words[1:] if words[:1] == [name] else words
    if words and words[0].lower() in _NO_BEGINNINGS:
        return ""
    # Without a full stop or the end of the comment the sentence may go on in the next line.
    is_whole = bool(rest) or comment[0].rstrip().endswith(_COMMENT_ENDS)
    if not is_whole or not _MIN_WORDS <= len(words) <= _MAX_WORDS or not _SENTENCE.fullmatch(text):
        return ""
    return " ".join([words[0].lower() if words[0].istitle() else words[0], *words[1:]])


def _words_of(symbol: str) -> str:
    """Return the words of the last name of a symbol, "" if it is a single one."""
    names = re.findall(r"\w+", symbol.split(", ")[0])
    words = split_identifier(names[-1]) if names else []
    return " ".join(word.lower() for word in words) if len(words) > 1 else ""
