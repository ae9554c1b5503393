"""The union of what writers share does not depend on order, grouping or repetition, and loses nothing."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitmem.git.trees import FILE, TreeEntry
from gitmem.memory.union import Memory, own_changes, place_records
from gitmem.memory.versions import State, Version, contents, merge_states, succeed, version_id
from gitmem.memory.writer_tree import WriterState, add_purge, format_writer, parse_writer
from gitmem.record import Record, format_record

PATHS = (b"v1/notes/00/mem_000000000000", b"v1/notes/11/mem_111111111111")
WRITERS = 4

Step = tuple[int, int, int, str | None]
"""Writer, the one it merges first, record, and new content; None deletes it."""

steps = st.lists(
    st.tuples(
        st.integers(0, WRITERS - 1),
        st.integers(0, WRITERS - 1),
        st.integers(0, len(PATHS) - 1),
        st.sampled_from(["a", "b", "c", None]),
    ),
    max_size=14,
)


def replay(history: list[Step]) -> list[State]:
    """Return what each writer knows after a random history of merges and changes."""
    states: list[State] = [{} for _ in range(WRITERS)]
    for writer, other, record, content in history:
        known = merge_states([states[writer], states[other]])
        versions = known.get(PATHS[record], {})
        new = succeed(PATHS[record], versions, contents(versions), content)
        states[writer] = merge_states([known, {PATHS[record]: new}]) if content or versions else known
    return states


@settings(max_examples=200)
@given(steps)
@example([(0, 0, 0, "a"), (1, 0, 0, "b"), (2, 0, 0, None), (3, 2, 0, "b")])
def test_a_union_is_commutative_associative_and_idempotent(history: list[Step]) -> None:
    a, b, c, d = replay(history)
    assert merge_states([a, b]) == merge_states([b, a])
    assert merge_states([a, merge_states([b, c])]) == merge_states([merge_states([a, b]), c])
    assert merge_states([a, a]) == merge_states([a]) == a
    assert merge_states([d, c, b, a, c]) == merge_states([a, b, c, d])


@settings(max_examples=200)
@given(steps)
def test_a_union_keeps_every_content_that_no_writer_replaced(history: list[Step]) -> None:
    states = replay(history)
    union = merge_states(states)
    for path in PATHS:
        known = {name: version for state in states for name, version in state.get(path, {}).items()}
        seen = set[str]().union(*(version.seen for version in known.values()))
        assert union.get(path, {}) == {name: version for name, version in known.items() if name not in seen}


@settings(max_examples=100)
@given(steps, st.permutations(range(WRITERS)))
def test_writers_that_share_only_their_own_versions_agree(history: list[Step], order: list[int]) -> None:
    """Each writer publishes what it changed, and no more: the union is that of all they know."""
    own: list[State] = [{} for _ in range(WRITERS)]
    everything: State = {}
    for writer, _, record, content in history:
        versions = everything.get(PATHS[record], {})
        if content or versions:
            new = {PATHS[record]: succeed(PATHS[record], versions, contents(versions), content)}
            own[writer] = merge_states([own[writer], new])
            everything = merge_states([everything, new])
    assert merge_states(own[writer] for writer in order) == everything


def blob(text: str, time: str = "2026-01-01") -> bytes:
    return format_record(Record("note", "mem_000000000000", {"type": "fact", "time": time}, text.encode()))


def test_concurrent_changes_are_both_kept_until_one_is_deleted() -> None:
    path = PATHS[0]
    data = {"1" * 40: blob("old"), "2" * 40: blob("mine", "2026-01-03"), "3" * 40: blob("theirs", "2026-01-02")}
    first = {path: succeed(path, {}, (), "1" * 40)}
    mine = {path: succeed(path, first[path], ["1" * 40], "2" * 40)}
    theirs = {path: succeed(path, first[path], ["1" * 40], "3" * 40)}
    union = merge_states([first, theirs, mine])
    assert contents(union[path]) == ["2" * 40, "3" * 40]
    placed = place_records(union, (), data.__getitem__, "sha1")
    assert placed[path].content == "2" * 40
    (variant,) = placed.keys() - {path}
    assert b'"variant_of": "mem_000000000000"' in (placed[variant].data or b"")
    records = {name: each.oid for name, each in placed.items()}
    assert own_changes(union, placed, {}, (), Memory(records, records)) == {}
    for deleted, left in ((variant, "2" * 40), (path, "3" * 40)):
        rest = {name: oid for name, oid in records.items() if name != deleted}
        assert contents(merge_states([union, own_changes(union, placed, {}, (), Memory(rest, rest))])[path]) == [left]
    assert contents(merge_states([union, own_changes(union, placed, {}, (), Memory({}, {}))])[path]) == []


def test_a_concurrent_change_survives_a_deletion() -> None:
    path = PATHS[0]
    first = succeed(path, {}, (), "a")
    deleted, changed = succeed(path, first, ["a"], None), succeed(path, first, ["a"], "b")
    union = merge_states([{path: deleted}, {path: changed}])
    assert contents(union[path]) == ["b"]
    assert contents(merge_states([union, {path: succeed(path, union[path], ["b"], None)}])[path]) == []


def test_equal_changes_of_two_writers_are_one_version() -> None:
    path = PATHS[0]
    assert succeed(path, {}, (), "a") == succeed(path, {}, (), "a")
    assert version_id(path, Version("a")) != version_id(PATHS[1], Version("a"))


def test_a_record_that_became_private_is_withdrawn_only_by_its_writer() -> None:
    path = PATHS[0]
    union = {path: succeed(path, {}, (), "a")}
    placed = place_records(union, (), lambda oid: b"", "sha1")
    assert own_changes(union, placed, {}, (), Memory({path: "private"}, {})) == {}
    withdrawn = own_changes(union, placed, union, (), Memory({path: "private"}, {}))
    assert contents(merge_states([union, withdrawn])[path]) == []


def test_a_purge_prevails_and_the_record_may_be_stored_again() -> None:
    path = PATHS[0]
    first = {path: succeed(path, {}, (), "1" * 40)}
    assert contents(first[path], {"1" * 40}) == []
    assert place_records(first, {"1" * 40}, lambda oid: b"", "sha1") == {}
    # A record that is stored again under the same id replaces the purged version, so that it is no conflict.
    again = own_changes(first, {}, {}, {"1" * 40}, Memory({path: "2" * 40}, {path: "2" * 40}))
    assert contents(merge_states([first, again])[path]) == ["2" * 40]


def test_a_version_that_the_memory_never_held_is_not_superseded() -> None:
    path = PATHS[0]
    theirs = {path: succeed(path, {}, (), "1" * 40)}
    mine = own_changes({}, {}, {}, (), Memory({path: "2" * 40}, {path: "2" * 40}))
    assert contents(merge_states([theirs, mine])[path]) == ["1" * 40, "2" * 40]


@settings(max_examples=100)
@given(steps, st.sets(st.sampled_from(["a", "b", "c"]).map(lambda letter: letter * 40)))
def test_a_writers_tree_has_all_versions_and_no_purged_blob(history: list[Step], purged: set[str]) -> None:
    versions = merge_states(replay([(*step[:3], step[3] and step[3] * 40) for step in history]))
    state = WriterState(versions, "Ann <ann@example.invalid>", add_purge({}, purged))
    stored, new = format_writer(state)
    assert purged.isdisjoint(stored.values())
    blobs = {f"{number:040}": data for number, data in enumerate(new.values())}
    entries = [TreeEntry(path, FILE, oid) for path, oid in zip(new, blobs, strict=True)]
    entries += [TreeEntry(path, FILE, oid) for path, oid in stored.items()]
    assert parse_writer(entries, blobs.__getitem__, "0" * 16) == state
