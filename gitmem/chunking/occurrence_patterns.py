"""Patterns of syntax trees that show definitions and references: a table for each language, as data.

Those of Python, of JavaScript, of Java and Kotlin, and of C are in modules of their own. Each entry pairs a kind of
occurrence (`types.OCCURRENCE_KINDS`) with patterns in tree-sitter's query language, one per line. The pattern
captures the name as `@_`. `import` captures a whole statement, which `import_statements` reads, and `expression` the
text of an expression that the grammar does not parse. `bound` captures a variable whose type the statement shows,
`variable` any one that a statement makes, `token` an identifier in the arguments of a macro, `scope` a name before
`::`, `prototype` the name in any declarator of a function, and `main` an export without a name. `name` are the node
types of identifiers, of which few are recorded, `mention` those that all are. Patterns of `call` may be missing if a
bracket shows the calls of names that `read` and `name` capture: each captured node costs time.

Definitions mostly follow from the tables of `chunking.grammars`: every unit with a field `name` is one. Only others are
listed here. In languages without patterns here every named unit of the outline is one. Tags of code navigation use such
patterns too (aider, GitHub).
"""

from collections.abc import Collection, Mapping
from typing import Final

from gitmem.chunking.c_patterns import C_PATTERNS, CPP_PATTERNS
from gitmem.chunking.ecma_patterns import JAVASCRIPT_PATTERNS, TSX_PATTERNS, TYPESCRIPT_PATTERNS
from gitmem.chunking.jvm_patterns import JAVA_PATTERNS, KOTLIN_PATTERNS
from gitmem.chunking.python_patterns import PYTHON_PATTERNS, STARLARK_PATTERNS

Patterns = Mapping[str, str]

_GO: Final = {
    "function": """
        (method_declaration name: (field_identifier) @_)
        (method_elem name: (field_identifier) @_)""",
    "class": "(type_spec name: (type_identifier) @_)",
    "call": """
        (call_expression function: (identifier) @_ type_arguments: (type_arguments))
        (call_expression function: (selector_expression field: (field_identifier) @_) type_arguments: (type_arguments))
        (type_instantiation_expression type: (type_identifier) @_)""",
    "type": "(type_identifier) @_",
    "base": """
        (field_declaration !name type: (type_identifier) @_)
        (field_declaration !name type: (qualified_type name: (type_identifier) @_))
        (interface_type (type_elem (type_identifier) @_))
        (interface_type (type_elem (qualified_type name: (type_identifier) @_)))""",
    "read": "(selector_expression field: (field_identifier) @_)",
    "bound": """
        (parameter_declaration name: (identifier) @_)
        (field_declaration name: (field_identifier) @_)
        (short_var_declaration left: (expression_list . (identifier) @_))
        (var_spec name: (identifier) @_ type: (_))""",
    "variable": """
        (short_var_declaration left: (expression_list (identifier) @_))
        (range_clause left: (expression_list (identifier) @_))
        (receive_statement left: (expression_list (identifier) @_))
        (type_switch_statement alias: (expression_list (identifier) @_))
        (variadic_parameter_declaration name: (identifier) @_)
        (var_spec name: (identifier) @_)""",
    "value": """
        (field_declaration name: (field_identifier) @_)
        (const_spec name: (identifier) @_)
        (source_file (var_declaration (var_spec name: (identifier) @_)))
        (source_file (var_declaration (var_spec_list (var_spec name: (identifier) @_))))""",
    "import": "(import_spec) @_",
    "name": "(identifier) @_",
}
_RUST: Final = {
    "value": """
        (enum_variant name: (identifier) @_)
        (field_declaration name: (field_identifier) @_)""",
    "call": """
        (call_expression function: (identifier) @_)
        (call_expression function: (scoped_identifier name: (identifier) @_))
        (call_expression function: (field_expression field: (field_identifier) @_))
        (call_expression function: (generic_function function: (identifier) @_))
        (call_expression function: (generic_function function: (scoped_identifier name: (identifier) @_)))
        (call_expression function: (generic_function function: (field_expression field: (field_identifier) @_)))
        (macro_invocation macro: (identifier) @_)""",
    "type": "(type_identifier) @_",
    "base": """
        (impl_item trait: (type_identifier) @_)
        (impl_item trait: (scoped_type_identifier name: (type_identifier) @_))
        (impl_item trait: (generic_type type: (type_identifier) @_))
        (trait_bounds (type_identifier) @_)""",
    "decorator": "(attribute (identifier) @_)",
    "read": "(field_expression field: (field_identifier) @_)",
    "bound": """
        (parameter pattern: (identifier) @_)
        (let_declaration pattern: (identifier) @_)
        (field_declaration name: (field_identifier) @_)
        (type_parameter name: (type_identifier) @_ bounds: (trait_bounds))
        (where_predicate left: (type_identifier) @_ bounds: (trait_bounds))""",
    "import": "(use_declaration) @_ (extern_crate_declaration) @_",
    "name": "(identifier) @_",
    "token": "(token_tree (identifier) @_)",
    "attribute": "(attribute_item) @_ (inner_attribute_item) @_",
}
_CSHARP: Final = {
    "function": "(method_declaration name: (identifier) @_)",
    "value": """
        (field_declaration (variable_declaration (variable_declarator name: (identifier) @_)))
        (event_field_declaration (variable_declaration (variable_declarator name: (identifier) @_)))
        (enum_member_declaration name: (identifier) @_)""",
    "call": """
        (invocation_expression function: (identifier) @_)
        (invocation_expression function: (generic_name (identifier) @_))
        (invocation_expression function: (member_access_expression name: (identifier) @_))
        (invocation_expression function: (member_access_expression name: (generic_name (identifier) @_)))
        (invocation_expression function:
            (conditional_access_expression (member_binding_expression name: (identifier) @_)))
        (object_creation_expression type: (identifier) @_)
        (object_creation_expression type: (generic_name (identifier) @_))
        (object_creation_expression type: (qualified_name name: (identifier) @_))
        (object_creation_expression type: (qualified_name name: (generic_name (identifier) @_)))""",
    "type": """
        (variable_declaration type: (identifier) @_)
        (parameter type: (identifier) @_)
        (property_declaration type: (identifier) @_)
        (method_declaration returns: (identifier) @_)
        (nullable_type type: (identifier) @_)
        (cast_expression type: (identifier) @_)
        (type_argument_list (identifier) @_)""",
    "base": """
        (base_list (identifier) @_)
        (base_list (generic_name (identifier) @_))
        (base_list (qualified_name name: (identifier) @_))
        (base_list (qualified_name name: (generic_name (identifier) @_)))""",
    "decorator": "(attribute name: (identifier) @_) (attribute name: (qualified_name name: (identifier) @_))",
    "read": "(member_access_expression name: (identifier) @_)",
    "bound": "(parameter name: (identifier) @_) (variable_declarator name: (identifier) @_)",
    "variable": """
        (implicit_parameter) @_
        (foreach_statement left: (identifier) @_)
        (declaration_pattern name: (identifier) @_)
        (declaration_expression name: (identifier) @_)
        (catch_declaration name: (identifier) @_)
        (tuple_pattern name: (identifier) @_)
        (from_clause name: (identifier) @_)
        (argument name: (identifier) @_)""",
    "import": "(using_directive) @_",
    "name": "(identifier) @_",
}
_RUBY: Final = {
    "class": """
        (class name: (constant) @_)
        (class name: (scope_resolution name: (constant) @_))
        (module name: (constant) @_)
        (module name: (scope_resolution name: (constant) @_))""",
    "value": "(assignment left: (constant) @_)",
    "call": "(call method: (identifier) @_) (call method: (constant) @_)",
    "type": "(constant) @_",
    "base": "(superclass (constant) @_) (superclass (scope_resolution name: (constant) @_))",
    "bound": "(assignment left: (identifier) @_ right: (call)) (assignment left: (instance_variable) @_ right: (call))",
    "import": "(call method: (identifier) arguments: (argument_list (string))) @_",
    "name": "(identifier) @_",
    "variable": """
        (assignment left: (identifier) @_)
        (operator_assignment left: (identifier) @_)
        (left_assignment_list (identifier) @_)
        (method_parameters (identifier) @_)
        (block_parameters (identifier) @_)
        (lambda_parameters (identifier) @_)
        (destructured_parameter (identifier) @_)
        (optional_parameter name: (identifier) @_)
        (keyword_parameter name: (identifier) @_)
        (splat_parameter name: (identifier) @_)
        (hash_splat_parameter name: (identifier) @_)
        (block_parameter name: (identifier) @_)
        (exception_variable (identifier) @_)
        (for pattern: (identifier) @_)""",
}
_PHP: Final = {
    "function": "(method_declaration name: (name) @_)",
    "value": """
        (const_element (name) @_)
        (property_element (variable_name (name) @_))
        (property_promotion_parameter name: (variable_name (name) @_))""",
    "call": """
        (function_call_expression function: (name) @_)
        (function_call_expression function: (qualified_name (name) @_))
        (member_call_expression name: (name) @_)
        (nullsafe_member_call_expression name: (name) @_)
        (scoped_call_expression name: (name) @_)
        (object_creation_expression (name) @_)
        (object_creation_expression (qualified_name (name) @_))""",
    "type": "(named_type (name) @_) (named_type (qualified_name (name) @_))",
    "base": """
        (base_clause (name) @_)
        (base_clause (qualified_name (name) @_))
        (class_interface_clause (name) @_)
        (class_interface_clause (qualified_name (name) @_))
        (use_declaration (name) @_)
        (use_declaration (qualified_name (name) @_))""",
    "decorator": "(attribute (name) @_)",
    "read": "(member_access_expression name: (name) @_) (class_constant_access_expression (name) @_)",
    "bound": "(simple_parameter name: (variable_name (name) @_))",
    "import": "(namespace_use_declaration) @_",
    "name": "(name) @_",
}
_SWIFT: Final = {
    "class": """
        (class_declaration name: (type_identifier) @_)
        (typealias_declaration name: (type_identifier) @_)""",
    "value": """
        (source_file (property_declaration name: (pattern (simple_identifier) @_)))
        (class_body (property_declaration name: (pattern (simple_identifier) @_)))
        (enum_class_body (property_declaration name: (pattern (simple_identifier) @_)))
        (protocol_property_declaration name: (pattern (simple_identifier) @_))""",
    "call": """
        (call_expression (simple_identifier) @_)
        (call_expression (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @_)))""",
    "type": "(user_type (type_identifier) @_)",
    "base": "(inheritance_specifier inherits_from: (user_type (type_identifier) @_))",
    "decorator": "(attribute (user_type (type_identifier) @_))",
    "read": "(navigation_suffix suffix: (simple_identifier) @_)",
    "bound": "(parameter name: (simple_identifier) @_) (property_declaration name: (pattern (simple_identifier) @_))",
    "variable": """
        (pattern bound_identifier: (simple_identifier) @_)
        (if_statement bound_identifier: (simple_identifier) @_)
        (guard_statement bound_identifier: (simple_identifier) @_)
        (while_statement bound_identifier: (simple_identifier) @_)
        (lambda_parameter name: (simple_identifier) @_)
        (parameter external_name: (simple_identifier) @_)
        (value_argument_label (simple_identifier) @_)""",
    "import": "(import_declaration) @_",
    "name": "(simple_identifier) @_",
}

PATTERNS: Final[Mapping[str, Patterns]] = {
    "python": PYTHON_PATTERNS, "starlark": STARLARK_PATTERNS,
    "javascript": JAVASCRIPT_PATTERNS, "typescript": TYPESCRIPT_PATTERNS, "tsx": TSX_PATTERNS,
    "java": JAVA_PATTERNS, "kotlin": KOTLIN_PATTERNS, "c": C_PATTERNS, "cpp": CPP_PATTERNS,
    "go": _GO, "rust": _RUST, "csharp": _CSHARP, "ruby": _RUBY, "php": _PHP, "swift": _SWIFT,
}  # fmt: skip
"""Patterns of references by language, and of definitions other than units with a field `name`."""

_CALL_WORDS: Final = frozenset({"call", "invocation", "application"})
_PARTS: Final = frozenset("arg args argument body modifier name omitted signature suffix syntax".split())
"""Last words of node types that are parts of calls."""

_NAMES: Final = ("identifier", "simple_identifier", "word", "constant")


def generic_patterns(node_types: Collection[str]) -> Patterns:
    """Return the patterns of a grammar without a table: first children of calls, types, and identifiers.

    The name of a compound child is its last identifier.
    """
    words = {name: name.split("_") for name in node_types}
    calls = sorted(name for name in node_types if _CALL_WORDS & {*words[name]} and words[name][-1] not in _PARTS)
    patterns = {
        "call": [f"({call} . (_) @_)" for call in calls],
        "type": ["(type_identifier) @_"] if "type_identifier" in node_types else [],
        "name": [f"({name}) @_" for name in _NAMES if name in node_types],
    }
    return {kind: "\n".join(lines) for kind, lines in patterns.items() if lines}
