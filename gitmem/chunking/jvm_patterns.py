"""Patterns of definitions and references in Java and Kotlin, in the form of `occurrence_patterns`."""

from typing import Final

JAVA_PATTERNS: Final = {
    "function": "(method_declaration name: (identifier) @_)",
    "value": """
        (field_declaration declarator: (variable_declarator name: (identifier) @_))
        (constant_declaration declarator: (variable_declarator name: (identifier) @_))""",
    "call": """
        (method_invocation name: (identifier) @_)
        (object_creation_expression type: (type_identifier) @_)
        (object_creation_expression type: (scoped_type_identifier (_) (type_identifier) @_))
        (object_creation_expression type: (generic_type (type_identifier) @_))
        (object_creation_expression type: (generic_type (scoped_type_identifier (_) (type_identifier) @_)))""",
    "type": "(type_identifier) @_",
    "base": """
        (superclass (type_identifier) @_)
        (superclass (scoped_type_identifier (_) (type_identifier) @_))
        (superclass (generic_type (type_identifier) @_))
        (superclass (generic_type (scoped_type_identifier (_) (type_identifier) @_)))
        (super_interfaces (type_list (type_identifier) @_))
        (super_interfaces (type_list (scoped_type_identifier (_) (type_identifier) @_)))
        (super_interfaces (type_list (generic_type (type_identifier) @_)))
        (super_interfaces (type_list (generic_type (scoped_type_identifier (_) (type_identifier) @_))))
        (extends_interfaces (type_list (type_identifier) @_))
        (extends_interfaces (type_list (scoped_type_identifier (_) (type_identifier) @_)))
        (extends_interfaces (type_list (generic_type (type_identifier) @_)))
        (extends_interfaces (type_list (generic_type (scoped_type_identifier (_) (type_identifier) @_))))""",
    "decorator": """
        (marker_annotation name: (identifier) @_)
        (marker_annotation name: (scoped_identifier name: (identifier) @_))
        (annotation name: (identifier) @_)
        (annotation name: (scoped_identifier name: (identifier) @_))""",
    "mention": "(method_reference (_) . (identifier) @_)",
    "read": "(field_access field: (identifier) @_)",
    "bound": """
        (formal_parameter name: (identifier) @_)
        (variable_declarator name: (identifier) @_)""",
    "variable": """
        (lambda_expression parameters: (identifier) @_)
        (inferred_parameters (identifier) @_)
        (catch_formal_parameter name: (identifier) @_)
        (enhanced_for_statement name: (identifier) @_)
        (resource name: (identifier) @_)
        (instanceof_expression name: (identifier) @_)
        (record_pattern_component (identifier) @_)
        (labeled_statement . (identifier) @_)""",
    "import": "(import_declaration) @_",
    "name": "(identifier) @_",
}
KOTLIN_PATTERNS: Final = {
    "function": "(function_declaration (simple_identifier) @_)",
    "class": """
        (class_declaration (type_identifier) @_)
        (object_declaration (type_identifier) @_)
        (type_alias (type_identifier) @_)""",
    "value": """
        (enum_entry (simple_identifier) @_)
        (source_file (property_declaration (variable_declaration (simple_identifier) @_)))
        (class_body (property_declaration (variable_declaration (simple_identifier) @_)))
        (class_parameter (binding_pattern_kind) (simple_identifier) @_)""",
    "call": """
        (call_expression (simple_identifier) @_)
        (call_expression (navigation_expression (navigation_suffix (simple_identifier) @_)))
        (infix_expression (_) (simple_identifier) @_ (_))
        (constructor_invocation (user_type (type_identifier) @_))""",
    "type": "(user_type (type_identifier) @_)",
    "base": """
        (delegation_specifier (user_type (type_identifier) @_))
        (delegation_specifier (constructor_invocation (user_type (type_identifier) @_)))
        (delegation_specifier (explicit_delegation (user_type (type_identifier) @_)))""",
    "decorator": """
        (annotation (user_type (type_identifier) @_))
        (annotation (constructor_invocation (user_type (type_identifier) @_)))""",
    "mention": "(callable_reference (simple_identifier) @_) (callable_reference (type_identifier) @_)",
    "read": "(navigation_suffix (simple_identifier) @_)",
    "bound": """
        (parameter (simple_identifier) @_)
        (class_parameter (simple_identifier) @_)
        (variable_declaration (simple_identifier) @_)""",
    "variable": """
        (catch_block (simple_identifier) @_)
        (value_argument (simple_identifier) @_ (_))""",
    "import": "(import_header) @_",
    "name": "(simple_identifier) @_",
}
