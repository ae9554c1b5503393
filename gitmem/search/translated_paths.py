"""Recognise files with translations by the language in their path: `lang/de/`, `de.lproj/`, `pt-BR.json`. Pure."""

import posixpath
from typing import Final

from gitmem.lazy_pattern import lazy_pattern

# The languages of ISO 639-1 whose codes name nothing else. English is the language of most sources: `docs/en-US/` is no
# translation, and `lang/en/` is one of many.
_LANGUAGE_CODES: Final = frozenset(
    "af am ar az be bg bn bs ca cs cy da de el eo es et eu fa fi fil fo fr ga gd gl gu he hi hr hu hy id is it ja jv "
    "ka kk km kn ko ku ky lb lo lt lv mk ml mn mr ms mt my nb ne nl nn no pa pl ps pt ro ru si sk sl so sq sr sv sw ta "
    "te tg th tk tl tr tt ug uk ur uz vi xh yi zh zu".split()
)
_SOURCE_LOCALES: Final = ("Base", "en")
_FOLDERS: Final = frozenset("dicts lang langs language languages l10n localization translation translations".split())
"""Folders below which a language names a file or folder with translations."""

_ENDINGS: Final = (".lproj", ".po", ".xlf", ".xliff")
_RESOURCE_ENDINGS: Final = (".arb", ".ftl", ".json", ".properties", ".resx", ".yaml", ".yml")
"""Endings of files with texts of a program, as in `Strings.de.resx`."""

_LOCALE: Final = lazy_pattern(
    r"(?:(?P<resources>values-)?(?P<language>[a-z]{2,3}))(?P<script>[-_](?:Arab|Cyrl|Hans|Hant|Latn))?"
    r"(?P<region>[-_]r?[A-Z]{2}|[-_][0-9]{3})?(?P<rest>[-_][A-Za-z]{2,4})?"
)


def names_translation(folder: str, name: str) -> bool:
    """Return whether the name of a file or folder in a folder says that it is a translation."""
    stem, ending = posixpath.splitext(name)
    if ending in _ENDINGS:
        return stem not in _SOURCE_LOCALES
    base, _, last = stem.rpartition(".")
    match = _LOCALE.fullmatch(last)
    if match is None:
        return False
    if not _FOLDERS.isdisjoint(folder.lower().split("/")):
        return match["language"] == "en" or match["language"] in _LANGUAGE_CODES
    if match["language"] not in _LANGUAGE_CODES or match["rest"]:
        return False
    # Two letters alone may name anything.
    return any(match.group("resources", "script", "region")) or (bool(base) and ending in _RESOURCE_ENDINGS)
