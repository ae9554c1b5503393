"""Tables for languages without one of their own, guessed from the names of the grammar's node types.

Grammars name definitions alike (`function_definition`, `class_declaration`), so most languages need no table.
"""

import re
from collections.abc import Mapping
from typing import Final

from gitmem.chunking.grammar import (
    LEAF,
    NAMESPACE,
    TRANSPARENT,
    Grammar,
    Match,
    Node,
    Rule,
    container,
    dynamic,
    leaf,
    make_grammar,
    mergeable,
    namespace,
)
from gitmem.chunking.node_names import from_child, from_path, name_of, text_of, unquoted
from gitmem.chunking.parse import language_nodes

# Patterns of node type names: functions, then types, then exceptions to both, then transparent nodes.
_TAIL: Final = (
    r"(?:_(?:definition|declaration|def|decl|item|statement|stmt|specifier|clause|block|implementation|spec))?$"
)
_CODE: Final = re.compile(
    r"^(?:\w+_)?(?:function|method|procedure|subroutine|subprogram|constructor|func|fun|proc|defun|rpc|macro|task|rule"
    r"|predicate|decl_def|value_definition|let_binding|bind)" + _TAIL
)
_TYPES: Final = re.compile(
    r"^(?:\w+_)?(?P<word>class|interface|trait|protocol|struct|structure|record|enum|enumeration|union|message|service"
    r"|contract|object|instance|implementation|impl|category|module|namespace|package|mixin|extension|entity"
    r"|architecture|resource|type|input|schema|model|typedef|newtype|data)" + _TAIL
)
_EXCLUDED: Final = re.compile(
    r"(?:call|invocation|expression|_type|pointer|reference|parameters?|arguments?|name|modifier|body|list|literal|import"
    r"|_use|_ref|signature_help|identifier|keyword|alias|pattern|access|application|end_\w+|with_clause)$|^(?:type|data|"
    r"object|module|function|record|class|input|rule|instance|package|bind|union|enum|macro)$"
)
_TRANSPARENT: Final = re.compile(
    r"(?:^|_)(?:body|block|declarations|definitions|members|items|list|section|source|program|part|group|document|ifdef"
    r"|unit|statements)$|^preproc_if"
)
_CHUNK_TYPES: Final = {
    "structure": "struct", "record": "struct", "union": "struct", "message": "struct", "service": "class",
    "contract": "class", "object": "class", "instance": "impl", "implementation": "impl", "protocol": "interface",
    "category": "impl", "module": "module", "package": "module", "mixin": "trait", "extension": "impl",
    "entity": "class", "architecture": "class", "enumeration": "enum",
}  # fmt: skip
_OVERLOADING: Final = frozenset({"apex", "d", "haxe", "nim", "solidity"})
"""Languages in which neighbours of one name are functions of their own: they take other arguments."""

_NAMESPACES: Final = frozenset({"namespace", "package", "module"})
_MERGEABLE: Final = frozenset({"type", "input", "schema", "model", "typedef", "newtype", "data", "resource"})
_NAME_SUFFIXES: Final = ("name", "identifier", "symbol")
_DEFINITION_SUFFIXES: Final = (
    "definition",
    "declaration",
    "_def",
    "_decl",
    "_item",
    "defun",
    "statement",
    "function",
    "procedure",
)


def make_generic(language: str) -> Grammar:
    """Guess a table: node types named like definitions are units, those named like lists are transparent."""
    table: dict[str, Rule] = {}
    for name in language_nodes(language):
        rule = _guess(name)
        if rule is not None:
            table[name] = rule
    table.update(_FURTHER_UNITS.get(language, {}))
    comments = " ".join(name for name in language_nodes(language) if "comment" in name)
    prefixes = " ".join(
        name for name in language_nodes(language) if name in ("attribute_list", "annotation", "decorator")
    )
    # Functions defined by several clauses, as in Erlang: neighbours of one name are one unit.
    clauses = [name for name, rule in table.items() if rule.shape == LEAF] if language not in _OVERLOADING else []
    joins = " ".join(clauses)
    return make_grammar(language, table, comments=comments, prefixes=prefixes, joins=joins)


def _evaluated_namespace(node: Node, data: bytes) -> Match | None:
    """Match `namespace eval shop { ... }` of Tcl."""
    words: list[Node] = next((child.named_children for child in node.named_children if child.type == "word_list"), [])
    if len(words) < 2 or text_of(words[0], data) != "eval":
        return None
    return Match(NAMESPACE, "module", text_of(words[1], data), node)


def _name(node: Node, data: bytes) -> str:
    """Return the `name` field, or the first child of a type like `name` or `identifier`.

    Without either, look into the first child, up to three levels: some grammars put the name into the first clause.
    """
    for _ in range(3):
        name = name_of(node, data)
        name = name.removesuffix("*") or name  # the mark of an exported name of Nim
        # Atoms of Erlang may be quoted. Any other literal is the value of the definition.
        if name.startswith("'") and name.endswith("'"):
            name = unquoted(name)
        if (name and not name.startswith('"')) or not node.named_child_count:
            return name
        target = next((child for child in node.named_children[:6] if child.type.endswith(_NAME_SUFFIXES)), None)
        if target is not None:
            return text_of(target, data)
        node = node.named_children[0]
    return ""


def _macro_name(node: Node, data: bytes) -> str:
    """Return the name of `-define(NAME, ...)` or `-define(NAME(A), ...)` of Erlang."""
    return next((name_of(child, data) for child in node.named_children if child.type == "macro_lhs"), "")


_SHAPES: Final = ("service", "operation", "resource", "structure", "union", "list", "map", "enum", "simple_shape")

_FURTHER_UNITS: Final[Mapping[str, Mapping[str, Rule]]] = {
    "cairo": {
        **dict.fromkeys(("cairo_1_file", "declaration_list", "block"), Rule(TRANSPARENT)),
        "struct_item": leaf("struct", _name),
        "trait_item": container("trait", _name),
        "impl_item": container("impl", _name),
        "function_signature": mergeable("function", _name),
    },
    "capnp": {
        "struct": container("struct", _name),
        "interface": container("interface", _name),
        "enum": leaf("enum", _name),
        "method": mergeable("function", _name),
    },
    "proto": {"rpc": leaf("function", _name), "enum": leaf("enum", _name)},
    "d": {"template_declaration": container("class", _name), "unittest_declaration": leaf("function")},
    "erlang": {
        "type_alias": mergeable("type", from_path("type_name", "atom")),
        "opaque": mergeable("type", from_path("type_name", "atom")),
        "callback": mergeable("function", from_child("atom")),
        "pp_define": mergeable("macro", _macro_name),
    },
    "gdscript": {
        "class_name_statement": mergeable("class", _name),
        "signal_statement": mergeable("property", _name),
        "const_statement": mergeable("constant", _name),
        "variable_statement": mergeable("property", _name),
    },
    "rego": {
        "module": Rule(TRANSPARENT),
        "policy": Rule(TRANSPARENT),
        "rule": leaf("function", from_path("rule_head", "var")),
    },
    "smithy": {
        "shape_statement": Rule(TRANSPARENT),
        **dict.fromkeys((f"{shape}_statement" for shape in _SHAPES), leaf("type", _name)),
    },
    "solidity": {
        "library_declaration": container("class", _name),
        "modifier_definition": leaf("function", _name),
        "error_declaration": mergeable("type", _name),
        "event_definition": mergeable("type", _name),
        "user_defined_type_definition": mergeable("type", _name),
        "state_variable_declaration": mergeable("property", _name),
        "constant_variable_declaration": mergeable("constant", _name),
    },
    "tcl": {
        "namespace": dynamic(_evaluated_namespace),
        "word_list": Rule(TRANSPARENT),
        "braced_word": Rule(TRANSPARENT),
    },
}
"""Units whose node types are named unlike those of other grammars, by language."""


def _guess(name: str) -> Rule | None:
    if _CODE.match(name) and not _EXCLUDED.search(name) and name.endswith(_DEFINITION_SUFFIXES):
        return leaf("macro" if "macro" in name else "function", _name)
    match = _TYPES.match(name)
    if match and not _EXCLUDED.search(name) and (name.endswith(_DEFINITION_SUFFIXES) or name in _CHUNK_TYPES):
        word = match["word"]
        if word in _NAMESPACES:
            return namespace("module", _name)
        if word in _MERGEABLE:
            return mergeable("type", _name)
        return container(_CHUNK_TYPES.get(word, word), _name)
    return Rule(TRANSPARENT) if _TRANSPARENT.search(name) else None
