"""`gitmem conversation`: append, get, list, import and capture conversations."""

from pathlib import PurePath

import click

from gitmem.cli.command_group import CommandGroup
from gitmem.cli.completer import complete
from gitmem.cli.context import open_here, page_output, write_json
from gitmem.cli.conversation_capture import capture
from gitmem.cli.record_output import format_conversation, format_turn
from gitmem.cli.shown_secrets import shown_value
from gitmem.cli.text_input import (
    json_option,
    limit_option,
    print_each,
    print_notices,
    read_content,
    read_lines,
    secrets_option,
    show_secrets_option,
)
from gitmem.display import count, visible
from gitmem.errors import ExitCode
from gitmem.memory.conversation import GET_DEFAULT, ROLES
from gitmem.memory.transcripts import parse_transcript
from gitmem.memory.visibility import VISIBILITIES
from gitmem.records.conversations import (
    append_turn,
    change_visibility,
    import_turns,
    last_turns,
    list_conversations,
)
from gitmem.records.record_json import conversation_json, turn_json
from gitmem.secrets.refusal import redact_secrets

_visibility_option = click.option(
    "--visibility",
    type=click.Choice(VISIBILITIES),
    help="Intended readers; only `team` and `org` are shared.  [default: that of the conversation, at first me]",
)


@click.group(cls=CommandGroup)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Store conversations, turn by turn.

    \b
    Examples:
      gitmem conversation append planning user "When do we drop Python 3.10?"
      gitmem conversation get planning
      gitmem conversation import ~/.claude/projects/-home-me-project/0a1b2c3d.jsonl
    """
    ctx.obj.warns = True


@command.command("append")
@click.argument("conversation", metavar="NAME", shell_complete=complete("conversations"))
@click.argument("role", type=click.Choice(ROLES))
@click.argument("text", metavar="TEXT|-")
@click.option(
    "--turn", type=int, metavar="N", help="Number of the turn; an existing turn is replaced.  [default: the next]"
)
@_visibility_option
@secrets_option
@json_option
@click.pass_context
def append(
    ctx: click.Context, /, *, conversation: str, role: str, text: str, turn: int | None, visibility: str | None,
    allow_secrets: bool, as_json: bool,
) -> ExitCode:  # fmt: skip
    """Append a turn of up to 50,000 characters to a conversation, which is created if it does not exist.

    \b
    Examples:
      gitmem conversation append planning assistant "In October, with the next minor release."
      gitmem conversation append planning user --turn 0 - < question.txt
    """
    content = read_content(text)
    appended = append_turn(
        open_here(ctx.obj), conversation, role, content, turn, visibility=visibility or "", allow_secrets=allow_secrets
    )
    print_notices(ctx, appended.notices)
    if as_json:
        write_json(shown_value({**turn_json(appended.turn), "replaced": appended.replaced}))
    else:
        verb = "replaced" if appended.replaced else "stored"
        print(f"{verb} turn {appended.turn.number} of {visible(conversation)}")
    return ExitCode.OK


@command.command("get")
@click.argument("conversation", metavar="NAME", shell_complete=complete("conversations"))
@click.option(
    "-n", "--limit", type=int, metavar="N", default=GET_DEFAULT, show_default=True, help="Show the last N turns."
)
@show_secrets_option
@json_option
@click.pass_context
def get(ctx: click.Context, conversation: str, limit: int, as_json: bool) -> ExitCode:
    """Show the last turns of a conversation in order.

    \b
    Examples:
      gitmem conversation get planning -n 50
    """
    turns = last_turns(open_here(ctx.obj), conversation, limit)
    page_output(ctx.obj)
    print_each(turns, as_json, turn_json, lambda turn: "\n".join(format_turn(turn)))
    return ExitCode.OK


@command.command("list")
@limit_option
@json_option
@click.pass_context
def list_(ctx: click.Context, limit: int, as_json: bool) -> ExitCode:
    """List conversations, the one with the latest turn first.

    \b
    Examples:
      gitmem conversation list
    """
    conversations = list_conversations(open_here(ctx.obj), limit)
    page_output(ctx.obj)
    print_each(conversations, as_json, conversation_json, format_conversation)
    return ExitCode.OK


@command.command("edit")
@click.argument("conversation", metavar="NAME", shell_complete=complete("conversations"))
@click.option("--visibility", type=click.Choice(VISIBILITIES), required=True, help="Intended readers of all turns.")
@json_option
@click.pass_context
def edit(ctx: click.Context, conversation: str, visibility: str, as_json: bool) -> ExitCode:
    """Change who a conversation is for: `team` and `org` are shared, `me` and `custom` stay in this clone.

    A conversation that becomes `me` again is deleted for others; those who fetched it have seen it.

    \b
    Examples:
      gitmem conversation edit planning --visibility team
    """
    changed, notices = change_visibility(open_here(ctx.obj), conversation, visibility)
    print_notices(ctx, notices)
    if as_json:
        write_json({"conversation": conversation, "visibility": visibility, "changed": changed})
    else:
        print(f"{visible(conversation)} is for {visibility}: {count(changed, 'turn')} changed")
    return ExitCode.OK


@command.command("import")
@click.argument("file", metavar="FILE|-", shell_complete=complete("files"))
@_visibility_option
@secrets_option
@json_option
@click.pass_context
def import_(ctx: click.Context, file: str, visibility: str | None, allow_secrets: bool, as_json: bool) -> ExitCode:
    """Import the transcript of a Claude Code session. Import it again to add later turns.

    Text is stored in full, output of tools by its beginning and end. Lines with a secret are redacted.

    \b
    Examples:
      gitmem conversation import ~/.claude/projects/-home-me-project/0a1b2c3d.jsonl
    """
    # Claude Code names the file after the session; the name is used if no entry has an id of the session.
    name = PurePath(file).stem[:100] if file != "-" else "session"
    redact = str if allow_secrets else redact_secrets
    turns = parse_transcript(read_lines(file), name, redact, file=file if file != "-" else "standard input")
    imported = import_turns(open_here(ctx.obj), turns, visibility=visibility or "", allow_secrets=allow_secrets)
    print_notices(ctx, imported.notices)
    conversation = turns[0].conversation
    if as_json:
        write_json({"conversation": conversation, "turns": len(turns), "changed": imported.changed})
    else:
        print(f"{visible(conversation)}: {count(len(turns), 'turn')}, {imported.changed:,} new or changed")
    return ExitCode.OK


command.add_command(capture)
