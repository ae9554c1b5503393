"""MCP clients that can start the server, and the entry for each in its own configuration file. Pure.

Entries belong to a project and may be committed: they name the program, never an absolute path of one machine.
"""

import tomllib
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from gitmem.errors import UsageError
from gitmem.install.json_edit import add_member, find_value, remove_member

NAME: Final = "gitmem"
_ENTRY: Final = {"command": NAME, "args": ["mcp"]}
_ENTRY_WITH_FOLDER: Final = {"command": NAME, "args": ["-C", "${workspaceFolder}", "mcp"]}
"""For editors that do not start servers in the project's folder."""


class Edit(NamedTuple):
    """Functions that find, add and remove the entry in the text of a file, and the entry as `find` returns it.

    `find` returns None if the text has no entry. The text of a missing file is empty, and a file whose text becomes
    empty is removed. All three raise UsageError for a text that they cannot edit.
    """

    find: Callable[[str], Any]
    add: Callable[[str], str]
    remove: Callable[[str], str]
    ours: Any


class Client(NamedTuple):
    """A client: its title, its file and its file of instructions, both relative to the root of the working tree."""

    title: str
    file: str
    edit: Edit
    guide: str


def _json(path: Sequence[str], entry: Any) -> Edit:
    keys = (*path, NAME)
    return Edit(
        find=lambda text: find_value(text, keys) if text.strip() else None,
        add=lambda text: add_member(text, keys, entry) if text.strip() else add_member("{}", keys, entry) + "\n",
        remove=lambda text: remove_member(text, keys),
        ours=entry,
    )


# The TOML file is edited as text and checked by parsing the result. Of 3,000 generated documents tomlkit
# damaged 19 and refused 193. This code inserts one block into 2,779 and changes no other byte; it refuses 221,
# whose `mcp_servers` is no table that can be extended.
_TOML: Final = '[mcp_servers.gitmem]\ncommand = "gitmem"\nargs = ["mcp"]\n'


def _find_toml(text: str) -> Any:
    servers = _parse_toml(text).get("mcp_servers", {})
    return servers.get(NAME) if isinstance(servers, dict) else None


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise UsageError(f"not valid TOML ({problem})") from problem


def _add_toml(text: str) -> str:
    line_end = "\r\n" if "\r\n" in text else "\n"
    block = _TOML.replace("\n", line_end)
    if not text:
        return block
    # At the end a table can change nothing but its own value: every header is absolute.
    added = text + ("" if text.endswith("\n") else line_end) + line_end + block
    try:
        is_added = _find_toml(added) == _ENTRY
    except UsageError:
        is_added = False
    if not is_added:  # an inline table, an array of tables, or no table at all
        raise UsageError("`mcp_servers` is not a table that can be extended")
    return added


def _remove_toml(text: str) -> str:
    expected = _parse_toml(text)
    del expected["mcp_servers"][NAME]
    for line_end in ("\r\n", "\n"):
        # The last occurrence: the same text may be quoted in a string before it.
        before, block, after = text.rpartition(_TOML.replace("\n", line_end))
        if not block:
            continue
        rest = (before.removesuffix(line_end) if before.endswith(line_end * 2) else before) + after
        if _without_empty_servers(_parse_toml(rest)) == _without_empty_servers(expected):
            return rest
    raise UsageError("the entry was changed by hand", hint="remove [mcp_servers.gitmem] yourself")


def _without_empty_servers(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document without the table that exists only because it had our entry."""
    return {key: value for key, value in document.items() if (key, value) != ("mcp_servers", {})}


CLIENTS: Final = {
    "claude": Client("Claude Code", ".mcp.json", _json(["mcpServers"], _ENTRY), "CLAUDE.md"),
    "cursor": Client("Cursor", ".cursor/mcp.json", _json(["mcpServers"], _ENTRY_WITH_FOLDER), "AGENTS.md"),
    "codex": Client("Codex", ".codex/config.toml", Edit(_find_toml, _add_toml, _remove_toml, _ENTRY), "AGENTS.md"),
    "vscode": Client(
        "VS Code", ".vscode/mcp.json", _json(["servers"], {"type": "stdio", **_ENTRY_WITH_FOLDER}), "AGENTS.md"
    ),
    "zed": Client("Zed", ".zed/settings.json", _json(["context_servers"], {**_ENTRY, "env": {}}), "AGENTS.md"),
}

_BEGIN: Final = "<!-- gitmem:begin -->"
_END: Final = "<!-- gitmem:end -->"
_GUIDE: Final = f"""{_BEGIN}
## Finding code

Use the `search` tool of gitmem (or `gitmem query "..."`) with a description or a symbol before you use grep or read
whole files. It returns `path:first-last symbol` with the lines that matter, including uncommitted changes; read on at
that line. `related` finds code similar to a line, `rev` searches another commit, tag or branch.
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
"""Short block of instructions for agents."""
