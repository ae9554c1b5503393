"""`gitmem verify`."""

import click

from gitmem.actions.verify import VerifyReport, verify
from gitmem.cli.context import open_here, write_json
from gitmem.cli.error_output import say
from gitmem.display import count, visible
from gitmem.errors import ExitCode


@click.command()
@click.option("--repair", is_flag=True, help="Replace damaged files.")
@click.option("--json", "as_json", is_flag=True, help="Report as JSON.")
@click.pass_context
def command(ctx: click.Context, repair: bool, as_json: bool) -> ExitCode:
    """Read every checksum and compare the index with git.

    The exit code is 0 if everything is intact (or was repaired), else 5.

    \b
    Examples:
      gitmem verify
      gitmem verify --repair
    """
    report = verify(open_here(ctx), repair=repair)
    if as_json:
        write_json(_as_json(report))
    else:
        _print(report)
    return ExitCode.OK if report.sound else ExitCode.FAILED


def _print(report: VerifyReport) -> None:
    findings = report.findings
    for problem in report.repaired:
        print(f"repaired: {visible(problem)}")
    for note in findings.notes:
        print(f"note: {visible(note)}")
    for problem in findings.problems:
        say(f"error: {problem}")
    if findings.problems:
        say("hint: gitmem verify --repair")
        return
    print(f"sound: {count(findings.segments, 'segment')}, {count(findings.views, 'tree')}, "
          f"{count(findings.blobs, 'blob')}, {count(findings.chunks, 'chunk')}")  # fmt: skip


def _as_json(report: VerifyReport) -> dict[str, object]:
    findings = report.findings
    return {
        "sound": report.sound,
        "segments": findings.segments,
        "trees": findings.views,
        "blobs": findings.blobs,
        "chunks": findings.chunks,
        "problems": findings.problems,
        "damaged": findings.damaged,
        "repaired": report.repaired,
        "notes": findings.notes,
    }
