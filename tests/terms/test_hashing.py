"""The hash has three forms (plain Python, numpy, kernel helper): they must agree on every input."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from triplestore.kernels.jit import kernel
from triplestore.kernels.terms.hashing import big_word, hash_bytes, little_word, slot_of
from triplestore.terms import hashing
from triplestore.terms.thresholds import TERMS

TEXT = st.binary(max_size=60) | st.integers(0, 70_000).map(lambda n: bytes(range(256)) * (n // 256))
KIND = st.integers(1, 6)


@kernel("void(u8r, i64r, i64r, u8r, u64w)")
def hash_all(buf, starts, stops, kinds, out):
    for i in range(starts.size):
        out[i] = hash_bytes(kinds[i], buf, starts[i], stops[i])


@kernel("void(u8r, i64r, u64w, u64w)")
def words_at(buf, starts, little, big):
    for i in range(starts.size):
        little[i] = little_word(buf, np.uint64(starts[i]))
        big[i] = big_word(buf, np.uint64(starts[i]))


@kernel("void(u64r, u64, u64w)")
def slots_of(hashes, slots, out):
    for i in range(hashes.size):
        out[i] = slot_of(hashes[i], slots)


def laid_out(texts, gap=3):
    """The texts in one buffer, at odd places, with bytes between them that must not matter."""
    parts, starts, at = [], [], 0
    for n, text in enumerate(texts):
        filler = bytes([255 - n % 7]) * (gap + n % 5)
        starts.append(at + len(filler))
        parts += [filler, text]
        at += len(filler) + len(text)
    buf = np.frombuffer(b"".join(parts), np.uint8)
    return buf, np.array(starts, np.int64), np.array([len(t) for t in texts], np.int64)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(KIND, TEXT), max_size=30))
def test_hash__three_forms_agree(terms):
    buf, starts, lengths = laid_out([text for _, text in terms])
    kinds = np.array([kind for kind, _ in terms], np.uint8)
    expected = [hashing.hash_text(kind, text) for kind, text in terms]
    out = np.zeros(len(terms), np.uint64)
    hash_all(buf, starts, starts + lengths, kinds, out)
    assert out.tolist() == expected
    assert hashing.hash_texts(buf, starts, lengths, kinds).tolist() == expected


def test_hash__long_text_is_the_same_in_pieces_and_word_by_word(tune):
    text = bytes(np.random.default_rng(7).integers(0, 256, 10_007, dtype=np.uint8))
    whole = hashing.hash_text(3, text)
    tune(TERMS, hashed_words=13)
    assert hashing.hash_text(3, text) == whole
    tune(TERMS, long_text=1 << 30)
    assert hashing.hash_text(3, text) == whole


def test_hash__is_fixed_for_ever():
    """Slots on disk are made from it: whoever changes it must raise the format version."""
    texts = [b"", b"a", b"12345678", b"http://example.org/", b"x" * 2000]
    assert [hashing.hash_text(kind, text) for kind, text in enumerate(texts, 1)] == FIXED


FIXED = [
    11286133854226296554,
    1108791382428719883,
    6581996883004059776,
    7336567144682631726,
    7549271254864999740,
]


def test_hash__sees_kind_length_and_zero_bytes():
    keys = [b"\x01", b"\x02", b"\x01\0", b"\x01\0\0", b"\x01a", b"\x01a\0", b"\x01" + b"\0" * 8]
    assert len({hashing.hash_key(key) for key in keys}) == len(keys)


def test_hash__spreads_numbered_iris_evenly():
    hashes = [hashing.hash_key(b"\x01http://example.org/item/%d" % n) for n in range(20_000)]
    assert len({h & 0xFFFFFFFF for h in hashes}) > 19_990
    slots = np.bincount([hashing.slot_of(h, 256) for h in hashes], minlength=256)
    assert slots.min() > 78 / 2 and slots.max() < 78 * 2


@given(st.lists(st.integers(0, 2**64 - 1)), st.integers(1, 2**32 - 1))
def test_slot_of__agrees_and_is_in_range(hashes, slots):
    out = np.zeros(len(hashes), np.uint64)
    slots_of(np.array(hashes, np.uint64), np.uint64(slots), out)
    assert out.tolist() == [hashing.slot_of(h, slots) for h in hashes]
    assert all(0 <= slot < slots for slot in out.tolist())


@given(st.binary(min_size=8, max_size=40))
def test_words__are_what_int_from_bytes_says(text):
    starts = np.arange(len(text) - 7, dtype=np.int64)
    little, big = np.zeros(len(starts), np.uint64), np.zeros(len(starts), np.uint64)
    words_at(np.frombuffer(text, np.uint8), starts, little, big)
    pieces = [text[i : i + 8] for i in starts]
    assert little.tolist() == [int.from_bytes(piece, "little") for piece in pieces]
    assert big.tolist() == [int.from_bytes(piece, "big") for piece in pieces]
