"""Proofs as objects, and the answer why a fact does not hold (`WhyNot`).

Start reading at `Proof`. A proof is a graph without cycles, kept as one `ProofStep` for each fact:
a fact that is needed in several places is proved once. What is always true: what a step needs has a
step itself (except members of aggregates that took too long to prove), of less height; steps
without a rule are asserted facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from triplestore.data_classes import data_class
from triplestore.datalog.program import Atom, Constraint
from triplestore.proofs import drawing
from triplestore.proofs.proof_html import absence_html, absence_summary, proof_html, proof_summary
from triplestore.proofs.proof_json import absence_dict, dumped, proof_dict
from triplestore.proofs.proof_text import absence_text, proof_text
from triplestore.proofs.steps import Attempt, ProofStep


@data_class(slots=False, repr=False)
class Proof:
    """Why a fact holds: the smallest proof from asserted facts.

    It is the one of least height; among these that of fewest steps, where a fact that is needed
    twice counts twice; among these the first by the order of rules. Every fact in it is
    proved in the same way. Negations, filters and aggregates are conditions: they add no height,
    and the members of an aggregate that are listed have proofs beside.

    steps         fact -> its step, the goal first
    least         False if not all proofs were looked at, so that there may be a smaller one
    alternatives  proofs with other last steps, the smallest first; none of them needs the fact
    more          False if these are all there are
    prefixes      to print it by

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.reason(rules="@prefix : <http://e/> . :A[:a] . :B[?x] :- :A[?x] .")
    >>> proof = store.why(":a a :B")
    >>> proof.height, len(proof), [str(step.fact) for step in proof]
    (2, 2, ['<http://e/B>[<http://e/a>]', '<http://e/A>[<http://e/a>]'])
    """

    fact: Atom
    steps: Mapping[Atom, ProofStep]
    least: bool = True
    alternatives: tuple[Proof, ...] = ()
    more: bool = True
    prefixes: Mapping[str, str] | None = None

    @property
    def last(self) -> ProofStep:
        """The step that concludes the fact."""
        return self.steps[self.fact]

    @property
    def height(self) -> int:
        """How many rules follow on one another, at the most."""
        return self.last.height

    @property
    def size(self) -> int:
        """How many rule instances it has; one used twice counts twice."""
        return self.last.size

    @property
    def stated(self) -> bool:
        """Whether the fact itself is asserted."""
        return self.last.stated

    @cached_property
    def sources(self) -> tuple[Atom, ...]:
        """The asserted facts that it begins with."""
        return tuple(step.fact for step in self.steps.values() if step.stated)

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[ProofStep]:
        return iter(self.steps.values())

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return self.text(most=500)

    def __repr__(self) -> str:
        return f"<{proof_summary(self, self._names(None))}>"

    def _repr_html_(self) -> str:
        return proof_html(self, self._names(None))

    def text(self, prefixes: Mapping[str, str] | None = None, most: int | None = None) -> str:
        """The proof as a tree of lines; at most `most` facts of it."""
        return proof_text(self, self._names(prefixes), most)

    def as_dict(self) -> dict[str, Any]:
        """The proof fit for JSON: facts as text and as terms in N-Triples."""
        return proof_dict(self)

    def json(self, indent: int | None = 2) -> str:
        """The proof as JSON."""
        return dumped(self.as_dict(), indent)

    def dot(self, prefixes: Mapping[str, str] | None = None) -> str:
        """The proof as a drawing for Graphviz."""
        return drawing.dot(self, self._names(prefixes))

    def mermaid(self, prefixes: Mapping[str, str] | None = None) -> str:
        """The proof as a drawing for Mermaid."""
        return drawing.mermaid(self, self._names(prefixes))

    def _names(self, prefixes: Mapping[str, str] | None) -> Mapping[str, str]:
        return (self.prefixes or {}) if prefixes is None else prefixes


@data_class(slots=False, repr=False)
class WhyNot:
    """Why a fact does not hold: it is not asserted, and no rule concludes it.

    attempts  how far each rule gets that could, the nearest first
    rules     how many there are; some may be left out of `attempts`
    prefixes  to print it by
    outside   axioms without rules on the way to the fact, if there are some, with the reasons

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.reason(rules="@prefix : <http://e/> . :A[:a] . :C[?x] :- :A[?x], :B[?x] .")
    >>> attempt, = store.why(":a a :C").attempts
    >>> print(*attempt.matched, "but not", attempt.missing)
    <http://e/A>[?x] but not <http://e/B>[?x]
    """

    fact: Atom
    attempts: tuple[Attempt, ...]
    rules: int
    prefixes: Mapping[str, str] | None = None
    outside: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return False

    @property
    def constraint(self) -> Constraint | None:
        """Of a violation that is not there: its constraint."""
        rules = (attempt.rule for attempt in self.attempts)
        return next((rule for rule in rules if isinstance(rule, Constraint)), None)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<{absence_summary(self, self.prefixes or {})}>"

    def _repr_html_(self) -> str:
        return absence_html(self, self.prefixes or {})

    def text(self, prefixes: Mapping[str, str] | None = None) -> str:
        """It in lines."""
        return absence_text(self, (self.prefixes or {}) if prefixes is None else prefixes)

    def as_dict(self) -> dict[str, Any]:
        """It fit for JSON."""
        return absence_dict(self)

    def json(self, indent: int | None = 2) -> str:
        """It as JSON."""
        return dumped(self.as_dict(), indent)
