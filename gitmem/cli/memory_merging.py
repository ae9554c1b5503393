"""`gitmem memory merge|recover`: take over records of another commit of the memory."""

import click

from gitmem.cli.completer import complete
from gitmem.cli.confirmation import confirm
from gitmem.cli.context import open_here, write_json
from gitmem.cli.text_input import json_option, print_notices
from gitmem.display import count
from gitmem.errors import ExitCode
from gitmem.records.merging import MergeResult, accept_loss, merge_memory, recover_memory


@click.command("merge")
@click.argument("revision", metavar="REV", shell_complete=complete("memory refs"))
@json_option
@click.pass_context
def merge(ctx: click.Context, revision: str, as_json: bool) -> ExitCode:
    """Merge the memory of another clone, which was fetched before.

    Records of both sides stay, and a record deleted on one side is deleted. Of a record that both sides changed, the
    own version stays; the other one is in the log. Never fetch into `refs/gitmem/memory` itself: that could replace or
    prune your records.

    \b
    Examples:
      git fetch origin +refs/gitmem/memory:refs/gitmem/remotes/origin/memory
      gitmem memory merge refs/gitmem/remotes/origin/memory
      git push origin refs/gitmem/memory
    """
    return _report(ctx, merge_memory(open_here(ctx.obj), revision), as_json=as_json)


@click.command("recover")
@click.option("--forget", is_flag=True, help="Accept the present state of the memory instead.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation of --forget.")
@json_option
@click.pass_context
def recover(ctx: click.Context, forget: bool, yes: bool, as_json: bool) -> ExitCode:
    """Recover records that the memory lost because something else deleted or moved its ref.

    A fetch that prunes may do that, or a forced one. The last known commit is merged into the memory. Until then no
    purge removes it, and `git gc` keeps it.

    \b
    Examples:
      gitmem memory recover
    """
    ctx.obj.warns = False
    workspace = open_here(ctx.obj)
    if not forget:
        return _report(ctx, recover_memory(workspace), as_json=as_json)
    if not yes:
        confirm("accept that the memory lost records?", "gitmem memory recover --forget --yes")
    lost = accept_loss(workspace)
    if as_json:
        write_json({"forgotten": lost.commit, "current": lost.current})
    else:
        print(f"forgot {lost.commit[:12]}")
    return ExitCode.OK


def _report(ctx: click.Context, result: MergeResult, *, as_json: bool) -> ExitCode:
    print_notices(ctx, result.notices)
    if as_json:
        write_json({name: value for name, value in result._asdict().items() if name != "notices"})
        return ExitCode.OK
    print(f"merged {result.commit[:12]}: {count(result.taken, 'record')} taken, {result.deleted:,} deleted")
    if result.different:
        records = count(result.different, "record")
        print(f"changed on both sides, your version stays: {records}; theirs: gitmem memory diff {result.commit[:12]}")
    return ExitCode.OK
