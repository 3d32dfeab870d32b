"""What an algorithm did: the rule instances it considered, by phase, and the sets it ended with.

Start at `Report`. The phases are the lines of the papers' algorithms in which instances are
considered (*revisited*, 10.2 counts by them); what a phase is called here stands beside its lines:

    phase               counting   DRed   FBF, B/F   DRed^c   B/F^c
    overdelete lower               46     68         75, 77   105, 107
    overdelete                     50     75         82       114
    check                                 81                  119
    prove nonrecursive                    88
    prove                                 94                  131
    rederive                       42     64
    insert lower                   53     53         87, 89   135, 137
    insert                         58     58         95       142
    remove lower        23
    remove              36
    add lower           24
    add                 37

(*Revisited*, algorithms 3 to 5; *thesis*, algorithms 4 and 5; see DESIGN.md.) "Lower" are the
instances that changes of lower strata touch; "derive lower" and "derive" are semi-naive evaluation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tests.reference.facts import Fact
from tests.reference.matching import Instance, repeated

Phase: TypeAlias = Literal[
    "derive lower",
    "derive",
    "overdelete lower",
    "overdelete",
    "check",
    "prove nonrecursive",
    "prove",
    "rederive",
    "insert lower",
    "insert",
    "remove lower",
    "remove",
    "add lower",
    "add",
]

OVERDELETION: tuple[Phase, ...] = ("overdelete lower", "overdelete")
PROVING: tuple[Phase, ...] = ("prove nonrecursive", "prove")
INSERTION: tuple[Phase, ...] = ("insert lower", "insert")
REMOVAL: tuple[Phase, ...] = ("remove lower", "remove")
ADDITION: tuple[Phase, ...] = ("add lower", "add")


@dataclass
class Report:
    """The work of one materialisation or one update, over all strata.

    instances  phase -> the rule instances considered, in order
    fetched    phase -> facts found for atoms; `matched`: those of them in the set asked for
    deleted, added               the papers' D and A: what holds now is (I minus D) and A
    checked, proved, delayed, blocked  their C, P, Y, B: of the backward search
    rederived                    their R: overdeleted facts that hold at once
    after_deletion               fact -> (C_nr, C_r) when the overdeletion of its stratum was done,
                                 for the facts whose counters were touched before
    """

    instances: dict[Phase, list[Instance]] = field(default_factory=dict)
    fetched: Counter[Phase] = field(default_factory=Counter)
    matched: Counter[Phase] = field(default_factory=Counter)
    deleted: set[Fact] = field(default_factory=set)
    added: set[Fact] = field(default_factory=set)
    checked: set[Fact] = field(default_factory=set)
    proved: set[Fact] = field(default_factory=set)
    delayed: set[Fact] = field(default_factory=set)
    blocked: set[Fact] = field(default_factory=set)
    rederived: set[Fact] = field(default_factory=set)
    after_deletion: dict[Fact, tuple[int, int]] = field(default_factory=dict)

    def of(self, *phases: Phase) -> list[Instance]:
        """The instances of some phases, all if none are named."""
        return [one for phase in phases or self.instances for one in self.instances.get(phase, ())]

    def count(self, *phases: Phase) -> int:
        """How many instances some phases considered."""
        return len(self.of(*phases))

    def repeated(self, *phases: Phase) -> dict[Instance, int]:
        """Instances that these phases together considered more than once."""
        return repeated(self.of(*phases))

    def summary(self) -> str:
        """The counts of all phases that considered something, in one line."""
        counts = [f"{phase} {len(found)}" for phase, found in self.instances.items() if found]
        return ", ".join(counts) or "no instances"


def without_views(facts: Iterable[Fact]) -> set[Fact]:
    """Facts without the rows of views."""
    return {fact for fact in facts if fact[0] != "v"}
