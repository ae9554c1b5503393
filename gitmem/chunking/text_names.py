"""Find definitions and calls that the text of a file shows and no node of its syntax tree.

They are methods and types in comments of PHP, methods that statements of Ruby make from symbols, methods that strings
of PHP and routes of Laravel and Rails name, initialisers of Swift, the labels of blocks of Terraform, elements of
pages, types of comments and names of default exports in JavaScript, the calls in templates of Elixir, and the names of
packages in manifests of Rust and JavaScript.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Final

from gitmem.chunking.grammar import Node
from gitmem.chunking.name_spelling import MAX_NAME
from gitmem.lazy_pattern import lazy_pattern
from gitmem.named_tuple import NamedTuple


class TextName(NamedTuple):
    """Definition or use of a name: its start in bytes, kind (`types.OCCURRENCE_KINDS`), name and receiver."""

    start: int
    kind: str
    name: bytes
    receiver: bytes


_PHP_TYPE: Final = (
    rb"(?:\\?(?:callable|Closure)\([^\n()]*\)(?:[ \t]*:[ \t]*)?|(?<=[ \t|&])\([^\n()]*\)"
    rb"|[^\s(){}<>|]++|<[^\n()]*>|{[^\n()]*}|[ \t]*[|][ \t]*)++[ \t]+"
)
_METHOD_TAG: Final = lazy_pattern(
    rb"^[ \t]*(?:/\*)?\*[ \t]+@method[ \t]+(?:static[ \t]+)?(?:" + _PHP_TYPE + rb")?&?(\w+)[ \t]*\(", re.MULTILINE
)
"""`@method` in a comment of PHP. `static` and a type come before the name; a type has spaces only within brackets or
next to a bar."""

_PHP_DOCUMENTED: Final = lazy_pattern(
    rb"@(?<=[*\s]@)(?:phpstan-|psalm-)?(?:(?:param(?:-out)?|return|var|throws|property(?:-read|-write)?|extends|implements"
    rb"|mixin|use)[ \t]+|template(?:-covariant|-contravariant)?[ \t]+\w+[ \t]+of[ \t]+)"
    rb"(?P<types>(?:[^\s(){}<>|]++|<[^\n<>]*(?:<[^\n<>]*>[^\n<>]*)*>|\{[^\n{}]*\}|\([^\n()]*\)|[ \t]*[|&][ \t]*)++)"
)
"""Types in a comment of PHP, up to the first blank outside of brackets."""

_PHP_NAMED: Final = lazy_pattern(rb"(?<![\w$\\:'\"-])(?P<owner>\\?(?:\w+\\)*)(?P<name>[A-Z]\w*)(?![\w\\'\"(-])")

_PHP_CLASSES: Final = frozenset({"class_declaration", "interface_declaration", "trait_declaration", "enum_declaration"})

_MEMBER_STATEMENT: Final = lazy_pattern(
    rb"^[ \t]*(?=[abcdehmps])"
    rb"(?:(?P<all>[mc]?attr(?:_(?:accessor|reader|writer))?|[mc]attr_(?:accessor|reader|writer)|class_attribute"
    rb"|delegate|(?:public_|private_)?def_delegators?[ (]+:@?\w+,|store_accessor[ (]+:\w+,)"
    rb"|define_method|define_singleton_method|alias_method|scope|enum|has_many|has_one|belongs_to"
    rb"|has_and_belongs_to_many|has_one_attached|has_many_attached)"
    rb"[ (]+(?P<symbols>:\w+[?!]?(?:\s*,\s*:\w+[?!]?)*)",
    re.MULTILINE,
)
"""Statements of Ruby and Rails whose symbols become methods: all of them (`all`) or the first.

Most lines begin with none of the letters, and are left at once.
"""

_SYMBOL: Final = lazy_pattern(rb":(\w+[?!]?)")

_BLOCK: Final = lazy_pattern(
    rb"^(?P<kind>resource|data|ephemeral|variable|module|output)[ \t]+\"(?P<first>[\w-]+)\""
    rb"(?:[ \t]+\"(?P<second>[\w-]+)\")?[ \t]*\{",
    re.MULTILINE,
)
_LOCALS: Final = lazy_pattern(rb"^locals[ \t]*\{[ \t]*$", re.MULTILINE)
_LOCAL: Final = lazy_pattern(rb"^(?:  |\t)(?P<name>[A-Za-z_][\w-]*)[ \t]*=(?!=)", re.MULTILINE)
_RECEIVERS: Final = {b"variable": b"var"}

_PHP_CALLABLE: Final = lazy_pattern(rb"(?<![\w\\])(?P<class>[\w\\]{1,200})::class,\s*['\"](?P<name>\w+)['\"]\s*\]")
_PHP_OWN: Final = lazy_pattern(rb"(?:\[|\barray\()\s*(?P<class>\$this)\s*,\s*['\"](?P<name>\w+)['\"]\s*[\])]")
"""Method of the own object that is passed on: `[$this, 'show']`."""

_PHP_ACTION: Final = lazy_pattern(rb"['\"](?P<class>[\w\\]*Controller)@(?P<name>\w+)['\"]")
"""Methods that routes of Laravel name: `[PageController::class, 'show']` and `'PageController@show'`."""

_RUBY_ACTION: Final = lazy_pattern(rb"(?:\bto:|=>|\broot)[ (]*['\"](?P<path>[a-z][\w/]*)#(?P<name>[a-z_]\w*[?!]?)['\"]")
"""Methods that routes of Rails name: `"api/pages#show"`."""

_INITIALISER: Final = lazy_pattern(rb"(?<![.\w$`])init(?=[?!]?[ \t]*[(<])")

_ELEMENT: Final = lazy_pattern(
    rb"(?:\bselector:\s*|\bcustomElements?(?:\.define)?\(\s*)[\"'`](?P<name>[a-z][a-z0-9]*-[\w-]+)[\"'`]"
)
"""An element of pages that a class of Angular or of web components defines."""

_INLINE_TEMPLATE: Final = lazy_pattern(rb"\btemplate:\s*`(?P<text>[^`]*)`")
_TAG: Final = lazy_pattern(rb"<(?P<name>[a-z][a-z0-9]*-[\w-]+)(?=[\s/>])")

_DEFAULT_EXPORT: Final = lazy_pattern(
    rb"export(?<=^export)(?:[ \t]+default[ \t]+"
    rb"(?:(?:(?:async[ \t]+)?function[ \t]*\*?|(?:abstract[ \t]+)?class)[ \t]+(?P<declared>[\w$]+)"
    rb"|(?:[\w$.]++(?:<[^()<>\n]*+>)?+\((?:[^()\n]*+\)\()?+)*+(?P<named>[A-Za-z_$][\w$]*)\)*"
    rb"(?=[ \t]*(?:;|\r?$|as[ \t]|satisfies[ \t])))"
    rb"|[ \t]*\{[^{}]*?(?<![\w$])(?P<renamed>[\w$]+)\s+as\s+default\b[^{}]*\}(?!\s*from))",
    re.MULTILINE,
)
"""Default export by its name, also behind functions that wrap it: `export default connect(toProps)(Cart)`.

This pattern and the next begin with letters, for which the library searches, and test what is before them afterwards.
"""

_NO_EXPORTS: Final = frozenset(b"function class async new true false null undefined extends implements".split())

_TYPE_TAG: Final = lazy_pattern(
    rb"@(?<=\*[ \t]@)(?:arg|argument|augments|const|enum|extends|implements|param|prop|property|returns?"
    rb"|satisfies|template|this|throws|type|typedef|yields)[ \t]+\{(?P<types>[^{}\n]*(?:\{[^{}\n]*\}[^{}\n]*)*)\}"
)
"""Types in a comment of JavaScript, which the compiler of TypeScript reads."""

_NAMED_TYPE: Final = lazy_pattern(rb"(?<![\w$.'\"])(?P<owner>(?:[\w$]+\.)*)(?P<name>[A-Z][\w$]*)(?![\w$'\"(]|\?*:)")

_HEEX: Final = lazy_pattern(rb"~H(?:\"\"\"(?P<block>.*?)\"\"\"|\"(?P<line>[^\"\n]*)\")", re.DOTALL)
_HEEX_CALL: Final = lazy_pattern(
    rb"(?:<(?P<owner>[A-Z][\w.]*)?\.|(?P<module>\b[A-Z][\w.]*)\.(?=\w+[?!]?\()|(?<![\w.@:&%])(?=\w+[?!]?\())"
    rb"(?P<name>[a-z_]\w*[?!]?)"
)
"""A tag that calls a component, `<.modal>` or `<Layouts.app>`, or a call with brackets."""

_CRATE_TABLE: Final = lazy_pattern(rb"^\[(?:package|lib)\][ \t\r]*(?:#.*)?$", re.MULTILINE)
_CRATE_NAME: Final = lazy_pattern(rb"^(?:name[ \t]*=[ \t]*[\"'](?P<name>[\w-]+)[\"']|\[)", re.MULTILINE)
_NPM_NAME: Final = lazy_pattern(rb"^(?: {1,4}|\t)\"name\":[ \t]*\"(?P<name>(?:@[\w.-]+/)?[\w.-]+)\"", re.MULTILINE)
_NPM_KEY: Final = lazy_pattern(
    rb"^(?: {1,4}|\t)\"(?:version|private|main|module|exports|(?:dev|peer)?[dD]ependencies)\":", re.MULTILINE
)
"""Keys of which a `package.json` has at least one."""


def find_text_names(data: bytes, root: Node, language: str) -> Iterator[TextName]:
    """Yield the definitions and calls of a parsed file that no pattern of nodes finds."""
    finder = _FINDERS.get(language)
    for each in finder(data, root) if finder is not None else ():
        if len(each.name) <= MAX_NAME:
            yield each


def _php_names(data: bytes, root: Node) -> Iterator[TextName]:
    """Yield the methods that only a comment declares, the types in comments, and methods that are named in strings."""
    if b"@method" in data:
        yield from _documented_methods(data, root)
    yield from _documented_types(data)
    for hint, pattern in ((b"::class", _PHP_CALLABLE), (b"$this,", _PHP_OWN), (b"Controller@", _PHP_ACTION)):
        for found in pattern.finditer(data) if hint in data else ():
            yield TextName(found.start("name"), "call", found["name"], found["class"])


def _documented_methods(data: bytes, root: Node) -> Iterator[TextName]:
    """Yield the methods that only the comment of a class declares, because `__call` answers them."""
    for tag in _METHOD_TAG.finditer(data):
        if _documents_class(root.descendant_for_byte_range(tag.start(1), tag.end(1))):
            yield TextName(tag.start(1), "function", tag[1], b"")


def _documented_types(data: bytes) -> Iterator[TextName]:
    """Yield the classes of the types in comments of PHP."""
    for tag in _PHP_DOCUMENTED.finditer(data) if b"/**" in data else ():
        for named in _PHP_NAMED.finditer(data, *tag.span("types")):
            yield TextName(named.start("name"), "type", named["name"], named["owner"].rstrip(b"\\") or named["owner"])


def _ruby_names(data: bytes, _root: Node) -> Iterator[TextName]:
    """Yield the methods that statements in a class of Ruby make from symbols, and actions that routes name."""
    for action in _RUBY_ACTION.finditer(data) if b"#" in data else ():
        owner = b"::".join(_camel(part) for part in action["path"].split(b"/")) + b"Controller"
        yield TextName(action.start("name"), "call", action["name"], owner)
    for statement in _MEMBER_STATEMENT.finditer(data):
        symbols = _SYMBOL.finditer(data, *statement.span("symbols"))
        for symbol in islice(symbols, None if statement["all"] else 1):
            yield TextName(symbol.start(1), "function", symbol[1], b"")


def _camel(name: bytes) -> bytes:
    return b"".join(part[:1].upper() + part[1:] for part in name.split(b"_"))


def _initialisers(data: bytes, root: Node) -> Iterator[TextName]:
    """Yield the initialisers of Swift, of which a keyword is the name."""
    for found in _INITIALISER.finditer(data):
        node = root.descendant_for_byte_range(*found.span())
        if node is not None and node.type == "init":
            yield TextName(found.start(), "function", found[0], b"")


def _documents_class(node: Node | None) -> bool:
    """Return whether a node is a comment before a class. A string, and the comment of a function, declare nothing."""
    while node is not None and node.type == "comment":
        node = node.next_named_sibling
        if node is not None and node.type in _PHP_CLASSES:
            return True
    return False


def _block_labels(data: bytes, _root: Node) -> Iterator[TextName]:
    """Yield the blocks of Terraform. The receiver is the text before the name in references: `var`, `aws_vpc`."""
    for block in _BLOCK.finditer(data):
        kind, first, second = block.group("kind", "first", "second")
        if second is None:
            yield TextName(block.start("first"), "value", first, _RECEIVERS.get(kind, kind))
        else:
            receiver = first if kind == b"resource" else kind + b"." + first
            yield TextName(block.start("second"), "value", second, receiver)
    at = 0
    while (opening := _LOCALS.search(data, at)) is not None:
        at = data.find(b"\n}", opening.end())
        if at < 0:
            return
        for local in _LOCAL.finditer(data, opening.end(), at):
            yield TextName(local.start("name"), "value", local["name"], b"local")


def _elements(data: bytes, _root: Node) -> Iterator[TextName]:
    """Yield the elements of pages that a file defines, and those that a template in it has, as calls."""
    if b"selector:" not in data and b"customElement" not in data:
        return
    for element in _ELEMENT.finditer(data):
        yield TextName(element.start("name"), "class", element["name"], b"")
    for template in _INLINE_TEMPLATE.finditer(data):
        for tag in _TAG.finditer(data, *template.span("text")):
            yield TextName(tag.start("name"), "call", tag["name"], b"")


def _script_names(data: bytes, root: Node) -> Iterator[TextName]:
    """Yield the elements of pages, the types in comments, and the name of the default export."""
    yield from _elements(data, root)
    for found in _DEFAULT_EXPORT.finditer(data) if b"default" in data else ():
        group = found.lastgroup or ""
        if found[group] not in _NO_EXPORTS:
            yield TextName(found.start(group), "alias", b"default", b":" + found[group])
    for tag in _TYPE_TAG.finditer(data) if b"* @" in data else ():
        for named in _NAMED_TYPE.finditer(data, *tag.span("types")):
            yield TextName(named.start("name"), "type", named["name"], named["owner"][:-1])


def _template_calls(data: bytes, _root: Node) -> Iterator[TextName]:
    """Yield the calls in the templates that strings `~H` of Elixir have."""
    if b"~H" in data:
        for text in _HEEX.finditer(data):
            yield from _calls_in_template(data, *text.span(text.lastgroup or 0))


def _whole_template_calls(data: bytes, _root: Node) -> Iterator[TextName]:
    return _calls_in_template(data, 0, len(data))


def _calls_in_template(data: bytes, start: int, end: int) -> Iterator[TextName]:
    for call in _HEEX_CALL.finditer(data, start, end):
        yield TextName(call.start("name"), "call", call["name"], call["owner"] or call["module"] or b"")


def _crate_names(data: bytes, _root: Node) -> Iterator[TextName]:
    """Yield the names that a `Cargo.toml` gives a package and its library."""
    for table in _CRATE_TABLE.finditer(data):
        name = _CRATE_NAME.search(data, table.end())
        if name is not None and name["name"] is not None:
            yield TextName(name.start("name"), "value", name["name"], b"")


def _npm_names(data: bytes, _root: Node) -> Iterator[TextName]:
    """Yield the name that a `package.json` gives a package."""
    name = _NPM_NAME.search(data)
    if name is not None and _NPM_KEY.search(data) is not None:
        yield TextName(name.start("name"), "value", name["name"], b"")


_FINDERS: Final[Mapping[str, Callable[[bytes, Node], Iterator[TextName]]]] = {
    "php": _php_names,
    "ruby": _ruby_names,
    "swift": _initialisers,
    "terraform": _block_labels,
    "toml": _crate_names,
    "json": _npm_names,
    "elixir": _template_calls,
    "heex": _whole_template_calls,
    **dict.fromkeys(("javascript", "typescript", "tsx"), _script_names),
}
"""Functions by language."""
