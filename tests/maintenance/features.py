"""What random programs are made of: how likely each feature is, and which of them a program has.

`ALL` has every feature. Of the programs of 1,000 cases (with all rules that a case ever adds), this
share has each of them; `test_programs.py` checks that none becomes rare:

    recursion 96%, classes 96%, literals 90%, rule_changes 90%, classes in a head 87%,
    constants 84%, tuples 78%, strata 76%, negation 72%, repeated 69%, repeated in a head 64%,
    constants in a head 63%, constraints 48%, tuples in a head 47%, negation_body 46%,
    filters 43%, binds 39%, several_heads 37%, cartesian 36%, aggregates 32%, variable_class 24%,
    variable_property 21%, bodiless 20%, variable_class in a head 19%,
    variable_property in a head 10%, negation_guard 6%
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from triplestore.datalog.program import (
    TYPE,
    Atom,
    Constant,
    Constraint,
    Filter,
    Item,
    Not,
    Program,
    Rule,
    Term,
    TupleAtom,
    Variable,
    atoms_in,
    bound_by,
    variables_in,
)
from triplestore.datalog.stratify import stratify


@dataclass(frozen=True)
class Features:
    """How likely each feature is where it could be; 0 switches it off."""

    recursion: float = 0.45  # an atom uses what its rule's stratum derives
    shapes: float = 0.2  # a rule is one that vocabularies have: transitive, symmetric, ...
    negation: float = 0.2  # NOT of one atom with variables of the rule
    negation_body: float = 0.1  # NOT of a body, or with local variables
    negation_guard: float = 0.05  # NOT whose FILTER has a variable that its atoms do not bind
    aggregates: float = 0.12
    constants: float = 0.12  # a term of an atom is one
    tuples: float = 0.15  # an atom is of a relation of three columns or four
    classes: float = 0.35  # an atom is a class atom
    variable_property: float = 0.05  # an atom is [?x, ?p, ?y]
    variable_class: float = 0.05  # an atom is [?x, rdf:type, ?c]
    repeated: float = 0.1  # a variable twice in an atom
    cartesian: float = 0.08  # an atom shares no variable with those before it
    filters: float = 0.12
    binds: float = 0.1
    several_heads: float = 0.12
    bodiless: float = 0.03  # a rule is a fact
    constraints: float = 0.08  # a clause is a constraint
    literals: float = 0.25  # an object of a fact is an integer
    rule_changes: float = 0.5  # a step changes the program

    def without(self, *names: str) -> Features:
        """The same without some features."""
        return replace(self, **dict.fromkeys(names, 0.0))

    def only(self, *names: str) -> Features:
        """Only some features, as likely as they are here."""
        return self.without(*(name for name in vars(self) if name not in names))


ALL = Features()
PLAIN = ALL.only("recursion", "negation", "constants", "classes", "repeated", "cartesian")
"""What the papers' rules have: atoms, and negation of single atoms."""


def found_in(program: Program) -> set[str]:
    """The features of a program by their names, and "strata" if it has several."""
    strata = stratify(program)
    found = set()
    if sum(bool(stratum.rules) for stratum in strata) > 1:
        found.add("strata")
    if any(any(stratum.cyclic) for stratum in strata):
        found.add("recursion")
    if program.constraints:
        found.add("constraints")
    for rule in program.rules:
        if len(rule.heads) > 1:
            found.add("several_heads")
        if not rule.body:
            found.add("bodiless")
        for head in rule.heads:
            found |= {f"{name} in a head" for name in found_in_atom(head)}
    for clause in (*program.rules, *program.constraints):
        found |= found_in_body(clause)
    return found


def found_in_body(clause: Rule | Constraint) -> set[str]:
    found = set()
    bound = set(bound_variables(clause.body))
    for atom, _ in atoms_in(clause.body):
        found |= found_in_atom(atom)
    for item in clause.body:
        if isinstance(item, Not):
            inner = {one for part in item.body for one in variables_in(part)}
            if any(isinstance(part, Filter) for part in item.body) and (
                bound & inner - set(bound_variables(item.body))
            ):
                found.add("negation_guard")
            elif len(item.body) > 1 or inner - bound:
                found.add("negation_body")
            else:
                found.add("negation")
    found |= {"aggregates"} if clause.aggregates else set()
    found |= {"filters"} if clause.filters else set()
    found |= {"binds"} if clause.binds else set()
    for atom in clause.atoms:
        others = {one for other in clause.atoms if other is not atom for one in variables_of(other)}
        if len(clause.atoms) > 1 and not others & set(variables_of(atom)):
            found.add("cartesian")
    return found


def found_in_atom(atom: Atom) -> set[str]:
    found = set()
    variables = variables_of(atom)
    if len(variables) > len(set(variables)):
        found.add("repeated")
    if isinstance(atom, TupleAtom):
        arguments: tuple[Term, ...] = atom.args
        found.add("tuples")
    elif isinstance(atom.p, Variable):
        arguments = (atom.s, atom.o)
        found.add("variable_property")
    elif atom.p != TYPE:
        arguments = (atom.s, atom.o)
    else:
        arguments = (atom.s,)
        found.add("variable_class" if isinstance(atom.o, Variable) else "classes")
    if any(isinstance(term, Constant) for term in arguments):
        found.add("constants")
    return found


def variables_of(atom: Atom) -> list[Variable]:
    return [term for term in atom.terms if isinstance(term, Variable)]


def bound_variables(items: Iterable[Item]) -> list[Variable]:
    """What a body binds, each variable once."""
    return list(dict.fromkeys(bound_by(items)))
