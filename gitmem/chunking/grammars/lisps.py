"""Lisps: what a list defines follows from its first symbol."""

from typing import Final

from gitmem.chunking.grammar import LEAF, MERGEABLE, Match, Node, dynamic, leaf, make_grammar, mergeable
from gitmem.chunking.node_names import from_child, text_of

_SYMBOLS: Final = frozenset({"symbol", "sym_lit"})
_LISTS: Final = frozenset({"list", "list_lit"})
_MODULES: Final = frozenset({"ns"})
_VALUES: Final = frozenset(
    "def defonce defvar defparameter defconstant defconst defcustom defvar-local defface defgroup".split()
)
_CLASSES: Final = frozenset(
    "defclass defstruct cl-defstruct defrecord deftype struct define-struct define-record-type define-condition".split()
)
_INTERFACES: Final = frozenset({"defprotocol", "definterface", "defgeneric", "cl-defgeneric"})
_DEFINING: Final = ("def", "cl-def", "define-", "ert-def")
"""Beginnings of the other words that define a function: `defun`, `cl-defmethod`, `define-derived-mode`."""

_MAX_CURRIED: Final = 6
"""Lists in which a name may stand: `(define ((f x) y) ...)` has two."""


def _list(node: Node, data: bytes) -> Match | None:
    """Match `(defn name ...)`, `(define (name x) ...)` and the like."""
    children = node.named_children[:3]
    if children and children[0].type == "defun":  # of Common Lisp, whose grammar groups the parts of a function
        children = children[0].named_children[0].named_children[:2]
    if len(children) < 2:
        return None
    head, name = _symbol(children[0], data), _defined_name(children[1], data)
    chunk_type = _chunk_type(head) if head and name else ""
    if head == "define":
        chunk_type = "function" if children[1].type in _LISTS or _is_lambda(children[2:], data) else "constant"
    if not chunk_type or not name:
        return None
    return Match(MERGEABLE if chunk_type in ("constant", "module") else LEAF, chunk_type, name, node)


def _chunk_type(head: str) -> str:
    """Return what a list defines that begins with a symbol, "" for nothing."""
    if head in _MODULES:
        return "module"
    if head in _VALUES:
        return "constant"
    if head in _CLASSES:
        return "class"
    if head in _INTERFACES:
        return "interface"
    if not head.startswith(_DEFINING) and "-define-" not in head:
        return ""
    return "macro" if "macro" in head or "syntax" in head else "function"


def _defined_name(node: Node, data: bytes) -> str:
    """Return the symbol that is defined, or the first one of the list that shows how it is called."""
    for _ in range(_MAX_CURRIED):
        if node.type not in _LISTS or not node.named_child_count:
            break
        node = node.named_children[0]
    return _symbol(node, data)


def _symbol(node: Node, data: bytes) -> str:
    """Return a symbol without its metadata, `join` for `^{:added "1.0"} join`; "" for another node."""
    if node.type not in _SYMBOLS and not node.type.endswith("_keyword"):
        return ""
    return text_of(next((child for child in node.named_children if child.type == "sym_name"), node), data)


def _is_lambda(nodes: list[Node], data: bytes) -> bool:
    start = nodes[0].start_byte if nodes and nodes[0].type in _LISTS else len(data)
    return data.startswith((b"(lambda", b"(case-lambda"), start)


def _special_form(node: Node, data: bytes) -> Match | None:
    """Match `(defvar name ...)` and `(defconst name ...)` of Emacs Lisp."""
    name = from_child("symbol")(node, data)
    is_value = node.child_count > 1 and node.children[1].type in _VALUES
    return Match(MERGEABLE, "constant", name, node) if is_value and name else None


def _name(node: Node, data: bytes) -> str:
    """Return the symbol behind the keyword; an anonymous function has its parameters there."""
    return _symbol(node.named_children[0], data) if node.named_child_count else ""


GRAMMARS: Final = {
    "clojure": make_grammar("clojure", {"list_lit": dynamic(_list)}),
    "commonlisp": make_grammar("commonlisp", {"list_lit": dynamic(_list)}),
    "scheme": make_grammar("scheme", {"list": dynamic(_list)}),
    "racket": make_grammar("racket", {"list": dynamic(_list)}),
    "elisp": make_grammar(
        "elisp",
        {
            "function_definition": leaf("function"),
            "macro_definition": leaf("macro"),
            "special_form": dynamic(_special_form),
            "list": dynamic(_list),
        },
    ),
    "fennel": make_grammar(
        "fennel",
        {
            "fn": leaf("function", _name),
            "lambda": leaf("function", _name),
            "macro": leaf("macro", _name),
        },
    ),
    "janet": make_grammar("janet", {"extra_defs": leaf("function", _name), "def": mergeable("constant", _name)}),
}
