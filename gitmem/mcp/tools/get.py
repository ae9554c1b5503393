"""Read the locations and records that a call of `get` names; report all names that cannot be read."""

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from gitmem.answering.answer import ViewState, view_state
from gitmem.answering.answer_json import describe_view
from gitmem.answering.file_chunks import chunk_file
from gitmem.answering.location_lookup import IndexedTree
from gitmem.answering.symbol_lookup import SymbolChunk
from gitmem.answering.tree_files import read_tree_files
from gitmem.display import hides_text, note_hidden_text
from gitmem.errors import GitmemError, UsageError
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.excerpts import Excerpt, excerpts_json
from gitmem.mcp.tools.file_excerpts import read_file_excerpt
from gitmem.mcp.tools.json_output import dump
from gitmem.mcp.tools.record_excerpts import is_record_name, read_records
from gitmem.mcp.tools.text_output import MAX_NOTES, Block, render_blocks
from gitmem.memory.conversation import GET_DEFAULT
from gitmem.memory.record_store import RecordStore
from gitmem.resident.open_repository import OpenTree
from gitmem.workspace import Workspace

_MAX_LINE: Final = 450
"""Characters of a line of an error: the server shortens longer ones."""

_NAME: Final = "\0"
"""Placeholder of a name in a message."""


class _Failure(NamedTuple):
    name: str
    error: GitmemError


class _Source(NamedTuple):
    """Tree that names of files are read from, with its state and notes for the answer."""

    tree: IndexedTree
    reader: ObjectReader
    state: ViewState
    notes: Sequence[str]


def read_from_index(tree: OpenTree, arguments: Arguments) -> str:
    """Return the text of all names, with symbols and chunks from the index. Raises as `read_without_tree`."""
    searcher = tree.searcher
    source = _Source(searcher.indexed_tree, tree.reader, view_state(searcher), tree.notes)
    return _read_excerpts(tree.workspace, source, arguments)


def read_from_git(
    workspace: Workspace, selection: TreeSelection, arguments: Arguments, notes: Sequence[str] = ()
) -> str:
    """Return the text of all names without the index; `notes` are added to the answer.

    Raises as `read_without_tree`.
    """
    files = read_tree_files(workspace, selection)
    with open_reader(files.location, bulk=False, files=files.files) as reader:

        def chunk(entry: int) -> list[SymbolChunk]:
            return chunk_file(files.paths.view, entry, reader, workspace.settings)

        tree = files.paths._replace(chunk_file=cache(chunk))
        return _read_excerpts(workspace, _Source(tree, reader, files.state, [*files.notes, *notes]), arguments)


def read_without_tree(workspace: Workspace, arguments: Arguments) -> str:
    """Return the text of names that are all records.

    Raises: the error of all names together, if none can be read.
    """
    return _read_excerpts(workspace, None, arguments)


def _read_excerpts(workspace: Workspace, source: _Source | None, arguments: Arguments) -> str:
    excerpts: list[Excerpt] = []
    failures: list[_Failure] = []
    with RecordStore(workspace.location) as store:
        tip = cache(store.tip)  # read from git once, and only if a record is named
        for name in arguments["ids"]:
            try:
                if is_record_name(name):
                    _refuse_revision(name, arguments["rev"])
                    excerpts += read_records(store, tip(), name, arguments["limit"] or GET_DEFAULT)
                else:
                    assert source is not None, "a tree is opened for names of files"
                    excerpts.append(read_file_excerpt(source.tree, source.reader, name))
            except GitmemError as error:
                failures.append(_Failure(name, error))
        if len(failures) == len(arguments["ids"]):
            raise _combine(failures)
        commit = tip().commit or "" if source is None else ""
    if source is None:
        return _render(excerpts, failures, f"memory {commit[:7]}", [], arguments)
    return _render(excerpts, failures, describe_view(source.state), source.notes, arguments)


def _refuse_revision(name: str, rev: str) -> None:
    if rev:
        raise UsageError(f"`rev` does not apply to the record `{name}`", hint=f"gitmem memory show --at REV {name}")


def _render(
    excerpts: Sequence[Excerpt], failures: Sequence[_Failure], tree: str, notes: Sequence[str], arguments: Arguments
) -> str:
    hiding = [excerpt.heading for excerpt in excerpts if hides_text(excerpt.content)]
    notes = [*notes, note_hidden_text(hiding)] if hiding else notes
    problems = [f"{error.message}; {error.hint}" if error.hint else error.message for _, error in failures]
    if arguments["format"] == "json":
        return dump(excerpts_json(excerpts, tree, [*notes, *problems]))
    blocks = [excerpt.to_block() for excerpt in excerpts]
    if len(notes) + len(problems) > MAX_NOTES:  # further notes are not shown, so the problems become a block
        blocks.insert(0, Block("unreadable", problems))
        problems = []
    return render_blocks(blocks, tree, [*notes, *problems], advice="read fewer lines")


def _combine(failures: Sequence[_Failure]) -> GitmemError:
    """Return one error for all names; names with the same problem share a line."""
    last = failures[-1].error
    if len(failures) == 1:
        return last
    names: dict[str, list[str]] = {}
    for name, error in failures:
        names.setdefault(error.message.replace(f"`{name}`", _NAME), []).append(f"`{name}`")
    lines = [line for message, group in names.items() for line in _fill_in(message, list(dict.fromkeys(group)))]
    hints = dict.fromkeys(error.hint for _, error in failures if error.hint)
    return type(last)("\n".join(lines), hint="; ".join(hints))


def _fill_in(message: str, names: Sequence[str]) -> list[str]:
    """Put names into a message, as many in each line as the server shows."""
    if _NAME not in message:
        return [message]
    groups: list[str] = []
    for name in names:
        if groups and len(message) + len(groups[-1]) + len(name) < _MAX_LINE:
            groups[-1] += f", {name}"
        else:
            groups.append(name)
    return [message.replace(_NAME, group) for group in groups]
