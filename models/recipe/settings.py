"""Every number of the training that may be turned, in one place."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """The model as it ships. Rates are those of Adam; texts are counted in tokens where nothing else is said."""

    vocabulary: int = 62_000
    min_frequency: int = 4
    """A word piece stands at least so often in the training pairs."""

    dimensions: int = 256

    start_questions: int = 60_000
    start_codes: int = 10_000
    """Texts whose vectors the start table is regressed on; one text costs the teacher about 15 ms."""

    start_epochs: int = 4
    start_batch: int = 1024
    start_rate: float = 0.003

    temperature: float = 0.05
    learning_rate: float = 0.005
    batch: int = 2048
    group: int = 1024
    """Pairs of one package that stand together in a batch: each is a hard negative to the others."""

    epochs: float = 2.6
    backward: float = 0.0
    """Share of the loss that asks a code for its question; the rest asks a question for its code."""

    name_share: float = 0.2
    """Beside every question each epoch takes this share of the pairs (name in words, code without those words)."""

    name_prefix: float = 0.5
    """Probability that a code is shown with its qualified name in front."""

    stems: bool = True
    """A row is the sum of its own vector and one that all word pieces of its stem share."""

    grams: bool = True
    """The mean vector of a piece's character n-grams is added as well."""

    projection: bool = False
    """The start table stays fixed behind a learnt matrix; otherwise it is only where the rows' own vectors begin."""

    seeds: tuple[int, ...] = (0, 1)
    """One run each from the same start, averaged."""


SHIPPED = Settings()
