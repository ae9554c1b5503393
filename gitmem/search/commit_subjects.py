"""Turn the subject of a commit into a query for code, if it is specific enough. Pure.

Parts that name the commit instead of the code are removed: type, ticket and pull request numbers, links. Subjects that
express no need give no query: merges, reverts, releases, version bumps, clean-ups, and all commits by bots.
"""

import re
from typing import Final

from gitmem.search.stop_words import STOP_WORDS
from gitmem.words import count_identifiers, stem, terms_of

MIN_WORDS: Final = 3
"""Least number of different significant words in a query."""

MAX_SUBJECT: Final = 200
"""A longer subject is a whole message whose first line is not followed by an empty one."""

_BOT: Final = re.compile(r"\[bot\]|dependabot|renovate|greenkeeper|(?<![a-z])bots?(?![a-z])", re.IGNORECASE)

# Types of Conventional Commits and their common variants. Those of the first group change no behaviour of the code.
_NOT_ABOUT_CODE: Final = "build|chore|ci|doc|docs|release|revert|style|test|tests"
_TYPE: Final = re.compile(
    rf"(?:(?P<other>{_NOT_ABOUT_CODE})|bugfix|change|feat|feature|fix|fixes|hotfix|improvement|perf|refactor)"
    r"(?:\((?P<scope>[^()]*)\))?!?:\s*",
    re.IGNORECASE,
)

# Subjects without a need: those that begin like this, and those that contain one of `_ANYWHERE`.
_BEGINNINGS: Final = (
    r"merge[ds]? (?:in |from )?(?:remote|branch|tag|pull|pr|commit|upstream|master|main|\S+ into)|merged in",
    r"revert(?:s|ed)?|reapply|backport(?:s|ed)?|cherry[- ]pick(?:s|ed)?|sync(?:s|ed)? with|wip|fixup!|squash!|amend!",
    r"initial commit|(?:start|begin)(?:ning)? (?:of |with )?(?:version|development)|bump(?:s|ed)?",
    r"(?:this is )?(?:released? |release of )?(?:version )?v?\d+\.\d\S*",
    r"prepar(?:e|es|ing|ation) (?:for |of )?(?:the )?(?:next |new )?(?:development |dev )?(?:release|version)",
    r"(?:update|upgrade)s? (?:the )?(?:\w+ )?(?:changelog|copyright|dependency|dependencies|requirements|readme)",
)
_ANYWHERE: Final = r"typos?|misspellings?|changelog|copyright|to v?\d+\.\d\S*"
_WITHOUT_NEED: Final = re.compile(rf"(?:{'|'.join(_BEGINNINGS)})(?!\w)|.*\b(?:{_ANYWHERE})(?!\w)", re.IGNORECASE)

_NOISE: Final = re.compile(
    r"https?://\S+"  # links
    r"|\[[^\]]*\](?=.*\w)"  # tags in brackets: [ci skip], [core], [ABC-12]
    r"|\((?:[^()]*(?:#|[A-Z]{2,}-)\d+[^()]*)\)"  # (#12), (fixes #12), (ABC-12)
    r"|\b(?:(?:closes|closed|fixes|fixed|fix|refs?|see|ticket|issue|bug|pr|gh)[ :-]*)?(?:#|\bGH-)\d+\b"
    r"|\b[A-Z]{2,}-\d+\b"
    r"|\b(?=[a-f]*\d)[0-9a-f]{7,40}\b",  # commit ids
    re.IGNORECASE,
)

_TRAILER: Final = re.compile(
    r"(?:\(cherry picked|[A-Z][\w-]+-by|Change-Id|Cc|Bug|Fixes|Closes|Refs?|git-svn-id|PiperOrigin-RevId):? ",
    re.IGNORECASE,
)
"""Line that says who wrote a change or where it was discussed."""

_COMMON: Final = (
    "add allow also better bit bug change clean cleanup correct don drop ensure error fix handle improve issue make "
    "minor miss more move new now only refactor remove rename replace simplify small some style support test tweak "
    "unused update work wrong"
)
_COMMON_TERMS: Final = frozenset(map(stem, _COMMON.split()))
"""Terms of nearly every subject, which do not distinguish one piece of code from another."""


def find_query(subject: str, author: str) -> str | None:
    """Return the query that a commit's subject makes of the code before the commit, None if it makes none.

    `author` is name and address. The scope of a type (`fix(parser): ...`) is kept as a word.
    """
    if len(subject) > MAX_SUBJECT or _BOT.search(author):
        return None
    prefix = _TYPE.match(subject)
    if prefix and prefix["other"]:
        return None
    rest = f"{prefix['scope'] or ''} {subject[prefix.end() :]}" if prefix else subject
    query = _without_noise(rest)
    if _WITHOUT_NEED.match(query) or len(_significant_words(query)) < MIN_WORDS:
        return None
    return query


def clean_message(subject: str, body: str, max_paragraph: int) -> tuple[str, str]:
    """Return the subject, and the subject with the first paragraph of the body; without types, references and trailers.

    Unlike in `find_query`, the scope of a type is removed: it often names the folder of the answer.
    """
    prefix = _TYPE.match(subject)
    title = _without_noise(subject[prefix.end() :] if prefix else subject)
    paragraph = next((part for part in body.replace("\r", "").split("\n\n") if part.strip()), "")
    lines = [line for line in paragraph.split("\n") if not _TRAILER.match(line)]
    detail = _without_noise(" ".join(lines))[:max_paragraph].strip()
    return title, f"{title}\n\n{detail}" if detail else title


def is_routine(subject: str, author: str) -> bool:
    """Return whether a subject says nothing about the code: merges, releases, version bumps, and commits by bots."""
    return bool(_BOT.search(author) or _WITHOUT_NEED.match(_without_noise(subject)))


def _without_noise(text: str) -> str:
    return " ".join(_NOISE.sub(" ", text).split()).strip(" .:;,-")


def _significant_words(query: str) -> set[tuple[str, ...]]:
    """Return the different significant words of a query, each as its terms."""
    words = {word.lower() for word in count_identifiers(query).identifiers} - STOP_WORDS
    return {terms for word in words if not word.isdigit() and not _COMMON_TERMS.issuperset(terms := terms_of(word))}
