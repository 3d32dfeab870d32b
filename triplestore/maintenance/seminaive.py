"""Semi-naive evaluation, which is also the last phase of every maintenance algorithm.

*Revisited* and thesis, algorithm 1, lines 3 to 8, and procedure INSERT of all maintenance
algorithms: lines 52 to 58 of *revisited*, algorithm 4, which are lines 20 to 26 of thesis,
algorithm 2, 85 to 96 of algorithm 4 and 133 to 142 of algorithm 5. Both are one loop: to
materialise is to insert all explicit facts where nothing held before, so D is empty, and I - D + A
is what has been derived so far. The papers are named in `steps/protocol`.

Ours deviates as follows. All rules fire on lower strata first, not only nonrecursive ones (in
algorithm 1 as well: an atom with a variable property may match facts of several strata). Closures
may follow transitive rules (`modules/leaping`), and many rounds of a few small rules over one
relation may be one call (`steps/many_rounds`). New rules of a changed program fire once on
everything.
"""

from __future__ import annotations

from triplestore.maintenance.steps.protocol import Facts, Insertion


def insert(steps: Insertion[Facts], *again: Facts) -> None:
    """INSERT.

    again  deleted facts that still hold: the papers' R
    """
    # Numbers are lines of revisited; in brackets those of thesis, algorithm 4.
    found = steps.begin_insertion(*again)  # 52, 53 (86 to 90): N_A, from R, E+ and lower strata
    while (delta := steps.coming(found)) is not None:  # 54 to 56 (91 to 93): the new facts
        found = steps.add(delta)  # 57, 58 (94 to 96): N_A is what recursive rules derive from them


def seminaive(steps: Insertion[Facts]) -> None:
    """Materialise a stratum: algorithm 1, lines 3 to 8."""
    insert(steps)
