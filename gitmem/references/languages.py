"""How languages differ: which share names, what a bare name may mean, and the words for the own object."""

from collections.abc import Mapping
from typing import Final

from gitmem.types import NOTEBOOK_LANGUAGE

_FAMILIES: Final = (
    ("python", NOTEBOOK_LANGUAGE),
    ("javascript", "typescript", "tsx", "vue", "svelte", "astro", "ejs", "angular", "qmljs"),
    ("java", "kotlin", "scala", "groovy"),
    ("c", "cpp", "objc", "cuda", "arduino", "bison"),
    ("elixir", "erlang", "heex"),
    ("ocaml", "ocaml_interface"),
    ("fsharp", "fsharp_signature"),
    ("csharp", "razor"),
    ("ruby", "erb"),
    ("php", "blade"),
    ("jinja", "twig", "liquid", "handlebars", "gotemplate", "freemarker", "jsp", "mako", "thymeleaf", "html"),
)
FAMILY: Final[Mapping[str, str]] = {language: family[0] for family in _FAMILIES for language in family}
"""First language of a group whose files use each other's names. Other languages are alone."""

IMPORTING: Final = frozenset({"python", "javascript"})
"""Families in which a bare name comes from its file or from an import, never from a package or by inclusion."""

REEXPORTING: Final = frozenset({"python", "javascript", "rust"})
"""Families in which a file exports what it imports."""

RENAMING: Final = frozenset({"javascript"})
"""Families in which a file exports its own definitions under other names. Such an export names no module."""

CLASS_IMPORTING: Final = frozenset({"java"})
"""Families in which a file mentions most classes whose members it uses, or is in their package."""

PACKAGED: Final = frozenset({"go", "java"})
"""Families in which a bare name may come from another file of the same package."""

KOTLIN_ENDINGS: Final = (".kt", ".kts")
"""Ends of the names of files of Kotlin, which is in the family of Java."""

ROOTED: Final = frozenset({"java"})
"""Families in which a package is what a folder is below a source root: `shop` in `src/main/java/shop/`."""

PRIVATE_IN_FOLDER: Final = frozenset({"go"})
"""Families in which a name that begins with a small letter is known in its folder alone."""

PRIVATE_BY_NAME: Final = frozenset({"dart"})
"""Families in which a name that begins with an underscore is known in its file alone."""

PRIVATE_OUTSIDE_OF_CLASSES: Final = frozenset({"c", "rust"})
"""Families in which the word that makes a definition private says so at the top level alone: `static`, no `pub`."""

BARE_MEMBERS: Final = frozenset(
    {
        "java", "c", "csharp", "swift", "ruby", "dart", "kotlin", "scala", "perl", "crystal", "visualbasic", "pony",
        "ocaml", "fsharp", "julia",
    }
)  # fmt: skip
"""Families in which a bare name may be a member of the class or module around it."""

_SELVES: Final = frozenset({"self", "cls", "this", "Self", "$this", "@", "super", "$self", "__PACKAGE__"})
_OWN_SELVES: Final[Mapping[str, frozenset[str]]] = {
    "php": frozenset({"parent", "static"}),
    "csharp": frozenset({"base"}),
    "fsharp": frozenset({"base"}),
}
"""Words for the own object or class: in all families, and those that elsewhere are usual names of variables."""

ABOVE: Final = frozenset({"super", "base", "parent"})
"""Words for the class above the own one."""

NAMESPACED: Final = frozenset({"php"})
"""Families in which a name behind a separator alone is in the root namespace, and most code is in another one."""

ALIASING: Final = frozenset({"php", "elixir"})
"""Families in which a path from the root may begin with a name that the file imports."""

EXTENDED: Final = frozenset({"go", "rust", "c", "csharp", "swift", "ruby"})
"""Families in which the members of a class may be in other files than the class."""

EXTENDING: Final = frozenset({"rust", "csharp", "kotlin", "scala", "swift", "dart"})
"""Languages, not families, in which code gives types of a library further members: extensions, traits."""

DYNAMIC: Final = frozenset({"bash", "elixir", "fish", "perl", "php", "powershell", "ruby", "tcl", "vim", "zig"})
"""Families in which a function that another one defines is known outside of it. In Zig, one may return a type."""

CAPITALISED: Final = frozenset({"java", "csharp", "swift", "ruby", "php", "dart", "elixir", "crystal"})
"""Families in which a name with a capital before a member is a class or module: `Regexp.escape`."""

DECLARING: Final = frozenset({"c", "python", "ada", "ocaml", "fsharp"})
HEADERS: Final = (".h", ".hh", ".hpp", ".hxx", ".pyi", ".ads", ".mli", ".fsi")
"""Families that declare in one file what another one defines, and the ends of such files."""

OBJECT_ENDING: Final = ".qml"
COMPONENT_ENDINGS: Final = (".vue", ".svelte", ".astro", ".razor", OBJECT_ENDING)
"""Ends of files that define a component with the name of the file. One that is an object has its members."""

TEMPLATE_ENDINGS: Final = (
    ".erb", ".ejs", ".html", ".htm", ".jinja", ".jinja2", ".j2", ".njk", ".tera", ".twig", ".liquid", ".hbs",
    ".handlebars", ".mustache", ".blade.php", ".tmpl", ".tpl", ".gohtml", ".gotmpl", ".cshtml", ".ftl", ".ftlh", ".jsp",
    ".jspf", ".mako", ".sql",
)  # fmt: skip
"""Ends of templates, which others include by their path. Models of dbt are templates of SQL."""

CODE_BESIDE: Final[Mapping[str, str]] = {"angular": ".ts"}
"""Languages of templates whose names are members of the class in the file beside, with the end of that file."""

HELPED: Final = frozenset({"ruby"})
HELPER_FOLDER: Final = "app/helpers/"
"""Families in which all templates, and helpers, know the members of modules in such a folder: Rails."""

BEHIND_OBJECTS: Final = frozenset({"javascript", "lua"})
"""Families in which a function that is defined behind an object, `function a.b()`, is never called without one."""

FLAT: Final = frozenset({"toml", "json"})
"""Families whose definitions, the packages of manifests, are inside of no others."""

CONSTRUCTED: Final = frozenset({"java", "c", "csharp", "dart"})
"""Families in which a function with the name of its class creates objects of it."""

CONSTRUCTORS: Final[Mapping[str, frozenset[str]]] = {
    "python": frozenset({"__init__", "__new__"}),
    "javascript": frozenset({"constructor"}),
    "coffeescript": frozenset({"constructor"}),
    "php": frozenset({"__construct"}),
    "ruby": frozenset({"initialize"}),
    "crystal": frozenset({"initialize"}),
    "swift": frozenset({"init"}),
}
"""Members by family that run when an object of their class is created, which names the class alone."""

FIELD_READING: Final = frozenset({"rust", "java", "kotlin", "php", "c", "cpp", "cuda"})
"""Languages, not families, in which a member without brackets is a field, never a method. In Scala it may be one."""

QUALIFIED_IN_FOLDER: Final = frozenset({"terraform"})
"""Families in which a definition is named with the names before it, `var.region`, and known in its folder alone."""

METHOD_CALLING: Final = frozenset({"rust", "java", "php", "ruby"})
"""Languages in which a member with brackets is a method, never a field."""


def family_of(language: str) -> str:
    """Return the group of languages to which one belongs."""
    return FAMILY.get(language, language)


def is_self(name: str, family: str) -> bool:
    """Return whether a name before a member is the word for the own object, its class or the one above."""
    return name in _SELVES or name in _OWN_SELVES.get(family, ())
