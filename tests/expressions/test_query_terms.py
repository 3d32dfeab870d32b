"""Ids of computed terms beside those of the dictionary."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.expressions.random_expressions import AWKWARD, COMMON
from triplestore.expressions.query_terms import QueryTerms
from triplestore.terms.dictionary import FIRST_QUERY_ID, Dictionary
from triplestore.terms.segment import TermSegment
from triplestore.terms.spans import texts_of_keys
from triplestore.terms.term_keys import TRIPLE, term_of
from triplestore.terms.triples.split_triples import parts_of
from triplestore.terms.values.encode_values import ValueColumn

POOL = COMMON + AWKWARD
STRINGS = [b"\3", b"\3a", b"\3b", b"\3ab", b"\3" + b"long " * 9]


@given(st.lists(st.sampled_from(POOL)), st.lists(st.sampled_from([*POOL, None])))
def test_query_terms__are_one_world_with_the_dictionary(
    stored: list[bytes], keys: list[bytes | None]
) -> None:
    dictionary = Dictionary()
    dictionary.encode_keys(stored)
    terms = QueryTerms(dictionary)
    ids = terms.encode_keys(keys)
    for key, term_id in zip(keys, ids.tolist(), strict=True):
        assert (term_id == 0) == (key is None)
        if key is not None:
            assert (term_id >= FIRST_QUERY_ID) == (key not in with_parts(stored))
            assert terms.key(term_id) == key
            assert terms.term(term_id) == term_of(key)
    assert np.array_equal(terms.encode_keys(keys), ids)
    many = np.concatenate([ids] * 20) if len(ids) else ids
    assert terms.keys(many) == keys * 20
    assert terms.kinds(many).tolist() == [key[0] if key else 0 for key in keys * 20]
    values = terms.values(many)
    wanted = ValueColumn.of([key or b"\x01" for key in keys * 20])
    plain = np.array([key is None or key[0] != 5 for key in keys * 20], np.bool_)
    assert np.array_equal(values.marks[~plain], wanted.marks[~plain])
    assert np.array_equal(values.keys[~plain], wanted.keys[~plain])
    settled = terms.settle(ids)
    assert [dictionary.key(i) if i else None for i in settled.tolist()] == keys
    every = [*stored, *(key for key in keys if key is not None)]
    assert dictionary.size == len(with_parts(every))


def with_parts(keys: list[bytes]) -> set[bytes]:
    """Keys and those of the parts of triple terms, which a dictionary adds."""
    found = set(keys)
    for key in keys:
        if key[0] == TRIPLE:
            found |= with_parts(list(parts_of(key)))
    return found


@given(
    st.lists(st.sampled_from([*POOL, *STRINGS])),
    st.lists(st.lists(st.sampled_from([*POOL, *STRINGS]), max_size=6), max_size=4),
    st.booleans(),
)
def test_strings_of_a_buffer__have_the_ids_of_their_keys(
    stored: list[bytes], turns: list[list[bytes]], is_sealed: bool
) -> None:
    dictionary = Dictionary()
    if is_sealed and stored:
        dictionary.add_segment(TermSegment.from_keys(1, list(dict.fromkeys(stored))))
    dictionary.encode_keys(stored)
    terms, slow = QueryTerms(dictionary), QueryTerms(dictionary)
    for turn, keys in enumerate(turns):
        texts = [key for key in dict.fromkeys(keys) if key[0] == 3]
        if turn % 2:
            buf, starts, lengths, _ = texts_of_keys(texts)
            found = terms.encode_strings(buf, starts, lengths)
            slow.encode_keys(texts)
        else:
            texts = keys
            found = terms.encode_keys(texts)
            slow.encode_keys(texts)
        assert terms.keys(found) == texts
    every = [key for keys in turns for key in keys if key[0] == 3]
    ids = terms.encode_keys(every)
    assert np.array_equal(ids, slow.encode_keys(every))
    assert len(terms) == len(slow)
    assert terms.lengths(ids).tolist() == [len(key) - 1 for key in every]
    assert terms.kinds(ids).tolist() == [key[0] for key in every]
    buf, starts, lengths, kinds = terms.spans(ids)
    spans = zip(kinds.tolist(), starts.tolist(), lengths.tolist(), strict=True)
    assert [bytes([k]) + buf[s : s + n].tobytes() for k, s, n in spans] == every
    kept = terms.detached()
    assert [kept.key(i) for i in ids.tolist()] == every and len(terms) == 0
    settled = kept.settle(ids)
    assert [dictionary.key(i) for i in settled.tolist()] == every


def test_query_terms__may_be_shared_by_threads() -> None:
    terms = QueryTerms(Dictionary())
    keys = [b"\x03%d" % i for i in range(2000)]
    found: list[list[int]] = []

    def work() -> None:
        found.append(terms.encode_keys(keys).tolist())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(ids == found[0] for ids in found)
    assert len(terms) == len(set(found[0])) == 2000


def test_query_terms__a_key_that_two_threads_missed_is_added_once() -> None:
    terms = QueryTerms(Dictionary())
    terms._add([b"\x03a"])
    terms._add([b"\x03a", b"\x03b"])
    assert len(terms) == 2
    assert terms.keys(terms.encode_keys([b"\x03a", b"\x03b"])) == [b"\x03a", b"\x03b"]


def test_query_terms__an_id_of_neither_is_an_error() -> None:
    terms = QueryTerms(Dictionary())
    with pytest.raises(IndexError):
        terms.key(FIRST_QUERY_ID)
    with pytest.raises(IndexError):
        terms.key(1)
