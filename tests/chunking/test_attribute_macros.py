"""Macros between the words of a C or C++ declaration do not hide its name."""

import pytest

from gitmem.chunking.attribute_macros import find_attribute_macros, without_attribute_macros
from gitmem.chunking.chunk import chunk_blob
from gitmem.types import OCCURRENCE_KINDS
from tests.chunking.names_in_file import names_of


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("extern SDL_DECLSPEC SDL_Mode ** SDLCALL SDL_Get(int a);", "extern SDL_Mode ** SDL_Get(int a);"),
        ('extern "C" LIB_API int find(int a);', 'extern "C" int find(int a);'),
        ("ZEXTERN int ZEXPORT deflate(z_streamp s);", "int deflate(z_streamp s);"),
        ("XMLPUBFUN int XMLCALL\n\txmlParse(int a);", "int xmlParse(int a);"),
        ("  FMT_CONSTEXPR auto size(int y) -> int;", "auto size(int y) -> int;"),
        ("QT_API QObject *Foo::make(int x) {}", "QObject *Foo::make(int x) {}"),
        # The type itself is in capitals.
        ("static DWORD WINAPI run(int x);", "static DWORD run(int x);"),
        ("FILE *open_it(int a);", "FILE *open_it(int a);"),
        ("const CHAR *name_of(int x);", "const CHAR *name_of(int x);"),
        ("struct NODE *find(int a);", "struct NODE *find(int a);"),
        ("    return NULL || find(a);", "return NULL || find(a);"),
        ("    else IF_FOUND find(a);", "else IF_FOUND find(a);"),
        ("class LIB_API Node : public Base {", "class Node : public Base {"),
        ("void f() { emit changed(1); }", "void f() { changed(1); }"),
        ("if (a) emit list->changed();", "if (a) list->changed();"),
        ("  Q_EMIT changed();", "changed();"),
        ("void printflike(1, 2) log_it(char *a, ...);", "void log_it(char *a, ...);"),
        ("char *PRINTF( 2 )\n*log_it(char *a, ...);", "char * *log_it(char *a, ...);"),
        ("LIB_INLINE base<M>::base(FILE *file) : a(file) {}", "base<M>::base(FILE *file) : a(file) {}"),
        ("LIB_API LIB_INLINE Base::~Base() {}", "Base::~Base() {}"),
        ("BOOL Base::open() {}", "BOOL Base::open() {}"),
        ("x = f(1) + g(2);", "x = f(1) + g(2);"),
        ("#if GTK_CHECK(3, 0)\n\tunref(a);\n#endif", "#if GTK_CHECK(3, 0) unref(a); #endif"),
        ("remit changed(); emit = 1; emit(2);", "remit changed(); emit = 1; emit(2);"),
    ],
)
def test_attributes_are_blanked_and_types_are_not(text: str, plain: str) -> None:
    found = without_attribute_macros(text.encode(), "cpp").decode()
    assert len(found) == len(text)
    assert " ".join(found.split()) == plain
    assert without_attribute_macros(text.encode(), "python") == text.encode()


def test_a_function_of_a_header_has_its_name_and_its_documentation() -> None:
    documentation = "/**\n * Returns the mode of a display.\n" + " * It is long.\n" * 20 + " */\n"
    names = ["SDL_GetFirst", "SDL_GetLast", "SDL_GetNext"]
    text = "\n".join(
        f"{documentation}extern SDL_DECLSPEC SDL_Mode * SDLCALL {name}(SDL_Display display);\n" for name in names
    )
    chunks = chunk_blob(text.encode(), "c").chunks
    assert [(chunk.chunk_type, chunk.symbol) for chunk in chunks] == [("function", name) for name in names]
    assert [chunk.start_line for chunk in chunks] == [1, 26, 51]


def test_words_in_capitals_of_a_comment_are_no_mentions() -> None:
    text = "/*\n   The LIB_CALL function find (a) does it.\n*/\nLIB_API int find(int a);\n"
    assert {name for name in chunk_blob(text.encode(), "c").names[2] if name.startswith(b"LIB")} == {b"LIB_API"}


def test_an_attribute_in_small_letters_is_mentioned() -> None:
    text = "void printflike(1, 2) log_it(char *a, ...);\n"
    assert names_of(text, "c", "type") == ["printflike"]
    assert names_of(text, "c", "name") == ["log_it"]


def test_the_macro_is_still_mentioned() -> None:
    text = "LIB_API int LIB_CALL find(int a);\nclass LIB_API Node : public Base {};\n"
    assert list(find_attribute_macros(text.encode())) == [
        (text.index(" LIB_API Node") + 1, b"LIB_API"),
        (0, b"LIB_API"),
        (12, b"LIB_CALL"),
    ]
    lines, kinds, names, _ = chunk_blob(text.encode(), "cpp").names
    mentions = {(line, OCCURRENCE_KINDS[kind]) for line, kind, name in zip(lines, kinds, names, strict=True)
                if name == b"LIB_API"}  # fmt: skip
    assert mentions == {(1, "type"), (2, "type")}


def test_a_function_that_a_macro_defines_has_its_own_name_and_calls_the_macro() -> None:
    text = """\
SYSCALL_DEFINE3(open, const char *, name, int, flags, umode_t, mode)
{
	return do_open(name);
}
TEST_F(CartTest, AddsPrices) { total(); }
int RUN(void) { return 1; }
"""
    assert names_of(text, "cpp", "function") == ["open", "AddsPrices", "RUN"]
    assert names_of(text, "cpp", "call") == ["SYSCALL_DEFINE3", "do_open", "TEST_F", "total"]


def test_attributes_of_locks_behind_a_declaration_hide_no_name() -> None:
    text = """class Log {
  explicit Log(Mutex* mu) EXCLUSIVE_LOCK_FUNCTION(mu) : mu_(mu) { mu_->Lock(); }
  Status Apply(Edit* edit)
      EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Add(int count) LOCKS_EXCLUDED(mu_) {
    if (count) RELEASE(count);
    ACQUIRE(count);
  }
  int refs_ GUARDED_BY(mu_);
  std::map<int, int> all_ ABSL_GUARDED_BY(Get(1)) = {};
  Mutex mu_;
};
#define GUARDED_BY(x) THREAD_ANNOTATION(guarded_by(x))
"""
    assert names_of(text, "cpp", "function", "class") == ["Log", "Log", "Apply", "Add", "GUARDED_BY"]
    assert names_of(text, "cpp", "value") == ["refs_", "all_", "mu_"]
    assert {"RELEASE", "ACQUIRE"} <= set(names_of(text, "cpp", "call"))
    assert {"ABSL_GUARDED_BY", "LOCKS_EXCLUDED"} <= set(names_of(text, "cpp", "type"))
