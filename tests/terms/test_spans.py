"""Batches of terms: laid out, cut, copied and hashed the same by kernel and in numpy."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.terms import strategies as some
from triplestore.terms import spans
from triplestore.terms.hashing import hash_key, slot_of
from triplestore.terms.thresholds import TERMS

with_fixture = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@with_fixture
@given(keys=st.lists(some.keys, max_size=20))
def test_spans_of_keys__are_the_keys(either_way, keys):
    made = spans.spans_of_keys(keys)
    texts = [
        made.buf[start : start + length].tobytes()
        for start, length in zip(made.starts, made.lengths, strict=True)
    ]
    assert [bytes([kind]) + text for kind, text in zip(made.kinds, texts, strict=True)] == keys
    assert made.hashes.tolist() == [hash_key(key) for key in keys]


@given(lengths=st.lists(st.integers(0, 300), max_size=200))
def test_pieces__cover_all_rows_within_both_bounds(lengths):
    with TERMS.changed(piece_rows=16, piece_bytes=1000):
        cut = list(spans.pieces(np.array(lengths, np.int64)))
    assert [row for lo, hi in cut for row in range(lo, hi)] == list(range(len(lengths)))
    for lo, hi in cut:
        assert hi - lo <= 16
        assert sum(lengths[lo:hi]) <= 1000


@with_fixture
@given(
    texts=st.lists(st.binary(max_size=40), max_size=30),
    seed=st.integers(0, 9),
    gap=st.integers(0, 3),
)
def test_copy_texts__puts_each_span_in_its_place(either_way, texts, seed, gap):
    buf = np.frombuffer(b"?".join(texts) + b"?", np.uint8)
    lengths = np.array([len(text) for text in texts], np.int64)
    starts = np.cumsum(lengths + 1) - lengths - 1
    order = np.random.default_rng(seed).permutation(len(texts))
    sizes = lengths[order] + gap
    places = np.cumsum(sizes) - sizes
    out = np.full(int(sizes.sum()), ord("."), np.uint8)
    spans.copy_texts(buf, starts[order], lengths[order], out, places)
    assert out.tobytes() == b"".join(texts[i] + b"." * gap for i in order)


@with_fixture
@given(
    hashes=st.lists(
        st.integers(0, 2**64 - 1) | st.sampled_from([0, 2**64 - 1, 2**63, 2**64 - 2**33]),
        max_size=60,
    )
)
def test_slots_of__every_term_is_found_before_an_empty_slot(either_way, hashes):
    slots = spans.slots_of(np.array(hashes, np.uint64)).tolist()
    assert sorted(slot & 0xFFFFFFFF for slot in slots if slot) == list(range(1, len(hashes) + 1))
    for term, hashed in enumerate(hashes):
        wanted = (hashed & 0xFFFFFFFF) << 32 | (term + 1)
        at = slot_of(hashed, len(slots))
        while slots[at] != wanted:
            assert slots[at] != 0
            at = (at + 1) % len(slots)
    assert 0 in slots
