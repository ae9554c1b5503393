"""Named tuples of `gitmem.named_tuple`: each behaves like one of `typing`, and no other kind is defined."""

import copy
import pickle
import re
import typing
from pathlib import Path
from typing import Any, Generic, TypeVar

import pytest

import gitmem
from gitmem.named_tuple import NamedTuple

Value = TypeVar("Value")


class Standard(typing.NamedTuple):
    """A place."""

    path: str
    line: int = 1
    tags: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The place as text."""
        return f"{self.path}:{self.line}"


class Place(NamedTuple):
    """A place."""

    path: str
    line: int = 1
    tags: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The place as text."""
        return f"{self.path}:{self.line}"


class Empty(NamedTuple):
    """No fields."""


class Pair(NamedTuple, Generic[Value]):
    """Two values of a type."""

    first: Value
    second: Value


class Child(Place):
    """A place with another text."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """Nothing."""
        return ""


ARGUMENTS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    (("a",), {}), (("a", 2), {}), ((), {"path": "a"}), (("a",), {"tags": ("x",)}), (("a", 2, ("x",)), {}),
]  # fmt: skip
MISTAKES: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}), (("a", 1, (), 4), {}), (("a",), {"path": "b"}), (("a",), {"unknown": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("args", "options"), ARGUMENTS)
def test_a_tuple_equals_that_of_typing(args: tuple[Any, ...], options: dict[str, Any]) -> None:
    ours, standard = Place(*args, **options), Standard(*args, **options)
    assert tuple(ours) == tuple(standard)
    assert hash(ours) == hash(standard)
    assert repr(ours) == repr(standard).replace("Standard", "Place")
    assert ours._asdict() == standard._asdict()
    assert ours._replace(line=9)._asdict() == standard._replace(line=9)._asdict()
    assert (ours.path, ours.line, ours.tags, ours.text) == (standard.path, standard.line, standard.tags, standard.text)
    assert type(ours._replace(line=9)) is type(copy.deepcopy(ours)) is type(pickle.loads(pickle.dumps(ours))) is Place
    assert pickle.loads(pickle.dumps(ours)) == copy.copy(ours) == ours


@pytest.mark.parametrize(("args", "options"), MISTAKES)
def test_a_wrong_call_fails_as_that_of_typing(args: tuple[Any, ...], options: dict[str, Any]) -> None:
    messages = []
    for definition in (Place, Standard):
        with pytest.raises(TypeError) as caught:
            definition(*args, **options)
        messages.append(str(caught.value).rpartition("__new__")[2])
    assert messages[0] == messages[1]


def test_a_class_describes_its_fields_like_that_of_typing() -> None:
    for name in ("_fields", "_field_defaults", "__match_args__", "__annotations__", "__doc__", "__slots__"):
        assert getattr(Place, name) == getattr(Standard, name), name
    assert typing.get_type_hints(Place) == typing.get_type_hints(Standard)
    assert Place._make(["a", 2, ()]) == ("a", 2, ())
    with pytest.raises(TypeError):
        Place._make(["a"])
    changes: dict[str, Any] = {"unknown": 1}
    with pytest.raises(ValueError, match="unknown"):
        Place("a")._replace(**changes)


def test_a_tuple_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Place("a").line = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        Place("a").other = 2  # type: ignore[attr-defined]


def test_subclasses_generic_and_empty_ones_are_built() -> None:
    assert Child("a").text == ""
    assert type(Child("a", 2)._replace(line=3)) is Child
    assert isinstance(Child("a"), Place)
    assert Place("a", 2).text == "a:2", "the constructor of the subclass, called first, is not that of the class"
    assert Pair[int](1, 2) == Pair(first=1, second=2) == (1, 2)
    assert Empty() == ()
    with pytest.raises(TypeError):
        Empty(1)  # type: ignore[call-arg]


def test_a_field_without_default_follows_none_with_one() -> None:
    namespace = {"__annotations__": {"a": int, "b": int}, "a": 1, "__module__": __name__}
    with pytest.raises(TypeError, match="without default"):
        type(NamedTuple.__mro_entries__(())[0])("Wrong", (), namespace)  # type: ignore[attr-defined]


def test_the_package_defines_no_named_tuple_of_typing() -> None:
    root = Path(gitmem.__file__).parent
    of_typing = re.compile(r"^\s*(from typing import .*\bNamedTuple\b|from collections import .*\bnamedtuple\b)", re.M)
    found = [path for path in root.rglob("*.py") if of_typing.search(path.read_text())]
    assert found == [root / "named_tuple.py"]
