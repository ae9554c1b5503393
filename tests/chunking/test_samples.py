"""One realistic file per language: the units, their symbols, and their spans."""

from pathlib import Path
from typing import Final

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.languages import language_of
from gitmem.types import CHUNK_TYPES, Chunk
from tests.chunking.coverage_check import assert_sound

SAMPLES: Final = Path(__file__).parent / "samples"

EXPECTED: Final = {
    "ledger.py": (
        "class LedgerError, class Entry, method Entry.is_debit, class Entry.Meta, method Entry.Meta.describe, "
        "function parse_amount, function sync, function symbol"
    ),
    "store.js": (
        "class Store, method Store.empty, method Store.constructor, method Store.put, method Store.size, "
        "function readAll, function open, method Store.clear, method handlers.onOpen, method handlers.onClose, "
        "function counter, constant module.exports, method module.exports.limit"
    ),
    "client.ts": (
        "interface RequestOptions, enum State, class Transport, method Transport.onError, "
        "method Transport.constructor, method Transport.send, function Codec.encode, "
        "function parse, function isIdle, function start"
    ),
    "panel.tsx": (
        "interface Props, function Panel, function Row, function useToggle, class Board, method Board.handleClick, "
        "method Board.render"
    ),
    "Parcel.java": (
        "class Parcel, method Parcel.Parcel, method Parcel.add, method Parcel.compareTo, enum Parcel.Size, "
        "method Parcel.Size.fits, class Parcel.Label, method Parcel.Label.Label, interface Parcel.Carrier"
    ),
    "Queue.cs": (
        "interface IJob, class JobQueue, method JobQueue.JobQueue, method JobQueue.Push, property JobQueue.this, "
        "method JobQueue.operator +, enum Priority, class Ticket, struct Slot, method Slot.Length"
    ),
    "pool.go": (
        "struct Pool, interface Dialer, struct state, function New, method Pool.Get, method state.String"
    ),
    "router.rs": (
        "struct Router, enum Found, trait Handler, method Handler.shout, impl Router, method Router.route, "
        "method Router.depth, method Router.fmt, macro routes, function shape.trim, function tests.counts_segments"
    ),
    "ring.c": (
        "struct ring, enum ring_status, struct channel_t, function ring_put, function ring_dump, function ring_count"
    ),
    "matrix.cpp": (
        "class linear.Matrix, method linear.Matrix.at, struct linear.Matrix.Shape, method linear.Matrix.Shape.area, "
        "enum linear.Order, method linear.Matrix.Matrix, method linear.Matrix.operator*, function linear.trace"
    ),
    "mailer.rb": (
        "module Post, class Post.Mailer, method Post.Mailer.initialize, method Post.Mailer.deliver, "
        "method Post.Mailer.local, method Post.Mailer.null, method Post.Mailer.connection, class Post.Letter, "
        "method Post.Letter.short?, function deliver_all"
    ),
    "cart.php": (
        "interface Priced, trait Counts, method Counts.count, class Cart, method Cart.__construct, method Cart.add, "
        "method Cart.price, enum Status, method Status.label, function total, function discount"
    ),
    "Weather.kt": (
        "class Reading, method Reading.isFrost, class Reading.Companion, method Reading.Companion.parse, "
        "interface Sensor, enum Level, method Level.next, class Registry, method Registry.add, function List.mean, "
        "function poll"
    ),
    "Track.swift": (
        "interface Playable, struct Track, method Track.init, method Track.play, method Track.subscript, "
        "enum PlayError, impl Track, method Track.shortened, class Player, method Player.deinit, "
        "method Player.enqueue, function shuffle"
    ),
    "Parser.scala": (
        "trait Reader, method Reader.map, class Reader, method Reader.apply, class Token, method Token.isBlank, "
        "class Parser, method Parser.next"
    ),
    "counter.ex": (
        "module Example.Counter, function Example.Counter.start_link, function Example.Counter.init, "
        "function Example.Counter.handle_call, function Example.Counter.step, macro Example.Counter.bump, "
        "impl String.Chars, function String.Chars.to_string"
    ),
    "Tree.hs": (
        "type Tree, type Depth, trait Container, impl Container Tree, method Container Tree.toL, function insert, "
        "function depth, function <+>"
    ),
    "signal.lua": (
        "function signal.new, method signal.emit, function check, function signal.connect, constant signal.filters, "
        "function signal.filters.once"
    ),
    "stack.zig": (
        "struct Stack, method Stack.pop, method Stack.grow, enum Mode, function List, function double"
    ),
    "deploy.sh": "function log, function build, function confirm, function upload",
    "schema.sql": "type shop.customer, type debtor, function owed, constant customer_by_city",
    "index.html": "section arrivals",
    "site.css": "section :root",
    "package.json": "property scripts.task-20",
    "compose.yaml": "property services",
    "project.toml": "section build.targets.release",
    "guide.md": (
        "section Harbour guide, section Harbour guide > Getting in, section Harbour guide > Getting in > At night, "
        "section Harbour guide > Getting out, section Fees"
    ),
}  # fmt: skip

SPANS: Final = {
    ("ledger.py", "parse_amount"): ("# Memoised, because", "return int(whole) * 100 + int((cents + \"00\")[:2])"),
    ("ledger.py", "Entry"): ("@dataclass(frozen=True)", "return \"entry \" + \", \".join(self.ordering)"),
    ("store.js", "Store.put"): ("  // Overwrites an older value.", "    this.#size += 1;\n  }"),
    ("store.js", "readAll"): ("const readAll = async", "  return names.map((name) => path.join(folder, name));\n};"),
    ("client.ts", "Transport.send"): ("  @logged()", "    return this.perform(options);\n  }"),
    ("client.ts", "parse"): ("export function parse(text: string): unknown;", "JSON.parse(text) : {};\n}"),
    ("Parcel.java", "Parcel.add"): ("    /** Adds one thing. */", "        content.add(thing);\n    }"),
    ("Queue.cs", "JobQueue"): ("    [Serializable]", "left.Count > right.Count;\n    }"),
    ("pool.go", "Pool.Get"): ("// Get takes a connection", "\treturn last, nil\n}"),
    ("router.rs", "Router.route"): ("    /// Adds a route.\n    #[inline]", "        self\n    }"),
    ("ring.c", "ring_put"): ("/* Puts one byte in;", "    return RING_OK;\n}"),
    ("ring.c", "ring_dump"): ("static char *ring_dump", "    return text;\n}"),
    ("matrix.cpp", "linear.Matrix"): ("/// A dense matrix.\ntemplate <typename T>", "std::vector<T> cells_;\n};"),
    ("mailer.rb", "Post.Mailer.connection"): ("    private def connection", "    end"),
    ("cart.php", "Cart"): ("/**\n * What a customer", "return array_sum($this->lines);\n    }\n}"),
    ("Weather.kt", "List.mean"): ("/** The mean of many readings. */", "return sumOf { it.value } / size\n}"),
    ("Track.swift", "Track.play"): ("    public func play", "throw PlayError.pastEnd }\n    }"),
    ("counter.ex", "Example.Counter.handle_call"): ("  @impl true\n  def handle_call", "state.values, state}\n  end"),
    ("Tree.hs", "insert"): ("-- | Puts a value into its place.\ninsert ::", "  | otherwise = tree"),
    ("signal.lua", "signal.emit"): ("--- Calls every listener.", "    listener(...)\n  end\nend"),
    ("stack.zig", "Stack.pop"): ("    /// Takes the last one.\n    pub fn pop", "return self.items[self.len];\n    }"),
    ("deploy.sh", "log"): ("# Prints to the error stream.", "printf '%s\\n' \"$*\" >&2\n}"),
    ("schema.sql", "debtor"): ("/* Only those who owe something. */", "WHERE NOT paid);"),
    ("guide.md", "Harbour guide > Getting in"): ("## Getting *in*", "## nor this\n~~~"),
}  # fmt: skip


def sample_chunks(name: str) -> tuple[bytes, list[Chunk]]:
    data = (SAMPLES / name).read_bytes()
    blob = chunk_blob(data, language_of(name))
    assert blob.parsed
    assert blob.unparsed_reason == ""
    assert_sound(data, blob)
    return data, blob.chunks


def names_of(chunk: Chunk) -> list[str]:
    """Return all names of a chunk, each also with the container of the first."""
    first, *others = chunk.symbol.split(", ")
    owner = first.rpartition(".")[0]
    return [first, *others, *(f"{owner}.{other}" for other in others)]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_sample_has_the_units_that_a_reader_sees(name: str) -> None:
    _, chunks = sample_chunks(name)
    units = {(chunk.chunk_type, symbol) for chunk in chunks for symbol in names_of(chunk)}
    loose = {symbol.rpartition(" > ")[2] for _, symbol in units} | {symbol for _, symbol in units}
    for expected in EXPECTED[name].split(", "):
        chunk_type, _, symbol = expected.partition(" ")
        assert chunk_type in CHUNK_TYPES
        assert (chunk_type, symbol) in units or (
            chunk_type in ("section", "property", "constant") and symbol in loose
        ), expected


@pytest.mark.parametrize(("name", "symbol"), sorted(SPANS))
def test_a_unit_spans_its_documentation_and_its_whole_body(name: str, symbol: str) -> None:
    data, chunks = sample_chunks(name)
    first, last = SPANS[name, symbol]
    texts = [data[chunk.start : chunk.end].decode() for chunk in chunks if chunk.symbol == symbol]
    assert any(text.startswith(first) and text.endswith(last) for text in texts), texts


def test_every_documented_language_has_a_sample() -> None:
    documented = (
        "python javascript typescript tsx java csharp go rust c cpp ruby php kotlin swift scala elixir haskell lua zig "
        "bash sql html css json yaml toml markdown"
    )
    assert {language_of(name) for name in EXPECTED} == set(documented.split())
    assert {path.name for path in SAMPLES.iterdir()} == set(EXPECTED)


def test_a_container_keeps_its_header_and_the_signatures_of_its_members() -> None:
    data, chunks = sample_chunks("Parcel.java")
    parcel = next(chunk for chunk in chunks if chunk.symbol == "Parcel")
    text = "\n".join(data[start:end].decode() for start, end in parcel.parts)
    assert "A parcel on its way" in text
    assert "MAX_WEIGHT" in text
    assert "public void add(T thing)" in text
    assert "content.add(thing)" not in text
