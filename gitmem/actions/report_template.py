"""Templates of reports: those of gitmem, and the user's own in a folder of the repository.

A template NAME is the Mustache text `NAME.md`; `NAME.md.json` describes its variables. Both are read anew for each use,
so that a change counts at once. A template of the user has precedence over one of gitmem with the same name.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from gitmem.errors import ConfigError, UsageError
from gitmem.fsio import read_file
from gitmem.named_tuple import NamedTuple
from gitmem.settings import PREFIX
from gitmem.workspace import Workspace

BUILT_IN: Final = ("basic", "paper", "bullet_points")
CURRENT: Final = "current"
"""Stands for the template of the settings, in the address of a schema."""

DEFAULT_ALIAS: Final = "default"
"""Another name of `basic`, unless the user has a template of that name."""

MAX_TEMPLATE: Final = 64 << 10
"""Bytes of a template or of its description."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_ENDING: Final = ".md"


class Template(NamedTuple):
    """Template with its description: name, description, language, variables, example."""

    name: str
    text: str
    schema: Mapping[str, Any]

    @property
    def variables(self) -> Mapping[str, Any]:
        """Descriptions of the variables by name."""
        variables = self.schema.get("variables")
        return variables if isinstance(variables, dict) else {}


def list_templates(workspace: Workspace) -> list[str]:
    """Return the names of all templates, those of gitmem first. Raises: ConfigError."""
    folder = _own_folder(workspace)
    try:
        own = sorted(file.stem for file in folder.iterdir() if file.suffix == _ENDING) if folder else []
    except OSError:
        own = []
    return [*BUILT_IN, *(name for name in own if _NAME.fullmatch(name) and name not in BUILT_IN)]


def read_template(workspace: Workspace, name: str = "") -> Template:
    """Return a template; without a name, or for `current`, that of the settings.

    Raises: UsageError if there is none, or if it cannot be read or is too long; ConfigError.
    """
    chosen = workspace.settings.report_template if name in ("", CURRENT) else name
    if _NAME.fullmatch(chosen):
        for read in _sources(workspace, chosen):
            text = read(_ENDING)
            if text is not None:
                return Template(chosen, text, _parse_schema(chosen, read(f"{_ENDING}.json")))
    if chosen == DEFAULT_ALIAS:
        return read_template(workspace, BUILT_IN[0])
    names = ", ".join(list_templates(workspace))
    raise UsageError(f"no such template: `{chosen[:80]}`", hint=f"templates: {names}")


def _sources(workspace: Workspace, name: str) -> Iterator[Any]:
    """Yield functions that read the file of a template with an ending: from the user's folder, then from gitmem."""
    folder = _own_folder(workspace)
    if folder is not None:
        yield lambda ending: _decode(
            folder / f"{name}{ending}", read_file(folder / f"{name}{ending}", MAX_TEMPLATE + 1)
        )
    if name in BUILT_IN:
        folder_of_gitmem = files("gitmem.actions") / "report_templates"
        yield lambda ending: (folder_of_gitmem / f"{name}{ending}").read_text(encoding="utf-8")


def _own_folder(workspace: Workspace) -> Path | None:
    """Return the folder of the user's own templates, None if there is none.

    A relative one lies inside the repository, also if links are followed: a clone must not make this read other files.
    """
    root, setting = workspace.location.worktree, workspace.settings.report_templates
    if not setting or "\0" in setting:
        return None
    folder = Path(setting)
    if not folder.is_absolute():
        if root is None:
            return None
        folder = Path(os.path.realpath(root / folder))
        if not folder.is_relative_to(os.path.realpath(root)):
            raise ConfigError(
                f"`{PREFIX}reportTemplates` is `{setting}`, which lies outside of the repository",
                hint="give its absolute path",
            )
    return folder if folder.is_dir() else None


def _decode(file: Path, data: bytes | None) -> str | None:
    if data is None:
        return None
    if len(data) > MAX_TEMPLATE:
        raise UsageError(f"`{file}` is longer than {MAX_TEMPLATE >> 10} KiB", hint="shorten the template")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise UsageError(f"`{file}` is not valid UTF-8", hint="save the template as UTF-8") from problem


def _parse_schema(name: str, text: str | None) -> Mapping[str, Any]:
    """Return the description of a template; that of one without a description has only its name."""
    if text is None:
        return {"name": name, "description": "", "language": "", "variables": {}, "example": {}}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"`{name}.md.json` is not valid JSON: {problem}", hint="correct or remove it") from problem
    if not isinstance(value, dict):
        raise UsageError(f"`{name}.md.json` is not an object", hint='for example {"variables": {}}')
    return {**value, "name": name}
