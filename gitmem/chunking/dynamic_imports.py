"""Find the imports of JavaScript and TypeScript that are expressions: `import("./page")`, also in types and comments.

Pages are loaded like that by routers and by `lazy` of React, modules by tests and by code that starts fast, and
comments of JavaScript name types like that. What is imported shows before or behind: `const { a } = await import(...)`,
`import(...).then((m) => m.Page)`, `typeof import(...).a`. Alone behind an arrow, it is the default export.
"""

import re
from collections.abc import Iterator
from typing import Final

from gitmem.chunking.import_statements import Import, read_imports
from gitmem.lazy_pattern import lazy_pattern

LANGUAGES: Final = frozenset({"javascript", "typescript", "tsx"})

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
    if language not in LANGUAGES:
        return
    targets = _targets(data) if b"Promise" in data and b"import(" in data else {}
    for found in _IMPORT.finditer(data) if b"import(" in data else ():
        target = targets.get(found.start())
        if target is not None:
            yield from _imports_into(data, target, found)
        elif data[found.start() - 1 : found.start()] not in (b".", b"$", b"_"):  # `loader.import(...)`
            yield from _imports_of(data, found)
    for found in _DOCUMENTED.finditer(data) if b"@import" in data else ():
        names = _STAR.sub(b" ", found["names"]).decode("utf-8", "replace")
        module = found["module"].decode("utf-8", "replace")
        for each in read_imports(f'import {names} from "{module}"', language):
            yield _place_of(data, each.name, *found.span("names")), each


def _targets(data: bytes) -> dict[int, re.Match[bytes]]:
    """Return what each of several imports at once is assigned to, by the start of the import."""
    targets: dict[int, re.Match[bytes]] = {}
    for together in _TOGETHER.finditer(data):
        into = list(_TARGET.finditer(data, *together.span("targets")))
        imports = list(_IMPORT.finditer(data, together.end(), data.find(b"])", together.end()) % (len(data) + 1)))
        if len(imports) == len(into):
            targets.update((each.start(), target) for each, target in zip(imports, into, strict=True))
    return targets


def _imports_into(data: bytes, target: re.Match[bytes], found: re.Match[bytes]) -> Iterator[tuple[int, Import]]:
    module = found["module"].decode("utf-8", "replace")
    if target["names"] is None:
        yield found.start(), Import("", module, target["name"].decode("utf-8", "replace"))
        return
    for each in _listed(target["names"], module):
        yield _place_of(data, each.name, *target.span("names")), each


def _imports_of(data: bytes, found: re.Match[bytes]) -> Iterator[tuple[int, Import]]:
    """Yield what one expression imports: the names that it takes of the module, or else the module."""
    start, end = found.span()
    module = found["module"].decode("utf-8", "replace")
    low, high = max(0, start - _REACH), end + _REACH
    binding = _BINDING.search(data, low, start)
    is_awaited = _AWAITED.search(data, low, start) is not None
    taken = (_AWAITED_MEMBER if is_awaited else _MEMBER).match(data, end, high)
    listed = binding if binding is not None and binding["names"] is not None and taken is None else None
    then = _THEN.match(data, end, high)
    if listed is None and then is not None and then["names"] is not None:
        listed = then
    if listed is not None:
        for each in _listed(listed["names"], module):
            yield _place_of(data, each.name, *listed.span("names")), each
        return
    if then is not None:
        member = re.compile(rb"(?<![\w$.])" + re.escape(then["module"]) + rb"\??\.([A-Za-z_$][\w$]*)")
        used = list(member.finditer(data, then.end(), then.end() + _REACH))[:_MAX_MEMBERS]
        for each_use in used:
            yield each_use.start(1), Import(each_use[1].decode("utf-8", "replace"), module)
        if used:
            # Calls of its members are calls of what the module defines.
            yield start, Import("", module, then["module"].decode("utf-8", "replace"))
            return
    alias = (binding["name"] or b"").decode("utf-8", "replace") if binding is not None and binding["await"] else ""
    if taken is not None:
        yield taken.start("name"), Import(taken["name"].decode("utf-8", "replace"), module, alias if is_awaited else "")
    elif _ARROW.search(data, low, start):
        yield start, Import("default", module)
    else:
        yield start, Import("", module, alias)


def _listed(names: bytes, module: str) -> Iterator[Import]:
    """Yield the imports between braces, of patterns and with default values: `a, b: c, d = 1`."""
    for part in names.decode("utf-8", "replace").split(","):
        name, _, alias = part.partition("=")[0].partition(":")
        if name.strip().isidentifier():
            yield Import(name.strip(), module, alias.strip())


def _place_of(data: bytes, name: str, start: int, end: int) -> int:
    """Return where a name is in a span, the start of the span if it is not."""
    own = name.encode()
    return next((word.start() for word in _WORD.finditer(data, start, end) if word[0] == own), start)
