"""Parts of a query: each line of an issue has the type that its form shows."""

import pytest

from gitmem.search.query_parser import MAX_PLAIN, is_plain
from gitmem.search.query_parts import Part, split_query

ISSUE = """[Bug]: bar raises for all-nan data
### Bug summary

`ax.bar` raises an exception when it is passed only nan data.

<!-- Please describe
the bug -->
- [x] I have searched the issues

### Code for reproduction

```python
figure, axes = plt.subplots()
axes.bar([np.nan], [np.nan])
```

### Actual outcome

```
Traceback (most recent call last):
  File "/srv/lib/axes.py", line 2373, in bar
    width = self._convert_dx(width)
StopIteration: no value
2024-01-01 12:00:00 INFO starting
```

### Operating system

Linux with everything

### Version

matplotlib 3.6.1
"""


def lines_by_kind(text: str) -> dict[str, list[str]]:
    lines: dict[str, list[str]] = {}
    for part in split_query(text):
        lines.setdefault(part.kind, []).extend(line.strip() for line in part.text.splitlines() if line.strip())
    return lines


def test_an_issue_is_split_by_the_form_of_its_lines() -> None:
    assert lines_by_kind(ISSUE) == {
        "title": ["[Bug]: bar raises for all-nan data"],
        "template": [
            "### Bug summary",
            "- [x] I have searched the issues",
            "### Code for reproduction",
            "### Actual outcome",
            "### Operating system",
            "### Version",
        ],
        "prose": ["`ax.bar` raises an exception when it is passed only nan data."],
        "code": ["figure, axes = plt.subplots()", "axes.bar([np.nan], [np.nan])"],
        "trace": [
            "Traceback (most recent call last):",
            'File "/srv/lib/axes.py", line 2373, in bar',
            "width = self._convert_dx(width)",
        ],
        "error": ["StopIteration: no value"],
        "log": ["2024-01-01 12:00:00 INFO starting"],
        "environment": ["Linux with everything", "matplotlib 3.6.1"],
    }


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("TypeError: unsupported operand type(s) for |", "error"),
        ("E       AssertionError: assert b'' == b'42'", "error"),
        ("error[E0308]: mismatched types", "error"),
        ("thread 'main' panicked at src/main.rs:4:5:", "error"),
        ('Exception in thread "main" java.lang.Error', "error"),
        ("src/foo.c:12:5: error: unknown type name", "error"),
        ("[12:00:01] WARN cache is full", "log"),
        (">>> values = load([1, 2])", "code"),
        ("$ tool --fix src", "code"),
        ("    result = compute(value)", "code"),
        ("Python 3.6.3, numpy 1.15.1", "environment"),
        ("In version 3.5.0 this worked and now nothing is drawn at all.", "prose"),
        ("> It is quoted from an earlier message and remains prose", "prose"),
    ],
)
def test_a_line_outside_of_code_blocks_has_the_type_of_its_form(line: str, kind: str) -> None:
    assert [part.kind for part in split_query(f"A title of some words\n\n{line}\n")] == ["title", kind]


def test_the_first_line_of_a_pasted_trace_is_not_a_title() -> None:
    assert split_query('Traceback (most recent call last):\n  File "a.py", line 1, in f\n')[0].kind == "trace"


def test_one_line_is_plain_up_to_a_length() -> None:
    assert is_plain("how are `keys` rotated (since 1.2)")
    assert not is_plain("how are keys rotated\nand when")
    assert not is_plain("x" * (MAX_PLAIN + 1))
    assert split_query("long " * 300) == [Part("title", ("long " * 300).strip())]


def test_a_text_of_nothing_but_a_comment_is_searched_all_the_same() -> None:
    assert split_query("<!-- how are keys\nrotated -->") == [Part("title", "<!-- how are keys\nrotated -->")]
