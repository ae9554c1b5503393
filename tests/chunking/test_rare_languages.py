"""Definitions of languages of one domain: what each line begins has a name, and damage loses nothing."""

import random
import re
from pathlib import Path
from typing import Final

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.grammars.rare_languages import GRAMMARS
from gitmem.chunking.languages import language_of
from tests.chunking.coverage_check import assert_sound

_SAMPLE: Final = re.compile(
    r"=== (?P<file>\S+): (?P<names>[^\n]+)\n(?P<text>.*?)(?=^=== |\Z)", re.MULTILINE | re.DOTALL
)
SAMPLES: Final = {
    sample["file"]: (sample["text"], sample["names"].split(" | "))
    for sample in _SAMPLE.finditer(Path(__file__).with_name("rare_languages.txt").read_text())
}
"""Texts by file name, with the names of their definitions."""


@pytest.mark.parametrize("file", SAMPLES)
def test_the_lines_that_begin_a_definition_have_its_name(file: str) -> None:
    text, expected = SAMPLES[file]
    chunks = chunk_blob(text.encode(), language_of(file)).chunks
    units = [unit for chunk in chunks for unit in (chunk.units or (chunk,)) if unit.symbol]
    assert [symbol for unit in units for symbol in unit.symbol.split(", ")] == expected


def test_each_language_has_a_sample() -> None:
    assert {language_of(file) for file in SAMPLES} == set(GRAMMARS)


def test_paragraphs_of_cobol_are_called_and_copied() -> None:
    names = chunk_blob(SAMPLES["a.cbl"][0].encode(), "cobol").names
    places = list(zip(names.names, names.lines, strict=True))
    assert {(b"CEE3ABD", 17), (b"CVACT01Y", 18)} <= set(places)
    assert sorted(line for name, line in places if name == b"9910-DISPLAY-IO-STATUS") == [11, 16]


@pytest.mark.parametrize("file", SAMPLES)
def test_damaged_files_are_covered_by_chunks(file: str) -> None:
    text, language = SAMPLES[file][0].encode() * 3, language_of(file)
    chance = random.Random(7)
    for _ in range(40):
        at = chance.randrange(len(text))
        damaged = text[:at] + bytes([chance.randrange(256)]) * chance.randrange(4) + text[at + chance.randrange(30) :]
        assert_sound(damaged, chunk_blob(damaged, language))
