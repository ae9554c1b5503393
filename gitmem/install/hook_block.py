"""The lines that gitmem puts into a hook file, and how they are taken out again so that every byte is as before. Pure
but for the templates, which are read from `hooks/`.

They stand directly below the `#!` line: at the end they would never run behind an `exec` or `exit`. The hook's shell
makes one copy of itself and does not wait for it, which nobody feels; that copy makes another and ends, so that a
`wait` of the hook's own does not wait for gitmem either.
"""

import re
import shlex
from collections.abc import Sequence
from typing import Final

from gitmem.paths import bundled

BESIDE: Final = ".before-gitmem"
"""What is added to the name of a hook that a wrapper stands in for."""

JOINED: Final = ""
OPEN_LINE: Final = " (below a line without line feed)"
WITH_FILE: Final = " (with this file)"
WITH_FOLDER: Final = " (with this file and its folder)"
WRAPPER: Final = " (before the hook beside)"

_SHEBANG: Final = "#!/bin/sh\n"
_BLOCK: Final = re.compile(
    rb"^# >>> gitmem >>>[^\n(]*(?P<note>(?: \([a-z ]+\))?)\n.*?^# <<< gitmem <<<\n", re.MULTILINE | re.DOTALL
)


def make_block(event: str, program: Sequence[str], note: str) -> bytes:
    """The lines for an event. `program` starts gitmem where it is not on the path; `note` says how it was put there."""
    return _fill("block.sh", EVENT=event, PROGRAM=shlex.join(program), NOTE=note)


def make_file(event: str, program: Sequence[str], note: str) -> bytes:
    """A hook file with nothing else in it."""
    return _SHEBANG.encode() + make_block(event, program, note)


def make_wrapper(event: str, program: Sequence[str]) -> bytes:
    """A hook file that does ours, then becomes the hook beside it."""
    block = make_block(event, program, WRAPPER).decode("utf-8", "surrogateescape").removesuffix("\n")
    return _fill("wrapper.sh", EVENT=event, BLOCK=block)


def make_command(program: Sequence[str]) -> str:
    """The same for git's configuration, on one line; what git appends to it is commented out."""
    return _fill("command.sh", PROGRAM=shlex.join(program)).decode("utf-8", "surrogateescape").removesuffix("\n")


def _fill(template: str, **values: str) -> bytes:
    text = (bundled("hooks") / template).read_text(encoding="utf-8")
    text = re.sub(r"@([A-Z]+)@", lambda found: values[found[1]], text)
    return text.encode("utf-8", "surrogateescape")


def find_note(content: bytes) -> str | None:
    """How the lines came into a file, None where there are none."""
    found = _BLOCK.search(content)
    return found["note"].decode() if found else None


def holds(content: bytes, event: str, program: Sequence[str]) -> bool:
    """Whether a file has the lines of today."""
    found = _BLOCK.search(content)
    return found is not None and found[0] == make_block(event, program, found["note"].decode())


def join(content: bytes, event: str, program: Sequence[str]) -> bytes:
    """A script of the shell with our lines below its first one, or at its top where it has no `#!`."""
    if not content.startswith(b"#!"):
        return make_block(event, program, JOINED) + content
    first, feed, rest = content.partition(b"\n")
    return first + b"\n" + make_block(event, program, JOINED if feed else OPEN_LINE) + rest


def renew(content: bytes, event: str, program: Sequence[str]) -> bytes:
    """The same file with the lines of today in the place of those it has."""
    return _BLOCK.sub(lambda found: make_block(event, program, found["note"].decode()), content, count=1)


def part(content: bytes, event: str) -> bytes | None:
    """What a file was before our lines came; None where it was not there."""
    found = _BLOCK.search(content)
    if found is None:
        return content
    note = found["note"].decode()
    before, after = content[: found.start()], content[found.end() :]
    if note == OPEN_LINE and not after:
        before = before.removesuffix(b"\n")
    ours = {WITH_FILE: b"", WITH_FOLDER: b"", WRAPPER: _fill("wrapper.sh", EVENT=event, BLOCK="").partition(b"\n\n")[2]}
    return None if before == _SHEBANG.encode() and ours.get(note) == after else before + after
