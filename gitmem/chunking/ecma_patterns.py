"""Patterns of definitions and references in JavaScript and TypeScript, in the form of `occurrence_patterns`.

Functions are assigned to variables, exports, prototypes and members of objects.
"""

from typing import Final

_ECMA: Final = {
    "function": """
        (function_expression name: (identifier) @_)
        (variable_declarator name: (identifier) @_ value: (arrow_function))
        (variable_declarator name: (identifier) @_ value: (function_expression))
        (variable_declarator value: (object (pair key: (property_identifier) @_ value: (arrow_function))))
        (variable_declarator value: (object (pair key: (property_identifier) @_ value: (function_expression))))
        (assignment_expression right: (object (pair key: (property_identifier) @_ value: (arrow_function))))
        (assignment_expression right: (object (pair key: (property_identifier) @_ value: (function_expression))))
        (export_statement value: (object (pair key: (property_identifier) @_ value: (arrow_function))))
        (export_statement value: (object (pair key: (property_identifier) @_ value: (function_expression))))
        (return_statement (object (pair key: (property_identifier) @_ value: (arrow_function))))
        (return_statement (object (pair key: (property_identifier) @_ value: (function_expression))))""",
    "value": """
        (program (lexical_declaration (variable_declarator name: (identifier) @_)))
        (program (variable_declaration (variable_declarator name: (identifier) @_)))
        (export_statement (lexical_declaration (variable_declarator name: (identifier) @_)))
        (export_statement (variable_declaration (variable_declarator name: (identifier) @_)))""",
    "call": """
        (new_expression constructor: (identifier) @_)
        (new_expression constructor: (member_expression property: (property_identifier) @_))""",
    "decorator": """
        (decorator (identifier) @_)
        (decorator (call_expression function: (identifier) @_))""",
    "read": """
        (member_expression property: (property_identifier) @_)
        (member_expression property: (private_property_identifier) @_)""",
    "import": """
        (import_statement) @_
        (export_statement source: (string)) @_
        (export_statement (export_clause)) @_
        (variable_declarator value: (call_expression function: (identifier) arguments: (arguments (string)))) @_
        (variable_declarator value: (member_expression
            object: (call_expression function: (identifier) arguments: (arguments (string))))) @_""",
    "name": "(identifier) @_ (shorthand_property_identifier) @_",
    "main": """
        (export_statement value: (arrow_function)) @_
        (export_statement value: (function_expression !name)) @_
        (export_statement value: (class !name)) @_""",
}
_JSX: Final = """
        (jsx_opening_element name: (identifier) @_)
        (jsx_self_closing_element name: (identifier) @_)"""
JAVASCRIPT_PATTERNS: Final = _ECMA | {
    "function": _ECMA["function"]
    + """
        (assignment_expression left: (member_expression property: (property_identifier) @_) right: (arrow_function))
        (assignment_expression
            left: (member_expression property: (property_identifier) @_) right: (function_expression))
        (field_definition property: (property_identifier) @_ value: (arrow_function))
        (field_definition property: (property_identifier) @_ value: (function_expression))""",
    "call": _ECMA["call"] + _JSX,
    "value": _ECMA["value"]
    + """
        (field_definition property: (property_identifier) @_)
        (field_definition property: (private_property_identifier) @_)
        (program (expression_statement (assignment_expression
            left: (member_expression property: (property_identifier) @_))))""",
    "class": """
        (assignment_expression left: (member_expression property: (property_identifier) @_) right: (class))
        (variable_declarator name: (identifier) @_ value: (class))""",
    "base": """
        (class_heritage (identifier) @_)
        (class_heritage (member_expression property: (property_identifier) @_))""",
    "bound": "(variable_declarator name: (identifier) @_ value: (new_expression))",
}
TYPESCRIPT_PATTERNS: Final = _ECMA | {
    "function": _ECMA["function"]
    + """
        (program (expression_statement (assignment_expression
            left: (member_expression property: (property_identifier) @_) right: (arrow_function))))
        (program (expression_statement (assignment_expression
            left: (member_expression property: (property_identifier) @_) right: (function_expression))))
        (public_field_definition name: (property_identifier) @_ value: (arrow_function))
        (public_field_definition name: (property_identifier) @_ value: (function_expression))""",
    "value": _ECMA["value"]
    + """
        (public_field_definition name: (property_identifier) @_)
        (public_field_definition name: (private_property_identifier) @_)
        (required_parameter (accessibility_modifier) pattern: (identifier) @_)
        (enum_body (property_identifier) @_)
        (enum_assignment name: (property_identifier) @_)""",
    "class": "(internal_module name: (identifier) @_)",
    "type": "(type_identifier) @_",
    "base": """
        (extends_clause value: (identifier) @_)
        (extends_clause value: (member_expression property: (property_identifier) @_))
        (implements_clause (type_identifier) @_)
        (implements_clause (generic_type name: (type_identifier) @_))
        (extends_type_clause (type_identifier) @_)
        (extends_type_clause (generic_type name: (type_identifier) @_))""",
    "bound": """
        (required_parameter pattern: (identifier) @_ type: (type_annotation))
        (optional_parameter pattern: (identifier) @_ type: (type_annotation))
        (variable_declarator name: (identifier) @_ type: (type_annotation))
        (variable_declarator name: (identifier) @_ value: (new_expression))
        (public_field_definition name: (property_identifier) @_ type: (type_annotation))
        (public_field_definition name: (property_identifier) @_ value: (new_expression))""",
}
TSX_PATTERNS: Final = TYPESCRIPT_PATTERNS | {"call": _ECMA["call"] + _JSX}
