"""A digest of all facts: equal for equal data, however a store was made.

Start reading at `digest`. It has 128 bits over the multiset of (subject, predicate, object, graph,
asserted or inferred), terms by their text. Always true: ids, the order of rows, layers, files and
the labels of blank nodes do not affect it. Blank nodes are represented by a *colour*. At first all
have the same colour. In each round a node combines its colour with its rows and the colours in
them, until a round distinguishes no more nodes. `digest` says which nodes cannot be distinguished.

Each term and row has two independent numbers of 64 bits (columns of an array of two); rows are
mixed and summed; nothing is sorted. Costs about 1 us per distinct term (BLAKE2b of its text), 0.1
us per row, and 16 bytes per term in memory; rows with blank nodes cost the same in each round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyoxigraph as ox

from triplestore.relations import EXPLICIT, INFERRED
from triplestore.relations.lookup import ANY_GRAPH, QuadColumns
from triplestore.relations.packed_keys import I64, U8, U64, Bools
from triplestore.store.arguments import facts_mask
from triplestore.store.state_view import StateView
from triplestore.terms import BLANK, STRING, TRIPLE, Dictionary, Term, key_of, term_of

ROUNDS_AT_LEAST = 64
"""Minimum number of rounds that are allowed while each distinguishes more blank nodes."""

ROUND_ROWS = 20_000_000
"""Maximum number of rows that all rounds read beyond that: a long list needs a round per cell."""

_BATCH = 1 << 16
_PART = 4
"""The status of a row with the parts of a triple term (the term is in the place of the graph)."""

_PLACES = np.array(
    [
        [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F],
        [0xD6E8FEB86659FD93, 0xA0761D6478BD642F],
        [0xBF58476D1CE4E5B9, 0xE7037ED1A0B428DB],
        [0x94D049BB133111EB, 0x8EBC6AF09C88C6E3],
        [0xFF51AFD7ED558CCD, 0x589965CC75374CC3],
    ],
    np.uint64,
)
"""What subject, predicate, object, graph and status are multiplied with: odd numbers."""


class _NumberedQuads(NamedTuple):
    """Rows of term numbers, and a status for each."""

    places: tuple[I64, I64, I64, I64]
    status: U64


def digest(view: StateView, facts: str = "all") -> str:
    """The digest of some facts, 32 hexadecimal digits; see `Store.digest`.

    Any two sets of facts without blank nodes have different digests (except with a probability of
    about 2^-128; sums do not protect against data made for this purpose). Sets with blank nodes
    also differ, unless each node of one has a counterpart in the other with the same surroundings,
    row by row, as in two triangles and one hexagon of blank nodes with one property. Such nodes
    have equal colours, also within a store, which is correct for symmetric ones. The digest leaves
    out rules, prefixes, graphs without quads, and relations of three or more columns.
    """
    view = replace(view, hidden=0)  # facts that are not triples of RDF hold, too
    terms = _TermHashes(view.dictionary)
    total, counts = np.zeros(2, np.uint64), []
    labelled: list[_NumberedQuads] = []
    for status in (EXPLICIT, INFERRED):
        count = 0
        for quads in _batches(view, status & facts_mask(facts), status):
            count += len(quads.status)
            plain = quads
            if terms.has_nodes:
                odd = _any_of(terms.is_node, quads)
                if odd.any():
                    labelled.append(_taken(quads, odd))
                    plain = _taken(quads, ~odd)
            total += _row_hashes(terms.hashes, plain).sum(axis=0, dtype=np.uint64)
        counts.append(count)
    if labelled:
        quads = _joined(labelled)
        _colour(terms, quads)
        total += _row_hashes(terms.hashes, quads).sum(axis=0, dtype=np.uint64)
    whole = [*total.tolist(), *counts]
    return blake2b(b"".join(n.to_bytes(8, "little") for n in whole), digest_size=16).hexdigest()


def _batches(view: StateView, where: int, status: int) -> Iterator[_NumberedQuads]:
    """All rows that pass, in batches large enough for numpy."""
    if not where:
        return
    waiting: list[QuadColumns] = []
    size = 0
    for rows in view.match((0, 0, 0, ANY_GRAPH), where):
        if int(view.dictionary.kinds(rows.predicate[:1])[0]) == STRING:
            continue  # a relation of a regime, which begins a block of its own
        waiting.append(rows)
        size += rows.size
        if size >= _BATCH:
            yield _as_quads(waiting, status)
            waiting, size = [], 0
    if waiting:
        yield _as_quads(waiting, status)


def _as_quads(blocks: list[QuadColumns], status: int) -> _NumberedQuads:
    s, p, o, g = (
        np.concatenate([block[place] for block in blocks]).astype(np.int64) for place in range(4)
    )
    return _NumberedQuads((s, p, o, g), np.full(len(s), status, np.uint64))


# --- terms --------------------------------------------------------------------------------------


class _TermHashes:
    """Two numbers for each term, by its id; all blank nodes begin with the same."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        size = dictionary.size
        self.hashes: U64 = np.zeros((size + 1, 2), np.uint64)
        self.is_node: Bools = np.zeros(size + 1, np.bool_)
        self._others: dict[bytes, int] = {}
        for low in range(1, size + 1, _BATCH):
            high = min(low + _BATCH, size + 1)
            found = self._looked_at(*dictionary.text(np.arange(low, high, dtype=np.uint32)))
            self.hashes[low:high], self.is_node[low:high] = found
        self.has_nodes = bool(self.is_node.any())

    def _looked_at(self, texts: U8, offsets: I64, kinds: U8) -> tuple[U64, Bools]:
        """The numbers of some terms, and which of them depend on labels of blank nodes."""
        hashes = _text_hashes(texts, offsets)
        hashes += kinds[:, None].astype(np.uint64) * _PLACES[4]
        nodes: Bools = kinds == BLANK
        for place in np.flatnonzero(kinds == TRIPLE).tolist():
            text = texts[offsets[place] : offsets[place + 1]].tobytes()
            nodes[place] = b"_:" in text and _has_blank(term_of(bytes([TRIPLE]) + text))
        hashes[nodes] = kinds[nodes, None] * _PLACES[0]
        return _mixed(hashes), nodes

    def parts(self, numbers: I64) -> list[tuple[int, int, int, int]]:
        """The parts of those triple terms that depend on labels, each with the term's number."""
        rows = []
        waiting = [(n, self.dictionary.term(n)) for n in numbers.tolist()]
        done = set()
        while waiting:
            number, term = waiting.pop()
            if not isinstance(term, ox.Triple) or number in done:
                continue
            done.add(number)
            inner = (term.subject, term.predicate, term.object)
            subject, predicate, object_ = places = tuple(map(self._number, inner))
            rows.append((subject, predicate, object_, number))
            waiting += [pair for pair in zip(places, inner, strict=True) if self.is_node[pair[0]]]
        return rows

    def _number(self, term: Term) -> int:
        """The place of a term in the arrays: its id, or one at the end if it has none."""
        key = key_of(term)
        number = int(self.dictionary.lookup_keys([key])[0]) or self._others.get(key, 0)
        if 0 < number < len(self.hashes):
            return number
        number = self._others[key] = len(self.hashes)
        text, kind = np.frombuffer(key[1:], np.uint8), np.array([key[0]], np.uint8)
        hashes, nodes = self._looked_at(text, np.array([0, len(text)]), kind)
        self.hashes = np.concatenate([self.hashes, hashes])
        self.is_node = np.concatenate([self.is_node, nodes])
        return number


def _has_blank(term: Term) -> bool:
    if isinstance(term, ox.Triple):
        return _has_blank(term.subject) or _has_blank(term.object)
    return isinstance(term, ox.BlankNode)


def _text_hashes(texts: U8, offsets: I64) -> U64:
    data = texts.tobytes()
    places = offsets.tolist()
    made = [blake2b(data[low:high], digest_size=16).digest() for low, high in pairwise(places)]
    return np.frombuffer(b"".join(made), "<u8").reshape(-1, 2).astype(np.uint64)


# --- rows ---------------------------------------------------------------------------------------


def _row_hashes(hashes: U64, quads: _NumberedQuads) -> U64:
    """Two numbers for each row, from those of its terms and its status."""
    total = quads.status[:, None] * _PLACES[4]
    for place, factor in zip(quads.places, _PLACES, strict=False):
        total += hashes[place] * factor
    return _mixed(total)


def _mixed(numbers: U64) -> U64:
    """Every bit of the result depends on every bit of its number; in place."""
    for constant in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        numbers ^= numbers >> np.uint64(33)
        numbers *= np.uint64(constant)
    numbers ^= numbers >> np.uint64(33)
    return numbers


def _any_of(mask: Bools, quads: _NumberedQuads) -> Bools:
    s, p, o, g = quads.places
    found: Bools = mask[s] | mask[p] | mask[o] | mask[g]
    return found


def _taken(quads: _NumberedQuads, chosen: Bools) -> _NumberedQuads:
    s, p, o, g = quads.places
    return _NumberedQuads((s[chosen], p[chosen], o[chosen], g[chosen]), quads.status[chosen])


def _joined(parts: list[_NumberedQuads]) -> _NumberedQuads:
    s, p, o, g = (np.concatenate([part.places[i] for part in parts]) for i in range(4))
    return _NumberedQuads((s, p, o, g), np.concatenate([part.status for part in parts]))


# --- blank nodes --------------------------------------------------------------------------------


def _colour(terms: _TermHashes, quads: _NumberedQuads) -> None:
    """Give the nodes of the rows their colours, instead of the numbers that they began with."""
    numbers = np.unique(np.concatenate(quads.places))
    parts = terms.parts(numbers[terms.is_node[numbers]])
    if parts:
        columns = np.array(parts, np.int64)
        s, p, o, g = (columns[:, place].copy() for place in range(4))
        quads = _joined([quads, _NumberedQuads((s, p, o, g), np.full(len(s), _PART, np.uint64))])
    rows, places, nodes, begins = _occurrences(terms.is_node, quads)
    colours, told = terms.hashes[nodes], 0
    for _ in range(max(ROUNDS_AT_LEAST, ROUND_ROWS // len(quads.status))):
        surroundings = _row_hashes(terms.hashes, quads)[rows]
        surroundings += _PLACES[places]
        around = np.add.reduceat(_mixed(surroundings), begins, axis=0)
        colours = _mixed(colours * _PLACES[1] + around)
        terms.hashes[nodes] = colours
        before, told = told, len(np.unique(colours[:, 0]))
        if told == before:
            return


def _occurrences(is_node: Bools, quads: _NumberedQuads) -> tuple[I64, I64, I64, I64]:
    """Where nodes stand: row and place of each occurrence, by node; the nodes; their starts."""
    found = [np.flatnonzero(is_node[column]) for column in quads.places]
    rows = np.concatenate(found)
    places = np.repeat(np.arange(4), [len(part) for part in found])
    numbers = np.concatenate([c[part] for c, part in zip(quads.places, found, strict=True)])
    order = np.argsort(numbers, kind="stable")
    nodes, begins = np.unique(numbers[order], return_index=True)
    return rows[order], places[order], nodes, begins
