"""Reports that were written: list those of a folder, and read one."""

import re
import time
from typing import Final

from gitmem.actions.report_file import find_folder
from gitmem.display import visible
from gitmem.errors import UnknownRecord
from gitmem.fsio import read_file
from gitmem.named_tuple import NamedTuple
from gitmem.secrets.masking import mask_secrets
from gitmem.workspace import Workspace

MAX_BYTES: Final = 32 << 20
"""Bytes of the longest report: each character may take four."""

_NAME: Final = re.compile(r"\d{8}_\d{6}_[\w-]{1,200}\.md")


class ReportFile(NamedTuple):
    """Report in a folder: its name, its size in bytes, and the time of its last change in ISO 8601."""

    name: str
    bytes: int
    time: str


def list_reports(workspace: Workspace, folder: str = "") -> list[ReportFile]:
    """Return the reports of a folder, by default that of the settings, newest first. Raises: UsageError."""
    place = find_folder(workspace, folder)
    try:
        # Other documents may lie in the same folder: only names that `report create` gives are reports.
        files = [file for file in place.iterdir() if _NAME.fullmatch(file.name) and not file.is_symlink()]
        listed = [(file.name, file.stat()) for file in files if file.is_file()]
    except OSError:
        return []
    # The name begins with the time of the report.
    return [
        ReportFile(name, status.st_size, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(status.st_mtime)))
        for name, status in sorted(listed, reverse=True)
    ]


def read_report(workspace: Workspace, name: str, folder: str = "") -> str:
    """Return the text of a report; secrets are masked.

    Raises: UnknownRecord, UsageError, StorageFailed, UnsafeIndex for a link.
    """
    place = find_folder(workspace, folder)
    # A name without a separator cannot lead out of the folder, and links are not followed.
    data = read_file(place / name, MAX_BYTES) if _NAME.fullmatch(name) else None
    if data is None:
        raise UnknownRecord(f"no such report: `{visible(name[:200])}`", hint=f"reports are in `{visible(str(place))}`")
    return mask_secrets(data).decode("utf-8", "replace")
