"""Read the locations and records that an agent names, and render them."""

from collections.abc import Sequence

from gitmem.answering.answer import view_state
from gitmem.answering.readings import NameOptions, Reading, Source, collect, describe_trees, read_names
from gitmem.answering.repository_ids import RepositoryId
from gitmem.display import hides_text, note_hidden_text
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.excerpts import excerpt_block, excerpts_json
from gitmem.mcp.tools.json_output import dump
from gitmem.mcp.tools.text_output import MAX_NOTES, Block, render_blocks
from gitmem.resident.open_tree import OpenTree


def name_options(arguments: Arguments) -> NameOptions:
    """Return the options of a call."""
    return NameOptions(arguments["rev"], max(0, arguments["limit"]))


def read_from_index(tree: OpenTree, names: Sequence[str], options: NameOptions) -> Reading:
    """Read some names, with symbols and chunks from the index."""
    searcher = tree.searcher
    source = Source(searcher.indexed_tree, tree.reader, view_state(searcher), tree.notes)
    return read_names(tree.workspace, source, names, options)


def render_readings(readings: Sequence[Reading], ids: Sequence[RepositoryId], arguments: Arguments) -> str:
    """Return what was read as text or JSON. Raises: as `collect`."""
    excerpts, failures = collect(readings, ids)
    tree, notes = describe_trees(readings)
    hiding = [excerpt.heading for excerpt in excerpts if hides_text(excerpt.content)]
    notes = [*notes, note_hidden_text(hiding)] if hiding else notes
    problems = [f"{error.message}; {error.hint}" if error.hint else error.message for error in failures]
    if arguments["format"] == "json":
        return dump(excerpts_json(excerpts, tree, [*notes, *problems]))
    blocks = [excerpt_block(excerpt) for excerpt in excerpts]
    if len(notes) + len(problems) > MAX_NOTES:  # further notes are not shown, so the problems become a block
        blocks.insert(0, Block("unreadable", problems))
        problems = []
    return render_blocks(blocks, tree, [*notes, *problems], advice="read fewer lines")
