"""Patterns of definitions and references in Python and Starlark, in the form of `occurrence_patterns`."""

from typing import Final

PYTHON_PATTERNS: Final = {
    "class": "(type_alias_statement left: (type (identifier) @_))",
    "value": """
        (module (assignment left: (identifier) @_))
        (module (assignment left: (pattern_list (identifier) @_)))
        (module (assignment right: (assignment left: (identifier) @_)))
        (class_definition body: (block (assignment left: (identifier) @_)))""",
    "call": "(call function: (identifier) @_)",
    "type": """
        (type (identifier) @_)
        (type (attribute attribute: (identifier) @_))
        (type (binary_operator (identifier) @_))
        (generic_type (identifier) @_)
        (class_pattern (dotted_name (identifier) @_))""",
    "base": """
        (class_definition superclasses: (argument_list (identifier) @_))
        (class_definition superclasses: (argument_list (attribute attribute: (identifier) @_)))
        (class_definition superclasses: (argument_list (subscript value: (identifier) @_)))""",
    "decorator": """
        (decorator (identifier) @_)
        (decorator (attribute attribute: (identifier) @_))
        (decorator (call function: (identifier) @_))
        (decorator (call function: (attribute attribute: (identifier) @_)))""",
    "read": """
        (attribute attribute: (identifier) @_)
        (case_pattern (dotted_name (identifier) (identifier) @_))
        (union_pattern (dotted_name (identifier) (identifier) @_))""",
    "bound": """
        (typed_parameter (identifier) @_)
        (typed_default_parameter name: (identifier) @_)
        (assignment left: (identifier) @_ type: (type))
        (assignment left: (identifier) @_ right: (call))
        (assignment left: (attribute attribute: (identifier) @_) type: (type))
        (assignment left: (attribute attribute: (identifier) @_) right: (call))""",
    "import": "(import_statement) @_ (import_from_statement) @_",
    "name": """
        (argument_list (identifier) @_)
        (keyword_argument value: (identifier) @_)
        (default_parameter value: (identifier) @_)
        (typed_default_parameter value: (identifier) @_)
        (pair value: (identifier) @_)
        (list (identifier) @_)
        (tuple (identifier) @_)
        (attribute object: (identifier) @_)
        (subscript value: (identifier) @_)
        (subscript subscript: (identifier) @_)
        (except_clause (identifier) @_)
        (raise_statement (identifier) @_)
        (return_statement (identifier) @_)
        (comparison_operator (identifier) @_)
        (assignment right: (identifier) @_)
        (augmented_assignment right: (identifier) @_)
        (binary_operator (identifier) @_)
        (boolean_operator (identifier) @_)
        (not_operator (identifier) @_)
        (unary_operator (identifier) @_)
        (conditional_expression (identifier) @_)
        (parenthesized_expression (identifier) @_)
        (expression_list (identifier) @_)
        (interpolation (identifier) @_)
        (set (identifier) @_)
        (pair key: (identifier) @_)
        (slice (identifier) @_)
        (for_statement right: (identifier) @_)
        (for_in_clause right: (identifier) @_)
        (if_clause (identifier) @_)
        (list_comprehension body: (identifier) @_)
        (set_comprehension body: (identifier) @_)
        (generator_expression body: (identifier) @_)
        (if_statement condition: (identifier) @_)
        (elif_clause condition: (identifier) @_)
        (while_statement condition: (identifier) @_)
        (match_statement subject: (identifier) @_)
        (case_pattern (dotted_name (identifier) @_ (identifier)))
        (union_pattern (dotted_name (identifier) @_ (identifier)))
        (list_splat (identifier) @_)
        (dictionary_splat (identifier) @_)
        (lambda body: (identifier) @_)
        (await (identifier) @_)
        (yield (identifier) @_)
        (assert_statement (identifier) @_)
        (with_item value: (identifier) @_)
        (as_pattern . (identifier) @_)
        (named_expression value: (identifier) @_)""",
}
STARLARK_PATTERNS: Final = {
    "value": "(module (expression_statement (assignment left: (identifier) @_)))",
    **{kind: PYTHON_PATTERNS[kind] for kind in ("call", "read", "name")},
}
