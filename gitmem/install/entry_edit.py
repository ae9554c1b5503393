"""Edits of one entry in the text of a client's file: find, add and remove it, and change no other byte. Pure.

A format supplies the three functions for a path of keys and a value. `Edit` is what registration works with.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from gitmem.install import toml_edit, yaml_edit
from gitmem.install.json_edit import add_member, find_value, remove_member
from gitmem.named_tuple import NamedTuple

JSON: Final = "json"
TOML: Final = "toml"
YAML: Final = "yaml"
GUIDE: Final = "guide"


class Edit(NamedTuple):
    """Functions that find, add and remove the entry in the text of a file, and the entry as `find` returns it.

    `find` returns None if the text has no entry. The text of a missing file is empty, and a file whose text becomes
    empty is removed. All three raise UsageError for a text that they cannot edit.
    """

    find: Callable[[str], Any]
    add: Callable[[str], str]
    remove: Callable[[str], str]
    ours: Any


def make_edit(form: str, keys: Sequence[str], value: Any) -> Edit:
    """Return the edit of a value at a path of keys, in a file of this format."""
    return _MAKERS[form](tuple(keys), value)


def _json(keys: tuple[str, ...], value: Any) -> Edit:
    return Edit(
        find=lambda text: find_value(text, keys) if text.strip() else None,
        add=lambda text: add_member(text, keys, value) if text.strip() else add_member("{}", keys, value) + "\n",
        remove=lambda text: remove_member(text, keys),
        ours=value,
    )


def _toml(keys: tuple[str, ...], value: Any) -> Edit:
    return Edit(
        find=lambda text: toml_edit.find_table(text, keys),
        add=lambda text: toml_edit.add_table(text, keys, value),
        remove=lambda text: toml_edit.remove_table(text, keys, value),
        ours=value,
    )


def _yaml(keys: tuple[str, ...], value: Any) -> Edit:
    return Edit(
        find=lambda text: yaml_edit.find_block(text, keys, value),
        add=lambda text: yaml_edit.add_block(text, keys, value),
        remove=lambda text: yaml_edit.remove_block(text, keys, value),
        ours=value,
    )


_BEGIN: Final = "<!-- gitmem:begin -->"
_END: Final = "<!-- gitmem:end -->"
GUIDE_TEXT: Final = f"""{_BEGIN}
## Finding code

Use the `search` tool of gitmem (or `gitmem query "..."`) with a description or a symbol before you use grep or read
whole files. It returns `path:first-last symbol` with the lines that matter, including uncommitted changes; read on at
that line. `related` finds code similar to a line, `rev` searches another commit, tag or branch.
{_END}
"""
"""Short block of instructions for agents."""


def _find_guide(text: str) -> Any:
    begin, end = text.find(_BEGIN), text.find(_END)
    return text[begin : end + len(_END)] + "\n" if 0 <= begin < end else None


def _add_guide(text: str) -> str:
    if not text:
        return GUIDE_TEXT
    return text + ("" if text.endswith("\n") else "\n") + "\n" + GUIDE_TEXT


def _remove_guide(text: str) -> str:
    before, _, rest = text.partition(_BEGIN)
    after = rest.partition(_END)[2]
    return before.removesuffix("\n") + after.removeprefix("\n") if before.strip() else after.removeprefix("\n")


def _guide(_keys: tuple[str, ...], _value: Any) -> Edit:
    return Edit(_find_guide, _add_guide, _remove_guide, GUIDE_TEXT)


_MAKERS: Final[Mapping[str, Callable[[tuple[str, ...], Any], Edit]]] = {
    JSON: _json,
    TOML: _toml,
    YAML: _yaml,
    GUIDE: _guide,
}
