"""Repositories whose commits are all about their messages, made by one process of git."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from tests.gitrepo import Repo

FIRST_SECONDS: Final = 1_700_000_000
DAY: Final = 86_400


class Message(NamedTuple):
    """Message of a commit, with its author. The commits of a list are a day apart, the first on 14 November 2023."""

    text: str
    author: str = "Ada Lovelace <ada@example.invalid>"


def import_messages(repo: Repo, messages: Sequence[Message], *, branch: str = "main", parent: str = "") -> list[str]:
    """Add a commit for each message to a branch, on top of `parent` if one is given; return the ids, oldest first."""
    parts = []
    for number, message in enumerate(messages):
        text = message.text.encode()
        when = f"{FIRST_SECONDS + number * DAY} +0000"
        parts.append(f"commit refs/heads/{branch}\n".encode())
        parts += [f"{role} {message.author} {when}\n".encode() for role in ("author", "committer")]
        parts.append(b"data %d\n%s\n" % (len(text), text))
        parts += [f"from {parent}\n".encode()] if parent and number == 0 else []
        parts.append(b"M 100644 inline number.txt\ndata %d\n%d\n\n" % (len(str(number)), number))
    repo.git("fast-import", "--quiet", "--force", stdin=b"".join(parts))
    listed = repo.git("rev-list", "--reverse", f"--max-count={len(messages)}", branch)
    repo.git("reset", "--quiet", "--hard")
    return listed.split()
