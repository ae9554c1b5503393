"""`gitmem doc`."""

from typing import Any

import click

from gitmem.cli.answer_output import format_options, neighbors_option
from gitmem.cli.context import open_here, write_json
from gitmem.cli.filter_options import limit_options
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
    """Keep longer texts from elsewhere beside the code: pages, mails, chats, transcripts.

    The same source again replaces its document. Who may see a document and how long it is kept is written down and can
    be asked for; gitmem itself enforces neither.

    \b
    Examples:
      gitmem doc add design.md --title "Design of the cache"
      gitmem doc list
      gitmem doc get art_89abcdef > design.md
    """


@command.command("add")
@click.argument("file", metavar="FILE|-")
@click.option("--format", "form", type=click.Choice(FORMATS), help="What the file is; told by its name otherwise.")
@click.option("--type", "type_", type=click.Choice(DOCUMENT_TYPES), help="What sort of document it is.  [default: doc]")
@click.option("--source", metavar="NAME", help="The system it comes from.  [default: manual]")
@click.option("--source-id", metavar="ID", help="Its id there; what has the same source and id is replaced.")
@click.option("--title", metavar="TEXT", help="Its title.")
@click.option("--author", metavar="NAME", help="Who wrote it.")
@click.option("--participant", "participants", metavar="NAME", multiple=True, help="Who else took part; repeatable.")
@click.option("--url", metavar="URL", help="Where it is found.")
@click.option("--time", metavar="TIME", help="When it was written, as ISO 8601.")
@click.option("--sensitivity", type=click.Choice(SENSITIVITIES), help="How sensitive it is.  [default: normal]")
@click.option("--visibility", type=click.Choice(VISIBILITIES), help="Whom it is for.  [default: me]")
@click.option("--retention", type=click.Choice(RETENTIONS), help="How long to keep it.  [default: forever]")
@click.option("--meta", metavar="KEY=VALUE", multiple=True, help="Anything else; repeatable.")
@secrets_option
@json_option
@click.pass_context
def add(
    ctx: click.Context, /, *, file: str, form: str | None, type_: str | None, meta: tuple[str, ...],
    participants: tuple[str, ...], allow_secrets: bool, as_json: bool, **told: str | None,
) -> ExitCode:  # fmt: skip
    """Take in a text, Markdown, HTML, e-mail or PDF file of up to 10,000,000 characters.

    HTML becomes Markdown, the headers of an e-mail fill the fields that are not told here, and PDF needs the extra
    `gitmem[pdf]`. Long texts are cut into overlapping chunks for search; what `get` gives back is the text as it was.

    \b
    Examples:
      gitmem doc add design.md --title "Design of the cache"
      gitmem doc add mail.eml --sensitivity sensitive
      curl -s https://example.com/page | gitmem doc add - --format html --source web --source-id page
    """
    given: dict[str, Any] = {name: value for name, value in told.items() if value is not None}
    given |= {"type": type_} if type_ else {}
    given |= {"participants": participants} if participants else {}
    given |= {"metadata": dict(map(_pair, meta))} if meta else {}
    found = extract(read_input(file), "standard input" if file == "-" else file, form or "")
    notes: list[str] = []
    fields = merge_fields(found.fields, given)
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
        raise UsageError(f"`{text}` is no pair", hint="--meta KEY=VALUE")
    return key, value


@command.command("search")
@click.argument("text", metavar="TEXT|-")
@limit_options("source", "sensitivity", "visibility", "since", "until")
@format_options
@neighbors_option
@click.pass_context
def search(ctx: click.Context, /, *, text: str, limit: int | None, **shown: object) -> ExitCode:
    """Ask the documents alone; `gitmem query --kind` asks several kinds at once.

    \b
    Examples:
      gitmem doc search "how are caches invalidated"
      gitmem doc search --type email --since 2026-01-01 "how are caches invalidated"
    """
    return search_records(ctx, read_query(text), ("documents",), limit, shown)


@command.command("get")
@click.argument("name", metavar="ID")
@click.option("--chunks", is_flag=True, help="Its chunks with their places (with --json).")
@click.option("--no-content", is_flag=True, help="Only what is known of it (with --json).")
@json_option
@click.pass_context
def get(ctx: click.Context, name: str, chunks: bool, no_content: bool, as_json: bool) -> ExitCode:
    """Write a document's text as it came in; with --json also what is known of it.

    \b
    Examples:
      gitmem doc get art_89abcdef > design.md
      gitmem doc get art_89abcdef --json --chunks
    """
    if (chunks or no_content) and not as_json:
        raise click.UsageError("`--chunks` and `--no-content` go with `--json`", ctx)
    document = get_document(open_here(ctx), name)
    if not as_json:
        write_content(document.content.encode())
        return ExitCode.OK
    content = {} if no_content else {"content": document.content}
    parts = {"chunk_list": chunks_json(document)} if chunks else {}
    write_json({**document_json(document), **content, **parts})
    return ExitCode.OK


@command.command("list")
@click.option("--type", "type_", type=click.Choice(DOCUMENT_TYPES), help="Only documents of this type.")
@limit_option
@json_option
@click.pass_context
def list_(ctx: click.Context, type_: str | None, limit: int, as_json: bool) -> ExitCode:
    """List documents, those that came in last first.

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
    """Take documents out; the memory's history still has them.

    \b
    Examples:
      gitmem doc delete art_89abcdef
    """
    for name in names:
        if not parse_id(name).startswith(DOCUMENTS):
            raise UsageError(f"`{name}` is no document", hint=f"gitmem memory delete {name}")
    gone = delete_records(open_here(ctx), names)
    write_each(
        gone,
        as_json,
        lambda found: {"id": found.id, "chunks": found.parts},
        lambda found: f"deleted {found.id} and {found.parts} chunks",
    )
    return ExitCode.OK


@command.command("prune")
@click.option("--expired", is_flag=True, help="Delete documents kept for 1y that came in more than a year ago.")
@click.option("--dry-run", is_flag=True, help="Only say which.")
@json_option
@click.pass_context
def prune(ctx: click.Context, expired: bool, dry_run: bool, as_json: bool) -> ExitCode:
    """Delete documents whose time is over. Nothing else ever deletes one by itself.

    \b
    Examples:
      gitmem doc prune --expired --dry-run
    """
    if not expired:
        raise UsageError("prune deletes nothing unless told what", hint="gitmem doc prune --expired")
    gone = prune_expired(open_here(ctx), dry_run=dry_run)
    done = "would delete " if dry_run else "deleted "
    write_each(gone, as_json, document_json, lambda document: done + format_document(document))
    return ExitCode.OK
