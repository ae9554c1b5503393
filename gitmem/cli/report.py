"""`gitmem report`: reports from templates, and the search sessions that they are made from."""

import json
from typing import Any

import click

from gitmem.actions.report_creation import ReportRequest, create_report
from gitmem.actions.report_template import list_templates, read_template
from gitmem.answering.sessions import Session, list_sessions, session_json, session_time
from gitmem.cli.command_group import CommandGroup
from gitmem.cli.context import open_here, page_output, write_json
from gitmem.cli.text_input import json_option, print_each, read_input
from gitmem.display import count, visible
from gitmem.errors import ExitCode, UsageError


@click.group(cls=CommandGroup)
def command() -> None:
    """Create reports from templates, and list the last searches.

    \b
    Examples:
      gitmem report create --session search_0123abcd --vars summary.json
      gitmem report schema paper
      gitmem report sessions
    """


@command.command("create")
@click.option("--vars", "file", metavar="FILE|-", default="", help="Variables of the template, as a JSON object.")
@click.option("--set", "pairs", metavar="NAME=TEXT", multiple=True, help="One variable of the template.")
@click.option("--session", "sessions", metavar="ID", multiple=True, help="Search whose results become sections.")
@click.option("--template", metavar="NAME", default="", help="Template.  [default: gitmem.reportTemplate]")
@click.option("--out", "folder", metavar="FOLDER", default="", help="Folder.  [default: gitmem.reportFolder]")
@click.option("--name", "file_name", metavar="NAME", default="", help="Name of the file, behind the time.")
@json_option
@click.pass_context
def create(
    ctx: click.Context, file: str, pairs: tuple[str, ...], sessions: tuple[str, ...], template: str, folder: str,
    file_name: str, as_json: bool,
) -> ExitCode:  # fmt: skip
    """Create a report: a Markdown file from a template and variables. Prints its path.

    The variables are those of `gitmem report schema`. A search supplies `query` and `sections`, unless they are given.
    The file is named by time and query. It lies in the repository, replaces no other file and is not indexed.

    \b
    Examples:
      gitmem report create --session search_0123abcd --set overall_summary="Cookies are signed with HMAC."
      gitmem report create --template paper --vars report.json
      gitmem report create --vars - --out docs/reports < report.json
    """
    variables = {**_read_variables(file), **dict(map(_split_pair, pairs))}
    request = ReportRequest(variables, template, sessions, folder, file_name)
    report = create_report(open_here(ctx.obj), request)
    if as_json:
        write_json(report.to_json())
    else:
        print(report.path)
    return ExitCode.OK


def _read_variables(file: str) -> dict[str, Any]:
    if not file:
        return {}
    try:
        value = json.loads(read_input(file))
    except (ValueError, RecursionError) as problem:
        raise UsageError(
            f"`{file}` is not valid JSON: {problem}", hint="gitmem report schema shows an example"
        ) from problem
    if not isinstance(value, dict):
        raise UsageError(f"`{file}` is not a JSON object", hint="gitmem report schema shows an example")
    return value


def _split_pair(pair: str) -> tuple[str, str]:
    name, equals, text = pair.partition("=")
    if not name or not equals:
        raise UsageError(f"`{pair}` is not of the form NAME=TEXT", hint='--set overall_summary="..."')
    return name, text


@command.command("templates")
@json_option
@click.pass_context
def templates(ctx: click.Context, as_json: bool) -> ExitCode:
    """List the templates: those of gitmem, and your own.

    Your own ones are files `NAME.md` in Mustache in the folder `gitmem.reportTemplates`, each with `NAME.md.json`,
    which describes its variables.

    \b
    Examples:
      gitmem report templates
    """
    workspace = open_here(ctx.obj)
    schemas = [read_template(workspace, name).schema for name in list_templates(workspace)]
    page_output(ctx.obj)
    print_each(schemas, as_json, dict, lambda each: f"{visible(str(each['name'])):<16}{_description(each)}")
    return ExitCode.OK


def _description(schema: Any) -> str:
    return visible(str(schema.get("description", ""))).rstrip()


@command.command("schema")
@click.argument("name", metavar="[NAME]", default="")
@click.pass_context
def schema(ctx: click.Context, name: str) -> ExitCode:
    """Print the description of a template as JSON: its variables, and an example.

    \b
    Examples:
      gitmem report schema
      gitmem report schema paper
    """
    write_json(read_template(open_here(ctx.obj), name).schema)
    return ExitCode.OK


@command.command("sessions")
@json_option
@click.pass_context
def sessions(ctx: click.Context, as_json: bool) -> ExitCode:
    """List the last searches of this repository, the one used last first.

    `gitmem get search_...` shows the results of one. `gitmem.sessions` is the number of searches that are kept.

    \b
    Examples:
      gitmem report sessions
      gitmem get -n 20 search_0123abcd
    """
    items = list_sessions(open_here(ctx.obj))
    page_output(ctx.obj)
    print_each(items, as_json, session_json, _format_session)
    return ExitCode.OK


def _format_session(session: Session) -> str:
    number = count(len(session.results), "result")
    return f"{session.id}  {session_time(session)}  {number:>11}  {visible(session.query)}"
