"""How many facts each rule concludes: for reports, on demand.

Start reading at `facts_by_rule`. All rules are evaluated once over the facts that hold, as `verify`
does; so it costs what a first closure costs. A fact that several rules conclude counts for each.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from triplestore.maintenance.update_state import Work
from triplestore.proofs.concluding_instances import columns_in, rules_of
from triplestore.reasoning.reasoner import compile_to_read
from triplestore.relations.packed_keys import I64, U64, pack
from triplestore.relations.views.equality import reasoned
from triplestore.rules.families import Family
from triplestore.thread_limits import look

if TYPE_CHECKING:
    from triplestore.reasoning.readable_state import ReadableState
    from triplestore.rules.compiled_program import Compiled


def facts_by_rule(view: ReadableState) -> dict[str, int]:
    """Name of a rule -> how many facts it concludes, most first; rules without names are left out.

    Where expressions were unfolded a fact counts for each id in the name of the rule. Rules that
    aggregate and internal relations are left out.
    """
    rules = view.rules()
    if rules is None:
        return {}
    compiled, terms = compile_to_read(rules, view.dictionary)
    work = Work(compiled, reasoned(view.tables), terms)
    found: dict[tuple[str, object], list[U64]] = {}
    for family in compiled.strata.families:
        look("counting the facts of rules")
        if family.summary is None and isinstance(family.head.relation, int):
            _count(work, compiled, family, found)
    counts: Counter[str] = Counter()
    for (name, _), parts in found.items():
        counts[name] += len(np.unique(np.concatenate(parts)))
    return dict(counts.most_common())


def _count(
    work: Work, compiled: Compiled, family: Family, found: dict[tuple[str, object], list[U64]]
) -> None:
    """Add the facts that the rules of a family conclude, by name and property."""
    rows, n = work.run.whole(family, work.old(), "counting")
    if n == 0:
        return
    columns = columns_in(family.head, rows, n)
    numbers = rules_of(family, rows, n)
    facts: list[tuple[object, U64, I64]] = []
    if len(columns) == 3:  # any property: a fact is told by all three
        pairs = pack(columns[0], columns[2])
        for one in _each(columns[1]):
            mine = columns[1] == one
            facts.append((one, pairs[mine], numbers[mine]))
    else:
        facts.append((family.head.relation, pack(*columns), numbers))
    for property, keys, by in facts:
        for number in np.unique(by).tolist():
            own = np.unique(keys[by == number])
            for name in dict.fromkeys(compiled.rules[number].name.split(", ")):
                if name:
                    found.setdefault((name, property), []).append(own)


def _each(column: np.ndarray) -> list[int]:
    each: list[int] = np.unique(column).tolist()
    return each
