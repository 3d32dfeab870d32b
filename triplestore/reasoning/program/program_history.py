"""The programs of one run so far, so that a run that would never end is noticed.

Start reading at `ProgramHistory`. Each turn closes the facts under the rules of one program, and
reads another program off the axioms that hold then. Both are functions, so a program that
comes again would come again and again: that is noticed at once. Axioms that only grow may need many
turns, each as expensive as reading all axioms, so their number is bounded. Either way the error
names the axioms that were still changing.
"""

from __future__ import annotations

from collections.abc import Iterator

from triplestore.datalog.program import Constraint, Program, Rule
from triplestore.errors import UsageError
from triplestore.reasoning.program.subclass_edges import WholeProgram
from triplestore.reasoning.thresholds import REASONING

MAX_NAMED = 4
"""Maximum number of changing axioms that an error names."""

_REMEDY = (
    "look for properties and classes of the data that are below, or the same as, those of RDFS and "
    "OWL, and state their meaning as plain axioms; the store is unchanged"
)


class ProgramHistory:
    """The programs of one run so far.

    >>> from triplestore.datalog.text import read
    >>> one, other = (WholeProgram(read(f"<http://e/{c}>[?x] :- <http://e/b>[?x] .")) for c in "ac")
    >>> history = ProgramHistory(one)
    >>> history.add(other)
    >>> history.add(one)
    Traceback (most recent call last):
    triplestore.errors.UsageError: schema reasoning did not reach a fixpoint: after 2 turns the \
rules are those of an earlier turn again; ...
    """

    def __init__(self, program: WholeProgram) -> None:
        self._programs = [program]

    def add(self, program: WholeProgram) -> None:
        """Add the program of a turn; raise if the turns would not end."""
        count = len(self._programs)
        if any(program == before for before in self._programs):
            what = f"after {count} turns the rules are those of an earlier turn again"
            raise self._error(what, program)
        if count >= REASONING.max_turns:
            raise self._error(f"each of {count} turns changed them", program)
        self._programs.append(program)

    def _error(self, what: str, program: WholeProgram) -> UsageError:
        last = self._programs[-1]
        changed = [f"+ {name}" for name in _axioms(program - last)]
        changed += [f"- {name}" for name in _axioms(last - program)]
        named = changed[:MAX_NAMED]
        more = len(changed) - len(named)
        listed = "; ".join(named) + (f"; and {more:,} more" if more else "")
        changing = f"the last turn changed {listed}; " if changed else ""
        return UsageError(f"schema reasoning did not reach a fixpoint: {what}; {changing}{_REMEDY}")


def _axioms(program: Program) -> Iterator[str]:
    """What rules were made of, each once; of rules without axioms, the rules."""
    clauses: list[Rule | Constraint] = [*program.rules, *program.constraints]
    found = [
        " . ".join(" ".join(map(str, axiom.terms)) for axiom in clause.axioms) or str(clause)
        for clause in clauses
    ]
    yield from dict.fromkeys(found)
