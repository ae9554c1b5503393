"""One version of an element: its text, and the tokens of its signature, its body and its comments. Pure."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Final

from gitmem.chunking.element import Element, FileElements, is_in_anonymous_class

_TOKEN: Final = re.compile(rb"\w+|[^\w\s]")
_CALLABLE: Final = frozenset({"function", "method"})

_HELD: Final = frozenset({"source", "element", "twin", "parameters", "kind", "container", "key"})
"""Attributes of a version that it never frees."""

_OF_VERSIONS: Final = ("versions", "of_kind", "of_symbol", "of_container", "by_key", "symbols")
"""Attributes of a version of a file that hold its elements, or are made from them."""

Spans = list[tuple[int, int]]

_MAX_SHARED: Final = 100_000
"""Tokens of which one copy is kept. A comparison of two releases keeps the tokens of thousands of definitions."""


class FileVersion:
    """Blob of a path at one commit. Its elements are found when first needed.

    `shared` has one copy of each token of several files.
    """

    def __init__(
        self,
        path: bytes,
        oid: str,
        data: bytes,
        parse: Callable[[], FileElements],
        shared: dict[bytes, bytes] | None = None,
    ) -> None:
        self.path = path
        self.oid = oid
        self.data = data
        self._parse = parse
        self._shared = {} if shared is None else shared

    def share(self, tokens: list[bytes]) -> list[bytes]:
        """Return tokens as the copies that all files share."""
        shared = self._shared
        if len(shared) > _MAX_SHARED:
            shared.clear()
        return [shared.setdefault(token, token) for token in tokens]

    @cached_property
    def file(self) -> FileElements:
        return self._parse()

    @cached_property
    def versions(self) -> "list[Version]":
        """All elements of the file."""
        return [Version(self, element) for element in self.file.elements]

    @cached_property
    def of_kind(self) -> "dict[str, list[Version]]":
        """Elements by kind."""
        return _group((version.kind, version) for version in self.versions)

    @cached_property
    def of_symbol(self) -> "dict[str, list[Version]]":
        """Elements by symbol."""
        return _group((version.element.symbol, version) for version in self.versions)

    @cached_property
    def of_container(self) -> "dict[str, list[Version]]":
        """Elements by the symbol of the one around them."""
        return _group((version.container, version) for version in self.versions)

    @cached_property
    def by_key(self) -> "dict[tuple[str, str, bytes], Version]":
        """Elements by key, the last one of each."""
        return {version.key: version for version in self.versions}

    @cached_property
    def symbols(self) -> set[tuple[str, str]]:
        """Kinds and symbols of the elements."""
        return {(version.kind, version.element.symbol) for version in self.versions}

    def forget_versions(self) -> None:
        """Let go of the elements; those that are still in use stay. Asked for again, they are new objects."""
        for part in _OF_VERSIONS:
            self.__dict__.pop(part, None)

    @cached_property
    def headers(self) -> "list[tuple[int, bytes]]":
        """First lines of all elements that hold others, with their offsets."""
        holders = [element for element in self.file.elements if element.holds]
        return [(each.code, self.data[each.code : each.body].strip().split(b"\n")[0]) for each in holders]


class Version:
    """Element of a file at one commit. Its parts are computed when first needed.

    `twin` is the same element with the same text in another version of the file, which has its parts already.
    """

    def __init__(self, source: FileVersion, element: Element, twin: "Version | None" = None) -> None:
        self.source = source
        self.element = element
        self.twin = twin

    @property
    def path(self) -> bytes:
        return self.source.path

    def release(self) -> None:
        """Free all computed parts but those of the key. They are computed again if they are needed."""
        for part in self.__dict__.keys() - _HELD:
            del self.__dict__[part]

    @cached_property
    def text(self) -> bytes:
        """Bytes from the first comment to the end; for an element that holds others, without these."""
        if self.twin is not None:
            return self.twin.text
        return b"".join(self.source.data[start:end] for start, end in self._own)

    @cached_property
    def signature(self) -> list[bytes]:
        """Tokens before the body, without comments."""
        return self.twin.signature if self.twin is not None else self._tokens(self.element.start, self.element.body)

    @cached_property
    def bare_signature(self) -> list[bytes]:
        """Tokens of the signature without the first occurrence of the name."""
        tokens, name = list(self.signature), self.element.name.encode("utf-8", "replace")
        if name in tokens:
            tokens.remove(name)
        return tokens

    @cached_property
    def body(self) -> list[bytes]:
        """Tokens of the body, without comments."""
        return self.twin.body if self.twin is not None else self._tokens(self.element.body, self.element.end)

    @cached_property
    def comments(self) -> bytes:
        """Words of the comments; of an element that holds others, only those above it and between them."""
        if self.twin is not None:
            return self.twin.comments
        comments, element = self.source.file.comments, self.element
        first, last = (bisect_left(comments, (offset, 0)) for offset in (element.start, element.end))
        spans = [span for span in comments[first:last] if self._owns(span[0])]
        return b"\n".join(b" ".join(self.source.data[start:end].split()) for start, end in spans)

    @cached_property
    def members(self) -> Counter[str]:
        """Number of the elements that this one holds, by kind: renaming one changes nothing here."""
        if self.twin is not None:
            return self.twin.members
        return Counter(inner.chunk_type for inner in self._inner)

    @cached_property
    def headers(self) -> list[tuple[int, bytes]]:
        """Headers of all containers of the file in which the parts were computed."""
        return self.twin.headers if self.twin is not None else self.source.headers

    @cached_property
    def header(self) -> bytes:
        """First line of the innermost element before this one that holds others, b"" without any."""
        if self.twin is not None:
            return self.twin.header
        return max((entry for entry in self.source.headers if entry[0] < self.element.start), default=(0, b""))[1]

    @cached_property
    def owner(self) -> bytes:
        """Signature of the definition in which the anonymous class of this member is made; b"" of other elements."""
        if self.twin is not None:
            return self.twin.owner
        element, inner = self.element, is_in_anonymous_class(self.element.symbol)
        around = (each for each in self.source.file.elements if inner and not each.holds and element.end <= each.end)
        outermost = next((each for each in around if each.start < element.start), None)
        return self.source.data[outermost.code : outermost.body].strip() if outermost is not None else b""

    @cached_property
    def parameters(self) -> tuple[bytes, ...]:
        """Tokens between the brackets behind the name; all of the signature if there are none."""
        name = self.element.name.encode("utf-8", "replace")
        for at, token in enumerate(self.signature[:-1]):
            if token == name and self.signature[at + 1] == b"(":
                return tuple(_bracketed(self.signature, at + 1))
        return tuple(token for token in self.signature if token != name)

    @cached_property
    def bag(self) -> Counter[bytes]:
        """Multiset of the tokens of the body and the parameters, by which two elements are compared.

        Members count: most classes have little text of their own.
        """
        if self.twin is not None:
            return self.twin.bag
        element = self.element
        if element.holds:
            body = self._tokens_in([(element.body, element.end)])
        else:
            # The list of tokens takes as much memory as the multiset, and few definitions need both.
            body = self.__dict__.get("body") or self._tokens(element.body, element.end)
        bag = Counter(body)
        bag.update(self.parameters)
        return bag

    @cached_property
    def tokens(self) -> int:
        """Number of these tokens."""
        return self.bag.total()

    @property
    def body_length(self) -> int:
        """Number of the tokens of the body, of an element that holds others of its own text there."""
        return len(self.body) if self.element.holds else self.tokens - len(self.parameters)

    @cached_property
    def kind(self) -> str:
        """Chunk type, with functions and methods as one: moving a function into a class makes it a method.

        Members of anonymous classes are a kind of their own: they lie inside of other elements, and replace none.
        """
        chunk_type = "function" if self.element.chunk_type in _CALLABLE else self.element.chunk_type
        return f"anonymous {chunk_type}" if is_in_anonymous_class(self.element.symbol) else chunk_type

    @cached_property
    def container(self) -> str:
        """Symbol of the element around this one, "" without any. It is always shorter than the own one."""
        symbol, name = self.element.symbol, self.element.name
        return symbol[: -len(name)].rstrip(".> ") if name and symbol.endswith(name) else ""

    @cached_property
    def key(self) -> tuple[str, str, bytes]:
        """What distinguishes an element from all others of its file: kind, symbol and parameters."""
        # Bytes know their hash; that of a tuple of thousands of tokens would be computed at every look-up.
        return self.kind, self.element.symbol, b" ".join(self.parameters)

    @cached_property
    def _inner(self) -> list[Element]:
        """Elements that lie directly inside of one that holds others, by start."""
        element, inner = self.element, []
        at = element.start
        for each in self.source.file.elements if element.holds else ():
            if each.symbol != element.symbol and at <= each.start and each.end <= element.end:
                inner.append(each)
                at = each.end
        return inner

    @cached_property
    def _own(self) -> Spans:
        """Spans of the element's own text, by start."""
        starts = [self.element.start, *(inner.end for inner in self._inner)]
        return list(zip(starts, [*(inner.start for inner in self._inner), self.element.end], strict=True))

    def _owns(self, offset: int) -> bool:
        return any(start <= offset < end for start, end in self._own)

    def _tokens(self, first: int, stop: int) -> list[bytes]:
        """Return the tokens of the element's own text between two offsets."""
        return self._tokens_in([(max(start, first), max(min(end, stop), first)) for start, end in self._own])

    def _tokens_in(self, spans: Spans) -> list[bytes]:
        """Return the tokens of spans without the comments."""
        tokens: list[bytes] = []
        for start, end in _subtract(spans, self.source.file.comments):
            tokens += _TOKEN.findall(self.source.data, start, end)
        return self.source.share(tokens)


def _group(keyed: "Iterable[tuple[str, Version]]") -> "dict[str, list[Version]]":
    groups: defaultdict[str, list[Version]] = defaultdict(list)
    for key, version in keyed:
        groups[key].append(version)
    return dict(groups)


def similarity(one: Counter[bytes], other: Counter[bytes]) -> float:
    """Return the Dice coefficient of two multisets: 1.0 if they are equal, 0.0 if they share nothing."""
    total = one.total() + other.total()
    if not total:
        return 1.0
    # Without `one & other`, which makes a third multiset and takes longer.
    fewer, more = (one, other) if len(one) < len(other) else (other, one)
    count_in_more = more.get
    shared = 0
    for token, count in fewer.items():
        if other_count := count_in_more(token):
            shared += min(count, other_count)
    return 2 * shared / total


def _bracketed(tokens: list[bytes], at: int) -> list[bytes]:
    """Return the tokens from an opening bracket to the one that closes it."""
    depth = 0
    for end in range(at, len(tokens)):
        depth += (tokens[end] == b"(") - (tokens[end] == b")")
        if depth == 0:
            return tokens[at + 1 : end]
    return tokens[at + 1 :]


def _subtract(spans: Spans, holes: Spans) -> Spans:
    """Return the parts of ordered spans outside of ordered holes."""
    rest: Spans = []
    for start, stop in spans:
        at = start
        for hole_start, hole_end in holes[max(bisect_left(holes, (start, 0)) - 1, 0) :]:
            if hole_start >= stop:
                break
            if hole_end > at:
                if hole_start > at:
                    rest.append((at, hole_start))
                at = hole_end
        if at < stop:
            rest.append((at, stop))
    return rest
