"""Find the sentences of a commit's message that are worth keeping: reasons, decisions, rules and warnings. Pure.

Rules on words instead of a model: a person reads each suggestion, so it must be cheap to find and easy to explain. A
paragraph is taken from its first to its last sentence with such a word, because the ones between belong to them.
"""

import re
from collections.abc import Iterator
from typing import Final

from gitmem.named_tuple import NamedTuple
from gitmem.search.commit_subjects import is_routine

DECISION: Final = "decision"
FACT: Final = "fact"
MAX_STATEMENTS: Final = 3
"""Statements of one commit; a longer message is a document."""

MAX_TEXT: Final = 500
_LEAST_WIDTH: Final = 50
"""Columns of the narrowest text that people wrap by hand."""

_MIN_WORDS: Final = 6
_MIN_TITLE_WORDS: Final = 3
_MIN_LETTERS: Final = 0.7
"""Share of letters and spaces in prose. Tables, logs and code have fewer."""


class Statement(NamedTuple):
    """Sentence that a rule found, with the subject of its commit; `type` is that of a note."""

    title: str
    text: str
    rule: str
    type: str


class Message(NamedTuple):
    """Parts of a commit's message. `request` names the pull request, empty if there is none."""

    title: str
    body: str
    request: str


class _Rule(NamedTuple):
    name: str
    type: str
    pattern: re.Pattern[str]


def _rule(name: str, type_: str, *patterns: str) -> _Rule:
    return _Rule(name, type_, re.compile(rf"\b(?:{'|'.join(patterns)})(?!\w)", re.IGNORECASE))


# The first rule that fits gives the type, so the most specific one comes first.
_RULES: Final = (
    _rule("removal", DECISION, r"no longer(?! needed| necessary)", r"deprecat(?:e[sd]?|ing|ion)",
          r"drop(?:s|ped|ping)? support", "obsolete", "unsupported", "end[- ]of[- ]life"),
    # A rule holds from now on; "was never called" describes a mistake of the past.
    _rule("rule", DECISION, "must(?:n't| not)?", "(?<!was )(?<!were )never", "should (?:not|never|always|only)",
          "shouldn't", "not allowed", "forbidden", "do(?:es)? not rely", "don't rely", "only .{3,40} (?:may|can)"),
    _rule("choice", DECISION, "instead of", "rather than", r"in favou?r of", "we (?:decided|chose|prefer)",
          "on purpose", "deliberately", "intentional(?:ly)?", "trade-?off", "would be possible"),
    _rule("warning", FACT, r"work[- ]?arounds?", "caveats?", "beware", r"bugs? in", "unfortunately", "no guarantee",
          "not (?:thread-?safe|safe|guaranteed|supported|possible)", "known issue", "limitations?", "incompatible",
          "might (?:result|break|fail)", "race conditions?", "deadlocks?", "regression (?:in|from)"),
    _rule("reason", DECISION, "because", "so that", "due to", "in order to", "to (?:avoid|prevent|ensure)",
          "(?:^|, )since", "(?:needed|required|necessary) (?:since|because|for|by|to|as)", "the reasons?", "otherwise",
          "therefore", "so (?:we|they|it|there) (?:don't|do not|does not|can|cannot|can't|need)"),
)  # fmt: skip

# A subject alone has no room for a reason, so it needs a stronger word.
_SUBJECT_RULES: Final = (
    _rule("removal", DECISION, "deprecates?", "drops? (?:support|end|python|node|ruby|java)", "no longer"),
    _rule("rule", DECISION, "must", "never", "only (?:if|when)", "requires?(?! version)", "disallow", "forbid"),
    _rule("choice", DECISION, r"(?:keep|make|prefer|store|switch|use)s?\b.* (?:instead of|rather than|in favou?r of)",
          "defaults? to", r"(?:enable|disable|use|on|off)[sd]?\b.{0,40} by default"),
    _rule("reason", DECISION, "because", "so that", "due to", "to (?:avoid|prevent)"),
    _rule("warning", FACT, "work[- ]?around"),
)  # fmt: skip

_REQUEST: Final = re.compile(
    r"merge (?:pull request|pr|pull-request) #(\d+)|\(#(\d+)\)\s*$|see merge request \S*!(\d+)", re.IGNORECASE
)
_MERGE: Final = re.compile(r"merge[ds]?\b", re.IGNORECASE)
_NUMBER_AT_END: Final = re.compile(r"\s*\((?:#|!|gh-)\d+\)\s*$", re.IGNORECASE)
_REVERT: Final = re.compile(
    r"^This reverts commits? [0-9a-f]{7,64}(?:,\s*reversing\s+changes made to [0-9a-f]{7,64})?[.,;:]?\s*(?:\.\s*)?",
    re.IGNORECASE | re.MULTILINE,
)
_BREAKING: Final = re.compile(r"^BREAKING[ -]CHANGES?:\s*(.+(?:\n(?!\s*\n|[\w-]+: ).+)*)", re.MULTILINE)
_BREAKING_TITLE: Final = re.compile(r"\w+(?:\([^()]*\))?!: ")

# Lines that are not prose: code, quotations, headings, tables, check lists, links, and who wrote or discussed a change.
_CODE: Final = re.compile(r"^(```|~~~).*?^\1\s*$|<!--.*?-->", re.MULTILINE | re.DOTALL)
_NOT_PROSE: Final = re.compile(
    r"(?: {4}|\t)\S.*|\s*(?:[>|#]|\[\w+\]\s*[-:]?\s*(?:https?:|$)|-{3,}|={3,}|[-*] \[[ xX]\])"
    r"|\s*(?:[A-Za-z]+(?:-[A-Za-z]+)+|cc|bug|fixes|closes|refs?|see|issue|link|pr|resolves|related|conflicts)\s*:(?:\s|$)"
    r"|\s*(?:this )?(?:close[sd]?|fix(?:e[sd])?|refs?|resolve[sd]?|see|addresses|part of"
    r"|follow(?:s|ed)?[ -]?ups? (?:of|on|to)):? +(?:#|https?:|GH-|[\w.-]+/[\w.-]+#)"
    r"|\s*\((?:cherry picked|backported)|\s*squashed from|\s*breaking[ -]changes?:|\s*see merge request",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(r"\s*(?:(?:[-*+\u2022]|\d{1,2}[.)])\s+|-(?=[A-Za-z]{3}))")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)\s+(?=[\"'`(\[A-Z])")
_LEANS_BACK: Final = re.compile(
    r"(?:this|that|it|its|these|those|they|so|thus|therefore|however|but|and|instead|otherwise|which|such|hence|also|"
    r"as a result|because of this|in that|then|here)\b", re.IGNORECASE,
)  # fmt: skip
"""Beginning of a sentence that cannot be understood without the one before."""

_CHATTER: Final = re.compile(
    r"^(?:[Tt]his )?(?:also |patch |commit |change )?[Ff]ix(?:e[sd])?\b|\?$|:$"
    r"|\b(?:I(?:'m|'ve|'ll|'d)?|thanks|thank you|PTAL|LGTM|TODO|WIP|checklist|prep[ae]ration for|[Ss]hould have)(?!\w)"
    r"|\b(?:please|let me know|pull request|this pr|typos?|test suite|tests? (?:pass|fail)\w*|(?:was|were) \w+ing)\b",
)
"""Sentence from the talk about a change, or about a mistake that is gone, not about the code."""

_NOT_CODE: Final = re.compile(
    r"(?:add|fix|improve|more|update)\w* (?:\w+ )?(?:docs?|tests?|typ(?:es|ing))\b", re.IGNORECASE
)
_LINK: Final = re.compile(r"https?://\S+")
_WORD: Final = re.compile(r"[^\W\d_]{2,}")


def read_message(message: str, *, is_merge: bool) -> Message | None:
    """Split a message into its parts; None for a merge of branches, which says nothing of its own.

    The merge of a pull request has the title of the request in its body.
    """
    subject, _, body = message.replace("\r\n", "\n").strip().partition("\n")
    match = _REQUEST.search(subject) or _REQUEST.search(body if is_merge else "")
    request = f"#{next(filter(None, match.groups()))}" if match else ""
    if is_merge and _MERGE.match(subject) and not _NUMBER_AT_END.search(subject):
        subject, _, body = body.strip().partition("\n")
        if not subject or _NOT_PROSE.match(subject) or _MERGE.match(subject):
            return None
    return Message(_NUMBER_AT_END.sub("", subject).strip(" ."), body.strip("\n"), request)


def find_statements(message: Message, author: str, attached: str = "") -> list[Statement]:
    """Return what a commit says that is worth a note, at most MAX_STATEMENTS; `attached` are its notes of git."""
    title, body, _ = message
    is_revert = bool(_REVERT.search(body))
    if not title or (is_routine(title, author) and not is_revert):
        return []
    if is_revert:
        # The whole reason is kept: that something was tried and taken back is worth knowing by itself.
        reason = next(_paragraphs(_REVERT.sub("", body)), [])
        found = [_state(title, " ".join(reason), "revert", DECISION)] if reason else []
        return [each for each in found if _is_prose(each.text)]
    breaking = [_state(title, match[1], "breaking change", DECISION) for match in _BREAKING.finditer(body)]
    found = [*breaking, *_state_paragraphs(title, body)]
    if not found and (stated := _state_title(title)):
        found = [stated]
    # Notes of git come last, so that a review that is attached later changes no number of an earlier statement.
    found = [*found[:MAX_STATEMENTS], *(each._replace(rule="review") for each in _state_paragraphs(title, attached))]
    return list({each.text: each for each in found}.values())[:MAX_STATEMENTS]


def _state_title(title: str) -> Statement | None:
    if len(_WORD.findall(title)) < _MIN_TITLE_WORDS or _NOT_CODE.match(title):
        return None
    if _BREAKING_TITLE.match(title):
        return Statement(title, "", "breaking change", DECISION)
    rule = next((rule for rule in _SUBJECT_RULES if rule.pattern.search(title)), None)
    return Statement(title, "", rule.name, rule.type) if rule else None


def _state_paragraphs(title: str, text: str) -> Iterator[Statement]:
    """Yield one statement for each paragraph with a rule's word."""
    for sentences in _paragraphs(text):
        rules = [_find_rule(sentence) for sentence in sentences]
        places = [place for place, rule in enumerate(rules) if rule]
        if not places:
            continue
        first, last = places[0], places[-1]
        rule = rules[first]
        if first and _LEANS_BACK.match(sentences[first]):
            first -= 1
        # A long paragraph argues; its first reason alone must do.
        if sum(map(len, sentences[first : last + 1])) > MAX_TEXT:
            last = places[0]
        if rule is not None:
            yield _state(title, " ".join(sentences[first : last + 1]), rule.name, rule.type)


def _state(title: str, text: str, rule: str, type_: str) -> Statement:
    text = " ".join(text.split())
    return Statement(title, text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 3].rstrip()}...", rule, type_)


def _find_rule(sentence: str) -> _Rule | None:
    if not _is_prose(sentence):
        return None
    return next((rule for rule in _RULES if rule.pattern.search(sentence)), None)


def _is_prose(sentence: str) -> bool:
    """Return whether a sentence is long enough, made of words, and about the code."""
    plain = _LINK.sub("", sentence)
    letters = sum(char.isalpha() or char == " " for char in plain)
    words = len(_WORD.findall(plain))
    return words >= _MIN_WORDS and letters >= _MIN_LETTERS * len(plain) and not _CHATTER.search(plain)


def _paragraphs(text: str) -> Iterator[list[str]]:
    """Yield the sentences of each paragraph or list item, its lines joined; lines that are not prose end one."""
    joined = ""
    for line in [*_CODE.sub("", text).split("\n"), ""]:
        item = _ITEM.match(line)
        # A list item may be continued by indented lines, which elsewhere are code.
        is_prose = bool(line.strip()) and not _NOT_PROSE.match(line.strip() if joined else line)
        if joined and (item or not is_prose):
            yield [sentence for part in joined.split("\n") for sentence in _SENTENCE_END.split(part)]
            joined = ""
        if is_prose:
            part = line[item.end() :] if item else line.strip()
            # Wrapped text breaks a line only if the next word does not fit. Shorter lines are sentences by themselves.
            width = len(joined) - joined.rfind("\n") + len(part.split(" ", 1)[0])
            is_wrapped = width >= _LEAST_WIDTH or line[0].isspace()
            joined = f"{joined}{' ' if is_wrapped else chr(10)}{part}" if joined else part
