"""Named tuples that cost little to define: a drop-in replacement of `typing.NamedTuple`.

`typing.NamedTuple` compiles a constructor for each class when the class is defined, and checks its annotations. A query
defines some 130 such classes, and makes instances of a third of them. Here a constructor is compiled at its first call.
"""

from collections.abc import Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    try:
        from _collections import _tuplegetter as field_getter  # what `collections.namedtuple` uses
    except ImportError:

        def field_getter(index: int, doc: str) -> property:
            return property(itemgetter(index), doc=doc)

    class _FieldTuple(tuple):
        """Base of all named tuples: a tuple whose elements have names, listed in `_fields`."""

        __slots__ = ()
        _fields = ()
        _field_defaults = {}  # noqa: RUF012 (as in `typing.NamedTuple`)

        def __new__(cls, /, *args, **kwargs):
            """Compile the constructor of this class, and call it."""
            owner = next(base for base in cls.__mro__ if "_field_defaults" in base.__dict__)
            owner.__new__ = _compile_constructor(owner)
            return owner.__new__(cls, *args, **kwargs)

        @classmethod
        def _make(cls, values: Iterable[Any]):
            row = tuple.__new__(cls, values)
            if len(row) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(row)}")
            return row

        def _replace(self, /, **changes):
            row = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return row

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            fields = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({fields})"

        def __getnewargs__(self):
            return tuple(self)

    def _compile_constructor(owner):
        fields = ", ".join(owner._fields)
        source = f"lambda cls, {fields}: make(cls, ({fields}{',' if fields else ''}))"
        constructor = eval(source, {"make": tuple.__new__, "__builtins__": {}})  # noqa: S307 (names of fields only)
        constructor.__defaults__ = tuple(owner._field_defaults.values())
        constructor.__name__ = "__new__"
        constructor.__qualname__ = f"{owner.__qualname__}.__new__"
        return constructor

    class _Definition(type):
        """Metaclass that turns the class statement of a named tuple into a subclass of `_FieldTuple`."""

        def __new__(cls, name, bases, namespace):
            fields = tuple(namespace.get("__annotations__", ()))
            defaults = {field: namespace.pop(field) for field in fields if field in namespace}
            if tuple(defaults) != fields[len(fields) - len(defaults) :]:
                raise TypeError(f"{name}: a field without default follows one with a default")
            getters = {field: field_getter(index, "") for index, field in enumerate(fields)}
            # the other bases, for example Generic
            others = tuple(base for base in bases if base is not _NAMED_TUPLE)
            members = {
                "__slots__": (),
                "__match_args__": fields,
                "_fields": fields,
                "_field_defaults": defaults,
                **getters,
                **namespace,
            }
            return type(name, (_FieldTuple, *others), members)

    _NAMED_TUPLE = type.__new__(_Definition, "NamedTuple", (), {})

    class _NamedTuple:
        """Base class in a class statement, replaced by the one that defines named tuples."""

        def __mro_entries__(self, bases):
            return (_NAMED_TUPLE,)

    NamedTuple = _NamedTuple()
