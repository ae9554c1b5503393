"""All hyperparameters of the training."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """Hyperparameters, by default those of the shipped model. Rates are learning rates of Adam."""

    vocabulary: int = 62_000
    min_frequency: int = 4
    """Minimum number of occurrences of a word piece in the training pairs."""

    dimensions: int = 256

    start_queries: int = 60_000
    start_codes: int = 10_000
    """Texts on whose vectors the start table is regressed. One text takes the teacher about 15 ms."""

    start_epochs: int = 4
    start_batch: int = 1024
    start_rate: float = 0.003

    temperature: float = 0.05
    learning_rate: float = 0.005
    batch: int = 2048
    group: int = 1024
    """Number of pairs of one package that form a group in a batch: each is a hard negative for the others."""

    epochs: float = 2.6
    backward: float = 0.0
    """Share of the loss that retrieves the query of a code. The rest retrieves the code of a query."""

    name_share: float = 0.2
    """Each epoch also takes this share of the pairs as (name in words, code without those words)."""

    name_prefix: float = 0.5
    """Probability that a code has its qualified name in front."""

    stems: bool = True
    """Whether a row is the sum of its own vector and one shared by all word pieces of the same stem."""

    grams: bool = True
    """Whether the mean vector of the piece's character n-grams is added too."""

    projection: bool = False
    """Whether the start table stays fixed, times a trained matrix. Otherwise it initialises the rows' own vectors."""

    seeds: tuple[int, ...] = (0, 1)
    """Seeds of the runs, which begin with the same start table and are averaged."""


SHIPPED = Settings()
