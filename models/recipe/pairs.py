"""Make training pairs from a source file: a query that a person might write, and the code that answers it.

gitmem's own chunker divides the code, so that the model is trained on the texts that it will embed. The code never
contains its query: the comment that became the query is removed, and a name that became the query is masked.
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
from gitmem.chunking.chunk_size import DEFAULT_BOUNDS
from gitmem.chunking.content_language import refine_language
from gitmem.chunking.grammar import COMMENT, Grammar
from gitmem.chunking.grammars import find_grammar
from gitmem.chunking.lines import Lines
from gitmem.chunking.outline import outline_tree
from gitmem.chunking.parse import UnparsedError, parse_tree
from gitmem.types import Chunk
from models.recipe.prose import first_sentences, is_notice, is_query, words_of

MAX_CODE: Final = 1500
"""Maximum length of the code in characters, about that of a chunk."""

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
"""Patterns of tree-sitter for documentation that is not a comment."""

_CONTAINERS: Final = frozenset({"class", "interface", "struct", "enum", "trait", "impl", "namespace", "module"})
_TEST: Final = re.compile(r"^(?:test|should)(?=[A-Z_ ])|^Test(?=[A-Z_])")
_WORD: Final = re.compile(r"\w+")
_ELIXIR_DOC: Final = re.compile(r"@(?:module|type)?doc\s+(?:~[sS])?$")


class Pair(NamedTuple):
    """A query and the code that answers it.

    `kind` is doc, class, module, name, test, inline, heading or mention. `name` is the qualified name, '' for a file or
    a part of a definition. `digest` is that of the code before its name was masked, white space excluded.
    """

    query: str
    code: str
    language: str
    kind: str
    path: str
    name: str
    digest: str


class Source(NamedTuple):
    """A parsed file: its chunks, and the spans of its comments and docstrings."""

    data: bytes
    language: str
    path: str
    chunks: list[Chunk]
    comments: list[tuple[int, int]]
    docs: list[tuple[int, int]]


def read_source(data: bytes, language: str, path: str) -> Source | None:
    """Parse and chunk a file. Returns None if it has no grammar or cannot be parsed."""
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
    comments, docs = _captured(root, _node_queries(language, grammar.parser))
    return Source(data, "typescript" if language == "tsx" else language, path, chunks, comments, docs)


def iter_pairs(source: Source) -> Iterator[Pair]:
    """Yield all pairs of one file, in the order of the file."""
    seen: set[str] = set()
    for chunk in source.chunks:
        # Only chunks of one definition, and only its first part if it was split.
        if not chunk.symbol or ", " in chunk.symbol or chunk.chunk_type == "section" or chunk.symbol in seen:
            continue
        seen.add(chunk.symbol)
        yield from _of_chunk(source, chunk)
    yield from _of_file(source)
    yield from _inline(source)


def digest_of(code: str) -> str:
    """Return a digest that ignores white space."""
    return hashlib.sha256("".join(code.split()).encode()).hexdigest()[:20]


def body_digests(source: Source) -> Iterator[str]:
    """Yield the digests of a file's definitions without documentation, equal to those of the pairs made from them."""
    for chunk in source.chunks:
        if chunk.symbol:
            yield digest_without_comments(source, chunk)


def digest_without_comments(source: Source, chunk: Chunk) -> str:
    """Return the digest of one definition without documentation."""
    return digest_of(_code_without(source, chunk, _doc_spans(source, chunk)))


class Documented(NamedTuple):
    """A definition with documentation that reads like a query. `spans` are those of the documentation, in bytes."""

    query: str
    chunk: Chunk
    spans: list[tuple[int, int]]


def documented_chunks(source: Source) -> Iterator[Documented]:
    """Yield the definitions of a file whose documentation reads like a query."""
    for chunk in source.chunks:
        if not chunk.symbol or ", " in chunk.symbol or chunk.chunk_type == "section":
            continue
        spans = _doc_spans(source, chunk)
        text = b"\n".join(source.data[a:b] for a, b in spans).decode("utf-8", "replace")
        query = first_sentences(text, chunk.symbol.rpartition(".")[2])
        if is_query(query) and has_substance(_code_without(source, chunk, spans)):
            yield Documented(query, chunk, spans)


def described_file(source: Source) -> tuple[str, list[tuple[int, int]]]:
    """Return the description at the head of a file, "" if it has none that reads like a query, and its comments there.

    Whoever searches for the file by its description has to remove all of them, because they often repeat it.
    """
    query = first_sentences(_doc_text_of_file(source), "")
    first = next((chunk.start for chunk in source.chunks if chunk.symbol), len(source.data))
    spans = [span for span in (*source.docs[:1], *source.comments) if span[0] < first]
    return (query, spans) if is_query(query) else ("", [])


def _make(source: Source, symbol: str, kind: str, query: str, code: str) -> Pair:
    visible = _masked(code, symbol.rpartition(".")[2]) if kind in ("name", "test") else code
    return Pair(query, visible, source.language, kind, source.path, symbol, digest_of(code))


def _of_chunk(source: Source, chunk: Chunk) -> Iterator[Pair]:
    name = chunk.symbol.rpartition(".")[2]
    spans = _doc_spans(source, chunk)
    code = _code_without(source, chunk, spans)
    if not has_substance(code):
        return
    is_container = chunk.chunk_type in _CONTAINERS
    query = first_sentences(b"\n".join(source.data[a:b] for a, b in spans).decode("utf-8", "replace"), name)
    if is_query(query):
        yield _make(source, chunk.symbol, "class" if is_container else "doc", query, code)
        return
    # Without documentation, the words of the name are the query: of a test, these describe what it checks.
    words = words_of(chunk.symbol)
    if _TEST.search(name) and not is_container:
        phrase = re.sub(r"^test ", "", " ".join(words_of(name)))
        if len(phrase.split()) >= 3:
            yield _make(source, chunk.symbol, "test", phrase, code)
    elif len(words) >= 2 and len(words_of(name)) >= 2 and not is_container:
        yield _make(source, chunk.symbol, "name", " ".join(words), code)


def _doc_spans(source: Source, chunk: Chunk) -> list[tuple[int, int]]:
    """Return the span of a chunk's docstring, or else of the comments before it."""
    inner = [span for span in _between(source.docs, chunk.start, chunk.end) if _inside(span, chunk)]
    return inner[:1] or _leading(source, chunk)


def _leading(source: Source, chunk: Chunk) -> list[tuple[int, int]]:
    """Return the spans of the comments at the start of a chunk."""
    spans = []
    at = chunk.start
    for start, end in _between(source.comments, chunk.start, chunk.end):
        if source.data[at:start].strip():
            break
        spans.append((start, end))
        at = end
    return spans


def _inside(span: tuple[int, int], chunk: Chunk) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in chunk.parts)


def _code_without(source: Source, chunk: Chunk, spans: list[tuple[int, int]]) -> str:
    """Return the chunk's own text without the spans and the keywords that introduce them, and without indentation."""
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
    """Yield the description at the head of the file with the signatures in the file as code."""
    head = _doc_text_of_file(source)
    query = first_sentences(head, "")
    if not is_query(query):
        return
    lines = [_signature(source, chunk) for chunk in source.chunks if chunk.symbol and chunk.chunk_type != "module"]
    code = "\n".join(dict.fromkeys(line for line in lines if line))[:MAX_CODE]
    if has_substance(code) and code.count("\n") >= 2:
        yield _make(source, "", "module", query, code)


def _doc_text_of_file(source: Source) -> str:
    """Return the docstring of the file, else the first comment before all definitions that is not a licence notice."""
    first = next((chunk.start for chunk in source.chunks if chunk.symbol), len(source.data))
    if source.docs and source.docs[0][0] < first:
        return _text(source, source.docs[:1])
    # A licence notice may precede the description. Anything else than comments ends the head.
    at = 0
    for start, end in _joined(source.data, source.comments[:60]):
        between = source.data[at:start].strip()
        if between not in (b"", b"<?php") or start >= first:
            return ""
        text = _text(source, [(start, end)])
        if not is_notice(text) and is_query(first_sentences(text, "")):
            return text
        at = end
    return ""


def _text(source: Source, spans: list[tuple[int, int]]) -> str:
    return b"\n".join(source.data[a:b] for a, b in spans).decode("utf-8", "replace")


def _signature(source: Source, chunk: Chunk) -> str:
    """Return the first line of a chunk that is code, not a comment or annotation."""
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
    """Yield the comments inside functions, each with the lines that it introduces."""
    data = source.data
    functions = [
        chunk for chunk in source.chunks if chunk.chunk_type in ("function", "method") and len(chunk.parts) == 1
    ]
    for chunk in functions:
        spans = _joined(data, _between(source.comments, chunk.start, chunk.end))
        leading = len(_leading(source, chunk)) > 0
        for place, (start, end) in enumerate(spans):
            # Only comments on their own, indented line: not those behind code, nor the documentation.
            margin = data[data.rfind(b"\n", 0, start) + 1 : start]
            if (leading and not place) or margin.strip() or not margin:
                continue
            query = first_sentences(data[start:end].decode("utf-8", "replace"), "")
            stop = spans[place + 1][0] if place + 1 < len(spans) else chunk.end
            code = _block(data[end:stop].decode("utf-8", "replace"), len(margin.expandtabs(4)))
            if len(query.split()) >= 4 and is_query(query) and code.count("\n") >= 2 and has_substance(code):
                yield _make(source, chunk.symbol, "inline", query, code)


def _block(text: str, margin: int) -> str:
    """Return the lines below a comment that are indented at least as deep, up to a blank line after the third."""
    block: list[str] = []
    for line in text.splitlines():
        line = line.expandtabs(4)
        if not line.strip():
            if len(block) > 3:
                break
            continue
        if len(line) - len(line.lstrip()) < margin or len(block) >= 24:
            break
        block.append(line[margin:].rstrip())
    return "\n".join(block)[:MAX_CODE]


def _joined(data: bytes, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join line comments on consecutive lines to one comment."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and not data[joined[-1][1] : start].strip() and data.count(b"\n", joined[-1][1] - 1, start) <= 1:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def has_substance(code: str) -> bool:
    """Return whether code has enough different identifiers to be worth finding, and no data in long lines."""
    words = re.findall(r"[A-Za-z_]\w+", code)
    return len(words) >= 8 and len(set(words)) >= 6 and max(map(len, code.splitlines()), default=0) <= 600


def _masked(code: str, name: str) -> str:
    """Replace the name that became the query by `f`."""
    if not name.isidentifier():
        return code.replace(name, "f") if name else code
    return _WORD.sub(lambda word: "f" if word[0] == name else word[0], code)


def _between(spans: list[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    low = bisect_left(spans, (start, 0))
    high = bisect_left(spans, (end, 0))
    return spans[low:high]


def _captured(root: Node, queries: tuple[Query, Query | None]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    comments = QueryCursor(queries[0]).captures(root).get("comment", [])
    docs = QueryCursor(queries[1]).captures(root).get("doc", []) if queries[1] is not None else []
    return _spans(comments), _spans(docs)


def _spans(nodes: list[Node]) -> list[tuple[int, int]]:
    spans = sorted({(node.start_byte, node.end_byte) for node in nodes})
    return [span for place, span in enumerate(spans) if not place or span[0] >= spans[place - 1][1]]


@cache
def _node_queries(language: str, parser: str) -> tuple[Query, Query | None]:
    """Return the tree-sitter queries for a grammar's comments and, if it has them, its docstrings."""
    grammar = cast(Grammar, find_grammar(language))
    parser_language = pack.get_language(cast("pack.SupportedLanguage", parser))
    node_types = {
        parser_language.node_kind_for_id(i)
        for i in range(parser_language.node_kind_count)
        if parser_language.node_kind_is_named(i)
    }
    comment_types = [name for name, rule in grammar.table.items() if rule.shape == COMMENT and name in node_types]
    comments = Query(parser_language, "\n".join(f"({name}) @comment" for name in comment_types))
    extra = _DOCSTRINGS.get(language)
    return comments, Query(parser_language, extra) if extra else None
