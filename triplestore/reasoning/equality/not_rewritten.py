"""What is not rewritten: names in axioms and rules. And rules that look at names.

Start reading at `TermUses` (of a program) and `NotRewritten` (terms). Rules made from axioms, and
users' rules, name classes, properties and some individuals; equals of these are left to the rules
of equality. Facts of representatives stand for those of their members only if no rule asks which
member it sees: `obstacle` is a rule that does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from triplestore.datalog.program import (
    Aggregate,
    Atom,
    Bind,
    Call,
    Constant,
    Filter,
    Item,
    Not,
    Program,
    Rule,
    TripleAtom,
    Variable,
    atoms_in,
)
from triplestore.expressions.functions import IN_DATATYPE, OF_LITERALS, SAME_VALUE
from triplestore.expressions.tree import Expression, calls_of, constants_of
from triplestore.ontologies.model import vocabulary as words
from triplestore.ontologies.translate import schema_rules, skos
from triplestore.reasoning.program.graph_scope import is_of_scope
from triplestore.reasoning.program.schema_reader import SchemaNames
from triplestore.relations.packed_keys import NO_IDS, U32, Bools, pack
from triplestore.terms import BLANK, IRI
from triplestore.terms.vocabulary import OWL_NAMED_INDIVIDUAL, OWL_SAME_AS

if TYPE_CHECKING:
    from triplestore.datalog.rules import Clause
    from triplestore.reasoning.program.settings import Regimes
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.relations import Tables
    from triplestore.terms import Dictionary

SAME_AS_KEY = b"\x01" + OWL_SAME_AS.encode()
_SAME_AS = Constant(SAME_AS_KEY)
_INDIVIDUAL = b"\x01" + OWL_NAMED_INDIVIDUAL.encode()

_COMPARING = frozenset(["=", "!=", "SAMETERM", "IN", "NOT IN", SAME_VALUE])
"""Functions that compare names; with a constant of the rule that is harmless."""

_COUNTING = frozenset(["count", "sum", "min", "max", "avg"])


class TermUses:
    """How a program uses terms.

    constants  the keys of all terms that it names
    obstacle   a rule or constraint that asks which name it sees, or None
    """

    def __init__(self, program: Program) -> None:
        self._ids: tuple[Dictionary, U32] | None = None
        self.constants: set[bytes] = set()
        self.obstacle: Clause | None = None
        spared = _replacing()
        for clause in (*program.rules, *program.constraints):
            self.constants.update(_constants(clause))
            if self.obstacle is None and clause not in spared and not is_of_scope(clause):
                self.obstacle = None if _is_blind(clause) else clause

    def ids(self, dictionary: Dictionary, committed: int) -> U32:
        """The ids of these terms, as far as there are any; kept if all have one that is committed:
        a transaction that fails takes others back."""
        if self._ids is not None and self._ids[0] is dictionary:
            return self._ids[1]
        found = dictionary.lookup_keys([*self.constants])
        if found.all() and int(found.max(initial=0)) <= committed:
            self._ids = dictionary, found
        known: U32 = found[found != 0]
        return known


def term_uses_of(rules: Rules) -> TermUses:
    """The same of rules, kept with them."""
    found: TermUses | None = rules.__dict__.get("looks")
    if found is None:
        found = rules.__dict__["looks"] = TermUses(rules.program)
    return found


@cache
def _replacing() -> frozenset[Clause]:
    """The rules of equality themselves, those about the vocabulary, whose filters compare what
    axioms name, and the conditions that compare literals."""
    texts = (schema_rules.EQUALITY, schema_rules.OWL_RL, schema_rules.RDFS, schema_rules.DIFFERENT)
    found = [schema_rules.vocabulary_rules(text) for text in texts]
    rules = (clause for one in found for clause in (*one.rules, *one.constraints))
    return frozenset([*rules, *skos.rules().constraints])


def _constants(clause: Clause) -> Iterator[bytes]:
    for head in _heads(clause):
        yield from (term.key for term in head.terms if isinstance(term, Constant))
    for atom, _ in atoms_in(clause.body):
        yield from (term.key for term in atom.terms if isinstance(term, Constant))
    for expression in _expressions(clause.body):
        yield from (constant.key for constant in constants_of(expression))


def _expressions(items: Iterable[Item]) -> Iterator[Expression]:
    for item in items:
        if isinstance(item, Filter | Bind):
            yield item.expression
        elif isinstance(item, Not | Aggregate):
            yield from _expressions(item.body)
            if isinstance(item, Aggregate):
                yield from (one.argument for one in item.results if one.argument is not None)


def _is_blind(rule: Clause) -> bool:
    """Whether a rule concludes the same of all names of a thing."""
    alike = _concludes_equal(rule)
    for item in rule.body:
        if isinstance(item, Filter) and not _is_blind_filter(item.expression, alike):
            return False
        if isinstance(item, Bind) and not _is_blind_value(item.expression):
            return False
        if isinstance(item, Not | Aggregate):
            if not all(_is_blind_filter(one, set()) for one in _expressions((item,))):
                return False
            if isinstance(item, Aggregate) and any(
                one.function not in _COUNTING for one in item.results
            ):
                return False
    return _equals_apart(rule, alike)


def _concludes_equal(rule: Clause) -> set[frozenset[Variable]]:
    """The pairs of variables that a rule concludes to be the same."""
    return {
        frozenset((head.s, head.o))
        for head in _heads(rule)
        if isinstance(head, TripleAtom) and head.p == _SAME_AS
        if isinstance(head.s, Variable) and isinstance(head.o, Variable)
    }


def _is_blind_filter(expression: Expression, alike: set[frozenset[Variable]]) -> bool:
    """Whether an expression does not distinguish names, except those that a rule makes equal."""
    for call in calls_of(expression):
        if call.function in OF_LITERALS:
            continue
        if call.function == IN_DATATYPE and isinstance(call.arguments[1], Constant):
            continue  # it is false of every IRI and blank node
        if call.function not in _COMPARING:
            return False
        variables = [part for part in call.arguments if not isinstance(part, Constant)]
        if len(variables) > 1 and frozenset(variables) not in alike:
            return False
    return True


def _is_blind_value(expression: Expression) -> bool:
    """Whether a computed value does not tell names apart and is not a name itself: a datatype may
    be a member of a class, and nothing replaces a computed one by its representative."""
    return (
        isinstance(expression, Call)
        and expression.function != "DATATYPE"
        and _is_blind_filter(expression, set())
    )


def _heads(clause: Clause) -> Sequence[Atom]:
    return clause.heads if isinstance(clause, Rule) else ()


def _equals_apart(rule: Clause, alike: set[frozenset[Variable]]) -> bool:
    """Whether a rule cannot conclude, nor ask, that something is the same as itself."""
    for head in _heads(rule):
        if isinstance(head, TripleAtom) and isinstance(head.p, Variable):
            return False
        if isinstance(head, TripleAtom) and head.p == _SAME_AS:
            pair = frozenset((head.s, head.o))
            if all(isinstance(term, Constant) for term in pair):
                continue  # these are named here, and not rewritten
            if not any(_keeps_apart(item, pair) for item in rule.body):
                return False
    found = 0
    for atom, _ in atoms_in(rule.body):
        if isinstance(atom, TripleAtom) and (isinstance(atom.p, Variable) or atom.p == _SAME_AS):
            found += 1
            if atom.s == atom.o:
                return False
    return found < 3  # three of them may ask for three different names


def _keeps_apart(item: Item, pair: frozenset[object]) -> bool:
    """Whether an item is FILTER(!SAMETERM(?x, ?y))."""
    if not isinstance(item, Filter):
        return False
    expressions = [item.expression]
    if isinstance(item.expression, Call) and item.expression.function == "&&":
        expressions = list(item.expression.arguments)
    return any(
        isinstance(one, Call)
        and one.function == "!"
        and isinstance(one.arguments[0], Call)
        and one.arguments[0].function == "SAMETERM"
        and frozenset(one.arguments[0].arguments) == pair
        for one in expressions
    )


# -- terms ----------------------------------------------------------------------------------------


class NotRewritten:
    """Which terms are not rewritten, as tables of representatives and a program have it.

    committed  how many terms of the dictionary are committed
    """

    def __init__(
        self, dictionary: Dictionary, rules: Rules, regimes: Regimes, committed: int
    ) -> None:
        self._dictionary = dictionary
        looks = term_uses_of(rules)
        self.obstacle = looks.obstacle
        names = SchemaNames(dictionary)
        self._type_id = names.type_id
        self.predicates = names.predicates
        kinds = [b"\x01" + node.value.encode() for node in words.DECLARATION_CLASSES]
        found = dictionary.lookup_keys([key for key in kinds if key != _INDIVIDUAL])
        self.classes = np.union1d(names.classes, found[found != 0])
        parts = [names.predicates, self.classes, names.special, looks.ids(dictionary, committed)]
        self._words: U32 = np.unique(np.concatenate(parts))
        self._graphs = dictionary.lookup_keys(regimes.graphs) if regimes.graphs else NO_IDS

    def among(self, ids: U32, tables: Tables) -> Bools:
        """Which of these, that are members of no other class, are not rewritten."""
        if self.obstacle is not None:
            return np.ones(len(ids), dtype=np.bool_)
        kinds = self._dictionary.kinds(ids)
        found: Bools = (kinds != IRI) & (kinds != BLANK)
        found |= self.are_words(ids)
        found |= np.isin(ids, tables.names())
        for role in (0, 1):
            places, names = tables.predicates_of(ids, role)
            for name in np.unique(names[np.isin(names, self.predicates)]).tolist():
                here = places[names == name]
                found[here] |= tables.relation(name).semijoin(role, ids[here])
        if self._type_id:
            types = tables.relation(self._type_id)
            for class_ in self.classes.tolist():
                if types.semijoin(1, np.array([class_], dtype=np.uint32))[0]:
                    keys = pack(ids, np.full(len(ids), class_, dtype=np.uint32))
                    found |= types.status_of_keys(keys) != 0
        return found

    def are_words(self, ids: U32) -> Bools:
        """Which of these are in the program, or are names of the vocabulary."""
        found: Bools = np.isin(ids, self._words)
        return found
