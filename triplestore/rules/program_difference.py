"""Which rules two programs share, and which one of them has only.

Start reading at `ProgramDifference`. Rules are the same if only names of variables differ; an axiom
that is at the bottom of one program (see `subclass_pairs`) equals the same rule of the other.
"""

from __future__ import annotations

import numpy as np

from triplestore.relations.facts.sorted_arrays import sorted_distinct, without
from triplestore.relations.packed_keys import NO_KEYS, U64, in_sorted, pack
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.subclass_rules import copied_class, names_of


class ProgramDifference:
    """What is to be done to come from one compiled program to another of the same dictionary.

    kept         rules that stay, by their numbers before and after; those that were or are at the
                 bottom are not among them
    raised       rules that were at the bottom and stay as rules like others, by their numbers after
    lowered      rules like others that stay, at the bottom; by their numbers before
    gone, fresh  rules that go, by their numbers before; and that come, by their numbers after
    gone_pairs, fresh_pairs  axioms of the bottom that go and come
    """

    def __init__(self, previous: Compiled, compiled: Compiled) -> None:
        before, after = previous.signatures, compiled.signatures
        had, has = _bottom(previous), _bottom(compiled)
        self.kept = [(before[key], i) for key, i in after.items() if key in before]
        only_after = [i for key, i in after.items() if key not in before]
        only_before = [i for key, i in before.items() if key not in after]
        raised, pairs_raised = _among(had, compiled, only_after)
        lowered, pairs_lowered = _among(has, previous, only_before)
        self.raised, self.lowered = raised, lowered
        self.fresh = [i for i in only_after if i not in raised]
        self.gone = [i for i in only_before if i not in lowered]
        self.fresh_pairs = without(without(has, had), pairs_lowered)
        self.gone_pairs = without(without(had, has), pairs_raised)


def _bottom(compiled: Compiled) -> U64:
    return NO_KEYS if compiled.bottom is None else compiled.bottom.keys


def _among(keys: U64, compiled: Compiled, numbers: list[int]) -> tuple[set[int], U64]:
    """Those of some rules of a program that are sub-class axioms among sorted pairs; these."""
    chosen = [i for i in numbers if copied_class(compiled.rules[i])] if len(keys) else []
    if not chosen:
        return set(), NO_KEYS
    names = [name for i in chosen for name in names_of(compiled.rules[i])]
    ids = compiled.ids_of(names)
    pairs = pack(np.ascontiguousarray(ids[::2]), np.ascontiguousarray(ids[1::2]))
    found = in_sorted(pairs, keys)
    return set(np.array(chosen)[found].tolist()), sorted_distinct(pairs[found])
