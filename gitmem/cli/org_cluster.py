"""`gitmem org publish --on`: index revisions on the nodes of a cluster before they are published."""

import shlex
from collections.abc import Sequence
from functools import partial

from gitmem.cli.progress import ProgressLine
from gitmem.cli.run_report import print_notes
from gitmem.freshness.refresh import RefreshSettings, refresh
from gitmem.git.revisions import resolve
from gitmem.workspace import Workspace


def index_on_cluster(workspace: Workspace, revisions: Sequence[str], address: str, *, quiet: bool) -> None:
    """Index the blobs of revisions that the index lacks; creates an index if there is none.

    The cluster is connected to only if something is missing. Raises: UsageError, WorkersFailed, and as `refresh`.
    """
    from gitmem.org.ray_cluster import open_cluster, parse_address  # loads the code of workers

    engine = partial(open_cluster, parse_address(address))
    settings = RefreshSettings(resume=f"gitmem org publish --on {shlex.quote(address)}")
    for rev in revisions:
        tree = resolve(workspace.location, rev).tree
        with ProgressLine(f"indexing {rev} on {address}", quiet=quiet) as progress:
            report = refresh(
                workspace, tree, settings, report=progress, on_wait=progress.wait, announce=progress.announce,
                open_engine=engine,
            )  # fmt: skip
        if not quiet:
            print_notes(report)
