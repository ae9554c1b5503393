"""Patterns of syntax trees for languages whose definitions the outline shows: references, and definitions in units.

They have the form of those in `occurrence_patterns`.
"""

from collections.abc import Mapping
from typing import Final

from gitmem.chunking.c_patterns import C_PATTERNS, CPP_PATTERNS
from gitmem.chunking.functional_patterns import FUNCTIONAL
from gitmem.chunking.occurrence_patterns import Patterns

_NIX: Final = {
    "call": """
        (apply_expression function: (variable_expression name: (identifier) @_))
        (apply_expression function: (select_expression attrpath: (attrpath) @_))""",
    "read": "(select_expression attrpath: (attrpath) @_)",
    "name": "(identifier) @_",
}
_DART: Final = {
    "call": "(new_expression (type_identifier) @_) (const_object_expression (type_identifier) @_)",
    "type": "(type_identifier) @_",
    "base": "(superclass (type_identifier) @_) (interfaces (type_identifier) @_) (mixins (type_identifier) @_)",
    "read": "(unconditional_assignable_selector (identifier) @_) (conditional_assignable_selector (identifier) @_)",
    "variable": """
        (formal_parameter (identifier) @_)
        (initialized_variable_definition name: (identifier) @_)
        (initialized_identifier . (identifier) @_)
        (for_loop_parts name: (identifier) @_)
        (catch_parameters (identifier) @_)
        (pattern_variable_declaration (record_pattern (constant_pattern (identifier) @_)))
        (variable_pattern (identifier) @_)
        (super_formal_parameter (identifier) @_)
        (label (identifier) @_)""",
    "name": "(identifier) @_",
}
_OBJC: Final = C_PATTERNS | {
    "variable": C_PATTERNS["variable"]
    + """
        (method_parameter (identifier) @_)
        (method_definition (identifier) @_)
        (for_statement type: (_) (identifier) @_ (identifier))
        (for_statement type: (_) (identifier) @_ (message_expression))
        (for_statement type: (_) (identifier) @_ (field_expression))
        (block_pointer_declarator declarator: (identifier) @_)""",
    "call": C_PATTERNS["call"] + "\n(message_expression method: (identifier) @_)",
    "base": """
        (class_interface superclass: (identifier) @_)
        (class_interface (parameterized_arguments (type_name (type_identifier) @_)))
        (protocol_declaration (protocol_reference_list (identifier) @_))""",
}
_ZIG: Final = {
    "read": "(FieldOrFnCall (IDENTIFIER) @_)",
    "name": "(IDENTIFIER) @_",
}
_POWERSHELL: Final = {"call": "(command command_name: (command_name) @_)", "name": "(command_name) @_"}
_VUE: Final = {
    "expression": """
        (directive_attribute (quoted_attribute_value (attribute_value) @_))
        (interpolation (raw_text) @_)""",
    "name": "(tag_name) @_",
}
_SVELTE: Final = {"expression": "(raw_text_expr) @_ (raw_text_each) @_", "name": "(tag_name) @_"}
_ASTRO: Final = {
    "expression": """
        (attribute_js_expr) @_
        (html_interpolation (permissible_text) @_)""",
    "name": "(tag_name) @_",
}
_GRAPHQL: Final = {
    "call": "(fragment_spread (fragment_name) @_)",
    "type": "(named_type (name) @_)",
    "base": "(implements_interfaces (named_type (name) @_))",
}
_PRISMA: Final = {"type": "(non_null_type (identifier) @_)"}
_QML: Final = {
    "call": """
        (call_expression function: (identifier) @_)
        (call_expression function: (member_expression property: (property_identifier) @_))
        (new_expression constructor: (identifier) @_)
        (ui_object_definition type_name: (identifier) @_)
        (ui_object_definition type_name: (nested_identifier) @_)
        (ui_object_definition_binding type_name: (identifier) @_)""",
    "read": "(member_expression property: (property_identifier) @_)",
    "import": "(ui_import) @_",
    "name": "(identifier) @_",
    "handler": "(ui_binding name: (identifier) @_) (function_declaration name: (identifier) @_)",
}
_APEX: Final = {
    "call": """
        (method_invocation name: (identifier) @_)
        (object_creation_expression type: (type_identifier) @_)
        (object_creation_expression type: (scoped_type_identifier (_) (type_identifier) @_))
        (object_creation_expression type: (generic_type . (type_identifier) @_))""",
    "type": "(type_identifier) @_",
    "base": """
        (superclass (type_identifier) @_)
        (superclass (scoped_type_identifier (_) (type_identifier) @_))
        (superclass (generic_type (type_identifier) @_))
        (interfaces (type_list (type_identifier) @_))
        (interfaces (type_list (scoped_type_identifier (_) (type_identifier) @_)))
        (interfaces (type_list (generic_type (type_identifier) @_)))
        (interfaces (type_list (generic_type (scoped_type_identifier (_) (type_identifier) @_))))""",
    "decorator": "(annotation name: (identifier) @_)",
    "read": "(field_access field: (identifier) @_)",
    "name": "(identifier) @_",
}
_MAKE: Final = {
    "call": "(prerequisites (word) @_)",
    "read": "(variable_reference (word) @_)",
}
_SQL: Final = {
    "call": "(invocation (object_reference name: (identifier) @_))",
    "type": """
        (relation (object_reference name: (identifier) @_))
        (from (object_reference name: (identifier) @_))
        (insert (object_reference name: (identifier) @_))
        (alter_table (object_reference name: (identifier) @_))
        (drop_table (object_reference name: (identifier) @_))
        (create_index (object_reference name: (identifier) @_))
        (column_definition (object_reference name: (identifier) @_))
        (constraint (object_reference name: (identifier) @_))""",
    "name": "(identifier) @_",
}
_PERL: Final = {
    "call": """
        (function_call_expression function: (function) @_)
        (ambiguous_function_call_expression function: (function) @_)
        (method_call_expression method: (method) @_)""",
    "type": "(method_call_expression invocant: (bareword) @_)",
    "bound": """
        (assignment_expression
            left: (variable_declaration variable: (scalar (varname) @_)) right: (method_call_expression))""",
    "base": """
        (use_statement (string_literal (string_content) @_))
        (use_statement (quoted_word_list (string_content) @_))
        (use_statement (list_expression (string_literal (string_content) @_)))
        (use_statement (list_expression (quoted_word_list (string_content) @_)))""",
    "import": "(use_statement) @_ (require_expression) @_",
    "read": "(bareword) @_",
    "name": "(function (varname) @_)",
}
_FISH: Final = {"call": "(command name: (word) @_)", "name": "(word) @_"}
_BASH: Final = {"call": "(command name: (command_name) @_)", "name": "(word) @_"}

_CMAKE: Final = {"call": "(normal_command . (identifier) @_)", "mention": "(argument (unquoted_argument) @_)"}
_LUA: Final = {
    "call": "(function_call . (_) @_)",
    "variable": """
        (field name: (identifier) @_)
        (variable_list name: (identifier) @_)
        (parameters name: (identifier) @_)
        (for_numeric_clause name: (identifier) @_)""",
    "read": "(dot_index_expression field: (identifier) @_)",
    "name": "(identifier) @_",
}
_GROOVY: Final = {"call": "(func . (identifier) @_)", "name": "(identifier) @_"}
_PASCAL: Final = {
    "call": """
        (exprCall entity: (_) @_)
        (statement (identifier) @_)
        (statement (exprDot rhs: (identifier) @_))
        (inherited (identifier) @_)""",
    "type": "(typeref (identifier) @_)",
    "base": "(declClass parent: (typeref (identifier) @_)) (declIntf parent: (typeref (identifier) @_))",
    "read": "(exprDot rhs: (identifier) @_)",
    "name": "(identifier) @_",
}
_FORTRAN: Final = {
    "call": "(call_expression . (_) @_) (subroutine_call . (_) @_)",
    "type": "(derived_type name: (type_name) @_)",
    "base": "(base_type_specifier (identifier) @_)",
    "variable": """
        (variable_declaration declarator: (identifier) @_)
        (init_declarator left: (identifier) @_)
        (sized_declarator (identifier) @_)
        (parameters (identifier) @_)
        (function_result (identifier) @_)
        (association name: (identifier) @_)
        (keyword_argument name: (identifier) @_)""",
    "name": "(identifier) @_",
}
_VHDL: Final = {
    "call": """
        (component_instantiation (_) @_)
        (entity_instantiation (_) @_)
        (procedure_call_statement procedure: (_) @_)
        (ambiguous_name prefix: (_) @_)""",
    "name": "(simple_name) @_",
}
_TERRAFORM: Final = {"read": "(get_attr (identifier) @_)"}
_PROTO: Final = {
    "function": "(rpc (rpc_name (identifier) @_))",
    "class": """
        (message (message_name (identifier) @_))
        (enum (enum_name (identifier) @_))
        (service (service_name (identifier) @_))""",
    "value": """
        (field (identifier) @_)
        (map_field (identifier) @_)
        (oneof_field (identifier) @_)
        (enum_field (identifier) @_)""",
    "type": "(message_or_enum_type (identifier) @_)",
}

REFERENCES: Final[Mapping[str, Patterns]] = {
    **FUNCTIONAL, "cuda": CPP_PATTERNS, "arduino": CPP_PATTERNS, "hlsl": CPP_PATTERNS, "ispc": C_PATTERNS,
    "glsl": C_PATTERNS, "objc": _OBJC, "nix": _NIX, "dart": _DART, "zig": _ZIG, "pascal": _PASCAL, "fortran": _FORTRAN,
    "vhdl": _VHDL, "powershell": _POWERSHELL,
    "fish": _FISH, "bash": _BASH, "perl": _PERL, "sql": _SQL, "graphql": _GRAPHQL, "prisma": _PRISMA, "make": _MAKE,
    "vue": _VUE, "svelte": _SVELTE, "astro": _ASTRO, "proto": _PROTO, "cmake": _CMAKE, "lua": _LUA,
    "groovy": _GROOVY, "terraform": _TERRAFORM, "apex": _APEX, "qmljs": _QML,
}  # fmt: skip
"""Patterns of references alone. All other grammars have those of `generic_patterns`."""

_OCAML_VALUES: Final = {
    "function": """
        (compilation_unit (value_definition (let_binding pattern: (value_name) @_)))
        (structure (value_definition (let_binding pattern: (value_name) @_)))""",
    "class": "(type_binding name: (type_constructor) @_)",
    "value": "(constructor_declaration (constructor_name) @_) (field_declaration (field_name) @_)",
}

DEFINITIONS: Final[Mapping[str, Patterns]] = {
    "ocaml": _OCAML_VALUES,
    "ocaml_interface": _OCAML_VALUES,
    "dart": {
        "function": """
            (function_signature name: (identifier) @_)
            (getter_signature name: (identifier) @_)
            (setter_signature name: (identifier) @_)
            (constructor_signature (identifier) @_)
            (constant_constructor_signature (identifier) @_)
            (factory_constructor_signature (identifier) @_)
            (redirecting_factory_constructor_signature (identifier) @_)""",
        "value": """
            (enum_constant name: (identifier) @_)
            (static_final_declaration . (identifier) @_)
            (class_body (declaration (initialized_identifier_list (initialized_identifier . (identifier) @_))))
            (enum_body (declaration (initialized_identifier_list (initialized_identifier . (identifier) @_))))""",
    },
    "haskell": {
        "value": """
            (data_constructor constructor: (prefix name: (constructor) @_))
            (data_constructor constructor: (record name: (constructor) @_))
            (newtype_constructor name: (constructor) @_)
            (field name: (field_name (variable) @_))""",
    },
    "erlang": {"class": "(module_attribute name: (atom) @_)"},
    "julia": {
        "base": """
            (type_head (binary_expression (operator) (identifier) @_))
            (type_head (binary_expression (operator) (field_expression value: (_) (identifier) @_)))
            (type_head (binary_expression (operator) (parametrized_type_expression . (identifier) @_)))"""
    },
    "gdscript": {"base": "(extends_statement (type (identifier) @_))"},
    "d": {
        "base": "(base_class (identifier) @_)",
        "read": "(property_expression (_) (identifier) @_)",
    },
    "nim": {
        "base": "(object_declaration inherits: (type_expression (identifier) @_))",
        "read": "(dot_expression right: (identifier) @_)",
    },
    "haxe": {"base": "(class_declaration super_class_name: (_) @_) (class_declaration interface_name: (_) @_)"},
    "actionscript": {
        "base": "(class_declaration superclass: (identifier) @_) (class_declaration interfaces: (identifier) @_)"
    },
    "hack": {
        "base": """
            (extends_clause (type_specifier (qualified_identifier) @_))
            (implements_clause (type_specifier (qualified_identifier) @_))
            (trait_use_clause (type_specifier (qualified_identifier) @_))"""
    },
    "cairo": {
        "base": """
            (impl_item (generic_type type: (type_identifier) @_))
            (impl_item (type_identifier) (type_identifier) @_)"""
    },
    "v": {"base": "(struct_field_declaration !name type: (type_identifier) @_)"},
    "pascal": {
        "value": """
            (declField name: (identifier) @_)
            (declProp name: (identifier) @_)
            (declEnumValue name: (identifier) @_)""",
    },
    "ada": {
        "base": "(derived_type_definition subtype_mark: (_) @_)",
        "value": "(enumeration_type_definition (identifier) @_) (component_declaration . (identifier) @_)",
    },
    "purescript": {
        "class": "(data name: (type) @_) (newtype name: (type) @_) (type_alias name: (type) @_)",
        "value": "(data (constructor) @_) (newtype_constructor (constructor) @_)",
    },
    "scala": {
        "value": """
            (simple_enum_case name: (identifier) @_)
            (full_enum_case name: (identifier) @_)
            (class_definition class_parameters: (class_parameters (class_parameter name: (identifier) @_)))""",
    },
    "bash": {
        "value": """
            (program (variable_assignment name: (variable_name) @_))
            (program (declaration_command (variable_assignment name: (variable_name) @_)))""",
        "name": "(simple_expansion (variable_name) @_) (expansion (variable_name) @_)",
    },
    "solidity": {
        "function": """
            (event_definition name: (identifier) @_)
            (error_declaration name: (identifier) @_)
            (modifier_definition name: (identifier) @_)""",
        "class": "(enum_declaration name: (identifier) @_)",
        "base": "(inheritance_specifier ancestor: (user_defined_type . (identifier) @_))",
        "value": """
            (state_variable_declaration name: (identifier) @_)
            (struct_member name: (identifier) @_)
            (enum_value) @_""",
        "call": "(emit_statement name: (expression (identifier) @_))",
        "decorator": "(modifier_invocation (identifier) @_)",
    },
    "objc": {
        "value": """
            (property_declaration (struct_declaration (struct_declarator (identifier) @_)))
            (property_declaration
                (struct_declaration (struct_declarator (pointer_declarator declarator: (identifier) @_))))""",
    },
    "zig": {
        "function": "(FnProto function: (IDENTIFIER) @_)",
        "value": "(ContainerField (ErrorUnionExpr (SuffixExpr variable_type_function: (IDENTIFIER) @_)))",
    },
}
"""Patterns besides those of references: of definitions without a unit (constants of enumerations, fields), and in
languages without patterns of their own, of what a class extends."""
