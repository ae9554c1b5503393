"""`gitmem get`."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from gitmem.actions.read_ids import read_ids
from gitmem.answering.excerpts import Excerpt
from gitmem.answering.readings import NameOptions, collect, describe_trees
from gitmem.cli import console
from gitmem.cli.completer import complete
from gitmem.cli.context import folder_in_tree, open_here_if_any, page_output, write_json
from gitmem.cli.error_output import say
from gitmem.cli.record_output import write_content
from gitmem.cli.revision_option import revision_options
from gitmem.cli.text_input import json_option
from gitmem.errors import ExitCode, GitmemError
from gitmem.memory.conversation import GET_DEFAULT, MAX_GET

_MAX_IDS = 50


@click.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=complete("files"))
@revision_options("Read files of a commit, tag, branch or tree.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, MAX_GET),
    metavar="N",
    help=f"Last turns of a conversation, or results of a search.  [default: {GET_DEFAULT} turns, 5 results]",
)
@json_option
@click.pass_context
def command(ctx: click.Context, ids: tuple[str, ...], rev: str, limit: int | None, as_json: bool) -> ExitCode:
    """Read files, lines, symbols, chunks and records by the ids that searches print.

    \b
    PATH  PATH:12  PATH:10-40  PATH#SYMBOL    file, lines, or definition
    BLOB:N                                    chunk N (from 0) of a blob, by its id
    mem_...  art_...  conversation:NAME       record; also with :10-40 for lines, :N for a chunk
    DOC  SOURCE:DOC                           document, by the id given to `doc add --id`
    search_...                                results of an earlier search
    COMMIT  COMMIT:1-5                        message of a commit, by its id of 7 digits or more
    repository:NAME                           statistics of a registered repository
    template:NAME                             variables of a template of reports
    NAME:ID                                   any of them in a registered repository
    org:NAME:PATH:10-40                       file or lines of a published repository (gitmem org)

    Files are those of the working tree, and no index is needed. Keys, tokens and passwords are shown as dots. Several
    texts are printed below a heading each. If some ids cannot be read, the exit code is 5.

    \b
    Examples:
      gitmem get src/app.py:10-40
      gitmem get "src/app.py#Flask.run" art_89abcdef
      gitmem get --rev v2.0 --json src/app.py
      gitmem get flask:README.md
      gitmem get -n 20 search_0123abcd
    """
    if len(ids) > _MAX_IDS:
        raise click.UsageError(f"{len(ids)} ids, at most {_MAX_IDS} can be read at once", ctx)
    own = open_here_if_any(ctx.obj)
    options = NameOptions(rev, limit or 0, folder_in_tree(ctx.obj, own) if own else "")
    readings, parsed = read_ids(own, ids, console.environment(), options)
    excerpts, failures = collect(readings, parsed)
    tree, notes = describe_trees(readings)
    page_output(ctx.obj)
    if as_json:
        write_json(_to_json(excerpts, failures, tree, notes))
    else:
        _write(excerpts)
        for note in [] if ctx.obj.quiet else notes:
            say(f"note: {note}")
    for error in failures:
        say(f"error: {error.message}")
        if error.hint:
            say(f"hint: {error.hint}")
    return ExitCode.FAILED if failures else ExitCode.OK


def _to_json(
    excerpts: Sequence[Excerpt], failures: Sequence[GitmemError], tree: str, notes: Sequence[str]
) -> dict[str, Any]:
    items: list[Mapping[str, Any]] = [{**excerpt.fields, "content": excerpt.content} for excerpt in excerpts]
    errors = [{"message": error.message, "hint": error.hint, "code": int(error.exit_code)} for error in failures]
    return {"items": items, "errors": errors, "tree": tree, "notes": list(notes)}


def _write(excerpts: Sequence[Excerpt]) -> None:
    """Print texts, several of them below headings as those of `head`."""
    for number, excerpt in enumerate(excerpts):
        if len(excerpts) > 1:
            console.put(f"\n==> {excerpt.heading} <==" if number else f"==> {excerpt.heading} <==")
        if not excerpt.lines:  # a repository has no text
            for line in excerpt.description:
                console.put(line)
            continue
        text = excerpt.content.encode("utf-8", "surrogateescape")
        write_content(text if text.endswith(b"\n") else text + b"\n")
