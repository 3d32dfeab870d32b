"""Terms are sorted as Python sorts their keys, whatever the bytes, the sizes and the threads."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.terms import strategies as some
from triplestore.terms import sort_terms
from triplestore.terms.spans import offsets_of, spans_of_keys
from triplestore.terms.thresholds import TERMS

awkward = st.builds(
    lambda prefix, zeros, tail: b"\x01" + prefix + b"\0" * zeros + tail,
    st.sampled_from([b"", b"a", b"abcdefgh", b"abcdefghi", b"http://example.org/" * 5]),
    st.integers(0, 20),
    st.binary(max_size=2),
)


def sort(keys, threads=1):
    """The keys, sorted by the package (in the order of arrival they are as given)."""
    spans = spans_of_keys(keys)
    texts = [key[1:] for key in keys]
    buf = np.frombuffer(b"".join(texts) or b"\0", np.uint8)
    terms = np.arange(len(keys), dtype=np.uint32)
    order = sort_terms.sorted_terms(buf, offsets_of(spans.lengths), spans.kinds, terms, threads)
    return [keys[i] for i in order.tolist()]


@pytest.fixture(params=["few", "many"])
def buckets(request, tune):
    """As always; or so that short lists already take every path."""
    if request.param == "many":
        tune(TERMS, bucket_terms=8, sampled_terms=3, sort_steps=20, gathered_terms=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(keys=st.lists(some.keys | awkward, unique=True, max_size=120), threads=st.integers(1, 3))
def test_sorted_terms__is_the_order_of_keys(buckets, keys, threads):
    assert sort(keys, threads) == sorted(keys)


def test_sorted_terms__numbered_iris_in_random_order(buckets):
    keys = [b"\x01http://example.org/department%d/student%d" % (n % 7, n) for n in range(5000)]
    keys += [b"\x03%d" % n for n in range(500)]
    random.Random(5).shuffle(keys)
    assert sort(keys, 2) == sorted(keys)


def test_sorted_terms__prefixes_of_one_another(buckets):
    keys = [b"\x01" + b"a" * n for n in range(300)] + [b"\x01" + b"\0" * n for n in range(300)]
    random.Random(6).shuffle(keys)
    assert sort(keys) == sorted(keys)


def test_sorted_terms__long_common_prefixes(buckets):
    keys = [b"\x03" + b"x" * 4000 + b"%d" % n for n in range(40)]
    random.Random(7).shuffle(keys)
    assert sort(keys) == sorted(keys)


def test_sorted_terms__a_choice_of_the_terms():
    keys = [b"\x01%d" % n for n in range(1000)]
    spans = spans_of_keys(keys)
    buf = np.frombuffer(b"".join(key[1:] for key in keys), np.uint8)
    terms = np.arange(0, 1000, 3, dtype=np.uint32)
    order = sort_terms.sorted_terms(buf, offsets_of(spans.lengths), spans.kinds, terms)
    assert [keys[i] for i in order] == sorted(keys[::3])
    assert sort_terms.sorted_terms(buf, offsets_of(spans.lengths), spans.kinds, terms[:0]).size == 0
