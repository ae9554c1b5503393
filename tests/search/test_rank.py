"""Features computed for all candidates at once equal their definition, evaluated row by row."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.search.adjacent_turns import NEXT_SHARE
from gitmem.search.fuse import standardise_lexical
from gitmem.search.lexical import max_score
from gitmem.search.name_coverage import RELATED_SHARE, NameCoverage
from gitmem.search.path_roles import content_terms
from gitmem.search.qualified_names import telling_name
from gitmem.search.query_parser import parse_query
from gitmem.search.rank import (
    CHUNK_DECAY,
    COUNTED_CHUNKS,
    RECORD_WEIGHTS,
    TEXT_SHARE,
    WEIGHTS,
    Candidates,
    combine_features,
    compute_features,
    features_of,
)
from gitmem.search.role_strengths import ASKED_STRENGTH, asks_for
from gitmem.types import CHUNK_TYPES
from gitmem.words import stem

PATHS = ["lib/keys.py", "tests/test_keys.py", "docs/keys.md"]
CODE_PATHS = ["lib/keys.py", "lib/rings.py", "lib/shops.py"]
fused = st.floats(-2, 4, width=32)


def make_candidates(rows: list[tuple[int, float]], symbol: str = "") -> Candidates:
    """Return candidates that are functions, each given by its position in PATHS and its fused score."""
    count = len(rows)
    return Candidates(
        row=np.arange(count),
        file=np.array([file for file, _ in rows], np.int64),
        paths=PATHS,
        chunk_type=np.full(count, CHUNK_TYPES.index("function"), np.uint8),
        symbol=[symbol] * count,
        is_generated=np.zeros(count, bool),
        may_test=np.ones(count, bool),
        words=np.full(count, 50, np.float32),
        file_words=np.full(count, 1100, np.float32),
        dense=np.zeros(count, np.float32),
        lexical=np.zeros(count, np.float32),
        file_lexical=np.zeros(count, np.float32),
        file_coverage=np.zeros(count, np.float32),
        path_cosine=np.zeros(count, np.float32),
        fused_row=np.array([score for _, score in rows], np.float32),
        fused=np.array([score for _, score in rows], np.float32),
        named_file=np.zeros(count, np.float32),
        named_row=np.zeros(count, np.float32),
        conversation=np.zeros(count, np.float32),
        pool=np.ones(count, bool),
        inside=np.ones(count, bool),
        copy_of=np.arange(count),
    )


@given(rows=st.lists(st.tuples(st.integers(0, 2), fused), max_size=40))
def test_the_coherence_of_a_file_sums_its_best_chunks_with_decay(rows: list[tuple[int, float]]) -> None:
    by_file = defaultdict(list)
    for file, score in rows:
        by_file[file].append(max(score, 0.0))
    totals = {
        file: sum(value * CHUNK_DECAY**rank for rank, value in enumerate(sorted(scores, reverse=True)[:COUNTED_CHUNKS]))
        for file, scores in by_file.items()
    }
    highest = max(totals.values(), default=0.0) or 1.0
    coherence = compute_features(parse_query("keys"), make_candidates(rows), {"key": 1.0})["file"]
    assert coherence.tolist() == pytest.approx([totals[file] / highest for file, _ in rows])


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("Ring.rotate_keys", "definition"),
        ("Ring.rotateKeys", "definition_folded"),
        ("Ring.open, rotate_keys", "definition"),
        ("rotate_keys_now", ""),
        ("rotate_keys.inner", ""),
        ("", ""),
    ],
)
def test_only_a_whole_name_is_a_definition(symbol: str, expected: str) -> None:
    features = compute_features(parse_query("rotate_keys"), make_candidates([(0, 0.0)], symbol), {})
    own = features_of(features, 0, "function")
    assert [name for name in ("definition", "definition_folded") if name in own] == [expected] * bool(expected)


@pytest.mark.parametrize(
    ("query", "symbol", "share"),
    [
        ("parser", "parse", RELATED_SHARE),
        ("parse", "Parser", RELATED_SHARE),
        ("parser", "Parser.parse", RELATED_SHARE),
        ("describe", "description", RELATED_SHARE),
        ("parser", "person", 0.0),
    ],
)
def test_a_related_word_covers_a_name_in_part(query: str, symbol: str, share: float) -> None:
    term = stem(query)
    parsed = parse_query(query)._replace(names=())
    features = compute_features(parsed, make_candidates([(0, 0.0)], symbol), {term: 2.0})
    terms = content_terms(telling_name(symbol))
    # Both shares are those of the related word: of the name's terms, and of the query's importance.
    expected = (share / len(terms) * share) ** 0.5
    assert features["symbol"].tolist() == pytest.approx([expected])


@pytest.mark.parametrize(
    ("query", "symbol", "precision"),
    [
        ("websocket", "WebSocket", 1.0),  # web, socket, websocket
        ("websocket", "WebSocketHandler", 3 / 5),  # handler, websockethandler
        ("socket", "WebSocket", 1 / 3),
    ],
)
def test_a_word_of_several_parts_covers_its_parts(query: str, symbol: str, precision: float) -> None:
    parsed = parse_query(query)._replace(names=())
    features = compute_features(parsed, make_candidates([(0, 0.0)], symbol), {query: 2.0})
    assert features["symbol"].tolist() == pytest.approx([precision**0.5])


def test_in_a_long_text_a_word_covers_no_parts() -> None:
    parsed = parse_query("websocket\n\nIt is closed.")
    idf = {term: 2.0 * weight for term, weight in parsed.weights.items()}
    features = compute_features(parsed, make_candidates([(0, 0.0)], "WebSocket"), idf)
    assert features["symbol"].tolist() == pytest.approx([TEXT_SHARE * (1 / 3) ** 0.5])


NAMES = ("symbol", "stem", "folder", "path_cosine")


def features_of_names(query: str, share_of_tests: float, chunk_type: str = "function") -> list[list[float]]:
    """Return the features of names of a candidate in each of PATHS that is called like the query."""
    candidates = make_candidates([(file, 0.0) for file in range(3)], "keys")
    types = np.full(3, CHUNK_TYPES.index(chunk_type), np.uint8)
    candidates = candidates._replace(path_cosine=np.full(3, 0.5, np.float32), chunk_type=types)
    idf = dict.fromkeys(map(stem, query.split()), 1.0)
    features = compute_features(parse_query(query), candidates, idf, {"test": share_of_tests})
    return [[float(features[name][position]) for name in NAMES] for position in range(3)]


def test_names_of_tests_and_of_code_in_documentation_say_what_they_are_about() -> None:
    code, test, document = features_of_names("lost keys", 0.5)
    assert all(code[place] for place in (0, 1, 3))
    assert test == document == [0.0] * 4


def test_names_of_pages_count() -> None:
    code, test, document = features_of_names("lost keys", 0.5, "section")
    assert test == [0.0] * 4
    assert document[0] == code[0]
    assert document[3] == code[3]


def test_names_of_tests_count_for_a_query_about_tests_and_where_nearly_all_files_are_tests() -> None:
    for query, share in (("test keys", 0.5), ("lost keys", 0.98), ("lost keys", 1.0)):
        code, test, _ = features_of_names(query, share)
        expected = 0.5 if query == "test keys" else (share - 0.95) / 0.05
        assert test[3] == pytest.approx(expected * code[3])
        assert test[0] == pytest.approx(expected * code[0])


@pytest.mark.parametrize(
    ("query", "role"),
    [
        ("tests for lost keys", "test"),
        ("unit test of keys", "test"),
        ("lost keys tests", "test"),
        ("examples of keys", "example"),
        ("documentation about keys", "document"),
        ("keys in the readme", "document"),
    ],
)
def test_a_query_for_a_role_prefers_its_files(query: str, role: str) -> None:
    idf = dict.fromkeys(parse_query(query).terms, 1.0)
    candidates = make_candidates([(0, 0.0)])._replace(paths=[{"document": "docs/keys.md"}.get(role, f"{role}s/a.py")])
    features = compute_features(parse_query(query), candidates, idf)
    assert features[role].tolist() == [ASKED_STRENGTH]


@pytest.mark.parametrize(
    "query",
    [
        "test runner for keys",
        "testing client",
        "in-memory keys for tests",
        "rotate keys at once in tests",
        "example based search",
        "documentation generator",
        "keys, for example",
    ],
)
def test_a_query_for_code_that_has_to_do_with_a_role_is_none_for_its_files(query: str) -> None:
    assert not any(asks_for(role, query) for role in ("test", "example", "document"))


@pytest.mark.parametrize("name", ["size", "größe"])
def test_a_text_without_names_covers_no_name(name: str) -> None:
    assert NameCoverage(parse_query(""), {}).of([name]).tolist() == [0.0]


def test_features_of_a_hit_add_up_to_its_score_without_binary_ones_that_are_zero() -> None:
    features = compute_features(parse_query("keys"), make_candidates([(file, 1.0) for file in range(3)]), {"key": 1.0})
    assert set(features) == set(WEIGHTS) | set(RECORD_WEIGHTS)
    by_candidate = [features_of(features, position, "function") for position in range(3)]
    assert ["test" in own for own in by_candidate] == [False, True, False]
    assert ["document" in own for own in by_candidate] == [False, False, True]
    sums = [sum(WEIGHTS[name] * value for name, value in own.items()) for own in by_candidate]
    assert combine_features(features).tolist() == pytest.approx(sums)


def test_records_are_ranked_by_their_own_weights() -> None:
    chunk_types = np.full(1, CHUNK_TYPES.index("document"), np.uint8)
    candidates = make_candidates([(0, 1.0)])._replace(
        chunk_type=chunk_types, paths=["refs/gitmem/memory:v1/documents/ab/art_ab"]
    )
    assert candidates.are_records
    features = compute_features(parse_query("keys"), candidates, {"key": 1.0})
    own = features_of(features, 0, "document")
    assert set(own) == set(RECORD_WEIGHTS) - {"adjacent", "conversation", "conversation_gap"}  # of turns alone
    total = sum(RECORD_WEIGHTS[name] * value for name, value in own.items())
    assert combine_features(features, RECORD_WEIGHTS).tolist() == pytest.approx([total])


@given(
    rows=st.lists(st.tuples(st.integers(0, 2), fused), min_size=1, max_size=20),
    others=st.lists(st.tuples(st.integers(0, 2), fused), max_size=20),
    scores=st.data(),
)
def test_candidates_outside_the_pool_change_no_features_of_others(
    rows: list[tuple[int, float]], others: list[tuple[int, float]], scores: st.DataObject
) -> None:
    count = len(rows) + len(others)
    lexical = np.array(scores.draw(st.lists(st.floats(0, 2, width=32), min_size=count, max_size=count)), np.float32)
    every = make_candidates([*rows, *others])._replace(lexical=lexical, pool=np.arange(count) < len(rows))
    alone = make_candidates(rows)._replace(lexical=lexical[: len(rows)])
    expected = compute_features(parse_query("keys"), alone, {"key": 1.0})
    for name, values in compute_features(parse_query("keys"), every, {"key": 1.0}).items():
        assert values[: len(rows)].tolist() == expected[name].tolist(), name


@given(
    st.lists(
        st.sampled_from(
            ("Parse", "caching", "ENTRIES", "copies", "keys", "class", "v2", "x", "été", "ΟΔΟΣ", "_", "データ")
        ),
        min_size=1,
        max_size=4,
    ).map("".join)
)
def test_a_name_covers_each_of_its_terms(name: str) -> None:
    """A test of letters rules out names before they are split; it must not rule out one that has the term."""
    for term in content_terms(name):
        features = compute_features(parse_query("keys"), make_candidates([(0, 0.0)], name), {term: 1.0})
        assert features["symbol"][0] > 0


def test_a_turn_gains_by_the_turns_beside_it() -> None:
    folder = "refs/gitmem/memory:v1/conversations/ab/abc"
    paths = [f"{folder}/{number:08}" for number in (3, 4, 5, 7)] + [f"{folder}d/00000006"]
    rows = [(0, 2.0), (1, -1.0), (2, 1.0), (3, 4.0), (4, 3.0), (0, 1.0)]  # turn 3 has two chunks
    candidates = make_candidates(rows)._replace(
        chunk_type=np.full(len(rows), CHUNK_TYPES.index("turn"), np.uint8), paths=paths
    )
    adjacent = compute_features(parse_query("keys"), candidates, {"key": 1.0})["adjacent"]
    assert adjacent.tolist() == pytest.approx([0.0, 2.0 + NEXT_SHARE, 0.0, 0.0, 0.0, 0.0])
    documents = candidates._replace(chunk_type=np.full(len(rows), CHUNK_TYPES.index("document"), np.uint8))
    assert not compute_features(parse_query("keys"), documents, {"key": 1.0})["adjacent"].any()


def test_the_conversation_gap_compares_words_and_the_nearest_turns() -> None:
    places = [("a", number) for number in range(6)] + [("b", 0), ("c", 0)]
    paths = [f"refs/gitmem/memory:v1/conversations/x/{name}/{number:08}" for name, number in places]
    candidates = make_candidates([(file, 0.0) for file in range(len(paths))])._replace(
        chunk_type=np.full(len(paths), CHUNK_TYPES.index("turn"), np.uint8),
        paths=paths,
        dense=np.array([0.5] * 6 + [0.6, 0.5], np.float32),
        conversation=np.array([2.0] * 6 + [4.0, 0.0], np.float32),
        pool=np.array([True] * 7 + [False]),
    )
    # Five turns at 0.5 are the best sum. The last conversation has no turn in the pool.
    expected = {"words": [0.5] * 6 + [0.0, 1.0], "meaning": [0.0] * 6 + [1 - 0.6 / 2.5, 1 - 0.5 / 2.5]}
    gaps = compute_features(parse_query("lost keys"), candidates, {"key": 1.0})["conversation_gap"]
    assert gaps.tolist() == pytest.approx([sum(pair) for pair in zip(*expected.values(), strict=True)])
    of_symbol = compute_features(parse_query("RotateKeys"), candidates, {"key": 1.0})["conversation_gap"]
    assert of_symbol.tolist() == pytest.approx(expected["words"])
    documents = candidates._replace(chunk_type=np.full(len(paths), CHUNK_TYPES.index("document"), np.uint8))
    assert not compute_features(parse_query("lost keys"), documents, {"key": 1.0})["conversation_gap"].any()


def test_the_lexical_gap_is_the_distance_to_the_best_chunk_of_the_file() -> None:
    scores = np.array([3.0, 1.0, 0.5, 0.0], np.float32)
    candidates = make_candidates([(0, 0.0), (0, 0.0), (1, 0.0), (1, 0.0)])._replace(lexical=scores)
    gaps = compute_features(parse_query("keys"), candidates, {"key": 1.0})["lexical_gap"]
    zscores = standardise_lexical(scores, max_score({"key": 1.0}))
    assert gaps.tolist() == pytest.approx([0.0, zscores[0] - zscores[1], 0.0, zscores[2] - zscores[3]])


@pytest.mark.parametrize(("query", "counts"), [("RotateKeys", True), ("rotate keys", False), ("keys", False)])
def test_the_size_of_a_chunk_counts_only_for_a_symbol(query: str, counts: bool) -> None:
    candidates = make_candidates([(0, 0.0), (0, 0.0)])._replace(words=np.array([5, 500], np.float32))
    small, large = compute_features(parse_query(query), candidates, {"key": 1.0})["symbol_size"].tolist()
    assert (small < 0 < large) == counts
    assert counts or small == large == 0.0


def test_a_path_near_to_the_query_raises_its_file() -> None:
    path_cosine = np.array([0.6, 0.0], np.float32)
    candidates = make_candidates([(0, 0.0), (0, 0.0)])._replace(path_cosine=path_cosine)
    scores = combine_features(compute_features(parse_query("keys"), candidates, {}))
    assert scores[0] > scores[1]


def test_one_word_of_many_does_not_waive_the_role_of_a_file() -> None:
    idf = dict.fromkeys(("mock", "server", "request", "limit"), 1.0)
    candidates = make_candidates([(1, 1.0)])  # a test
    weak = compute_features(parse_query("mock"), candidates, {"mock": 1.0})["test"]
    strong = compute_features(parse_query("mock server request limit"), candidates, idf)["test"]
    assert (weak.tolist(), strong.tolist()) == ([0.0], [0.75])


def test_documents_do_not_count_against_themselves_in_a_repository_of_documents() -> None:
    candidates = make_candidates([(2, 1.0)])  # a document
    for shares, expected in (({"document": 0.2}, 1.0), ({"document": 0.5, "test": 0.49}, 0.0)):
        features = compute_features(parse_query("keys"), candidates, {"key": 1.0}, shares)
        assert features["document"].tolist() == [expected]


def test_the_name_of_a_file_is_compared_with_each_name_of_a_long_text() -> None:
    text = (
        "Rotation fails since the last update\n\nThe value in `keys` is lost, and nothing else of many words helps.\n"
    )
    query = parse_query(text)
    idf = dict.fromkeys(query.terms, 2.0)
    weighted = {term: value * query.weights[term] for term, value in idf.items()}
    by_names = compute_features(query, make_candidates([(0, 0.0)]), weighted)["stem"][0]
    as_one_line = compute_features(parse_query(text.replace("\n", " ")), make_candidates([(0, 0.0)]), idf)["stem"][0]
    assert by_names > as_one_line > 0


@pytest.mark.parametrize(
    ("query", "symbol", "chunk_type", "defines"),
    [
        ("Ring", "keys.Ring", "class", True),
        ("Ring", "keys.Ring.Ring", "method", False),
        ("Ring", "keys.Ring.Ring, rotate", "method", False),
        ("rotate", "keys.Ring.Ring, rotate", "method", True),
        ("Ring.Ring", "keys.Ring.Ring", "method", True),
        ("Ring", "Ring.Ring", "class", True),
        ("ring", "Ring.ring", "method", True),
        ("Ring", "Ring", "impl", False),
        ("keys.Ring", "keys.Ring", "impl", True),
    ],
)
def test_a_class_has_its_name_and_not_its_constructors_or_extensions(
    query: str, symbol: str, chunk_type: str, defines: bool
) -> None:
    chunk_types = np.full(1, CHUNK_TYPES.index(chunk_type), np.uint8)
    candidates = make_candidates([(0, 0.0)], symbol)._replace(chunk_type=chunk_types)
    assert compute_features(parse_query(query), candidates, {})["definition"].tolist() == [float(defines)]


@pytest.mark.parametrize(
    ("query", "path", "symbol", "defines"),
    [
        ("com.shop.keys.Ring", "core/src/main/java/com/shop/keys/Ring.java", "Ring", True),
        ("com.shop.keys.Ring.turn", "core/src/main/java/com/shop/keys/Ring.java", "Ring.turn", True),
        ("com.shop.keys.Ring", "core/src/main/java/com/shop/doors/Ring.java", "Ring", False),
        ("shop.Ring", "shop/keys/ring.py", "Ring", True),  # which the package may export
        ("shop_core::keys::Ring", "crates/shop-core/src/keys/ring.rs", "Ring", True),
        ("other.Ring", "shop/keys/ring.py", "Ring", False),
    ],
)
def test_a_name_may_begin_with_the_packages_in_the_path(query: str, path: str, symbol: str, defines: bool) -> None:
    candidates = make_candidates([(0, 0.0)], symbol)._replace(paths=[path])
    assert compute_features(parse_query(query), candidates, {})["definition"].tolist() == [float(defines)]


def test_a_constructor_is_not_what_a_package_with_the_name_of_its_class_names() -> None:
    chunk_types = np.full(1, CHUNK_TYPES.index("method"), np.uint8)
    candidates = make_candidates([(0, 0.0)], "Ring.Ring")._replace(paths=["com/ring/Ring.java"], chunk_type=chunk_types)
    assert compute_features(parse_query("com.ring.Ring"), candidates, {})["definition"].tolist() == [0.0]


def test_a_frequent_name_of_a_long_text_defines_less_than_a_rare_one() -> None:
    query = parse_query("Rotation fails\n\nBoth `fit_all` and `rotate_keys` are called.\n")
    weighted = {"fitall": 1.0 * query.weights["fitall"], "rotatekeys": 8.0 * query.weights["rotatekeys"]}
    fit, rotate = (
        compute_features(query, make_candidates([(0, 0.0)], symbol), weighted)["definition"][0]
        for symbol in ("fit_all", "rotate_keys")
    )
    assert 0 < fit < rotate / 4


@pytest.mark.parametrize(("request_likelihood", "kept"), [(0.0, 1.0), (0.5, 0.6), (1.0, 0.2)])
def test_a_request_keeps_less_of_the_distances_between_paths(request_likelihood: float, kept: float) -> None:
    query = parse_query("rotation of keys")._replace(request=request_likelihood)
    candidates = make_candidates([(0, 1.0), (1, 1.0), (2, 1.0)])._replace(
        path_cosine=np.array([0.6, 0.1, 0.0], np.float32), paths=CODE_PATHS
    )
    cosines = compute_features(query, candidates, {})["path_cosine"]
    assert cosines == pytest.approx([0.6, 0.6 - kept * 0.5, 0.6 - kept * 0.6])


def test_for_a_request_paths_are_compared_with_the_best_one_without_filters() -> None:
    candidates = make_candidates([(0, 1.0), (1, 1.0)])._replace(
        path_cosine=np.array([0.4, 0.9], np.float32), pool=np.array([True, False]), paths=CODE_PATHS
    )
    cosines = compute_features(parse_query("fix rotation of keys in ring"), candidates, {})["path_cosine"]
    assert cosines == pytest.approx([0.4, 0.5])
