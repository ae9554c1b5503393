"""Find the places that a text names: paths, with a line and a function if it is the frame of a stack trace. Pure.

All languages print a frame as a path, a line and mostly a function, in different order and punctuation. So one
expression finds path and line, and a second one the function around them; no language has a parser of its own.
"""

import re
from collections.abc import Iterator
from typing import Final

from gitmem.named_tuple import NamedTuple

MAX_MENTIONS: Final = 64
"""Places that are kept. The outermost frames of a deep stack say little."""

MAX_LINE: Final = 1000
"""Characters of a line that are searched: bounds the cost of hostile lines."""

_PATH: Final = r"(?P<path>(?:[A-Za-z]:)?(?:[~@\w.+$%-]{0,80}[\\/]){0,40}[\w@+-][\w.@+-]{0,120}\.[A-Za-z]\w{0,9}(?!\w))"
_LINE: Final = (
    r"(?:[\"'`\])]?(?:\(file:[^)\s]*\))?(?:,? (?:on |at )?line |:line |:(?=\d)|\((?=\d)|#L)(?P<line>\d{1,7})"
    r"(?:[:,.]\d+|-L?\d+)?\)?)"
)
_LOCATED: Final = re.compile(rf"(?<![\w.@/\\-]){_PATH}(?:{_LINE})?")
_URL: Final = re.compile(
    r"https?://[\w.-]+/[^\s/]+/[^\s/]+/(?:-/)?(?:blob|tree|raw|src|blame|browse)/(?:branch/|commit/)?[^\s/]+/"
    r"(?P<path>[^\s#?)\]>\"']+)(?:\?[^\s#]*)?(?:#L?(?P<line>\d{1,7}))?"
)
_OTHER_URL: Final = re.compile(r"\w+://\S+")

_AFTER: Final = re.compile(
    r"[\])\"']?(?:\([^)\s]*\))?,? ?:?\s?in (?:function )?(?P<symbol>[`'\"]?[\w.$<>:~#?!\[\]]+)"  # Python, Ruby, Lua
    r"|\)?:\s(?P<method>[\w.\\]+(?:->|::|\.)\w+[!?]?)[(/]"  # PHP, Elixir
)
"""Functions after their place."""
_BEFORE: Final = (
    re.compile(r"\bat (?:async |new )?(?P<symbol>[\w.$<>:\[\]~/]+)(?: \[as \w+\])?\s*\(.*$"),  # JavaScript, Java, C#
    re.compile(r"`(?P<symbol>[\w:~.$<>]+)(?:\(.*\))?(?: \+ \d+)? at $"),  # lldb
    re.compile(r"#\d+:?\s+(?:0x[0-9a-f]+ )?(?:in )?(?P<symbol>[\w:~.$<>]+)(?:[ (]|$)"),  # gdb, sanitizers, Dart
)
"""Functions before their place."""
_ALONE: Final = (
    re.compile(r"\s*(?:\d+:|#\d+)\s*(?:0x[0-9a-f]+ - )?(?P<symbol>[\w:<>{}$]+)\s*$"),  # Rust
    re.compile(r"(?:[\w.-]+/)*(?P<symbol>[\w.]+(?:\.\(\*?\w+\))?(?:\.\w+)+)\(.*\)\s*$"),  # Go
    re.compile(r"\s*\[\d+\] (?P<symbol>\w+[!?]?)\("),  # Julia
)
"""Functions on the line before their place."""

_MAY_LOCATE: Final = re.compile(r"\.[A-Za-z]\w*.{0,40}\d|\.[A-Za-z]\w*.{0,200} in ")
_FRAME_START: Final = re.compile(
    r"\s*(?:\* )?(?:File [\"']|at |@ |from |#\d+|frame #|\d+: |\[\d+\] |~?/|[A-Za-z]:[\\/]|\t|\[)|.*[)\]'\"`]?:\d+:in "
)
_SEPARATORS: Final = re.compile(r"::|->|[.#$:\\/]|\(\*?|\)")
_NO_FUNCTION: Final = frozenset(
    ("", "module", "listcomp", "lambda", "genexpr", "dictcomp", "anonymous", "top", "init", "clinit")
)
_INNERMOST_LAST: Final = re.compile(r"\s*File [\"']|.*? in [\w.<>]+\(.*\)\s*$|\s*File .*, in |.*most recent call last")


_STACK_START: Final = re.compile(r"\s*(?:Traceback \(|goroutine \d|Caused by:|During handling|The above exception)")


class Mention(NamedTuple):
    """A path that a text names, in its parts as written; `line` 0 and `symbol` "" if unknown.

    A frame has the number of its stack in the text, from 1, and its `depth` from the innermost frame on.
    """

    path: tuple[str, ...]
    line: int = 0
    symbol: str = ""
    stack: int = 0
    depth: int = 0


def is_frame(line: str) -> bool:
    """Return whether a line is the frame of a stack trace: it names a path with a line or a function."""
    # Most lines have neither a number nor ` in `, and the full expression is slow.
    if not _MAY_LOCATE.search(line):
        return False
    starts = _FRAME_START.match(line) is not None
    return any(_symbol_near(line, match) or (starts and match["line"]) for match in _LOCATED.finditer(line))


def find_mentions(text: str) -> list[Mention]:
    """Return the places that a text names, without repetitions; those with a line or a folder come first."""
    mentions: dict[Mention, None] = {}
    stack = _Stack()
    number = 0
    before = ""
    for line in (line[:MAX_LINE] for line in text.splitlines()):
        own = list(_mentions_in(line, before))
        if own and is_frame(line):
            # The qualified name of a function looks like a file, too.
            stack.add(line, [mention for mention in own if mention.line or mention.symbol])
        else:
            mentions.update(dict.fromkeys(own))
            if stack.frames and (not line.strip() or _STACK_START.match(line)):
                number += 1
                mentions.update(dict.fromkeys(stack.number(number)))
                stack = _Stack()
        before = line
    mentions.update(dict.fromkeys(stack.number(number + 1)))
    # Words with a dot in them (`plt.show`) look like files: what surely is a place comes first.
    ordered = sorted(mentions, key=lambda one: (not (one.line or len(one.path) > 1), one.depth))
    return ordered[:MAX_MENTIONS]


class _Stack:
    """Frames of a stack trace in the order of the text."""

    def __init__(self) -> None:
        self.frames: list[Mention] = []
        self._innermost_last = False

    def add(self, line: str, mentions: list[Mention]) -> None:
        self.frames += mentions
        self._innermost_last |= _INNERMOST_LAST.match(line) is not None

    def number(self, stack: int) -> list[Mention]:
        """Return the frames with the number of their stack and their depth."""
        ordered = self.frames[::-1] if self._innermost_last else self.frames
        return [frame._replace(stack=stack, depth=depth) for depth, frame in enumerate(ordered, 1)]


def _mentions_in(line: str, before: str) -> Iterator[Mention]:
    for url in _URL.finditer(line):
        yield Mention(_parts(url["path"]), int(url["line"] or 0))
    plain = _OTHER_URL.sub(" ", line) if "://" in line else line
    for match in _LOCATED.finditer(plain):
        symbol = _symbol_near(plain, match)
        if not symbol and match["line"]:
            alone = next(filter(None, (form.match(before) for form in _ALONE)), None)
            symbol = _last_name(alone["symbol"]) if alone else ""
        yield Mention(_with_package(match, plain), int(match["line"] or 0), symbol)


def _symbol_near(line: str, match: re.Match[str]) -> str:
    after = _AFTER.match(line, match.end())
    if after:
        return _last_name(after["symbol"] or after["method"])
    before = next(filter(None, (form.search(line[: match.start()]) for form in _BEFORE)), None)
    return _last_name(before["symbol"]) if before else ""


def _last_name(symbol: str) -> str:
    """Return the own name of a qualified function, "" for an anonymous one."""
    names = [name.strip("`'\"<>[]{}~?!") for name in _SEPARATORS.split(symbol)]
    return next((name for name in reversed(names) if name not in _NO_FUNCTION and not name.isdigit()), "")


def _with_package(match: re.Match[str], line: str) -> tuple[str, ...]:
    """Return the parts of a path; Java prints the folders as a package in front of the file."""
    parts = _parts(match["path"])
    if len(parts) == 1 and line[match.start() - 1 : match.start()] == "(":
        qualified = re.search(r"([\w.$<>]+)\($", line[: match.start()])
        if qualified:
            return (*qualified[1].split(".")[:-2], *parts)
    return parts


def _parts(path: str) -> tuple[str, ...]:
    """Split a path; a compiled file of Python stands for its source."""
    path = path[:-1] if path.endswith((".pyc", ".pyo")) else path
    return tuple(part for part in path.replace("\\", "/").split("/") if part not in ("", ".", ".."))
