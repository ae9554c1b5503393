"""`gitmem index URL`: clone a repository into the user's data folder, or fetch into its clone."""

from collections.abc import Callable, Mapping
from pathlib import Path

from gitmem.events import hide
from gitmem.git.git_config import read_config
from gitmem.git.program import TOKEN_VARIABLE
from gitmem.git.remote_clone import CloneOptions, update_clone
from gitmem.git.remote_url import parse_remote_url, require_allowed_host
from gitmem.settings import PREFIX, parse_settings


def fetch_repository(
    text: str,
    folder: Path,
    environment: Mapping[str, str],
    options: CloneOptions,
    on_start: Callable[[str], None] = lambda _action: None,
) -> Path:
    """Return the git directory of the clone of a URL, at its newest state. `folder` is that of the command.

    Raises: UsageError, also if the host is not allowed; ConfigError, UnknownRevision, GitFailed, StorageFailed.
    """
    url = parse_remote_url(text)
    # Of the user alone: which hosts a machine may contact is not for the repository of the current folder to decide.
    entries = (entry for entry in read_config(None, folder) if entry.key.startswith(PREFIX))
    hosts = parse_settings((entry for entry in entries if entry.scope in ("system", "global")), environment)
    require_allowed_host(url, hosts.allowed_hosts)
    token = environment.get(TOKEN_VARIABLE, "")
    hide(token)
    return update_clone(url, environment, options._replace(token=token), on_start)
