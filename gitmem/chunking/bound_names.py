"""Find the names that the code of a file binds itself: variables, parameters and labels.

In some languages a bare name may come from another file without an import: a constant of the same package, a field of
the class in the header, a member of the class above. Every other identifier of a file is such a name.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gitmem.chunking.grammar import Node
from gitmem.chunking.name_spelling import PRIMITIVES

_KINDS: Final = ("bound", "variable")

_C_WORDS: Final = frozenset(
    b"struct union enum const volatile static extern inline void char int short long float double signed unsigned if"
    b" else for while do return case break continue goto switch default sizeof typedef auto".split()
)
"""Words that stand in the arguments of macros, where the grammar takes them for names."""

_CPP_WORDS: Final = _C_WORDS | frozenset(
    b"class template typename operator public private protected final override".split()
)

_WORDS: Final[Mapping[str, frozenset[bytes]]] = {
    "go": frozenset({b"_"}),
    "c": _C_WORDS,
    "objc": _C_WORDS
    | frozenset(b"self super nil id in out nonatomic strong weak copy assign readonly readwrite".split()),
    **dict.fromkeys(("cpp", "cuda", "arduino"), _CPP_WORDS),
    "java": frozenset(b"com org net io java javax".split()),
    "kotlin": frozenset(b"it field value com org net io java javax kotlin".split()),
    "csharp": frozenset(b"value _ nameof not and or".split()),
    "scala": frozenset(
        b"com org net io java javax lang util time scala this super with def not classOf math collection".split()
    ),
    "dart": frozenset(
        b"this super context widget mounted override protected immutable sealed pragma deprecated runtimeType"
        b" mustCallSuper visibleForTesting".split()
    ),
    "fortran": frozenset(b"kind else end endif endfor enddo call use uses implicit module only".split()),
    "lua": frozenset(b"self _G vim string table math coroutine utf8 debug".split()),
    "swift": frozenset(
        b"_ self init newValue oldValue error default deprecated renamed macOS iOS tvOS watchOS visionOS".split()
    ),
}
"""Names that count as bound everywhere, by language: its words, and the first parts of names of packages."""

_PACKAGE: Final = re.compile(rb"^\s*package\s+([\w.]+)", re.MULTILINE)
_EXTERN: Final = re.compile(rb"(?<!\w)extern\b(?:\s*\"C\")?[^;(){}=\"]{0,1000}+;")
_DECLARED: Final = re.compile(rb"\b(\w++)\s*(?:\[[^\]]*\]\s*)*[,;]")
_EXTERNAL: Final = frozenset({"c", "cpp", "objc", "cuda", "arduino"})


def find_external_variables(data: bytes, language: str) -> Iterator[tuple[int, bytes]]:
    """Yield the variables of C that `extern` declares, which are defined in another file: their starts and names."""
    for declaration in _EXTERN.finditer(data) if language in _EXTERNAL and b"extern" in data else ():
        yield from ((name.start(1), name[1]) for name in _DECLARED.finditer(data, *declaration.span()))


def find_bound_names(data: bytes, captures: Mapping[str, Sequence[Node]], language: str) -> frozenset[bytes] | None:
    """Return the names that a file binds; None for a language in which other names are imported or called."""
    words = _WORDS.get(language)
    # Python and functional languages have passes of their own for names that a star imports or that are passed on.
    if words is None:
        return None
    # The whole file counts: scopes would cost more than the few names that are variables elsewhere in the file.
    own = {data[node.start_byte : node.end_byte] for kind in _KINDS for node in captures.get(kind, ())}
    package = _PACKAGE.search(data) if language in ("java", "kotlin") else None
    own.difference_update(name for _, name in find_external_variables(data, language))
    return PRIMITIVES.union(words, own, package[1].split(b".") if package else ())
