"""Stretches against the keys of the terms: within one, ids compare as keys do."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.terms import strategies as some
from tests.terms.support import reopened
from triplestore.terms import Dictionary, TermSegment
from triplestore.terms.dictionary import FIRST_QUERY_ID
from triplestore.terms.thresholds import TERMS

with_fixture = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
parts_of_keys = st.lists(
    st.tuples(st.lists(some.keys, min_size=1, max_size=12), st.booleans()), min_size=1, max_size=4
)


def dictionary_of(parts: list[tuple[list[bytes], bool]]) -> Dictionary:
    """A dictionary with a segment for each list of keys, sorted or as they are."""
    segments: list[TermSegment] = []
    seen: set[bytes] = set()
    first = 1
    for listed, is_sorted in parts:
        keys = [key for key in dict.fromkeys(listed) if key not in seen]
        if keys:
            seen.update(keys)
            segments.append(TermSegment.from_keys(first, sorted(keys) if is_sorted else keys))
            first += len(keys)
    return Dictionary(segments)


@with_fixture
@given(parts=parts_of_keys, live=st.lists(some.keys, max_size=4))
def test_stretches__have_one_kind_and_increase(either_way, tune, parts, live) -> None:
    tune(TERMS, piece_rows=3)
    dictionary = dictionary_of(parts)
    sealed = dictionary.size
    dictionary.encode_keys(live)
    stretches = dictionary.stretches
    ends = [*stretches.firsts.tolist()[1:], FIRST_QUERY_ID]
    for first, stop, kind in zip(stretches.firsts.tolist(), ends, stretches.kinds, strict=True):
        keys = [dictionary.key(i) for i in range(max(first, 1), min(stop, dictionary.size + 1))]
        if kind:
            assert {key[0] for key in keys} == {kind}
            assert all(one < other for one, other in pairwise(keys))
        else:
            assert first in (0, sealed + 1)
    ids = np.arange(dictionary.size + 2, dtype=np.uint32)
    numbers = stretches.numbers(ids)
    assert numbers.tolist() == [sum(i >= first for first in stretches.firsts) - 1 for i in ids]
    for number in set(numbers.tolist()):
        own = ids[numbers == number]
        assert stretches.whole(own[::-1]) == number
        assert stretches.between(own) == (stretches.kinds[number],)
    assert stretches.between(ids[1:]) == stretches.kinds[1 if dictionary.size else 0 :]


@with_fixture
@given(parts=parts_of_keys)
def test_stretches__are_stored_and_found_again(either_way, parts) -> None:
    for segment in dictionary_of(parts).segments:
        assert reopened(segment).stretches() == segment.stretches()


def test_stretches__of_terms_in_no_order_are_not_noted(either_way, tune) -> None:
    tune(TERMS, most_stretches=3)
    keys = [b"\1d", b"\1c", b"\1b", b"\1a"]
    assert TermSegment.from_keys(5, keys[:3]).stretches() == [(5, 1), (6, 1), (7, 1)]
    assert TermSegment.from_keys(5, keys).stretches() == [(5, 0)]


def test_stretches__of_a_loaded_file_are_its_kinds(tmp_path) -> None:
    from triplestore import Store

    path = tmp_path / "store"
    with Store(path) as store:
        store.load('_:b <http://p> "b"@en, "a", 7, 6 .', "turtle")
        made = store._database.dictionary.stretches
    with Store.read_only(path) as store:
        assert store._database.dictionary.stretches.kinds == made.kinds


def test_segment__of_an_older_file_has_unknown_stretches(tmp_path, monkeypatch) -> None:
    from triplestore.storage import state
    from triplestore.storage.files.sections import SectionFile
    from triplestore.storage.files.system import RealFiles
    from triplestore.terms import segment as module

    segment = TermSegment.from_keys(1, [b"\1a", b"\1b"])
    sections = TermSegment.sections

    def older(self: TermSegment) -> dict[str, np.ndarray]:
        return {k: v for k, v in sections(self).items() if k != module.STRETCHES}

    with monkeypatch.context() as patch:
        patch.setattr(TermSegment, "sections", older)
        state.write_terms(RealFiles(), tmp_path / "terms", segment)
    found = state.segment_of(SectionFile(RealFiles(), tmp_path / "terms"))
    assert (found.keys(1, 2), found.stretches()) == ([b"\1a", b"\1b"], [(1, 0)])


@pytest.mark.parametrize("parts", [[1], [2, 3], [2, 0, 1]])
def test_bulk_load__makes_stretches_of_its_new_terms(parts) -> None:
    from triplestore.terms.collector import TermCollector
    from triplestore.terms.spans import spans_of_keys

    dictionary = Dictionary()
    for number in parts:
        collector = TermCollector(dictionary)
        keys = [b"\3x%d" % i for i in range(number, 5)] + [b"\1y%d" % i for i in range(5)]
        collector.add(*spans_of_keys(keys[::-1]))
        _, segment = collector.seal(1)
        if segment is not None:
            dictionary.add_segment(segment)
            assert (
                segment.stretches()
                == TermSegment.from_keys(
                    segment.first_id, segment.keys(segment.first_id, segment.last_id)
                ).stretches()
            )
