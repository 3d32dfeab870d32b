"""The collector of a load: one number per term, ids by kind and bytes whatever came first."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.terms import strategies as some
from tests.terms.support import weaken_hashes
from triplestore.errors import StorageError
from triplestore.kernels.jit import plain_python
from triplestore.terms.collector import TermCollector
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.spans import spans_of_keys
from triplestore.terms.thresholds import TERMS

SIZE = 300 if plain_python() else 3000
LONG = 50_000 if plain_python() else 5_000_000
blocks_of_keys = st.lists(st.lists(some.simple_keys, max_size=20), max_size=6)


def collect(dictionary, blocks, threads=1):
    """Load blocks of keys; the ids of each block, and the segment."""
    collector = TermCollector(dictionary)
    numbers = [collector.add(*spans_of_keys(block)) for block in blocks]
    ids, segment = collector.seal(threads)
    return [ids[number].tolist() for number in numbers], segment


def expected_ids(known, blocks):
    """The ids that every key must get, given those that are known."""
    new = sorted({key for block in blocks for key in block} - known.keys())
    return known | {key: len(known) + 1 + n for n, key in enumerate(new)}


@given(before=st.lists(some.simple_keys, unique=True, max_size=20), blocks=blocks_of_keys)
def test_seal__known_terms_keep_their_ids_and_new_ones_are_sorted(before, blocks):
    dictionary = Dictionary()
    dictionary.encode_keys(before)
    known = {key: n for n, key in enumerate(before, 1)}
    ids, segment = collect(dictionary, blocks)
    wanted = expected_ids(known, blocks)
    assert ids == [[wanted[key] for key in block] for block in blocks]
    assert dictionary.size == len(before)
    if segment is None:
        assert len(wanted) == len(before)
    else:
        dictionary.add_segment(segment)
    assert dictionary.new_keys(0, dictionary.size) == list(wanted)


@settings(max_examples=30)
@given(blocks=blocks_of_keys, bits=st.sampled_from([0, 2]))
def test_seal__weak_hashes_change_nothing(blocks, bits):
    with pytest.MonkeyPatch.context() as patch:
        weaken_hashes(patch, bits)
        dictionary = Dictionary()
        before = [key for block in blocks[:2] for key in block[::2]]
        known = {key: n for n, key in enumerate(dict.fromkeys(before), 1)}
        dictionary.encode_keys(before)
        ids, _ = collect(dictionary, blocks)
        wanted = expected_ids(known, blocks)
        assert ids == [[wanted[key] for key in block] for block in blocks]


def many_blocks(seed=0, count=40, size=SIZE):
    source = random.Random(seed)
    return [
        [b"\x01http://example.org/%d" % source.randrange(60_000) for _ in range(size)]
        + [b"\x03" + b"long " * 2000]
        for _ in range(count)
    ]


def test_seal__any_schedule_of_threads_gives_the_same_ids():
    blocks = many_blocks()
    first, segment = collect(Dictionary(), blocks)
    dictionary = Dictionary()
    collector = TermCollector(dictionary)
    numbers: dict[int, np.ndarray] = {}

    def work(part):
        for n in part:
            numbers[n] = collector.add(*spans_of_keys(blocks[n]))

    order = list(range(len(blocks)))
    random.Random(1).shuffle(order)
    threads = [threading.Thread(target=work, args=(order[t::3],)) for t in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids, again = collector.seal(3)
    assert [ids[numbers[n]].tolist() for n in range(len(blocks))] == first
    assert segment is not None and again is not None
    for name, array in segment.sections().items():
        assert np.array_equal(array, again.sections()[name]), name


def test_add__numbers_are_dense_in_the_order_of_coming():
    collector = TermCollector(Dictionary())
    assert collector.add(*spans_of_keys([b"\x01b", b"\x01a", b"\x01b"])).tolist() == [1, 2, 1]
    assert collector.add(*spans_of_keys([b"\x03b", b"\x01a", b"\x01b"])).tolist() == [3, 2, 1]
    assert len(collector) == 3 and collector.text_bytes == 3
    ids, segment = collector.seal()
    assert ids.tolist() == [0, 2, 1, 3]
    assert segment is not None and segment.keys(1, 3) == [b"\x01a", b"\x01b", b"\x03b"]


def test_add__tables_grow_from_nothing(tune):
    tune(TERMS, collector_slots=8)
    blocks = many_blocks(3, 5)
    ids, _ = collect(Dictionary(), blocks)
    wanted = expected_ids({}, blocks)
    assert ids == [[wanted[key] for key in block] for block in blocks]


def test_add__very_long_terms():
    blocks = [[b"\x03" + bytes([65 + n]) * LONG for n in range(4)], [b"\x03B" * 3]]
    ids, segment = collect(Dictionary(), blocks)
    keys = sorted(key for block in blocks for key in block)
    assert ids == [[keys.index(key) + 1 for key in block] for block in blocks]
    assert segment is not None
    assert segment.keys(1, segment.last_id) == keys


def test_seal__empties_the_collector_which_then_refuses_more():
    collector = TermCollector(Dictionary())
    collector.add(*spans_of_keys([b"\x01a"]))
    collector.seal()
    with pytest.raises(AssertionError, match="sealed"):
        collector.add(*spans_of_keys([b"\x01a"]))
    with pytest.raises(AssertionError, match="sealed"):
        collector.seal()


def test_seal__of_nothing():
    ids, segment = TermCollector(Dictionary()).seal()
    assert ids.tolist() == [0] and segment is None


def test_seal__more_terms_than_ids_is_refused(monkeypatch):
    dictionary = Dictionary()
    dictionary.encode_keys([b"\x01%d" % n for n in range(6)])
    monkeypatch.setattr(Dictionary, "max_id", 9)
    _, segment = collect(dictionary, [[b"\x03%d" % n for n in range(3)]])
    assert segment is not None
    with pytest.raises(StorageError, match="dictionary is full: 6 terms and 4 more"):
        collect(dictionary, [[b"\x03%d" % n for n in range(4)]])
    assert dictionary.size == 6


def test_seal__finds_terms_in_every_segment_and_in_the_live_table():
    dictionary = Dictionary()
    for first in range(0, 3000, 1000):
        _, segment = collect(dictionary, [[b"\x01%d" % n for n in range(first, first + 1000)]])
        assert segment is not None
        dictionary.add_segment(segment)
        dictionary.encode_keys([b"\x03%d" % n for n in range(first, first + 10)])
    keys = dictionary.new_keys(0, dictionary.size)
    ids, segment = collect(dictionary, [keys[::-1], keys[::7]])
    assert segment is None
    assert ids[0] == list(range(dictionary.size, 0, -1))
    assert [keys[i - 1] for i in ids[1]] == keys[::7]
