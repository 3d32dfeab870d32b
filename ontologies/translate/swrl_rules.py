"""SWRL rules as rules of a program.

Start reading at `translate_swrl`. A rule with an unsupported part is left out as a whole, and
listed with the reason. Variables stand for everything that the data name, as in all
rules here; a rule without a head is a constraint.

Literals are compared by value: a literal in an atom is a condition, and a variable that several
atoms have for a literal is one term in all of them, or another spelling of it in some.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, product

from triplestore.datalog.program import (
    Constant,
    Constraint,
    Filter,
    Item,
    Rule,
    Term,
    TripleAtom,
    TupleAtom,
    Variable,
    bound_by,
    variables_in,
)
from triplestore.ontologies.model import swrl as sw
from triplestore.ontologies.model.expressions import Expression, InverseOf
from triplestore.ontologies.profile import LEFT, RIGHT, reasons
from triplestore.ontologies.thresholds import ONTOLOGIES
from triplestore.ontologies.translate.data_ranges import is_within
from triplestore.ontologies.translate.draft import (
    PAIRS,
    SAME_AS,
    RuleDraft,
    base_of,
    bindings,
    constant,
    equal_to,
    is_in,
    is_literal,
    related,
    triple,
    variant,
)
from triplestore.ontologies.translate.open_clause import replaced
from triplestore.ontologies.translate.swrl_conditions import UnknownError, binds, condition, name_of
from triplestore.terms.vocabulary import OWL_DIFFERENT_FROM

DIFFERENT = Constant.iri(OWL_DIFFERENT_FROM)


def translate_swrl(
    rule: sw.SwrlRule,
    draft: RuleDraft,
    *,
    expressions: bool = True,
    different: Collection[str] = (),
) -> None:
    """Put the rules of one SWRL rule, one for each atom of its head, into a draft.

    expressions  whether rules about class expressions are in force
    different    the ids of axioms there are that say of several things that they are different

    >>> from pyoxigraph import NamedNode
    >>> x = sw.SwrlVariable(NamedNode("urn:swrl#x"))
    >>> a, b = NamedNode("http://e/A"), NamedNode("http://e/B")
    >>> draft = RuleDraft()
    >>> translate_swrl(sw.SwrlRule((sw.ClassAtom(a, x),), (sw.ClassAtom(b, x),)), draft)
    >>> print(draft.rules[0])
    rule "swrl" <http://e/B>[?x] :- <http://e/A>[?x] .
    """
    try:
        _require_rules(rule, draft, expressions)
        body = _SwrlBody(rule.body, different)
        heads = [_head(atom, body.names) for atom in rule.head]
    except UnknownError as error:
        draft.leave(rule, str(error))
        return
    if rule.body and not any(chain(*body.ways, [body.conditions])):
        draft.leave(rule, "its body says nothing")
        return
    axioms = tuple(map(triple, rule.triples))
    draft.valued.update(body.compared)
    for items, tops in body.variants(heads):
        for around in bindings(tuple(items), _variables(tops)):
            for head in tops:
                if isinstance(head, TripleAtom) and head not in around:
                    draft.rules.append(Rule((head,), around, "swrl", axioms=axioms))
            if not rule.head:
                message = "a rule without a head applies"
                draft.constraints.append(Constraint("swrl", message, around, axioms=axioms))


def _require_rules(rule: sw.SwrlRule, draft: RuleDraft, expressions: bool) -> None:
    """Refuse class expressions that nothing is inferred to be in; report those of heads from which
    less follows than they say."""
    for atoms, side in ((rule.body, LEFT), (rule.head, RIGHT)):
        for atom in atoms:
            if not isinstance(atom, sw.ClassAtom) or not isinstance(atom.described, Expression):
                continue
            if not expressions:
                raise UnknownError('class expressions also need the regime "owl-rl"')
            for reason in reasons(atom.described, side):
                if side == LEFT:
                    raise UnknownError(reason)
                draft.leave(rule, reason)


class _RuleVariables:
    """Variables by their nodes, with short, distinct names."""

    def __init__(self) -> None:
        self._known: dict[object, Variable] = {}

    def term(self, argument: sw.Argument) -> Term:
        if not isinstance(argument, sw.SwrlVariable):
            return constant(argument)
        node = argument.name
        if node not in self._known:
            self._known[node] = Variable(self._free(node.value))
        return self._known[node]

    def fresh(self, stem: str) -> Variable:
        """A variable that the rule does not have."""
        made = Variable(self._free(stem))
        self._known[made] = made
        return made

    def _free(self, iri: str) -> str:
        tail = iri.replace("#", "/").rpartition("/")[2].rpartition(":")[2]
        stem = "".join(letter for letter in tail if letter.isascii() and letter.isalnum()) or "v"
        taken = {variable.name for variable in self._known.values()}
        name, number = stem, 1
        while name in taken:
            number += 1
            name = f"{stem}_{number}"
        return name


class _SwrlBody:
    """The atoms of a body: in which ways each may be true, and the conditions on their values.

    ways      of each atom about facts, the lists of items that may stand for it
    compared  properties of which literals are compared by value
    """

    def __init__(self, atoms: Sequence[sw.SwrlAtom], different: Collection[str]) -> None:
        self.names = _RuleVariables()
        self.compared: list[Constant] = []
        self._different = different
        self._values: dict[Variable, Constant] = {}
        facts = [atom for atom in atoms if not isinstance(atom, sw.BuiltinAtom)]
        self.ways = [self._ways(atom) for atom in facts]
        self.conditions = self._conditions(
            [atom for atom in atoms if isinstance(atom, sw.BuiltinAtom)],
            set(bound_by(item for ways in self.ways for item in ways[0])),
        )

    def variants(self, heads: list[Item | None]) -> Iterator[tuple[list[Item], list[Item]]]:
        """The bodies that together are this one, each with the heads that go with it."""
        for chosen in product(*self.ways):
            yield from _variants([*chain(*chosen), *self.conditions], heads)

    def _ways(self, atom: sw.SwrlAtom) -> list[list[Item]]:
        term = self.names.term
        match atom:
            case sw.DatavaluedPropertyAtom(property, _, _) if not isinstance(property, InverseOf):
                return self._of_value(atom)
            case sw.IndividualPropertyAtom(_, _, value) if is_literal(term(value)):
                return self._of_value(atom)
            case sw.DifferentIndividualsAtom(left, right):
                return self._of_difference(term(left), term(right))
        return [_items(atom, self.names)]

    def _of_value(
        self, atom: sw.DatavaluedPropertyAtom | sw.IndividualPropertyAtom
    ) -> list[list[Item]]:
        """The value of a property: one term, or another spelling of the value."""
        property, subject = atom.property, self.names.term(atom.subject)
        value = self.names.term(atom.value)
        same: list[Item] = [related(property, subject, value)]
        if isinstance(value, Constant):
            if not is_literal(value):
                return [same]
            other = self.names.fresh("literal")
            return [[related(property, subject, other), *equal_to(other, value)]]
        if value not in self._values:
            self._values[value] = base_of(property)
            return [same]
        if len(self.compared) >= 2 * ONTOLOGIES.swrl_values:
            return [same]
        self.compared += [self._values[value], base_of(property)]
        other = self.names.fresh(value.name)
        return [same, [related(property, subject, other), variant(value, other)]]

    def _of_difference(self, left: Term, right: Term) -> list[list[Item]]:
        """That two things are different: as it is asserted, or the other way round."""
        found: list[list[Item]] = []
        for one, other in ((left, right), (right, left)):
            found.append([TripleAtom(one, DIFFERENT, other)])
            for name in self._different:
                axiom = self.names.fresh("axiom")
                found.append([TupleAtom(Constant.iri(PAIRS + name), (axiom, one, other))])
        return found

    def _conditions(self, waiting: list[sw.BuiltinAtom], bound: set[Variable]) -> list[Item]:
        """The built-ins in an order in which each can be computed."""
        found: list[Item] = []
        while waiting:
            for atom in waiting:
                terms = [self.names.term(argument) for argument in atom.arguments]
                free = {one for one in terms if isinstance(one, Variable) and one not in bound}
                to = binds(name_of(atom.builtin), terms, free)
                made = condition(atom.builtin, terms, to)
                if not free or to is not None:
                    break
            else:
                named = ", ".join(sorted(map(str, free)))
                raise UnknownError(f"{named} is bound by no other atom of the body")
            found.append(made)
            waiting.remove(atom)
            bound |= free
        return found


def _items(atom: sw.SwrlAtom, names: _RuleVariables) -> list[Item]:
    """What an atom about facts says, in one way."""
    term = names.term
    match atom:
        case sw.ClassAtom(described, argument):
            return list(is_in(described, term(argument)))
        case sw.DataRangeAtom(described, argument):
            try:
                return [Filter(is_within(described, term(argument)))]
            except ValueError as error:
                raise UnknownError(str(error)) from None
        case sw.IndividualPropertyAtom(property, subject, value):
            return [related(property, term(subject), term(value))]
        case sw.DatavaluedPropertyAtom(property, subject, value):
            return [related(property, term(subject), term(value))]
        case sw.SameIndividualAtom(left, right):
            return [TripleAtom(term(left), SAME_AS, term(right))]
        case sw.DifferentIndividualsAtom(left, right):
            return [TripleAtom(term(left), DIFFERENT, term(right))]
    raise UnknownError(f"no atom about facts: {atom}")


def _head(atom: sw.SwrlAtom, names: _RuleVariables) -> Item | None:
    if isinstance(atom, sw.BuiltinAtom | sw.DataRangeAtom):
        raise UnknownError("built-ins and data ranges are for bodies")
    items = _items(atom, names)
    if items and not isinstance(items[0], TripleAtom):
        raise UnknownError("data ranges are for bodies")
    return items[0] if items else None  # None: everything is a member


def _variants(
    body: list[Item], heads: list[Item | None]
) -> Iterator[tuple[list[Item], list[Item]]]:
    """The rule, and once more for each way in which an owl:sameAs in its body may be trivial."""
    tops = [head for head in heads if head is not None]
    yield body, tops
    for place, item in enumerate(body):
        if isinstance(item, TripleAtom) and item.p == SAME_AS:
            one, other = (item.s, item.o) if isinstance(item.s, Variable) else (item.o, item.s)
            rest = [*body[:place], *body[place + 1 :]]
            if isinstance(one, Variable):
                by = {one: other}
                plain = [replaced(part, by) for part in rest]
                yield from _variants(plain, [replaced(head, by) for head in tops])
            return


def _variables(items: Iterable[Item]) -> list[Variable]:
    return [variable for item in items for variable in variables_in(item)]
