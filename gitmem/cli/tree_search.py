"""A search of trees from the command line: its text, its repositories, its output. Needs no click."""

import codecs
import os
from collections.abc import Sequence
from typing import Final

from gitmem.answering.search_query import MAX_QUERY, Query
from gitmem.cli import console
from gitmem.cli.answer_output import Format, answer_here, write_answer
from gitmem.cli.error_output import say
from gitmem.errors import ExitCode, UsageError
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.workspace import Workspace

_MOST_BYTES: Final = 4 * MAX_QUERY + 64
"""Bytes to read from standard input: more than a query of maximum length has in any encoding."""


def search_trees(
    workspace: Workspace | None, names: Sequence[str], query: Query, selection: TreeSelection, form: Format, *,
    refresh: bool,
) -> ExitCode:  # fmt: skip
    """Search the repositories of some names, without any the one of the current folder, and print the results."""
    if names:
        from gitmem.cli.federated_output import query_repositories  # most queries search one

        return query_repositories(workspace, names, query, selection, form, refresh=refresh)
    assert workspace is not None, "without names the repository is required"
    return write_answer(workspace, answer_here(workspace, query, selection, refresh=refresh), form)


def nested_names(
    workspace: Workspace | None, selection: TreeSelection, recurse: bool | None, *, is_default: bool
) -> list[str]:
    """Return names of the repository and those inside of it, if they are to be searched; without them, no names.

    The setting applies only if nothing else in the command selects repositories, revisions or paths of one.
    """
    is_working_tree = selection.is_working_tree
    if workspace is None or not (recurse or (is_default and is_working_tree and recurse is None)):
        return []
    if recurse is None and (workspace.settings.recurse_submodules != "true" or workspace.location.worktree is None):
        return []
    if not is_working_tree:
        hint = "leave out `--rev`, `--at`, `--staged` and `--changed`"
        raise UsageError("`--recurse-submodules` searches working trees", hint=hint)
    from gitmem.cli.nested_run import nested_folders  # most queries search one repository

    return nested_folders(workspace)


def read_query(words: Sequence[str], paths: Sequence[str] = ()) -> str:
    """Return the query: the words, or standard input for a single `-`. Raises UsageError if there is no text."""
    if not words:
        hint = "words come before `--`, paths behind it" if paths else 'gitmem query "where are cookies signed"'
        raise UsageError("the query is missing", hint=hint)
    from_stdin = list(words) == ["-"]
    data = _read_bounded() if from_stdin else os.fsencode(" ".join(words))
    try:
        # Input at the bound may be cut inside a character; only shorter input must be complete UTF-8.
        query, _ = codecs.utf_8_decode(data, "strict", len(data) < _MOST_BYTES)
    except UnicodeDecodeError as problem:
        raise UsageError("the query is binary data", hint="search in words or symbols, in UTF-8") from problem
    return query.strip() if from_stdin else query


def hint_at_paths(folder: str, words: Sequence[str]) -> None:
    """Print a hint if a word is an existing path: `grep` and git would take it for one."""
    path = next((word for word in words if os.path.lexists(os.path.join(folder, word))), "")  # noqa: PTH118
    if path:
        others = " ".join(word for word in words if word != path) or "TEXT"
        say(f"hint: `{path}` is a path; to search only there: gitmem query {others} -- {path}")


def _read_bounded() -> bytes:
    try:
        data = console.read_stdin(_MOST_BYTES)
    except OSError as problem:
        raise UsageError(f"standard input cannot be read: {problem.strerror}") from problem
    if data is None:
        raise UsageError("standard input is closed", hint='pass the query: gitmem query "where are cookies signed"')
    return data
