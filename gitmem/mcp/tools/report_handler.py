"""Handler of the tool that writes reports."""

from gitmem.actions.report_creation import ReportRequest, create_report
from gitmem.display import visible
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.text_output import fence
from gitmem.workspace import Workspace


def create(workspace: Workspace, arguments: Arguments) -> str:
    """Write a report; return its path and its beginning."""
    request = ReportRequest(
        arguments["variables"],
        arguments["template"],
        arguments["session_ids"],
        arguments["output_dir"],
        arguments["file_name"],
        arguments["ascii_filename"],
    )
    report = create_report(workspace, request).to_json()
    preview = fence("\n".join(map(visible, report["preview"].splitlines())))
    head = f"wrote {visible(report['path'])}: template {report['template']}, {report['bytes']:,} bytes"
    return "\n".join([head, report["file_uri"], *preview])
