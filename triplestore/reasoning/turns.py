"""Turns of a run: an end to those in which axioms would come and go, or come, for ever.

Start reading at `Turns`. Each turn closes the facts under the rules of one program, and reads
another program off the axioms that hold then. Both are functions, so a program that comes again
will come again and again: that is noticed at once. Axioms that only grow may need many turns, each
as dear as reading all axioms, so their number is bounded. Either way it is said which axioms were
still changing.
"""

from __future__ import annotations

from collections.abc import Iterator

from triplestore.datalog.program import Constraint, Program, Rule
from triplestore.errors import UsageError
from triplestore.reasoning.program.subclass_edges import Whole

MOST_TURNS = 50
"""Each turn is there for axioms that follow from axioms of the turn before; nests of three are
rare."""

MOST_NAMED = 4
"""So many axioms that go on changing are named."""

_REMEDY = (
    "look for properties and classes of the data below those of RDFS and OWL (or the same as "
    "these), and state what these are to mean as plain axioms; the store is as it was before"
)


class Turns:
    """The programs of one run so far.

    >>> from triplestore.datalog.text import read
    >>> one, other = (Whole(read(f"<http://e/{c}>[?x] :- <http://e/b>[?x] .")) for c in "ac")
    >>> turns = Turns(one)
    >>> turns.take(other)
    >>> turns.take(one)
    Traceback (most recent call last):
    triplestore.errors.UsageError: the axioms do not come to rest: after 2 turns the rules are \
those of an earlier turn again, and so on for ever; ...
    """

    def __init__(self, program: Whole) -> None:
        self._programs = [program]

    def take(self, program: Whole) -> None:
        """A turn gave this program, another one than the last; raise if there is no end to it."""
        count = len(self._programs)
        if any(program == before for before in self._programs):
            what = f"after {count} turns the rules are those of an earlier turn again, and so on "
            raise self._error(f"{what}for ever", program)
        if count >= MOST_TURNS:
            raise self._error(f"each of {count} turns changed them", program)
        self._programs.append(program)

    def _error(self, what: str, program: Whole) -> UsageError:
        last = self._programs[-1]
        changed = [f"+ {name}" for name in _axioms(program - last)]
        changed += [f"- {name}" for name in _axioms(last - program)]
        named = changed[:MOST_NAMED]
        more = len(changed) - len(named)
        listed = "; ".join(named) + (f"; and {more:,} more" if more else "")
        changing = f"the last one changed {listed}; " if changed else ""
        return UsageError(f"the axioms do not come to rest: {what}; {changing}{_REMEDY}")


def _axioms(program: Program) -> Iterator[str]:
    """What rules were made of, each once; of rules without axioms, the rules."""
    clauses: list[Rule | Constraint] = [*program.rules, *program.constraints]
    found = [
        " . ".join(" ".join(map(str, axiom.terms)) for axiom in clause.axioms) or str(clause)
        for clause in clauses
    ]
    yield from dict.fromkeys(found)
