"""`gitmem conversation capture`: store the conversation of a session of Claude Code, whose hooks run this command.

A client ends such a hook after a second or two, so the import runs in a background process. Its failures are events.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import click

from gitmem.cli.context import open_here_if_any
from gitmem.cli.text_input import read_lines
from gitmem.errors import ExitCode, UsageError
from gitmem.events import measured
from gitmem.memory.transcripts import parse_transcript
from gitmem.processes.detached import run_detached
from gitmem.records.conversations import import_turns
from gitmem.secrets.refusal import redact_secrets
from gitmem.workspace import Workspace, find_index

_MAX_INPUT: Final = 1 << 20
"""More bytes than the JSON of a hook has."""

_MAX_NAME: Final = 100


@click.command("capture")
@click.pass_context
def capture(ctx: click.Context) -> ExitCode:
    """Import the transcript that a hook of Claude Code names, in the background; for the plugin, not for people.

    The JSON of the hook is read from standard input. Without `git config gitmem.captureConversations true`, or outside
    a repository, nothing happens. As with `import`, secrets are redacted, and a conversation that is imported again
    gets its later turns. A failure of the background process is counted and logged as `conversation.capture`.

    \b
    Examples:
      echo '{"session_id": "0a1b2c3d", "transcript_path": "/tmp/0a1b2c3d.jsonl"}' | gitmem conversation capture
    """
    # Read in any case: the client might take a closed pipe for a failure.
    data = sys.stdin.buffer.read(_MAX_INPUT + 1) if sys.stdin is not None else b""
    workspace = open_here_if_any(ctx.obj)
    if workspace is None or workspace.settings.capture_conversations != "true":
        return ExitCode.OK
    run_detached(_import_of(workspace, *_parse_input(data)))
    return ExitCode.OK


def _parse_input(data: bytes) -> tuple[Path, str]:
    """Return the transcript that a hook's JSON names, and the id of the session. Raises UsageError."""
    hint = "it is called by the SessionEnd hook of Claude Code; by hand: gitmem conversation import FILE"
    try:
        value = json.loads(data[:_MAX_INPUT])
    except (ValueError, RecursionError):
        value = None
    name = value.get("transcript_path") if isinstance(value, dict) else None
    if not isinstance(name, str) or not name or "\0" in name:
        raise UsageError("expected a JSON object with `transcript_path` on standard input", hint=hint)
    file = Path(name).expanduser()
    if not file.is_file():
        problem = "is not a regular file" if file.exists() else "does not exist"
        raise UsageError(f"the transcript `{name}` {problem}", hint=hint)
    return file.absolute(), str(value.get("session_id") or file.stem)[:_MAX_NAME]


def _import_of(workspace: Workspace, file: Path, session: str) -> Callable[[], None]:
    def import_transcript() -> None:
        # Events are counted only next to an index that is known to be ours.
        find_index(workspace)
        with measured("conversation.capture", workspace.paths) as operation:
            lines = _whole_lines(read_lines(str(file)))
            turns = parse_transcript(lines, session, redact_secrets, file=str(file))
            operation.amounts["turns"] = len(turns)
            operation.amounts["changed"] = import_turns(workspace, turns).changed

    return import_transcript


def _whole_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a transcript that may still be written, without an unfinished last one."""
    for line in lines:
        if line.endswith("\n") or _is_json(line):
            yield line


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True
