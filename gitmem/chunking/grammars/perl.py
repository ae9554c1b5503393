"""Perl: packages as statements or blocks, subroutines, and the declarations of the usual object systems."""

import re
from typing import Final

from gitmem.chunking.grammar import CONTAINER, LEAF, MERGEABLE, Match, Node, NodeGroup, dynamic, leaf, make_grammar
from gitmem.chunking.node_names import name_of, text_of

_PACKAGES: Final = frozenset({"package_statement", "class_statement", "role_statement"})
_GROUP: Final = "package_group"
_CLASS: Final = re.compile(
    rb"^[ \t]*(?:class\b|use[ \t]+(?:parent|base|fields|Moo\w*|Mouse|Mojo::Base(?![ \t]+-strict)|Object::Pad|Role::Tiny"
    rb"|Class::\w+)\b"
    rb"|extends\b|(?:our|my)?[ \t]*@ISA\b)|\bbless\b",
    re.MULTILINE,
)
_CALLS: Final = frozenset({"ambiguous_function_call_expression", "function_call_expression"})
_ATTRIBUTES: Final = frozenset({"has", "option"})
_FUNCTIONS: Final = frozenset("around before after override augment helper subtest fun method".split())
"""Functions of Moose, Moo, Mojolicious and Test::More that give a name to the subroutine they are called with."""

_SUBROUTINES: Final = frozenset({"anonymous_subroutine_expression", "anonymous_method_expression"})
_NAME: Final = re.compile(r"[\w']+")
_CONSTANT: Final = re.compile(r"(\w+)\s*=>")
_MAX_NAMES: Final = 12


def _group(nodes: list[Node], data: bytes) -> list[Node]:
    """Make a group of each `package A;` and the nodes behind it, up to the next. `main` is the package of scripts."""
    grouped: list[Node] = []
    members: list[Node] | None = None
    for node in nodes:
        if node.type in _PACKAGES and not _has_block(node):
            members = None if name_of(node, data) == "main" else [node]
            grouped.append(node if members is None else members)
        elif members is not None:
            members.append(node)
        else:
            grouped.append(node)
    return [NodeGroup(_GROUP, each) if isinstance(each, list) else each for each in grouped]


def _package(node: Node, data: bytes) -> Match | None:
    """Match `package A { ... }`, or the group that begins with `package A;`, as a class if it makes objects."""
    if node.type != _GROUP and not _has_block(node):
        return None
    start, end = node.start_byte, node.end_byte
    kind = "class" if node.type == "class_statement" or _CLASS.search(data, start, end) else "module"
    return Match(CONTAINER, kind, name_of(node, data).replace("::", "."), node)


def _has_block(node: Node) -> bool:
    return any(child.type == "block" for child in node.children)


def _use(node: Node, data: bytes) -> Match | None:
    """Match `use constant A => 1` and `use constant {A => 1, B => 2}`."""
    module = node.child_by_field_name("module")
    if module is None or text_of(module, data) != "constant":
        return None
    text = data[module.end_byte : node.end_byte].decode("utf-8", "replace")
    names = _CONSTANT.findall(text) if "{" in text else _CONSTANT.findall(text)[:1]
    return Match(MERGEABLE, "constant", ", ".join(dict.fromkeys(names[:_MAX_NAMES])), node)


def _statement(node: Node, data: bytes) -> Match | None:
    """Match attributes (`has name => ...`), subroutines with a name (`subtest x => sub {...}`) and assignments."""
    inner = node.named_children[0] if node.named_child_count else None
    if inner is None:
        return None
    if inner.type == "assignment_expression":
        return _assignment(inner, data)
    if inner.type not in _CALLS:
        return None
    function = inner.child_by_field_name("function")
    arguments = inner.children_by_field_name("arguments")
    called = text_of(function, data) if function is not None else ""
    if not arguments or called not in _ATTRIBUTES | _FUNCTIONS:
        return None
    first, *rest = _listed(arguments)
    names = _names(first, data)
    if called in _ATTRIBUTES and names:
        return Match(MERGEABLE, "property", ", ".join(names), inner)
    body = next((each for each in rest if each.type in _SUBROUTINES), None)
    return Match(LEAF, "function", ", ".join(names), body) if body is not None and names else None


def _listed(arguments: list[Node]) -> list[Node]:
    """Return the arguments of a call, which brackets make a list."""
    first = arguments[0]
    return first.named_children if first.type == "list_expression" and first.named_child_count else arguments


def _names(node: Node, data: bytes) -> list[str]:
    """Return the names in a string, a bare word or a list of words; a sentence is one name."""
    text = text_of(node, data)
    if node.type == "autoquoted_bareword":
        return [text]
    if node.type in ("string_literal", "interpolated_string_literal"):
        return [text[1:-1]] if len(text) > 2 else []
    if node.type == "anonymous_array_expression":
        words = text.strip("[]").replace("qw", "")
        return _NAME.findall(words)[:_MAX_NAMES]
    return []


def _assignment(node: Node, data: bytes) -> Match | None:
    """Match global variables (`our $x = ...`), and subroutines assigned to a variable or a name (`*f = sub {...}`)."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return None
    target = text_of(left, data)
    if right.type in _SUBROUTINES and left.type in ("variable_declaration", "glob"):
        return Match(LEAF, "function", target.split()[-1].lstrip("$*").replace("::", "."), right)
    if target.startswith("our "):
        return Match(MERGEABLE, "constant", ", ".join(_NAME.findall(target)[1 : 1 + _MAX_NAMES]), node)
    return None


GRAMMARS: Final = {
    "perl": make_grammar(
        "perl",
        {
            **dict.fromkeys((*_PACKAGES, _GROUP), dynamic(_package)),
            "use_statement": dynamic(_use),
            "subroutine_declaration_statement": leaf("function"),
            "method_declaration_statement": leaf("function"),
            "expression_statement": dynamic(_statement),
        },
        transparent="block_statement",
        bodies="block",
        group=_group,
    )
}
