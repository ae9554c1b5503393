"""Find by its text what a statement does with names: extends a class by them, creates an object, calls them. Pure.

In these languages such statements are calls, lists or commands like any other in the syntax tree: `include Cached`,
`Cache.new` and `before_save :touch` of Ruby, `@behaviour Plugin` of Elixir, `(defrecord Cart [] Priced)` of Clojure.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gitmem.lazy_pattern import lazy_pattern
from gitmem.named_tuple import NamedTuple

_NAME: Final = lazy_pattern(rb"(?<![<\w?!-])(?:[\w-]+(?:::|\.|/))*(?P<name>[\w?!-]+)")
"""Name, or the last one of a path."""

_SYMBOL: Final = lazy_pattern(rb"(?<![:\w]):(?P<name>[a-z_]\w*[?!]?)")


class _Statement(NamedTuple):
    """Form of a statement with the group `names`, and what it does with them (`types.OCCURRENCE_KINDS`).

    A line break is before the first line, too: patterns that begin with one are ten times as fast as with `^`. What
    may be repeated in a line has a bound, so that long lines take no time that grows with their square.
    `is_certain` says that no comment and no string looks so. `name` matches one of the names.
    """

    kind: str
    pattern: re.Pattern[bytes]
    is_certain: bool = False
    name: re.Pattern[bytes] = _NAME


def _extending(pattern: bytes, *, is_certain: bool = False) -> _Statement:
    return _Statement("base", lazy_pattern(pattern), is_certain)


_INCLUDED: Final = _extending(
    rb"\n[ \t]*+(?:include|extend|prepend)[ (]+(?P<names>[A-Z:][\w:]*(?:[ \t]*,\s*[A-Z:][\w:]*)*)"
)
_CREATED: Final = _Statement("call", lazy_pattern(rb"(?P<names>\b[A-Z]\w*)(?:\([^()\n]*\))?\.new(?![\w?!])"))
_CALLBACK: Final = _Statement(
    "call",
    lazy_pattern(
        rb"\n[ \t]*+(?:(?:skip_|prepend_|append_)?(?:before|after|around)_\w+|validate|helper_method|set_callback"
        rb"|rescue_from)\b"
        rb"(?P<names>[ (](?:(?!,\s*(?:only|except|on):)[^\n#])*)",
    ),
    is_certain=True,
    name=_SYMBOL,
)
"""Statements of Rails with the methods that it calls. `only: :show` restricts them to some others."""

_PARAMETER: Final = lazy_pattern(rb"(?<=[(,\s])(?!self\b|cls\b)(?P<name>[a-z_]\w*)(?=\s*(?:[,:]|\Z))")
_FIXTURE: Final = _Statement(
    "call",
    lazy_pattern(
        rb"\n[ \t]*+(?:@(?:pytest\.)?fixture\b[^\n]*\n(?:[ \t]*@[^\n]*\n)*[ \t]*(?:async[ \t]+)?def[ \t]+\w+"
        rb"|(?:async[ \t]+)?def[ \t]+test_\w*)\((?P<names>[^()]*(?:\([^()]*\)[^()]*)*)\)",
    ),
    is_certain=True,
    name=_PARAMETER,
)
"""Tests and fixtures of pytest, which calls the fixtures that their parameters name."""

_SELECTOR: Final = _Statement("name", lazy_pattern(rb"@selector\([ \t]*(?P<names>[A-Za-z_]\w*)"), is_certain=True)
"""Method of Objective-C that is called back."""

_LISP_CLASS: Final = _extending(
    rb"\n[ \t]*+\((?:defclass|define-condition)\s+[^\s()]+\s+\((?P<names>[^()]*)\)", is_certain=True
)

_STATEMENTS: Final[Mapping[str, Sequence[_Statement]]] = {
    "python": (_FIXTURE,),
    "objc": (_SELECTOR,),
    "ruby": (_INCLUDED, _CREATED, _CALLBACK),
    "crystal": (
        _INCLUDED,
        _CREATED,
        _extending(rb"\b(?:class|struct)[ \t]+[\w:]+(?:\([^()\n]*\))?[ \t]*<[ \t]*(?P<names>[A-Z:][\w:]*)"),
    ),
    "coffeescript": (_extending(rb"\bclass\b[^\n]{0,300}\bextends[ \t]+(?P<names>[\w.]+)"),),
    "visualbasic": (_extending(rb"\n[ \t]*+(?i:inherits|implements)[ \t]+(?P<names>[\w.]+(?:[ \t]*,[ \t]*[\w.]+)*)"),),
    "pony": (_extending(rb"\n[ \t]*+(?:class|actor|primitive|trait|interface)\b[^\n]*\bis\b(?P<names>[^\n]*)"),),
    "raku": (_extending(rb"\b(?:class|role|grammar)\b[^\n{;]{0,300}?[ \t](?P<names>(?:is|does)[ \t][^\n{;]*)"),),
    "vala": (_extending(rb"\b(?:class|interface|struct)[ \t]+[\w.]+(?:<[^<>\n]*>)?[ \t]*:(?P<names>[^{\n]*)"),),
    "elixir": (_extending(rb"(?:@behaviour|\bdefimpl)[ \t(]+(?P<names>[A-Z][\w.]*)"),),
    "perl": (
        _extending(
            rb"\n[ \t]*+(?:with|extends)\b[ \t(]*(?:qw\W)?(?P<names>(?<=qw.)[^;\n]*|['\"][^;\n]*)", is_certain=True
        ),
    ),
    "groovy": (
        _extending(
            rb"\b(?:extends|implements)\s+(?P<names>[\w.]+(?:<[^{}\n]{0,200}>)?(?:\s*,\s*[\w.]+(?:<[^{}\n]{0,200}>)?)*)"
        ),
    ),
    "scala": (_extending(rb"given(?<=\bgiven)[ \t]+(?:\w+[ \t]*:[ \t]*)?(?P<names>[A-Z][\w.]*)(?![\w.]*[ \t]*:)"),),
    "clojure": (
        _extending(rb"\((?:defrecord|deftype)\s+[^\s()]+\s+\[[^\]]{0,500}\]\s+(?P<names>[\w.-]+)"),
        _extending(rb"\((?:extend-type\s+[^\s()]+|extend-protocol|reify)\s+(?P<names>[\w.-]+)"),
        _extending(rb"\n[ \t]++(?P<names>[A-Z][\w-]*)[ \t]*(?=\n)"),
    ),
    "commonlisp": (_LISP_CLASS,),
    "elisp": (_LISP_CLASS,),
}


class TextRole(NamedTuple):
    """Name with its start in bytes and the kind of its use. If it is not certain, it may be in a comment or string."""

    start: int
    kind: str
    text: bytes
    is_certain: bool


def find_roles(data: bytes, language: str) -> Iterator[TextRole]:
    """Yield the names in such statements, of a path the last one."""
    statements = _STATEMENTS.get(language, ())
    text = b"\n" + data if statements else b""
    for statement in statements:
        for match in statement.pattern.finditer(text):
            for found in statement.name.finditer(text, *match.span("names")):
                yield TextRole(found.start("name") - 1, statement.kind, found["name"], statement.is_certain)
