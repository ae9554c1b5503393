"""Find the definitions of names in a syntax tree, and the references to names, in the order of the text.

Only names are recorded, with their receivers as written. Which definition a reference means is decided when somebody
asks, because that depends on the other files of a tree, and a blob belongs to many trees.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from gitmem.chunking.bound_names import find_bound_names
from gitmem.chunking.described_heads import find_descriptions
from gitmem.chunking.further_names import add_further_names
from gitmem.chunking.grammar import Node
from gitmem.chunking.hidden_names import find_hidden_names
from gitmem.chunking.imported_names import Name, find_imported_names
from gitmem.chunking.name_spelling import MAX_NAME, PRIMITIVES, PlainNames, Spelling, spelling_of
from gitmem.chunking.occurrence_patterns import PATTERNS
from gitmem.chunking.occurrence_query import find_captures, has_names
from gitmem.chunking.privacy import privacy_of
from gitmem.chunking.receivers import JOINTS, NO_JOINTS, bound_type, receivers_of
from gitmem.chunking.template_mentions import find_template_mentions
from gitmem.chunking.text_names import find_text_names
from gitmem.chunking.text_node import TextNode
from gitmem.chunking.text_references import references_in_text
from gitmem.chunking.text_roles import find_roles
from gitmem.types import (
    DEFINING,
    EXPORTS,
    NO_NAMES,
    OCCURRENCE_KINDS,
    PRIVATE_MARK,
    UNKNOWN_RECEIVER,
    NameColumns,
)

if TYPE_CHECKING:
    from gitmem.chunking.outline import Unit
    from gitmem.chunking.unit_names import UnitName

    _FindUnits = Callable[[Mapping[int, bytes]], Iterable[UnitName]]
    """Returns the names of units, given the starts and texts of the definitions that are known."""

_MAX_NODES: Final = 600_000
"""Nodes of a tree that are looked at. Files with more are generated; those after the first are left out."""

_MAX_OCCURRENCES: Final = 60_000
_CODES: Final = {kind: code for code, kind in enumerate(OCCURRENCE_KINDS)}
_CALL, _READ, _NAME, _BOUND, _IMPORT, _ALIAS, _VALUE = (
    _CODES[kind] for kind in ("call", "read", "name", "bound", "import", "alias", "value")
)
_TYPED: Final = frozenset({_BOUND, _VALUE, _CODES["type"]})
"""Names that may have a type: variables, fields, and parameters of types, `T: Load`."""

_DEFINITIONS: Final = ("function", "class", "value")
_OTHERS: Final = ("base", "decorator", "call", "type", "bound", "read")
"""Kinds by rank: of several kinds at one place the first one counts."""

_MEMBER_MARKS: Final = (b".", b"->", b"::")

_CALLED_BY_BRACKETS: Final = frozenset({"python", "starlark", "javascript", "typescript", "tsx", "go", "dart", "zig"})
"""Languages whose calls show by the bytes after a name. Patterns for them would capture most names twice."""

_PATHED: Final = frozenset({"rust"})
"""Languages that pass functions by their paths, `map(Item::load)`, which no pattern tells from other names."""

_WITH_VARIABLES: Final = frozenset({"c", "cpp"})
"""Languages with patterns that do not find all variables outside of functions."""

_TAGGED: Final = frozenset({"vue", "svelte", "astro"})
"""Languages whose names are tags."""

_QUOTED: Final = re.compile(rb"""'[^'\n]*'|"(?:[^"\\\n]|\\.)*\"""")
_QUOTES: Final = frozenset({b"'", b'"'})
_OPENINGS: Final = frozenset({b"(", b"`"})
_CALL_STARTS: Final = b"(`<?! "
_MARKED_CALL: Final = re.compile(rb"(?:\?\.|!)?\s?[(]")
_ANGLES: Final = re.compile(rb"=>|->|&&|[|][|]|[<>]")
_MAX_TYPES: Final = 400
"""Bytes of the type arguments of a call."""

_HASHED: Final = frozenset({"javascript", "typescript", "tsx"})
"""Languages in which a sign that is no part of a name begins private members: `this.#load()`."""

_HASH: Final = ord("#")
_DOT: Final = ord(".")
_SCOPE: Final = b"::"

_SHORT: Final = 2
"""Letters of names that are hardly anything but variables, unless the file defines them."""

_CHAIN_REACH: Final = 100
"""Bytes before a name in which the dot of a chain is looked for."""


def find_occurrences(data: bytes, root: Node, language: str, outline: "Unit") -> NameColumns:
    """Return the definitions and references of a parsed file, ordered by line. `outline` has the units of the file."""
    captures = _find_captures(data, root, language)
    find_units = partial(_find_units, data, root, language, outline)
    names, statements = find_imported_names(data, captures.get("import", ()), language)
    _add_names(data, captures, find_units, statements, names, language)
    names += [(each.start, _CODES[each.kind], each.text, b"") for each in find_hidden_names(data, root, language)]
    written = find_text_names(data, root, language)
    names += [(each.start, _CODES[each.kind], each.name, each.receiver) for each in written]
    names += [
        (start, _IMPORT, each.name.encode()[:MAX_NAME], each.module.encode())
        for start, each in find_template_mentions(data, language)
    ]
    if not names:
        return NO_NAMES
    names.sort(key=itemgetter(0))
    starts, kinds, texts, receivers = zip(*names[:_MAX_OCCURRENCES], strict=True)
    feeds = np.flatnonzero(np.frombuffer(data, np.uint8) == 10)
    return NameColumns((1 + np.searchsorted(feeds, np.array(starts))).tolist(), kinds, texts, receivers)


def _find_captures(data: bytes, root: Node, language: str) -> Mapping[str, Sequence[Node]]:
    """Return the nodes that the patterns of a language capture. A tree without a parser has them itself."""
    if isinstance(root, TextNode):
        return root.captures()
    nodes = root.descendant_count
    return find_captures(language, root, len(data) if nodes <= _MAX_NODES else len(data) * _MAX_NODES // nodes)


def _find_units(
    data: bytes, root: Node, language: str, outline: "Unit", known: Mapping[int, bytes]
) -> "Iterable[UnitName]":
    """Return the names of units that are not among the known definitions, if the language needs them."""
    if language in _WITH_VARIABLES:
        from gitmem.chunking.unit_names import find_variables

        return find_variables(data, outline)
    # The units of Terraform are blocks and their attributes, which have names of other forms.
    if language in PATTERNS or language == "terraform" or not has_names(language):
        return ()
    from gitmem.chunking.unit_names import find_unit_names  # most files need no outline for their names

    return find_unit_names(data, root, outline, spelling_of(language).letters, known)


def _add_names(
    data: bytes,
    captures: Mapping[str, Sequence[Node]],
    find_units: "_FindUnits",
    statements: list[tuple[int, int]],
    names: list[Name],
    language: str,
) -> None:
    """Add the captured names outside of import statements to those of the imports, each place once."""
    places = _find_places(data, captures, find_units, {name for _, _, name, _ in names}, language)
    last = statements[-1][1] if statements else 0
    # A field or constant is a definition of its own, and has a type as well.
    typed = {node.start_byte for node in captures.get("bound", ())}
    find_receiver = receivers_of(data, language)
    joints = frozenset(JOINTS.translate(None, NO_JOINTS.get(language, b"")))
    is_hashed, ends_lines, is_script = language in _HASHED, language == "go", language == "bash"
    joined = joints | {_HASH} if is_hashed else joints
    is_private = privacy_of(language)
    # In order already, the names need no sort by a key later: numbers alone are sorted much faster.
    for start in sorted(places):
        code, text = places[start]
        if start < last and _is_inside(start, statements):
            continue
        if code in _TYPED:
            type_ = bound_type(data, start, start + len(text), language) if start in typed else b""
            if type_:
                names.append((start, _BOUND, text, type_))
            if code == _BOUND or (is_script and code == _VALUE and not text.isupper()):
                continue  # a variable of the function or script alone
        receiver = b""
        before = data[start - 1]
        if before in joined and start:
            if before == _HASH:
                receiver = find_receiver(start - 1) if start > 1 and data[start - 2] in joints else b""
            elif before != _DOT or data[start - 2 : start] != b"..":  # two dots are a range, and three spread a list
                receiver = find_receiver(start)
                if code == _VALUE and language == "javascript" and receiver not in EXPORTS:
                    code = _READ  # a value assigned to an object changes its state
        elif ends_lines and code == _CALL and _is_chained(data, start):  # with the dot of a chain of calls
            receiver = UNKNOWN_RECEIVER
        if code < DEFINING and is_private is not None and is_private(data, start):
            receiver = PRIVATE_MARK + receiver
        names.append((start, code, text, receiver))


def _find_places(
    data: bytes, captures: Mapping[str, Sequence[Node]], find_units: "_FindUnits", imported: set[bytes], language: str
) -> dict[int, tuple[int, bytes]]:
    """Return kind and text of the definitions of a file, its references, and mentions of names that it knows."""
    places = _captured_names(data, captures, find_units, spelling_of(language))
    references = [(_CODES[kind], pattern) for kind, pattern in references_in_text(language)]
    for node in captures.get("expression", ()):
        _add_expression(data, places, node, references)
    if language in _TAGGED:
        _add_components(data, places, captures.get("name", ()))
        return places
    # Most other identifiers are local variables. One in capitals may be a class or a constant of another file.
    fields = _fields(captures) if language == "c" else frozenset()
    known = imported.union(text for at, (code, text) in places.items() if code < DEFINING and at not in fields)
    bound = find_bound_names(data, captures, language)
    nodes = captures.get("name", ())
    _add_mentions(data, places, nodes, known, bound, bracketed=language in _CALLED_BY_BRACKETS)
    add_further_names(data, places, captures, language)
    if language in _PATHED:
        _add_path_ends(data, places, nodes)
    _change_roles(data, places, language)
    for first, last in find_descriptions(data, language):
        for start in range(first, last):
            places.pop(start, None)
    return places


def _fields(captures: Mapping[str, Sequence[Node]]) -> frozenset[int]:
    """Return where the fields of structures of C are defined, which no bare name means."""
    return frozenset(node.start_byte for node in captures.get("value", ()) if node.type == "field_identifier")


def _change_roles(data: bytes, names: dict[int, tuple[int, bytes]], language: str) -> None:
    """Change the kind of references that a statement uses otherwise than the syntax tree shows."""
    for role in find_roles(data, language):
        known = names.get(role.start)
        if known[0] >= DEFINING if known is not None else role.is_certain:
            names[role.start] = _CODES[role.kind], role.text


def _is_chained(data: bytes, start: int) -> bool:
    """Return whether a name follows a dot at the end of a line above it."""
    return data[start - 1] in b"\t\n " and data[max(0, start - _CHAIN_REACH) : start].rstrip().endswith(b".")


def _add_mentions(
    data: bytes,
    names: dict[int, tuple[int, bytes]],
    nodes: Iterable[Node],
    known: set[bytes],
    bound: frozenset[bytes] | None,
    *,
    bracketed: bool,
) -> None:
    """Add mentions of known names and, if calls show by brackets, mark the calls among all names."""
    # Most of a file's identifiers come by here, so the usual cases are decided by one byte, without a call.
    ends = data + b" "
    if bracketed:
        for start, (code, text) in names.items():
            if code == _READ and ends[start + len(text)] in _CALL_STARTS and _is_called(data, start + len(text)):
                names[start] = _CALL, text
    for node in nodes:
        start = node.start_byte
        if start in names:
            continue
        end = node.end_byte
        text = data[start:end]
        if bracketed and ends[end] in _CALL_STARTS and _is_called(data, end):
            if len(text) <= MAX_NAME and text not in PRIMITIVES:
                names[start] = _CALL, text
        # Words between backticks, as in Kotlin, are written in another way where they are defined.
        elif len(text) <= MAX_NAME and (
            text in known
            or text[:1].isupper()
            or (bound is not None and text not in bound and len(text) > _SHORT and text[:1] != b"`")
        ):
            names[start] = _NAME, text


def _add_path_ends(data: bytes, names: dict[int, tuple[int, bytes]], nodes: Iterable[Node]) -> None:
    """Add mentions of the last names of paths."""
    for node in nodes:
        start, end = node.start_byte, node.end_byte
        if data[start - 2 : start] == _SCOPE and data[end : end + 2] != _SCOPE and end - start <= MAX_NAME:
            names.setdefault(start, (_NAME, data[start:end]))


def _add_components(data: bytes, names: dict[int, tuple[int, bytes]], tags: Iterable[Node]) -> None:
    """Add the components that tags name, as calls: `<Panel>`, and `<my-panel>` for `MyPanel`."""
    for node in tags:
        start = node.start_byte
        text = data[start : node.end_byte]
        if b"-" in text:
            text = b"".join(part[:1].upper() + part[1:] for part in text.split(b"-"))
        is_end = data[start - 1 : start] == b"/"
        if text[:1].isupper() and text.isalnum() and len(text) <= MAX_NAME and not is_end:
            names[start] = _CALL, text


def _add_expression(
    data: bytes,
    names: dict[int, tuple[int, bytes]],
    node: Node,
    references: Sequence[tuple[int, re.Pattern[bytes]]],
) -> None:
    """Add the references in an expression; one that is a name alone is a mention, of a handler for example."""
    start, end = node.start_byte, node.end_byte
    text = data[start:end].strip()
    if text.replace(b"_", b"").isalnum() and not text[:1].isdigit():
        names.setdefault(data.index(text, start), (_NAME, text[:MAX_NAME]))
    quoted = [string.span() for string in _QUOTED.finditer(data, start, end)] if b"'" in text or b'"' in text else []
    for code, pattern in references:
        for found in pattern.finditer(data, start, end):
            at = found.start(1)
            # A call in a string may be one of a template in it.
            if len(found[1]) <= MAX_NAME and (code == _CALL or not quoted or not _is_inside(at, quoted)):
                names.setdefault(at, (code, found[1]))


def _captured_names(
    data: bytes, captures: Mapping[str, Sequence[Node]], find_units: "_FindUnits", spelling: Spelling
) -> dict[int, tuple[int, bytes]]:
    """Return kind and text of the captured names by their start; those of kind `name` are left out."""
    names: dict[int, tuple[int, bytes]] = {}
    plain = PlainNames(spelling)
    _add_captures(data, captures, _DEFINITIONS, names, plain)
    for start, kind, text in find_units({start: text for start, (_, text) in names.items()}):
        code = _CODES.get(kind, _BOUND)  # a place that is neither a definition nor a use
        if plain[text]:
            names.setdefault(start, (code, text))
        else:
            _add_other(data, names, start, text, code, spelling)
    _add_captures(data, captures, _OTHERS, names, plain)
    return names


def _add_captures(
    data: bytes,
    captures: Mapping[str, Sequence[Node]],
    kinds: Sequence[str],
    names: dict[int, tuple[int, bytes]],
    plain: PlainNames,
) -> None:
    """Add the captured names of some kinds, in the order of the kinds."""
    for kind in kinds:
        code = _CODES[kind]
        # The library lists the nodes of a kind in the order of their addresses, so nothing may depend on the order.
        for node in captures.get(kind, ()):
            start = node.start_byte
            text = data[start : node.end_byte]
            if not plain[text]:
                _add_other(data, names, start, text, code, plain.spelling)
            elif start not in names:
                names[start] = code, text


def _add_other(
    data: bytes, names: dict[int, tuple[int, bytes]], start: int, text: bytes, code: int, spelling: Spelling
) -> None:
    """Add the last name in a text, such as `a.b`, `name?` or a primitive type, unless another kind is there.

    Of a string, `"key": T`, it is the whole.
    """
    if text[:1] in _QUOTES:
        start, text = start + 1, text[1:-1]
        if not spelling.is_name(text):
            return
    elif not spelling.is_name(text):
        last = spelling.last_name.search(text)
        if last is None:
            return
        start, text = start + last.start(), last[0]
    # `function string()` is what a library of types may define.
    if len(text) <= MAX_NAME and (code < DEFINING or text not in PRIMITIVES or _is_member(data, start)):
        known = names.get(start)
        if known is None or (known[0] == code and len(known[1]) < len(text)):
            names[start] = code, text


def _is_member(data: bytes, start: int) -> bool:
    """Return whether a name stands behind an object: `z.string()` is no primitive type."""
    before = data[max(0, start - 2) : start]
    return before.endswith(_MEMBER_MARKS) and before != b".."


def _is_called(data: bytes, end: int) -> bool:
    """Return whether a call follows a name, in a language that calls by brackets: `f(`, `f<T>(`, `f?.(`, f`text`."""
    follower = data[end : end + 1]
    if follower == b" ":  # after most names
        return data[end + 1 : end + 2] == b"("
    if follower in _OPENINGS:
        return True
    if follower != b"<":
        return _MARKED_CALL.match(data, end) is not None
    depth = 0
    for bracket in _ANGLES.finditer(data, end, end + _MAX_TYPES):
        mark = bracket[0]
        if mark in (b"&&", b"||"):  # a comparison
            return False
        depth += 1 if mark == b"<" else -1 if mark == b">" else 0
        if not depth:
            return data[bracket.end() : bracket.end() + 1] == b"("
    return False


def _is_inside(place: int, spans: list[tuple[int, int]]) -> bool:
    """Return whether a place is in one of some sorted spans."""
    after = bisect_right(spans, (place, 1 << 62))
    return after > 0 and place < spans[after - 1][1]
