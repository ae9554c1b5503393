"""Blank the macros of C and C++ that stand between the words of a declaration: attributes and calling conventions.

A parser without a preprocessor takes `extern LIBRARY_API bool LIBRARY_CALL find(` for a variable of the type
`LIBRARY_API`, and the macro of `class LIBRARY_API Node : public Base` for the name of the class. So the names, members
and parameters are lost.

In the head of a class, a macro in capitals before a name that a body or base classes follow is an attribute; a type
before a method (`struct NODE Tree::find() {`), a variable of a loop or one with values (`struct POINT at{1, 2};`) is
not. No member of a class begins with a sign, a number or a word before a comma, a dot or a plus. A single word is a
value (`at{origin}`) unless it is in capitals: a macro may be the only member.

Behind a variable or the parameters of a function, the macros of clang's analysis of threads are attributes, whatever
project they are named after: `int count ABSL_GUARDED_BY(mutex);`, `void run() EXCLUSIVE_LOCKS_REQUIRED(mutex);`.

A call with nothing but numbers before the name of a function is an attribute: `void printflike(1, 2) log(`.

Before the name of a function, words in capitals are attributes if another word is the type. If all words but qualifiers
are in capitals, the first one is the type: `static DWORD WINAPI run(`. A constructor has none.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

LANGUAGES: Final = frozenset({"c", "cpp", "objc", "cuda", "arduino"})
_VALUE: Final = rb"""\s*(?:[-+!&*.({"'\d]|\w+\s*[,.+]|\w*[a-z]\w*\s*})"""
_CLASS: Final = re.compile(
    rb"(?:class|struct|union)((?:\s+[A-Z_][A-Z0-9_]{2,}(?:\([^()\n]*\))?)+)"
    rb"(?=\s+[A-Za-z_]\w*(?:::\w+)*\s*(?:final\s*)?(?::(?!:)|{(?!" + _VALUE + rb")))"
)
_BEFORE_TAG: Final = re.compile(rb"[\w(]")
"""What no tag of a type stands behind: another word, or the parenthesis of `sizeof(struct NODE)`."""

# It begins with a line feed, which is found faster than the beginning of a line, and looks for a macro first.
_FUNCTION: Final = re.compile(
    rb"\n[ \t]*+(?=[\w \t*&\"+]*?\b[A-Z_][A-Z0-9_]{2})(?:extern[ \t]+\"C(?:\+\+)?\"[ \t]+)?"
    rb"((?:[A-Za-z_]\w*[ \t*&]+){2,}(?:\n[ \t]*)?|(?:[A-Za-z_]\w*[ \t*&]+)+[A-Za-z_]\w*[ \t*&]*\n[ \t]*)"
    rb"(?=[A-Za-z_~]\w*(?:::~?\w+)*\s*\()",
)
"""Words before the name of a function; the name may stand on the next line."""

_CONSTRUCTOR: Final = re.compile(
    rb"\n[ \t]*+((?:[A-Z_][A-Z0-9_]{2,}[ \t]+)++)(?=([A-Za-z_]\w*)(?:<[^<>\n;{}()]*>)?::~?\2\s*\()"
)
"""Macros before a constructor or destructor outside of its class, which has no type."""

_SIGNAL: Final = re.compile(rb"(?:emit|Q_EMIT)(?=[ \t]+[A-Za-z_][\w.:>()-]*\()")
"""Words of Qt before a call, with which the call looks like a declaration."""

_LOCKING: Final = re.compile(
    rb"(?<=[)>\]\s])(?<!define )((?:[A-Z][A-Z0-9]*_)?(?:(?:PT_)?GUARDED_(?:BY|VAR)|NO_THREAD_SAFETY_ANALYSIS"
    rb"|(?:EXCLUSIVE|SHARED)_(?:LOCKS_REQUIRED|LOCK_FUNCTION|TRYLOCK_FUNCTION)|LOCKS_EXCLUDED|UNLOCK_FUNCTION"
    rb"|LOCK_RETURNED|ACQUIRED_(?:BEFORE|AFTER)|(?:(?:TRY_)?ACQUIRE|RELEASE|REQUIRES)(?:_SHARED)?|EXCLUDES"
    rb"|(?:ASSERT(?:_SHARED)?|RETURN)_CAPABILITY|ASSERT_(?:EXCLUSIVE|SHARED)_LOCK)\b(?:\((?:[^()]|\([^()]*\)){0,200}\))?)"
    rb"(?=\s*(?:[;{=:]|override\b|final\b|[A-Z]))"
)
_LOCKING_PARTS: Final = tuple(b"GUARDED_ LOCK ACQUIRE RELEASE REQUIRES EXCLUDES CAPABILITY THREAD_S".split())
"""Text of which a file with such a macro has some: most have none, and are read no further."""

_NUMBERS: Final = re.compile(rb"\([ \t]*\d[\d \t,]*\)(?=[ \t]*\n?[ \t]*\**[A-Za-z_]\w*[ \t]*\()")
_NUMBERED: Final = re.compile(rb"(?:[\w>][ \t]|\*)[ \t]*([A-Za-z_]\w*[ \t]*)\Z")
"""Code before the numbers of an attribute: a type, and its name."""

_STATEMENT: Final = re.compile(rb"(?:[;{}]|\b(?:else|do|return)|\b(?:if|for|while)\b[^;{}\n]*\))\s*\Z")
_WORD: Final = re.compile(rb"[A-Za-z_]\w*")
_MACRO: Final = re.compile(rb"[A-Z_][A-Z0-9_]{2,}")
_TEXT: Final = re.compile(rb"[^\n]")
_REACH: Final = 100
"""Bytes before a macro in which the end of the statement before it is looked for."""

_QUALIFIERS: Final = frozenset(
    b"const volatile static extern inline register constexpr virtual explicit friend typedef".split()
)
_TAGS: Final = frozenset(b"struct union enum class".split())
_STATEMENTS: Final = frozenset(
    b"return else case goto throw new delete define if ifdef elif defined operator using namespace public private"
    b" protected public template typename".split()
)
"""Words that no declaration has before the name of a function."""


def without_attribute_macros(data: bytes, grammar: str) -> bytes:
    """Return source of the same length, with blanks for the macros."""
    if grammar not in LANGUAGES:
        return data
    text = bytearray(data)
    for start, end in _find_spans(data):
        text[start:end] = _TEXT.sub(b" ", data[start:end])
    return bytes(text)


def find_attribute_macros(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the macros that are blanked: where each begins, and its name."""
    for start, end in _find_spans(data):
        words = list(_MACRO.finditer(data, start, end)) or list(islice(_WORD.finditer(data, start, end), 1))
        yield from ((word.start(), word[0]) for word in words)


@lru_cache(maxsize=1)
def _find_spans(data: bytes) -> Sequence[tuple[int, int]]:
    """Return the spans of the macros. The last ones are kept: the parser and the search for names ask for the same."""
    spans = [
        head.span(1)
        for head in _CLASS.finditer(data)
        if not head.start() or not _BEFORE_TAG.match(data, head.start() - 1)
    ]
    lines = b"\n" + data
    for head in _FUNCTION.finditer(lines):
        spans += [(start - 1, end - 1) for start, end in _attributes(lines, head)]
    spans += [(start - 1, end - 1) for start, end in (head.span(1) for head in _CONSTRUCTOR.finditer(lines))]
    if any(part in data for part in _LOCKING_PARTS):
        spans += [macro.span(1) for macro in _LOCKING.finditer(data) if not _begins(data, macro.start())]
    spans += _numbered(data)
    spans += [signal.span() for signal in _SIGNAL.finditer(data) if data[signal.start() - 1] in b" \t\n;{})"]
    return spans


def _begins(data: bytes, start: int) -> bool:
    """Return whether a statement begins at a place, rather than goes on."""
    return _STATEMENT.search(data, max(0, start - _REACH), start) is not None


def _numbered(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the spans of attributes with numbers. A condition may test such a macro."""
    for numbers in _NUMBERS.finditer(data):
        first = data.rfind(b"\n", 0, numbers.start()) + 1
        name = _NUMBERED.search(data, max(first, numbers.start() - _REACH), numbers.start())
        if name is not None and not data[first : numbers.start()].lstrip().startswith(b"#"):
            yield name.start(1), numbers.end()


def _attributes(data: bytes, head: re.Match[bytes]) -> Iterator[tuple[int, int]]:
    """Yield the spans of the attributes among the words before the name of a function."""
    words = list(_WORD.finditer(data, *head.span(1)))
    texts = [word[0] for word in words]
    if not _STATEMENTS.isdisjoint(texts):
        return
    behind_tag = {place + 1 for place, text in enumerate(texts) if text in _TAGS}
    macros = [place for place, text in enumerate(texts) if _MACRO.fullmatch(text) and place not in behind_tag]
    plain = set(range(len(texts))).difference(macros)
    has_type = any(texts[place] not in _QUALIFIERS and texts[place] not in _TAGS for place in plain)
    for place in macros if has_type else macros[1:]:
        yield words[place].span()
