"""From the subject of a commit to a question about code, where it says enough to be one. Pure.

What names the commit instead of the code is taken away: type, ticket and pull request numbers, links. What people write
without a need behind it asks nothing: merges, reverts, releases, version bumps, clean-ups, and whatever a bot wrote.
"""

import re
from typing import Final

from gitmem.search.query_parser import STOP_WORDS
from gitmem.words import count_identifiers, stem, terms_of

MIN_WORDS: Final = 3
"""A question holds at least so many different words that say something."""

MAX_SUBJECT: Final = 200
"""A longer subject is a message without an empty line behind its first."""

_BOT: Final = re.compile(r"\[bot\]|dependabot|renovate|greenkeeper|(?<![a-z])bots?(?![a-z])", re.IGNORECASE)

_NOT_ABOUT_CODE: Final = "build|chore|ci|doc|docs|release|revert|style|test|tests"
_TYPE: Final = re.compile(
    rf"(?:(?P<other>{_NOT_ABOUT_CODE})|bugfix|change|feat|feature|fix|fixes|hotfix|improvement|perf|refactor)"
    r"(?:\((?P<scope>[^()]*)\))?!?:\s*",
    re.IGNORECASE,
)

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
    r"|\[[^\]]*\](?=.*\w)"  # marks in brackets: [ci skip], [core], [ABC-12]
    r"|\((?:[^()]*(?:#|[A-Z]{2,}-)\d+[^()]*)\)"  # (#12), (fixes #12), (ABC-12)
    r"|\b(?:(?:closes|closed|fixes|fixed|fix|refs?|see|ticket|issue|bug|pr|gh)[ :-]*)?(?:#|\bGH-)\d+\b"
    r"|\b[A-Z]{2,}-\d+\b"
    r"|\b(?=[a-f]*\d)[0-9a-f]{7,40}\b",  # commit ids
    re.IGNORECASE,
)

_COMMON: Final = (
    "add allow also better bit bug change clean cleanup correct don drop ensure error fix handle improve issue make "
    "minor miss more move new now only refactor remove rename replace simplify small some style support test tweak "
    "unused update work wrong"
)
_SAY_NOTHING: Final = frozenset(map(stem, _COMMON.split()))
"""Terms of nearly every subject, which tell no code from other code."""


def find_query(subject: str, author: str) -> str | None:
    """The question a commit's subject asks of the code before it, None where it asks none.

    `author` is name and address. The scope of a type (`fix(parser): ...`) is kept as a word.
    """
    if len(subject) > MAX_SUBJECT or _BOT.search(author):
        return None
    told = _TYPE.match(subject)
    if told and told["other"]:
        return None
    rest = f"{told['scope'] or ''} {subject[told.end() :]}" if told else subject
    question = " ".join(_NOISE.sub(" ", rest).split()).strip(" .:;,-")
    if _WITHOUT_NEED.match(question) or len(_telling(question)) < MIN_WORDS:
        return None
    return question


def _telling(question: str) -> set[tuple[str, ...]]:
    """The different words of a question that say something, each as its terms."""
    words = {word.lower() for word in count_identifiers(question).identifiers} - STOP_WORDS
    return {terms for word in words if not word.isdigit() and not _SAY_NOTHING.issuperset(terms := terms_of(word))}
