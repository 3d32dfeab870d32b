"""The parts of triple terms: split from texts, kept as columns, found again in every form."""

from __future__ import annotations

from random import Random

import numpy as np
import pyoxigraph as ox
import pytest

from tests.sparql.triple_queries import triple_term
from tests.terms.support import stored
from triplestore.terms import Dictionary, TermSegment, key_of
from triplestore.terms.dictionary_state import LiveTable
from triplestore.terms.spans import texts_of_keys
from triplestore.terms.term_keys import TRIPLE, term_of
from triplestore.terms.triples.complete_parts import complete_parts
from triplestore.terms.triples.split_triples import parts_of, split_texts

ODD = [
    ox.Triple(ox.BlankNode("b"), ox.NamedNode("http://e/p"), ox.BlankNode("c.d")),
    ox.Triple(ox.NamedNode("http://e/é"), ox.NamedNode("http://e/p"), ox.Literal("")),
    ox.Triple(ox.NamedNode("http://e/a"), ox.NamedNode("http://e/p"), ox.Literal('<<( "\\ )>>\n')),
    ox.Triple(
        ox.NamedNode("http://e/a"), ox.NamedNode("http://e/p"), ox.Literal('"@en', language="de")
    ),
    ox.Triple(
        ox.NamedNode("http://e/a"),
        ox.NamedNode("http://e/p"),
        ox.Literal('a"^^<x>\ufffe', datatype=ox.NamedNode("http://e/t")),
    ),
    ox.Triple(
        ox.NamedNode("http://e/a"),
        ox.NamedNode("http://e/p"),
        ox.Literal("\x00\x7f", language="ar", direction=ox.BaseDirection.LTR),
    ),
]


def terms(seed: int, count: int) -> list[ox.Triple]:
    random = Random(seed)
    return [*ODD, *(triple_term(random, 4) for _ in range(count))]


def expected(term: ox.Triple) -> tuple[bytes, bytes, bytes]:
    return key_of(term.subject), key_of(term.predicate), key_of(term.object)


def parts_in(dictionary: Dictionary) -> dict[bytes, tuple[bytes, ...]]:
    """The parts of all triple terms, as keys."""
    found: dict[bytes, tuple[bytes, ...]] = {}
    for run in dictionary.triple_runs():
        for row in zip(*(column.tolist() for column in run.columns()), strict=True):
            key, *parts = map(dictionary.key, row)
            assert key not in found
            found[key] = tuple(parts)
    return found


def reopened(segment: TermSegment) -> TermSegment:
    """The same segment from its sections, with the parts in them."""
    count = segment.count_of_triples
    assert count is not None
    get = stored(segment)[1]
    return TermSegment.from_sections(segment.first_id, segment.count, get, count)


def check(dictionary: Dictionary) -> None:
    """Every triple term has its parts, and each of these is a term."""
    keys = dictionary.new_keys(0, dictionary.size)
    triples = [key for key in keys if key[0] == TRIPLE]
    assert parts_in(dictionary) == {key: parts_of(key) for key in triples}


@pytest.mark.parametrize("term", terms(1, 40), ids=str)
def test_parts_of__are_the_keys_of_the_parts(term: ox.Triple) -> None:
    assert parts_of(key_of(term)) == expected(term)


def test_split_texts__splits_as_parts_of() -> None:
    keys = [key_of(term) for term in terms(2, 100)]
    buf, starts, lengths, _ = texts_of_keys(keys)
    spans = split_texts(buf, starts, lengths)
    found = [
        bytes([kind]) + spans.buf[start : start + length].tobytes()
        for start, length, kind in zip(
            spans.starts.tolist(), spans.lengths.tolist(), spans.kinds.tolist(), strict=True
        )
    ]
    assert found == [part for key in keys for part in parts_of(key)]


@pytest.mark.parametrize("batch", [1, 7, 5000])
def test_encoding__adds_all_parts(batch: int) -> None:
    dictionary = Dictionary()
    keys = [key_of(term) for term in terms(3, 300)]
    for lo in range(0, len(keys), batch):
        if batch == 1:
            dictionary.encode_few(keys[lo : lo + batch])
        else:
            dictionary.encode_keys(keys[lo : lo + batch])
        if lo % 50 == 0:
            check(dictionary)
    check(dictionary)


def test_forms__of_segments_keep_the_parts() -> None:
    dictionary = Dictionary()
    keys = list(dict.fromkeys(key_of(term) for term in terms(4, 200)))
    segment = TermSegment.from_keys(1, keys)
    dictionary.add_segment(segment)
    complete_parts(dictionary, segment)
    check(dictionary)
    dictionary.encode_keys([key_of(term) for term in terms(5, 200)])
    check(dictionary)
    size = dictionary.size
    whole = dictionary.segment_of(1, size)
    assert whole.count_of_triples == sum(key[0] == TRIPLE for key in whole.keys(1, size))
    check(Dictionary([reopened(whole)]))
    first, second = dictionary.segment_of(1, segment.last_id), None
    if segment.last_id < size:
        second = dictionary.segment_of(segment.last_id + 1, size)
        check(Dictionary([TermSegment.merge([first, second])]))
        check(Dictionary([reopened(first), reopened(second)]))


def test_truncate__forgets_the_parts_of_removed_terms() -> None:
    dictionary = Dictionary()
    dictionary.encode_keys([key_of(term) for term in terms(6, 20)])
    mark = dictionary.mark()
    for _ in range(3):
        dictionary.encode_keys([key_of(term) for term in terms(7, 50)])
        check(dictionary)
        dictionary.truncate(mark)
        check(dictionary)
        dictionary.encode_keys([key_of(term) for term in terms(8, 9)])
        check(dictionary)
        dictionary.truncate(mark)


def test_terms_without_known_parts__are_completed_when_asked() -> None:
    """As a version wrote them that had no columns of parts."""
    keys = [key_of(term) for term in ODD]
    old = Dictionary([TermSegment.from_keys(1, keys)])
    (run,) = old.triple_runs()
    assert not run.is_whole
    assert old.segments[0].count_of_triples is None
    assert run.columns()[0].tolist() == list(range(1, len(keys) + 1))


def test_live_tables__make_runs_of_what_is_new() -> None:
    dictionary = Dictionary()
    table = LiveTable(1, dictionary)
    for number in range(100):
        term = ox.Triple(
            ox.NamedNode("http://e/a"), ox.NamedNode("http://e/p"), ox.Literal(str(number))
        )
        table.add(key_of(term), [])
        runs = table.triples(lambda keys: np.ones(len(keys), np.uint32))
        assert sum(map(len, runs)) == number + 1
        assert len(runs) < 8
    assert term_of(table.keys[-1]) == term
