"""SERVICE in groups: estimates, and joins with what is known before.

Start at `ServicePart.joined`. An endpoint is asked after the parts that share variables with it,
for their values. Rewrites leave its pattern as it is written, since another engine evaluates it.
"""

from __future__ import annotations

import numpy as np

from triplestore.data_classes import data_class
from triplestore.expressions.tree import Constant, Variable
from triplestore.operators.frame import ID
from triplestore.operators.joins.merge_join import join
from triplestore.operators.operator import Operator
from triplestore.operators.row_operators import Extend
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Node, is_hidden
from triplestore.sparql.algebra.variables import exists_in, expressions_of
from triplestore.sparql.plan.planned import Names, Planned, unit
from triplestore.sparql.plan.planner import Planner

_SIZE = 1e6  # expected rows of a whole answer, which is not known: more than what is sent along


@data_class(frozen=False)
class ServicePart:
    """A SERVICE as a part of a group.

    names  the variables in scope that have names
    """

    node: sparql.Service
    names: Names
    size: float = _SIZE

    @classmethod
    def of(cls, planner: Planner, node: sparql.Service) -> ServicePart:
        """The part for a node."""
        scope = planner.seen.in_scope(node)
        return cls(node, frozenset(n for n in scope if not is_hidden(Variable(n))))

    @property
    def place(self) -> str:
        """The variable that has the address of the endpoint; empty for a constant."""
        name = self.node.name
        return name.name if isinstance(name, Variable) else ""

    def distinct(self, name: str) -> float:
        """The approximate number of distinct values: each given value has one solution."""
        return self.size

    def joined(self, planner: Planner, made: Planned, keep: Names | None) -> Planned:
        """A plan joined with the answers."""
        # Late: the libraries of HTTP; few queries ask other endpoints.
        from triplestore.sparql.evaluate.service_join import ServiceJoin
        from triplestore.sparql.federation.service_call import ServiceCall
        from triplestore.sparql.federation.service_texts import ServiceTexts

        planner.repeatable = False  # another time the endpoint may answer something else
        node, seen = self.node, planner.seen
        scope = self.names & seen.in_scope(node.pattern)
        sent = tuple(name for name in made.names if name in scope)
        if not sent and not self.place and made.names:
            answers = self.joined(planner, unit(), keep)
            product = join(made.operator, answers.operator, (), "inner")
            return Planned(product, made.maybe | answers.maybe, {**made.distinct})
        certain = seen.certain(node.pattern)
        doubtful = {name for name in sent if name in made.maybe or name not in certain}
        new = scope.difference(made.names)
        if keep is not None:
            new &= keep
        asked = tuple(sorted(new | doubtful))
        call = ServiceCall(
            ServiceTexts(node.pattern, seen),
            planner.services,
            planner.scope.terms,
            silent=node.silent,
            sent=sent,
            asked=asked,
            certain=certain,
        )
        operator: Operator = ServiceJoin(
            made.operator,
            call,
            planner.scope.terms,
            self.place or _iri_of(node.name),
            by_variable=bool(self.place),
            silent=node.silent,
            sent=sent,
            asked=asked,
        )
        if self.place and self.place not in operator.names:  # nothing binds it
            operator = Extend(operator, self.place, np.uint32(0), ID, text="unbound")
            new |= {self.place}
        unsure = new | (made.maybe & scope)
        maybe = (made.maybe - scope) | (unsure if node.silent else unsure - certain)
        return Planned(operator, frozenset(maybe), {**made.distinct})


def _iri_of(name: sparql.TermOrVariable) -> str:
    assert isinstance(name, Constant)
    return name.key[1:].decode()


def has_service(node: Node) -> bool:
    """Whether a pattern has a SERVICE, also in an EXISTS."""
    return any(
        isinstance(one, sparql.Service)
        or any(has_service(found.pattern) for e in expressions_of(one) for found in exists_in(e))
        for one in sparql.walk(node)
    )


def places_in(node: Node) -> Names:
    """The variables that have the addresses of endpoints in a pattern."""
    names = [one.name for one in sparql.walk(node) if isinstance(one, sparql.Service)]
    return frozenset(name.name for name in names if isinstance(name, Variable))


def bindable(planner: Planner, node: Node) -> Names:
    """The variables for which a seed may restrict a pattern that is not the right side of MINUS.

    A SERVICE joins with the values that are sent along, also where it may leave a variable unbound.
    """
    names = planner.seen.certain(node)
    return names | planner.seen.in_scope(node) if isinstance(node, sparql.Service) else names
