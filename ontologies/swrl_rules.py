"""SWRL rules as rules of a program, with the common built-ins.

Start reading at `translate_swrl`. A rule with a built-in that is not known is left out as a whole,
and listed. Variables stand for everything that the data name, as in all rules here; a rule without
a head is a constraint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from triplestore.datalog.program import (
    Bind,
    Call,
    Constant,
    Constraint,
    Expression,
    Filter,
    Item,
    Rule,
    Term,
    TripleAtom,
    Variable,
    bound_by,
    variables_in,
)
from triplestore.terms.vocabulary import OWL_DIFFERENT_FROM

from .making import SAME_AS, Draft, bindings, constant, is_in, related, triple
from .swrl import (
    Argument,
    BuiltinAtom,
    ClassAtom,
    DataRangeAtom,
    DatavaluedPropertyAtom,
    DifferentIndividualsAtom,
    IndividualPropertyAtom,
    SameIndividualAtom,
    SwrlAtom,
    SwrlRule,
    SwrlVariable,
)
from .unfold import replaced
from .vocabulary import SWRL_BUILTINS

COMPARISONS = {
    "equal": "=",
    "notEqual": "!=",
    "lessThan": "<",
    "lessThanOrEqual": "<=",
    "greaterThan": ">",
    "greaterThanOrEqual": ">=",
}
TESTS = {
    "contains": "CONTAINS",
    "startsWith": "STRSTARTS",
    "endsWith": "STRENDS",
    "matches": "REGEX",
}
FUNCTIONS = {
    "subtract": "-",
    "divide": "/",
    "unaryMinus": "NEG",
    "unaryPlus": "POS",
    "abs": "ABS",
    "ceiling": "CEIL",
    "floor": "FLOOR",
    "round": "ROUND",
    "stringConcat": "CONCAT",
    "substring": "SUBSTR",
    "stringLength": "STRLEN",
    "upperCase": "UCASE",
    "lowerCase": "LCASE",
    "replace": "REPLACE",
    "substringBefore": "STRBEFORE",
    "substringAfter": "STRAFTER",
}
FOLDED = {"add": "+", "multiply": "*"}

DIFFERENT = Constant.iri(OWL_DIFFERENT_FROM)


class _UnknownError(Exception):
    """A part of a rule that has no counterpart here."""


def translate_swrl(rule: SwrlRule, draft: Draft) -> None:
    """Put the rules of one SWRL rule, one for each atom of its head, into a draft.

    >>> from pyoxigraph import NamedNode
    >>> x = SwrlVariable(NamedNode("urn:swrl#x"))
    >>> a, b = NamedNode("http://e/A"), NamedNode("http://e/B")
    >>> draft = Draft()
    >>> translate_swrl(SwrlRule((ClassAtom(a, x),), (ClassAtom(b, x),)), draft)
    >>> print(draft.rules[0])
    rule "swrl" <http://e/B>[?x] :- <http://e/A>[?x] .
    """
    try:
        made = _Names()
        body = _body(rule.body, made)
        heads = [_head(atom, made) for atom in rule.head]
    except _UnknownError as error:
        draft.leave(rule, str(error))
        return
    if rule.body and not body:
        draft.leave(rule, "its body says nothing")
        return
    axioms = tuple(map(triple, rule.triples))
    for variant in _variants(body, heads):
        items, tops = variant
        for around in bindings(tuple(items), _variables(tops)):
            for head in tops:
                if isinstance(head, TripleAtom) and head not in around:
                    draft.rules.append(Rule((head,), around, "swrl", axioms=axioms))
            if not rule.head:
                draft.constraints.append(
                    Constraint("swrl", "a rule without a head applies", around, axioms=axioms)
                )


class _Names:
    """Variables by their nodes, with short names that are different."""

    def __init__(self) -> None:
        self._known: dict[object, Variable] = {}

    def term(self, argument: Argument) -> Term:
        if not isinstance(argument, SwrlVariable):
            return constant(argument)
        node = argument.name
        if node not in self._known:
            self._known[node] = Variable(self._free(node.value))
        return self._known[node]

    def _free(self, iri: str) -> str:
        tail = iri.replace("#", "/").rpartition("/")[2].rpartition(":")[2]
        stem = "".join(letter for letter in tail if letter.isascii() and letter.isalnum()) or "v"
        taken = {variable.name for variable in self._known.values()}
        name, number = stem, 1
        while name in taken:
            number += 1
            name = f"{stem}_{number}"
        return name


def _body(atoms: Sequence[SwrlAtom], names: _Names) -> list[Item]:
    """The atoms about facts, then the built-ins in an order in which each can be computed."""
    body: list[Item] = []
    for atom in atoms:
        if not isinstance(atom, BuiltinAtom):
            body += _items(atom, names)
    waiting = [atom for atom in atoms if isinstance(atom, BuiltinAtom)]
    while waiting:
        bound = set(bound_by(body))
        ready = [atom for atom in waiting if _is_ready(atom, names, bound)]
        if not ready:
            raise _UnknownError("a variable is bound by no atom of the body")
        body.append(_builtin(ready[0], names, bound))
        waiting.remove(ready[0])
    return body


def _items(atom: SwrlAtom, names: _Names) -> Iterable[Item]:
    match atom:
        case ClassAtom(described, argument) | DataRangeAtom(described, argument):
            return is_in(described, names.term(argument))
        case IndividualPropertyAtom(property, subject, value):
            return (related(property, names.term(subject), names.term(value)),)
        case DatavaluedPropertyAtom(property, subject, value):
            return (related(property, names.term(subject), names.term(value)),)
        case SameIndividualAtom(left, right):
            return (TripleAtom(names.term(left), SAME_AS, names.term(right)),)
        case DifferentIndividualsAtom(left, right):
            return (TripleAtom(names.term(left), DIFFERENT, names.term(right)),)
    raise _UnknownError(f"no atom of a body: {atom}")


def _head(atom: SwrlAtom, names: _Names) -> Item | None:
    if isinstance(atom, BuiltinAtom | DataRangeAtom):
        raise _UnknownError("built-ins and data ranges are for bodies")
    items = list(_items(atom, names))
    if items and not isinstance(items[0], TripleAtom):
        raise _UnknownError("data ranges are for bodies")
    return items[0] if items else None  # None: what everything is


def _is_ready(atom: BuiltinAtom, names: _Names, bound: set[Variable]) -> bool:
    used = [names.term(argument) for argument in atom.arguments]
    free = [term for term in used if isinstance(term, Variable) and term not in bound]
    return not free or (free == [used[0]] and _makes_a_value(_name_of(atom)))


def _makes_a_value(name: str) -> bool:
    return name in FUNCTIONS or name in FOLDED or name == "equal"


def _name_of(atom: BuiltinAtom) -> str:
    return atom.builtin.value.removeprefix(SWRL_BUILTINS)


def _builtin(atom: BuiltinAtom, names: _Names, bound: set[Variable]) -> Item:
    name = _name_of(atom)
    terms = [names.term(argument) for argument in atom.arguments]
    if name in COMPARISONS and len(terms) == 2:
        if name == "equal" and isinstance(terms[0], Variable) and terms[0] not in bound:
            return Bind(terms[1], terms[0])
        return Filter(Call(COMPARISONS[name], tuple(terms)))
    if name in TESTS and len(terms) >= 2:
        return Filter(Call(TESTS[name], tuple(terms)))
    if name in ("stringEqualIgnoreCase", "containsIgnoreCase") and len(terms) == 2:
        one, other = (Call("LCASE", (term,)) for term in terms)
        return Filter(Call("CONTAINS" if name.startswith("c") else "=", (one, other)))
    value = _value(name, terms[1:])
    if isinstance(terms[0], Variable) and terms[0] not in bound:
        return Bind(value, terms[0])
    return Filter(Call("=", (terms[0], value)))


def _value(name: str, terms: Sequence[Term]) -> Expression:
    if name in FOLDED and len(terms) >= 2:
        value: Expression = terms[0]
        for term in terms[1:]:
            value = Call(FOLDED[name], (value, term))
        return value
    if name in FUNCTIONS and terms:
        return Call(FUNCTIONS[name], tuple(terms))
    raise _UnknownError(f"the built-in {name} is not known, or not with so many arguments")


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
