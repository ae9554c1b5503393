"""MCP clients that can start the server: one row each, with the places of its entries and their form. Pure data.

Entries in a project's files may be committed: they name the program, never an absolute path of one machine. Entries in
a user's own files contain the absolute path of the program, because such a client may search no PATH of a shell.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gitmem.install.entry_edit import GUIDE, JSON, TOML, YAML, Edit, make_edit
from gitmem.named_tuple import NamedTuple

NAME: Final = "gitmem"

PROJECT: Final = "project"
LOCAL: Final = "local"
GLOBAL: Final = "global"
SCOPES: Final = (LOCAL, PROJECT, GLOBAL)
"""Scopes of entries, the one that counts first: the user's own for this project, the project's, the user's for all."""

ROOT: Final = "$root"
"""Stands for the root of the working tree in a path of keys."""

# Stand for parts of the command in the form of an entry.
_PROGRAM: Final = "$program"
_ARGUMENTS: Final = "$arguments"
_COMMAND: Final = "$command"


class Place(NamedTuple):
    """Place of an entry: files in order of preference, and the keys that lead to the servers.

    The first file that exists counts, without one the first of the list. A path of a project's file is relative to the
    root of its working tree. A user's path begins with `~` or a variable, which may have a default: `${NAME:-DEFAULT}`.
    """

    files: tuple[str, ...]
    keys: tuple[str, ...]


class Client(NamedTuple):
    """A client: its title, the form and places of its entries, and its file of instructions in a project.

    `signs` are programs and folders of which one exists if the client is installed. `next_step` says what the user must
    do before the client starts a server of its project. An entry with `needs_folder` names the folder to serve, because
    the client does not start servers there.
    """

    title: str
    form: Mapping[str, Any]
    places: Mapping[str, Place]
    signs: tuple[str, ...]
    format: str = JSON
    guide: str = "AGENTS.md"
    next_step: str = ""
    needs_folder: bool = False


_PLAIN: Final = {"command": _PROGRAM, "args": _ARGUMENTS}
_STDIO: Final = {"type": "stdio", **_PLAIN}
_SERVERS: Final = ("mcpServers",)
_FOLDER: Final = ("-C", "${workspaceFolder}")

CLIENTS: Final[Mapping[str, Client]] = {
    "claude": Client(
        "Claude Code",
        _PLAIN,
        {
            PROJECT: Place((".mcp.json",), _SERVERS),
            LOCAL: Place(("${CLAUDE_CONFIG_DIR:-~}/.claude.json",), ("projects", ROOT, *_SERVERS)),
            GLOBAL: Place(("${CLAUDE_CONFIG_DIR:-~}/.claude.json",), _SERVERS),
        },
        signs=("claude", "~/.claude"),
        guide="CLAUDE.md",
        next_step="Claude Code asks for approval when it starts next",
    ),
    "claude-desktop": Client(
        "Claude Desktop",
        _PLAIN,
        {GLOBAL: Place(("${APPLICATIONS}/Claude/claude_desktop_config.json",), _SERVERS)},
        signs=("${APPLICATIONS}/Claude",),
    ),
    "cursor": Client(
        "Cursor",
        _PLAIN,
        {PROJECT: Place((".cursor/mcp.json",), _SERVERS), GLOBAL: Place(("~/.cursor/mcp.json",), _SERVERS)},
        signs=("cursor", "~/.cursor"),
        next_step="enable the server in the settings of Cursor, under MCP",
        needs_folder=True,
    ),
    "codex": Client(
        "Codex",
        _PLAIN,
        {
            PROJECT: Place((".codex/config.toml",), ("mcp_servers",)),
            GLOBAL: Place(("${CODEX_HOME:-~/.codex}/config.toml",), ("mcp_servers",)),
        },
        signs=("codex", "${CODEX_HOME:-~/.codex}"),
        format=TOML,
        next_step="Codex reads it only in a project that you trust",
    ),
    "vscode": Client(
        "VS Code",
        _STDIO,
        {
            PROJECT: Place((".vscode/mcp.json",), ("servers",)),
            GLOBAL: Place(("${APPLICATIONS}/Code/User/mcp.json",), ("servers",)),
        },
        signs=("code", "${APPLICATIONS}/Code"),
        next_step="VS Code asks whether you trust the server",
        needs_folder=True,
    ),
    "zed": Client(
        "Zed",
        {**_PLAIN, "env": {}},
        {
            PROJECT: Place((".zed/settings.json",), ("context_servers",)),
            GLOBAL: Place(("${XDG_CONFIG_HOME:-~/.config}/zed/settings.json",), ("context_servers",)),
        },
        signs=("zed", "${XDG_CONFIG_HOME:-~/.config}/zed"),
        next_step="Zed reads it only in a worktree that you trust",
    ),
    "gemini": Client(
        "Gemini CLI",
        _PLAIN,
        {PROJECT: Place((".gemini/settings.json",), _SERVERS), GLOBAL: Place(("~/.gemini/settings.json",), _SERVERS)},
        signs=("gemini", "~/.gemini"),
        guide="GEMINI.md",
        next_step="Gemini CLI starts it only in a folder that you trust",
    ),
    "opencode": Client(
        "opencode",
        {"type": "local", "command": _COMMAND, "enabled": True},
        {
            PROJECT: Place(("opencode.json", "opencode.jsonc"), ("mcp",)),
            GLOBAL: Place(
                tuple(f"${{XDG_CONFIG_HOME:-~/.config}}/opencode/opencode.{end}" for end in ("json", "jsonc")),
                ("mcp",),
            ),
        },
        signs=("opencode", "${XDG_CONFIG_HOME:-~/.config}/opencode"),
    ),
    "copilot": Client(
        "Copilot CLI",
        {"type": "local", **_PLAIN, "tools": ["*"]},
        {
            PROJECT: Place((".github/mcp.json",), _SERVERS),
            GLOBAL: Place(("${COPILOT_HOME:-~/.copilot}/mcp-config.json",), _SERVERS),
        },
        signs=("copilot", "${COPILOT_HOME:-~/.copilot}"),
        next_step="Copilot CLI reads it only in a folder that you trust",
    ),
    "windsurf": Client(
        "Windsurf",
        _PLAIN,
        {GLOBAL: Place(("~/.codeium/windsurf/mcp_config.json",), _SERVERS)},
        signs=("windsurf", "~/.codeium/windsurf"),
    ),
    "cline": Client(
        "Cline",
        {"transport": _STDIO},
        {GLOBAL: Place(("${CLINE_DIR:-~/.cline}/data/settings/cline_mcp_settings.json",), _SERVERS)},
        signs=("cline", "${CLINE_DIR:-~/.cline}"),
    ),
    "kiro": Client(
        "Kiro",
        _PLAIN,
        {
            PROJECT: Place((".kiro/settings/mcp.json",), _SERVERS),
            GLOBAL: Place(("~/.kiro/settings/mcp.json",), _SERVERS),
        },
        signs=("kiro", "kiro-cli", "~/.kiro"),
    ),
    "jetbrains": Client(
        "JetBrains Junie",
        _PLAIN,
        {
            PROJECT: Place((".junie/mcp/mcp.json",), _SERVERS),
            GLOBAL: Place(("${JUNIE_HOME:-~/.junie}/mcp/mcp.json",), _SERVERS),
        },
        signs=("junie", "${JUNIE_HOME:-~/.junie}", "${APPLICATIONS}/JetBrains"),
        next_step="AI Assistant has no file: paste the entry in Settings | Tools | AI Assistant | MCP",
    ),
    "goose": Client(
        "Goose",
        {"name": NAME, "type": "stdio", "enabled": True, "cmd": _PROGRAM, "args": _ARGUMENTS, "timeout": 300},
        {GLOBAL: Place(("${XDG_CONFIG_HOME:-~/.config}/goose/config.yaml",), ("extensions",))},
        signs=("goose", "${XDG_CONFIG_HOME:-~/.config}/goose"),
        format=YAML,
    ),
    "amp": Client(
        "Amp",
        _PLAIN,
        {
            PROJECT: Place((".amp/settings.json", ".amp/settings.jsonc"), ("amp.mcpServers",)),
            GLOBAL: Place(
                tuple(f"${{XDG_CONFIG_HOME:-~/.config}}/amp/settings.{end}" for end in ("json", "jsonc")),
                ("amp.mcpServers",),
            ),
        },
        signs=("amp", "${XDG_CONFIG_HOME:-~/.config}/amp"),
        next_step=f"approve it once: amp mcp approve {NAME}",
    ),
}

GUIDE_EDIT: Final = make_edit(GUIDE, (), None)
"""Block of instructions in a client's guide."""


def entry_keys(place: Place, root: str) -> tuple[str, ...]:
    """Return the keys that lead to the entry in a file of this place."""
    return (*(root if key == ROOT else key for key in place.keys), NAME)


def make_entry(client: Client, scope: str, program: Sequence[str]) -> Any:
    """Return the entry that starts a program as the server."""
    folder = _FOLDER if client.needs_folder and scope == PROJECT else ()
    return _fill(client.form, [*program, *folder, "mcp"])


def entry_edit(client: Client, scope: str, root: str, program: Sequence[str] = (NAME,)) -> Edit:
    """Return the edit that adds or removes the entry for a program."""
    return make_edit(client.format, entry_keys(client.places[scope], root), make_entry(client, scope, program))


def _fill(form: Any, command: Sequence[str]) -> Any:
    if isinstance(form, Mapping):
        return {key: _fill(value, command) for key, value in form.items()}
    parts = {_PROGRAM: command[0], _ARGUMENTS: list(command[1:]), _COMMAND: list(command)}
    return parts.get(form, form) if isinstance(form, str) else form


def read_command(client: Client, entry: Any) -> list[str] | None:
    """Return the command of an entry, None if it starts none, for example because it names an address."""
    found: dict[str, Any] = {}
    _match(client.form, entry, found)
    command = found.get(_COMMAND) or [found.get(_PROGRAM), *(found.get(_ARGUMENTS) or [])]
    is_command = isinstance(command, list) and all(isinstance(part, str) for part in command)
    return command if is_command else None


def _match(form: Any, entry: Any, found: dict[str, Any]) -> None:
    """Collect the parts of the command from an entry; other members do not matter."""
    if isinstance(form, Mapping) and isinstance(entry, Mapping):
        for key, value in form.items():
            _match(value, entry.get(key), found)
    elif isinstance(form, str) and form.startswith("$"):
        found[form] = entry
