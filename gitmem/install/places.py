"""Files of clients on this machine: resolve the paths of a place, and find the clients that are installed."""

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gitmem.errors import UsageError
from gitmem.install.clients import PROJECT, Client

_VARIABLE: Final = re.compile(r"\$\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\}")


def find_file(client: Client, scope: str, root: Path | None, environment: Mapping[str, str]) -> Path:
    """Return the file of a client in a scope, whether it exists or not. Links of the user are followed.

    Raises: UsageError in a bare repository, or without a home directory.
    """
    place = client.places[scope]
    if scope == PROJECT:
        if root is None:
            raise UsageError("a bare repository has no files for clients")
        paths = [root / file for file in place.files]
    else:
        # Many keep their settings in another folder and link to it: writing must not replace the link.
        paths = [Path(os.path.realpath(expand(file, environment))) for file in place.files]
    return next((path for path in paths if path.exists()), paths[0])


def expand(path: str, environment: Mapping[str, str]) -> Path:
    """Replace `~` and variables in a path. Raises UsageError without a home directory."""
    home = environment.get("HOME") or environment.get("USERPROFILE") or ""
    if not Path(home).is_absolute():
        raise UsageError("the files of clients are in the home directory, but HOME is not set")
    values = {name: value for name, value in environment.items() if value}
    values["APPLICATIONS"] = _application_folder(environment)
    expanded = _VARIABLE.sub(lambda match: values.get(match["name"], match["default"] or ""), path)
    return Path(home, expanded.removeprefix("~").lstrip("/")) if expanded.startswith("~") else Path(expanded)


def _application_folder(environment: Mapping[str, str]) -> str:
    """Return the folder in which graphical programs of this system keep their settings."""
    if sys.platform == "darwin":
        return "~/Library/Application Support"
    return environment.get("XDG_CONFIG_HOME") or "~/.config"


def is_installed(client: Client, environment: Mapping[str, str]) -> bool:
    """Return whether a client is installed: one of its programs is on PATH, or one of its folders exists."""
    search = environment.get("PATH", os.defpath)
    for sign in client.signs:
        exists = expand(sign, environment).is_dir() if "/" in sign else shutil.which(sign, path=search) is not None
        if exists:
            return True
    return False
