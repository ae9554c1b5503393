"""Fit the weights by which a query is taken for a request for a change; validate them on other repositories.

Requests are subjects of commits. Other queries are first sentences of documentation, headings of Markdown pages, and
the queries of `--queries`. A penalty on the absolute weights (lasso, Tibshirani 1996) leaves most of them at zero.
Prints the tables for `gitmem/search/change_requests.py`.
"""

import argparse
import hashlib
import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.search.change_requests import MIN_WORDS, SURE, iter_features
from gitmem.search.commit_subjects import clean_message, find_query
from gitmem.search.stop_words import STOP_WORDS
from gitmem.words import stem
from models.recipe.records import iter_rows
from tests.bench.figures import Figure
from tests.bench.quality import read_names, read_queries
from tests.bench.subjects import SubjectError, git

SHARES: Final = {"commit": 0.5, "documentation": 0.12, "heading": 0.13, "query": 0.25}
"""Weight of each kind of text in the loss."""

READ_COMMITS: Final = 4000
SUBJECTS: Final = 120
HEADINGS: Final = 30
SENTENCES: Final = 5000
"""Most subjects and headings of one repository, and most sentences of documentation."""

MIN_GROUPS: Final = 25
"""Repositories and packages that must use a word before it can have a weight."""

PENALTY: Final = 0.001
STEPS: Final = 250
FOLDS: Final = 4

_COUNTED: Final = frozenset(
    stem(word)
    for word in (
        *STOP_WORDS,
        *"add after again allow always avoid before break broken bug change check correct crash deprecate disable don"
        " drop enable ensure error extra fail fix handle ignore improve instead invalid issue leak longer make missing"
        " more move never new no now old only optional prevent problem proper race refactor remove rename replace"
        " return simplify skip still support switch t throw too typo unnecessary unused update warning without work"
        " wrong".split(),
    )
)
"""Words behind the first one that may have a weight. Others name what the code is about."""

_HEADING: Final = re.compile(r"^#{1,4} +(.+)$", re.MULTILINE)
_FENCED: Final = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_MARKUP: Final = re.compile(r"[`*]|\[([^\]]*)\]\([^)]*\)|<[^>]+>")

Vector = NDArray[np.float64]


class Sample(NamedTuple):
    """Text with its kind. `group` is its repository or package, which is in one fold."""

    kind: str
    group: str
    text: str


class Model(NamedTuple):
    """Weight of each feature, and the bias."""

    weights: Vector
    bias: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the texts."""
    parser.add_argument("--repositories", type=Path, required=True, help="folder of bare clones, OWNER+NAME/repo")
    parser.add_argument("--pairs", type=Path, nargs="+", required=True, help="pairs mined by models.recipe.mine")
    parser.add_argument("--queries", type=Path, required=True, help="folder with repos.json and queries/")
    parser.add_argument("--penalty", type=float, default=PENALTY, help="weight of the L1 penalty")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Fit, print the tables, and measure the shares of texts of each kind that count as requests."""
    samples = [one for one in iter_samples(options) if len(one.text.split()) >= MIN_WORDS]
    features = find_features(samples)
    values = to_matrix([sample.text for sample in samples], features)
    print(format_tables(features, fit(values, samples, options.penalty)))
    kinds, logits = np.array([one.kind for one in samples]), validate(values, samples, options.penalty)
    return [
        Figure(
            f"{kind}, {(kinds == kind).sum()} of other repositories",
            label,
            float((logits[kinds == kind] > least).mean()),
        )
        for kind in SHARES
        for label, least in (("possible requests", 0.0), ("certain requests", SURE))
    ]


def iter_samples(options: argparse.Namespace) -> Iterator[Sample]:
    """Yield all texts; which ones are taken depends on their content alone."""
    clones = sorted(folder for folder in options.repositories.iterdir() if (folder / "repo" / "HEAD").is_file())
    if not clones:
        raise SubjectError(f"no clone OWNER+NAME/repo in {options.repositories}")
    for folder in clones:
        yield from (Sample("commit", folder.name, text) for text in read_subjects(folder / "repo"))
        yield from (Sample("heading", folder.name, text) for text in read_headings(folder / "repo"))
    sentences = {_first_sentence(row["q"]): row["pkg"] for row in iter_rows(options.pairs)}
    yield from (Sample("documentation", sentences[text], text) for text in choose(sentences, SENTENCES))
    for name in read_names(options.queries, []):
        yield from (Sample("query", name, query.text) for query in read_queries(options.queries, name))


def read_subjects(clone: Path) -> list[str]:
    """Return subjects of recent commits that say something about code, without their types and references."""
    lines = git(clone, "log", "--no-merges", f"-{READ_COMMITS}", "--format=%s%x00%an <%ae>").split("\n")
    commits = (line.split("\0") for line in lines if line)
    return choose({clean_message(own[0], "", 0)[0] for own in commits if find_query(own[0], own[1])}, SUBJECTS)


def read_headings(clone: Path) -> list[str]:
    """Return headings of the Markdown files of HEAD, change logs apart."""
    names = git(clone, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")
    pages = [name for name in names if name.lower().endswith(".md") and "change" not in name.lower()]
    headings: set[str] = set()
    for name in choose(pages, HEADINGS):
        text = _FENCED.sub("", git(clone, "cat-file", "blob", f"HEAD:{name}"))
        headings.update(_MARKUP.sub(r"\1", heading).strip(" #") for heading in _HEADING.findall(text))
    return choose(headings, HEADINGS)


def choose(texts: Sequence[str] | set[str] | dict[str, str], count: int) -> list[str]:
    """Choose some texts, by hashes."""
    return heapq.nsmallest(count, set(texts), key=_draw)


def _draw(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def _first_sentence(text: str) -> str:
    return text.split(". ")[0].strip(" .")


def find_features(samples: Sequence[Sample]) -> list[tuple[str, str]]:
    """Return the features that enough repositories share, in order."""
    groups: dict[tuple[str, str], set[str]] = defaultdict(set)
    for sample in samples:
        for table, name in iter_features(sample.text):
            if table != "word" or name in _COUNTED:
                groups[table, name].add(sample.group)
    return sorted(feature for feature, own in groups.items() if len(own) >= MIN_GROUPS)


def to_matrix(texts: Sequence[str], features: Sequence[tuple[str, str]]) -> Vector:
    """Return 1 for each feature that a text has [texts, features]."""
    places = {feature: place for place, feature in enumerate(features)}
    values = np.zeros((len(texts), len(features)))
    for row, text in enumerate(texts):
        values[row, [places[feature] for feature in iter_features(text) if feature in places]] = 1.0
    return values


def fit(values: Vector, samples: Sequence[Sample], penalty: float) -> Model:
    """Fit a logistic regression with an L1 penalty by accelerated proximal gradients (Beck and Teboulle 2009)."""
    counts = Counter(sample.kind for sample in samples)
    share = np.array([SHARES[sample.kind] / counts[sample.kind] for sample in samples])
    share /= share.sum()
    expected = np.array([float(sample.kind == "commit") for sample in samples])
    columns = np.column_stack([values, np.ones(len(samples))])  # the last one is the bias, which has no penalty
    step = 4.0 / _largest_eigenvalue(columns * np.sqrt(share)[:, None])
    threshold = np.append(np.full(values.shape[1], step * penalty), 0.0)
    weights = ahead = np.zeros(columns.shape[1])
    momentum = 1.0
    for _ in range(STEPS):
        likelihood = 1 / (1 + np.exp(-(columns @ ahead)))
        moved = ahead - step * (columns.T @ (share * (likelihood - expected)))
        shrunk = np.sign(moved) * np.maximum(np.abs(moved) - threshold, 0.0)
        following = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        weights, ahead = shrunk, shrunk + (momentum - 1) / following * (shrunk - weights)
        momentum = following
    return Model(weights[:-1], float(weights[-1]))


def _largest_eigenvalue(values: Vector) -> float:
    """Return the largest eigenvalue of the products of the columns, by power iteration, a little too large."""
    vector, size = np.ones(values.shape[1]), 1.0
    for _ in range(30):
        vector = values.T @ (values @ (vector / size))
        size = float(np.linalg.norm(vector))
    return 1.05 * size


def validate(values: Vector, samples: Sequence[Sample], penalty: float) -> Vector:
    """Return the logit of each text by weights that were fitted without its repository."""
    folds = np.array([_draw(sample.group)[0] % FOLDS for sample in samples])
    logits = np.zeros(len(samples))
    for fold in range(FOLDS):
        inside = [sample for sample, own in zip(samples, folds, strict=True) if own != fold]
        model = fit(values[folds != fold], inside, penalty)
        logits[folds == fold] = values[folds == fold] @ model.weights + model.bias
    return logits


def format_tables(features: Sequence[tuple[str, str]], model: Model) -> str:
    """Return the tables as Python: the largest weights first, without those that round to zero."""
    lines = [f"BIAS: {model.bias:.1f}"]
    for table in ("first", "word", "form"):
        own = {
            name: round(float(w), 1) for (kind, name), w in zip(features, model.weights, strict=True) if kind == table
        }
        kept = sorted((name for name in own if own[name]), key=lambda name: (-own[name], name))
        lines += [f"{table}:", ", ".join(f'"{name}": {own[name]}' for name in kept)]
    return "\n".join(lines)
