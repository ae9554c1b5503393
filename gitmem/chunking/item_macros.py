"""Blank the macros of Rust around items, such as `pin_project! { pub struct Map<F> { f: F } }`.

To a parser the body of a macro is a list of tokens, so the definitions in it are lost: what a feature of a crate has
(`cfg_net! { ... }`), pinned structs, flags. For the parser the head of such a macro becomes a comment, so that it stays
with its first item, and the bracket at its end a blank.

The body must begin with an item or another such macro, and end like one. Its end is the first closing bracket with the
indentation of the macro, as rustfmt writes it; it must have as many opening brackets as closing ones.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from gitmem.chunking.commented_spans import HiddenName
from gitmem.named_tuple import NamedTuple

LANGUAGE: Final = "rust"

_PATH: Final = rb"(?:[A-Za-z_]\w*::)*+"
_CALL: Final = rb"!\s*+\{"
_ATTRIBUTE: Final = rb"#!?\[(?:[^\[\]]|\[[^\[\]]*+\])*+\]"
_IGNORED: Final = rb"(?:\s|//[^\n]*|/\*(?:(?!\*/).){0,1000}+\*/|" + _ATTRIBUTE + rb")*+"
_PLAIN: Final = (
    rb"(?:pub(?:\([^()\n]*\))?\s+|(?:async|unsafe|default)\s+|const\s+(?=unsafe|fn|async|extern)"
    rb"|extern\s+\"[^\"\n]*\"\s+)*"
    rb"(?:(?:fn|struct|enum|trait|union|mod|static|type|const)\s+(?:ref\s+)?[A-Za-z_]|impl[\s<]|use\s+[\w:{]"
    rb"|macro_rules!)"
)
_ITEM: Final = (
    rb"(?:" + _PLAIN + rb"|" + _PATH + rb"\w++" + _CALL
    + rb"|if\s+" + _ATTRIBUTE + rb"\s*+\{" + _IGNORED + _PLAIN + rb")"
)  # fmt: skip
_HEAD: Final = re.compile(
    rb"^(?P<indent>[ \t]*+)(?P<head>" + _PATH + rb"(?P<name>[A-Za-z_]\w*+)" + _CALL + rb")"
    rb"(?=" + _IGNORED + _ITEM + rb")",
    re.MULTILINE | re.DOTALL,
)
_QUOTING: Final = frozenset(b"quote quote_spanned parse_quote parse_quote_spanned".split())
"""Macros whose body is a text of code, with holes, that another program will have."""

_LAZY: Final = re.compile(rb"\bstatic\s+(?P<blank>ref)\s")
_FLAGS: Final = re.compile(
    rb"\b(?P<enum>struct)\s+\w+(?P<blank>\s*:\s*[\w:]+)\s*\{|^[ \t]*(?P<const>const)\s+\w+\s*=[^;]*(?P<comma>;)",
    re.MULTILINE,
)
_OWN_WORDS: Final = {b"lazy_static": _LAZY, b"bitflags": _FLAGS}
"""Parts of items that only their macro knows: `static ref A`, and `struct A: u8 { const B = 1; }`, which is like an
enumeration, `enum A { B = 1, }`."""

_REPLACED: Final = {"enum": b"enum  ", "comma": b","}

_BRANCH: Final = rb"(?:\}\s*else\s*)?(?:if\s+" + _ATTRIBUTE + rb"\s*)?\{|\}"
"""Lines of `cfg_if!` between items: `} else if #[cfg(unix)] {`."""

_LINE_START: Final = re.compile(rb"\n([ \t]*)")
_END: Final = re.compile(rb"^([ \t]*+)\}", re.MULTILINE)
_BRACKET: Final = re.compile(rb"[{}]")
_MAX_BODY: Final = 1 << 17
"""Longest body of a macro, in bytes."""

_TEXT: Final = re.compile(rb"[^\n]")


class _Edit(NamedTuple):
    """Bytes that the parser gets instead of those from `start` on, as many."""

    start: int
    text: bytes


def without_item_macros(data: bytes, grammar: str) -> bytes:
    """Return source of the same length in which the items in macros stand outside of them."""
    if grammar != LANGUAGE or b"!" not in data:
        return data
    edits = [edit for macro in _find_macros(data) for edit in _edits(data, macro)]
    if not edits:
        return data
    text = bytearray(data)
    for start, replacement in edits:
        text[start : start + len(replacement)] = replacement
    return bytes(text)


def find_item_macros(data: bytes) -> Iterator[HiddenName]:
    """Yield the names of macros around items, which are calls."""
    for macro in _find_macros(data):
        head = macro.opened - len(macro.head)
        yield HiddenName(head + macro.head.rindex(macro.name + b"!"), macro.name, "call", head)


class _Macro(NamedTuple):
    """Macro around items: its name, its head up to the opening bracket, and the offsets after that and of the end."""

    name: bytes
    head: bytes
    opened: int
    end: int


@lru_cache(maxsize=1)
def _find_macros(data: bytes) -> Sequence[_Macro]:
    """Return the macros around items. The last ones are kept: the parser and the search for names ask for the same."""
    macros = []
    ends: dict[bytes, list[int]] = {}
    for number, match in enumerate(_HEAD.finditer(data)):
        if number == 0:
            for line in _END.finditer(data):
                ends.setdefault(line[1], []).append(line.end(1))
        opened = match.end("head")
        end = _closing(data, opened, ends.get(match["indent"], ()))
        if 0 <= end <= opened + _MAX_BODY and match["name"] not in _QUOTING and _is_items(data[opened:end]):
            macros.append(_Macro(match["name"], match["head"], opened, end))
    return macros


def _is_items(body: bytes) -> bool:
    """Return whether a body may consist of whole items. Some macros have words of their own behind one."""
    return body.rstrip()[-1:] in (b"}", b";") and body.count(b"{") == body.count(b"}")


def _edits(data: bytes, macro: _Macro) -> Iterator[_Edit]:
    """Yield the edits that free the items of a macro."""
    yield _Edit(macro.opened - len(macro.head), _comment(macro.head))
    yield _Edit(macro.end, b" ")
    if macro.name == b"cfg_if":
        yield from _branches(data, macro)
    own = _OWN_WORDS.get(macro.name)
    for match in own.finditer(data, macro.opened, macro.end) if own is not None else ():
        for group, text in match.groupdict().items():
            if text is not None:
                yield _Edit(match.start(group), _REPLACED.get(group, _blank(text)))


def _blank(text: bytes) -> bytes:
    return _TEXT.sub(b" ", text)


def _comment(text: bytes) -> bytes:
    """Return a comment of the same length, which a parser keeps with the item after it, or blanks for three bytes."""
    return b"/*" + _blank(text[2:-2]) + b"*/" if len(text) > 3 else _blank(text)


def _closing(data: bytes, opened: int, ends: Sequence[int]) -> int:
    """Return the offset of the bracket that closes a body, -1 if there is none.

    `ends` are those of the lines that have the indentation of the macro and begin with a closing bracket.
    """
    line_end = data.find(b"\n", opened)
    depth = 1
    for bracket in _BRACKET.finditer(data, opened, line_end if line_end >= 0 else len(data)):
        depth += 1 if bracket[0] == b"{" else -1
        if depth == 0:
            return bracket.start()
    place = bisect_left(ends, opened)
    return ends[place] if place < len(ends) else -1


def _branches(data: bytes, macro: _Macro) -> Iterator[_Edit]:
    """Yield comments for the lines between the branches of `cfg_if!`, all at the indentation of the first."""
    first = _LINE_START.search(data, macro.opened, macro.end)
    if first is not None:
        branch = re.compile(rb"^" + first[1] + rb"(" + _BRANCH + rb")[ \t]*$", re.MULTILINE)
        for match in branch.finditer(data, macro.opened, macro.end):
            yield _Edit(match.start(1), _blank(match[1]) if match[1] == b"}" else _comment(match[1]))
