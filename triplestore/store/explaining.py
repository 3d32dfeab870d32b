"""What `why` and `audit` need of a store: facts as callers give them, and the rules in force.

Start reading at `explain`. Nothing is written, so that a store opened for reading can be asked,
and a transaction about what it has not committed yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from triplestore.datalog.program import (
    TYPE,
    Atom,
    Constant,
    Program,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
    bound_by,
)
from triplestore.datalog.text import WELL_KNOWN, parse
from triplestore.engine.audit import Audit, audit
from triplestore.engine.compiled import Compiled
from triplestore.engine.why import Limits, Proof, Step, WhyNot, Written, why, why_not
from triplestore.engine.why.closed import Closed, Passing
from triplestore.errors import UsageError
from triplestore.expr.term_parser import Stop, TermParser
from triplestore.expr.tokens import Tokens
from triplestore.store.quads import quad_keys
from triplestore.store.violations import NOTHING, Violation
from triplestore.tables.equality import MEMBERS_KEY, equality_of, reasoned, without_members
from triplestore.terms import Term, key_of
from triplestore.terms.vocabulary import OWL

if TYPE_CHECKING:
    from triplestore.store.progress import ProgressLine
    from triplestore.store.reading import View
    from triplestore.store.rules import Rules

FactLike: TypeAlias = Any
"""A quad, triple or tuple of terms; a `Violation`; or a text: `:a :p :b` or `:p[:a, :b]`."""


def explain(
    view: View, fact: FactLike, alternatives: int, members: int, seconds: float
) -> Proof | WhyNot:
    """The smallest proof of a fact; for one that does not hold, why not."""
    rules = view.rules()
    written = Written(Program()) if rules is None else _written(rules)
    prefixes = {**WELL_KNOWN, **written.program.prefixes, **view.prefixes}
    atom = _atom_of(fact, prefixes, written)
    if _is_trivial(view, atom):
        return _trivial(atom, prefixes)
    equality = equality_of(view.tables)
    if equality is not None and rules is not None:
        from triplestore.store.equality_paths import Lifting

        lifting = Lifting(view, rules, equality, Limits(seconds), members, prefixes)
        if lifting.holds(atom):
            return lifting.proof(atom)
        atom = lifting.image(atom)
        return why_not(written, equality.tables, view.dictionary, atom, prefixes=prefixes)
    if not Closed(written, view.tables, view.dictionary).holds(atom):
        return why_not(written, view.tables, view.dictionary, atom, prefixes=prefixes)
    return why(
        written,
        view.tables,
        view.dictionary,
        atom,
        alternatives=alternatives,
        members=members,
        limits=Limits(seconds),
        prefixes=prefixes,
    )


def _is_trivial(view: View, atom: Atom) -> bool:
    """Whether a triple that nobody stated holds whatever the data are; none is made of these."""
    if not view.regimes or not isinstance(atom, TripleAtom):
        return False
    from triplestore.store.trivial import holds_anyway

    keys = [term.key for term in atom.terms if isinstance(term, Constant)]
    if len(keys) < 3 or not holds_anyway(view, *keys):
        return False
    s, p, o = view.dictionary.lookup_keys(keys).tolist()
    return not (s and p and o and view.tables.relation(p).has(s, o))


def _trivial(atom: Atom, prefixes: Mapping[str, str]) -> Proof:
    step = Step(atom, Rule((atom,), (), "trivial"), {}, (), 1, 1)
    return Proof(atom, {atom: step}, prefixes=prefixes)


def audited(view: View, thorough: bool, progress: ProgressLine | None) -> Audit:
    """Whether the closure of a store is exact."""
    rules = view.rules()
    program = Program() if rules is None else rules.program
    terms = Passing(view.dictionary)
    compiled = Compiled(program, terms.encode_keys)
    prefixes = {**WELL_KNOWN, **program.prefixes, **view.prefixes}
    (members,) = view.dictionary.lookup_keys([MEMBERS_KEY]).tolist()
    tables = without_members(reasoned(view.tables), members)
    return audit(
        compiled,
        tables,
        terms,
        thorough=thorough,
        progress=progress,
        prefixes=prefixes,
    )


@lru_cache(maxsize=4)
def _written(rules: Rules) -> Written:
    return Written(rules.program)


# -- facts ----------------------------------------------------------------------------------------


def _atom_of(fact: FactLike, prefixes: Mapping[str, str], written: Written) -> Atom:
    if isinstance(fact, str):
        return fact_of_text(fact, prefixes)
    if isinstance(fact, Violation):
        return _row_of(fact, written)
    if isinstance(fact, TripleAtom | TupleAtom):
        return fact
    s, p, o, graph = quad_keys(fact)
    if graph is not None:
        raise UsageError("facts of named graphs are stated: only the default graph has inferences")
    return TripleAtom(Constant(s), Constant(p), Constant(o))


def _row_of(violation: Violation, written: Written) -> Atom:
    """The row of the helper relation that a violation was read from."""
    values = {name: Constant(key_of(term)) for name, term in violation.values.items()}
    if violation.constraint == NOTHING:
        return TripleAtom(values["x"], TYPE, Constant.iri(f"{OWL}Nothing"))
    for key, constraint in written.simple.violations.items():
        if (constraint.id, constraint.message) == (violation.constraint, violation.message):
            names = sorted({variable.name for variable in bound_by(constraint.body)})
            if names == sorted(values):
                name = Constant(key)
                padding = (name,) * (3 - len(names))
                return TupleAtom(name, padding + tuple(values[one] for one in names))
    raise UsageError(f"there is no constraint {violation.constraint!r} with such variables now")


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
    except _Malformed as error:
        raise UsageError(
            f"{text!r} is no fact: {error}; write one as in Turtle (:ada :parent :bob), or as in "
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
        raise UsageError(f"{text!r} is no name: {parser.problems[0].message}")
    return found.term


class _Malformed(Exception):  # noqa: N818 - it becomes a UsageError
    """Why a text is no fact."""


def _in_rules(text: str, prefixes: Mapping[str, str]) -> Atom | None:
    """A fact in the notation of rules; None if it is in another one."""
    tokens = Tokens(text)
    if "[" not in tokens.texts:
        return None
    program, problems = parse(text if text.endswith(".") else f"{text} .", prefixes=prefixes)
    if problems:
        raise _Malformed(problems[0].message)
    if len(program) != 1 or not program.rules:
        raise _Malformed("expected one fact")
    (rule,) = program.rules
    return _only_head(rule)


def _only_head(rule: Rule) -> Atom:
    if rule.body or len(rule.heads) != 1:
        raise _Malformed("that is a rule")
    (head,) = rule.heads
    for term in head.terms:
        if isinstance(term, Variable):
            raise _Malformed(f"{term} is a variable")
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
        raise _Malformed(parser.problems[0].message)
    return TripleAtom(s, p, o)
