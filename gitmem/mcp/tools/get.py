"""What an agent asks for by name: places in files of a tree, and records as they are now."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from gitmem.answering.answer import view_state
from gitmem.answering.answer_json import describe_view
from gitmem.errors import GitmemError, UsageError
from gitmem.mcp.open_repository import OpenTree
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.excerpts import Excerpt, excerpts_json, read_excerpts
from gitmem.mcp.tools.file_excerpts import read_file_excerpt
from gitmem.mcp.tools.json_output import dump
from gitmem.mcp.tools.record_excerpts import is_record_name, read_records
from gitmem.mcp.tools.text_output import Block, render_blocks
from gitmem.memory.conversation import GET_DEFAULT
from gitmem.memory.record_store import RecordStore
from gitmem.workspace import Workspace


def read_named(workspace: Workspace, tree: OpenTree | None, arguments: Arguments) -> str:
    """The text of every name; `tree` is there where one of them may be a file's."""
    rev = arguments["rev"]
    with RecordStore(workspace.location) as store:
        tip = cache(store.tip)  # asked of git, and only where a record is named

        def find(name: str) -> list[Excerpt]:
            if is_record_name(name):
                if rev:
                    raise UsageError(f"`{name}` is no file of a revision", hint=f"gitmem memory show --at REV {name}")
                return read_records(store, tip(), name, arguments["limit"] or GET_DEFAULT)
            assert tree is not None, "a tree is opened where a file is named"
            return [read_file_excerpt(tree.searcher, tree.reader, name)]

        def read(name: str) -> list[Excerpt]:
            try:
                return find(name)
            except GitmemError as problem:
                failed.append((name, problem))
                raise

        failed: list[tuple[str, GitmemError]] = []
        try:
            passages, problems = read_excerpts(arguments["ids"], read)
        except GitmemError as problem:
            raise _together(failed, problem) from None
        memory = f"memory {(tip().commit or '')[:7]}" if tree is None else ""
    if tree is None:
        told, notes = memory, problems
    else:
        told, notes = describe_view(view_state(tree.searcher)), [*tree.notes, *problems]
    if arguments["format"] == "json":
        return dump(excerpts_json(passages, told, notes))
    blocks = [passage.block() for passage in passages]
    if len(notes) > _MOST_NOTES:  # those behind would not be told
        notes = notes[: len(notes) - len(problems)]
        blocks.insert(0, Block("what is not there", problems))
    return render_blocks(blocks, told, notes, advice="ask for fewer lines")


_MOST_NOTES: Final = 5
_LINE: Final = 450
"""Characters: longer lines of an error are cut."""


def _together(failed: Sequence[tuple[str, GitmemError]], last: GitmemError) -> GitmemError:
    """One error that tells of every name; names of which the same is to be said share its lines."""
    if len(failed) < 2:
        return last
    names: dict[str, list[str]] = {}
    for name, problem in failed:
        names.setdefault(problem.message.replace(f"`{name}`", _NAME), []).append(f"`{name}`")
    lines = [line for words, told in names.items() for line in _lines(words, list(dict.fromkeys(told)))]
    hints = dict.fromkeys(problem.hint for _, problem in failed if problem.hint)
    return type(last)("\n".join(lines), hint="; ".join(hints))


_NAME: Final = "\0"


def _lines(words: str, names: Sequence[str]) -> list[str]:
    """The same said of several names, in lines that are not too long."""
    if _NAME not in words:
        return [words]
    groups: list[str] = []
    for name in names:
        if groups and len(words) + len(groups[-1]) + len(name) < _LINE:
            groups[-1] += f", {name}"
        else:
            groups.append(name)
    return [words.replace(_NAME, group) for group in groups]
