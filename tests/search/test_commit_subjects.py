"""Subjects that describe code become queries; all others do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.search.commit_subjects import MAX_SUBJECT, find_query

PERSON = "A Person <person@example.invalid>"
SUBJECT = "keep trailing comma lists"


@pytest.mark.parametrize(
    ("subject", "query"),
    [
        (SUBJECT, SUBJECT),
        (f"feat: {SUBJECT}", SUBJECT),
        (f"fix(parser)!: {SUBJECT}", f"parser {SUBJECT}"),
        (f"{SUBJECT} (#123)", SUBJECT),
        (f"{SUBJECT} (fixes #123)", SUBJECT),
        (f"Fixed #123 -- {SUBJECT}", SUBJECT),
        (f"GH-12: {SUBJECT}", SUBJECT),
        (f"PROJ-12 {SUBJECT}", SUBJECT),
        (f"[PROJ-12] [core] {SUBJECT}.", SUBJECT),
        (f"{SUBJECT}, see https://example.invalid/x?y=1", f"{SUBJECT}, see"),
        (f"{SUBJECT} as in 5dfe343e2", f"{SUBJECT} as in"),
        ("net/http: close idle connections", "net/http: close idle connections"),
        ("refactor: `SessionInterface.open` takes a deadline", "`SessionInterface.open` takes a deadline"),
        ("version checks compare build numbers", "version checks compare build numbers"),
        ("Merge any number of slashes", "Merge any number of slashes"),
        ("release the writer lock early", "release the writer lock early"),
        ("strip trailing whitespace of header values", "strip trailing whitespace of header values"),
        ("compare version numbers piece by piece", "compare version numbers piece by piece"),
    ],
)
def test_parts_that_name_the_commit_are_removed(subject: str, query: str) -> None:
    assert find_query(subject, PERSON) == query


@pytest.mark.parametrize(
    "subject",
    [
        "Merge branch 'main' into topic of somebody",
        "Merged in feature lists (pull request #12)",
        "Merge topic/lists into commas parser",
        "This is version 2.0.38 of the parser lists",
        f'Revert "{SUBJECT}"',
        f"fixup! {SUBJECT}",
        "wip lists commas parser",
        "Bump setuptools from 65.3.0 to 65.5.1",
        "Update dependency org.example:lists to v7.1.4",
        "Update dev dependencies of parser",
        "Prepare next development version.",
        "Release 4.2: commas lists parser",
        "v1.2.3 commas lists parser",
        "Fix typo in trailing comma docs",
        "Update changelog with commas lists",
        f"chore: {SUBJECT}",
        f"docs(parser): {SUBJECT}",
        f"test: {SUBJECT}",
        "Fix tests",
        "Fix the bug, make it work better",
        "Small cleanup",
        "Handle the parser error",
        "12 34 56 78",
        "",
        "word " * MAX_SUBJECT,
    ],
)
def test_a_subject_without_a_need_gives_no_query(subject: str) -> None:
    assert find_query(subject, PERSON) is None


@pytest.mark.parametrize("author", ["dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>",
                                    "Renovate Bot <bot@renovateapp.com>", "ci-bot <ci@example.invalid>"])  # fmt: skip
def test_the_subject_of_a_bot_gives_no_query(author: str) -> None:
    assert find_query(SUBJECT, author) is None


def test_a_person_called_abbot_is_not_a_bot() -> None:
    assert find_query(SUBJECT, "Jane Abbot <abbot@robots.example>") == SUBJECT


@given(st.text(max_size=MAX_SUBJECT))
def test_any_text_is_accepted_as_a_subject(subject: str) -> None:
    query = find_query(subject, PERSON)
    assert query is None or (query and "\n" not in query and len(query) <= MAX_SUBJECT)
