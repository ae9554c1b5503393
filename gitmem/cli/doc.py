"""`gitmem doc`."""

from typing import Any

import click

from gitmem.cli.answer_output import format_options, neighbors_option
from gitmem.cli.context import open_here, write_json
from gitmem.cli.filter_options import filter_options
from gitmem.cli.query import read_query, search_records
from gitmem.cli.record_output import format_document, write_content
from gitmem.cli.text_input import json_option, limit_option, read_input, say_notes, secrets_option, write_each
from gitmem.display import count
from gitmem.errors import ExitCode, UsageError
from gitmem.memory.document import DOCUMENT_TYPES, RETENTIONS, SENSITIVITIES, VISIBILITIES
from gitmem.memory.extract import FORMATS, extract, merge_fields
from gitmem.memory.record_paths import DOCUMENTS, parse_id
from gitmem.records.documents import add_document, get_document, list_documents, prune_expired
from gitmem.records.record_json import chunks_json, document_json, ingested_json
from gitmem.records.revisions import delete_records


@click.group()
def command() -> None:
    """Store documents from other sources in the repository: pages, mails, chats, transcripts.

    Adding the same source again replaces its document. Visibility and retention are stored and can be filtered by;
    gitmem itself does not enforce them.

    \b
    Examples:
      gitmem doc add design.md --title "Design of the cache"
      gitmem doc list
      gitmem doc get art_89abcdef > design.md
    """


@command.command("add")
@click.argument("file", metavar="FILE|-")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Format of the file.  [default: by its name]")
@click.option("--type", "type_", type=click.Choice(DOCUMENT_TYPES), help="Type of the document.  [default: doc]")
@click.option("--source", metavar="NAME", help="System it comes from.  [default: manual]")
@click.option("--source-id", metavar="ID", help="Its id there; a document with the same source and id is replaced.")
@click.option("--title", metavar="TEXT", help="Title.")
@click.option("--author", metavar="NAME", help="Author.")
@click.option("--participant", "participants", metavar="NAME", multiple=True, help="Other participant; repeatable.")
@click.option("--url", metavar="URL", help="Address of the original.")
@click.option("--time", metavar="TIME", help="Time of writing, as ISO 8601.")
@click.option("--sensitivity", type=click.Choice(SENSITIVITIES), help="Sensitivity.  [default: normal]")
@click.option("--visibility", type=click.Choice(VISIBILITIES), help="Visibility.  [default: me]")
@click.option("--retention", type=click.Choice(RETENTIONS), help="Retention.  [default: forever]")
@click.option("--meta", metavar="KEY=VALUE", multiple=True, help="Further metadata; repeatable.")
@secrets_option
@json_option
@click.pass_context
def add(
    ctx: click.Context, /, *, file: str, form: str | None, type_: str | None, meta: tuple[str, ...],
    participants: tuple[str, ...], allow_secrets: bool, as_json: bool, **options: str | None,
) -> ExitCode:  # fmt: skip
    """Add a text, Markdown, HTML, e-mail or PDF file of up to 10,000,000 characters.

    HTML is converted to Markdown, and the headers of an e-mail fill the fields without an option. Long texts are cut
    into overlapping chunks for search; `get` returns the text as it was added.

    \b
    Examples:
      gitmem doc add design.md --title "Design of the cache"
      gitmem doc add mail.eml --sensitivity sensitive
      curl -s https://example.com/page | gitmem doc add - --format html --source web --source-id page
    """
    overrides: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    overrides |= {"type": type_} if type_ else {}
    overrides |= {"participants": participants} if participants else {}
    overrides |= {"metadata": dict(map(_pair, meta))} if meta else {}
    found = extract(read_input(file), "standard input" if file == "-" else file, form or "")
    notes: list[str] = []
    fields = merge_fields(found.fields, overrides)
    made = add_document(open_here(ctx), found.content, fields, allow_secrets=allow_secrets, notes=notes)
    say_notes(ctx, notes)
    if as_json:
        write_json(ingested_json(made))
        return ExitCode.OK
    document = made.document
    chunks = f" in {count(len(document.chunks), 'chunk')}" if document.chunks else ""
    print(f"{made.status} {document.id}: {count(document.tokens, 'token')}{chunks}")
    return ExitCode.OK


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"expected KEY=VALUE, not `{text}`", hint="--meta KEY=VALUE")
    return key, value


@command.command("search")
@click.argument("text", metavar="TEXT|-")
@filter_options("source", "sensitivity", "visibility", "since", "until")
@format_options
@neighbors_option
@click.pass_context
def search(ctx: click.Context, /, *, text: str, limit: int | None, **options: object) -> ExitCode:
    """Search the documents. `gitmem query --kind` searches several kinds at once.

    \b
    Examples:
      gitmem doc search "how are caches invalidated"
      gitmem doc search --type email --since 2026-01-01 "how are caches invalidated"
    """
    return search_records(ctx, read_query(text), ("documents",), limit, options)


@command.command("get")
@click.argument("name", metavar="ID")
@click.option("--chunks", is_flag=True, help="Add the chunks with their spans (needs --json).")
@click.option("--no-content", is_flag=True, help="Omit the content (needs --json).")
@json_option
@click.pass_context
def get(ctx: click.Context, name: str, chunks: bool, no_content: bool, as_json: bool) -> ExitCode:
    """Print a document's text as it was added; with --json its fields too.

    \b
    Examples:
      gitmem doc get art_89abcdef > design.md
      gitmem doc get art_89abcdef --json --chunks
    """
    if (chunks or no_content) and not as_json:
        raise click.UsageError("`--chunks` and `--no-content` need `--json`", ctx)
    document = get_document(open_here(ctx), name)
    if not as_json:
        write_content(document.content.encode())
        return ExitCode.OK
    content = {} if no_content else {"content": document.content}
    parts = {"chunk_list": chunks_json(document)} if chunks else {}
    write_json({**document_json(document), **content, **parts})
    return ExitCode.OK


@command.command("list")
@click.option("--type", "type_", type=click.Choice(DOCUMENT_TYPES), help="List only documents of this type.")
@limit_option
@json_option
@click.pass_context
def list_(ctx: click.Context, type_: str | None, limit: int, as_json: bool) -> ExitCode:
    """List documents, the last added first.

    \b
    Examples:
      gitmem doc list --type email
    """
    found = list_documents(open_here(ctx), type_=type_ or "", limit=limit)
    write_each(found, as_json, document_json, format_document)
    return ExitCode.OK


@command.command("delete")
@click.argument("names", metavar="ID...", nargs=-1, required=True)
@json_option
@click.pass_context
def delete(ctx: click.Context, names: tuple[str, ...], as_json: bool) -> ExitCode:
    """Delete documents. Former versions stay until `gitmem memory purge`.

    \b
    Examples:
      gitmem doc delete art_89abcdef
    """
    for name in names:
        if not parse_id(name).startswith(DOCUMENTS):
            raise UsageError(f"not a document: `{name}`", hint=f"gitmem memory delete {name}")
    gone = delete_records(open_here(ctx), names)
    write_each(
        gone,
        as_json,
        lambda found: {"id": found.id, "chunks": found.parts},
        lambda found: f"deleted {found.id} and {found.parts} chunks",
    )
    return ExitCode.OK


@command.command("prune")
@click.option("--expired", is_flag=True, help="Delete documents with retention 1y that are older than a year.")
@click.option("--dry-run", is_flag=True, help="Only list them.")
@json_option
@click.pass_context
def prune(ctx: click.Context, expired: bool, dry_run: bool, as_json: bool) -> ExitCode:
    """Delete documents whose retention has expired. Nothing else deletes a document automatically.

    \b
    Examples:
      gitmem doc prune --expired --dry-run
    """
    if not expired:
        raise UsageError("prune needs a filter, for example `--expired`", hint="gitmem doc prune --expired")
    gone = prune_expired(open_here(ctx), dry_run=dry_run)
    done = "would delete " if dry_run else "deleted "
    write_each(gone, as_json, document_json, lambda document: done + format_document(document))
    return ExitCode.OK
