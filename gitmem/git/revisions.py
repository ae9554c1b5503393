"""From what a person calls a revision to the commit and the tree it names. One git child, two when it names nothing."""

import os
from typing import Final, NamedTuple

from gitmem.errors import GitFailed, UnknownRevision, UsageError
from gitmem.git.locate import Location
from gitmem.git.program import first_error_line, run_git

MAX_REFS_TO_COMPARE: Final = 5000


class Revision(NamedTuple):
    """A tree and how it was asked for. `commit` is None when a tree was named directly, `branch` when no branch was."""

    name: str
    commit: str | None
    tree: str
    branch: str | None = None


def resolve(location: Location, rev: str) -> Revision:
    """Find the tree that a commit, tag, branch, tree or `rev:folder` names; raises UnknownRevision.

    The name is handed to git as data on standard input, so that it can never be taken for an option.
    """
    if rev in ("HEAD", "@"):
        return _head(location, rev)
    if not rev.strip() or any(char in rev for char in "\n\r\0"):
        raise UnknownRevision(f"`{rev!r}` names no commit, tag or branch" if rev.strip() else "the revision is empty")
    short = rev.removeprefix("refs/heads/")
    asked = [rev, f"{rev}^{{commit}}", f"{rev}^{{tree}}", f"refs/heads/{short}", f"refs/tags/{short}"]
    plain, commit, tree, branch, tag = _ask(location, asked)
    if plain is None:
        raise _unknown(location, rev)
    if plain[1] == "tree":
        return Revision(rev, None, plain[0])
    if (
        tree is None and plain[1] != "blob" and rev != plain[0]
    ):  # `:/text` takes everything behind it for text, `^{tree}` too
        return resolve(location, plain[0])._replace(name=rev)
    if tree is None:
        raise UnknownRevision(f"`{rev}` names a {plain[1]}, not a commit or a folder")
    on_branch = branch is not None and (tag is None or rev != short)
    return Revision(rev, commit[0] if commit else None, tree[0], short if on_branch else None)


def resolve_range(location: Location, text: str) -> tuple[Revision, Revision]:
    """Both ends of `A..B`, or of `A...B`, which begins where the two parted; a side left out is HEAD.

    Raises: UnknownRevision, UsageError for what is no range.
    """
    first, dots, last = text.partition("..." if "..." in text else "..")
    if not dots or not (first or last):
        raise UsageError(f"`{text}` is no range of revisions", hint="name both ends: main..HEAD")
    since, until = resolve(location, first or "HEAD"), resolve(location, last or "HEAD")
    return (_merge_base(location, since, until) if dots == "..." else since), until


def _merge_base(location: Location, one: Revision, other: Revision) -> Revision:
    if one.commit is None or other.commit is None:
        raise UsageError(f"`{one.name}...{other.name}` needs two commits", hint="`..` compares any two trees")
    found = run_git(["merge-base", one.commit, other.commit], git_dir=location.git_dir, check=False)
    if found.code != 0:
        hint = (
            "get the rest of the history with: git fetch --unshallow" if location.shallow else "compare them with `..`"
        )
        raise UsageError(f"`{one.name}` and `{other.name}` have no commit in common", hint=hint)
    return resolve(location, found.stdout.decode("ascii").strip())


def _head(location: Location, rev: str) -> Revision:
    if location.head_commit is None or location.head_tree is None:
        raise UnknownRevision("the repository has no commit yet", hint="commit something first")
    return Revision(rev, location.head_commit, location.head_tree, location.branch)


def _ask(location: Location, names: list[str]) -> list[tuple[str, str] | None]:
    """(object id, type) of every name, None for a name that git cannot resolve."""
    stdin = b"".join(os.fsencode(name) + b"\n" for name in names)
    question = ["cat-file", "--batch-check=%(objectname) %(objecttype)"]
    result = run_git(question, git_dir=location.git_dir, stdin=stdin, check=False)
    if "could not fetch" in result.stderr:
        raise UnknownRevision(f"`{names[0]}` is not in this partial clone", hint="get it with: git fetch --refetch")
    if result.code != 0:
        raise GitFailed(f"git cannot resolve `{names[0]}`: {first_error_line(result.stderr)}", hint="run: git fsck")
    return [_parse(line, location) for line in result.stdout.split(b"\n")[: len(names)]]


def _parse(line: bytes, location: Location) -> tuple[str, str] | None:
    oid, _, kind = line.decode("ascii", "replace").partition(" ")
    length = 64 if location.object_format == "sha256" else 40
    return (oid, kind) if len(oid) == length and kind in ("commit", "tree", "blob", "tag") else None


def _unknown(location: Location, rev: str) -> UnknownRevision:
    import difflib  # takes milliseconds to import, and a good revision never needs it

    pattern = "--format=%(refname:lstrip=2)"
    count = f"--count={MAX_REFS_TO_COMPARE}"
    listed = run_git(["for-each-ref", pattern, count, "refs/tags", "refs/heads", "refs/remotes"],
                     git_dir=location.git_dir, check=False)  # fmt: skip
    names = os.fsdecode(listed.stdout).splitlines()
    hints = []
    if close := difflib.get_close_matches(rev, names, n=3, cutoff=0.5):
        hints.append("did you mean " + " or ".join(f"`{name}`" for name in close) + "?")
    if location.shallow:
        hints.append("this is a shallow clone, its history is cut; get the rest with: git fetch --unshallow")
    return UnknownRevision(f"`{rev}` names no commit, tag or branch of this repository", hint=" ".join(hints))
