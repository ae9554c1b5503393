"""Values that complete the arguments and options of commands, by the names that `context.complete` takes."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

import click
from click.shell_completion import CompletionItem

from gitmem.chunking.languages import LANGUAGES
from gitmem.cli.command_group import CommandGroup
from gitmem.cli.completer import AFTER_DASHES
from gitmem.cli.root import COMMANDS
from gitmem.git.program import run_git
from gitmem.memory.document import SENSITIVITIES
from gitmem.memory.record_paths import REFERENCE
from gitmem.memory.visibility import VISIBILITIES
from gitmem.records.filters import RECORD_TYPES
from gitmem.registry import read_registry
from gitmem.types import CHUNK_TYPES
from gitmem.workspace import Workspace, open_workspace

MOST_VALUES: Final = 200
"""Largest number of values that are read from a repository."""

_NAMESPACES: Final = {"refs/heads": "branch", "refs/tags": "tag", "refs/remotes": "remote branch"}

Values = Iterable[CompletionItem]


def complete_value(kind: str, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Return the values of a kind that begin with the incomplete text. Raises GitmemError."""
    return list(_COMPLETERS[kind](ctx, incomplete))


def complete_commands(incomplete: str) -> list[CompletionItem]:
    """Return the commands of gitmem, without importing them."""
    return list(from_words(COMMANDS, incomplete))


def from_words(words: Iterable[str] | Mapping[str, str], incomplete: str) -> Iterator[CompletionItem]:
    """Yield the words that begin with a text; a mapping adds their descriptions."""
    for word in words:
        if word.startswith(incomplete):
            yield CompletionItem(word, help=words[word] if isinstance(words, Mapping) else None)


def _files(_: click.Context, incomplete: str) -> Values:
    return [CompletionItem(incomplete, type="file")]


def _folders(_: click.Context, incomplete: str) -> Values:
    return [CompletionItem(incomplete, type="dir")]


def _query_words(ctx: click.Context, incomplete: str) -> Values:
    """Complete a file name behind `--`. Words of a query are free text."""
    return _files(ctx, incomplete) if ctx.meta.get(AFTER_DASHES) else []


def _open(ctx: click.Context) -> Workspace:
    return open_workspace(Path(ctx.find_root().params.get("folder") or "."), os.environ)


def _revisions(ctx: click.Context, incomplete: str) -> Values:
    location = _open(ctx).location
    args = ["for-each-ref", f"--count={MOST_VALUES * 10}", "--sort=-creatordate", "--format=%(refname)", *_NAMESPACES]
    refs = os.fsdecode(run_git(args, git_dir=location.git_dir).stdout).splitlines()
    names = {"HEAD": "current commit"}
    for namespace, description in _NAMESPACES.items():
        names |= {ref[len(namespace) + 1 :]: description for ref in refs if ref.startswith(f"{namespace}/")}
    return from_words(names, incomplete)


def _memory_refs(ctx: click.Context, incomplete: str) -> Values:
    """Complete the full name of a ref with the memory of another clone."""
    args = ["for-each-ref", "--format=%(refname)", "refs/gitmem"]
    refs = os.fsdecode(run_git(args, git_dir=_open(ctx).location.git_dir).stdout).splitlines()
    return from_words([ref for ref in refs if ref != REFERENCE], incomplete)


def _ranges(ctx: click.Context, incomplete: str) -> Values:
    """Complete both ends of `A..B`."""
    for dots in ("...", ".."):
        left, found, right = incomplete.partition(dots)
        if found:
            return [CompletionItem(left + dots + item.value, help=item.help) for item in _revisions(ctx, right)]
    return [CompletionItem(f"{item.value}..", type="part") for item in _revisions(ctx, incomplete)]


def _tree_paths(ctx: click.Context, incomplete: str) -> Values:
    """Complete a path from the root of the working tree, as the globs of `--path` have it."""
    root = _open(ctx).location.worktree
    sign = incomplete[: len(incomplete) - len(incomplete.lstrip("!/"))]
    folder, slash, start = incomplete[len(sign) :].rpartition("/")
    if root is None:
        return
    with os.scandir(root / folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name)[: MOST_VALUES * 10]:
            hidden = entry.name.startswith(".") and not start.startswith(".")
            if entry.name.startswith(start) and not hidden and entry.name != ".git":
                path = sign + folder + slash + entry.name
                yield CompletionItem(f"{path}/", type="part") if entry.is_dir() else CompletionItem(path)


def _repositories(_: click.Context, incomplete: str) -> Values:
    return from_words({item.name: str(item.path) for item in read_registry(os.environ)}, incomplete)


def _command_names(ctx: click.Context, incomplete: str) -> Values:
    """Complete the arguments of `gitmem help`."""
    names = ctx.params.get("names") or ()
    if not names:
        return complete_commands(incomplete)
    group = ctx.find_root().command
    command = group.get_command(ctx, names[0]) if isinstance(group, click.Group) else None
    if len(names) > 1 or not isinstance(command, CommandGroup):
        return ()
    return from_words({name: part.get_short_help_str(80) for name, part in command.commands.items()}, incomplete)


def _of_memory(name: str) -> Callable[[click.Context, str], Values]:
    """Return a completer of `completion_memory`, which loads the index of the memory and is slow to import."""

    def complete(ctx: click.Context, incomplete: str) -> Values:
        completer: Callable[[Workspace, str], Values] = getattr(import_module("gitmem.cli.completion_memory"), name)
        return completer(_open(ctx), incomplete)

    return complete


def _choices(words: Iterable[str]) -> Callable[[click.Context, str], Values]:
    return lambda _, incomplete: from_words(words, incomplete)


_COMPLETERS: Final[Mapping[str, Callable[[click.Context, str], Values]]] = {
    "chunk types": _choices(CHUNK_TYPES),
    "commands": _command_names,
    "conversations": _of_memory("conversations"),
    "documents": _of_memory("documents"),
    "files": _files,
    "folders": _folders,
    "languages": _choices(sorted(LANGUAGES)),
    "memory refs": _memory_refs,
    "memory revisions": _of_memory("memory_revisions"),
    "query words": _query_words,
    "ranges": _ranges,
    "record types": _choices(RECORD_TYPES),
    "records": _of_memory("records"),
    "repositories": _repositories,
    "revisions": _revisions,
    "sensitivities": _choices(SENSITIVITIES),
    "tree paths": _tree_paths,
    "visibilities": _choices(VISIBILITIES),
}
