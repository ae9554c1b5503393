"""`gitmem index --dry-run`: what a run would do."""

from gitmem.cli.context import write_json
from gitmem.cli.index_run import IndexOptions
from gitmem.cli.run_report import print_details, print_skipped
from gitmem.cli.style import print_line
from gitmem.display import count, visible
from gitmem.errors import ExitCode
from gitmem.freshness.run_preview import preview_run
from gitmem.workspace import Workspace


def print_preview(workspace: Workspace, tree: str | None, name: str, options: IndexOptions) -> ExitCode:
    """Print the report of a run of a tree, called `name`, that does not happen."""
    report = preview_run(
        workspace, tree, staged=not options.rev, uncommitted=options.uncommitted, full=options.full,
        list_files=options.verbose,
    )  # fmt: skip
    if options.as_json:
        write_json(report.as_json())
        return ExitCode.OK
    blobs = count(report.embedded, "blob")
    print_line(
        f"would index {visible(name)}  {count(report.files, 'file')}: {blobs} to embed, {report.reused:,} reused"
    )
    if report.rebuilt:
        print_line(f"  would rebuild: {visible(report.rebuilt)}")
    print_skipped(report)
    print_details(report)
    return ExitCode.OK
