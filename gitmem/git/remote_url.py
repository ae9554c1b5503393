"""URLs of repositories on other machines: which ones gitmem clones, and from which hosts.

git accepts far more than https and ssh: `ext::` runs a command, `file://` reads any folder, and `-oProxyCommand` as a
host is an option of ssh. So a URL is taken apart here, and only the parts that were checked reach git. Pure.
"""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

from gitmem.errors import UsageError
from gitmem.named_tuple import NamedTuple

MAX_URL: Final = 2000
"""Largest number of characters in a URL."""

_EXAMPLE: Final = "for example https://github.com/pallets/flask or git@github.com:pallets/flask.git"
_PORTS: Final = {"https": "443", "ssh": "22"}
"""The protocols that are allowed, with their usual ports."""

# `user@host:path`, as for scp. A slash before the colon makes it a path, and two colons name a helper program.
_SHORT: Final = re.compile(r"(?P<user>[^@/:]+)@(?P<host>[^@/:]+):(?!:)(?P<path>.+)", re.DOTALL)
_FULL: Final = re.compile(r"(?P<scheme>[^:/]*)://(?P<place>[^/]*)(?P<path>.*)", re.DOTALL)
_HELPER: Final = re.compile(r"[\w.+-]+::")
_PLACE: Final = re.compile(r"(?:(?P<user>.*)@)?(?P<host>[^@:]*)(?::(?P<port>[0-9]{1,5}))?", re.DOTALL)

# No leading dash in any part: ssh would take it for an option.
_HOST: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
_USER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


class RemoteUrl(NamedTuple):
    """Checked URL. `text` is for git; `host` has the port if it is not the usual one; `name` is that of the repository.

    `key` is equal for all URLs of a repository, whatever the protocol.
    """

    text: str
    host: str
    name: str
    key: str

    @property
    def is_https(self) -> bool:
        """Whether git asks for a user and a password."""
        return self.text.startswith("https:")


def is_remote_url(text: str) -> bool:
    """Return whether a text is meant as a URL, not as a path: also one that `parse_remote_url` refuses."""
    return "://" in text or bool(_HELPER.match(text) or _SHORT.fullmatch(text))


def parse_remote_url(text: str) -> RemoteUrl:
    """Check a URL and take it apart. Raises: UsageError; the message never contains a password."""
    if len(text) > MAX_URL or any(not char.isprintable() or char.isspace() for char in unquote(text)):
        raise UsageError("the URL is too long, or has a space or a control character in it", hint=_EXAMPLE)
    if helper := _HELPER.match(text):
        raise UsageError(f"`{helper[0]}` names a helper program of git", hint=f"use https or ssh, {_EXAMPLE}")
    short, full = _SHORT.fullmatch(text), _FULL.fullmatch(text)
    scheme = "ssh" if short else full["scheme"].lower() if full else text.partition(":")[0]
    if scheme not in _PORTS:
        raise UsageError(f"`{scheme}` is not a protocol that gitmem clones by", hint=f"use https or ssh, {_EXAMPLE}")
    if short:
        # The short form stays: its path begins in the home of the user, that of a URL at the root.
        url = _check("ssh", short["user"], short["host"], "", short["path"])
        return url._replace(text=f"{short['user']}@{url.host}:{short['path']}")
    place = _PLACE.fullmatch(full["place"]) if full else None
    if full is None or place is None:
        raise UsageError("the URL has no valid host", hint=_EXAMPLE)
    return _check(scheme, place["user"] or "", place["host"], place["port"] or "", full["path"])


def require_allowed_host(url: RemoteUrl, hosts: Sequence[str]) -> None:
    """Raise UsageError unless the host of a URL is among those that the user allows."""
    if url.host not in [host.lower() for host in hosts]:
        allowed = ", ".join([*hosts, url.host])
        raise UsageError(
            f"the host `{url.host}` is not allowed", hint=f'git config --global gitmem.allowedHosts "{allowed}"'
        )


def _check(scheme: str, user: str, host: str, port: str, path: str) -> RemoteUrl:
    """Put a URL together again from its parts. Raises: UsageError."""
    host = host.lower()
    if not _HOST.fullmatch(host):
        raise UsageError("the URL has no valid host", hint=_EXAMPLE)
    # git writes the URL into its configuration and its messages, and a token often stands where the user does.
    if user and (scheme == "https" or ":" in user):
        hint = "put a token into GITMEM_GIT_TOKEN, or use a credential helper of git"
        raise UsageError(f"the URL of `{host}` has a user or a password in it", hint=hint)
    if user and not _USER.fullmatch(user):
        raise UsageError(f"the URL of `{host}` has no valid user", hint=_EXAMPLE)
    names = [name for name in path.split("/") if name]
    if not names or "?" in path or "#" in path or not {".git", "..", "."}.isdisjoint(names):
        raise UsageError(f"the URL of `{host}` names no repository", hint=_EXAMPLE)
    if names[0].startswith("-"):
        raise UsageError(f"the path in the URL of `{host}` begins with a dash", hint=_EXAMPLE)
    with_port = f"{host}:{port}" if port and port != _PORTS[scheme] else host
    names[-1] = names[-1].removesuffix(".git")
    text = f"{scheme}://{user}{'@' if user else ''}{with_port}{path.rstrip('/')}"
    return RemoteUrl(text, with_port, unquote(names[-1]), f"{with_port}/{'/'.join(names)}")
