"""The memory of a process that parses many files."""

import subprocess
import sys
from pathlib import Path
from typing import Final, cast

import pytest
from tree_sitter_language_pack import SupportedLanguage, get_parser

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.languages import language_of
from gitmem.chunking.parse import adapted, parse_tree

SAMPLES: Final = Path(__file__).parent / "samples"

_GROWTH: Final = """
import sys
from pathlib import Path
from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.languages import language_of

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

for sample in sorted(Path(sys.argv[1]).iterdir()):
    data = sample.read_bytes()
    text = data * (60_000 // len(data) + 1)
    chunk_blob(text, language_of(sample.name))
    for _ in range(5):
        before = resident()
        for _ in range(5):
            chunk_blob(text, language_of(sample.name))
        growth = (resident() - before) / (5 * len(text))
        if growth < 0.5:
            break
    print(sample.name, growth)
"""
"""Prints for each sample the growth of the process in bytes per byte parsed, after a first pass that warms up.

Allocators grow now and then. A leak grows each time, so a sample that grows is measured again.
"""


_AT_THE_SAME_TIME: Final = """
import sys, threading
from gitmem.chunking.parse import parse_tree

sys.setswitchinterval(1e-6)
texts = ["".join(f"def name_{n}_{i}(value):\\n    return {i}\\n" for i in range(400)).encode() for n in range(4)]
expected = [str(parse_tree(text, "python", 10.0).root_node) for text in texts]
wrong = []

def parse(number):
    for _ in range(3):
        tree = parse_tree(texts[number], "python", 10.0)
        if str(tree.root_node) != expected[number] or tree.root_node.text != texts[number]:
            wrong.append(number)

threads = [threading.Thread(target=parse, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("wrong", wrong)
"""
"""Parses in four threads, which take turns at each call of the parser: with shared parsers the process dies."""


def test_threads_parse_at_the_same_time() -> None:
    done = subprocess.run([sys.executable, "-P", "-c", _AT_THE_SAME_TIME], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "wrong []\n")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs procfs")
def test_parsing_keeps_nothing_of_the_files_in_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", _GROWTH, str(SAMPLES)], capture_output=True, text=True, check=True
    )
    growth = {name: float(value) for name, value in (line.rsplit(" ", 1) for line in done.stdout.splitlines())}
    assert len(growth) == len(list(SAMPLES.iterdir()))
    assert {name: value for name, value in growth.items() if value >= 0.5} == {}


def test_the_text_of_a_node_is_read_after_parsing() -> None:
    source = b"def first():\n    pass\n" * 400
    root = parse_tree(source, "python", 10.0).root_node
    assert root.text == source
    assert root.children[-1].text == b"def first():\n    pass"


@pytest.mark.parametrize("name", ["Parser.scala", "ledger.py"])
def test_blocks_give_the_same_tree_as_the_whole_text(name: str) -> None:
    """The scanners of both languages go back to the start of a line, also of one before the current block."""
    data = (SAMPLES / name).read_bytes()
    source = data * (140_000 // len(data))
    language = language_of(name)
    tree = parse_tree(source, language, 10.0)
    assert str(tree.root_node) == str(get_parser(cast(SupportedLanguage, language)).parse(source).root_node)


def test_scanners_with_a_table_of_characters_get_ascii_alone() -> None:
    # They read beyond the table at other characters, which crashes by chance. Names are still those of the text.
    text = "größe() {\n  echo 1 # \U0001f600\n}\ngröße\n".encode()
    for grammar in ("bash", "d", "gn", "odin", "v"):
        assert adapted(text, grammar).isascii()
        assert len(adapted(text, grammar)) == len(text)
    assert adapted(text, "python") == text
    blob = chunk_blob(text, "bash")
    assert [chunk.symbol for chunk in blob.chunks if chunk.symbol] == ["größe"]
    assert {name.decode() for name in blob.names.names} >= {"größe"}
