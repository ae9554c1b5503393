"""Graph of the files of one tree, linked by the names that one file mentions and another defines, and its PageRank.

The graph is that of the repository map of aider (aider.chat/2023/10/22/repomap.html): a file links to the files that
define the names it mentions, and PageRank (Page, Brin et al. 1999) finds the files on which the others depend. The
random surfer starts anew at files that a caller prefers, which personalises the ranks (Haveliwala 2002).

The postings of the index hold all names of all blobs with their roles, so no record of a file is read. Names are not
resolved: a thousand files would take seconds. A name that many files define counts less instead.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, differences, distinct_with_places, first_of_each, is_among
from gitmem.named_tuple import NamedTuple
from gitmem.references.languages import PRIVATE_IN_FOLDER, family_of
from gitmem.references.library_members import FUNCTIONS, OTHER_MEMBERS
from gitmem.store.occurrences import DEFINED, IMPORTED, INHERITED, NAMES, REFERRED
from gitmem.store.posting_merge import merge_postings
from gitmem.store.postings import SortedPostings
from gitmem.store.snapshot import Snapshot

Numbers = NDArray[np.int64]
Weights = NDArray[np.float64]

DAMPING: Final = 0.85
"""Probability that the surfer follows a link, as in the paper and in aider."""

ELSEWHERE: Final = 300.0
"""Weight of the mentions of a file that lead nowhere, such as names of libraries, and mean little.

The surfer starts anew there. Without it rank gathers in helpers: a file that mentions a single other one gives it all
of its rank, and that one its only helper. Names that documents and messages of commits mention are found best from 100
to 1,000 (`tests/bench/outline_quality.py`).
"""

MAX_STEPS: Final = 40
TOLERANCE: Final = 1e-5
"""The iteration ends when the ranks change by less in all, or after so many steps: 0.85 ** 40 is 0.0015."""

MAX_DEFINING: Final = 50
"""Files that define a name; one with more of them (`__init__`, `main`) links nothing."""

_AMBIGUOUS: Final = 5
_COMPOUND: Final = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9][_-][A-Za-z0-9]")
_COMPOUND_SIZE: Final = 8
_PART_TERMS: Final = 1 << 14
_REFERENCES: Final = REFERRED | IMPORTED | INHERITED
_STRUCTURAL: Final = IMPORTED | INHERITED
"""Roles of a mention that says more about the structure than others: twice as much."""


class Ranks(NamedTuple):
    """Ranks of the files, which add up to 1, and the part that each definition of a name brought its file."""

    files: Weights
    definitions: Weights


class FileGraph(NamedTuple):
    """Files (nodes) and the names (links) that they define and mention.

    A node is a blob: copies of a file are one. `blob_of` and `weights` are those of each path, `node_of_blob` is -1 for
    blobs outside of the tree, `prior` the start of the surfer without preferences. References and definitions are
    columns, definitions ordered by node: the name `names[def_name[i]]` is defined in node `def_node[i]`. `ref_weight`
    is what a mention says, and `ref_share` its part of all mentions in its node.
    """

    blob_of: Numbers
    weights: Weights
    node_of_blob: Numbers
    prior: Weights
    has_names: NDArray[np.bool_]
    names: list[str]
    ref_node: Numbers
    ref_name: Numbers
    ref_weight: Weights
    ref_share: Weights
    def_node: Numbers
    def_name: Numbers
    def_share: Weights

    def rank(self, start: Weights) -> Ranks:
        """Return the ranks if the surfer starts at each node with a probability, [nodes]."""
        ranks = start
        brought: Weights = np.zeros(len(self.def_node))
        # Through a name, rank flows from all files that mention it to all that define it, so the graph is never made
        # as pairs of files: a name with 1,000 mentions and 10 definitions has 1,010 entries instead of 10,000.
        for _ in range(MAX_STEPS):
            flow = sums(self.ref_name, self.ref_share * ranks[self.ref_node], len(self.names))
            brought = DAMPING * self.def_share * flow[self.def_name]
            following = sums(self.def_node, brought, len(start))
            # The surfer who did not follow a link, or found none, starts anew.
            following += (1 - following.sum()) * start
            change = float(np.abs(following - ranks).sum())
            ranks = following
            if change < TOLERANCE:
                break
        return Ranks(ranks, brought)

    def files(self, entries: Numbers) -> tuple[Numbers, Numbers]:
        """Return the nodes of some paths, if they have names, and of each node one of these paths."""
        chosen = choose_entries(self.blob_of, self.weights, entries)
        nodes = self.node_of_blob[self.blob_of[chosen]]
        named = self.has_names[nodes]
        return nodes[named], chosen[named]

    def node(self, entry: int) -> int:
        """Return the node of a path, -1 if the index lacks its content."""
        blob = int(self.blob_of[entry])
        return int(self.node_of_blob[blob]) if blob >= 0 else -1

    def definitions_of(self, node: int, ranks: Ranks) -> dict[str, float]:
        """Return the names that a node defines and others mention, with the rank that each brought it."""
        first, end = np.searchsorted(self.def_node, (node, node + 1)).tolist()
        brought: dict[str, float] = {}
        # A name has a link for each tree that mentions it.
        for name, rank in zip(self.def_name[first:end].tolist(), ranks.definitions[first:end].tolist(), strict=True):
            brought[self.names[name]] = brought.get(self.names[name], 0.0) + rank
        return brought


class _Domains(NamedTuple):
    """Where names are known: everywhere in the family of languages of a node, or in its folder alone.

    `family` and `folder` are those of each node. The domains are numbered: first the families, then those of the first
    folder, and so on.
    """

    family: Numbers
    families: list[str]
    folder: Numbers

    def size(self) -> int:
        """Return the number of domains."""
        return len(self.families) * (int(self.folder.max(initial=-1)) + 2)

    def of(self, terms: Sequence[bytes], term: Numbers, node: Numbers) -> Numbers:
        """Return the domain of each name, an index into `terms`, in a node."""
        domain = self.family[node]
        private = [code for code, family in enumerate(self.families) if family in PRIVATE_IN_FOLDER]
        if private:
            is_small = np.fromiter((name[:1].islower() or name[:1] == b"_" for name in terms), np.bool_, len(terms))
            in_folder = is_small[term] & is_among(domain, private)
            domain = np.where(in_folder, domain + len(self.families) * (1 + self.folder[node]), domain)
        return domain

    def family_of(self, domain: int) -> str:
        """Return the family of a domain."""
        return self.families[domain % len(self.families)]


class _Links(NamedTuple):
    """Names that link nodes, how much a mention of each says, and both ends as columns, ordered by name and node."""

    names: list[str]
    weights: Weights
    ref_node: Numbers
    ref_name: Numbers
    ref_weight: Weights
    def_node: Numbers
    def_name: Numbers


def build_graph(
    snapshot: Snapshot,
    blob_of: Numbers,
    weights: Weights,
    folder_of: Numbers,
    check: Callable[[], None] = lambda: None,
) -> FileGraph:
    """Return the graph of a tree from the blob, the weight and the number of the folder of each path.

    Raises: DamagedFile.

    A path without plain code, such as a test, has a low weight: the surfer rarely starts there. `check` is called often
    and raises to cancel.
    """
    entries = choose_entries(blob_of, weights, np.arange(len(blob_of)))
    blobs = blob_of[entries]
    node_of_blob = np.full(int(snapshot.blob_bases[-1]) + 1, -1, np.int64)
    node_of_blob[blobs] = np.arange(len(blobs))
    has_names = np.zeros(len(blobs), np.bool_)
    family, families = _families(snapshot, blobs)
    domains = _Domains(family, families, folder_of[entries])
    parts: list[_Links] = []
    sources = [segment.iter_postings(NAMES, _PART_TERMS) for segment in snapshot.segments]
    # The parts of a merge have no name in common and are in their order, whatever segments the names are in.
    for part in merge_postings(sources, snapshot.blob_bases.tolist()):
        check()
        has_names[_inside(node_of_blob[part.places])] = True
        parts.append(_link(part, node_of_blob, domains))
    links = _join(parts)
    # Files without names, such as records that a server opened as well, change no rank.
    node_weights = np.where(has_names, weights[entries], 0.0)
    return FileGraph(
        blob_of, weights, node_of_blob, node_weights / (node_weights.sum() or 1.0), has_names, links.names,
        links.ref_node, links.ref_name, links.ref_weight,
        shares(links.ref_weight, links.ref_node, len(blobs), ELSEWHERE), *_by_node(links, node_weights),
    )  # fmt: skip


def _inside(nodes: Numbers) -> Numbers:
    return nodes[nodes >= 0]


def _by_node(links: _Links, node_weights: Weights) -> tuple[Numbers, Numbers, Weights]:
    """Return nodes, names and shares of the definitions by node; a test gets less of a name than plain code."""
    share = shares(node_weights[links.def_node], links.def_name, len(links.names))
    order = np.argsort(links.def_node, kind="stable")
    return links.def_node[order], links.def_name[order], share[order]


def choose_entries(blob_of: Numbers, weights: Weights, entries: Numbers) -> Numbers:
    """Return one of some entries for each of their blobs, ascending: that of the highest weight, or else the first."""
    entries = entries[blob_of[entries] >= 0]
    # Of equal files in `src/` and `vendor/`, the one in `src/` is shown.
    order = np.lexsort((entries, -weights[entries], blob_of[entries]))
    ordered = entries[order]
    return np.sort(ordered[first_of_each(blob_of[ordered])])


def _families(snapshot: Snapshot, blobs: Numbers) -> tuple[Numbers, list[str]]:
    """Return the family of languages of each blob, as an index into the second result: sorted names."""
    languages = {language for segment in snapshot.segments for language in segment.languages}
    families = sorted({family_of(language) for language in languages}) or [""]
    codes = {family: code for code, family in enumerate(families)}
    family = np.zeros(len(blobs), np.int64)
    for segment, base in zip(snapshot.segments, snapshot.blob_bases.tolist(), strict=False):
        own = np.flatnonzero((blobs >= base) & (blobs < base + segment.blobs))
        table = np.array([codes[family_of(language)] for language in segment.languages] or [0], np.int64)
        family[own] = table[segment.blob_languages[blobs[own] - base]]
    return family, families


def _link(part: SortedPostings, node_of_blob: Numbers, domains: _Domains) -> _Links:
    """Return the names of a part that one file of the tree defines and another one of its languages mentions."""
    node = node_of_blob[part.places]
    inside = np.flatnonzero(node >= 0)
    node, roles = node[inside], part.counts[inside]
    term = np.repeat(np.arange(len(part.terms)), differences(part.bounds))[inside]
    # Python and Go do not share names, so a link is a name in one domain.
    size = domains.size()
    keys, link = distinct_with_places(term * size + domains.of(part.terms, term, node))
    defines = (roles & DEFINED) != 0
    # A file that defines a name mostly means its own.
    refers = ((roles & _REFERENCES) != 0) & ~defines
    defining = np.bincount(link[defines], minlength=len(keys))
    useful = (defining > 0) & (defining <= MAX_DEFINING) & (np.bincount(link[refers], minlength=len(keys)) > 0)
    kept = keys[useful]
    names = [part.terms[key // size].decode("utf-8", "replace") for key in kept.tolist()]
    own_families = [domains.family_of(key % size) for key in kept.tolist()]
    weights = np.fromiter(map(weight_of, names, own_families, defining[useful].tolist()), np.float64, len(names))
    # Most names are of one file only. They are left out here, so that memory holds little more than the links.
    number = np.cumsum(useful) - 1
    order = np.lexsort((node, link))
    refs, defs = (order[(has_role & useful[link])[order]] for has_role in (refers, defines))
    structural = np.where(roles[refs] & _STRUCTURAL, 2.0, 1.0)
    ref_name = number[link[refs]]
    return _Links(names, weights, node[refs], ref_name, structural * weights[ref_name], node[defs], number[link[defs]])


def _join(parts: Sequence[_Links]) -> _Links:
    """Return the links of all parts, numbered on."""
    nothing = np.zeros(0, np.int64)
    none = _Links([], np.zeros(0), nothing, nothing, np.zeros(0), nothing, nothing)
    bases = np.cumsum([0, *(len(part.names) for part in parts)]).tolist()
    numbered = [
        part._replace(ref_name=part.ref_name + base, def_name=part.def_name + base)
        for part, base in zip(parts, bases, strict=False)
    ]
    columns = zip(*(part[1:] for part in (none, *numbered)), strict=True)
    return _Links([name for part in parts for name in part.names], *map(np.concatenate, columns))


def weight_of(name: str, family: str, defining: int) -> float:
    """Return how much a mention of a name says: long compound names much, private ones and those of a library little.

    `defining` is the number of files that define it. The factors are aider's, except for single letters, which are type
    parameters and members of libraries (`testing.T`), and for the names that the language's own types have.
    """
    if len(name) == 1:
        return 0.0
    weight = 10.0 if len(name) >= _COMPOUND_SIZE and _COMPOUND.search(name) else 1.0
    if name.startswith("_"):
        weight *= 0.1
    if defining > _AMBIGUOUS:
        weight *= 0.1
    is_other = name in OTHER_MEMBERS.get(family, ()) or name in FUNCTIONS.get(family, ())
    return weight * 0.1 if is_other else weight


def factor_of(roles: int) -> float:
    """Return the factor of a mention by the roles of the name in its file."""
    return 2.0 if roles & _STRUCTURAL else 1.0


def shares(weights: Weights, groups: Numbers, count: int, besides: float = 0.0) -> Weights:
    """Return weights divided by the sum of their group, to which `besides` is added."""
    totals = besides + sums(groups, weights, count)
    shares: Weights = weights / np.where(totals > 0, totals, 1.0)[groups]
    return shares


def sums(groups: Numbers, weights: Weights, count: int) -> Weights:
    """Return the sum of the weights of each group."""
    return np.bincount(groups, weights, count).astype(np.float64, copy=False)  # integers if there are none
