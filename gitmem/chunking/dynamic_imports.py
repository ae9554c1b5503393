"""Find the imports of JavaScript and TypeScript that are expressions: `import("./page")`, also in types and comments.

Pages are loaded like that by routers and by `lazy` of React, modules by tests and by code that starts fast, and
comments of JavaScript name types like that. The imported names are before or behind: `const { a } = await import(...)`,
`import(...).then((m) => m.Page)`, `typeof import(...).a`. Alone behind an arrow, it is the default export.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from gitmem.chunking.import_statements import Import, read_imports
from gitmem.lazy_pattern import lazy_pattern

_LANGUAGES: Final = frozenset({"javascript", "typescript", "tsx"})

_REACH: Final = 300
"""Bytes before and behind an import that are read."""

_IMPORT: Final = lazy_pattern(
    rb"import\s*\(\s*(?:/\*[^*]{0,200}\*/\s*|//[^\n]{0,200}\n\s*){0,3}([\"'`])(?P<module>[^\"'`\n${}]{1,240})\1"
    rb"\s*(?:,[^()]{0,200})?\)"
)
"""The comments between bracket and module are those of bundlers."""

_BINDING: Final = lazy_pattern(
    rb"(?:(?<![\w$.])(?P<name>[\w$]+)|\{(?P<names>[^{}]*)\})(?:\s*:[^=;{}]{1,100})?\s*=\s*(?P<await>(?:\(?\s*await\s+)?)\Z"
)
_ARROW: Final = lazy_pattern(rb"=>\s*\Z")
_AWAITED: Final = lazy_pattern(rb"\(\s*await\s+\Z")
_MEMBER: Final = lazy_pattern(rb"\s*\.\s*(?!then\b|catch\b|finally\b)(?P<name>[A-Za-z_$][\w$]*)")
_AWAITED_MEMBER: Final = lazy_pattern(rb"\s*\)\s*\.\s*(?P<name>[A-Za-z_$][\w$]*)")
_THEN: Final = lazy_pattern(
    rb"\s*\.\s*then\s*\(\s*(?:async\s+)?(?:function\s*)?\(?\s*"
    rb"(?:\{(?P<names>[^{}]*)\}|(?P<module>[\w$]+))(?:\s*:[^=(){}]{1,100})?\s*\)?\s*(?:=>|\{)"
)
_TOGETHER: Final = lazy_pattern(
    rb"\[(?P<targets>\s*+(?:(?:\{[^{}]*+\}|[\w$]++)\s*+,?+\s*+){1,40}+)\]"
    rb"\s*+=\s*+await\s++Promise\s*+\.\s*+all\s*+\(\s*+\["
)
_TARGET: Final = lazy_pattern(rb"\{(?P<names>[^{}]*)\}|(?P<name>[\w$]+)")
"""Several imports at once: `const [{ a }, b] = await Promise.all([import("./a"), import("./b")])`."""

_DOCUMENTED: Final = lazy_pattern(
    rb"@import\s+(?P<names>[\w$*{][^\"'@]{0,400}?)\s*\bfrom\s+([\"'])(?P<module>[^\"'\n]{1,240})\2"
)
"""Import in a comment of JavaScript, which may have several lines."""

_STAR: Final = lazy_pattern(rb"\n\s*\*")
_WORD: Final = lazy_pattern(rb"[\w$]+")
_MAX_MEMBERS: Final = 4


def find_dynamic_imports(data: bytes, language: str) -> Iterator[tuple[int, Import]]:
    """Yield the imports in expressions, types and comments, each with its start in bytes."""
    if language not in _LANGUAGES:
        return
    targets = _targets(data) if b"Promise" in data and b"import(" in data else {}
    for found in _IMPORT.finditer(data) if b"import(" in data else ():
        target = targets.get(found.start())
        if target is not None:
            yield from _imports_into(data, target, found)
        elif data[found.start() - 1 : found.start()] not in (b".", b"$", b"_"):  # `loader.import(...)`
            yield from _imports_of(data, found)
    for found in _DOCUMENTED.finditer(data) if b"@import" in data else ():
        statement = f'import {_text(_STAR.sub(b" ", found["names"]))} from "{_text(found["module"])}"'
        for each in read_imports(statement, language):
            yield _place_of(data, each.name, *found.span("names")), each


def _targets(data: bytes) -> dict[int, re.Match[bytes]]:
    """Return the target of each of several imports at once, by the start of the import."""
    targets: dict[int, re.Match[bytes]] = {}
    for together in _TOGETHER.finditer(data):
        into = list(_TARGET.finditer(data, *together.span("targets")))
        imports = list(_IMPORT.finditer(data, together.end(), data.find(b"])", together.end()) % (len(data) + 1)))
        if len(imports) == len(into):
            targets.update((each.start(), target) for each, target in zip(imports, into, strict=True))
    return targets


def _imports_into(data: bytes, target: re.Match[bytes], found: re.Match[bytes]) -> Iterator[tuple[int, Import]]:
    """Yield the names that one of several imports at once is assigned to."""
    module = _text(found["module"])
    if target["names"] is None:
        yield found.start(), Import("", module, _text(target["name"]))
    else:
        yield from _between_braces(data, target, module)


def _imports_of(data: bytes, found: re.Match[bytes]) -> Iterator[tuple[int, Import]]:
    """Yield the names that one expression takes of a module, or else the module."""
    start, end = found.span()
    module = _text(found["module"])
    low, high = max(0, start - _REACH), end + _REACH
    binding, then = _BINDING.search(data, low, start), _THEN.match(data, end, high)
    is_awaited = _AWAITED.search(data, low, start) is not None
    member = (_AWAITED_MEMBER if is_awaited else _MEMBER).match(data, end, high)
    for pattern in (binding if member is None else None, then):
        if pattern is not None and pattern["names"] is not None:
            yield from _between_braces(data, pattern, module)
            return
    uses = _uses_of(data, then["module"], then.end()) if then is not None else []
    alias = _text(binding["name"]) if binding is not None and binding["await"] and binding["name"] else ""
    if then is not None and uses:
        # Calls of its members are calls of definitions in the module.
        yield start, Import("", module, _text(then["module"]))
        for use in uses:
            yield use.start("name"), Import(_text(use["name"]), module, alias if len(uses) == 1 else "")
    elif member is not None:
        yield member.start("name"), Import(_text(member["name"]), module, alias if is_awaited else "")
    elif _ARROW.search(data, low, start):
        yield start, Import("default", module)
    else:
        yield start, Import("", module, alias)


def _uses_of(data: bytes, parameter: bytes, start: int) -> list[re.Match[bytes]]:
    """Return the first members of a parameter that stands for a module, from a place on."""
    use = re.compile(rb"(?<![\w$.])" + re.escape(parameter) + rb"\??\.(?P<name>[A-Za-z_$][\w$]*)")
    return list(islice(use.finditer(data, start, start + _REACH), _MAX_MEMBERS))


def _between_braces(data: bytes, pattern: re.Match[bytes], module: str) -> Iterator[tuple[int, Import]]:
    """Yield the imports of a pattern with its default values, `{ a, b: c, d = 1 }`, each where its name is."""
    for part in _text(pattern["names"]).split(","):
        name, _, alias = part.partition("=")[0].partition(":")
        if name.strip().isidentifier():
            yield _place_of(data, name.strip(), *pattern.span("names")), Import(name.strip(), module, alias.strip())


def _place_of(data: bytes, name: str, start: int, end: int) -> int:
    """Return where a name is in a span, the start of the span if it is not."""
    own = name.encode()
    return next((word.start() for word in _WORD.finditer(data, start, end) if word[0] == own), start)


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
