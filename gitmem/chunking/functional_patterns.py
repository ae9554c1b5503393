"""Patterns of syntax trees for functional languages, in the form of those in `occurrence_patterns`.

Their types, modules and constructors have nodes of their own kinds. The outline shows their definitions.
"""

from collections.abc import Mapping
from typing import Final

from gitmem.chunking.occurrence_patterns import Patterns

_SCALA: Final = {
    "variable": """
        (parameter name: (identifier) @_)
        (class_parameter name: (identifier) @_)
        (val_definition pattern: (identifier) @_)
        (var_definition pattern: (identifier) @_)
        (enumerator . (identifier) @_)
        (lambda_expression parameters: (identifier) @_)
        (binding name: (identifier) @_)
        (tuple_pattern (identifier) @_)
        (typed_pattern pattern: (identifier) @_)
        (case_class_pattern pattern: (identifier) @_)
        (capture_pattern . (identifier) @_)
        (case_clause pattern: (identifier) @_)
        (assignment_expression left: (identifier) @_)
        (package_identifier (identifier) @_)""",
    "call": """
        (call_expression function: (identifier) @_)
        (call_expression function: (field_expression field: (identifier) @_))
        (call_expression function: (generic_function function: (identifier) @_))
        (call_expression function: (generic_function function: (field_expression field: (identifier) @_)))
        (generic_function function: (identifier) @_)
        (infix_expression operator: (identifier) @_)
        (instance_expression (type_identifier) @_)
        (instance_expression (generic_type type: (type_identifier) @_))
        (instance_expression (stable_type_identifier (type_identifier) @_))""",
    "type": "(type_identifier) @_",
    "base": """
        (extends_clause (type_identifier) @_)
        (extends_clause (generic_type type: (type_identifier) @_))
        (extends_clause (stable_type_identifier (type_identifier) @_))
        (extends_clause (generic_type type: (stable_type_identifier (type_identifier) @_)))
        (extends_clause (compound_type (type_identifier) @_))
        (extends_clause (compound_type (generic_type type: (type_identifier) @_)))""",
    "decorator": "(annotation name: (type_identifier) @_)",
    "read": "(field_expression field: (identifier) @_)",
    "bound": """
        (parameter name: (identifier) @_)
        (class_parameter name: (identifier) @_)
        (val_definition pattern: (identifier) @_)""",
    "import": "(import_declaration) @_",
    "name": "(identifier) @_",
}
_ELIXIR: Final = {
    "call": "(call . (_) @_)",
    "type": "(alias) @_",
    "import": """
        (call target: (identifier) (arguments . (alias)))  @_
        (call target: (identifier) (arguments . (dot left: (alias)))) @_""",
    "name": "(identifier) @_",
}
_ERLANG: Final = {
    "call": """
        (call . (_) @_)
        (internal_fun fun: (atom) @_)
        (external_fun fun: (atom) @_)
        (macro_call_expr name: (_) @_)""",
    "type": "(record_name name: (atom) @_) (remote_module module: (atom) @_)",
    "base": "(behaviour_attribute name: (atom) @_)",
    "read": "(record_field_name name: (atom) @_)",
}
_OCAML: Final = {
    "call": "(application_expression . (_) @_) (module_application . (_) @_) (method_invocation (method_name) @_)",
    "type": "(type_constructor) @_ (module_name) @_ (module_type_name) @_ (class_name) @_ (class_type_name) @_",
    "base": """
        (inheritance_definition (class_path (class_name) @_))
        (include_module (module_path (module_name) @_))
        (include_module_type (module_type_path (module_type_name) @_))""",
    "read": "(field_get_expression field: (field_path (field_name) @_)) (value_path (module_path) (value_name) @_)",
    "name": "(value_name) @_ (constructor_name) @_",
}
_ELM: Final = {
    "call": "(function_call_expr target: (value_expr name: (value_qid) @_))",
    "type": "(type_ref (upper_case_qid) @_) (union_pattern constructor: (upper_case_qid) @_)",
    "read": "(value_qid (dot) (lower_case_identifier) @_)",
    "import": "(import_clause) @_",
    "name": "(value_qid (lower_case_identifier) @_) (value_qid (upper_case_identifier) @_)",
}
_PURESCRIPT: Final = {
    "call": "(exp_apply . (exp_name) @_)",
    "type": "(type) @_ (constructor) @_",
    "base": "(class_instance (instance_head (class_name (type) @_))) (derive_declaration (type_name (type) @_))",
    "read": "(qualified_variable (variable) @_)",
    "import": "(import) @_",
    "name": "(variable) @_",
}
_GLEAM: Final = {
    "call": """
        (function_call function: (identifier) @_)
        (function_call function: (field_access field: (label) @_))
        (record name: (constructor_name) @_)
        (record name: (remote_constructor_name name: (constructor_name) @_))""",
    "type": "(type_identifier) @_",
    "read": "(field_access field: (label) @_)",
    "import": "(import) @_",
    "name": "(identifier) @_ (constructor_name) @_",
}
_HASKELL: Final = {
    "call": """
        (apply function: (variable) @_)
        (apply function: (constructor) @_)
        (apply function: (qualified id: (variable) @_))
        (apply function: (qualified id: (constructor) @_))""",
    "type": "(signature (name) @_)",
    "base": "(instance name: (name) @_) (instance name: (qualified id: (name) @_))",
    "name": "(variable) @_ (constructor) @_ (name) @_",
}
_FSHARP: Final = {
    "call": "(application_expression . (long_identifier_or_op) @_)",
    "base": """
        (interface_implementation (simple_type (long_identifier) @_))
        (class_inherits_decl (simple_type (long_identifier) @_))""",
    "name": "(identifier) @_",
}
_LISP: Final = {"call": "(list . (symbol) @_)", "name": "(symbol) @_"}
_JANET: Final = {"call": "(tuple . (symbol) @_)", "name": "(symbol) @_"}
_LISP_OF_LITERALS: Final = {"call": "(list_lit . (sym_lit) @_)", "name": "(sym_lit) @_"}

FUNCTIONAL: Final[Mapping[str, Patterns]] = {
    "scala": _SCALA, "elixir": _ELIXIR, "erlang": _ERLANG, "ocaml": _OCAML, "ocaml_interface": _OCAML, "elm": _ELM,
    "purescript": _PURESCRIPT, "gleam": _GLEAM, "haskell": _HASKELL, "fsharp": _FSHARP, "fsharp_signature": _FSHARP,
    "clojure": _LISP_OF_LITERALS, "commonlisp": _LISP_OF_LITERALS, "elisp": _LISP, "scheme": _LISP, "racket": _LISP,
    "fennel": _LISP, "janet": _JANET,
}  # fmt: skip
"""Patterns of references by language."""
