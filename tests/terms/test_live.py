"""Many texts of live terms at once: the same as one by one, whatever was taken back since."""

from __future__ import annotations

import random

import numpy as np
import pytest

from triplestore.terms import spans
from triplestore.terms.dictionary import Dictionary


def texts(dictionary: Dictionary, ids: list[int]) -> list[bytes]:
    buf, offsets, kinds = dictionary.text(np.array(ids, np.uint32))
    assert kinds.tolist() == dictionary.kinds(np.array(ids, np.uint32)).tolist()
    raw, ends = buf.tobytes(), offsets.tolist()
    return [
        bytes([kind]) + raw[start:end]
        for kind, start, end in zip(kinds.tolist(), ends, ends[1:], strict=False)
    ]


def test_texts__also_of_terms_added_and_taken_back_since() -> None:
    rng = random.Random("live")
    dictionary, keys = Dictionary(), [b""]
    for _ in range(60):
        size = dictionary.size
        if rng.random() < 0.4 and size:
            mark = rng.randrange(size + 1)
            dictionary.truncate(mark)
            del keys[mark + 1 :]
        new = [b"\x03%d %s" % (rng.randrange(10**9), b"x" * rng.randrange(50)) for _ in range(20)]
        dictionary.encode_keys(new)
        keys += new
        assert dictionary.size == len(keys) - 1
        for _ in range(3):
            ids = [rng.randrange(1, len(keys)) for _ in range(rng.randrange(1, 80))]
            assert texts(dictionary, ids) == [keys[i] for i in ids]


@pytest.mark.parametrize("longest", [40, 5000])
def test_copy_without_kernels__short_and_long_texts_to_any_places(longest: int) -> None:
    rng = np.random.default_rng(longest)
    lengths = rng.integers(0, longest, 700)
    buf = rng.integers(0, 256, int(lengths.sum()) + 1).astype(np.uint8)
    starts = np.cumsum(lengths) - lengths
    order = rng.permutation(len(lengths))
    places = np.empty(len(lengths), np.int64)
    places[order] = np.cumsum(lengths[order]) - lengths[order]
    out = np.zeros(int(lengths.sum()), np.uint8)
    spans._copy_without_kernels(buf, starts, lengths, out, places)
    for start, length, place in zip(starts, lengths, places, strict=True):
        assert (out[place : place + length] == buf[start : start + length]).all()
