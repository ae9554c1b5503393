"""Handlers of the tools of toolset `history`. `when` and `changes` read commits, and need no index."""

from collections.abc import Callable, Mapping
from typing import Final

from gitmem.answering.bisect_hint import read_bisect_hint
from gitmem.answering.element_history import DatedChange, ElementHistory, read_element_history
from gitmem.answering.history_json import former_place, history_json, kinds_of
from gitmem.answering.past_hit import PastHit
from gitmem.answering.past_json import describe_past, life_lines, no_past, past_json
from gitmem.answering.past_search import PastAnswer, PastQuery, search_past
from gitmem.answering.range_changes import (
    changes_json,
    changes_lines,
    describe_range,
    fit_changes,
    read_range_changes,
)
from gitmem.answering.range_suspects import Suspect
from gitmem.answering.search_query import Query, SearchFilters
from gitmem.answering.suspects_json import chunk_lines, describe_hint, hint_json
from gitmem.display import count, format_score, visible
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.json_output import dump, fit_values
from gitmem.mcp.tools.served_repositories import GetRepository
from gitmem.mcp.tools.text_output import Block, render_blocks, render_snippet
from gitmem.mcp.tools.token_estimate import estimate_tokens
from gitmem.mcp.tools.tool_call import BLAME_SECONDS, ToolCall
from gitmem.records.filters import parse_filters
from gitmem.secrets.masking import mask_text, mask_value

_DAY: Final = len("2026-01-31")
_SHORT: Final = 9


def when(get_repository: GetRepository, arguments: Arguments, call: ToolCall) -> str:
    """Return the history of the element at a location: its newest changes, and the one that introduced it."""
    workspace = get_repository(arguments["root"]).reopen()
    history = read_element_history(workspace, arguments["location"], arguments["rev"], check=call.check)
    changes, omitted = _newest(history.changes, arguments["limit"])
    notes = [*call.notes, *history.notes]
    if arguments["format"] == "json":
        value = mask_value(history_json(history._replace(changes=changes, notes=notes)))
        shown, more = fit_values(value["changes"])
        return dump({**value, "changes": shown, "omitted": omitted + more})
    if omitted:
        notes.append(f"{count(omitted, 'change')} before the last one not shown: ask with a higher limit")
    blocks = [Block(_heading(history), []), *map(_change_block, changes)]
    state = f"{count(len(history.changes), 'commit')}, from {visible(history.rev)} {history.commit[:_SHORT]}"
    return render_blocks(blocks, state, notes, "ask with a lower limit")


def changes(get_repository: GetRepository, arguments: Arguments, call: ToolCall) -> str:
    """Return the definitions that differ between two revisions, within a budget of tokens."""
    workspace = get_repository(arguments["root"]).reopen()
    found = read_range_changes(workspace, arguments["range"], arguments["query"], call.check)
    found = fit_changes(found, arguments["tokens"], estimate_tokens)
    notes = [*call.notes, *found.notes]
    if arguments["format"] == "json":
        value = mask_value(changes_json(found._replace(notes=notes)))
        shown, more = fit_values(value["changes"])
        return dump({**value, "changes": shown, "omitted": found.omitted + more})
    notes += [f"{count(found.omitted, 'change')} omitted"] if found.omitted else []
    blocks = [Block(mask_text(line), []) for line in changes_lines(found)]
    return render_blocks(blocks, describe_range(found), notes, "ask for fewer tokens")


def search_history(get_repository: GetRepository, arguments: Arguments, call: ToolCall) -> str:
    """Return definitions of the past, each with the interval in which it lived."""
    workspace = get_repository(arguments["root"]).reopen()
    records = parse_filters(since=arguments["since"], until=arguments["until"], author=arguments["author"])
    filters = SearchFilters(include=tuple(arguments["path"]), records=records)
    blame = BLAME_SECONDS if arguments["blame"] else 0.0
    query = Query(arguments["query"], arguments["limit"], filters=filters, blame=blame)
    is_newest_first = arguments["order"] == "newest"
    answer = search_past(workspace, PastQuery(query, arguments["introduced"], arguments["removed"], is_newest_first))
    call.check()
    notes = [*call.notes, *answer.notes]
    if arguments["format"] == "json":
        value = mask_value(past_json(answer._replace(notes=notes)))
        shown, more = fit_values(value["results"])
        return dump({**value, "results": shown, "omitted": more})
    blocks = [_past_block(answer, found, rank) for rank, found in enumerate(answer.hits)]
    notes = notes if blocks else [no_past(answer), *notes]
    return render_blocks(blocks, describe_past(answer), notes, "ask for fewer results")


def bisect_hint(get_repository: GetRepository, arguments: Arguments, call: ToolCall) -> str:
    """Return the commits of a range that are most likely to have introduced a symptom."""
    workspace = get_repository(arguments["root"]).reopen()

    def report(done: int, total: int) -> None:
        call.report_progress(done, total, "reading the commits of the range")

    hint = read_bisect_hint(workspace, arguments["symptom"], arguments["range"], call.check, report)
    if arguments["format"] == "json":
        value = mask_value(hint_json(hint, arguments["limit"]))
        shown, more = fit_values(value["suspects"])
        return dump({**value, "suspects": shown, "omitted": value["omitted"] + more})
    blocks = [_suspect_block(suspect) for suspect in hint.suspects[: arguments["limit"]]]
    return render_blocks(blocks, describe_hint(hint), [*call.notes, *hint.notes], "ask with a lower limit")


HANDLERS: Final[Mapping[str, Callable[[GetRepository, Arguments, ToolCall], str]]] = {
    "when": when,
    "changes": changes,
    "search_history": search_history,
    "bisect_hint": bisect_hint,
}
"""Handlers by the name of the tool."""


def _newest(changes: list[DatedChange], limit: int) -> tuple[list[DatedChange], int]:
    """Return the newest changes and the oldest one, which introduced the element, and the number of the others."""
    if len(changes) <= limit:
        return changes, 0
    return [*changes[: limit - 1], changes[-1]], len(changes) - limit


def _heading(history: ElementHistory) -> str:
    return f"{visible(history.path)}:{history.first}-{history.last} {visible(history.symbol)}".rstrip()


def _change_block(dated: DatedChange) -> Block:
    change, details = dated
    kinds = ", ".join(kinds_of(change))
    subject = visible(mask_text(f"{details.subject} ({details.author})"))
    place = former_place(change)
    lines = [f"  from {visible(place)}"] if place else []
    lines += [f"  {source.relation} {visible(source.symbol)}" for source in change.sources]
    return Block(f"{change.commit[:_SHORT]} {details.date[:_DAY]} {kinds}: {subject}", lines)


def _past_block(answer: PastAnswer, found: PastHit, rank: int) -> Block:
    hit = found.hit
    heading = f"{visible(hit.path)}:{hit.start_line}-{hit.end_line} {visible(hit.symbol)}".rstrip()
    lives = [f"  {mask_text(line)}" for line in life_lines(found)]
    return Block(heading, [*lives, *render_snippet(found.lines, hit, answer.terms, rank)])


def _suspect_block(suspect: Suspect) -> Block:
    commit = suspect.commit
    subject = visible(mask_text(f"{commit.subject} ({commit.author})"))
    head = f"{commit.commit[:_SHORT]} {commit.date[:_DAY]} {format_score(suspect.score)}: {subject}"
    return Block(head, [f"  {mask_text(line)}" for line in chunk_lines(suspect)])
