"""Find the definitions of names in a syntax tree, and the references to names, in the order of the text.

Only names are recorded, with their receivers as written. Which definition a reference means is decided when somebody
asks, because that depends on the other files of a tree, and a blob belongs to many trees.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from gitmem.chunking.grammar import Node
from gitmem.chunking.import_statements import read_imports
from gitmem.chunking.occurrence_patterns import LETTERS, PATTERNS
from gitmem.chunking.occurrence_query import find_captures, has_names
from gitmem.types import DEFINING, NO_NAMES, OCCURRENCE_KINDS, UNKNOWN_RECEIVER, NameColumns

if TYPE_CHECKING:
    from gitmem.chunking.outline import Unit
    from gitmem.chunking.unit_names import UnitName

    _FindUnits = Callable[[Mapping[int, bytes]], Iterable[UnitName]]
    """Returns the names of units, given the starts and texts of the definitions that are known."""

MAX_NAME: Final = 120
"""Bytes of a name. Longer ones are generated, or no names."""

_MAX_NODES: Final = 600_000
"""Nodes of a tree that are looked at. Files with more are generated; those after the first are left out."""

_MAX_OCCURRENCES: Final = 60_000
_REACH: Final = 100
"""Bytes before a name in which its receiver is looked for."""

_CODES: Final = {kind: code for code, kind in enumerate(OCCURRENCE_KINDS)}
_CALL, _READ, _NAME, _BOUND, _IMPORT, _ALIAS, _VALUE = (
    _CODES[kind] for kind in ("call", "read", "name", "bound", "import", "alias", "value")
)
_FUNCTION: Final = _CODES["function"]
_DEFINITIONS: Final = ("function", "class", "value")
_OTHERS: Final = ("base", "decorator", "call", "type", "bound", "read")
"""Kinds by rank: of several kinds at one place the first one counts."""

_LETTER: Final = rb"[\w$\x80-\xff]"
_JOINT: Final = rb"(?:\.\?|\.|::|>-|\\)"
_SPACED: Final = rb"(?:(?:\.\?|\.|>-)\s*|::|\\)"
"""Joints before which a line may break. A name behind a blank and another joint is at the root: `return ::free(p)`."""

_RECEIVER: Final = re.compile(_SPACED + rb"((?:" + _LETTER + rb"+@?" + _JOINT + rb")*" + _LETTER + rb"+@?)?")
"""Text before a name, in reverse."""

_SUPER: Final = b"super"
_SUPER_CALL: Final = b"super()"
_LAST_NAME: Final = re.compile(_LETTER + rb"+[?!]?$")
_JOINTS: Final = b".:>\\"
_PHP_JOINTS: Final = b":>\\"
"""Joints of PHP, where a dot joins strings: `"at ".substr($path)` calls no member."""

_COLON_JOINED: Final = frozenset({"erlang", "lua", "luau"})
"""Languages in which one colon is a joint: `module:f(x)`, `object:method(x)`."""

_BEFORE_COLON: Final = re.compile(rb"[\w.$@]+$")
_COLON: Final = ord(":")
_DOT: Final = ord(".")
_ROOTS: Final = (b"::", b"\\")
"""Joints that alone stand for the root of all names."""

_CLOSINGS: Final = (b")", b">", b"]", b"}")
_PATH_BYTES: Final = frozenset(
    b".$_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" + bytes(range(128, 256))
)
_SHAPE: Final = bytes(code if code in _PATH_BYTES else 32 for code in range(256))
"""Translation that leaves only the bytes of plain receivers, `a.b`: the last blank before a name begins its own."""

_WIDER: Final = b"@:>\\?"
"""Bytes that continue a receiver to the left in some language: `@a.b`, `A::b.c`, `a?.b`."""

_AFTER_BRACKET: Final = (b").", b"].")
_MEMBER_MARKS: Final = (b".", b"->", b"::")

_CALLED_BY_BRACKETS: Final = frozenset({"python", "starlark", "javascript", "typescript", "tsx", "go", "dart", "zig"})
"""Languages whose calls show by the bytes after a name. Patterns for them would capture most names twice."""

_OPENINGS: Final = frozenset({b"(", b"`"})
_CALL_STARTS: Final = b"(`<?! "
_MARKED_CALL: Final = re.compile(rb"(?:\?\.|!)?\s?[(]")
_CALL_IN_TEXT: Final = re.compile(rb"(?<!" + _LETTER + rb")([A-Za-z_$][\w$]*)\(")
_ANGLES: Final = re.compile(rb"=>|->|&&|[|][|]|[<>]")
_MAX_TYPES: Final = 400
"""Bytes of the type arguments of a call."""

_PHP_TYPE: Final = (
    rb"(?:\\?(?:callable|Closure)\([^\n()]*\)(?:[ \t]*:[ \t]*)?|(?<=[ \t|&])\([^\n()]*\)"
    rb"|[^\s(){}<>|]++|<[^\n()]*>|{[^\n()]*}|[ \t]*[|][ \t]*)++[ \t]+"
)
_METHOD_TAG: Final = re.compile(
    rb"^[ \t]*(?:/\*)?\*[ \t]+@method[ \t]+(?:static[ \t]+)?(?:" + _PHP_TYPE + rb")?&?(\w+)[ \t]*\(", re.MULTILINE
)
"""`@method` in a comment of PHP. `static` and a type come before the name; a type has spaces only within brackets or
next to a bar."""

_PHP_CLASSES: Final = frozenset({"class_declaration", "interface_declaration", "trait_declaration", "enum_declaration"})

_WORD: Final = rb"([^\W\d][\w.:$]*)"
_WRAPPED: Final = rb"(?:(?:Optional|Final|ClassVar|Annotated|Type|type)\[)?[\"']?"
_AFTER: Final = re.compile(
    rb"\s*[?!]?(?::\s*(?:&|'\w+|mut\b|dyn\b|impl\b|\s)*" + _WRAPPED + _WORD
    + rb"|:?=\s*(?:&|await\b|new\b|\s)*" + _WORD + rb"(?:<[^<>()]*>)?\s*[({])"
)  # fmt: skip
"""Type after a variable: `x: Type`, `x = Type(`, `x := Type{`."""

_BEFORE: Final = re.compile(rb"\s+(?:\]\[|[?*&]|>[^<>]{0,80}<)*\s*([\w.]*\w)")
"""Type before a variable, in reverse: `Type x`, `Type<T> x`, `Type[] x`."""

_AFTER_BLANK: Final = re.compile(rb"\s+[*\[\]]*" + _WORD + rb"()")
_BEFORE_NAME: Final = frozenset({"java", "csharp", "php", "c", "cpp"})
_PRIMITIVES: Final = frozenset(
    b"str int bool bytes float object list dict set tuple type None string number boolean void any unknown never"
    b" i8 i16 i32 i64 u8 u16 u32 u64 usize isize f32 f64 char byte rune error uint int64 uint64 int32 uint32 double"
    b" long short unsigned size_t decimal".split()
)
_NO_TYPES: Final = _PRIMITIVES | {b"var", b"val", b"let", b"const", b"final", b"return", b"auto", b"self", b"this"}
"""Words next to a variable that name no class of the repository."""


_Name = tuple[int, int, bytes, bytes]
"""Start, kind, text and receiver of a name. A plain tuple, because there are many."""


class _PlainNames(dict[bytes, bool]):
    """Whether a text is a name as it stands: short, of letters, not a primitive type. Cached, because names recur."""

    def __init__(self, spelling: "_Spelling") -> None:
        self.spelling = spelling

    def __missing__(self, text: bytes) -> bool:
        self[text] = verdict = self.spelling.is_name(text) and len(text) <= MAX_NAME and text not in _PRIMITIVES
        return verdict


class _Spelling:
    """How a language spells names: which characters they have besides letters and digits."""

    def __init__(self, letters: bytes) -> None:
        self.letters = letters
        self._joiners = b"_" + letters
        own = _LETTER.replace(b"]", re.escape(letters) + b"]")
        self.last_name = re.compile(own + rb"+[?!]?$")
        """The last name in a text like `a.b`."""

    def is_name(self, text: bytes) -> bool:
        """Return whether a text is one name of ASCII characters."""
        return text.isalnum() or text.translate(None, self._joiners).isalnum()


@cache
def _spelling(language: str) -> _Spelling:
    return _Spelling(LETTERS.get(language, b""))


def find_occurrences(data: bytes, root: Node, language: str, outline: "Unit") -> NameColumns:
    """Return the definitions and references of a parsed file, ordered by line. `outline` has the units of the file."""
    nodes = root.descendant_count
    captures = find_captures(language, root, len(data) if nodes <= _MAX_NODES else len(data) * _MAX_NODES // nodes)
    find_units = partial(_find_units, data, root, language, outline)
    names: list[_Name] = []
    statements: list[tuple[int, int]] = []
    for start, end in sorted(node.byte_range for node in captures.get("import", ())):
        imports = list(_read_import(data[start:end], language, start))
        # `const app = create("x")` has the form of `const x = require("x")`, but is a call like any other.
        if imports:
            names += imports
            statements.append((start, end))
    _add_names(data, captures, find_units, statements, names, language)
    if language == "php":
        names += _documented_methods(data, root)
    if not names:
        return NO_NAMES
    names.sort(key=itemgetter(0))
    starts, kinds, texts, receivers = zip(*names[:_MAX_OCCURRENCES], strict=True)
    feeds = np.flatnonzero(np.frombuffer(data, np.uint8) == 10)
    return NameColumns((1 + np.searchsorted(feeds, np.array(starts))).tolist(), kinds, texts, receivers)


def _find_units(
    data: bytes, root: Node, language: str, outline: "Unit", known: Mapping[int, bytes]
) -> "Iterable[UnitName]":
    """Return the names of units that are not among the known definitions, if the language needs them."""
    if language in PATTERNS or not has_names(language):
        return ()
    from gitmem.chunking.unit_names import find_unit_names  # most files need no outline for their names

    return find_unit_names(data, root, outline, _spelling(language).letters, known)


def _documented_methods(data: bytes, root: Node) -> Iterator[_Name]:
    """Yield the methods that only the comment of a class declares, because `__call` answers them."""
    if b"@method" not in data:
        return
    for tag in _METHOD_TAG.finditer(data):
        if len(tag[1]) <= MAX_NAME and _documents_class(root.descendant_for_byte_range(tag.start(1), tag.end(1))):
            yield tag.start(1), _FUNCTION, tag[1], b""


def _documents_class(node: Node | None) -> bool:
    """Return whether a node is a comment before a class. A string, and the comment of a function, declare nothing."""
    while node is not None and node.type == "comment":
        node = node.next_named_sibling
        if node is not None and node.type in _PHP_CLASSES:
            return True
    return False


def _add_names(
    data: bytes,
    captures: Mapping[str, list[Node]],
    find_units: "_FindUnits",
    statements: list[tuple[int, int]],
    names: list[_Name],
    language: str,
) -> None:
    """Add the captured names outside of import statements to those of the imports, each place once."""
    places = _captured_names(data, captures, find_units, _spelling(language))
    for node in captures.get("expression", ()):
        _add_expression(data, places, node.start_byte, node.end_byte)
    # Most other identifiers are local variables. One in capitals may be a class or a constant of another file.
    known = {name for _, _, name, _ in names}.union(text for code, text in places.values() if code < DEFINING)
    _add_mentions(data, places, captures.get("name", ()), known, bracketed=language in _CALLED_BY_BRACKETS)
    last = statements[-1][1] if statements else 0
    shape = data.translate(_SHAPE)
    # A field or constant is a definition of its own, and has a type as well.
    typed = {node.start_byte for node in captures.get("bound", ())}
    dot_is_joint = language != "php"
    joints = _JOINTS if dot_is_joint else _PHP_JOINTS
    # In order already, the names need no sort by a key later: numbers alone are sorted much faster.
    for start in sorted(places):
        code, text = places[start]
        if start < last and _is_inside(start, statements):
            continue
        if start in typed and code in (_BOUND, _VALUE):
            receiver = _bound_type(data, start, start + len(text), language)
            if receiver:
                names.append((start, _BOUND, text, receiver))
        if code == _BOUND:
            continue
        if start and data[start - 1] in joints:
            if data[start - 1] == _COLON and language in _COLON_JOINED:
                receiver = _receiver_before_colon(data, start)
            else:
                receiver = _plain_receiver(data, shape, start) or _receiver(data, start)
            names.append((start, code, text, receiver if dot_is_joint else receiver.rpartition(b".")[2]))
        else:
            names.append((start, code, text, b""))


def _add_mentions(
    data: bytes, names: dict[int, tuple[int, bytes]], nodes: Iterable[Node], known: set[bytes], *, bracketed: bool
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
            if len(text) <= MAX_NAME and text not in _PRIMITIVES:
                names[start] = _CALL, text
        elif (text in known or text[:1].isupper()) and len(text) <= MAX_NAME:
            names[start] = _NAME, text


def _add_expression(data: bytes, names: dict[int, tuple[int, bytes]], start: int, end: int) -> None:
    """Add the calls in an expression of a template; one that is a name alone is a mention, of a handler for example."""
    text = data[start:end].strip()
    if text.replace(b"_", b"").isalnum() and not text[:1].isdigit():
        names.setdefault(data.index(text, start), (_NAME, text[:MAX_NAME]))
    for call in _CALL_IN_TEXT.finditer(data, start, end):
        if len(call[1]) <= MAX_NAME:
            names.setdefault(call.start(1), (_CALL, call[1]))


def _captured_names(
    data: bytes, captures: Mapping[str, list[Node]], find_units: "_FindUnits", spelling: _Spelling
) -> dict[int, tuple[int, bytes]]:
    """Return kind and text of the captured names by their start; those of kind `name` are left out."""
    names: dict[int, tuple[int, bytes]] = {}
    plain = _PlainNames(spelling)
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
    captures: Mapping[str, list[Node]],
    kinds: Sequence[str],
    names: dict[int, tuple[int, bytes]],
    plain: _PlainNames,
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
    data: bytes, names: dict[int, tuple[int, bytes]], start: int, text: bytes, code: int, spelling: _Spelling
) -> None:
    """Add the last name in a text, such as `a.b`, `name?` or a primitive type, unless another kind is there."""
    if not spelling.is_name(text):
        last = spelling.last_name.search(text)
        if last is None:
            return
        start, text = start + last.start(), last[0]
    # `function string()` is what a library of types may define.
    if len(text) <= MAX_NAME and (code < DEFINING or text not in _PRIMITIVES or _is_member(data, start)):
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


def _plain_receiver(data: bytes, shape: bytes, start: int) -> bytes:
    """Return the receiver before a dot if it is plain, "" if `_receiver` must look; it takes five times as long."""
    if data[start - 1] != _DOT:
        return b""
    before = shape.rfind(b" ", max(0, start - _REACH), start - 1)
    if before < 0 or data[before] in _WIDER:
        return b""
    receiver = data[before + 1 : start - 1]
    # Two dots are a range or the parent of a module.
    return receiver if receiver and b".." not in receiver and _DOT not in (receiver[0], receiver[-1]) else b""


def _receiver_before_colon(data: bytes, start: int) -> bytes:
    """Return the names before a colon that is a joint; `?` for another expression."""
    match = _BEFORE_COLON.search(data[max(0, start - _REACH) : start - 1])
    return match[0] if match else UNKNOWN_RECEIVER


def _receiver(data: bytes, start: int) -> bytes:
    """Return the text before the joint before a name; `?` for another expression, "" without a joint.

    The joint itself is returned for a name at the root: `::free`, `\\strlen`.
    """
    if data[start - 2 : start] in _AFTER_BRACKET:  # most expressions; the pattern takes ten times as long
        return _SUPER if data[start - 8 : start - 1] == _SUPER_CALL else UNKNOWN_RECEIVER
    match = _RECEIVER.match(data[max(0, start - _REACH) : start][::-1])
    if match is None:  # a colon or a comparison
        return b""
    if match[1]:
        return match[1][::-1].replace(b"?.", b".")
    joint = match[0][::-1]
    if joint in _ROOTS and data[start - len(joint) - 1 : start - len(joint)] not in _CLOSINGS:
        return joint
    return (
        _SUPER if data[max(0, start - _REACH) : start].rstrip(b". \t\r\n").endswith(_SUPER_CALL) else UNKNOWN_RECEIVER
    )


def _bound_type(data: bytes, start: int, end: int, language: str) -> bytes:
    """Return the type that the text next to a variable shows, "" if there is none."""
    name = b""
    if language in _BEFORE_NAME:
        before = _BEFORE.match(data[max(0, start - _REACH) : start][::-1])
        name = before[1][::-1] if before else b""
    if not name or name in _NO_TYPES:
        after = _AFTER.match(data, end, end + _REACH) or (language == "go" and _AFTER_BLANK.match(data, end, end + 100))
        name = _type_name(after[1], after[2]) if after else b""
    return name if len(name) <= MAX_NAME and name not in _NO_TYPES else b""


def _type_name(type_: bytes | None, called: bytes | None) -> bytes:
    """Return the type that is written, or the one whose constructor is called: by its capital, or by `new`."""
    if type_:
        return type_.rstrip(b".:")
    called = (called or b"").removesuffix(b"::new").removesuffix(b".new")
    return called if called.replace(b":", b".").rpartition(b".")[2].lstrip(b"_")[:1].isupper() else b""


def _read_import(statement: bytes, language: str, start: int) -> Iterator[_Name]:
    """Yield the names that a statement imports."""
    for name, module, alias in read_imports(statement.decode("utf-8", "replace"), language):
        own, path = name.encode()[:MAX_NAME], module.encode()[: 2 * MAX_NAME]
        last = _LAST_NAME.search(path.removesuffix(b"/"))
        shown = own or (last[0] if last else path[-MAX_NAME:])
        if not shown:
            continue
        yield start, _IMPORT, shown, path if own else path + b":"
        if alias and alias != name:
            yield start, _ALIAS, alias.encode()[:MAX_NAME], path + b":" + own
