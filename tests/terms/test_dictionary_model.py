"""The dictionary against a dict, under random schedules of everything that can happen to it.

Encoding, bulk loads that are kept or thrown away, transactions that abort, freezing of live terms,
checkpoints, merges and reopening come in any order; after each step every key must have the id the
model says, and every id its key and its canonical id.
"""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.terms import strategies as some
from tests.terms.support import reopened, weaken_hashes
from triplestore.terms.collector import TermCollector
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.segment import TermSegment
from triplestore.terms.spans import spans_of_keys
from triplestore.terms.thresholds import TERMS
from triplestore.terms.values.value_keys import same_value

# Few enough that they come again; many of them literals of the same value.
numbers = st.builds(
    lambda lexical, kind: b'\x05%b"^^<http://www.w3.org/2001/XMLSchema#%b>' % (lexical, kind),
    st.sampled_from([b"1", b"01", b"1.0", b"+1", b"2", b"x", b"true"]),
    st.sampled_from([b"integer", b"decimal", b"double", b"boolean", b"token", b"string-not"]),
)
key_lists = st.lists(
    numbers
    | st.sampled_from([b"\x031", b"\x03x", b"\x03", b'\x04x"@en', b"\x02b"])
    | st.integers(0, 40).map(lambda n: b"\x01http://example.org/%d" % n)
    | some.simple_keys,
    max_size=12,
)


class DictionaryMachine(RuleBasedStateMachine):
    """`keys` is the model: the key of id n + 1 is keys[n]."""

    @initialize(
        bits=st.sampled_from([0, 2, 61]),
        by_kernel=st.booleans(),
        sealed_from=st.sampled_from([1, 3, 1 << 60]),
    )
    def begin(self, bits, by_kernel, sealed_from):
        self.patch = pytest.MonkeyPatch()
        self.changes = ExitStack()
        rows = 0 if by_kernel else 1 << 60
        changed = TERMS.changed(
            live_terms=5,
            encoded_keys=7,
            sealed_batch=sealed_from,
            single_look_ups=3,
            warm_rows=rows,
            cold_rows=rows,
        )
        self.changes.enter_context(changed)
        weaken_hashes(self.patch, bits)
        self.dictionary = Dictionary()
        self.keys: list[bytes] = []
        self.stored: list[TermSegment] = []

    def teardown(self):
        if hasattr(self, "patch"):
            self.patch.undo()
            self.changes.close()

    def known(self):
        return {key: n for n, key in enumerate(self.keys, 1)}

    @property
    def stored_size(self):
        return sum(segment.count for segment in self.stored)

    @rule(keys=key_lists)
    def encode(self, keys):
        self.keys += [key for key in dict.fromkeys(keys) if key not in self.known()]
        known = self.known()
        assert self.dictionary.encode_keys(keys).tolist() == [known[key] for key in keys]

    @rule(keys=key_lists)
    def encode_and_abort(self, keys):
        mark = self.dictionary.mark()
        ids = self.dictionary.encode_keys(keys)
        assert [self.dictionary.key(i) for i in ids.tolist()] == keys
        self.dictionary.lookup_keys(keys)
        self.dictionary.truncate(mark)

    @rule(blocks=st.lists(key_lists, max_size=3), keep=st.booleans(), threads=st.integers(1, 2))
    def load(self, blocks, keep, threads):
        collector = TermCollector(self.dictionary)
        numbers = [collector.add(*spans_of_keys(block)) for block in blocks]
        ids, segment = collector.seal(threads)
        new = sorted({key for block in blocks for key in block} - set(self.keys))
        wanted = self.known() | {key: len(self.keys) + n for n, key in enumerate(new, 1)}
        for block, number in zip(blocks, numbers, strict=True):
            assert ids[number].tolist() == [wanted[key] for key in block]
        assert (segment is None) == (not new)
        if keep and segment is not None:
            self.dictionary.add_segment(segment)
            self.keys += new

    @rule(keys=key_lists)
    def replay(self, keys):
        new = [key for key in dict.fromkeys(keys) if key not in self.known()]
        self.dictionary.append_keys(len(self.keys) + 1, new)
        self.keys += new

    @precondition(lambda self: len(self.keys) > self.stored_size)
    @rule(data=st.data())
    def checkpoint(self, data):
        first = self.stored_size + 1
        last = data.draw(st.integers(first, len(self.keys)))
        made = reopened(self.dictionary.segment_of(first, last))
        self.dictionary.replace([], made)
        self.stored.append(made)

    @precondition(lambda self: len(self.stored) > 1)
    @rule(data=st.data())
    def merge(self, data):
        lo = data.draw(st.integers(0, len(self.stored) - 2))
        hi = data.draw(st.integers(lo + 2, len(self.stored)))
        made = reopened(TermSegment.merge(self.stored[lo:hi]))
        self.dictionary.replace(self.stored[lo:hi], made)
        self.stored[lo:hi] = [made]

    @rule()
    def reopen(self):
        self.stored = [reopened(segment) for segment in self.stored]
        rest = self.dictionary.new_keys(self.stored_size, len(self.keys))
        self.dictionary = Dictionary(self.stored)
        self.dictionary.append_keys(self.stored_size + 1, rest)

    @invariant()
    def is_the_model(self):
        if not hasattr(self, "dictionary"):
            return
        dictionary, keys = self.dictionary, self.keys
        ids = np.arange(1, len(keys) + 1, dtype=np.uint32)
        assert dictionary.mark() == dictionary.size == len(keys)
        assert dictionary.new_keys(0, len(keys)) == keys
        assert [dictionary.key(i) for i in ids.tolist()] == keys
        assert dictionary.lookup_keys(keys).tolist() == ids.tolist()
        assert [int(dictionary.lookup_keys([key])[0]) for key in keys] == ids.tolist()
        assert dictionary.kinds(ids).tolist() == [key[0] for key in keys]
        assert dictionary.text(ids)[0].tobytes() == b"".join(key[1:] for key in keys)
        absent = [key + b"!" for key in keys if key + b"!" not in keys]
        assert not dictionary.lookup_keys(absent).any()
        assert dictionary.canonical(ids).tolist() == [
            next(n for n, other in enumerate(keys, 1) if same_value(other, key)) for key in keys
        ]


TestDictionary = DictionaryMachine.TestCase
TestDictionary.settings = settings(max_examples=60, stateful_step_count=20)
