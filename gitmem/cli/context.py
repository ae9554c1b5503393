"""Shared by all commands: the repository they work in, `--quiet`, and JSON output."""

import os
import sys
from pathlib import Path

import click

from gitmem.workspace import Workspace, open_workspace


def open_here(ctx: click.Context, path: str = "") -> Workspace:
    """Open the repository of `-C`, or of a path relative to it."""
    return open_workspace(Path(ctx.obj["folder"]) / path, os.environ)


def is_quiet(ctx: click.Context) -> bool:
    """Return whether `-q` was given."""
    return bool(ctx.obj["quiet"])


def write_json(value: object) -> None:
    """Print a value as JSON in plain ASCII, which every output encoding can represent."""
    import json

    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def write_json_line(value: object) -> None:
    """Print a value as JSON on one line."""
    import json

    sys.stdout.write(json.dumps(value, separators=(",", ":")) + "\n")
