"""Patterns of syntax trees that show references alone, for languages whose definitions the outline shows.

They have the form of those in `occurrence_patterns`.
"""

from collections.abc import Mapping
from typing import Final

from gitmem.chunking.occurrence_patterns import C_PATTERNS, Patterns

_HASKELL: Final = {
    "call": """
        (apply function: (variable) @_)
        (apply function: (constructor) @_)
        (apply function: (qualified id: (variable) @_))
        (apply function: (qualified id: (constructor) @_))""",
    "type": "(signature (name) @_)",
    "name": "(variable) @_ (constructor) @_ (name) @_",
}
_NIX: Final = {
    "call": """
        (apply_expression function: (variable_expression name: (identifier) @_))
        (apply_expression function: (select_expression attrpath: (attrpath) @_))""",
    "read": "(select_expression attrpath: (attrpath) @_)",
    "name": "(identifier) @_",
}
_FSHARP: Final = {
    "call": "(application_expression . (long_identifier_or_op) @_)",
    "name": "(long_identifier_or_op) @_ (identifier) @_",
}
_LISP: Final = {"call": "(list . (symbol) @_)", "name": "(symbol) @_"}
_JANET: Final = {"call": "(tuple . (symbol) @_)", "name": "(symbol) @_"}
_LISP_OF_LITERALS: Final = {"call": "(list_lit . (sym_lit) @_)", "name": "(sym_lit) @_"}
_DART: Final = {
    "call": "(new_expression (type_identifier) @_)",
    "type": "(type_identifier) @_",
    "base": "(superclass (type_identifier) @_) (interfaces (type_identifier) @_) (mixins (type_identifier) @_)",
    "read": "(unconditional_assignable_selector (identifier) @_) (conditional_assignable_selector (identifier) @_)",
    "name": "(identifier) @_",
}
_OBJC: Final = C_PATTERNS | {
    "call": C_PATTERNS["call"] + "\n(message_expression method: (identifier) @_)",
    "base": "(class_interface superclass: (identifier) @_)",
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
        (use_statement (quoted_word_list (string_content) @_))""",
    "import": "(use_statement) @_ (require_expression) @_",
    "read": "(bareword) @_",
    "name": "(function (varname) @_)",
}
_FISH: Final = {"call": "(command name: (word) @_)", "name": "(word) @_"}
_BASH: Final = {"call": "(command name: (command_name) @_)", "name": "(word) @_"}

REFERENCES: Final[Mapping[str, Patterns]] = {
    "haskell": _HASKELL, "nix": _NIX, "fsharp": _FSHARP, "clojure": _LISP_OF_LITERALS, "commonlisp": _LISP_OF_LITERALS,
    "elisp": _LISP, "scheme": _LISP, "racket": _LISP, "fennel": _LISP, "janet": _JANET, "dart": _DART, "objc": _OBJC,
    "zig": _ZIG, "powershell": _POWERSHELL, "fish": _FISH, "bash": _BASH, "perl": _PERL,
    "sql": _SQL, "graphql": _GRAPHQL, "prisma": _PRISMA, "make": _MAKE, "vue": _VUE, "svelte": _SVELTE, "astro": _ASTRO,
}  # fmt: skip
"""Patterns of references alone. All other grammars have those of `generic_patterns`."""
