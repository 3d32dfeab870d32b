"""Why a class is not below another under `owl-el`: what each sufficient condition lacks.

Start at `el_absence`. Sufficient conditions of a class are the expressions that axioms put below
it, such as its definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from triplestore.classification.expression_names import ExpressionNames
from triplestore.data_classes import data_class
from triplestore.datalog.program import TYPE, Constant, TripleAtom
from triplestore.proofs import WhyNot
from triplestore.terms.vocabulary import RDFS_SUB_CLASS_OF

if TYPE_CHECKING:
    from triplestore.reasoning.readable_state import ReadableState

_SUB_CLASS = Constant.iri(RDFS_SUB_CLASS_OF)
MAX_CONDITIONS = 5
"""Maximum number of sufficient conditions that are shown."""


@data_class(slots=False, repr=False)
class ElWhyNot(WhyNot):
    """`WhyNot`, said with class expressions: `lines` has the answer.

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.load('''@prefix : <http://e/> .
    ... @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    ... :Cat rdfs:subClassOf :Pet . :Dog rdfs:subClassOf :Animal .''', "ttl")
    >>> _ = store.reason("owl-el")
    >>> print(store.why(":Cat rdfs:subClassOf :Animal"))
    :Cat ⊑ :Animal does not follow from the axioms
    it would follow from :Cat ⊑ :Dog
    """

    lines: tuple[str, ...] = ()

    def text(self, prefixes: Mapping[str, str] | None = None) -> str:
        """It in lines."""
        rest = [] if not self.attempts else [super().text(prefixes)]
        return "\n".join([*self.lines, *rest])


def el_absence(absent: WhyNot, view: ReadableState, prefixes: Mapping[str, str]) -> WhyNot:
    """The answer in the ontologist's terms, if it is about classes; else as it is."""
    fact = absent.fact
    if not isinstance(fact, TripleAtom) or fact.p not in (_SUB_CLASS, TYPE):
        return absent
    if not isinstance(fact.s, Constant) or not isinstance(fact.o, Constant):
        return absent
    names = ExpressionNames(view, prefixes)
    lines = _Conditions(view, names).lines(fact.s.key, fact.o.key, typed=fact.p == TYPE)
    attempts = [a for a in absent.attempts if not getattr(a.rule, "name", "").startswith("el-")]
    left = replace(absent, attempts=tuple(attempts), rules=len(attempts))
    return ElWhyNot(**{one.name: getattr(left, one.name) for one in fields(WhyNot)}, lines=lines)


class _Conditions:
    """What is sufficient to be below a class."""

    def __init__(self, view: ReadableState, names: ExpressionNames) -> None:
        self._view, self._names = view, names

    def lines(self, below: bytes, above: bytes, *, typed: bool) -> tuple[str, ...]:
        """The answer."""
        symbols = self._names.after("nominal", below) if typed else [below]
        start = symbols[0] if symbols else below
        one, other, sign = self._names.text(below), self._names.text(above), ":" if typed else "⊑"
        found = [f"{one} {sign} {other} does not follow from the axioms"]
        known = {start, *self._names.after("below", start)}
        conditions = sorted(self._names.before("told", above), key=self._names.text)
        for condition in conditions[:MAX_CONDITIONS]:
            missing = [part for part in self._names.operands(condition) if part not in known]
            parts = " and ".join(f"{one} {sign} {self._names.text(part)}" for part in missing)
            found.append(f"it would follow from {parts}")
        if len(conditions) > MAX_CONDITIONS:
            found.append(f"and {len(conditions) - MAX_CONDITIONS:,} more conditions")
        return tuple(found)
