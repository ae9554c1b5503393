"""Read from the text around a name its receiver, `a.b` before `.c`, and the type of a variable."""

import re
from collections.abc import Callable
from typing import Final

from gitmem.chunking.name_spelling import LETTER, MAX_NAME, PRIMITIVES
from gitmem.types import UNKNOWN_RECEIVER

_REACH: Final = 100
"""Bytes before a name in which its receiver is looked for."""

_JOINT: Final = rb"(?:\.\?|\.|::|>-|\\)"
_SPACED: Final = rb"(?:(?:\.\?|\.|>-)\s*|::|\\)"
"""Joints before which a line may break. A name behind a blank and another joint is at the root: `return ::free(p)`."""

_RECEIVER: Final = re.compile(_SPACED + rb"((?:" + LETTER + rb"+@?" + _JOINT + rb")*" + LETTER + rb"+@?)?")
"""Text before a name, in reverse."""

_SUPER: Final = b"super"
_SUPER_CALL: Final = b"super()"
JOINTS: Final = b".:>\\"
NO_JOINTS: Final = {"php": b".", "julia": b"::"}
"""Signs that do not join names: a dot of PHP joins strings, `"at ".substr($path)`, and `x::T` of Julia is a type."""

_COLON_JOINED: Final = frozenset({"erlang", "lua", "luau"})
"""Languages in which one colon is a joint: `module:f(x)`, `object:method(x)`."""

_MARKED: Final = frozenset({"razor", "freemarker"})
"""Languages whose tags begin with a sign that is no part of a name."""

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
_WORD: Final = rb"([^\W\d][\w.:$]*)"
_WRAPPED: Final = rb"(?:(?:Optional|Final|ClassVar|Annotated|Type|type)\[)?[\"']?"
_AFTER: Final = re.compile(
    rb"\s*[?!]?(?::\s*(?:&|'\w+|mut\b|dyn\b|impl\b|\s)*" + _WRAPPED + _WORD
    + rb"|:?=\s*(?:&|await\b|new\b|\s)*" + _WORD + rb"(?:->new\b|(?<=[.:]new)(?![\w?!])|(?:<[^<>()]*>)?\s*[({]))"
)  # fmt: skip
"""Type after a variable: `x: Type`, `x = Type(`, `x := Type{`, `x = Type.new`."""

_BEFORE: Final = re.compile(rb"\s+(?:\]\[|[?*&]|>[^<>]{0,80}<)*\s*([\w.]*\w)")
"""Type before a variable, in reverse: `Type x`, `Type<T> x`, `Type[] x`."""

_BOUNDS: Final = re.compile(rb"\s*:\s*((?:[^{}()<>;=,]|<[^{};]{0,80}?>|\([^{}();]{0,80}\)){1,200})")
_BOUND: Final = re.compile(rb"[\s?]*((?:\w+::)*\w+)")
_COMMON_TRAITS: Final = frozenset(
    b"Any AsMut AsRef Borrow BorrowMut Clone Copy Debug Default Deref DerefMut Display DoubleEndedIterator Eq"
    b" ExactSizeIterator Fn FnMut FnOnce From FromIterator FusedIterator Hash Into IntoIterator Iterator Ord PartialEq"
    b" PartialOrd Send Sized Sync ToOwned ToString TryFrom TryInto Unpin".split()
)
"""Traits of Rust's library that parameters of types have besides those of the repository."""

_AFTER_BLANK: Final = re.compile(rb"\s+[*\[\]]*" + _WORD + rb"()")
_BEFORE_NAME: Final = frozenset({"java", "csharp", "php", "c", "cpp"})
_NO_TYPES: Final = PRIMITIVES | {b"var", b"val", b"let", b"const", b"final", b"return", b"auto", b"self", b"this"}
"""Words next to a variable that name no class of the repository."""


def receivers_of(data: bytes, language: str) -> Callable[[int], bytes]:
    """Return the function that returns the receiver of a name that starts at a byte, behind a byte of `JOINTS`."""
    shape = data.translate(_SHAPE)

    def find(start: int) -> bytes:
        if data[start - 1] == _DOT:
            # Most receivers are plain; `find_receiver` takes five times as long.
            before = shape.rfind(b" ", max(0, start - _REACH), start - 1)
            if before >= 0 and data[before] not in _WIDER:
                receiver = data[before + 1 : start - 1]
                # Two dots are a range or the parent of a module.
                if receiver and b".." not in receiver and _DOT not in (receiver[0], receiver[-1]):
                    return receiver
        return find_receiver(data, start)

    if language in _COLON_JOINED:
        return lambda start: receiver_before_colon(data, start) if data[start - 1] == _COLON else find(start)
    if language in _MARKED:
        return lambda start: find(start).removeprefix(b"@")
    no_joint = NO_JOINTS.get(language, b"")
    return (lambda start: find(start).rpartition(no_joint)[2]) if no_joint else find


def receiver_before_colon(data: bytes, start: int) -> bytes:
    """Return the names before a colon that is a joint; `?` for another expression."""
    match = _BEFORE_COLON.search(data[max(0, start - _REACH) : start - 1])
    return match[0] if match else UNKNOWN_RECEIVER


def find_receiver(data: bytes, start: int) -> bytes:
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


def bound_type(data: bytes, start: int, end: int, language: str) -> bytes:
    """Return the type that the text next to a variable shows, "" if there is none."""
    name = b""
    if language == "rust" and data[start : start + 1].isupper():
        return _trait_of(data, end)
    if language in _BEFORE_NAME:
        before = _BEFORE.match(data[max(0, start - _REACH) : start][::-1])
        name = before[1][::-1] if before else b""
    if not name or name in _NO_TYPES:
        after = _AFTER.match(data, end, end + _REACH) or (language == "go" and _AFTER_BLANK.match(data, end, end + 100))
        name = _type_name(after[1], after[2]) if after else b""
    return name if len(name) <= MAX_NAME and name not in _NO_TYPES else b""


def _trait_of(data: bytes, end: int) -> bytes:
    """Return the trait that bounds a parameter of types in Rust, `T: Clone + Load`; "" if it has only common ones."""
    bounds = _BOUNDS.match(data, end, end + 2 * _REACH)
    for part in bounds[1].split(b"+") if bounds else ():
        trait = _BOUND.match(part)
        if trait is not None and trait[1].rpartition(b"::")[2] not in _COMMON_TRAITS:
            return trait[1][:MAX_NAME]
    return b""


def _type_name(type_: bytes | None, called: bytes | None) -> bytes:
    """Return the type that is written, or the one whose constructor is called: by its capital, or by `new`."""
    if type_:
        return type_.rstrip(b".:")
    called = (called or b"").removesuffix(b"::new").removesuffix(b".new")
    return called if called.replace(b":", b".").rpartition(b".")[2].lstrip(b"_")[:1].isupper() else b""
