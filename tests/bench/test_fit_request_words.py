"""The weights of requests are those of the words that tell subjects of commits from other texts."""

from pathlib import Path

from gitmem.search.change_requests import measure_request
from tests.bench.fit_request_words import (
    MIN_GROUPS,
    Sample,
    find_features,
    fit,
    format_tables,
    read_headings,
    read_subjects,
    to_matrix,
    validate,
)
from tests.gitrepo import Repo

THINGS = ("socket", "parser", "router", "token", "cookie", "header", "timer", "buffer")


def make_samples(groups: int) -> list[Sample]:
    """Return texts of some repositories: requests begin with `fix`, others with `how`; `when` is in both."""
    samples = []
    for group in range(groups):
        thing = THINGS[group % len(THINGS)]
        samples.append(Sample("commit", f"owner+{group}", f"fix {thing} when it is closed"))
        samples.append(Sample("documentation", f"package-{group}", f"how {thing} works when it is closed"))
    return samples


def test_words_that_tell_requests_from_other_texts_get_a_weight_and_others_none() -> None:
    samples = make_samples(MIN_GROUPS)
    features = find_features(samples)
    model = fit(to_matrix([sample.text for sample in samples], features), samples, 0.001)
    weights = dict(zip(features, model.weights.tolist(), strict=True))
    assert weights["first", "fix"] > 1.0
    assert weights["first", "how"] < -1.0
    assert weights["word", "when"] == 0.0
    assert '"fix":' in format_tables(features, model)
    assert '"when":' not in format_tables(features, model)


def test_a_penalty_removes_every_weight_if_it_is_large_enough() -> None:
    samples = make_samples(MIN_GROUPS)
    model = fit(to_matrix([sample.text for sample in samples], find_features(samples)), samples, 1.0)
    assert not model.weights.any()


def test_words_of_few_repositories_and_words_for_things_are_no_features() -> None:
    assert find_features(make_samples(MIN_GROUPS // 2 - 1)) == []
    words = {name for table, name in find_features(make_samples(20 * MIN_GROUPS)) if table == "word"}
    assert "when" in words
    assert words.isdisjoint(THINGS)


def test_a_text_is_judged_by_weights_fitted_without_its_repository() -> None:
    samples = make_samples(2 * MIN_GROUPS)
    own = [Sample("commit", "owner+0", "how this is done when closed")] * 40
    values = to_matrix([one.text for one in samples + own], find_features(samples))
    assert (validate(values, samples + own, 0.001)[-40:] < 0).all()  # the forty would teach that `how` begins requests


def test_subjects_and_headings_are_read_from_a_repository(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path)
    page = "# Rotate signing keys\n\n```\n# no heading at all\n```\n\n## `rotate` and [links](page.md) of keys ##\n"
    repo.commit({"guide.md": page, "CHANGES.md": "# Changed keys of all sessions\n"}, "Bump version to 1.2")
    repo.commit({"keys.py": "a = 1\n"}, "fix(keys): rotate signing keys of closed sessions (#12)")
    assert read_subjects(tmp_path) == ["rotate signing keys of closed sessions"]
    assert sorted(read_headings(tmp_path)) == ["Rotate signing keys", "rotate and links of keys"]


def test_the_tables_in_the_code_are_used() -> None:
    assert measure_request("fix socket when it is closed") > measure_request("how socket works when it is closed")
