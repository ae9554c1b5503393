"""Find the names that few languages write in their own way, after those that patterns of nodes find.

They are exports without a name, functions that macros of C make, prototypes, external variables, scopes of C++, calls
in macros of Rust, calls of Kotlin that its grammar takes for comparisons, calls of Ruby without brackets, names that a
star imports in Python, functions that functional languages pass on, signals of QML, and targets of CMake.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from gitmem.chunking.bound_names import find_external_variables
from gitmem.chunking.grammar import Node
from gitmem.chunking.grammars.macro_names import unmasked
from gitmem.chunking.name_spelling import MAX_NAME, PRIMITIVES, spelling_of
from gitmem.types import DEFINING, MAIN_EXPORT, OCCURRENCE_KINDS

_CODES: Final = {kind: code for code, kind in enumerate(OCCURRENCE_KINDS)}
_FUNCTION, _CLASS, _VALUE, _CALL, _TYPE, _NAME = (
    _CODES[kind] for kind in ("function", "class", "value", "call", "type", "name")
)

Places = dict[int, tuple[int, bytes]]
"""Kind and text of names by their start."""

Captures = Mapping[str, Sequence[Node]]
_Pass = Callable[[bytes, Places, Captures], None]

_DECLARATORS: Final = frozenset({"function_declarator", "pointer_declarator", "reference_declarator"})
_AROUND_PROTOTYPES: Final = frozenset(
    "translation_unit declaration_list linkage_specification preproc_ifdef preproc_if preproc_else ERROR".split()
)
"""Nodes around declarations outside of functions. `extern "C" {` in a condition makes an error of a whole file."""

_RUST_PATTERNS: Final = frozenset({b"Some", b"Ok", b"Err"})
_GENERIC_CALL: Final = re.compile(rb"<[\w.,?*<> ]{1,80}> ?[({]")
_NO_CALLS: Final = frozenset(
    b"private public protected module_function raise require require_relative __FILE__ __dir__ __method__ binding loop"
    b" block_given? puts p".split()
)
"""Methods of Ruby itself, which no search is about."""

_BINDING: Final = re.compile(
    rb"(?:^|\\|[|,(]|\b(?:let|fun|fn|function|of|where|with|and)\b)([^\n\\|]{0,300}?)"
    rb"(?:<-|->|(?<![-=<>/!:|&+*])=(?![=><]))",
    re.MULTILINE,
)
"""Text before a sign that binds the names in it: `f x =`, `\\x ->`, `Just x ->`, `x <-`. A line may have several.

The bound keeps long lines, such as tables of numbers, from being read again for each comma.
"""

_STAR: Final = b" import *"
_TARGETS: Final = re.compile(
    rb"^([^=\n(]{1,200})(?<![!<>=])=(?!=)|\bfor\b([^\n:=]{1,200}?)\bin\b"
    rb"|\b(?:as|global|nonlocal)[ \t]+(\w+)|(\w+)[ \t]*:=",
    re.MULTILINE,
)
"""Variables of Python: assigned, of loops, behind `as`."""

_PARAMETERS: Final = re.compile(rb"\bdef[ \t]+\w+[ \t]*\(((?:[^()]|\([^()]*\)){0,2000})\)|\blambda\b([^:\n]{0,200})")
_BARE_WORD: Final = re.compile(rb"(?<![.\w])\w+")
_PARAMETER: Final = re.compile(rb"(?:^|,)[\s*]*(\w+)")

_WORD: Final = re.compile(rb"[a-z_][\w']*")
_SHORT: Final = 2
"""Letters of names that are nothing but variables."""

_APPLIED: Final = re.compile(rb" +(?:\$!?|<\$>|<\||@@) ")


def add_further_names(data: bytes, places: Places, captures: Captures, language: str) -> None:
    """Add the names that are written in the ways of a language, and correct the kinds of others."""
    for each in _PASSES.get(language, ()):
        each(data, places, captures)


def _hidden_functions(data: bytes, places: Places, captures: Captures) -> None:
    """Define the functions that macros make, and turn the macros into calls: `SYSCALL_DEFINE3(open, int)`."""
    for node in captures.get("function", ()):
        macro = data[node.start_byte : node.end_byte]
        definition = node.parent.parent if node.parent is not None and macro.isupper() else None
        if definition is None or definition.type != "function_definition":
            continue
        own = unmasked(macro.decode("utf-8", "replace"), definition, data).rpartition(".")[2].encode()
        start = data.find(own, node.end_byte, definition.end_byte)
        if own not in (b"", macro) and start >= 0:
            places[node.start_byte] = _CALL, macro
            places[start] = _FUNCTION, own


def _prototypes(data: bytes, places: Places, captures: Captures) -> None:
    """Add the declarations of functions of C without a body as mentions. Inside of functions they are variables."""
    for node in captures.get("prototype", ()):
        start = node.start_byte
        if start in places and places[start][0] < DEFINING:
            continue
        # `char **found(void)` has two pointers around the name.
        around = node.parent
        while around is not None and around.type in _DECLARATORS:
            around = around.parent
        if around is not None and around.parent is not None and around.parent.type in _AROUND_PROTOTYPES:
            text = data[start : node.end_byte]
            if len(text) <= MAX_NAME:
                places.setdefault(start, (_NAME, text))
        else:
            places.pop(start, None)


def _external_variables(data: bytes, places: Places, _captures: Captures) -> None:
    """Turn the variables of C that `extern` declares into mentions, as prototypes are."""
    for start, name in find_external_variables(data, "c"):
        # Top-level ones are values so far; those behind the guard of a header are nothing yet.
        if len(name) <= MAX_NAME and places.get(start, (_VALUE, name))[0] == _VALUE:
            places[start] = _NAME, name


def _scopes(data: bytes, places: Places, captures: Captures) -> None:
    """Add the classes and namespaces of C++ before a name, `Kind::A`, but not in the definition of a member."""
    for node in captures.get("scope", ()):
        text = data[node.start_byte : node.end_byte]
        if text in PRIMITIVES or len(text) > MAX_NAME:
            continue
        around = node.parent
        while around is not None and around.type == "qualified_identifier":
            around = around.parent
        if around is None or around.type != "function_declarator":
            places.setdefault(node.start_byte, (_TYPE, text))


def _mentions(data: bytes, places: Places, captures: Captures) -> None:
    """Add names that stand for something of another file, whatever it is. Words in capitals are commands of CMake."""
    spelling = spelling_of("cmake")  # which has the letters of all these languages
    for node in captures.get("mention", ()):
        start = node.start_byte
        text = data[start : node.end_byte]
        inside = text.rfind(b"::") + 2 if b"::" in text else 0
        text = text[inside:]
        is_word = text.isupper() and text.isalpha() and len(text) > _SHORT
        if spelling.is_name(text) and not is_word and not text.isdigit() and len(text) <= MAX_NAME:
            places.setdefault(start + inside, (_NAME, text))


def _sizeof_types(data: bytes, places: Places, captures: Captures) -> None:
    """Add the types in `sizeof(cart_t)`, which the grammar of C takes for variables: `_t` at the end, or a capital."""
    for node in captures.get("sizeof", ()):
        text = data[node.start_byte : node.end_byte]
        if (text.endswith(b"_t") or text[:1].isupper()) and len(text) <= MAX_NAME:
            places[node.start_byte] = _TYPE, text


def _macro_calls(data: bytes, places: Places, captures: Captures) -> None:
    """Add the calls in the arguments of macros of Rust, which are tokens alone: `assert_eq!(total(&cart), 3)`."""
    attributes = sorted(node.byte_range for node in captures.get("attribute", ()))
    for node in captures.get("token", ()):
        start, end = node.byte_range
        if data[end : end + 1] != b"(" and data[end : end + 3] != b"::<":
            continue
        text = data[start:end]
        after = bisect_right(attributes, (start, end))
        is_attribute = after > 0 and start < attributes[after - 1][1]
        if not is_attribute and text not in _RUST_PATTERNS and len(text) <= MAX_NAME:
            places[start] = _CALL, text


def _generic_calls(data: bytes, places: Places, captures: Captures) -> None:
    """Add the calls of Kotlin that its grammar takes for comparisons: `assertFails<Error> { run() }`."""
    for node in captures.get("name", ()):
        start, end = node.byte_range
        if data[end : end + 1] == b"<" and start not in places and _GENERIC_CALL.match(data, end):
            places[start] = _CALL, data[start:end][:MAX_NAME]


def _handled_signals(data: bytes, places: Places, captures: Captures) -> None:
    """Add the signals of QML that handlers name: `onRowSelected: ...` for `rowSelected`."""
    for node in captures.get("handler", ()):
        text = data[node.start_byte : node.end_byte]
        if text[:2] == b"on" and text[2:3].isupper() and len(text) <= MAX_NAME:
            places[node.start_byte + 2] = _NAME, text[2:3].lower() + text[3:]


def _main_exports(data: bytes, places: Places, captures: Captures) -> None:
    """Define the functions and classes that a module of JavaScript exports without a name: `export default () => 1`."""
    for node in captures.get("main", ()):
        value = node.child_by_field_name("value")
        start = data.find(b"default", node.start_byte, node.end_byte)
        if value is not None and start >= 0:
            places[start] = (_CLASS if value.type == "class" else _FUNCTION), MAIN_EXPORT


def _bare_calls(data: bytes, places: Places, captures: Captures) -> None:
    """Add the identifiers of Ruby as calls that are variables nowhere in the file: calls without brackets.

    In templates and scripts without definitions, others may have made the variables.
    """
    if not any(code < _VALUE for code, _ in places.values()):
        return
    others = _NO_CALLS.union(data[node.start_byte : node.end_byte] for node in captures.get("variable", ()))
    for node in captures.get("name", ()):
        start = node.start_byte
        text = data[start : node.end_byte]
        if text not in others and (start not in places or places[start][0] == _NAME) and len(text) <= MAX_NAME:
            places[start] = _CALL, text


def _starred_names(data: bytes, places: Places, captures: Captures) -> None:
    """Add the names of Python that a file with `from a import *` does not bind: they may be those of the module."""
    if _STAR not in data:
        return
    bound: set[bytes] = set()
    for targets in _TARGETS.finditer(data):
        bound.update(_BARE_WORD.findall(targets[targets.lastindex or 0]))
    for parameters in _PARAMETERS.finditer(data):
        bound.update(_PARAMETER.findall(parameters[parameters.lastindex or 0]))
    # Two letters are mostly those of a loop or an alias that the patterns above do not know.
    for node in captures.get("name", ()):
        start = node.start_byte
        text = data[start : node.end_byte]
        if start not in places and text not in bound and _SHORT < len(text) <= MAX_NAME:
            places[start] = _NAME, text


def _free_names(data: bytes, places: Places, captures: Captures) -> None:
    """Add the names of functional languages that no line of the file binds: functions that are passed or composed."""
    bound = frozenset(word for line in _BINDING.finditer(data) for word in _WORD.findall(line[1]))
    for node in captures.get("name", ()):
        start = node.start_byte
        text = data[start : node.end_byte]
        if start not in places and _SHORT < len(text) <= MAX_NAME and text not in bound:
            # What is left of `$` or right of `|>` is applied to the rest.
            called = _APPLIED.match(data, node.end_byte) or data[max(0, start - 3) : start] == b"|> "
            places[start] = (_CALL if called else _NAME), text


_C: Final = (_mentions, _sizeof_types, _prototypes, _external_variables, _hidden_functions)
_CPP: Final = (*_C, _scopes)
_PASSES: Final[Mapping[str, Sequence[_Pass]]] = {
    **dict.fromkeys(("c", "objc", "glsl", "ispc"), _C),
    **dict.fromkeys(("cpp", "cuda", "arduino", "hlsl"), _CPP),
    "cmake": (_mentions,),
    "java": (_mentions,),
    "qmljs": (_handled_signals,),
    "kotlin": (_mentions, _generic_calls),
    **dict.fromkeys(("javascript", "typescript", "tsx"), (_main_exports,)),
    "python": (_starred_names,),
    "rust": (_macro_calls,),
    "ruby": (_bare_calls,),
    **dict.fromkeys(("haskell", "purescript", "elm", "ocaml", "fsharp"), (_free_names,)),
}
