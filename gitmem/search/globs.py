"""Path filters of a question: gitignore syntax, case kept. A bare folder or file name matches at any depth."""

from collections.abc import Callable, Sequence

from gitmem.errors import UsageError


def compile_globs(include: Sequence[str], exclude: Sequence[str]) -> Callable[[bytes], bool]:
    """A test of whether a path is included by at least one pattern (where there are any) and excluded by none.

    Raises: UsageError for a pattern that cannot be read.
    """
    from pathspec import GitIgnoreSpec

    try:
        wanted = GitIgnoreSpec.from_lines(include) if include else None
        unwanted = GitIgnoreSpec.from_lines(exclude) if exclude else None
    except ValueError as problem:
        raise UsageError(f"a path pattern cannot be read: {problem}") from problem

    def matches(path: bytes) -> bool:
        text = path.decode("utf-8", "surrogateescape")
        if wanted is not None and not wanted.match_file(text):
            return False
        return unwanted is None or not unwanted.match_file(text)

    return matches
