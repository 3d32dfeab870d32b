"""`why` and `audit` on a store: facts as given by callers, and the rules in force.

Start reading at `explain`. Nothing is written, so this also works on a store opened read-only, and
on uncommitted writes of a transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

from triplestore.datalog.program import (
    TYPE,
    Atom,
    Constant,
    Program,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
)
from triplestore.datalog.text import WELL_KNOWN, parse
from triplestore.errors import UsageError
from triplestore.expressions.text.term_parser import Stop, TermParser
from triplestore.expressions.text.tokens import Tokens
from triplestore.ontologies.translate.regimes import OWL_EL
from triplestore.proofs import Limits, Proof, ProofStep, WhyNot, Written, why, why_not
from triplestore.proofs.audit import Audit, Difference, audit
from triplestore.proofs.closed_facts import Closed, Passing
from triplestore.reasoning.program.in_force import InForce
from triplestore.reasoning.reports.check_counts import wrong_counts
from triplestore.reasoning.violations import NOTHING, Violation, variables_of
from triplestore.relations.views.equality import (
    MEMBERS_KEY,
    Classes,
    equality_of,
    reasoned,
    without_members,
)
from triplestore.rules.compiled_program import Compiled
from triplestore.store.arguments import QuadLike, quad_keys
from triplestore.terms import Term, key_of, term_of
from triplestore.terms.vocabulary import OWL

if TYPE_CHECKING:
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.reasoning.progress import ProgressLine
    from triplestore.store.state_view import StateView

_PlainFact: TypeAlias = QuadLike | TripleAtom | TupleAtom | str
FactLike: TypeAlias = _PlainFact | Violation
"""A quad, triple or tuple of terms; a `Violation`; or a text: `:a :p :b` or `:p[:a, :b]`."""


def explain(
    view: StateView, fact: FactLike, alternatives: int, members: int, seconds: float
) -> Proof | WhyNot:
    """The smallest proof of a fact; for one that does not hold, why not."""
    rules = view.rules()
    written = Written(Program()) if rules is None else _written(rules)
    prefixes = {**WELL_KNOWN, **written.program.prefixes, **view.prefixes}
    atoms = _atoms_of(fact, prefixes, written)
    if _is_trivial(view, atoms[0]):
        return _trivial(atoms[0], prefixes)
    limits, dictionary = Limits(seconds), view.dictionary
    equality = equality_of(view.tables)
    if equality is not None and rules is not None:
        # Late: few runs need it.
        from triplestore.reasoning.equality.proofs import EqualityProofs

        lifting = EqualityProofs(view, rules, equality, limits, members, prefixes)
        atom = next(filter(lifting.holds, atoms), None)
        if atom is not None:
            return lifting.proof(atom)
        atom = lifting.image(atoms[0])
        absent = why_not(written, equality.tables, dictionary, atom, prefixes=prefixes)
        return _with_axioms(view, rules, absent)
    closed = Closed(written, view.tables, dictionary)
    atom = next(filter(closed.holds, atoms), None)
    if atom is None:
        absent = why_not(written, view.tables, dictionary, atoms[0], prefixes=prefixes)
        absent = _with_axioms(view, rules, absent)
        if OWL_EL not in view.regimes:
            return absent
        # Late: few stores have this regime.
        from triplestore.classification.el_absence import el_absence

        return el_absence(absent, view, prefixes)
    proof = why(
        written,
        view.tables,
        dictionary,
        atom,
        alternatives=alternatives,
        members=members,
        limits=limits,
        prefixes=prefixes,
    )
    if OWL_EL not in view.regimes:
        return proof
    # Late: few stores have this regime.
    from triplestore.classification.el_proof import el_proof

    return el_proof(proof, view, prefixes)


def triple_of(view: StateView, fact: FactLike) -> tuple[tuple[Any, Any, Any], Mapping[str, str]]:
    """The terms of a triple that holds, as a caller gives it, and the prefixes to print by."""
    prefixes = {**WELL_KNOWN, **view.prefixes}
    (atom, *_) = _atoms_of(fact, prefixes, Written(Program()))
    if not isinstance(atom, TripleAtom):
        raise UsageError(f"{atom} is not a triple")
    s, p, o = (term.key for term in atom.terms if isinstance(term, Constant))
    ids = view.dictionary.lookup_keys([s, p, o]).tolist()
    if 0 in ids or not view.tables.relation(ids[1]).has(ids[0], ids[2]):
        raise UsageError(f"{atom} does not hold, so it has no justification: ask why")
    return (term_of(s), term_of(p), term_of(o)), prefixes


def proof_of(view: StateView, atom: Atom, members: int, seconds: float) -> Proof | None:
    """The smallest proof of a fact; None if it does not hold, without reasons."""
    rules = view.rules()
    written = Written(Program()) if rules is None else _written(rules)
    prefixes = {**WELL_KNOWN, **written.program.prefixes, **view.prefixes}
    limits, equality = Limits(seconds), equality_of(view.tables)
    if equality is not None and rules is not None:
        # Late: few runs need it.
        from triplestore.reasoning.equality.proofs import EqualityProofs

        lifting = EqualityProofs(view, rules, equality, limits, members, prefixes)
        return lifting.proof(atom) if lifting.holds(atom) else None
    if not Closed(written, view.tables, view.dictionary).holds(atom):
        return _trivial(atom, prefixes) if _is_trivial(view, atom) else None
    return why(
        written,
        view.tables,
        view.dictionary,
        atom,
        members=members,
        limits=limits,
        prefixes=prefixes,
    )


def _with_axioms(view: StateView, rules: Rules | None, absent: WhyNot) -> WhyNot:
    """The answer with axioms that have no rules, which may be the reason."""
    # Late: it needs `ontologies` or `maintenance`, and few runs ask for it.
    from triplestore.reasoning.reports.beyond_rules import axioms_beyond

    return replace(absent, outside=tuple(axioms_beyond(view, rules, absent.fact)))


def _is_trivial(view: StateView, atom: Atom) -> bool:
    """Whether a triple that was not asserted holds for any data."""
    if not view.regimes or not isinstance(atom, TripleAtom):
        return False
    # Late: it needs `ontologies` or `maintenance`, and few runs ask for it.
    from triplestore.reasoning.trivial_facts import holds_anyway

    keys = [term.key for term in atom.terms if isinstance(term, Constant)]
    if len(keys) < 3 or not holds_anyway(view, *keys):
        return False
    s, p, o = view.dictionary.lookup_keys(keys).tolist()
    return not (s and p and o and view.tables.relation(p).has(s, o))


def _trivial(atom: Atom, prefixes: Mapping[str, str]) -> Proof:
    step = ProofStep(atom, Rule((atom,), (), "trivial"), {}, (), 1, 1)
    return Proof(atom, {atom: step}, prefixes=prefixes)


def audited(view: StateView, thorough: bool, progress: ProgressLine | None) -> Audit:
    """Whether the closure of a store is exact, and its counts agree with its rows."""
    rules, dictionary = view.rules(), view.dictionary
    equal: list[Difference] = []
    if isinstance(rules, InForce):
        # Late: few runs need it.
        from triplestore.reasoning.program.asserted_rules import classes_of, close_asserted

        rules, dictionary, anew = close_asserted(view.tables, dictionary, rules, progress)
        equal = _equals_compared(view, classes_of(view.tables), anew)
    program = Program() if rules is None else rules.program
    terms = Passing(dictionary)
    compiled = Compiled(program, terms.encode_keys)
    prefixes = {**WELL_KNOWN, **program.prefixes, **view.prefixes}
    (members,) = view.dictionary.lookup_keys([MEMBERS_KEY]).tolist()
    tables = without_members(reasoned(view.tables), members)
    found = audit(
        compiled,
        tables,
        terms,
        thorough=thorough,
        progress=progress,
        prefixes=prefixes,
    )
    counts = wrong_counts(view.tables, view.dictionary, view.hidden)
    return replace(found, differences=[*found.differences, *equal], counts=counts)


def _equals_compared(view: StateView, classes: Classes, anew: Classes) -> list[Difference]:
    """Equalities in force that are not inferred anew, and the other way round."""
    found = []
    for kind, ours, theirs in (("unfounded", classes, anew), ("missing", anew, classes)):
        apart = theirs.representatives(ours.members) != theirs.representatives(ours.heads)
        pairs = zip(ours.members[apart].tolist(), ours.heads[apart].tolist(), strict=True)
        texts = [" owl:sameAs ".join(map(str, map(view.dictionary.term, pair))) for pair in pairs]
        if texts:
            found.append(Difference(kind, len(texts), texts[:_EXAMPLES]))
    return found


_EXAMPLES = 5


_WRITTEN: WeakKeyDictionary[Rules, Written] = WeakKeyDictionary()
"""Weak, because rules may refer to a dictionary, which must not live longer than its store."""


def _written(rules: Rules) -> Written:
    found = _WRITTEN.get(rules)
    if found is None:
        found = _WRITTEN[rules] = Written(rules.program)
    return found


# -- facts ----------------------------------------------------------------------------------------


def atoms_meant(view: StateView, fact: FactLike) -> list[Atom]:
    """The facts that a caller may mean: of a violation there may be several."""
    rules = view.rules()
    written = Written(Program()) if rules is None else _written(rules)
    return _atoms_of(fact, {**WELL_KNOWN, **written.program.prefixes, **view.prefixes}, written)


def _atoms_of(fact: FactLike, prefixes: Mapping[str, str], written: Written) -> list[Atom]:
    """The facts that may be meant: for a violation there may be several."""
    if isinstance(fact, Violation):
        return _rows_of(fact, written)
    return [_atom_of(fact, prefixes)]


def _atom_of(fact: _PlainFact, prefixes: Mapping[str, str]) -> Atom:
    if isinstance(fact, str):
        return fact_of_text(fact, prefixes)
    if isinstance(fact, TripleAtom | TupleAtom):
        return fact
    s, p, o, graph = quad_keys(fact)
    if graph is not None:
        raise UsageError(
            "facts of named graphs are always asserted: only the default graph has inferred facts"
        )
    return TripleAtom(Constant(s), Constant(p), Constant(o))


def triple_of_text(text: str, prefixes: Mapping[str, str]) -> tuple[bytes, bytes, bytes]:
    """The keys of a triple in a text such as `:a :p :b`."""
    atom = fact_of_text(text, {**WELL_KNOWN, **prefixes})
    if not isinstance(atom, TripleAtom):
        raise UsageError(f"{text} is not a triple: say it as in Turtle, :subject :property :object")
    s, p, o = (term.key for term in atom.terms if isinstance(term, Constant))
    return s, p, o


def _rows_of(violation: Violation, written: Written) -> list[Atom]:
    """The row of the helper relation that a violation was read from.

    If the caller made or kept it, or its constraint has another relation now: the rows of all
    constraints that are like its own, those of the same axioms first.
    """
    values = {name: Constant(key_of(term)) for name, term in violation.values.items()}
    if violation.constraint == NOTHING:
        return [TripleAtom(values["x"], TYPE, Constant.iri(f"{OWL}Nothing"))]
    known = written.simple.violations
    if violation.relation in known:
        found = [violation.relation]
    else:
        named = violation.constraint, violation.message, sorted(values)
        alike = ((one.id, one.message, variables_of(one)) for one in known.values())
        found = [key for key, its in zip(known, alike, strict=True) if its == named]
        found.sort(key=lambda key: known[key].axioms != violation.axioms)
    if not found:
        problem = f"constraint {violation.constraint!r} with these variables does not exist now"
        raise UsageError(f"{problem}: read violations() again")
    return [_row(key, [values[name] for name in variables_of(known[key])]) for key in found]


def _row(relation: bytes, values: list[Constant]) -> TupleAtom:
    name = Constant(relation)
    return TupleAtom(name, (name,) * (3 - len(values)) + tuple(values))


def fact_of_text(text: str, prefixes: Mapping[str, str]) -> Atom:
    """A fact as in Turtle, or as in rules.

    >>> print(fact_of_text("<http://e/a> a :C", {"": "http://e/"}))
    <http://e/C>[<http://e/a>]
    >>> print(fact_of_text(":r[:a, 1, true]", {"": "http://e/"}))
    <http://e/r>[<http://e/a>, 1, true]
    """
    text = text.strip()
    try:
        return _in_rules(text, prefixes) or _in_turtle(text, prefixes)
    except _NotAFact as error:
        raise UsageError(
            f"{text!r} is not a fact: {error}; write it as in Turtle (:ada :parent :bob) or in "
            "rules (:parent[:ada, :bob])"
        ) from None


def name_of_text(text: str, prefixes: Mapping[str, str]) -> Term:
    """The IRI of a name as in rules, in full or with a prefix.

    >>> print(name_of_text(":score", {"": "http://e/"}))
    <http://e/score>
    """
    parser = TermParser(Tokens(text.strip()), prefixes)
    try:
        if not parser.is_iri():
            parser.fail("an IRI <...> or a name with its prefix")
        found = parser.iri()
        if parser.at < len(parser.texts) - 1:
            parser.fail("the end of the name")
    except Stop:
        pass
    if parser.problems:
        raise UsageError(f"{text!r} is not a name: {parser.problems[0].message}")
    return found.term


class _NotAFact(Exception):  # noqa: N818 - it becomes a UsageError
    """Why a text is not a fact."""


def _in_rules(text: str, prefixes: Mapping[str, str]) -> Atom | None:
    """A fact in the notation of rules; None if it is in another one."""
    tokens = Tokens(text)
    if "[" not in tokens.texts:
        return None
    program, problems = parse(text if text.endswith(".") else f"{text} .", prefixes=prefixes)
    if problems:
        raise _NotAFact(problems[0].message)
    if len(program) != 1 or not program.rules:
        raise _NotAFact("expected one fact")
    (rule,) = program.rules
    return _only_head(rule)


def _only_head(rule: Rule) -> Atom:
    if rule.body or len(rule.heads) != 1:
        raise _NotAFact("that is a rule")
    (head,) = rule.heads
    for term in head.terms:
        if isinstance(term, Variable):
            raise _NotAFact(f"{term} is a variable")
    return head


def _in_turtle(text: str, prefixes: Mapping[str, str]) -> Atom:
    parser = TermParser(Tokens(text), prefixes)
    try:
        s = parser.constant("as subject")
        p = TYPE if parser.take_word("A") else parser.constant("as predicate")
        o = parser.constant("as object")
        parser.take(".")
        if parser.at < len(parser.texts) - 1:
            parser.fail("the end of the fact")
    except Stop:
        pass
    if parser.problems:
        raise _NotAFact(parser.problems[0].message)
    return TripleAtom(s, p, o)
