"""`doctor`: try everything gitmem needs on this machine and here; for what fails, name the command that mends it."""

import os
import platform
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitmem import __version__
from gitmem.errors import GitmemError, NoIndex, NotARepository
from gitmem.git.program import run_git
from gitmem.workspace import Workspace, is_writable, open_workspace, require_index

OK: Final = "ok"
WARN: Final = "warn"
FAIL: Final = "fail"

LEAST_GIT: Final = (2, 31)
"""`rev-parse --path-format` came with it."""

_LEAST_FREE_BYTES: Final = 200 << 20
_SAMPLES: Final = {
    "python": b"def f(x):\n    return x\n",
    "typescript": b"function f(x: number) { return x }\n",
    "rust": b"fn f(x: u8) -> u8 { x }\n",
    "markdown": b"# f\n\ntext\n",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One line: what was looked at, how it is, and the command that mends it where one does."""

    name: str
    state: str
    told: str
    mend: str = ""


def examine(folder: Path, environment: Mapping[str, str]) -> list[Check]:
    """Every check, in the order in which one stands on the other."""
    checks = [_check("versions", _versions), _check("conflicts", _conflicts), _check("git", _git),
              _check("model", _model), _check("grammars", _grammars), _check("worker", _worker),
              _check("graph", _graph)]  # fmt: skip
    try:
        workspace = open_workspace(folder, environment)
    except GitmemError as problem:
        state = WARN if isinstance(problem, NotARepository) else FAIL
        return [*checks, Check("repository", state, problem.message, problem.hint), _completion(environment)]
    return [
        *checks,
        _check("repository", lambda: _repository(workspace)),
        _check("index", lambda: _index(workspace)),
        _check("hooks", lambda: _hooks(workspace)),
        _check("background", lambda: _background(workspace)),
        _check("disk", lambda: _disk(workspace)),
        _completion(environment),
    ]


def _check(name: str, look: Callable[[], Check]) -> Check:
    """Run one check; an error is its finding."""
    try:
        return look()
    except GitmemError as problem:
        return Check(name, FAIL, problem.message, problem.hint)
    except Exception as problem:  # a doctor reports whatever it meets
        return Check(name, FAIL, f"{type(problem).__name__}: {problem}", "install gitmem again")


def _versions() -> Check:
    from importlib.metadata import version

    names = ("numpy", "onnxruntime", "tokenizers", "tree-sitter", "tree-sitter-language-pack", "pygit2")
    told = ", ".join(f"{name} {version(name)}" for name in names)
    return Check("versions", OK, f"gitmem {__version__}, Python {platform.python_version()}, {told}")


def _conflicts() -> Check:
    from gitmem.distribution import conflict_remedy, find_conflicts

    names = find_conflicts()
    if not names:
        return Check("conflicts", OK, "no other distribution owns modules or the command of gitmem")
    owner = "distribution" if len(names) == 1 else "distributions"
    message = f"files of gitmem also belong to the {owner} {', '.join(names)} of another project"
    return Check("conflicts", FAIL, message, conflict_remedy(names))


def _git() -> Check:
    told = run_git(["version"]).stdout.decode("utf-8", "replace").strip()
    found = re.search(r"(\d+)\.(\d+)", told)
    if found is None or (int(found[1]), int(found[2])) < LEAST_GIT:
        least = ".".join(map(str, LEAST_GIT))
        return Check("git", FAIL, f"{told}, but gitmem needs {least} or newer", "install a newer git")
    return Check("git", OK, told)


def _model() -> Check:
    from gitmem.embedding.bundled import BundledEncoder
    from gitmem.words import count_identifiers

    encoder = BundledEncoder()
    made = encoder.encode([count_identifiers("read a file")])
    asked = encoder.encode_query(count_identifiers("read a file"))
    if abs(float(made.vectors[0] @ asked) - 1.0) > 0.01:
        return Check("model", FAIL, "the model gives a question another vector than a text", "install gitmem again")
    return Check("model", OK, f"{encoder.fingerprint}, {encoder.dimensions} dimensions, SHA-256 as its card says")


def _grammars() -> Check:
    from gitmem.chunking.chunk import chunk_blob

    failed = [name for name, code in _SAMPLES.items() if not chunk_blob(code, name).parsed]
    if failed:
        return Check("grammars", FAIL, f"no parse for {', '.join(failed)}", "pip install 'tree-sitter-language-pack<1'")
    return Check("grammars", OK, f"{', '.join(_SAMPLES)} parse without a network")


def _worker() -> Check:
    from gitmem.indexing.pool import Pool

    with Pool(1) as pool:
        results = list(pool.run([[("python", _SAMPLES["python"])]]))
    rows = sum(len(part["symbols"]) for parts in results for part in parts)
    if not rows:
        return Check("worker", FAIL, "the worker process gave nothing back", "install gitmem again")
    return Check("worker", OK, "starts and answers")


def _graph() -> Check:
    from gitmem.store.graph import is_available

    if is_available():
        return Check("graph", OK, "hnswlib is there; large indexes get a neighbour graph")
    return Check("graph", OK, "hnswlib is not installed for this Python: exact search is used")


def _repository(workspace: Workspace) -> Check:
    location = workspace.location
    what = "bare repository" if location.bare else "linked working tree" if location.linked else "working tree"
    extra = ", shallow" if location.shallow else ""
    return Check("repository", OK, f"{what} {location.worktree or location.git_dir}, {location.object_format}{extra}")


def _index(workspace: Workspace) -> Check:
    from gitmem.workspace import open_snapshot

    root = workspace.paths.root
    if not is_writable(root):
        return Check(
            "index", FAIL, f"`{root}` cannot be written", f"chmod u+w {root if root.exists() else root.parent}"
        )
    try:
        manifest = require_index(workspace)
    except NoIndex as problem:
        return Check("index", WARN, problem.message, "gitmem init")
    lost = open_snapshot(workspace, manifest).lost
    if lost:
        return Check("index", FAIL, lost[0], "gitmem index")
    open_to_others = root.stat().st_mode & 0o077 and os.name != "nt"
    if open_to_others:
        return Check("index", WARN, f"`{root}` can be read by other users", f"chmod 700 {root}")
    return Check(
        "index", OK, f"{root}, generation {manifest.generation}, {manifest.rows:,} chunks; whole: gitmem verify"
    )


def _hooks(workspace: Workspace) -> Check:
    from gitmem.actions.hooks import read_state
    from gitmem.install.hook_state import INSTALLED, LEFT, OUTDATED

    report = read_state(workspace)
    there = report.events(INSTALLED)
    if len(there) == len(report.states):
        return Check("hooks", OK, f"{', '.join(there)}, in {report.place}")
    if not there and not report.events(LEFT) and not report.events(OUTDATED):
        return Check("hooks", OK, "none: the index follows when a question is asked; to install: gitmem hooks install")
    others = [hook for hook in report.states if hook.state != INSTALLED]
    told = "; ".join(f"{hook.event} {hook.state}: {hook.told}".removesuffix(": ") for hook in others)
    mend = "gitmem hooks status" if {hook.state for hook in others} == {LEFT} else "gitmem hooks install"
    return Check("hooks", WARN, told, mend)


def _background(workspace: Workspace) -> Check:
    from gitmem.freshness.run_log import FAILED, read_entries

    entries = read_entries(workspace.paths)
    if not entries:
        return Check("background", OK, "no runs yet")
    last = entries[-1]
    failed = [entry for entry in entries if entry.outcome == FAILED]
    told = f"last run {last.at}, {last.event}: {last.outcome}, {last.message}"
    if last.outcome == FAILED:
        return Check("background", WARN, told, "gitmem index")
    if failed:
        told += f"; {len(failed)} of the last {len(entries)} failed, at {failed[-1].at}: {failed[-1].message}"
    return Check("background", OK, told)


def _disk(workspace: Workspace) -> Check:
    root = workspace.paths.root
    free = shutil.disk_usage(root if root.exists() else root.parent).free
    told = f"{free / 1e9:.1f} GB free"
    return Check(
        "disk", OK if free >= _LEAST_FREE_BYTES else WARN, told, "" if free >= _LEAST_FREE_BYTES else "gitmem gc"
    )


def _completion(environment: Mapping[str, str]) -> Check:
    shell = Path(environment.get("SHELL", "")).name
    lines = {
        "bash": 'eval "$(gitmem completion bash)"  # in ~/.bashrc',
        "zsh": 'eval "$(gitmem completion zsh)"  # in ~/.zshrc',
        "fish": "gitmem completion fish > ~/.config/fish/completions/gitmem.fish",
    }
    return Check("completion", OK, lines.get(shell, "for bash, zsh and fish: gitmem completion --help"))
