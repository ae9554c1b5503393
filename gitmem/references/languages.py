"""How languages differ: which share names, what a bare name may mean, and the words for the own object."""

from collections.abc import Mapping
from typing import Final

_FAMILIES: Final = (
    ("python",),
    ("javascript", "typescript", "tsx", "vue", "svelte", "astro"),
    ("java", "kotlin", "scala", "groovy"),
    ("c", "cpp", "objc", "cuda"),
    ("elixir", "erlang"),
)
FAMILY: Final[Mapping[str, str]] = {language: family[0] for family in _FAMILIES for language in family}
"""First language of a group whose files use each other's names. Other languages are alone."""

IMPORTING: Final = frozenset({"python", "javascript"})
"""Families in which a bare name comes from its file or from an import, never from a package or by inclusion."""

REEXPORTING: Final = frozenset({"python", "javascript", "rust"})
"""Families in which a file exports what it imports."""

PACKAGED: Final = frozenset({"go", "java"})
"""Families in which a bare name may come from another file of the same folder."""

BARE_MEMBERS: Final = frozenset({"java", "c", "csharp", "swift", "ruby", "dart", "kotlin", "scala"})
"""Families in which a bare name may be a member of the class around it."""

SELVES: Final = frozenset({"self", "cls", "this", "Self", "static", "$this", "@", "super", "base", "parent"})
ABOVE: Final = frozenset({"super", "base", "parent"})
"""Words for the own object or class, and those for the class above it."""

EXTENDED: Final = frozenset({"go", "rust", "c", "csharp", "swift", "ruby"})
"""Families in which the members of a class may be in other files than the class."""

_BUILT_IN: Final = (str, bytes, list, dict, set, tuple, int, float, type(iter("")), type(open), Exception)
PYTHON_MEMBERS: Final = frozenset(name for type_ in _BUILT_IN for name in dir(type_)) | frozenset(
    "read write close open flush seek readline readlines writelines fileno search match fullmatch group groups sub run "
    "start stop wait send recv connect acquire release put get_nowait submit result cancel done set clear is_set info "
    "debug warning error exception critical exists is_dir is_file mkdir resolve glob read_text write_text append "
    "appendleft popleft most_common total_seconds isoformat strftime date time add_argument parse_args shape reshape "
    "mean sum dtype astype min max all any name path parent stem suffix args kwargs value type id".split()
)
ECMA_MEMBERS: Final = frozenset(
    "push pop shift unshift slice splice concat join map filter forEach reduce reduceRight find findIndex some every "
    "includes indexOf lastIndexOf sort reverse flat flatMap fill keys values entries has get set delete add clear size "
    "then catch finally toString valueOf hasOwnProperty split replace replaceAll trim trimStart trimEnd match matchAll "
    "search test exec charAt charCodeAt startsWith endsWith padStart padEnd repeat substring substr toLowerCase "
    "toUpperCase call apply bind log warn error info debug emit on once off addEventListener removeEventListener write "
    "end read close open send json text status append remove length name type value id parse stringify next at".split()
)
OTHER_MEMBERS: Final[Mapping[str, frozenset[str]]] = {"python": PYTHON_MEMBERS, "javascript": ECMA_MEMBERS}
"""Members of the types of a language and its library, by family: one of that name is often none of the repository."""


def family_of(language: str) -> str:
    """Return the group of languages to which one belongs."""
    return FAMILY.get(language, language)
