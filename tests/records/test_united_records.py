"""Whatever people do with records, and in whatever order they exchange them: the union obeys the laws of a join."""

from collections.abc import Iterable, Mapping, Sequence

from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitmem.git.ids import object_id
from gitmem.git.trees import FILE, TreeEntry
from gitmem.memory.record_paths import note_path
from gitmem.memory.shared_state import SharedState
from gitmem.memory.union import Memory, own_changes, place_records
from gitmem.memory.versions import contents, merge_states
from gitmem.memory.visibility import travels
from gitmem.memory.writer_tree import WriterState, add_purge, format_writer, parse_writer
from gitmem.record import Record, format_record, parse_record
from gitmem.records.united_records import unite

NAMES = ("mem_000000000000", "mem_111111111111")
PEOPLE = ("ann", "bob", "cat")
SIGNATURES = ("", "bad", "unsigned", "unknown", "expired", "good: somebody")
"""States of the signature of a person's commits."""

BLOBS: dict[str, bytes] = {}
"""Contents of all records by id."""

Step = tuple[str, int, int, int, str]
"""Action, person, another person, record, and a word of the text."""

steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "supersede", "hide", "show", "delete", "purge", "pull", "pull"]),
        st.integers(0, len(PEOPLE) - 1),
        st.integers(0, len(PEOPLE) - 1),
        st.integers(0, len(NAMES) - 1),
        st.sampled_from(["a", "b", "c"]),
    ),
    max_size=16,
)


def store(data: bytes) -> str:
    oid = object_id("blob", data, "sha1")
    BLOBS[oid] = data
    return oid


class Person:
    """A clone without git."""

    def __init__(self, name: str, signature: str) -> None:
        self.name = name
        self.signature = signature
        self.records: dict[bytes, str] = {}
        self.state = SharedState()
        self.former: set[str] = set()

    @property
    def memory(self) -> Memory:
        shared = {path: oid for path, oid in self.records.items() if travels(parse_record(BLOBS[oid], ""))}
        return Memory(dict(self.records), shared)

    def put(self, number: int, text: str, **fields: object) -> None:
        record = Record("note", NAMES[number], {"type": "fact", "time": "2026-01-01", **fields}, text.encode())
        self.records[note_path(NAMES[number])] = store(format_record(record))

    def set_visibility(self, number: int, visibility: str) -> None:
        path = note_path(NAMES[number])
        if path in self.records:
            record = parse_record(BLOBS[self.records[path]], "")
            self.records[path] = store(
                format_record(record._replace(fields={**record.fields, "visibility": visibility}))
            )

    def publish(self) -> WriterState:
        state = self.state
        self.former.update(self.memory.shared.values())
        placed = place_records(state.held, state.purged, BLOBS.__getitem__, "sha1")
        changes = own_changes(state.held, placed, state.own, state.purged, self.memory)
        self.state = state._replace(held=merge_states([state.held, changes]), own=merge_states([state.own, changes]))
        own = {path: {name: each for name, each in versions.items() if name in self.state.held.get(path, {})}
               for path, versions in self.state.own.items()}  # fmt: skip
        return send(WriterState({path: each for path, each in own.items() if each}, self.name, self.state.purges))

    def purge(self) -> None:
        """Purge what this person replaced or deleted, as far as nobody needs it."""
        self.publish()
        live = {content for versions in self.state.held.values() for content in contents(versions)}
        purged = self.former - live - set(self.records.values()) - self.state.purged
        self.state = self.state.with_purges(add_purge(self.state.purges, purged))

    def take(self, sent: Sequence["Sent"]) -> None:
        self.publish()
        before = self.state
        states = {each.commit: each.state for each in sent}
        signatures = {**before.signatures, **{each.commit: each.signature for each in sent}}
        memory = self.memory
        held, sharers, placed, _ = unite(before, states, signatures, memory, BLOBS.__getitem__, "sha1")
        purges = {name: blobs for state in states.values() for name, blobs in state.purges.items()}
        self.state = before.with_purges(purges)._replace(held=held, sharers=sharers, signatures=signatures)
        for path in memory.shared.keys() - placed.keys():
            del self.records[path]
        for path, each in placed.items():
            if not memory.is_private(path):
                self.records[path] = each.oid if each.data is None else store(each.data)

    def seen(self) -> tuple[Mapping[bytes, str], Mapping[bytes, str], Mapping[str, frozenset[str]]]:
        """Return the shared records, who shared them with which signature, and the purges."""
        marks = {path: text.partition("\n")[0] + self.state.signatures[text.partition("\n")[2]]
                 for path, text in self.state.sharers.items()}  # fmt: skip
        return self.memory.shared, marks, self.state.purges


class Sent:
    """State of a writer as a commit."""

    def __init__(self, person: Person) -> None:
        self.state = person.publish()
        self.signature = person.signature
        self.commit = object_id("blob", repr((self.state, self.signature)).encode(), "sha1")


def send(state: WriterState) -> WriterState:
    """Return what a reader finds in the tree of a writer."""
    stored, new = format_writer(state)
    blobs = {object_id("blob", data, "sha1"): data for data in new.values()}
    entries = [TreeEntry(path, FILE, object_id("blob", data, "sha1")) for path, data in new.items()]
    entries += [TreeEntry(path, FILE, oid) for path, oid in stored.items()]
    return parse_writer(entries, blobs.__getitem__, "0" * 16)


def live(history: Iterable[Step], signatures: Sequence[str]) -> list[Person]:
    """Let people do something, one after the other."""
    people = [Person(name, signature) for name, signature in zip(PEOPLE, signatures, strict=True)]
    for action, one, other, number, word in history:
        person, path = people[one], note_path(NAMES[number])
        if action == "put":
            person.put(number, word)
        elif action == "supersede":
            person.put(number, word, supersedes=[NAMES[1 - number]])
        elif action in ("hide", "show"):
            person.set_visibility(number, "me" if action == "hide" else "team")
        elif action == "delete":
            person.records.pop(path, None)
        elif action == "purge":
            person.purge()
        else:
            person.take([Sent(people[other])])
    return people


signed = st.tuples(*[st.sampled_from(SIGNATURES)] * len(PEOPLE))
orders = st.permutations(range(len(PEOPLE)))


def reader(sent: Iterable[Sequence[Sent]]) -> Person:
    """Return somebody who only reads, after pulls of some writers each."""
    person = Person("dan", "")
    for each in sent:
        person.take(each)
    return person


@settings(max_examples=300)
@given(steps, signed, orders)
@example([("put", 0, 0, 0, "a"), ("put", 1, 0, 0, "a")], ("", "", ""), [1, 0, 2])
@example(
    # Somebody writes the words again that somebody else purges.
    [("put", 0, 0, 0, "a"), ("pull", 0, 0, 0, ""), ("delete", 0, 0, 0, ""), ("purge", 0, 0, 0, ""),
     ("put", 1, 0, 0, "b"), ("pull", 1, 1, 0, ""), ("put", 1, 0, 0, "a")],
    ("", "", ""), [0, 1, 2],
)  # fmt: skip
def test_readers_agree_whatever_the_order_and_grouping(
    history: list[Step], signatures: Sequence[str], order: list[int]
) -> None:
    sent = [Sent(person) for person in live(history, signatures)]
    one, two, three = (sent[number] for number in order)
    expected = reader([sent]).seen()
    assert reader([[one], [two], [three]]).seen() == expected
    assert reader([[one], [two, three]]).seen() == expected
    assert reader([[one, two], [three]]).seen() == expected
    assert reader([[one], [two], [one], [three], [two], [three, one]]).seen() == expected


@settings(max_examples=200)
@given(steps, signed, orders)
def test_people_agree_after_they_have_exchanged_everything(
    history: list[Step], signatures: Sequence[str], order: list[int]
) -> None:
    people = live(history, signatures)
    for _ in range(len(PEOPLE) + 1):
        for number in order:
            people[number].take([Sent(person) for person in people])
    # A private record hides the shared one of its id in that clone alone.
    hidden = [{path for path in person.records if person.memory.is_private(path)} for person in people]
    sent = [Sent(person) for person in people]
    everything = reader([sent]).seen()
    for person, private in zip(people, hidden, strict=True):
        records, _, purges = person.seen()
        assert purges == everything[2]
        if not private:
            assert records == everything[0]
    for person in people:
        before = person.seen()
        person.take(sent)
        assert person.seen() == before, "a repetition changes something"


def exchange(people: Sequence[Person]) -> Person:
    """Let all people take from all, until nothing is left to take; return what a reader has then."""
    for _ in range(len(PEOPLE) + 1):
        for person in people:
            person.take([Sent(other) for other in people])
    return reader([[Sent(person) for person in people]])


def texts(person: Person) -> set[bytes]:
    return {parse_record(BLOBS[oid], "").content for oid in person.memory.shared.values()}


@settings(max_examples=200)
@given(steps, signed)
@example([("put", 0, 0, 0, "a"), ("put", 1, 0, 0, "b"), ("hide", 1, 0, 0, "")], ("", "", ""))
def test_a_private_record_stays_as_it_is_and_hides_nothing_for_ever(
    history: list[Step], signatures: Sequence[str]
) -> None:
    people = live(history, signatures)
    private = [{path: oid for path, oid in person.records.items() if person.memory.is_private(path)}
               for person in people]  # fmt: skip
    before = exchange(people)
    for person, records in zip(people, private, strict=True):
        assert records.items() <= person.records.items()
    for person in people:
        for number in range(len(NAMES)):
            person.set_visibility(number, "team")
    after = exchange(people)
    assert texts(before) <= texts(after)
    assert all(person.memory.shared == after.memory.shared for person in people)


@settings(max_examples=200)
@given(steps, signed)
def test_nothing_purged_and_nothing_private_is_sent(history: list[Step], signatures: Sequence[str]) -> None:
    for person in live(history, signatures):
        state = person.publish()
        stored, _ = format_writer(state)
        assert person.state.purged.isdisjoint(stored.values())
        assert all(travels(parse_record(BLOBS[oid], "")) for oid in stored.values())
