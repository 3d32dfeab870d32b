"""From chosen rule instances to proofs in terms of the rules as they were written.

Start reading at `Builder.proof`. An instance is known by its rule and premises; its other values,
and the members of its aggregates, are found here, for the few instances that a proof has.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from triplestore.datalog.program import (
    Aggregate,
    Atom,
    Bind,
    Constant,
    Item,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
    bound_by,
)
from triplestore.errors import BudgetError
from triplestore.evaluate.binding_frames import Bindings
from triplestore.proofs.body_matching import Matching
from triplestore.proofs.closed_facts import Closed, ground, unify
from triplestore.proofs.explorer import Explorer
from triplestore.proofs.origins import fill, helper_rule, is_helper_atom, origin_of, renaming
from triplestore.proofs.proof import Proof
from triplestore.proofs.proof_graph import ProofLink
from triplestore.proofs.steps import Member, ProofPart, ProofStep, Values
from triplestore.rules.families import Family


class Builder:
    """Makes steps of links.

    members  how many members of an aggregate are listed
    """

    def __init__(
        self, closed: Closed, explorer: Explorer, members: int, prefixes: Mapping[str, str]
    ) -> None:
        self.closed = closed
        self.explorer = explorer
        self.members = members
        self.prefixes = prefixes
        self._steps: dict[ProofLink, ProofStep] = {}

    def proof(self, goal: int, last: ProofLink | None) -> Proof:
        """The proof of a node that ends with a link; None if it is stated.

        Members of aggregates are looked up when their step is made, and then have to be proved
        themselves, until there is nothing more to prove.
        """
        explorer, fact = self.explorer, self.closed.fact(self.explorer.places[goal])
        if last is None:
            return Proof(fact, {fact: ProofStep(fact)}, prefixes=self.prefixes)
        wanted = list(last.open)
        while True:
            links, size = explorer.smallest(wanted)
            links[goal] = last
            size[goal] = 1 + sum(size[premise] for premise in last.open)
            further = self._members_without_proof(links)
            if not further:
                break
            wanted += further
        return Proof(
            fact, self._steps_of(goal, links, size), explorer.complete, prefixes=self.prefixes
        )

    def _members_without_proof(self, links: dict[int, ProofLink]) -> list[int]:
        further: list[int] = []
        for link in links.values():
            for part in self.step(link).parts:
                for member in part.members:
                    for fact in member.facts:
                        node = self.explorer.node(self.closed.place(fact))
                        if self.explorer.height[node] and node not in links and self._prove(node):
                            further.append(node)
        return further

    def _prove(self, node: int) -> bool:
        try:
            return self.explorer.prove(node, exact=True)
        except BudgetError:
            self.explorer.complete = False
            return False

    def _steps_of(
        self, goal: int, links: dict[int, ProofLink], size: dict[int, int]
    ) -> dict[Atom, ProofStep]:
        """The steps with their heights and sizes, the goal first."""
        explorer = self.explorer
        made: dict[Atom, ProofStep] = {}
        stack = [goal]
        while stack:
            node = stack.pop()
            fact = self.closed.fact(explorer.places[node])
            if fact in made:
                continue
            link = links.get(node)
            if link is None:
                if explorer.height[node] == 0:
                    made[fact] = ProofStep(fact)
                continue
            step = self.step(link)
            height = 1 + max([explorer.height[premise] for premise in link.open], default=0)
            made[fact] = ProofStep(fact, step.rule, step.values, step.parts, height, size[node])
            needed = [explorer.node(self.closed.place(one)) for one in step.needs]
            stack.extend(reversed(needed))
        return made

    # -- one step --------------------------------------------------------------------------------

    def step(self, link: ProofLink) -> ProofStep:
        """The step of a link, without its height and size."""
        found = self._steps.get(link)
        if found is None:
            found = self._steps[link] = self._step(link)
        return found

    def _step(self, link: ProofLink) -> ProofStep:
        closed, places = self.closed, self.explorer.places
        origin = origin_of(closed, link.rule)
        fact = closed.fact(places[link.head])
        values: dict[Variable, Constant] = {}
        unify(origin.simple.heads[0], fact, values)
        premises = iter(link.premises)
        parts: list[ProofPart | None] = []
        for item in origin.simple.body:
            if isinstance(item, TripleAtom | TupleAtom) and not is_helper_atom(item):
                used = closed.fact(places[next(premises)])
                unify(item, used, values)
                parts.append(ProofPart(item, used, fact=used))
            else:
                parts.append(None)
        values = self._all_values(link.rule, origin.simple, values)
        filled = [
            part or self._part(link.rule, item, simple, values)
            for part, (item, simple) in zip(parts, origin.items, strict=True)
        ]
        return ProofStep(fact, origin.rule, values, tuple(filled))

    def _all_values(
        self, number: int, simple: Rule, values: dict[Variable, Constant]
    ) -> dict[Variable, Constant]:
        """The values with those that only BINDs and aggregates give."""
        needed = dict.fromkeys(bound_by(simple.body))
        if all(variable in values for variable in needed):
            return {variable: values[variable] for variable in needed}
        family = self.closed.family(number)
        rows, n = _matches(self.closed, family, values)
        assert n, "an instance does not match its own rule"
        (first,) = values_in(self.closed, family, rows, least_rows(rows)[:1])
        return {variable: first[variable] for variable in needed}

    def _part(self, number: int, item: Item, simple: Item, values: Values) -> ProofPart:
        if isinstance(item, Bind):
            return ProofPart(item, fill(item, values), value=values[item.variable])
        if not isinstance(item, Aggregate):
            return ProofPart(item, fill(item, values))
        members, count = self._members(number, item, simple, values)
        results = tuple(values[result.variable] for result in item.results)
        return ProofPart(item, fill(item, values), results=results, members=members, count=count)

    def _members(
        self, number: int, item: Aggregate, simple: Item, values: Values
    ) -> tuple[tuple[Member, ...], int]:
        """The first matches of an aggregate's body in one group, and how many there are."""
        closed = self.closed
        if not isinstance(simple, Aggregate):
            assert isinstance(simple, TupleAtom)
            number = helper_rule(closed, simple)
        family = closed.family(number)
        (inner,) = closed.written.rules[number].body
        assert isinstance(inner, Aggregate)
        here = renaming((item,), (inner,)) | renaming(item.body, inner.body)
        groups = {variable: values[here[variable]] for variable in inner.groups}
        rows, n = _matches(closed, family, groups)
        first = values_in(closed, family, rows, least_rows(rows)[: self.members])
        listed = []
        for one in first:
            named = {here[variable]: value for variable, value in one.items()}
            facts = tuple(
                ground(part, named)
                for part in item.body
                if isinstance(part, TripleAtom | TupleAtom)
            )
            listed.append(Member(named, facts))
        return tuple(listed), n


def _matches(
    closed: Closed, family: Family, values: Mapping[Variable, Constant]
) -> tuple[Bindings, int]:
    """The matches of a body in which some variables have values."""
    rows = frame_of(closed, family, values)
    return Matching(closed, family, rows, 1, lambda item: closed.all).finish()


def frame_of(closed: Closed, family: Family, values: Mapping[Variable, Constant]) -> Bindings:
    """A frame of one row with these values."""
    rows: Bindings = [None] * (family.width + 1)
    rows[family.width] = np.zeros(1, dtype=np.uint32)
    for place, name in enumerate(family.variables):
        value = values.get(Variable(name))
        if value is not None:
            rows[place] = closed.terms.encode_keys([value.key])
    return rows


def least_rows(rows: Bindings) -> np.ndarray:
    """The places of the rows of a frame by their values."""
    columns = [column for column in rows if column is not None]
    return np.lexsort(columns[::-1]) if columns else np.zeros(0, dtype=np.int64)


def values_in(
    closed: Closed, family: Family, rows: Bindings, places: np.ndarray
) -> list[dict[Variable, Constant]]:
    """What variables stand for in some rows of a frame."""
    found: list[dict[Variable, Constant]] = [{} for _ in places]
    for name, column in zip(family.variables, rows, strict=False):
        if column is not None:
            for one, i in zip(found, column[places].tolist(), strict=True):
                one[Variable(name)] = Constant(closed.terms.key(i))
    return found
