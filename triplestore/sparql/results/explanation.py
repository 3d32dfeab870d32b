"""The plan of a query and what it did: a text, and in notebooks a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.tree import Constant
from triplestore.operators.explain_plan import explain, to_json
from triplestore.operators.operator import Operator
from triplestore.sparql.algebra.short_text import show_term


class Explanation(str):
    """What `Solutions.explain` returns: a text of lines, one for each operator, which is also its
    `repr`.

    plan      the same as a tree of dicts
    warnings  likely mistakes
    """

    plan: Mapping[str, Any]
    warnings: Sequence[str]

    def __new__(
        cls, text: str, plan: Mapping[str, Any] | None = None, warnings: Sequence[str] = ()
    ) -> Self:
        """A text with the plan that it shows."""
        made = super().__new__(cls, text)
        made.plan, made.warnings = plan or {}, warnings
        return made

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from triplestore.notebook.plans import plan_html  # late: only notebooks ask for it

        return plan_html(self.plan, self.warnings)


def explanation(plan: Operator | None, warnings: Sequence[str], terms: QueryTerms) -> Explanation:
    """The explanation of a plan that was run; likely mistakes come first, one per line."""
    lines = [f"warning: {text}" for text in warnings]
    if plan is None:
        return Explanation("\n".join(lines), None, warnings)
    text = explain(plan, lambda term_id: name_of_id(term_id, terms))
    return Explanation("\n".join([*lines, text]), plan_tree(plan, terms), warnings)


def plan_tree(plan: Operator, terms: QueryTerms) -> dict[str, Any]:
    """A plan as a tree of dicts."""
    return to_json(plan, lambda term_id: name_of_id(term_id, terms))


def name_of_id(term_id: int, terms: QueryTerms) -> str:
    """The short name of a term in a plan."""
    return show_term(Constant(terms.key(term_id)))
