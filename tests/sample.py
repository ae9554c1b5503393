"""Small repository in several languages, the outcome of a command line, and assertions on errors."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gitmem.workspace import Workspace, open_workspace
from tests.gitrepo import Repo

HOSTILE: Final = b"evil\n\x1b[31mred\xe2\x80\xae.py"
LATIN: Final = b"caf\xe9.py"

FILES: Final[Mapping[str, str | bytes]] = {
    "src/cookies.py": '''"""Sessions kept in signed cookies."""


class CookieSession:
    """Reads and writes the session cookie."""

    def sign_cookie(self, value: str, secret: str) -> str:
        """Sign the cookie with the secret key of the application."""
        return value + "." + make_signature(value, secret)

    def load_cookie(self, header: str) -> dict[str, str]:
        """Parse the cookie header of a request."""
        return dict(part.split("=", 1) for part in header.split("; "))


def make_signature(value: str, secret: str) -> str:
    """The HMAC of a value as hexadecimal text."""
    return hmac.new(secret.encode(), value.encode(), "sha256").hexdigest()
''',
    "src/copy_of_cookies.py": "",
    "src/routing.ts": """/** Finds the handler of a request by its path. */
export function matchRoute(path: string, routes: Route[]): Route | undefined {
  return routes.find((route) => route.pattern.test(path));
}

export class Router {
  /** Adds a handler for a path pattern. */
  addRoute(pattern: RegExp, handler: Handler): void {
    this.routes.push({ pattern, handler });
  }
}
""",
    "docs/guide.md": """# Guide

## Deploying

Put the service behind a reverse proxy.

## Backups

Copy the database every night.
""",
    "notes.txt": "Remember to rotate the signing key every quarter.\n",
    "logo.png": b"\x89PNG\r\n\x1a\n\0\0\0",
    "empty.py": "",
    "package-lock.json": '{"lockfileVersion": 3}\n',
}

SIGN: Final = "sign the cookie with the secret key"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Exit code and output of a command line."""

    code: int
    out: str
    err: str


Cli = Callable[..., Outcome]


def make_sample(path: Path) -> Repo:
    """Make the sample repository with two commits; `v1` has the cookies in another file."""
    repo = Repo.init(path)
    repo.commit({"old/session.py": FILES["src/cookies.py"]})
    repo.git("tag", "v1")
    repo.git("rm", "-q", "old/session.py")
    files = {**FILES, "src/copy_of_cookies.py": FILES["src/cookies.py"]}
    repo.commit(files)
    return repo


def open_sample(repo: Repo) -> Workspace:
    """Open the workspace of a repository."""
    return open_workspace(repo.path, {})


def assert_error(outcome: Outcome, code: int, *fragments: str) -> None:
    """Assert that the only output is an error with these fragments, and a hint at most, on standard error."""
    lines = outcome.err.splitlines()
    assert outcome.code == code, outcome
    assert outcome.out == ""
    assert lines[0].startswith("error: "), outcome.err
    assert len(lines) == 1 or (len(lines) == 2 and lines[1].startswith("hint: ")), outcome.err
    for fragment in fragments:
        assert fragment in outcome.err


def segment_files(repo: Repo) -> list[Path]:
    """Return the segment files of a repository's index."""
    return sorted((repo.path / ".gitmem" / "segments").iterdir())


def without_index_times(output: str) -> str:
    """Return the output of `--jsonl` without the times at which segments were written: a rebuild changes them."""
    return re.sub(r'"indexed_at":"[^"]*"', '"indexed_at":""', output)


def damage(path: Path, at: int = -200, replacement: bytes = b"\xff\xfe\xfd") -> None:
    """Overwrite a few bytes of a file."""
    data = bytearray(path.read_bytes())
    place = at % len(data)
    data[place : place + len(replacement)] = bytes(byte ^ 0xA5 for byte in data[place : place + len(replacement)])
    path.write_bytes(bytes(data))


Json = dict[str, Any]
