"""Patterns of definitions and references in C and C++, in the form of `occurrence_patterns`."""

from typing import Final

_TABLES: Final = "\n".join(
    f"(translation_unit (declaration declarator: (init_declarator value: (initializer_list {item}))))"
    for item in (
        "(identifier) @_",
        "(initializer_pair value: (identifier) @_)",
        "(initializer_list (identifier) @_)",
        "(initializer_list (initializer_pair value: (identifier) @_))",
    )
)
"""Functions in the tables of drivers and commands, `{.write = write_page}`. Inside of functions they are variables."""

C_PATTERNS: Final = {
    "function": """
        (function_definition declarator: (function_declarator declarator: (identifier) @_))
        (function_definition declarator:
            (pointer_declarator declarator: (function_declarator declarator: (identifier) @_)))
        (function_definition declarator: (pointer_declarator declarator:
            (pointer_declarator declarator: (function_declarator declarator: (identifier) @_))))
        (preproc_function_def name: (identifier) @_)""",
    "class": """
        (struct_specifier name: (type_identifier) @_ body: (_))
        (union_specifier name: (type_identifier) @_ body: (_))
        (enum_specifier name: (type_identifier) @_ body: (_))
        (type_definition declarator: (type_identifier) @_)
        (type_definition declarator: (pointer_declarator declarator: (type_identifier) @_))
        (type_definition declarator: (function_declarator declarator: (type_identifier) @_))
        (type_definition declarator: (function_declarator declarator: (parenthesized_declarator (type_identifier) @_)))
        (type_definition declarator: (function_declarator
            declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @_))))""",
    "value": """
        (preproc_def name: (identifier) @_)
        (enumerator name: (identifier) @_)
        (field_declaration declarator: (field_identifier) @_)
        (field_declaration declarator: (pointer_declarator declarator: (field_identifier) @_))
        (field_declaration declarator: (array_declarator declarator: (field_identifier) @_))
        (translation_unit (declaration declarator: (identifier) @_))
        (translation_unit (declaration declarator: (init_declarator declarator: (identifier) @_)))
        (translation_unit (declaration
            declarator: (init_declarator declarator: (array_declarator declarator: (identifier) @_))))
        (translation_unit (declaration
            declarator: (init_declarator declarator: (pointer_declarator declarator: (identifier) @_))))
        (function_declarator declarator:
            (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @_)))""",
    "call": """
        (call_expression function: (identifier) @_)
        (call_expression function: (field_expression field: (field_identifier) @_))""",
    "type": "(type_identifier) @_",
    "read": "(field_expression field: (field_identifier) @_)",
    "import": "(preproc_include) @_",
    "name": "(identifier) @_",
    "expression": "(preproc_def value: (preproc_arg) @_) (preproc_function_def value: (preproc_arg) @_)",
    "prototype": "(function_declarator declarator: (identifier) @_)",
    "sizeof": "(sizeof_expression value: (parenthesized_expression (identifier) @_))",
    "mention": _TABLES,
    "variable": """
        (declaration declarator: (identifier) @_)
        (init_declarator declarator: (identifier) @_)
        (pointer_declarator declarator: (identifier) @_)
        (array_declarator declarator: (identifier) @_)
        (parameter_declaration declarator: (identifier) @_)
        (parameter_list (identifier) @_)
        (preproc_params (identifier) @_)""",
}
CPP_PATTERNS: Final = C_PATTERNS | {
    "function": C_PATTERNS["function"]
    + """
        (function_definition declarator: (reference_declarator (function_declarator declarator: (identifier) @_)))
        (function_declarator declarator: (field_identifier) @_)
        (function_declarator declarator: (qualified_identifier name: (identifier) @_))
        (function_declarator declarator: (qualified_identifier name: (qualified_identifier name: (identifier) @_)))""",
    "class": C_PATTERNS["class"]
    + """
        (class_specifier name: (type_identifier) @_ body: (_))
        (alias_declaration name: (type_identifier) @_)""",
    "call": C_PATTERNS["call"]
    + """
        (call_expression function: (qualified_identifier name: (identifier) @_))
        (call_expression function: (template_function name: (identifier) @_))
        (call_expression function: (qualified_identifier name: (template_function name: (identifier) @_)))
        (call_expression function: (qualified_identifier name: (qualified_identifier name: (identifier) @_)))
        (call_expression function: (field_expression field: (template_method name: (field_identifier) @_)))
        (new_expression type: (type_identifier) @_)
        (new_expression type: (qualified_identifier name: (type_identifier) @_))""",
    "value": C_PATTERNS["value"]
    + """
        (field_declaration declarator: (reference_declarator (field_identifier) @_))""",
    "read": C_PATTERNS["read"] + "\n(field_initializer (field_identifier) @_)",
    "variable": C_PATTERNS["variable"].replace("(parameter_list (identifier) @_)", "")
    + """
        (reference_declarator (identifier) @_)
        (for_range_loop declarator: (identifier) @_)
        (optional_parameter_declaration declarator: (identifier) @_)
        (structured_binding_declarator (identifier) @_)""",
    "scope": "(qualified_identifier scope: (namespace_identifier) @_)",
    "mention": _TABLES
    + """
        (using_declaration (qualified_identifier name: (identifier) @_))
        (pointer_expression argument: (qualified_identifier name: (identifier) @_))
        (pointer_expression argument: (qualified_identifier name: (template_function name: (identifier) @_)))""",
    "base": """
        (base_class_clause (type_identifier) @_)
        (base_class_clause (qualified_identifier name: (type_identifier) @_))
        (base_class_clause (qualified_identifier name: (qualified_identifier name: (type_identifier) @_)))
        (base_class_clause (template_type name: (type_identifier) @_))
        (base_class_clause (qualified_identifier name: (template_type name: (type_identifier) @_)))""",
}
