"""Recognise files with translations by the language in their path: `lang/de/`, `de.lproj/`, `pt-BR.json`. Pure."""

import posixpath
from typing import Final

from gitmem.lazy_pattern import lazy_pattern

# The languages of ISO 639-1, and some of ISO 639-3, whose codes name nothing else, as `ast` does. English is the
# language of most sources: `docs/en-US/` is no translation, and `lang/en/` is one of many.
_LANGUAGE_CODES: Final = frozenset(
    "af am ar az be bg bn bs ca cs cy da de el eo es et eu fa fi fil fo fr ga gd gl gu he hi hr hu hy id is it ja jv "
    "ka kk km kn ko ku ky lb lo lt lv mk ml mn mr ms mt my nb ne nl nn no pa pl ps pt ro ru si sk sl so sq sr sv sw ta "
    "te tg th tk tl tr tt ug uk ur uz vi xh yi zh zu "
    "ckb csb dsb gsw hsb kab ltg oc szl".split()
)
_SOURCE_LOCALES: Final = ("Base", "en")
_FOLDERS: Final = frozenset("dicts lang langs language languages l10n localization translation translations".split())
"""Folders below which a language names a file or folder with translations."""

_ENDINGS: Final = (".lproj", ".po", ".xlf", ".xliff")
_RESOURCE_ENDINGS: Final = (".arb", ".ftl", ".json", ".properties", ".resx", ".yaml", ".yml")
"""Endings of files with texts of a program, as in `Strings.de.resx`."""

_FOLDER_ENDINGS: Final = (*_RESOURCE_ENDINGS, ".ts")
"""The same in such folders; `.ts` are texts of Qt."""

_BUNDLE_ENDINGS: Final = (".arb", ".properties")
"""Endings of files that are mostly texts of a program: `messages_de.properties`, `app_de.arb`."""

_SUFFIX: Final = lazy_pattern(r"_([a-z]{2,3})(?:[-_]([A-Za-z]{2,4}|[0-9]{3}))?(?:@[A-Za-z]+)?$")
"""Language, region and script at the end of a name: `keepassxc_pt_BR.ts`, `webui_sr@latin.ts`."""

_SCRIPTS: Final = frozenset(("Arab", "Cyrl", "Hans", "Hant", "Latn"))
_ANDROID: Final = "values-"
"""Beginning of the names of folders with the resources of an Android app in a language: `values-de-rAT`."""


def names_translation(folder: str, name: str) -> bool:
    """Return whether the name of a file or folder in a folder says that it is a translation."""
    stem, ending = posixpath.splitext(name)
    if ending in _ENDINGS:
        return stem not in _SOURCE_LOCALES
    in_folder = not _FOLDERS.isdisjoint(folder.lower().split("/"))
    if ending in (_FOLDER_ENDINGS if in_folder else _BUNDLE_ENDINGS):
        suffix = _SUFFIX.search(stem)
        if suffix and (suffix[1] in _LANGUAGE_CODES or (in_folder and suffix[1] == "en")):
            return suffix[2] is None or _is_region_or_script(suffix[2])
    base, _, locale = stem.rpartition(".")
    language, *others = locale.removeprefix(_ANDROID).replace("_", "-").split("-")
    if language not in _LANGUAGE_CODES and language != "en":
        return False
    if in_folder:
        return True
    if language == "en":
        return False
    if others:
        return all(map(_is_region_or_script, others))
    # Two letters alone may name anything.
    return locale.startswith(_ANDROID) or (bool(base) and ending in _RESOURCE_ENDINGS)


def _is_region_or_script(part: str) -> bool:
    code = part.removeprefix("r")  # `rAT` in Android
    return part in _SCRIPTS or (len(code) == 2 and code.isupper()) or (len(part) == 3 and part.isdigit())
