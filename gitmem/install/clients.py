"""Clients that can start the server, and what each is told, in its own file. Pure.

Entries are for a project and may be committed: they name the program, never a machine's own path.
"""

import tomllib
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from gitmem.errors import UsageError
from gitmem.install.json_edit import add_member, find_value, remove_member

NAME: Final = "gitmem"
_PLAIN: Final = {"command": NAME, "args": ["mcp"]}
_PLACED: Final = {"command": NAME, "args": ["-C", "${workspaceFolder}", "mcp"]}
"""For editors that start servers elsewhere than in the project."""


class Edit(NamedTuple):
    """How a file is changed: what it holds of ours (None, or what is there), and its text with it and without it.

    The text of a file that is not there is empty, and a file whose text becomes empty goes.
    """

    find: Callable[[str], Any]
    add: Callable[[str], str]
    remove: Callable[[str], str]
    ours: Any


class Client(NamedTuple):
    """A client: its name for people, its file from the root of the working tree, and the file of its instructions."""

    title: str
    file: str
    edit: Edit
    guide: str


def _json(path: Sequence[str], value: Any) -> Edit:
    where = (*path, NAME)
    return Edit(
        find=lambda text: find_value(text, where) if text.strip() else None,
        add=lambda text: add_member(text, where, value) if text.strip() else add_member("{}", where, value) + "\n",
        remove=lambda text: remove_member(text, where),
        ours=value,
    )


_TOML: Final = '[mcp_servers.gitmem]\ncommand = "gitmem"\nargs = ["mcp"]\n'


def _find_toml(text: str) -> Any:
    try:
        servers = tomllib.loads(text).get("mcp_servers", {})
    except tomllib.TOMLDecodeError as problem:
        raise UsageError(f"it is no TOML ({problem})") from problem
    return servers.get(NAME) if isinstance(servers, dict) else None


def _add_toml(text: str) -> str:
    block = _TOML.replace("\n", "\r\n") if "\r\n" in text else _TOML
    feed = "\r\n" if "\r\n" in text else "\n"
    if not text:
        return block
    return text + ("" if text.endswith("\n") else feed) + feed + block


def _remove_toml(text: str) -> str:
    for feed in ("\r\n", "\n"):
        before, block, after = text.partition(_TOML.replace("\n", feed))
        if block:
            return (before.removesuffix(feed) if before.endswith(feed * 2) else before) + after
    raise UsageError("the entry was changed by hand", hint="take [mcp_servers.gitmem] out yourself")


CLIENTS: Final = {
    "claude": Client("Claude Code", ".mcp.json", _json(["mcpServers"], _PLAIN), "CLAUDE.md"),
    "cursor": Client("Cursor", ".cursor/mcp.json", _json(["mcpServers"], _PLACED), "AGENTS.md"),
    "codex": Client("Codex", ".codex/config.toml", Edit(_find_toml, _add_toml, _remove_toml, _PLAIN), "AGENTS.md"),
    "vscode": Client("VS Code", ".vscode/mcp.json", _json(["servers"], {"type": "stdio", **_PLACED}), "AGENTS.md"),
    "zed": Client("Zed", ".zed/settings.json", _json(["context_servers"], {**_PLAIN, "env": {}}), "AGENTS.md"),
}

_BEGIN: Final = "<!-- gitmem:begin -->"
_END: Final = "<!-- gitmem:end -->"
_GUIDE: Final = f"""{_BEGIN}
## Finding code

Ask the `search` tool of gitmem (or `gitmem query "..."`) in words or with a symbol before using grep or reading whole
files. It answers with `path:first-last symbol` and the lines that matter, uncommitted work included; read on at the
line given. `related` finds code like that at a line, `rev` asks another commit, tag or branch.
{_END}
"""


def _find_guide(text: str) -> Any:
    begin, end = text.find(_BEGIN), text.find(_END)
    return text[begin : end + len(_END)] + "\n" if 0 <= begin < end else None


def _add_guide(text: str) -> str:
    if not text:
        return _GUIDE
    return text + ("" if text.endswith("\n") else "\n") + "\n" + _GUIDE


def _remove_guide(text: str) -> str:
    before, _, rest = text.partition(_BEGIN)
    after = rest.partition(_END)[2]
    return before.removesuffix("\n") + after.removeprefix("\n") if before.strip() else after.removeprefix("\n")


GUIDE: Final = Edit(_find_guide, _add_guide, _remove_guide, _GUIDE)
"""A short block of instructions for agents."""
