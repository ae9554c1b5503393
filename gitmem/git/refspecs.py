"""Which remotes write to a ref when they are fetched: they overwrite it, and with pruning they delete it."""

from collections import defaultdict
from collections.abc import Iterable

from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import run_git


def find_fetching_remotes(location: RepositoryLocation, name: str) -> list[str]:
    """Return the remotes whose configured refspecs write to a ref, sorted by name."""
    args = ["config", "--null", "--get-regexp", r"^remote\..*\.fetch$"]
    output = run_git(args, git_dir=location.git_dir, check=False).stdout.decode("utf-8", "surrogateescape")
    specs: defaultdict[str, list[str]] = defaultdict(list)
    for entry in output.split("\0"):
        key, _, value = entry.partition("\n")
        specs[key.removeprefix("remote.").removesuffix(".fetch")].append(value)
    return sorted(remote for remote, values in specs.items() if _writes(values, name))


def _writes(specs: Iterable[str], name: str) -> bool:
    """Return whether refspecs write to a ref. A negative one (`^`) excludes it from fetching and from pruning."""
    writes = False
    for spec in specs:
        if spec.startswith("^"):
            if _matches(spec[1:], name):
                return False
        else:
            writes = writes or _matches(spec.partition(":")[2], name)
    return writes


def _matches(pattern: str, name: str) -> bool:
    before, star, after = pattern.partition("*")
    if not star:
        return pattern == name
    return len(name) >= len(before) + len(after) and name.startswith(before) and name.endswith(after)
