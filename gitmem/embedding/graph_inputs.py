"""Turn large constants of an ONNX graph into inputs, so that the library uses them where they are.

The library parses a model that it gets as bytes, which copies each constant twice: 16 MB of the bundled one, in every
worker, and most of the time of opening a session. Inputs are arrays that may be mapped from the file.
"""

# A model is a message of protocol buffers: fields one after the other, each with its number and the length of its
# content. Copying all fields but the constants needs no knowledge of the others, and no library for the format.

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

_GRAPH: Final = 7  # of a model
_INITIALIZER, _INPUT = 5, 11  # of a graph
_NAME_OF_TENSOR: Final = 8
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_FIXED: Final = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}

FLOAT: Final = 1
INT8: Final = 3
"""Types of elements, as the format numbers them."""


class Constant(NamedTuple):
    """Type of the elements of a constant, and its shape."""

    element_type: int
    shape: Sequence[int]


class _Field(NamedTuple):
    number: int
    start: int
    content: int
    end: int


def move_to_inputs(model: memoryview, constants: Mapping[str, Constant]) -> bytes:
    """Return a model whose named constants are inputs. Raises ValueError for any other model."""
    copied: list[bytes] = []
    moved: set[str] = set()
    for field in _fields(model):
        if field.number != _GRAPH:
            copied.append(bytes(model[field.start : field.end]))
            continue
        graph = model[field.content : field.end]
        parts: list[bytes] = []
        for part in _fields(graph):
            name = _tensor_name(graph[part.content : part.end]) if part.number == _INITIALIZER else ""
            if name in constants:
                moved.add(name)
            else:
                parts.append(bytes(graph[part.start : part.end]))
        parts += [_message(_INPUT, _describe(name, constant)) for name, constant in constants.items()]
        copied.append(_message(_GRAPH, b"".join(parts)))
    if moved != set(constants):
        raise ValueError("the model lacks a constant")
    return b"".join(copied)


def _fields(message: memoryview) -> Iterator[_Field]:
    """Yield the fields of a message; numbers have no content. Raises ValueError if it is damaged."""
    at = 0
    while at < len(message):
        start = at
        key, at = _read_varint(message, at)
        content = at
        kind = key & 7
        if kind == _BYTES:
            size, content = _read_varint(message, at)
            at = content + size
        elif kind == _VARINT:
            _, at = _read_varint(message, at)
        elif kind in _FIXED:
            at += _FIXED[kind]
        else:
            raise ValueError("a field has an unknown type")
        if at > len(message):
            raise ValueError("a field ends behind its message")
        yield _Field(key >> 3, start, content, at)


def _tensor_name(tensor: memoryview) -> str:
    for field in _fields(tensor):
        if field.number == _NAME_OF_TENSOR:
            return str(tensor[field.content : field.end], "utf-8")
    return ""


def _describe(name: str, constant: Constant) -> bytes:
    """Return the description of an input: its name, and the type and shape of a tensor."""
    shape = b"".join(_message(1, _number(1, size)) for size in constant.shape)
    tensor = _number(1, constant.element_type) + _message(2, shape)
    return _message(1, name.encode()) + _message(2, _message(1, tensor))


def _read_varint(data: memoryview, at: int) -> tuple[int, int]:
    """Return a number, and where it ends. Its bytes have seven bits each, the lowest first."""
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    raise ValueError("a number does not end")


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


def _message(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3 | _VARINT) + _varint(value)
