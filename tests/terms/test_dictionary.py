"""The dictionary: examples, errors, threads and what may not be imported."""

from __future__ import annotations

import subprocess
import sys
import threading
from types import FrameType

import numpy as np
import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.terms import strategies as some
from tests.terms.support import reopened
from triplestore.errors import StorageError
from triplestore.terms import dictionary as dictionary_module
from triplestore.terms.collector import TermCollector
from triplestore.terms.dictionary import FIRST_QUERY_ID, Dictionary
from triplestore.terms.segment import TermSegment
from triplestore.terms.spans import spans_of_keys
from triplestore.terms.term_keys import TRIPLE, key_of
from triplestore.terms.thresholds import TERMS
from triplestore.terms.values.xsd import XSD


@given(st.lists(some.terms, max_size=30))
def test_encode__terms_come_back(terms):
    dictionary = Dictionary()
    ids = dictionary.encode(terms)
    assert ids.dtype == np.uint32
    assert dictionary.terms(ids) == terms
    assert [dictionary.term(i) for i in ids.tolist()] == terms
    assert [dictionary.lookup(term) for term in terms] == ids.tolist()
    keys = set(map(key_of, terms))
    assert len(set(ids.tolist())) == len(keys)
    if all(key[0] != TRIPLE for key in keys):  # parts of triple terms are added
        assert sorted(set(ids.tolist())) == list(range(1, dictionary.size + 1))


def numbered(start, stop):
    return [b"\x01http://example.org/%d" % n for n in range(start, stop)]


def mixed_dictionary():
    """Terms in a segment, in one frozen from live terms, and in the live table."""
    dictionary = Dictionary([TermSegment.from_keys(1, numbered(0, 300))])
    dictionary.encode_keys(numbered(300, 400))
    dictionary.add_segment(TermSegment.from_keys(401, numbered(400, 500)))
    dictionary.encode_keys([*numbered(500, 700), b'\x057"^^<http://t>'])
    return dictionary


@pytest.mark.parametrize(("absent", "at_once"), [(3, 0), (3, 100), (1000, 100)])
def test_lookup__what_was_not_there_is_found_once_it_is(tune, absent, at_once):
    tune(TERMS, absent_keys=absent, remembered_keys=at_once)
    dictionary = mixed_dictionary()
    new = numbered(700, 720)
    for key in new * 2:
        assert dictionary.lookup_key(key) == 0
    some = [*numbered(90, 110), *new, *numbered(390, 410)]
    for _ in range(2):
        ids = dictionary.lookup_keys(some).tolist()
        assert ids == [*range(91, 111), *([0] * 20), *range(391, 411)]
    mark = dictionary.mark()
    assert dictionary.encode_keys(new).tolist() == dictionary.lookup_keys(new).tolist()
    assert dictionary.lookup_key(new[5]) == mark + 6
    dictionary.truncate(mark)
    assert not dictionary.lookup_keys(new).any()
    dictionary.add_segment(TermSegment.from_keys(mark + 1, new))
    assert [dictionary.lookup_key(key) for key in new] == list(range(mark + 1, mark + 21))
    dictionary.truncate(mark)
    assert [dictionary.lookup_key(key) for key in new] == [0] * 20


def test_kind__of_one_as_of_many():
    dictionary = mixed_dictionary()
    ids = np.arange(1, dictionary.size + 1, dtype=np.uint32)
    assert [dictionary.kind(i) for i in ids.tolist()] == dictionary.kinds(ids).tolist()


def test_text__of_any_ids_in_any_order(either_way):
    dictionary = mixed_dictionary()
    keys = [b"\0", *dictionary.new_keys(0, dictionary.size)]
    ids = np.random.default_rng(3).integers(0, len(keys), 5000).astype(np.uint32)
    for part in (ids, ids[:3], ids[:0], np.sort(ids), ids[(ids > 0) & (ids < 200)]):
        buf, offsets, kinds = dictionary.text(part)
        assert kinds.tolist() == [keys[i][0] for i in part]
        assert buf.tobytes() == b"".join(keys[i][1:] for i in part)
        assert np.diff(offsets).tolist() == [len(keys[i]) - 1 for i in part]
        assert dictionary.kinds(part).tolist() == kinds.tolist()
        terms = dictionary.terms(part)
        assert [term and key_of(term) for term in terms] == [keys[i] if i else None for i in part]


def test_text__of_a_broadcast_column():
    dictionary = mixed_dictionary()
    ids = np.broadcast_to(np.array([650], np.uint32), 100)
    assert dictionary.text(ids)[0].tobytes() == b"http://example.org/649" * 100
    assert len(dictionary.terms(ids)) == 100


def test_lookup_keys__few_and_many(either_way):
    dictionary = mixed_dictionary()
    keys = [*numbered(0, 700)[::-1], *numbered(10_000, 10_050), b'\x057"^^<http://t>']
    wanted = [*range(700, 0, -1), *[0] * 50, 701]
    assert dictionary.lookup_keys(keys).tolist() == wanted
    assert dictionary.lookup_keys(keys).tolist() == wanted
    assert [int(dictionary.lookup_keys([key])[0]) for key in keys] == wanted
    assert dictionary.lookup_keys([]).tolist() == []


@pytest.mark.parametrize("bad", [0, -1, 702, FIRST_QUERY_ID])
def test_key__an_id_that_no_term_has(bad):
    dictionary = mixed_dictionary()
    with pytest.raises(IndexError, match=f"no term has id {bad}"):
        dictionary.key(bad)
    with pytest.raises(IndexError, match=f"no term has id {bad}"):
        dictionary.term(bad)
    if bad > 0:
        with pytest.raises(IndexError, match=f"no term has id {bad}"):
            dictionary.text(np.array([1, bad], np.uint32))


def test_encode__beyond_the_last_id_is_refused_and_undone(monkeypatch):
    assert Dictionary.max_id == 0xEFFFFFFF
    monkeypatch.setattr(Dictionary, "max_id", 10)
    dictionary = Dictionary()
    dictionary.encode_keys(numbered(0, 7))
    with pytest.raises(StorageError, match=r"dictionary is full: 7 terms.*optimize"):
        dictionary.encode_keys(numbered(0, 12))
    assert dictionary.size == 7
    assert dictionary.lookup_keys(numbered(5, 9)).tolist() == [6, 7, 0, 0]
    assert dictionary.encode_keys(numbered(0, 10)).tolist() == list(range(1, 11))
    with pytest.raises(StorageError, match="dictionary is full"):
        dictionary.append_keys(11, [b"\x01x"])
    with pytest.raises(StorageError, match="dictionary is full"):
        dictionary.add_segment(TermSegment.from_keys(11, [b"\x01x"]))


class _Interrupt:
    """Raises KeyboardInterrupt, as Ctrl-C does, before the n-th line in the live tables."""

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self, frame: FrameType, event: str, argument: object) -> _Interrupt | None:
        if not frame.f_code.co_filename.endswith(("dictionary_state.py", "value_stack.py")):
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self


def test_interrupt__while_terms_are_added_or_taken_back_leaves_none_of_them():
    first = [ox.Literal("1"), ox.Literal("1", datatype=ox.NamedNode(XSD + "int"))]
    others = [ox.Literal(text, datatype=ox.NamedNode(XSD + "integer")) for text in ("1", "01", "2")]
    others += [ox.Literal("1"), ox.Literal("2", datatype=ox.NamedNode(XSD + "string")), *others]
    whole = Dictionary()
    wanted = whole.encode(first).tolist() + whole.encode(others).tolist()
    ids = np.arange(1, whole.size + 1, dtype=np.uint32)
    n, interrupted = 0, True
    while interrupted:
        n, interrupted = n + 1, False
        dictionary = Dictionary()
        before = dictionary.encode(first).tolist()
        sys.settrace(_Interrupt(n))
        try:
            dictionary.encode(others)
            dictionary.truncate(len(first))
        except KeyboardInterrupt:
            interrupted = True
        finally:
            sys.settrace(None)
        dictionary.truncate(len(first))  # as a transaction does that ends without a commit
        assert dictionary.size == len(first)
        assert before + dictionary.encode(others).tolist() == wanted
        assert dictionary.canonical(ids).tolist() == whole.canonical(ids).tolist()
    assert n > 100


def test_truncate__ids_taken_back_are_given_to_others(tune):
    tune(TERMS, live_terms=8)
    dictionary = Dictionary()
    dictionary.encode_keys(numbered(0, 20))
    mark = dictionary.mark()
    for round_ in range(3):
        new = [b"\x01round%d/%d" % (round_, n) for n in range(30)]
        ids = dictionary.encode_keys(new)
        assert [key_of(dictionary.term(i)) for i in ids.tolist()] == new  # fills the caches
        assert [dictionary.lookup(dictionary.term(i)) for i in ids.tolist()] == ids.tolist()
        dictionary.truncate(mark)
        assert dictionary.size == mark == 20
        assert not dictionary.lookup_keys(new).any()
    assert dictionary.lookup_keys(numbered(0, 21)).tolist() == [*range(1, 21), 0]
    assert dictionary.encode_keys([b"\x01z:"]).tolist() == [21]
    assert dictionary.term(21) == ox.NamedNode("z:")


def test_many_new_terms_at_once__are_what_single_ones_are(monkeypatch):
    monkeypatch.setattr(dictionary_module, "worth_kernels", lambda rows: True)
    few, many = Dictionary(), Dictionary()
    schema = XSD.encode()
    keys = [*numbered(0, 3000), *(b'\x05%d"^^<%sint>' % (n, schema) for n in range(3000))]
    others = [b'\x05%d.0"^^<%sdecimal>' % (n, schema) for n in range(-5, 3000, 7)]
    ids = [int(few.encode_keys([key])[0]) for key in [*keys[:10], *keys, *others, *others]]
    found = many.encode_keys(keys[:10]).tolist()
    found += many.encode_keys([*keys, *others, *others]).tolist()
    assert len(many.segments) and not len(few.segments)  # else nothing here is about sealing
    assert found == ids
    every = np.arange(1, few.size + 1, dtype=np.uint32)
    assert (many.canonical(every) == few.canonical(every)).all()
    assert (many.canonical(every) != every).any()
    for one, other in zip(many.values(every), few.values(every), strict=True):
        assert (one == other).all()
    assert many.new_keys(0, many.size) == few.new_keys(0, few.size)


def test_add_segment__and_others_refuse_gaps():
    dictionary = Dictionary()
    with pytest.raises(AssertionError, match="does not follow"):
        dictionary.add_segment(TermSegment.from_keys(2, [b"\x01a"]))
    with pytest.raises(AssertionError, match="do not follow"):
        dictionary.append_keys(2, [b"\x01a"])
    with pytest.raises(AssertionError, match="should begin with id 1"):
        Dictionary([TermSegment.from_keys(2, [b"\x01a"])])
    with pytest.raises(AssertionError, match="goes beyond"):
        dictionary.replace([], TermSegment.from_keys(1, [b"\x01a"]))


def test_replace__refuses_a_segment_it_does_not_have():
    dictionary = mixed_dictionary()
    stranger = TermSegment.from_keys(1, numbered(0, 300))
    with pytest.raises(AssertionError, match="does not replace"):
        dictionary.replace([stranger], stranger)
    mine = dictionary.segments[0]
    dictionary.replace([mine], stranger)
    assert dictionary.segments[0] is stranger


def test_values__of_segments_and_live_terms():
    integer = ox.NamedNode(some.XSD + "integer")
    decimal = ox.NamedNode(some.XSD + "decimal")
    terms = [ox.Literal("1", datatype=integer), ox.Literal("01", datatype=integer), ox.Literal("1")]
    later = [ox.Literal("1.0", datatype=decimal), ox.Literal("2.5", datatype=decimal)]
    dictionary = Dictionary()
    dictionary.encode(terms)
    dictionary.replace([], reopened(dictionary.segment_of(1, 3)))
    dictionary.encode(later)
    ids = np.arange(6, dtype=np.uint32)[1:]
    assert dictionary.canonical(ids).tolist() == [1, 1, 3, 1, 5]
    assert dictionary.values(ids).doubles[[0, 1, 3, 4]].tolist() == [1, 1, 1, 2.5]
    dictionary.replace([], reopened(dictionary.segment_of(4, 5)))
    assert dictionary.canonical(ids).tolist() == [1, 1, 3, 1, 5]
    assert dictionary.value_stack.tables == tuple(s.values for s in dictionary.segments)


def integer_key(lexical):
    return b'\x05%b"^^<http://www.w3.org/2001/XMLSchema#integer>' % lexical


def test_values__of_terms_taken_back_are_forgotten():
    dictionary = Dictionary()
    dictionary.encode_keys([integer_key(b"1"), integer_key(b"01")])
    dictionary.truncate(0)
    dictionary.encode_keys([b"\x01http://a", b"\x01http://b", integer_key(b"+1")])
    ids = np.array([1, 2, 3], np.uint32)
    assert (dictionary.values(ids).marks != 0).tolist() == [False, False, True]
    assert dictionary.canonical(ids).tolist() == [1, 2, 3]


def test_values__of_a_load_know_those_of_live_terms():
    dictionary = Dictionary()
    dictionary.encode_keys([b"\x01http://a", integer_key(b"1")])
    collector = TermCollector(dictionary)
    collector.add(*spans_of_keys([integer_key(b"01"), integer_key(b"2")]))
    _, segment = collector.seal()
    assert segment is not None
    dictionary.add_segment(segment)
    assert dictionary.canonical(np.array([1, 2, 3, 4], np.uint32)).tolist() == [1, 2, 2, 4]


def test_values__of_a_segment_with_no_bytes_at_all():
    dictionary = Dictionary()
    dictionary.encode_keys([b'\x05"^^<http://www.w3.org/2001/XMLSchema#token>'])
    dictionary.replace([], dictionary.segment_of(1, 1))
    dictionary.encode_keys([b"\x03"])
    dictionary.replace([], dictionary.segment_of(2, 2))
    assert dictionary.canonical(np.array([1, 2], np.uint32)).tolist() == [1, 1]


def test_readers__see_whole_terms_while_a_writer_appends(tune):
    tune(TERMS, live_terms=200)
    dictionary = Dictionary()
    keys = numbered(0, 6000)
    done = threading.Event()
    failures: list[str] = []

    def read(seed):
        source = np.random.default_rng(seed)
        while not done.is_set():
            size = dictionary.size
            if size == 0:
                continue
            ids = source.integers(1, size + 1, 40).astype(np.uint32)
            wanted = [keys[i - 1] for i in ids]
            if [dictionary.key(i) for i in ids.tolist()] != wanted:
                failures.append("key")
            if dictionary.lookup_keys(wanted).tolist() != ids.tolist():
                failures.append("lookup_keys")
            if dictionary.text(ids)[0].tobytes() != b"".join(key[1:] for key in wanted):
                failures.append("text")
            if dictionary.new_keys(0, size) != keys[:size]:
                failures.append("new_keys")

    def checkpoint():
        while not done.is_set():
            sealed = sum(s.count for s in checkpointed)
            if dictionary.size > sealed:
                made = dictionary.segment_of(sealed + 1, dictionary.size)
                dictionary.replace([], made)
                checkpointed.append(made)

    checkpointed: list[TermSegment] = []
    threads = [threading.Thread(target=read, args=(n,)) for n in range(2)]
    threads.append(threading.Thread(target=checkpoint))
    for thread in threads:
        thread.start()
    for n in range(0, len(keys), 10):
        assert dictionary.encode_keys(keys[n : n + 10]).tolist() == list(range(n + 1, n + 11))
    done.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert dictionary.lookup_keys(keys).tolist() == list(range(1, len(keys) + 1))


def test_dictionary__small_use_does_not_import_numba():
    script = """
import sys
import numpy as np
from triplestore.terms import Dictionary, TermSegment, key_of
from triplestore.checked_columns import Column
import pyoxigraph as ox
dictionary = Dictionary()
ids = dictionary.encode(ox.Literal(n) for n in range(3000))
made = dictionary.segment_of(1, 3000)
sections = made.sections()
made = TermSegment.from_sections(1, 3000, lambda name: Column.of(sections[name]))
opened = Dictionary([made])
assert opened.lookup(ox.Literal(77)) == 78
assert opened.term(78) == ox.Literal(77)
opened.append_keys(3001, [b"\\x01http://example.org/%d" % n for n in range(70_000)])
assert opened.encode([ox.Literal("new")]).tolist() == [73_001]
assert len(opened.terms(ids)) == 3000 and opened.canonical(ids[:5]).tolist() == [1, 2, 3, 4, 5]
assert len(opened.lookup_keys([key_of(ox.Literal(n)) for n in range(2000)])) == 2000
assert not {"numba", "rdflib", "pyspark"} & set(sys.modules), "something heavy was imported"
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_lookup__an_id_that_a_writer_gives_meanwhile_is_not_kept(monkeypatch):
    dictionary = mixed_dictionary()
    mark, new = dictionary.mark(), numbered(700, 720)[:3]
    asked = [*numbered(0, 30), *new]
    state = dictionary._state
    sealed = type(state).lookup_sealed

    def written_first(self, keys):  # between the look at the live table and that at segments
        monkeypatch.undo()
        dictionary.encode_keys(new)
        return sealed(self, keys)

    dictionary.lookup_keys(asked[:30])  # now only the new ones are unknown
    monkeypatch.setattr(type(state), "lookup_sealed", written_first)
    assert dictionary.lookup_keys(asked).tolist()[30:] in ([0] * 3, [mark + 1, mark + 2, mark + 3])
    dictionary.truncate(mark)
    assert dictionary.lookup_keys(asked).tolist()[30:] == [0] * 3
