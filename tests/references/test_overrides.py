"""Calls of a member that may run one which overrides it, and types of Go that have the methods of interfaces."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from gitmem.answering.usage_json import describe_certainty
from tests.references.asking import ask, indexed_files, places

FILES = {
    "java/shop/Store.java": """package shop;
interface Named {
    String title();
}
interface Store extends Named {
    void save(String item);
}
abstract class Disk implements Store {
    public void save(String item) {
        check(item);
    }
    protected void check(String item) {}
    private void close() {}
    void stop() {
        close();
    }
}
class Tape extends Disk {
    @Override
    protected void check(String item) {
        super.check(item);
    }
    public String title() { return ""; }
    void close() {}
}
class Shop {
    private final Store store;
    void sell(Store store, Tape tape) {
        store.save("a");
        store.title();
        tape.title();
    }
}
""",
    "python/shapes.py": """class Shape:
    sides = 0

    def __init__(self):
        self.draw()

    def draw(self):
        return self.sides

    def again(self):
        Shape.draw(self)


class Square(Shape):
    sides = 4

    def __init__(self):
        super().__init__()

    def draw(self):
        return super().draw()


class Round(Shape):
    def twice(self):
        self.draw()


def show(shape: Shape):
    shape.draw()
""",
    "cpp/sink.hpp": """class Sink {
 public:
  void log() { write_line(); }
  virtual void write_line() = 0;
};
class FileSink : public Sink {
 public:
  void write_line() override;
};
""",
    "cpp/sink.cpp": """#include "sink.hpp"
void FileSink::write_line() {
}
""",
    "go/keep/keep.go": """package keep

type Item struct{}

type Reader interface {
	Read(n int) *Item
}

type Keeper interface {
	Reader
	Hold(item *Item) error
}

type Disk struct{}

func (d *Disk) Hold(item *Item) error {
	return nil
}

func (d *Disk) Read(n int) *Item {
	return nil
}

type Cached struct {
	*Disk
}

type Half struct{}

func (h Half) Hold(item *Item) error {
	return nil
}

type Other struct{}

func (o Other) Hold(item string) error {
	return nil
}

func (o Other) Read(n int) *Item {
	return nil
}

func Use(k Keeper, r Reader) {
	k.Hold(nil)
	r.Read(1)
}
""",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("overrides"), FILES) as searcher:
        yield searcher


JAVA, PYTHON, GO = "java/shop/Store.java", "python/shapes.py", "go/keep/keep.go"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Disk.save", [f"{JAVA}:29 (Store.save)"]),
        # The class above calls its own method, which the class below replaces; `super` never means that one.
        ("Tape.check", [f"{JAVA}:10 (Disk.check)"]),
        # From the interface above the interface of the class above; first the sure call.
        ("Tape.title", [f"{JAVA}:31", f"{JAVA}:30 (Named.title)"]),
        # Nothing overrides a private method.
        ("Tape.close", []),
        # A constructor, `Shape.draw(self)` and another class below, whose object is never a square.
        ("Square.draw", [f"{PYTHON}:5 (Shape.draw)", f"{PYTHON}:30 (Shape.draw)"]),
        ("Square.__init__", []),
        ("FileSink.write_line", ["cpp/sink.hpp:3 (Sink.write_line)"]),
        ("Disk.Hold", [f"{GO}:45 (Keeper.Hold)"]),
        ("Disk.Read", [f"{GO}:46 (Reader.Read)"]),
        # Without all methods of the interface, or with other types in their heads.
        ("Half.Hold", []),
        ("Other.Hold", []),
        ("Other.Read", [f"{GO}:46 (Reader.Read)"]),
    ],
)
def test_calls_of_an_overridden_member(tree: Searcher, name: str, expected: list[str]) -> None:
    assert places(tree, name, "callers") == expected


def test_an_overridden_member_has_its_own_calls_alone(tree: Searcher) -> None:
    assert places(tree, "Shape.draw", "callers") == [f"{PYTHON}:{line}" for line in (5, 11, 21, 26, 30)]


def test_uses_of_an_overridden_attribute(tree: Searcher) -> None:
    assert places(tree, "Square.sides", "mentions") == [f"{PYTHON}:8 (Shape.sides)"]


def test_the_answer_names_the_overridden_member(tree: Searcher) -> None:
    ((place,),) = [related.places for related in ask(tree, "Disk.save", "callers").relations]
    assert describe_certainty(place, 1) == "through Store.save"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Named.title", [f"{JAVA}:23"]),
        ("Store.save", [f"{JAVA}:9"]),
        ("Shape.draw", [f"{PYTHON}:20"]),
        ("Keeper", [f"{GO}:14", f"{GO}:25"]),  # the second one embeds the first
        ("Reader", [f"{GO}:10", f"{GO}:14", f"{GO}:25", f"{GO}:34"]),
        ("Keeper.Hold", [f"{GO}:16"]),
        ("Reader.Read", [f"{GO}:20", f"{GO}:40"]),
    ],
)
def test_implementers(tree: Searcher, name: str, expected: list[str]) -> None:
    found = places(tree, name, "implementers")
    assert sorted(found, key=lambda place: int(place.split(":")[1])) == expected
