"""Agreement with jedi equals values computed by hand."""

from tests.bench.usages import Agreement, agreement_figures


def test_precision_counts_single_definitions_and_recall_all_candidates() -> None:
    agreement = Agreement()
    here, there = ("a.py", 1), ("b.py", 2)
    agreement.add("import", {here}, {here}, single=True)
    agreement.add("name", {here}, {here, there}, single=False)
    agreement.add("name", {here}, {there}, single=True)
    agreement.add("name", set(), {there}, single=True)  # jedi says it is a library's
    agreement.add("", {there}, set(), single=False)
    figures = {figure.name: figure.value for figure in agreement_figures("one", agreement)}
    assert figures["calls with a definition"] == 4
    assert figures["precision of single definitions"] == 1 / 3
    assert figures["recall of callers"] == 2 / 4
    assert figures["precision by name, 2 calls"] == 0
