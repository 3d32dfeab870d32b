"""The rules that two programs share, and those that only one of them has.

Start reading at `ProgramDifference`. Rules are the same if they differ only in names of variables.
An axiom at the bottom of one program (see `subclass_pairs`) equals the same rule of the other.
"""

from __future__ import annotations

import numpy as np

from triplestore.relations.facts.sorted_arrays import sorted_distinct, without
from triplestore.relations.packed_keys import NO_KEYS, U64, in_sorted, pack
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.subclass_rules import copied_class, names_of


class ProgramDifference:
    """The difference of two compiled programs of the same dictionary.

    kept         rules that stay, by their numbers before and after; without those of a bottom
    raised       rules of the old bottom that are ordinary rules now, by their numbers after
    lowered      ordinary rules that are at the bottom now, by their numbers before
    gone, fresh  removed rules, by their numbers before; and new rules, by their numbers after
    gone_pairs, fresh_pairs  axioms of the bottom that are removed, and that are new
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
    """The given rules of a program that are subclass axioms among sorted pairs; and their pairs."""
    chosen = [i for i in numbers if copied_class(compiled.rules[i])] if len(keys) else []
    if not chosen:
        return set(), NO_KEYS
    names = [name for i in chosen for name in names_of(compiled.rules[i])]
    ids = compiled.ids_of(names)
    pairs = pack(np.ascontiguousarray(ids[::2]), np.ascontiguousarray(ids[1::2]))
    found = in_sorted(pairs, keys)
    return set(np.array(chosen)[found].tolist()), sorted_distinct(pairs[found])
