"""Answer a completion script: parse the words of an unfinished command line and print the values that may follow."""

import shlex
from collections.abc import Iterator, Mapping

from click.shell_completion import CompletionItem, ShellComplete

from gitmem.cli.leading_options import COMPLETION
from gitmem.cli.root import root
from gitmem.display import visible
from gitmem.errors import ExitCode, GitmemError

WORDS_VARIABLE = "_GITMEM_WORDS"
"""Words before the cursor, one in a line, the unfinished one last (zsh, fish)."""

LINE_VARIABLE = "_GITMEM_LINE"
"""Command line before the cursor (bash)."""

BREAKS_VARIABLE = "_GITMEM_BREAKS"
"""Characters at which bash begins a new word, so that it replaces only the part behind the last of them."""

_KINDS = {"dir": "folder"}
_SENTINEL = "\x01"


def reply(environment: Mapping[str, str]) -> ExitCode:
    """Print a line for each value: kind, value and description. Print nothing if anything is wrong."""
    words = _split_line(environment[LINE_VARIABLE]) if LINE_VARIABLE in environment else _read_words(environment)
    try:
        items = list(_complete(words[1:-1], words[-1]))
    except (GitmemError, OSError):  # an error message between the words of a command line would help nobody
        return ExitCode.OK
    skipped = _broken_off(words[-1], environment.get(BREAKS_VARIABLE, ""))
    for item in items:
        description = visible(item.help or "")
        if visible(item.value) == item.value:
            print("\t".join([_KINDS.get(item.type, item.type), item.value[skipped:], description]))
    return ExitCode.OK


def _read_words(environment: Mapping[str, str]) -> list[str]:
    return ["", *environment.get(WORDS_VARIABLE, "").split("\n")[1:]] if WORDS_VARIABLE in environment else ["", ""]


def _split_line(line: str) -> list[str]:
    """Split a line as a shell does; the last word may be empty or lack its closing quote."""
    # The sentinel makes an empty last word visible to the lexer.
    lexer = shlex.shlex(line + _SENTINEL, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words = []
    try:
        while (word := lexer.get_token()) is not None:
            words.append(word)
    except ValueError:  # an open quote
        words.append(lexer.token)
    words[-1] = words[-1].replace(_SENTINEL, "")
    return words if len(words) > 1 else [*words, ""]


def _complete(args: list[str], incomplete: str) -> Iterator[CompletionItem]:
    """Yield the values that may follow, as whole words."""
    name, equals, _ = incomplete.partition("=")
    option = f"{name}=" if equals and name.startswith("--") else ""
    for item in ShellComplete(root, {}, "gitmem", COMPLETION).get_completions(args, incomplete):
        if item.type in ("file", "dir"):
            item.value = ""
        elif option and not item.value.startswith(option):
            item.value = option + item.value
        yield item


def _broken_off(incomplete: str, breaks: str) -> int:
    """Return the length of the part of a word that bash does not replace."""
    return max((incomplete.rfind(sign) for sign in ":=" if sign in breaks), default=-1) + 1
