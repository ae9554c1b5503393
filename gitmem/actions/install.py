"""`gitmem install`: register the MCP server with agents' clients, list the entries, try them, and remove them."""

import shlex
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from gitmem.errors import StorageFailed, UnsafeIndex, UsageError
from gitmem.git.locate import RepositoryLocation
from gitmem.install.clients import (
    CLIENTS,
    GLOBAL,
    GUIDE_EDIT,
    LOCAL,
    NAME,
    PROJECT,
    SCOPES,
    entry_edit,
    entry_keys,
    make_entry,
    read_command,
)
from gitmem.install.connection import find_own_folder, find_program, try_connection
from gitmem.install.entry_edit import GUIDE
from gitmem.install.places import find_file, is_installed
from gitmem.install.registered_files import RECORD
from gitmem.install.registration import ADDED, CONFLICT, Target, find_entry, read_record, register, unregister
from gitmem.named_tuple import NamedTuple
from gitmem.registry import data_folder

DEFAULT: Final = "claude"
"""Client that `gitmem init` registers the server with."""

_USER_RECORD: Final = "clients.json"
_PRIVATE: Final = 0o600
_PUBLIC: Final = 0o644


class FileResult(NamedTuple):
    """A client's file and the result of the change."""

    file: str
    state: str

    def describe(self) -> str:
        """Return a line for the user, "" if nothing changed."""
        if self.state == ADDED:
            return self.file
        return f"{self.file} has another entry of this name, which was kept" if self.state == CONFLICT else ""


class ClientEntry(NamedTuple):
    """Entry of the server in a client's file. `command` is None if the entry starts no program.

    Only a trusted entry may be started. A file of a project may come from somebody else, so its entry is trusted only
    if it is the default one, or if it was recorded here.
    """

    client: str
    scope: str
    file: str
    command: list[str] | None
    is_recorded: bool
    is_trusted: bool


class Problem(NamedTuple):
    """Entry that does not start a server, the reason, and the command that repairs it."""

    client: str
    message: str
    remedy: str


class Installer:
    """Entries of clients in the files of one repository and of one user.

    `location` is None outside a repository; then only entries in GLOBAL scope exist.
    """

    def __init__(self, location: RepositoryLocation | None, environment: Mapping[str, str]) -> None:
        self._location = location
        self._environment = environment

    def install(
        self, name: str, scope: str = PROJECT, *, guide: bool = False, program: Sequence[str] = ()
    ) -> list[FileResult]:
        """Add the server to a client's file; with `guide` add a block to its file of instructions in the project.

        `program` is the command that starts gitmem. By default it is its name in a project, else its absolute path.

        Raises: UsageError if the client has no file of this scope, or if the file cannot be edited; StorageFailed.
        """
        client = CLIENTS[name]
        _require_place(name, scope)
        if scope == PROJECT and program and Path(program[0]).is_absolute():
            remedy = LOCAL if LOCAL in client.places else GLOBAL
            raise UsageError(
                f"the file of a project is shared, so it cannot name the path `{program[0]}`",
                hint=f"gitmem install {name} --{remedy} --command {shlex.quote(shlex.join(program))}",
            )
        results = [self._register(self._target(name, scope, program), _PUBLIC if scope == PROJECT else _PRIVATE)]
        if guide:
            file = self._root() / client.guide
            results.append(self._register(Target(file, GUIDE, (), GUIDE_EDIT.ours, name, PROJECT), _PUBLIC))
        return results

    def show(self, name: str, scope: str = PROJECT, *, guide: bool = False, program: Sequence[str] = ()) -> str:
        """Return the content of a client's files with nothing but the server."""
        client = CLIENTS[name]
        _require_place(name, scope)
        root = str(self._location.worktree) if self._location else ""
        edit = entry_edit(client, scope, root, program or self._program(scope))
        text = f"# {client.places[scope].files[0]}\n{edit.add('')}"
        return text + (f"\n# {client.guide}\n{GUIDE_EDIT.add('')}" if guide else "")

    def list_entries(self) -> list[ClientEntry]:
        """Return the entries of all clients, those of one client in the order in which they count.

        A file that cannot be read has no entries.
        """
        targets = [entry.target for file in self._records() for entry in read_record(file)]
        recorded = {(target.file, target.keys): target.value for target in targets}
        entries = []
        for name, client in CLIENTS.items():
            for scope in (scope for scope in SCOPES if scope in client.places):
                try:
                    target = self._target(name, scope)
                    value = find_entry(target)
                except (UsageError, StorageFailed):
                    continue
                if value is not None:
                    known = recorded.get((target.file, target.keys))
                    is_trusted = scope != PROJECT or value in (target.value, known)
                    command, file = read_command(client, value), self._shorten(target.file)
                    entries.append(ClientEntry(name, scope, file, command, known is not None, is_trusted))
        return entries

    def find_problems(self, names: Collection[str] = ()) -> list[Problem]:
        """Start the server of each client as the client would, and return the problems. All clients by default."""
        problems = []
        tried: dict[tuple[str, ...], str] = {}
        seen: set[str] = set()
        for entry in self.list_entries():
            # Of several entries, a client uses the first.
            if entry.client in seen or (names and entry.client not in names) or entry.command is None:
                continue
            seen.add(entry.client)
            if not entry.is_trusted:
                continue
            root = self._location.worktree if self._location and self._location.worktree else Path.cwd()
            command = tuple(part.replace("${workspaceFolder}", str(root)) for part in entry.command)
            if command not in tried:
                tried[command] = try_connection(command, root, self._environment)
            if tried[command]:
                message = f"{CLIENTS[entry.client].title} cannot start the server of {entry.file}: {tried[command]}"
                problems.append(Problem(entry.client, message, self._remedy(entry)))
        return problems

    def uninstall(self, names: Collection[str] = (), *, everywhere: bool = False) -> tuple[list[str], list[str]]:
        """Remove the recorded entries of clients, by default of all; return the changed files and the problems.

        `everywhere` means the entries in GLOBAL scope, otherwise those of this repository.
        """
        record = self._record(GLOBAL if everywhere else PROJECT)
        changed, problems = unregister(record, names)
        return [self._shorten(path) for path in changed], problems

    def installed_clients(self) -> list[str]:
        """Return the names of the clients that are installed on this machine."""
        return [name for name, client in CLIENTS.items() if is_installed(client, self._environment)]

    def _register(self, target: Target, mode: int) -> FileResult:
        return FileResult(self._shorten(target.file), register(self._record(target.scope), target, mode))

    def _target(self, name: str, scope: str, program: Sequence[str] = ()) -> Target:
        client = CLIENTS[name]
        root = self._root() if scope != GLOBAL else None
        file = find_file(client, scope, root, self._environment)
        value = make_entry(client, scope, program or self._program(scope))
        return Target(file, client.format, entry_keys(client.places[scope], str(root)), value, name, scope)

    def _program(self, scope: str) -> list[str]:
        return [NAME] if scope == PROJECT else find_program(self._environment)

    def _root(self) -> Path:
        if self._location is None:
            raise UsageError("not in a repository", hint="gitmem install CLIENT --global")
        if self._location.worktree is None:
            raise UsageError("a bare repository has no files for clients")
        return self._location.worktree

    def _record(self, scope: str) -> Path:
        if scope != GLOBAL:
            if self._location is None:
                raise UsageError("not in a repository", hint="gitmem install CLIENT --global")
            return self._location.common_dir / RECORD
        folder = data_folder(self._environment)
        if folder is None:
            raise UsageError("the files of clients are in the home directory, but HOME is not set")
        return folder / _USER_RECORD

    def _records(self) -> list[Path]:
        scopes = [PROJECT] * (self._location is not None) + [GLOBAL] * (data_folder(self._environment) is not None)
        return [self._record(scope) for scope in scopes]

    def _shorten(self, path: Path) -> str:
        """Return a path relative to the working tree, or with `~`."""
        root = self._location.worktree if self._location else None
        if root is not None and path.is_relative_to(root):
            return str(path.relative_to(root))
        home = self._environment.get("HOME", "")
        return f"~/{path.relative_to(home)}" if home and path.is_relative_to(home) else str(path)

    def _remedy(self, entry: ClientEntry) -> str:
        """Return the command that registers this program by its path, in a file that is not shared."""
        if entry.scope != PROJECT:
            again = f"install {entry.client} --{entry.scope}"
            undo = f"uninstall {entry.client}" + (" --global" if entry.scope == GLOBAL else "")
            return f"gitmem {undo}, then gitmem {again}; or correct {entry.file}"
        program = find_program(self._environment)
        if LOCAL in CLIENTS[entry.client].places:
            is_on_path = shutil.which(NAME, path=self._environment.get("PATH")) is not None
            return f"{NAME if is_on_path else shlex.join(program)} install {entry.client} --{LOCAL}"
        # Other clients prefer the entry of the project to that of the user, so the name must lead to the program.
        folder = find_own_folder(self._environment)
        place = f"{shlex.quote(folder)}/" if folder else "FOLDER/, with a FOLDER of your PATH"
        return f"ln -s {shlex.quote(program[0])} {place}"


def _require_place(name: str, scope: str) -> None:
    places = CLIENTS[name].places
    if scope not in places:
        others = " or ".join(f"gitmem install {name} --{other}" for other in places if other != PROJECT)
        raise UsageError(
            f"{CLIENTS[name].title} has no file for {_SCOPE_TITLES[scope]}",
            hint=others if PROJECT not in places else f"gitmem install {name}",
        )


_SCOPE_TITLES: Final = {
    PROJECT: "a project",
    LOCAL: "one user in one project",
    GLOBAL: "all projects",
}


def register_project(installer: Installer) -> list[str]:
    """Register the server with Claude Code; return lines for the user, also if its file cannot be edited."""
    client = CLIENTS[DEFAULT]
    # A broken file of another program must not stop the indexing that `init` is about.
    try:
        results = installer.install(DEFAULT)
    except (UsageError, StorageFailed, UnsafeIndex) as problem:
        return [f"{client.title}: {problem.message}"]
    lines = [f"{client.title}: {line}" for result in results if (line := result.describe())]
    return [*lines, *([f"  {client.next_step}"] if any(result.state == ADDED for result in results) else [])]
