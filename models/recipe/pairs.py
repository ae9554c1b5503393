"""One source file to training pairs: what a person would ask, and the code that answers it.

Code sides are cut by gitmem's own chunker, so that the model is trained on the texts that it will embed. A pair never
shows its answer: the comment that became the question is taken out of the code, and so is the name where the name is
the question.
"""

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple, cast

import tree_sitter_language_pack as pack
from tree_sitter import Node, Query, QueryCursor

from gitmem.chunking.assembly import Assembler
from gitmem.chunking.chunk import refine_language
from gitmem.chunking.chunk_size import DEFAULT_BOUNDS
from gitmem.chunking.grammar import COMMENT, Grammar
from gitmem.chunking.grammars import find_grammar
from gitmem.chunking.lines import Lines
from gitmem.chunking.outline import outline_tree
from gitmem.chunking.parse import UnparsedError, parse_tree
from gitmem.types import Chunk
from models.recipe.prose import first_sentences, is_notice, is_question, words_of

MAX_CODE: Final = 1500
"""Characters of a code side; a chunk has about as many."""

LANGUAGES: Final = frozenset(
    "bash c cpp csharp elixir go haskell java javascript kotlin lua php python ruby rust scala swift tsx typescript "
    "zig".split()
)

_DOCSTRINGS: Final = {
    "python": """
        (function_definition body: (block . (comment)* . (string) @doc))
        (class_definition body: (block . (comment)* . (string) @doc))
        (module . (comment)* . (string) @doc)
    """,
    "elixir": """
        (unary_operator operand: (call target: (identifier) @word (arguments . (string) @doc))
            (#any-of? @word "doc" "moduledoc" "typedoc"))
        (unary_operator operand: (call target: (identifier) @word (arguments . (sigil) @doc))
            (#any-of? @word "doc" "moduledoc" "typedoc"))
    """,
}
"""Documentation that is not a comment, by query over the syntax tree."""

_BOXES: Final = frozenset({"class", "interface", "struct", "enum", "trait", "impl", "namespace", "module"})
_TEST: Final = re.compile(r"^(?:test|should)(?=[A-Z_ ])|^Test(?=[A-Z_])")
_WORD: Final = re.compile(r"\w+")
_ELIXIR_DOC: Final = re.compile(r"@(?:module|type)?doc\s+(?:~[sS])?$")


class Pair(NamedTuple):
    """A question and the code that answers it.

    `kind` is doc, class, module, name, test, inline, heading or mention; `name` is qualified, '' for a file or a piece;
    `digest` is that of the code before its name was masked, white space left out.
    """

    question: str
    code: str
    language: str
    kind: str
    path: str
    name: str
    digest: str


class Source(NamedTuple):
    """A file taken apart: its chunks, and the spans of its comments and docstrings."""

    data: bytes
    language: str
    path: str
    chunks: list[Chunk]
    comments: list[tuple[int, int]]
    docs: list[tuple[int, int]]


def read_source(data: bytes, language: str, path: str) -> Source | None:
    """Parse and outline a file; None where it has no grammar or does not parse."""
    language = refine_language(data, language)
    grammar = find_grammar(language) if language in LANGUAGES else None
    if grammar is None:
        return None
    try:
        root = parse_tree(data, grammar.parser, 5.0).root_node
    except UnparsedError:
        return None
    outline = outline_tree(data, root, grammar, DEFAULT_BOUNDS)
    chunks = Assembler(data, grammar, DEFAULT_BOUNDS, Lines(data)).assemble(outline)
    query = _queries(language, grammar.parser)
    comments, docs = _captured(root, query)
    return Source(data, "typescript" if language == "tsx" else language, path, chunks, comments, docs)


def iter_pairs(source: Source) -> Iterator[Pair]:
    """All pairs of one file, in order of the file."""
    seen: set[str] = set()
    for chunk in source.chunks:
        if not chunk.symbol or ", " in chunk.symbol or chunk.chunk_type == "section" or chunk.symbol in seen:
            continue
        seen.add(chunk.symbol)
        yield from _of_chunk(source, chunk)
    yield from _of_file(source)
    yield from _inline(source)


def digest_of(code: str) -> str:
    """What two pieces of code share that differ in white space alone."""
    return hashlib.sha256("".join(code.split()).encode()).hexdigest()[:20]


def body_digests(source: Source) -> Iterator[str]:
    """The digests of a file's definitions, documentation left out, as the pairs made of them would carry."""
    for chunk in source.chunks:
        if chunk.symbol:
            yield digest_of(_code_without(source, chunk, _doc_spans(source, chunk)))


def _make(source: Source, symbol: str, kind: str, question: str, code: str) -> Pair:
    shown = _masked(code, symbol.rpartition(".")[2]) if kind in ("name", "test") else code
    return Pair(question, shown, source.language, kind, source.path, symbol, digest_of(code))


def _of_chunk(source: Source, chunk: Chunk) -> Iterator[Pair]:
    name = chunk.symbol.rpartition(".")[2]
    spans = _doc_spans(source, chunk)
    code = _code_without(source, chunk, spans)
    if not has_substance(code):
        return
    boxed = chunk.chunk_type in _BOXES
    question = first_sentences(b"\n".join(source.data[a:b] for a, b in spans).decode("utf-8", "replace"), name)
    if is_question(question):
        yield _make(source, chunk.symbol, "class" if boxed else "doc", question, code)
        return
    words = words_of(chunk.symbol)
    if _TEST.search(name) and not boxed:
        spoken = re.sub(r"^test ", "", " ".join(words_of(name)))
        if len(spoken.split()) >= 3:
            yield _make(source, chunk.symbol, "test", spoken, code)
    elif len(words) >= 2 and len(words_of(name)) >= 2 and not boxed:
        yield _make(source, chunk.symbol, "name", " ".join(words), code)


def _doc_spans(source: Source, chunk: Chunk) -> list[tuple[int, int]]:
    """The comments that lead a chunk, or its docstring."""
    inner = [span for span in _between(source.docs, chunk.start, chunk.end) if _inside(span, chunk)]
    return inner[:1] or _leading(source, chunk)


def _leading(source: Source, chunk: Chunk) -> list[tuple[int, int]]:
    found = []
    at = chunk.start
    for start, end in _between(source.comments, chunk.start, chunk.end):
        if source.data[at:start].strip():
            break
        found.append((start, end))
        at = end
    return found


def _inside(span: tuple[int, int], chunk: Chunk) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in chunk.parts)


def _code_without(source: Source, chunk: Chunk, spans: list[tuple[int, int]]) -> str:
    """The chunk's own text less the given spans, each with the keyword that introduces it, indentation evened out."""
    texts = []
    for start, end in chunk.parts:
        text = b""
        for low, high in spans:
            if start <= low and high <= end:
                text += source.data[start:low]
                start = high
        text += source.data[start:end]
        texts.append(text.decode("utf-8", "replace"))
    lines = [line for line in "\n".join(texts).replace("\t", "    ").splitlines() if line.strip()]
    lines = [line for line in lines if not _ELIXIR_DOC.search(line)]
    margin = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    return "\n".join(line[margin:].rstrip() for line in lines)[:MAX_CODE]


def _of_file(source: Source) -> Iterator[Pair]:
    """What the file's head says, against its outline."""
    head = _doc_text_of_file(source)
    question = first_sentences(head, "")
    if not is_question(question):
        return
    lines = [_signature(source, chunk) for chunk in source.chunks if chunk.symbol and chunk.chunk_type != "module"]
    code = "\n".join(dict.fromkeys(line for line in lines if line))[:MAX_CODE]
    if has_substance(code) and code.count("\n") >= 2:
        yield _make(source, "", "module", question, code)


def _doc_text_of_file(source: Source) -> str:
    """The docstring of the file, or its first comment that is neither a licence nor the doc of the first definition."""
    first = next((chunk.start for chunk in source.chunks if chunk.symbol), len(source.data))
    if source.docs and source.docs[0][0] < first:
        return _text(source, source.docs[:1])
    at = 0
    for start, end in _joined(source.data, source.comments[:60]):
        between = source.data[at:start].strip()
        if between not in (b"", b"<?php") or start >= first:
            return ""
        text = _text(source, [(start, end)])
        if not is_notice(text) and is_question(first_sentences(text, "")):
            return text
        at = end
    return ""


def _text(source: Source, spans: list[tuple[int, int]]) -> str:
    return b"\n".join(source.data[a:b] for a, b in spans).decode("utf-8", "replace")


def _signature(source: Source, chunk: Chunk) -> str:
    """The first line of a chunk that is code."""
    at = chunk.start
    for start, end in _between(source.comments, chunk.start, chunk.end):
        if source.data[at:start].strip():
            break
        at = end
    for line in source.data[at : chunk.end].decode("utf-8", "replace").splitlines():
        line = line.strip()
        if line and not line.startswith(("@", "#[", "[")):
            return line[:160]
    return ""


def _inline(source: Source) -> Iterator[Pair]:
    """A comment inside a function against the lines that it introduces."""
    data = source.data
    codes = [chunk for chunk in source.chunks if chunk.chunk_type in ("function", "method") and len(chunk.parts) == 1]
    for chunk in codes:
        spans = _joined(data, _between(source.comments, chunk.start, chunk.end))
        leading = len(_leading(source, chunk)) > 0
        for place, (start, end) in enumerate(spans):
            margin = data[data.rfind(b"\n", 0, start) + 1 : start]
            if (leading and not place) or margin.strip() or not margin:
                continue
            question = first_sentences(data[start:end].decode("utf-8", "replace"), "")
            stop = spans[place + 1][0] if place + 1 < len(spans) else chunk.end
            code = _block(data[end:stop].decode("utf-8", "replace"), len(margin.expandtabs(4)))
            if len(question.split()) >= 4 and is_question(question) and code.count("\n") >= 2 and has_substance(code):
                yield _make(source, chunk.symbol, "inline", question, code)


def _block(text: str, margin: int) -> str:
    """The lines below a comment that stand at least as deep as it, up to a blank line after the third."""
    kept: list[str] = []
    for line in text.splitlines():
        line = line.expandtabs(4)
        if not line.strip():
            if len(kept) > 3:
                break
            continue
        if len(line) - len(line.lstrip()) < margin or len(kept) >= 24:
            break
        kept.append(line[margin:].rstrip())
    return "\n".join(kept)[:MAX_CODE]


def _joined(data: bytes, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Line comments on following lines are one comment."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and not data[joined[-1][1] : start].strip() and data.count(b"\n", joined[-1][1] - 1, start) <= 1:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def has_substance(code: str) -> bool:
    """Enough different identifiers to be worth finding, and no data in long lines."""
    found = re.findall(r"[A-Za-z_]\w+", code)
    return len(found) >= 8 and len(set(found)) >= 6 and max(map(len, code.splitlines()), default=0) <= 600


def _masked(code: str, name: str) -> str:
    """Code without the name that became the question."""
    if not name.isidentifier():
        return code.replace(name, "f") if name else code
    return _WORD.sub(lambda word: "f" if word[0] == name else word[0], code)


def _between(spans: list[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    low = bisect_left(spans, (start, 0))
    high = bisect_left(spans, (end, 0))
    return spans[low:high]


def _captured(root: Node, queries: tuple[Query, Query | None]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    comments = QueryCursor(queries[0]).captures(root).get("lead", [])
    docs = QueryCursor(queries[1]).captures(root).get("doc", []) if queries[1] is not None else []
    return _spans(comments), _spans(docs)


def _spans(nodes: list[Node]) -> list[tuple[int, int]]:
    found = sorted({(node.start_byte, node.end_byte) for node in nodes})
    return [span for place, span in enumerate(found) if not place or span[0] >= found[place - 1][1]]


@cache
def _queries(language: str, parser: str) -> tuple[Query, Query | None]:
    """The comments of a grammar, and its docstrings where it has any."""
    grammar = cast(Grammar, find_grammar(language))
    tongue = pack.get_language(cast("pack.SupportedLanguage", parser))
    known = {tongue.node_kind_for_id(i) for i in range(tongue.node_kind_count) if tongue.node_kind_is_named(i)}
    leads = [name for name, rule in grammar.table.items() if rule.shape == COMMENT and name in known]
    comments = Query(tongue, "\n".join(f"({name}) @lead" for name in leads))
    extra = _DOCSTRINGS.get(language)
    return comments, Query(tongue, extra) if extra else None
