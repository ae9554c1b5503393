"""Tables of languages, each loaded with the first blob of its language. A generic table serves all other grammars."""

from functools import cache
from importlib import import_module
from typing import Final, cast

from gitmem.chunking.grammar import Grammar
from gitmem.chunking.parse import has_grammar

_MODULES: Final = {
    "python": "python", "starlark": "python", "javascript": "ecma", "typescript": "ecma", "tsx": "ecma", "java": "java",
    "csharp": "csharp", "go": "go", "rust": "rust", "c": "cfamily", "cpp": "cfamily", "cuda": "cfamily",
    "arduino": "cfamily", "ruby": "ruby", "php": "php", "kotlin": "kotlin", "swift": "swift", "scala": "scala",
    "elixir": "elixir", "haskell": "haskell", "purescript": "haskell", "lua": "lua", "luau": "lua", "zig": "zig",
    "bash": "shell", "sql": "sql",
    "html": "markup", "xml": "markup", "vue": "markup", "svelte": "markup", "astro": "markup", "css": "styles",
    "scss": "styles", "less": "styles",
    "json": "data_formats", "yaml": "yaml", "toml": "data_formats", "hcl": "data_formats",
    "ini": "data_formats",
    "terraform": "terraform", "objc": "others", "dart": "others", "r": "others", "cmake": "others",
    "clojure": "lisps", "commonlisp": "lisps", "elisp": "lisps", "scheme": "lisps", "racket": "lisps",
    "fennel": "lisps", "janet": "lisps", "nix": "others", "julia": "julia", "fortran": "fortran",
    **dict.fromkeys(("vim", "gleam", "graphql", "prisma", "elm", "make", "glsl", "hlsl"), "others"),
    "fsharp": "fsharp", "fsharp_signature": "fsharp",
    "bitbake": "bitbake", "haxe": "haxe",
    "qmljs": "qml", "powershell": "powershell", "perl": "perl", "groovy": "groovy", "pascal": "pascal",
    "ada": "pascal", "verilog": "hardware", "vhdl": "hardware", "ocaml": "ocaml", "ocaml_interface": "ocaml",
    **dict.fromkeys(
        (
            "asm", "dockerfile", "crystal", "coffeescript", "visualbasic", "raku", "awk", "applescript", "batch",
            "prolog", "rocq", "lean", "agda", "pony", "gherkin", "nushell", "just",
            "vala", "pug", "haml", "slim", "abap", "antlr", "autohotkey", "ballerina", "bison", "chapel", "coldfusion",
            "cue", "flatbuffers", "idl", "modelica", "mojo", "move", "openscad", "p4", "pkl", "qsharp", "rescript",
            "sas", "stan", "wolfram",
        ),
        "by_lines",
    ),
    **dict.fromkeys(
        (
            "cobol", "jcl", "rexx", "m4", "vyper", "snakemake", "robotframework", "sml", "stata", "codeql", "zeek",
            "yara", "forth", "nsis", "tla", "isabelle", "idris", "autoit", "xquery", "jq", "promela", "openqasm",
            "unrealscript", "templ", "noir", "sway", "leo", "aiken", "cadence", "tact", "tolk", "circom", "koka",
            "wren", "slint", "cangjie", "moonbit", "dafny", "typespec", "aidl", "slice", "alloy", "carbon", "bluespec",
            "gamemaker", "gsc", "sourcepawn", "nwscript", "angelscript", "monkeyc",
        ),
        "rare_languages",
    ),
    **dict.fromkeys(
        (
            "jinja", "twig", "liquid", "handlebars", "blade", "gotemplate", "erb", "ejs", "razor", "freemarker", "jsp",
            "mako", "angular", "thymeleaf",
        ),
        "templates",
    ),
}  # fmt: skip
# Languages with a grammar whose definitions make no better chunks than windows do.
_WINDOWS: Final = frozenset(
    "text csv tsv psv pem po requirements gosum gitignore gitattributes pymanifest properties readline xcompose"
    " diff".split()
)
_UNSAFE: Final = frozenset({"typst"})
"""Languages whose scanners crash or hang on some input. They are split into windows."""


def find_grammar_of(data: bytes, language: str) -> Grammar | None:
    """Return the table for a text of a language: that of its dialect, if it has one."""
    grammar = find_grammar(language)
    if grammar is not None and grammar.dialect is not None and grammar.dialect.matches(data):
        return grammar.dialect.grammar
    return grammar


@cache
def find_grammar(language: str) -> Grammar | None:
    """Return the table of a language, None if it is split into windows."""
    if language in _WINDOWS or language in _UNSAFE:
        return None
    module = _MODULES.get(language)
    if module is not None:
        return cast(Grammar, import_module(f"{__name__}.{module}").GRAMMARS[language])
    if not has_grammar(language):
        return None
    from gitmem.chunking.grammars.generic import make_generic  # its patterns take longer to compile than a small run

    return make_generic(language)
