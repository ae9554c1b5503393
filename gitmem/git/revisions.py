"""Resolution of a revision to its commit and tree, with one git process, or two if it is unknown."""

import os
from typing import Final

from gitmem.errors import GitFailed, UnknownRevision, UsageError
from gitmem.git.dated_commits import AT, find_commit_at, no_commit
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import first_error_line, run_git
from gitmem.named_tuple import NamedTuple

MAX_REFS_TO_COMPARE: Final = 5000
"""Number of refs among which similar names are suggested for an unknown revision."""


class Revision(NamedTuple):
    """Tree of a revision. `commit` is None if `name` denotes a tree, `branch` is None if it is not a branch."""

    name: str
    commit: str | None
    tree: str
    branch: str | None = None


def resolve(location: RepositoryLocation, rev: str) -> Revision:
    """Return the tree of a commit, tag, branch, tree or `rev:folder`, or of the commit at a date (`at:2024-01-31`).

    The name is passed to git on standard input, so that it can never be interpreted as an option.
    Raises: UnknownRevision, GitFailed; UsageError for an invalid date.
    """
    if rev in ("HEAD", "@"):
        return _head(location, rev)
    if not rev.strip() or any(char in rev for char in "\n\r\0"):
        raise UnknownRevision(f"unknown commit, tag or branch: `{rev!r}`" if rev.strip() else "the revision is empty")
    short = rev.removeprefix("refs/heads/")
    names = [rev, f"{rev}^{{commit}}", f"{rev}^{{tree}}", f"refs/heads/{short}", f"refs/tags/{short}"]
    plain, commit, tree, branch, tag = _look_up(location, names)
    if plain is None and rev.startswith(AT):
        # After git's own names: a branch may be called `at`, and have such a folder.
        return resolve(location, find_commit_at(location, rev.removeprefix(AT)))._replace(name=rev, branch=None)
    if plain is None:
        raise _unknown(location, rev)
    if plain[1] == "tree":
        return Revision(rev, None, plain[0])
    if tree is None and plain[1] != "blob" and rev != plain[0]:
        # `:/text` searches commit messages, and takes `^{tree}` for a part of the text: resolve its id instead.
        return resolve(location, plain[0])._replace(name=rev)
    if tree is None:
        raise UnknownRevision(f"`{rev}` is a {plain[1]}, not a commit or a folder")
    on_branch = branch is not None and (tag is None or rev != short)
    return Revision(rev, commit[0] if commit else None, tree[0], short if on_branch else None)


def resolve_range(location: RepositoryLocation, text: str) -> tuple[Revision, Revision]:
    """Return both ends of `A..B`, or of `A...B`, which begins at their merge base; an omitted side is HEAD.

    Raises: UnknownRevision; UsageError if `text` is not a range.
    """
    first, dots, last = text.partition("..." if "..." in text else "..")
    if not dots or not (first or last):
        raise UsageError(f"not a range of revisions: `{text}`", hint="give both ends, for example main..HEAD")
    since, until = resolve(location, first or "HEAD"), resolve(location, last or "HEAD")
    return (_merge_base(location, since, until) if dots == "..." else since), until


def _merge_base(location: RepositoryLocation, one: Revision, other: Revision) -> Revision:
    if one.commit is None or other.commit is None:
        raise UsageError(f"`{one.name}...{other.name}` needs two commits", hint="`..` compares any two trees")
    result = run_git(["merge-base", one.commit, other.commit], git_dir=location.git_dir, check=False)
    if result.code != 0:
        unshallow = "fetch the rest of the history with: git fetch --unshallow"
        hint = unshallow if location.shallow else "compare them with `..`"
        raise UsageError(f"`{one.name}` and `{other.name}` have no common ancestor", hint=hint)
    return resolve(location, result.stdout.decode("ascii").strip())


def _head(location: RepositoryLocation, rev: str) -> Revision:
    if location.head_commit is None or location.head_tree is None:
        raise no_commit(location)
    return Revision(rev, location.head_commit, location.head_tree, location.branch)


def _look_up(location: RepositoryLocation, names: list[str]) -> list[tuple[str, str] | None]:
    """Return (object id, type) of every name, None for a name that git cannot resolve."""
    stdin = b"".join(os.fsencode(name) + b"\n" for name in names)
    args = ["cat-file", "--batch-check=%(objectname) %(objecttype)"]
    result = run_git(args, git_dir=location.git_dir, stdin=stdin, check=False)
    if "could not fetch" in result.stderr:
        raise UnknownRevision(f"`{names[0]}` is not in this partial clone", hint="fetch it with: git fetch --refetch")
    if result.code != 0:
        raise GitFailed(f"git cannot resolve `{names[0]}`: {first_error_line(result.stderr)}", hint="run: git fsck")
    return [_parse(line, location) for line in result.stdout.split(b"\n")[: len(names)]]


def _parse(line: bytes, location: RepositoryLocation) -> tuple[str, str] | None:
    oid, _, kind = line.decode("ascii", "replace").partition(" ")
    length = 64 if location.object_format == "sha256" else 40
    return (oid, kind) if len(oid) == length and kind in ("commit", "tree", "blob", "tag") else None


def _unknown(location: RepositoryLocation, rev: str) -> UnknownRevision:
    import difflib  # takes milliseconds to import, and a known revision never needs it

    pattern = "--format=%(refname:lstrip=2)"
    count = f"--count={MAX_REFS_TO_COMPARE}"
    listed = run_git(["for-each-ref", pattern, count, "refs/tags", "refs/heads", "refs/remotes"],
                     git_dir=location.git_dir, check=False)  # fmt: skip
    names = os.fsdecode(listed.stdout).splitlines()
    hints = []
    if close := difflib.get_close_matches(rev, names, n=3, cutoff=0.5):
        hints.append("did you mean " + " or ".join(f"`{name}`" for name in close) + "?")
    if location.shallow:
        hints.append("this is a shallow clone; fetch the rest of its history with: git fetch --unshallow")
    return UnknownRevision(f"unknown commit, tag or branch: `{rev}`", hint=" ".join(hints))
