"""`gitmem doc`: add, search, get, list, delete and prune documents."""

from typing import Any

import click

from gitmem.cli.answer_options import format_options, neighbors_option
from gitmem.cli.command_group import CommandGroup
from gitmem.cli.completer import complete
from gitmem.cli.context import open_here, page_output, write_json
from gitmem.cli.filter_options import filter_options
from gitmem.cli.query import search_records
from gitmem.cli.record_output import format_document, write_content
from gitmem.cli.shown_secrets import shown_value
from gitmem.cli.text_input import (
    json_option,
    limit_option,
    print_each,
    print_notices,
    read_input,
    secrets_option,
    show_secrets_option,
)
from gitmem.cli.tree_search import read_query
from gitmem.display import count
from gitmem.errors import ExitCode, UsageError
from gitmem.memory.document import DOCUMENT_TYPES, RETENTIONS, SENSITIVITIES
from gitmem.memory.extract import FORMATS, merge_fields
from gitmem.memory.extraction_process import extract_in_process
from gitmem.memory.record_paths import CONVERSATION_PREFIX
from gitmem.memory.visibility import VISIBILITIES
from gitmem.records.documents import add_document, document_ids_of, get_document, list_documents, prune_expired
from gitmem.records.record_json import added_document_json, chunks_json, document_json
from gitmem.records.revisions import delete_records


@click.group(cls=CommandGroup)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Store documents from other sources in the repository: pages, mails, chats, transcripts.

    Adding a document with the source and source id of an earlier one replaces it. Sensitivity, visibility and retention
    are stored, and searches can filter by them; gitmem itself does not enforce them.

    \b
    Examples:
      gitmem doc add design.md --title "Design of the cache"
      gitmem doc list
      gitmem doc get art_89abcdef > design.md
    """
    ctx.obj.warns = True


@command.command("add")
@click.argument("file", metavar="FILE|-", shell_complete=complete("files"))
@click.option("--format", "file_format", type=click.Choice(FORMATS), help="Format of the file.  [default: detected]")
@click.option("--type", "type_", type=click.Choice(DOCUMENT_TYPES), help="Type of the document.  [default: doc]")
@click.option("--source", metavar="NAME", help="System that the document is from.  [default: manual]")
@click.option(
    "--source-id",
    "--id",
    metavar="ID",
    help="Id in that system, or one of your own; a document with the same source and id is replaced.",
)
@click.option("--title", metavar="TEXT", help="Title of the document.")
@click.option("--author", metavar="NAME", help="Author of the document.")
@click.option("--participant", "participants", metavar="NAME", multiple=True, help="Other participant; repeatable.")
@click.option("--url", metavar="URL", help="Address of the document.")
@click.option("--time", metavar="TIME", help="Time at which it was written, as ISO 8601.")
@click.option("--sensitivity", type=click.Choice(SENSITIVITIES), help="How sensitive it is.  [default: normal]")
@click.option("--visibility", type=click.Choice(VISIBILITIES), help="Intended readers.  [default: me]")
@click.option("--retention", type=click.Choice(RETENTIONS), help="How long to keep it.  [default: forever]")
@click.option("--meta", metavar="KEY=VALUE", multiple=True, help="Further metadata; repeatable.")
@secrets_option
@json_option
@click.pass_context
def add(
    ctx: click.Context, /, *, file: str, file_format: str | None, type_: str | None, meta: tuple[str, ...],
    participants: tuple[str, ...], allow_secrets: bool, as_json: bool, **options: str | None,
) -> ExitCode:  # fmt: skip
    """Store a text, Markdown, HTML, e-mail or PDF file of up to 10,000,000 characters.

    HTML is converted to Markdown. The headers of an e-mail set the fields that no option sets. Long texts are cut into
    overlapping chunks for search; `get` returns the text as it was stored.

    \b
    Examples:
      gitmem doc add design.md --title "Design of the cache"
      gitmem doc add design.md --id cache-design
      gitmem doc add mail.eml --sensitivity sensitive
      curl -s https://example.com/page | gitmem doc add - --format html --source web --source-id page
    """
    overrides: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    overrides |= {"type": type_} if type_ else {}
    overrides |= {"participants": participants} if participants else {}
    overrides |= {"metadata": dict(map(_parse_pair, meta))} if meta else {}
    extracted = extract_in_process(read_input(file), "standard input" if file == "-" else file, file_format or "")
    fields = merge_fields(extracted.fields, overrides)
    added = add_document(open_here(ctx.obj), extracted.content, fields, allow_secrets=allow_secrets)
    print_notices(ctx, added.notices)
    if as_json:
        write_json(shown_value(added_document_json(added)))
        return ExitCode.OK
    document = added.document
    chunks = f" in {count(len(document.chunks), 'chunk')}" if document.chunks else ""
    print(f"{added.status} {document.id}: {count(document.tokens, 'token')}{chunks}")
    return ExitCode.OK


def _parse_pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"expected KEY=VALUE: `{text}`", hint="--meta KEY=VALUE")
    return key, value


@command.command("search")
@click.argument("words", metavar="TEXT...|-", nargs=-1)
@filter_options(
    "source", "sensitivity", "visibility", "since", "until",
    type_help="Search only documents of this type (email, ...).",
)  # fmt: skip
@format_options
@neighbors_option
@click.pass_context
def search(ctx: click.Context, /, *, words: tuple[str, ...], limit: int | None, **shown: object) -> ExitCode:
    """Search only the documents; `gitmem query --kind` searches several kinds at once.

    \b
    Examples:
      gitmem doc search "how are caches invalidated"
      gitmem doc search --type email --since 2026-01-01 "how are caches invalidated"
    """
    return search_records(ctx, read_query(words), ("documents",), limit, shown)


@command.command("get")
@click.argument("name", metavar="ID", shell_complete=complete("documents"))
@click.option("--chunks", is_flag=True, help="Add the chunks with their offsets (with --json).")
@click.option("--no-content", is_flag=True, help="Leave out the content (with --json).")
@json_option
@click.pass_context
def get(ctx: click.Context, name: str, chunks: bool, no_content: bool, as_json: bool) -> ExitCode:
    """Write the text of a document as it was stored; with --json also its fields.

    ID is that of gitmem, or the one given to `doc add --id`, with another source SOURCE:ID.

    \b
    Examples:
      gitmem doc get art_89abcdef > design.md
      gitmem doc get cache-design
      gitmem doc get art_89abcdef --json --chunks
    """
    # Plain output is the content alone, byte for byte, so that it can be redirected to a file.
    if (chunks or no_content) and not as_json:
        raise click.UsageError("`--chunks` and `--no-content` require `--json`", ctx)
    document = get_document(open_here(ctx.obj), name)
    page_output(ctx.obj)
    if not as_json:
        write_content(document.content.encode())
        return ExitCode.OK
    content = {} if no_content else {"content": document.content}
    parts = {"chunk_list": chunks_json(document)} if chunks else {}
    write_json({**document_json(document), **content, **parts})
    return ExitCode.OK


@command.command("list")
@click.option("--type", "type_", type=click.Choice(DOCUMENT_TYPES), help="List only documents of this type.")
@click.option("--id", "name", metavar="ID", default="", help="List only the document with this id.")
@limit_option
@show_secrets_option
@json_option
@click.pass_context
def list_(ctx: click.Context, type_: str | None, name: str, limit: int, as_json: bool) -> ExitCode:
    """List documents, the last stored first.

    \b
    Examples:
      gitmem doc list --type email
    """
    documents = list_documents(open_here(ctx.obj), type_=type_ or "", name=name, limit=limit)
    page_output(ctx.obj)
    print_each(documents, as_json, document_json, format_document)
    return ExitCode.OK


@command.command("delete")
@click.argument("names", metavar="ID...", shell_complete=complete("documents"), nargs=-1, required=True)
@json_option
@click.pass_context
def delete(ctx: click.Context, names: tuple[str, ...], as_json: bool) -> ExitCode:
    """Delete documents, all or none. `gitmem memory restore` brings them back until the memory is purged.

    \b
    Examples:
      gitmem doc delete art_89abcdef
    """
    # All ids are checked before any record is deleted.
    for name in names:
        if name.startswith(("mem_", CONVERSATION_PREFIX)):
            raise UsageError(f"`{name}` is not the id of a document", hint=f"gitmem memory delete {name}")
    workspace = open_here(ctx.obj)
    print_each(
        delete_records(workspace, document_ids_of(workspace, names)),
        as_json,
        lambda deleted: {"id": deleted.id, "chunks": deleted.parts},
        lambda deleted: f"deleted {deleted.id} and {count(deleted.parts, 'chunk')}",
    )
    return ExitCode.OK


@command.command("prune")
@click.option("--expired", is_flag=True, help="Delete documents with the retention 1y that are older than a year.")
@click.option("--dry-run", is_flag=True, help="Only list them.")
@json_option
@click.pass_context
def prune(ctx: click.Context, expired: bool, dry_run: bool, as_json: bool) -> ExitCode:
    """Delete expired documents. No document is ever deleted without this command or `delete`.

    \b
    Examples:
      gitmem doc prune --expired --dry-run
    """
    if not expired:
        raise UsageError("prune needs a filter, for example `--expired`", hint="gitmem doc prune --expired")
    documents = prune_expired(open_here(ctx.obj), dry_run=dry_run)
    prefix = "would delete " if dry_run else "deleted "
    print_each(documents, as_json, document_json, lambda document: prefix + format_document(document))
    return ExitCode.OK
