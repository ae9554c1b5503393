"""What an agent asks for by name: places in files of a tree, and records as they are now."""

from functools import cache

from gitmem.actions.forms import describe_view
from gitmem.actions.query import Request, view_state
from gitmem.errors import UsageError
from gitmem.mcp.arguments import Arguments
from gitmem.mcp.describe import dump
from gitmem.mcp.passages import Passage, passages_json, read_passages
from gitmem.mcp.places import read_place
from gitmem.mcp.recall import is_record_name, read_records
from gitmem.mcp.render import render_blocks
from gitmem.mcp.session import Opened
from gitmem.memory.conversations import GET_DEFAULT
from gitmem.memory.store import RecordStore
from gitmem.workspace import Workspace


def read_named(workspace: Workspace, tree: Opened | None, arguments: Arguments) -> str:
    """The text of every name; `tree` is there where one of them may be a file's."""
    rev = arguments["rev"]
    with RecordStore(workspace.location) as store:
        tip = cache(store.tip)  # asked of git, and only where a record is named

        def read(name: str) -> list[Passage]:
            if is_record_name(name):
                if rev:
                    raise UsageError(f"`{name}` is no file of a revision", hint=f"gitmem memory show --at REV {name}")
                return read_records(store, tip(), name, arguments["limit"] or GET_DEFAULT)
            assert tree is not None, "a tree is opened where a file is named"
            return [read_place(tree.searcher, tree.reader, name)]

        passages, problems = read_passages(arguments["ids"], read)
        memory = f"memory {(tip().commit or '')[:7]}" if tree is None else ""
    if tree is None:
        told, notes = memory, problems
    else:
        told, notes = describe_view(view_state(Request("get", rev=rev), tree.searcher)), [*tree.notes, *problems]
    if arguments["format"] == "json":
        return dump(passages_json(passages, told, notes))
    return render_blocks([passage.block() for passage in passages], told, notes, advice="ask for fewer lines")
