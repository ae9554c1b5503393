"""Lines that gitmem inserts into a hook file, and their removal that restores every byte.

Pure, except that the templates are read from `hooks/`.

The lines follow the `#!` line: at the end of a script they would never run after an `exec` or `exit`. They start a
subshell in the background, and the hook goes on at once. The subshell starts a second one and exits: that one is no
child of the hook, so a `wait` in the hook does not wait for gitmem.

The first line records the origin of the lines, which the removal needs: inserted into an existing script, below a line
without a line feed, in a new file, in a new folder, or in a wrapper.
"""

import re
import shlex
from collections.abc import Sequence
from typing import Final

from gitmem.install.hook_state import PUSHES
from gitmem.paths import PUSHING, STARTING, bundled

ORIGINAL_SUFFIX: Final = ".before-gitmem"
"""Suffix of the second name of a hook that a wrapper replaces."""

# Origins. Their texts are part of installed hooks: a changed text would make those impossible to remove.
INSERTED: Final = ""
BELOW_OPEN_LINE: Final = " (below a line without line feed)"
NEW_FILE: Final = " (with this file)"
NEW_FOLDER: Final = " (with this file and its folder)"
WRAPPER: Final = " (before the hook beside)"

_SHEBANG: Final = "#!/bin/sh\n"
_BLOCK: Final = re.compile(
    rb"^# >>> gitmem >>>[^\n(]*(?P<origin>(?: \([a-z ]+\))?)\n.*?^# <<< gitmem <<<\n", re.MULTILINE | re.DOTALL
)


def make_block(event: str, program: Sequence[str], origin: str) -> bytes:
    """Return the lines for an event. `program` is the command of this gitmem, used if there is none on PATH."""
    return _fill("block.sh", EVENT=event, STARTING=starting_file(event), PROGRAM=shlex.join(program), NOTE=origin)


def starting_file(event: str) -> str:
    """Return the name of the marker by which hooks that run at the same time start one process.

    A push has its own: the process of a commit just before does not share records.
    """
    return PUSHING if event == PUSHES else STARTING


def make_file(event: str, program: Sequence[str], origin: str) -> bytes:
    """Return a hook file with nothing but our lines."""
    return _SHEBANG.encode() + make_block(event, program, origin)


def make_wrapper(event: str, program: Sequence[str]) -> bytes:
    """Return a hook file that starts gitmem, then executes the original hook."""
    block = make_block(event, program, WRAPPER).decode("utf-8", "surrogateescape").removesuffix("\n")
    return _fill("wrapper.sh", EVENT=event, BLOCK=block)


def make_command(program: Sequence[str]) -> str:
    """Return the lines as one command for git's configuration.

    It ends with a comment sign, because git appends arguments.
    """
    return _fill("command.sh", PROGRAM=shlex.join(program)).decode("utf-8", "surrogateescape").removesuffix("\n")


def _fill(template: str, **values: str) -> bytes:
    text = (bundled("hooks") / template).read_text(encoding="utf-8")
    text = re.sub(r"@([A-Z]+)@", lambda match: values[match[1]], text)
    return text.encode("utf-8", "surrogateescape")


def find_origin(content: bytes) -> str | None:
    """Return the origin of our lines in a file, None if it has none."""
    block = _BLOCK.search(content)
    return block["origin"].decode() if block else None


def is_current(content: bytes, event: str, program: Sequence[str]) -> bool:
    """Return whether a file has our lines exactly as this version writes them."""
    block = _BLOCK.search(content)
    return block is not None and block[0] == make_block(event, program, block["origin"].decode())


def insert_block(content: bytes, event: str, program: Sequence[str]) -> bytes:
    """Insert our lines into a shell script: below its `#!` line, or at the top without one."""
    if not content.startswith(b"#!"):
        return make_block(event, program, INSERTED) + content
    first, feed, rest = content.partition(b"\n")
    return first + b"\n" + make_block(event, program, INSERTED if feed else BELOW_OPEN_LINE) + rest


def update_block(content: bytes, event: str, program: Sequence[str]) -> bytes:
    """Replace our lines in a file by those that this version writes."""
    return _BLOCK.sub(lambda block: make_block(event, program, block["origin"].decode()), content, count=1)


def remove_block(content: bytes, event: str) -> bytes | None:
    """Return the content of a file before our lines came, None if there was no such file."""
    block = _BLOCK.search(content)
    if block is None:
        return content
    origin = block["origin"].decode()
    before, after = content[: block.start()], content[block.end() :]
    if origin == BELOW_OPEN_LINE and not after:
        before = before.removesuffix(b"\n")
    # A file of our own goes only if nobody has added lines to it; else only our lines go.
    is_ours = before == _SHEBANG.encode() and (
        (origin in (NEW_FILE, NEW_FOLDER) and not after) or (origin == WRAPPER and _is_wrapper_end(after, event))
    )
    return None if is_ours else before + after


def _is_wrapper_end(content: bytes, event: str) -> bool:
    """Return whether content is the rest of a wrapper below our lines."""
    expected = _fill("wrapper.sh", EVENT=event, BLOCK="").partition(b"\n\n")[2]
    # Compare without the comment line: its words differ between versions, the commands do not.
    return content.startswith(b"# ") and content.partition(b"\n")[2] == expected.partition(b"\n")[2]
