"""Places named in a text: frames of stack traces in all common languages, links into forges, paths in prose."""

import pytest

from gitmem.search.mentions import MAX_LINE, MAX_MENTIONS, Mention, find_mentions, is_frame

FRAMES = {
    "Python": ('  File "/srv/pkg/a.py", line 12, in load', "pkg/a.py", 12, "load"),
    "IPython": ("~/env/site-packages/pkg/a.py in fit(self, X)", "pkg/a.py", 0, "fit"),
    "IPython 8": ("File ~/env/pkg/a.py:12, in Axes.bar(self, x)", "pkg/a.py", 12, "bar"),
    "pytest": ("src/pkg/a.py:12: in load", "src/pkg/a.py", 12, "load"),
    "JavaScript": ("    at Foo.bar (lib/b.js:10:5)", "lib/b.js", 10, "bar"),
    "JavaScript, async": ("    at async load (/srv/lib/b.ts:10:5)", "lib/b.ts", 10, "load"),
    "JavaScript, anonymous": ("    at /srv/lib/b.mjs:10:5", "lib/b.mjs", 10, ""),
    "Java": ("\tat org.acme.Bar.baz(Bar.java:123)", "org/acme/Bar.java", 123, "baz"),
    "Java, constructor": ("\tat org.acme.Bar$Inner.<init>(Bar.java:4)", "org/acme/Bar.java", 4, "Inner"),
    "Kotlin": ("\tat acme.JobSupport.cancel(Job.kt:5)", "acme/Job.kt", 5, "cancel"),
    "C#": ("   at Acme.Home.Index(String id) in C:\\src\\Web\\Home.cs:line 42", "Web/Home.cs", 42, "Index"),
    "gdb": ("#1  0x0000 in parse_header (buf=0x0) at src/parse.c:123", "src/parse.c", 123, "parse_header"),
    "lldb": ("  * frame #0: 0x01 app`Foo::bar(int) at foo.cpp:12:3", "foo.cpp", 12, "bar"),
    "sanitizer": ("    #1 0x4f in foo::bar(int) /src/lib/foo.cc:12:3", "lib/foo.cc", 12, "bar"),
    "Ruby": ("app/user.rb:12:in `save!': oops (RuntimeError)", "app/user.rb", 12, "save"),
    "Ruby 3.4": ("\tfrom app/user.rb:3:in 'User#create'", "app/user.rb", 3, "create"),
    "PHP": ("#0 /var/www/src/Foo.php(123): App\\Foo->bar(Object)", "src/Foo.php", 123, "bar"),
    "Elixir": ("    (app 1.5) lib/app/router.ex:352: App.Router.call/2", "lib/app/router.ex", 352, "call"),
    "Dart": ("#0      Foo.bar (package:app/src/foo.dart:12:5)", "src/foo.dart", 12, "bar"),
    "Lua": ("\tsrc/foo.lua:12: in function 'bar'", "src/foo.lua", 12, "bar"),
}  # fmt: skip


@pytest.mark.parametrize("language", FRAMES)
def test_a_frame_has_path_line_and_function(language: str) -> None:
    text, path, line, symbol = FRAMES[language]
    assert is_frame(text)
    (mention,) = find_mentions(text)
    assert "/".join(mention.path).endswith(path)
    assert (mention.line, mention.symbol, mention.stack, mention.depth) == (line, symbol, 1, 1)


@pytest.mark.parametrize(
    ("text", "path", "line", "symbol"),
    [
        ("   4: acme::parser::parse_line\n             at ./src/parser.rs:88:9", "src/parser.rs", 88, "parse_line"),
        ("main.(*Server).handle(0xc000, 0x1)\n\t/srv/proj/handler.go:123 +0x1d", "proj/handler.go", 123, "handle"),
        (" [1] foo(x::Int64)\n   @ Main ./src/foo.jl:12", "src/foo.jl", 12, "foo"),
    ],
)
def test_the_function_may_be_on_the_line_before(text: str, path: str, line: int, symbol: str) -> None:
    mention = next(mention for mention in find_mentions(text) if mention.line)
    assert "/".join(mention.path).endswith(path)
    assert (mention.line, mention.symbol) == (line, symbol)


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/o/r/blob/0a1b2c3/src/x/y.py#L10-L20",
        "https://gitlab.com/g/p/-/blob/main/src/x/y.py#L10",
        "https://codeberg.org/o/r/src/branch/main/src/x/y.py#L10",
    ],
)
def test_a_link_into_a_forge_names_a_path_and_a_line(url: str) -> None:
    assert find_mentions(f"see {url} for details") == [Mention(("src", "x", "y.py"), 10)]


@pytest.mark.parametrize("text", ["see https://example.org/download/setup.py?x=1", "nothing here", "1.2.3 and e.g. 5"])
def test_other_links_and_prose_name_no_file(text: str) -> None:
    assert not [mention for mention in find_mentions(text) if mention.line or len(mention.path) > 1]
    assert not is_frame(text)


def test_the_innermost_frame_is_the_last_of_python_and_the_first_of_others() -> None:
    python = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\n  File "b.py", line 2, in g\n'
    java = "\tat acme.A.f(A.java:1)\n\tat acme.B.g(B.java:2)\n"
    assert [mention.symbol for mention in find_mentions(python)] == ["g", "f"]
    assert [mention.symbol for mention in find_mentions(java)] == ["f", "g"]


def test_two_stack_traces_are_numbered_apart() -> None:
    trace = 'Traceback (most recent call last):\n  File "{}.py", line 1, in f\nValueError: x\n'
    mentions = find_mentions(trace.format("a") + "\nDuring handling of it\n\n" + trace.format("b"))
    assert [(mention.path, mention.stack, mention.depth) for mention in mentions] == [
        (("a.py",), 1, 1),
        (("b.py",), 2, 1),
    ]


def test_the_number_of_places_is_bounded_and_sure_ones_come_first() -> None:
    text = " ".join(f"value.n{number}" for number in range(500)) + "\nsrc/real.py:12\n"
    mentions = find_mentions(text)
    assert len(mentions) == MAX_MENTIONS
    assert mentions[0] == Mention(("src", "real.py"), 12)


def test_a_line_is_searched_up_to_a_bound() -> None:
    assert find_mentions("x" * MAX_LINE + " src/a.py:1") == []
