"""Why a fact does not hold, as an object.

Start reading at `WhyNot`; `questions.why_not` makes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triplestore.datalog.program import Atom, Constraint
from triplestore.proofs.proof_html import absence_html, absence_summary
from triplestore.proofs.proof_json import absence_dict, dumped
from triplestore.proofs.proof_text import absence_text
from triplestore.proofs.steps import Attempt


@dataclass(frozen=True, repr=False)
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
