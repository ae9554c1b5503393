"""Skeletons: the own lines of a chunk, and one declaration for each chunk inside."""

from gitmem.search.hits import Hit
from gitmem.search.skeleton import MAX_CHARACTERS, InnerChunk, reduce_lines
from gitmem.search.snippet import OMITTED, join_lines, make_snippet, number_lines

CLASS = '''\
class Session:
    """Keeps cookies."""

    timeout = 5

    # open the connection
    @retry(3)
    def open(
        self,
        path,
    ):
        # open it
        return handle(path)

    def close(self):
        return release(self)

    limit = 9
'''.splitlines()
MEMBERS = [InnerChunk(6, 13, "Session.open"), InnerChunk(15, 16, "Session.close")]


def hit(chunk_type: str = "class", first: int = 1) -> Hit:
    return Hit("a.py", 0, 1, first, first + len(CLASS) - 1, chunk_type, "Session", "python", "b", 0, 1.0, {})


def shown(lines: list[str]) -> list[str]:
    return [line for line in lines if line != OMITTED]


def test_a_class_shows_its_own_lines_and_one_declaration_of_each_member() -> None:
    assert shown(reduce_lines(CLASS, hit(), MEMBERS)) == [
        "class Session:",
        '    """Keeps cookies."""',
        "",
        "    timeout = 5",
        "",
        "    def open(",
        "        self,",
        "        path,",
        "",
        "    def close(self):",
        "",
        "    limit = 9",
    ]


def test_lines_keep_their_numbers_and_gaps_are_marked_once() -> None:
    members = [InnerChunk(chunk.start_line + 100, chunk.end_line + 100, chunk.symbol) for chunk in MEMBERS]
    lines = reduce_lines(CLASS, hit(first=101), members)
    numbers = [line.number for line in number_lines(lines, 101)]
    assert numbers == [101, 102, 103, 104, 105, 0, 108, 109, 110, 0, 114, 115, 0, 117, 118]
    assert join_lines(lines).count("...") == 3


def test_text_between_definitions_says_nothing_about_them() -> None:
    lines = shown(reduce_lines(CLASS, hit("module"), MEMBERS))
    assert not any("def" in line for line in lines)
    assert "    limit = 9" in lines


def test_the_parts_of_a_long_member_show_one_declaration() -> None:
    parts = [InnerChunk(6, 10, "Session.open"), InnerChunk(11, 13, "Session.open")]
    assert sum("open(" in line for line in shown(reduce_lines(CLASS, hit(), parts))) == 1


def test_a_member_without_its_name_shows_its_first_line_with_words() -> None:
    assert "    # open the connection" in reduce_lines(CLASS, hit(), [InnerChunk(5, 13, "Session.other")])


def test_a_snippet_takes_no_omitted_line_and_marks_the_gap() -> None:
    lines = reduce_lines(CLASS, hit(), MEMBERS)
    snippet = make_snippet(lines, 1, ["releas", "handl"], "Session", limit=20)
    assert all(line.text != OMITTED for line in snippet)
    assert [line.number for line in snippet] == [1, 2, 4, 0, 8, 9, 10, 0, 15, 0, 18]


def test_a_chunk_without_inner_ones_is_unchanged() -> None:
    assert reduce_lines(CLASS, hit(), []) == CLASS


def long_class(members: int) -> tuple[list[str], list[InnerChunk]]:
    """Return the lines of a class with many methods of one line, and its members."""
    head = ["class Session:", '    """Keeps cookies."""', ""]
    body = [f"    def step_{number:03}(self): return {number}" for number in range(members)]
    first = len(head) + 1
    chunks = [InnerChunk(first + number, first + number, f"Session.step_{number:03}") for number in range(members)]
    return head + body, chunks


def test_a_skeleton_of_many_members_shows_the_ones_asked_for_and_the_first() -> None:
    lines, members = long_class(200)
    whole = hit()._replace(end_line=len(lines))
    skeleton = shown(reduce_lines(lines, whole, members, ["173"]))
    assert sum(len(line) + 1 for line in skeleton) <= MAX_CHARACTERS
    assert skeleton[:3] == ["class Session:", '    """Keeps cookies."""', "    def step_000(self): return 0"]
    assert skeleton[-1] == "    def step_173(self): return 173"
    assert len(skeleton) > 20


def test_a_skeleton_of_few_members_shows_all_whatever_is_asked() -> None:
    lines, members = long_class(20)
    whole = hit()._replace(end_line=len(lines))
    assert reduce_lines(lines, whole, members, ["17"]) == lines


def test_a_skeleton_of_one_endless_line_keeps_it() -> None:
    lines = ["class Session { " + "a();" * MAX_CHARACTERS, "b();", "}"]
    assert shown(reduce_lines(lines, hit(), [InnerChunk(2, 2, "Session.b")])) == lines[:1]
