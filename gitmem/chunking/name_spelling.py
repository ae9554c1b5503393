"""How languages spell names: the letters that they have, and words that are none."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

MAX_NAME: Final = 120
"""Bytes of a name. Longer ones are generated, or no names."""

LETTER: Final = rb"[\w$\x80-\xff]"
"""Byte of a name in most languages."""

_LETTERS: Final[Mapping[str, bytes]] = {
    "r": b".", "terraform": b"-", "vim": b":#", "make": b"-./",
    "powershell": b"-", "bash": b"-", "fish": b"-", "nix": b"-'", "haskell": b"'", "ocaml": b"'",
    "ocaml_interface": b"'", "fsharp": b"'", "elm": b"'", "purescript": b"'",
    "rocq": b"'", "lean": b"'", "agda": b"'-", "raku": b"'-", "erlang": b"@", "nushell": b"-!?", "just": b"-",
    "cmake": b"-", "cobol": b"-", "gotemplate": b"-./", "angular": b"-",
    **dict.fromkeys(("clojure", "commonlisp", "fennel", "clarity"), b"-?!*+<>=&%'"),
    **dict.fromkeys(("elisp", "scheme", "racket", "janet"), b"-?!*+<>=&%':/"),
}  # fmt: skip
"""What names of a language may have besides letters, digits, `_` and `$`."""

PRIMITIVES: Final = frozenset(
    b"str int bool bytes float object list dict set tuple type None string number boolean void any unknown never"
    b" i8 i16 i32 i64 u8 u16 u32 u64 usize isize f32 f64 char byte rune error uint int64 uint64 int32 uint32 double"
    b" long short unsigned size_t decimal std".split()
)
"""Types and namespaces that no repository defines."""


class PlainNames(dict[bytes, bool]):
    """Whether a text is a name as it stands: short, of letters, not a primitive type. Cached, because names recur."""

    def __init__(self, spelling: "Spelling") -> None:
        self.spelling = spelling

    def __missing__(self, text: bytes) -> bool:
        self[text] = verdict = self.spelling.is_name(text) and len(text) <= MAX_NAME and text not in PRIMITIVES
        return verdict


class Spelling:
    """How a language spells names: which characters they have besides letters and digits."""

    def __init__(self, letters: bytes) -> None:
        self.letters = letters
        self._joiners = b"_" + letters
        own = LETTER.replace(b"]", re.escape(letters) + b"]")
        self.last_name = re.compile(own + rb"+[?!]?$")
        """The last name in a text like `a.b`."""

    def is_name(self, text: bytes) -> bool:
        """Return whether a text is one name of ASCII characters."""
        return text.isalnum() or text.translate(None, self._joiners).isalnum()


@cache
def spelling_of(language: str) -> Spelling:
    """Return how a language spells names."""
    return Spelling(_LETTERS.get(language, b""))
