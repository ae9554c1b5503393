"""`gitmem verify`."""

import click

from gitmem.actions.verify import VerifyReport, verify
from gitmem.cli.context import open_here, write_json
from gitmem.cli.error_output import say
from gitmem.display import count, visible
from gitmem.errors import ExitCode


@click.command()
@click.option("--repair", is_flag=True, help="Replace what is damaged.")
@click.option("--json", "as_json", is_flag=True, help="Report as JSON.")
@click.pass_context
def command(ctx: click.Context, repair: bool, as_json: bool) -> ExitCode:
    """Read every checksum and compare the index with git.

    The exit code is 0 where everything is sound (or was repaired) and 5 where it is not.

    \b
    Examples:
      gitmem verify
      gitmem verify --repair
    """
    made = verify(open_here(ctx), repair=repair)
    if as_json:
        write_json(_as_json(made))
    else:
        _print(made)
    return ExitCode.OK if made.sound else ExitCode.FAILED


def _print(made: VerifyReport) -> None:
    found = made.findings
    for problem in made.repaired:
        print(f"repaired: {visible(problem)}")
    for note in found.notes:
        print(f"note: {visible(note)}")
    for problem in found.problems:
        say(f"error: {problem}")
    if found.problems:
        say("hint: gitmem verify --repair")
        return
    print(f"sound: {count(found.segments, 'segment')}, {count(found.views, 'tree')}, {count(found.blobs, 'blob')}, "
          f"{count(found.chunks, 'chunk')}")  # fmt: skip


def _as_json(made: VerifyReport) -> dict[str, object]:
    found = made.findings
    return {
        "sound": made.sound,
        "segments": found.segments,
        "trees": found.views,
        "blobs": found.blobs,
        "chunks": found.chunks,
        "problems": found.problems,
        "damaged": found.damaged,
        "repaired": made.repaired,
        "notes": found.notes,
    }
