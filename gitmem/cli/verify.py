"""`gitmem verify`."""

from typing import Final

import click

from gitmem.actions.verify import VerifyReport, verify
from gitmem.cli.context import open_here, write_json
from gitmem.cli.error_output import say
from gitmem.cli.index_sharing import find_store
from gitmem.display import count, visible
from gitmem.errors import ExitCode, UsageError

_REMEDY: Final = (
    "a writer replaces damaged files with `gitmem push --index`; to remove all files of one, remove the folder or the "
    "ref with its name: git push NAME :refs/gitmem/index/VERSION/ID"
)


@click.command()
@click.option("--repair", is_flag=True, help="Replace damaged files.")
@click.option("--remote", metavar="NAME", default="", help="Check the index that others share on a git remote instead.")
@click.option(
    "--store", metavar="DIR|URL", default="", help="Check the index that others share in a folder or bucket instead."
)
@click.option("--json", "as_json", is_flag=True, help="Report as JSON.")
@click.pass_context
def command(ctx: click.Context, repair: bool, remote: str, store: str, as_json: bool) -> ExitCode:
    """Read every checksum and compare the index with git.

    Prints the digest of HEAD's index, which is the same in every clone. With `--remote` all rows that others pushed
    there are compared with rows made from the same blobs here, and the published digests with the one computed here.

    The exit code is 0 if everything is intact (or was repaired), else 5.

    \b
    Examples:
      gitmem verify
      gitmem verify --repair
      gitmem verify --remote origin
    """
    if remote or store:
        if repair:
            raise UsageError("`--repair` does not apply to the index of others", hint="gitmem verify --repair")
        return _check_remote(ctx, remote, store, as_json=as_json)
    report = verify(open_here(ctx.obj), repair=repair)
    if as_json:
        write_json(_as_json(report))
    else:
        _print(report)
    return ExitCode.OK if report.sound else ExitCode.FAILED


def _check_remote(ctx: click.Context, remote: str, store: str, *, as_json: bool) -> ExitCode:
    from gitmem.actions.remote_check import verify_remote  # imports numpy and the worker pool

    result = verify_remote(open_here(ctx.obj), remote, find_store(store))
    if as_json:
        write_json(result._asdict() | {"sound": not result.faults})
    else:
        for note in result.notices:
            print(f"note: {visible(note)}")
        for fault in result.faults:
            say(f"error: {fault}")
        if result.faults:
            say(f"hint: {_REMEDY}")
        vectors = "embedded again" if result.embedded else "not embedded again: compared with own ones of equal texts"
        print(f"{'unsound' if result.faults else 'sound'}: {visible(result.remote)}, {count(result.packs, 'pack')}, "
              f"{result.checked:,} of {count(result.blobs, 'blob')} chunked again, "
              f"{count(result.vectors, 'vector')} compared ({vectors}), {count(result.digests, 'digest')}")  # fmt: skip
    return ExitCode.FAILED if result.faults else ExitCode.OK


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
    if report.digest:
        print(f"digest {report.digest.digest}")


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
        "digest": report.digest._asdict() if report.digest else None,
    }
