"""`gitmem doctor`: try everything gitmem needs here, and name a remedy for each failure."""

import os
import platform
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from gitmem import __version__
from gitmem.actions.hooks import read_state
from gitmem.actions.install import Installer
from gitmem.actions.status_cost import measure_status
from gitmem.display import count
from gitmem.distribution import conflict_remedy, find_conflicts
from gitmem.errors import GitmemError, NoIndex, NotARepository
from gitmem.freshness.run_log import FAILED, SHARING, read_entries
from gitmem.git.program import run_git
from gitmem.git.refspecs import find_fetching_remotes
from gitmem.install.clients import CLIENTS
from gitmem.install.hook_state import INSTALLED, OUTDATED, SKIPPED
from gitmem.memory.last_tip import find_lost_records
from gitmem.memory.record_paths import REFERENCE
from gitmem.permissions import iter_misfits
from gitmem.resident.running_server import ANSWERS, OTHER_VERSION, find_server
from gitmem.words import count_identifiers
from gitmem.workspace import Workspace, is_writable, open_snapshot, open_workspace, require_index

OK: Final = "ok"
WARN: Final = "warn"
FAIL: Final = "fail"

MIN_GIT: Final = (2, 31)
"""Oldest supported git: the first with `rev-parse --path-format`."""

MIN_FREE_BYTES: Final = 200 << 20
_SAMPLES: Final = {
    "python": b"def f(x):\n    return x\n",
    "typescript": b"function f(x: number) { return x }\n",
    "rust": b"fn f(x: u8) -> u8 { x }\n",
    "markdown": b"# f\n\ntext\n",
}


@dataclass(frozen=True, slots=True)
class Check:
    """Result of one check: its name, OK, WARN or FAIL, a message, and a command that repairs it, if there is one."""

    name: str
    state: str
    message: str
    remedy: str = ""


def examine(folder: Path, environment: Mapping[str, str]) -> list[Check]:
    """Run every check. A check comes after those it depends on."""
    return [*examine_installation(), *examine_repository(folder, environment)]


def examine_installation() -> list[Check]:
    """Check what gitmem consists of and needs on this machine."""
    return [_check("versions", _versions), _check("conflicts", _conflicts), _check("git", _git),
            _check("model", _model), _check("grammars", _grammars), _check("worker", _worker),
            _check("graph", _graph)]  # fmt: skip


def examine_repository(folder: Path, environment: Mapping[str, str]) -> list[Check]:
    """Check a repository and its index."""
    try:
        workspace = open_workspace(folder, environment)
    except GitmemError as problem:
        state = WARN if isinstance(problem, NotARepository) else FAIL
        return [
            Check("repository", state, problem.message, problem.hint),
            _check("clients", lambda: _clients(Installer(None, environment))),
            _completion(environment),
        ]
    return [
        _check("repository", lambda: _repository(workspace)),
        _check("index", lambda: _index(workspace)),
        _check("git status", lambda: _git_status(workspace)),
        _check("memory", lambda: _memory(workspace)),
        _check("hooks", lambda: _hooks(workspace)),
        _check("clients", lambda: _clients(Installer(workspace.location, environment))),
        _check("background", lambda: _background(workspace)),
        _check("server", lambda: _server(workspace, environment)),
        _check("disk", lambda: _disk(workspace)),
        _completion(environment),
    ]


def _check(name: str, run: Callable[[], Check]) -> Check:
    """Run one check. An exception is a failed check, never a failed doctor."""
    # Each check imports the library it tries, so that a missing one fails its own check only.
    try:
        return run()
    except GitmemError as problem:
        return Check(name, FAIL, problem.message, problem.hint)
    except Exception as problem:  # a front end: every failure is reported as a check
        return Check(name, FAIL, f"{type(problem).__name__}: {problem}", "install gitmem again")


def _versions() -> Check:
    names = ("numpy", "onnxruntime", "tokenizers", "tree-sitter", "tree-sitter-language-pack", "pygit2")
    libraries = ", ".join(f"{name} {version(name)}" for name in names)
    return Check("versions", OK, f"gitmem {__version__}, Python {platform.python_version()}, {libraries}")


def _conflicts() -> Check:
    names = find_conflicts()
    if not names:
        return Check("conflicts", OK, "no other distribution owns modules or the command of gitmem")
    owner = "distribution" if len(names) == 1 else "distributions"
    message = f"files of gitmem also belong to the {owner} {', '.join(names)} of another project"
    return Check("conflicts", FAIL, message, conflict_remedy(names))


def _git() -> Check:
    version = run_git(["version"]).stdout.decode("utf-8", "replace").strip()
    match = re.search(r"(\d+)\.(\d+)", version)
    if match is None or (int(match[1]), int(match[2])) < MIN_GIT:
        # Compare numbers, not strings: 2.9 is older than 2.31.
        minimum = ".".join(map(str, MIN_GIT))
        return Check("git", FAIL, f"{version}, but gitmem needs {minimum} or newer", "install a newer git")
    return Check("git", OK, version)


def _model() -> Check:
    from gitmem.embedding.bundled import BundledEncoder
    from gitmem.identifier_counts import bag_texts

    encoder = BundledEncoder()
    encoder.check()
    # Texts and queries find their word pieces in different ways, and must get the same vector.
    text = encoder.encode(bag_texts([count_identifiers("read a file")]))
    query = encoder.encode_query(count_identifiers("read a file"))
    if abs(float(text.vectors[0] @ query) - 1.0) > 0.01:
        return Check("model", FAIL, "query and text embeddings of the same words differ", "install gitmem again")
    return Check("model", OK, f"{encoder.fingerprint}, {encoder.dimensions} dimensions, SHA-256 as in its card")


def _grammars() -> Check:
    from gitmem.chunking.chunk import chunk_blob

    failed = [name for name, code in _SAMPLES.items() if not chunk_blob(code, name).parsed]
    if failed:
        return Check("grammars", FAIL, f"no parse for {', '.join(failed)}", "pip install 'tree-sitter-language-pack<1'")
    return Check("grammars", OK, f"{', '.join(_SAMPLES)} parse without a network")


def _worker() -> Check:
    from gitmem.indexing.pool import Pool
    from gitmem.indexing.worker_protocol import BlobContent

    with Pool(1) as pool:
        results = list(pool.run([[BlobContent("python", _SAMPLES["python"])]]))
    # A worker that starts but returns nothing is as broken as one that does not start.
    rows = sum(len(part.labels) for parts in results for part in parts)
    if not rows:
        return Check("worker", FAIL, "the worker process returned no rows", "install gitmem again")
    return Check("worker", OK, "starts and answers")


def _graph() -> Check:
    from gitmem.store.graph import is_available

    if is_available():
        return Check("graph", OK, "hnswlib is installed; large indexes get a neighbour graph")
    return Check("graph", OK, "hnswlib is not available for this Python; search is exact")


def _repository(workspace: Workspace) -> Check:
    location = workspace.location
    form = "bare repository" if location.bare else "linked working tree" if location.linked else "working tree"
    extra = ", shallow" if location.shallow else ""
    return Check("repository", OK, f"{form} {location.worktree or location.git_dir}, {location.object_format}{extra}")


def _index(workspace: Workspace) -> Check:
    root = workspace.paths.root
    if not is_writable(root):
        return Check(
            "index", FAIL, f"`{root}` cannot be written", f"chmod u+w {root if root.exists() else root.parent}"
        )
    # No index is a warning, not a failure: doctor is often run before init.
    try:
        manifest = require_index(workspace)
    except NoIndex as problem:
        return Check("index", WARN, problem.message, "gitmem init")
    lost = open_snapshot(workspace, manifest).lost
    if lost:
        return Check("index", FAIL, lost[0], "gitmem index")
    # The index contains words of private code, so other users must not read it.
    readable_by_others = root.stat().st_mode & 0o077 and os.name != "nt"
    if readable_by_others:
        return Check("index", WARN, f"`{root}` can be read by other users", f"chmod 700 {root}")
    # As after the restore of a backup. The private folder hides them, but each copy of a file keeps its permissions.
    misfits = sum(1 for _ in iter_misfits(root)) if os.name != "nt" else 0
    if misfits:
        message = f"{misfits:,} files or folders in `{root}` have other permissions than 0600 and 0700"
        return Check("index", WARN, message, "gitmem gc")
    return Check(
        "index",
        OK,
        f"{root}, generation {manifest.generation}, {count(manifest.rows, 'chunk')}; check every byte: gitmem verify",
    )


def _git_status(workspace: Workspace) -> Check:
    if workspace.location.worktree is None:
        return Check("git status", OK, "not needed: the repository has no working tree")
    cost = measure_status(workspace)
    message = f"takes {cost.seconds:.2g} s of CPU time, in each query without a running `gitmem watch` or `gitmem mcp`"
    if cost.untracked:
        message += f"; {cost.untracked:.2g} s of it look for untracked files"
    return Check("git status", WARN if cost.remedy else OK, message, cost.remedy)


def _memory(workspace: Workspace) -> Check:
    lost = find_lost_records(workspace.location)
    if lost is not None:
        return Check("memory", FAIL, lost.problem, lost.remedy)
    remotes = find_fetching_remotes(workspace.location, REFERENCE)
    if remotes:
        # An excluded ref is neither overwritten nor pruned, in mirrors too.
        excluded = [f"git config --add remote.{remotes[0]}.fetch '^{pattern}'" for pattern in _EXCLUDED]
        message = f"a fetch of {', '.join(remotes)} replaces or prunes `{REFERENCE}`"
        return Check("memory", WARN, message, " && ".join(excluded))
    return Check("memory", OK, f"`{REFERENCE}` has all its last known records")


_EXCLUDED: Final = ("refs/gitmem/memory", "refs/gitmem-backup/*")


def _hooks(workspace: Workspace) -> Check:
    report = read_state(workspace)
    installed = report.events(INSTALLED)
    if len(installed) == len(report.states):
        return Check("hooks", OK, f"{', '.join(installed)}, in {report.location}")
    if not installed and not report.events(SKIPPED) and not report.events(OUTDATED):
        return Check("hooks", OK, "none: each query refreshes the index; to install them: gitmem hooks install")
    # A hook that another program owns is left alone on purpose; it needs advice, not an installation.
    others = [hook for hook in report.states if hook.state != INSTALLED]
    message = "; ".join(f"{hook.event} {hook.state}: {hook.detail}".removesuffix(": ") for hook in others)
    remedy = "gitmem hooks status" if {hook.state for hook in others} == {SKIPPED} else "gitmem hooks install"
    return Check("hooks", WARN, message, remedy)


def _clients(installer: Installer) -> Check:
    """Start the server of each client's entry as the client would."""
    entries = installer.list_entries()
    problems = installer.find_problems()
    if problems:
        # Nobody misses the entry of a client that is not installed: a colleague may have committed it.
        installed = set(installer.installed_clients())
        state = FAIL if any(problem.client in installed for problem in problems) else WARN
        remedies = dict.fromkeys(problem.remedy for problem in problems if problem.remedy)
        return Check("clients", state, "; ".join(problem.message for problem in problems), "; ".join(remedies))
    if not entries:
        return Check("clients", OK, "no client starts the server; to add it to one: gitmem install CLIENT")
    titles = dict.fromkeys(CLIENTS[entry.client].title for entry in entries if entry.is_trusted and entry.command)
    parts = [f"the server starts and answers for {', '.join(titles)}"] if titles else []
    others = [entry.file for entry in entries if not (entry.is_trusted and entry.command)]
    parts += [f"not started, because gitmem did not write them: the entries in {', '.join(others)}"] if others else []
    return Check("clients", OK, "; ".join(parts))


def _background(workspace: Workspace) -> Check:
    entries = read_entries(workspace.paths)
    if not entries:
        return Check("background", OK, "no runs yet")
    last = entries[-1]
    failed = [entry for entry in entries if entry.outcome == FAILED]
    message = f"last run {last.at}, {last.event}: {last.outcome}, {last.message}"
    if last.outcome == FAILED:
        return Check("background", WARN, message, "gitmem sync" if last.event == SHARING else "gitmem index")
    if failed:
        message += f"; {len(failed)} of the last {len(entries)} failed, at {failed[-1].at}: {failed[-1].message}"
    return Check("background", OK, message)


def _server(workspace: Workspace, environment: Mapping[str, str]) -> Check:
    """Say which process answers queries of the command line, if one does."""
    if workspace.settings.use_server != "true":
        return Check("server", OK, "off: gitmem.useServer is false")
    server = find_server(workspace.location, environment)
    if server is None:
        if workspace.settings.auto_serve == "true":
            return Check("server", OK, "none: the next query starts `gitmem serve` (gitmem.autoServe)")
        return Check(
            "server", OK, "none: each query starts from nothing; `gitmem watch` and `gitmem mcp` answer queries"
        )
    process = f"process {server.pid}" if server.pid else "a process"
    if server.state == ANSWERS:
        return Check("server", OK, f"`{server.command}`, {process}, answers queries")
    restart = f"end {process} and start it again"
    if server.state == OTHER_VERSION:
        return Check("server", WARN, f"`{server.command}`, {process}, is of version {server.version}", restart)
    return Check("server", WARN, f"the process at {server.path} does not answer", "end it: gitmem mcp or gitmem watch")


def _disk(workspace: Workspace) -> Check:
    root = workspace.paths.root
    # The folder may not exist yet; then its parent decides.
    free = shutil.disk_usage(root if root.exists() else root.parent).free
    message = f"{free / 1e9:.1f} GB free"
    return Check("disk", OK, message) if free >= MIN_FREE_BYTES else Check("disk", WARN, message, "gitmem gc")


def _completion(environment: Mapping[str, str]) -> Check:
    shell = Path(environment.get("SHELL", "")).name
    lines = {
        "bash": 'eval "$(gitmem completion bash)"  # in ~/.bashrc',
        "zsh": 'eval "$(gitmem completion zsh)"  # in ~/.zshrc',
        "fish": "gitmem completion fish > ~/.config/fish/completions/gitmem.fish",
    }
    return Check("completion", OK, lines.get(shell, "for bash, zsh and fish: gitmem completion --help"))
