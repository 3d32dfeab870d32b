"""Sealed segments against a list of keys: finding, decoding, storing, merging."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.terms import strategies as some
from tests.terms.support import NotingGuard, reopened, stored, weaken_hashes
from triplestore.checked_columns import Column
from triplestore.errors import CorruptError
from triplestore.terms.hashing import hash_key
from triplestore.terms.segment import TermSegment
from triplestore.terms.spans import spans_of_keys
from triplestore.terms.thresholds import TERMS

with_fixture = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
some_keys = st.lists(some.keys, unique=True, min_size=1, max_size=30)


def check_segment(segment, first_id, keys, absent):
    ids = np.arange(first_id, first_id + len(keys), dtype=np.uint32)
    assert (segment.first_id, segment.last_id, segment.count) == (first_id, ids[-1], len(keys))
    assert [segment.key(i) for i in ids.tolist()] == keys
    assert segment.keys(first_id, segment.last_id) == keys
    assert [segment.find(key[0], key[1:]) for key in keys] == ids.tolist()
    assert not any(segment.find(key[0], key[1:]) for key in absent)
    asked = keys[::-1] + absent + keys
    out = np.zeros(len(asked), np.uint32)
    segment.find_many(spans_of_keys(asked), out)
    assert out.tolist() == [*ids[::-1].tolist(), *[0] * len(absent), *ids.tolist()]
    mixed = np.concatenate([ids[::-1], ids])
    assert segment.kinds_of(mixed).tolist() == [key[0] for key in keys[::-1] + keys]
    lengths = segment.lengths_of(mixed)
    texts = np.zeros(int(lengths.sum()), np.uint8)
    segment.copy_texts(mixed, texts, np.cumsum(lengths) - lengths)
    assert texts.tobytes() == b"".join(key[1:] for key in keys[::-1] + keys)


@with_fixture
@given(keys=some_keys, absent=some_keys, first_id=st.sampled_from([1, 77, 0xEFFFFF00]))
def test_segment__is_its_keys(either_way, keys, absent, first_id):
    absent = [key for key in absent if key not in keys]
    segment = TermSegment.from_keys(first_id, keys)
    check_segment(segment, first_id, keys, absent)
    check_segment(reopened(segment), first_id, keys, absent)


@with_fixture
@given(keys=some_keys, absent=some_keys, bits=st.sampled_from([0, 1, 3]))
def test_segment__weak_hashes_change_nothing(either_way, keys, absent, bits):
    with pytest.MonkeyPatch.context() as patch:
        weaken_hashes(patch, bits)
        absent = [key for key in absent if key not in keys]
        check_segment(TermSegment.from_keys(5, keys), 5, keys, absent)


@with_fixture
@given(keys=some_keys, cuts=st.lists(st.integers(0, 30), max_size=4), first_id=st.integers(1, 99))
def test_merge__is_the_segment_of_all_keys(either_way, keys, cuts, first_id):
    bounds = sorted({0, len(keys), *(cut for cut in cuts if cut < len(keys))})
    parts = [
        TermSegment.from_keys(first_id + lo, keys[lo:hi]) for lo, hi in itertools.pairwise(bounds)
    ]
    check_segment(TermSegment.merge(parts), first_id, keys, [])


def test_merge__refuses_segments_that_are_not_adjacent():
    parts = [TermSegment.from_keys(first, [b"\x01%d" % first]) for first in (1, 3)]
    with pytest.raises(AssertionError, match="not adjacent"):
        TermSegment.merge(parts)


def test_find_many__leaves_what_was_found_before():
    segment = TermSegment.from_keys(1, [b"\x01a", b"\x01b"])
    out = np.array([9, 0, 0], np.uint32)
    segment.find_many(spans_of_keys([b"\x01a", b"\x01b", b"\x01c"]), out)
    assert out.tolist() == [9, 2, 0]


def test_find__kind_and_length_count():
    segment = TermSegment.from_keys(1, [b"\x01a", b"\x03a", b"\x03a\0", b"\x03"])
    assert [segment.find(k, t) for k, t in [(1, b"a"), (3, b"a"), (3, b"a\0"), (3, b"")]] == [
        1,
        2,
        3,
        4,
    ]
    assert segment.find(2, b"a") == segment.find(3, b"a\0\0") == segment.find(1, b"") == 0


@pytest.fixture(scope="module")
def large():
    keys = [b"\x01http://example.org/thing/%06d" % n for n in range(60_000)]
    return keys, TermSegment.from_keys(1, keys)


def guarded(made):
    sections, _ = stored(made)
    guards = {name: NotingGuard() for name in sections}
    segment = TermSegment.from_sections(
        made.first_id, made.count, lambda name: Column(sections[name], guards[name])
    )
    return segment, guards


def test_segment__opening_touches_nothing_and_one_look_up_little(large):
    keys, made = large
    segment, guards = guarded(made)
    assert not any(guard.blocks for guard in guards.values())
    assert segment.find(1, keys[41_234][1:]) == 41_235
    assert segment.key(50_000) == keys[49_999]
    assert segment.find(1, b"http://example.org/absent") == 0
    touched = {name: len(guard.blocks) for name, guard in guards.items()}
    assert 1 <= touched["slots"] <= 4
    assert 1 <= touched["texts"] <= 4
    assert 1 <= touched["offsets"] <= 4
    assert 1 <= touched["kinds"] <= 2


@pytest.mark.parametrize("rows", [0, 1 << 60])
def test_find_many__verifies_the_blocks_it_needs_and_no_others(large, tune, rows):
    tune(TERMS, warm_rows=rows, cold_rows=rows, found_singly=2)
    keys, made = large
    segment, guards = guarded(made)
    asked = [*keys[30_000:30_005], b"\x01http://example.org/absent"]
    out = np.zeros(len(asked), np.uint32)
    segment.find_many(spans_of_keys(asked), out)
    assert out.tolist() == [*range(30_001, 30_006), 0]
    touched = {name: len(guard.blocks) for name, guard in guards.items()}
    assert 1 <= touched["slots"] <= 2 * len(asked)
    assert 1 <= touched["texts"] <= 2
    assert 1 <= touched["offsets"] <= 2
    assert 1 <= touched["kinds"] <= 2


def test_of_kind__gives_ids_of_one_kind_above_another_id(tune):
    tune(TERMS, piece_rows=7)
    keys = [b"%c%d" % (1 + n % 3, n) for n in range(40)]
    segment = TermSegment.from_keys(5, keys)
    for since in (0, 4, 5, 17, 44, 60):
        found = [i for block in segment.of_kind(3, since) for i in block.tolist()]
        assert found == [i for i, key in enumerate(keys, 5) if key[0] == 3 and i > since]


def test_copy_texts__verifies_the_blocks_it_reads_and_no_others(large):
    keys, made = large
    segment, guards = guarded(made)
    ids = np.array([3, 30_000, 30_001, 59_999], np.uint32)
    lengths = segment.lengths_of(ids)
    out = np.zeros(int(lengths.sum()), np.uint8)
    segment.copy_texts(ids, out, np.cumsum(lengths) - lengths)
    assert out.tobytes() == b"".join(keys[i - 1][1:] for i in ids)
    size = len(keys[0]) - 1
    wanted = {place // BLOCK for i in ids.tolist() for place in (size * (i - 1), size * i - 1)}
    assert guards["texts"].blocks == wanted


def test_copy_texts__verifies_every_block_of_a_long_text():
    keys = [b"\x03a", b"\x03" + b"long" * 50_000, b"\x03b"]
    segment, guards = guarded(TermSegment.from_keys(1, keys))
    out = np.zeros(200_000, np.uint8)
    segment.copy_texts(np.array([2], np.uint32), out, np.array([0]))
    assert out.tobytes() == keys[1][1:]
    assert guards["texts"].blocks == set(range(200_001 // BLOCK + 1))


BLOCK = 32768


@pytest.mark.parametrize("name", ["kinds", "offsets", "slots"])
def test_from_sections__lengths_that_do_not_fit_are_refused(name):
    made = TermSegment.from_keys(4, [b"\x01a", b"\x01b"])
    sections, get = stored(made)
    sections[name] = sections[name][:-2]
    with pytest.raises(CorruptError, match="2 terms from id 4"):
        TermSegment.from_sections(4, 2, get)


def test_segment__arrays_are_frozen():
    segment = TermSegment.from_keys(1, [b"\x01a"])
    assert not any(array.flags.writeable for array in segment.sections().values())


def test_segment__size_is_in_budget():
    """At most 1.3 times the bytes of the terms and 24 bytes a term (here: the shortest IRIs)."""
    keys = [b"\x01http://ex.org/%d" % n for n in range(20_000)]
    segment = TermSegment.from_keys(1, keys)
    assert segment.nbytes <= 1.3 * segment.text_bytes + 24 * segment.count
    assert segment.nbytes <= segment.text_bytes + 20.5 * segment.count + 1000


def test_find__equal_hashes_are_told_apart_by_bytes():
    """Two texts made to have the same full hash: the polynomial's coefficients can be solved."""
    from triplestore.terms.hashing import MIX, STEP

    def unmix(mixed):
        word = mixed ^ (mixed >> 29) ^ (mixed >> 58)
        word = word * pow(MIX, -1, 1 << 64) % (1 << 64)
        return word ^ (word >> 32)

    def text(first, second):
        return b"".join(unmix(m % (1 << 64)).to_bytes(8, "little") for m in (first, second))

    keys = [b"\x03" + text(7 + n, 1 - n * STEP) for n in range(5)]
    assert len(set(keys)) == 5 and len({hash_key(key) for key in keys}) == 1
    check_segment(TermSegment.from_keys(1, keys[:3]), 1, keys[:3], keys[3:])
