"""Read import statements: which names they bring into a file, from which modules, under which other names. Pure.

A statement is short and has a fixed form in each language, so patterns read it, without further types of syntax nodes.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gitmem.named_tuple import NamedTuple
from gitmem.package_names import template_name

EVERY: Final = "*"
"""Name of an import of everything that a module exports."""


class Import(NamedTuple):
    """Imported name, its module as written, and the name under which the file uses it.

    An empty name stands for the whole module. An empty alias stands for the name itself.
    """

    name: str
    module: str
    alias: str = ""


_COMMENT: Final = re.compile(r"#[^\n]*|//[^\n]*|/\*.*?\*/", re.DOTALL)
_HASKELL_COMMENT: Final = re.compile(r"--[^\n]*|\{-.*?-\}", re.DOTALL)
_PYTHON_FROM: Final = re.compile(r"from\s+([.\w\s]*?)\s+import\s+(.*)", re.DOTALL)
_STRING: Final = re.compile(r"""["'<]([^"'<>\n]+)["'>]""")
_BRACES: Final = re.compile(r"\{([^}]*)\}")
_NAMESPACE: Final = re.compile(r"\*\s*as\s+([\w$]+)")
_DEFAULT: Final = re.compile(r"(?:import|export)\s+(?:type\s+)?([\w$]+)\s*(?:,|\bfrom\b)")
_FROM: Final = re.compile(r"\bfrom\s*[\"']([^\"'\n]+)")
_REQUIRE: Final = re.compile(
    r"(?:([\w$]+)|\{([^}]*)\})\s*=\s*(?:await\s+)?(?:require|import)\s*\(\s*[\"']([^\"']+)[\"']\s*\)(?:\.([\w$]+))?"
)
_PERL: Final = re.compile(r"(?:use|require)\s+([A-Z][\w:]*)\s*(.*)", re.DOTALL)
_PERL_NAMES: Final = re.compile(r"(?<![-:\w$@%&])(?!qw\b)[A-Za-z_]\w+(?![\w:]|\s*(?:=>|\())")
_PERL_BASES: Final = frozenset({"Mojo::Base"})
"""Modules whose arguments are base classes. Those of pragmas import nothing either."""

_ELIXIR: Final = re.compile(
    r"(?:alias|import|require|use)\b[\s(]*([A-Z][\w.]*(?:\{[^}]*\})?)(?:\s*,\s*as:\s*([A-Z][\w.]*))?"
)
_EXPOSING: Final = re.compile(
    r"import\s+([\w.]+)(?:\s+as\s+(\w+))?\s*(hiding|exposing|)\s*(?:\((.*)\))?(?:\s*as\s+(\w+))?", re.DOTALL
)
"""`import A.B as C exposing (d, E(..))` in Elm, and `import A.B (d, class E) as C` in PureScript."""

_EXPOSED: Final = re.compile(r"(?:class\s+|type\s+)?(\w+|\.\.)(?:\s*\([^)]*\))?")
_GLEAM: Final = re.compile(r"import\s+([\w/]+)(?:\.\{([^}]*)\})?(?:\s+as\s+(\w+))?")
_FROM_TEMPLATE: Final = re.compile(r"[\"']([^\"']+)[\"']\s+(import|as)\s+(.*)", re.DOTALL)
_WITH_CONTEXT: Final = re.compile(r"\s+with(?:out)?\s+context\b.*", re.DOTALL)
_RUBY: Final = re.compile(r"(require|require_relative|load|autoload)\b")


def read_imports(statement: str, language: str) -> Iterator[Import]:
    """Yield the imports of a statement; nothing if it turns out to be another one."""
    reader = _READERS.get(language)
    return reader(statement) if reader is not None else iter(())


def _python(statement: str) -> Iterator[Import]:
    statement = _without_comments(statement)
    match = _PYTHON_FROM.match(statement)
    if match is None:
        for part in statement.removeprefix("import").split(","):
            module, _, alias = map(str.strip, part.partition(" as "))
            yield Import("", module, alias)
        return
    for part in match[2].strip("() \n").split(","):
        name, alias = _as_pair(part)
        if name:
            yield Import(name, "".join(match[1].split()), alias)


def _ecma(statement: str) -> Iterator[Import]:
    required = _REQUIRE.search(statement)
    if required is not None:
        if required[1]:
            yield Import(required[4] or "", required[3], required[1])
        yield from _listed(required[2] or "", required[3])
        return
    module = _FROM.search(statement) or _STRING.search(statement)
    if module is None and statement.startswith("export"):
        yield from _renamed(statement)
    if module is None or not statement.startswith(("import", "export")):
        return
    namespace, default, braces = _NAMESPACE.search(statement), _DEFAULT.match(statement), _BRACES.search(statement)
    if namespace is not None:
        yield Import("", module[1], namespace[1])
    elif statement.startswith("export") and "*" in statement and braces is None:
        yield Import(EVERY, module[1])
    if default is not None and default[1] != "type":
        yield Import("default", module[1], default[1])
    if braces is not None:
        yield from _listed(braces[1], module[1])
    if namespace is None and default is None and braces is None and statement.startswith("import"):
        yield Import("", module[1])


def _renamed(statement: str) -> Iterator[Import]:
    """Yield the names that a file exports under another name, as imports from itself: from no module."""
    braces = _BRACES.search(statement)
    for each in _listed(braces[1], "") if braces is not None else ():
        if each.alias not in ("", "default", each.name):
            yield each


def _listed(names: str, module: str) -> Iterator[Import]:
    """Yield the imports between braces: `a, b as c, type d, e: f`."""
    for part in _without_comments(names).split(","):
        name, alias = _as_pair(part.replace(":", " as ").strip().removeprefix("type "))
        if name:
            yield Import(name, module, alias)


def _go(statement: str) -> Iterator[Import]:
    module = _STRING.search(statement)
    path = module[1] if module is not None else statement.strip("`")
    alias = statement.split()[0] if statement[:1] not in '"`' else ""
    yield Import(EVERY if alias == "." else "", path, "" if alias in ("_", ".") else alias)


def _rust(statement: str) -> Iterator[Import]:
    statement = _without_comments(statement).strip(" ;\n")
    crate, alias = _as_pair(statement.partition("extern crate ")[2])
    if crate:
        yield Import("", crate, alias)
        return
    body = statement.partition("use ")[2].strip()
    for path, alias in _use_paths(body):
        module, _, name = path.rpartition("::")
        if name == "self":
            yield Import("", module, alias)
        else:
            yield Import(EVERY if name == "*" else name, module, alias)


def _use_paths(tree: str) -> list[tuple[str, str]]:
    """Return the paths in a tree such as `a::{b, c::{d as e, *}}`, with their aliases."""
    paths: list[tuple[str, str]] = []
    stack, prefix, leaf = [""], "", ""
    for mark in re.split(r"([{},])", tree):
        if mark == "{":
            stack.append(prefix + "".join(leaf.split()))
            prefix, leaf = stack[-1], ""
        elif mark in (",", "}"):
            if leaf.strip():
                paths.append(_use_leaf(prefix, leaf))
            leaf = ""
            if mark == "}" and len(stack) > 1:
                stack.pop()
                prefix = stack[-1]
        else:
            leaf = mark
    if leaf.strip():
        paths.append(_use_leaf(prefix, leaf))
    return paths


def _use_leaf(prefix: str, leaf: str) -> tuple[str, str]:
    name, alias = _as_pair(leaf)
    return prefix + name, alias


def _dotted(separator: str, keywords: str, last_is_name: bool = True) -> Callable[[str], Iterator[Import]]:
    """Return a reader of `import a.b.C` in one of its forms."""
    start = re.compile(rf"(?:(?:{keywords})\s+)+")

    def read(statement: str) -> Iterator[Import]:
        body = start.sub("", _without_comments(statement).strip(), count=1).strip(" ;\n")
        if "=" in body:
            alias, _, path = map(str.strip, body.partition("="))
            path = path.partition("<")[0].rstrip()  # `using Run = System.Func<string>`
        else:
            path, alias = _as_pair(body)
        path = path.strip(separator)
        if not path:
            return
        module, _, name = path.rpartition(separator)
        if not last_is_name and "=" not in body:
            yield Import(EVERY, path)
        elif name in ("*", "_"):
            yield Import(EVERY, module)
        else:
            yield Import(name, module, alias)

    return read


def _php(statement: str) -> Iterator[Import]:
    body = re.sub(r"^use\s+(?:function\s+|const\s+)?", "", _without_comments(statement)).strip(" ;\n")
    for path, alias in _use_paths(body.replace("\\", "::")):
        module, _, name = path.strip(":").rpartition("::")
        yield Import(name, module.replace("::", "\\"), alias)


def _include(statement: str) -> Iterator[Import]:
    module = _STRING.search(statement)
    if module is not None:
        yield Import("", module[1])


def _ruby(statement: str) -> Iterator[Import]:
    module = _STRING.search(statement) if _RUBY.match(statement) else None
    if module is not None:
        yield Import("", ("./" if statement.startswith("require_relative") else "") + module[1])


def _scala(statement: str) -> Iterator[Import]:
    """Read `import a.b.{C, D => E, F as G, H => _}`. The last one hides a name."""
    body = _without_comments(statement).strip().removeprefix("import").replace("=>", " as ").replace("`", "")
    for path, alias in _use_paths(body):
        module, _, name = path.rpartition(".")
        if alias != "_":
            yield Import(EVERY if name in ("_", "*", "given") else name, module, alias)


def _elixir(statement: str) -> Iterator[Import]:
    match = _ELIXIR.match(statement)
    if match is None:
        return
    for path, _ in _use_paths(match[1]):
        module, _, name = path.rpartition(".")
        yield Import(name, module, match[2] or "")


def _exposing(statement: str) -> Iterator[Import]:
    match = _EXPOSING.match(_HASKELL_COMMENT.sub("", statement))
    if match is None:
        return
    yield Import("", match[1], match[2] or match[5] or "")
    if match[3] == "hiding":
        yield Import(EVERY, match[1])
    elif match[4]:
        for name in _EXPOSED.findall(match[4]):
            yield Import(EVERY if name == ".." else name, match[1])


def _gleam(statement: str) -> Iterator[Import]:
    match = _GLEAM.match(statement)
    if match is not None:
        yield Import("", match[1], match[3] or "")
        yield from _listed(match[2] or "", match[1])


def _perl(statement: str) -> Iterator[Import]:
    """Read `use A::B qw(c d)` and `require A::B`. The arguments of `use parent` are base classes, and no import."""
    match = _PERL.match(statement)
    if match is None or match[1] in _PERL_BASES:
        return
    yield Import("", match[1])
    names = _PERL_NAMES.findall(match[2])
    for name in names:
        yield Import(name, match[1])
    if not names:
        yield Import(EVERY, match[1])


def _template(statement: str) -> Iterator[Import]:
    """Read the path of another template, in Jinja also `"forms.html" as forms` and `"forms.html" import a as b`.

    A template has the name of its file, see `template_name`.
    """
    match = _FROM_TEMPLATE.match(statement)
    path = match[1] if match is not None else statement
    name = template_name(path)
    if name:
        yield Import(name, path)
    if match is not None and match[2] == "as":
        yield Import("", path, match[3])
    elif match is not None:
        yield from _listed(_WITH_CONTEXT.sub("", match[3]).strip("-~ "), path)


def _blade(statement: str) -> Iterator[Import]:
    """Read `layouts.app`, and the tag `x-forms.input`, which is a component."""
    path = statement.rpartition("::")[2].replace(".", "/")
    return _template("components/" + path.removeprefix("x-") if path.startswith("x-") else path)


def _razor(statement: str) -> Iterator[Import]:
    return _READERS["csharp"](statement) if statement.startswith("using") else _template(statement)


def _qml(statement: str) -> Iterator[Import]:
    """Read a script or folder, `import "../tools.js" as Tools`. Other modules are those of libraries."""
    module = _STRING.search(statement)
    if module is not None:
        yield Import("", module[1], _as_pair(statement[module.end() - 1 :])[1])


def _without_comments(statement: str) -> str:
    """Return a statement without its comments; few have any."""
    return _COMMENT.sub("", statement) if "#" in statement or "/" in statement else statement


def _as_pair(text: str) -> tuple[str, str]:
    """Return the name and the alias of `name as alias`."""
    parts = text.split()
    if len(parts) >= 3 and parts[1] == "as":
        return parts[0], parts[2]
    return (parts[0], "") if parts else ("", "")


_READERS: Final[Mapping[str, Callable[[str], Iterator[Import]]]] = {
    "python": _python,
    "javascript": _ecma, "typescript": _ecma, "tsx": _ecma,
    "go": _go,
    "rust": _rust,
    "java": _dotted(".", "import|static"),
    "kotlin": _dotted(".", "import"),
    "swift": _dotted(".", "@testable|import|struct|class|enum|protocol|func", last_is_name=False),
    "csharp": _dotted(".", "global|using|static", last_is_name=False),
    "php": _php,
    "c": _include, "cpp": _include,
    "qmljs": _qml,
    "ruby": _ruby,
    "perl": _perl,
    "scala": _scala, "elixir": _elixir, "elm": _exposing, "purescript": _exposing, "gleam": _gleam,
    **dict.fromkeys(
        ("jinja", "twig", "liquid", "handlebars", "gotemplate", "erb", "ejs", "freemarker", "jsp", "mako", "thymeleaf"),
        _template,
    ),
    "blade": _blade, "razor": _razor,
}  # fmt: skip
"""Readers by language."""
