import pytest

from gitmem.search.named_dates import NamedDate, find_dates


@pytest.mark.parametrize(
    ("query", "dates"),
    [
        ("what broke on 2026-11-25", [(2026, 11, 25)]),
        ("what broke at 2026-11-25T10:00:00Z", [(2026, 11, 25)]),
        ("what broke in 2026-11", [(2026, 11, 0)]),
        ("what did we try on 25 November 2026?", [(2026, 11, 25)]),
        ("what did we try on the 25th of November", [(0, 11, 25)]),
        ("what did we try on Nov. 25th, 2026", [(2026, 11, 25)]),
        ("between August 11 and August 15 2023", [(0, 8, 11), (2023, 8, 15)]),
        ("plans of December 1,2023", [(2023, 12, 1)]),
        ("decisions of Sept 2025", [(2025, 9, 0)]),
        ("what did we decide in May", [(0, 5, 0)]),
        ("what did we decide in may", [(0, 5, 0)]),
        ("in late-March", [(0, 3, 0)]),
        ("who left in 2019", [(2019, 0, 0)]),
    ],
)
def test_dates_are_found_in_the_usual_spellings(query: str, dates: list[tuple[int, int, int]]) -> None:
    assert [tuple(date) for date in find_dates(query)] == dates


@pytest.mark.parametrize(
    "query",
    [
        "python 3 may fail",
        "the order of march",
        "port 2026",
        "version 2026-13",
        "mayor of the decimal system",
        "marching cubes in 19 steps",
        "45 November",
        "",
    ],
)
def test_other_words_and_numbers_are_no_dates(query: str) -> None:
    assert find_dates(query) == ()


def test_a_date_includes_the_times_within_it() -> None:
    assert NamedDate(2026, 3, 0).includes("2026-03-31T23:59:59Z")
    assert not NamedDate(2026, 3, 0).includes("2026-04-01T00:00:00Z")
    assert NamedDate(0, 3, 9).includes("1999-03-09T00:00:00Z")
    assert not NamedDate(0, 3, 9).includes("")
