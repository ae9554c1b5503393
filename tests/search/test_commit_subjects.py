"""A subject that says what code is about becomes a question; everything else is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.search.commit_subjects import MAX_SUBJECT, find_query

PERSON = "A Person <person@example.invalid>"
SAYS = "keep trailing comma lists"


@pytest.mark.parametrize(
    ("subject", "question"),
    [
        (SAYS, SAYS),
        (f"feat: {SAYS}", SAYS),
        (f"fix(parser)!: {SAYS}", f"parser {SAYS}"),
        (f"{SAYS} (#123)", SAYS),
        (f"{SAYS} (fixes #123)", SAYS),
        (f"Fixed #123 -- {SAYS}", SAYS),
        (f"GH-12: {SAYS}", SAYS),
        (f"PROJ-12 {SAYS}", SAYS),
        (f"[PROJ-12] [core] {SAYS}.", SAYS),
        (f"{SAYS}, see https://example.invalid/x?y=1", f"{SAYS}, see"),
        (f"{SAYS} as in 5dfe343e2", f"{SAYS} as in"),
        ("net/http: close idle connections", "net/http: close idle connections"),
        ("refactor: `SessionInterface.open` takes a deadline", "`SessionInterface.open` takes a deadline"),
        ("version checks compare build numbers", "version checks compare build numbers"),
        ("Merge any number of slashes", "Merge any number of slashes"),
        ("release the writer lock early", "release the writer lock early"),
        ("strip trailing whitespace of header values", "strip trailing whitespace of header values"),
        ("compare version numbers piece by piece", "compare version numbers piece by piece"),
    ],
)
def test_what_names_the_commit_is_taken_away(subject: str, question: str) -> None:
    assert find_query(subject, PERSON) == question


@pytest.mark.parametrize(
    "subject",
    [
        "Merge branch 'main' into topic of somebody",
        "Merged in feature lists (pull request #12)",
        "Merge topic/lists into commas parser",
        "This is version 2.0.38 of the parser lists",
        f'Revert "{SAYS}"',
        f"fixup! {SAYS}",
        "wip lists commas parser",
        "Bump setuptools from 65.3.0 to 65.5.1",
        "Update dependency org.example:lists to v7.1.4",
        "Update dev dependencies of parser",
        "Prepare next development version.",
        "Release 4.2: commas lists parser",
        "v1.2.3 commas lists parser",
        "Fix typo in trailing comma docs",
        "Update changelog with commas lists",
        f"chore: {SAYS}",
        f"docs(parser): {SAYS}",
        f"test: {SAYS}",
        "Fix tests",
        "Fix the bug, make it work better",
        "Small cleanup",
        "Handle the parser error",
        "12 34 56 78",
        "",
        "word " * MAX_SUBJECT,
    ],
)
def test_a_subject_without_a_need_behind_it_asks_nothing(subject: str) -> None:
    assert find_query(subject, PERSON) is None


@pytest.mark.parametrize("author", ["dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>",
                                    "Renovate Bot <bot@renovateapp.com>", "ci-bot <ci@example.invalid>"])  # fmt: skip
def test_a_bot_asks_nothing(author: str) -> None:
    assert find_query(SAYS, author) is None


def test_a_person_called_abbot_asks() -> None:
    assert find_query(SAYS, "Jane Abbot <abbot@robots.example>") == SAYS


@given(st.text(max_size=MAX_SUBJECT))
def test_any_subject_is_read(subject: str) -> None:
    question = find_query(subject, PERSON)
    assert question is None or (question and "\n" not in question and len(question) <= MAX_SUBJECT)
