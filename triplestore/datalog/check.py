"""Checks of a program without syntax errors; finds all problems at once.

Start at `check`; `require` raises them. The problems are

    unsafe-variable     an unbound variable in a head, filter, BIND or negation
    rebound             BIND or AGGREGATE binds a variable that has a value already
    scope               a name that is local to a negation or aggregate and also used outside
    nested              an item that is not allowed inside a negation or an aggregate
    function            an unknown function, or a wrong number of arguments
    non-deterministic   RAND, NOW, BNODE, ...: a closure must be the same each time
    arity               a relation used with different numbers of columns
    unstratifiable      negation or aggregation in a cycle
    generalised         (warning) a head that is not a triple of RDF
    endless             (warning) recursion that makes new values in each round
    unknown-name        (warning) an undefined relation with a name similar to a defined one

Always true: a program without errors can be stratified and evaluated; each problem has its
place in the file, if the program was read from one. Costs 1 to 10 us per rule, and stratification
if there are negations. To check a changing program repeatedly, keep a `Checked` of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import add
from typing import NamedTuple

from triplestore.datalog.check_clause import clause_problems, problem_at
from triplestore.datalog.problems import Problem, raise_errors
from triplestore.datalog.program import (
    TYPE,
    Aggregate,
    Atom,
    Bind,
    Constant,
    Constraint,
    Not,
    Program,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
    atoms_in,
)
from triplestore.datalog.slices import DependencyGraph, Slice, components, slice_of
from triplestore.datalog.stratify import cycle_problems
from triplestore.datalog.text import show
from triplestore.datalog.text.locate import Section
from triplestore.datalog.triple_limits import is_part, limited_triples, unlimited_triples
from triplestore.expressions.text.term_parser import MOST_LETTERS, nearest
from triplestore.expressions.tree import Call, variables_of
from triplestore.terms.term_keys import IRI, cache_of_short
from triplestore.thread_limits import looking


def check(
    program: Program, known: Collection[bytes] | None = None, checked: Checked | None = None
) -> list[Problem]:
    """The problems of a program, in the order of its rules.

    known    keys of the properties and classes of the data, to warn about names that neither the
             data nor a rule defines; without it, only very similar names are reported
    checked  a cache of the checks of its rules

    >>> from triplestore.datalog.text import read
    >>> for problem in check(read("PREFIX : <http://e/> :p[?who, ?y] :- :q[?whom, ?y] .")):
    ...     print(problem)
    input:1:25: error: ?who in the head is not bound by the body, which binds ?whom, ?y (did you
    mean ?whom?); use it in an atom of the body [unsafe-variable]
    """
    each = (checked or Checked()).look_at(program)
    problems = [problem for one in each for problem in one.problems]
    parts = {part for one in each for part in one.parts}
    if TupleAtom in parts:
        problems += _arity_problems(program)
    if Not in parts or Aggregate in parts:
        problems += cycle_problems(program, program.prefixes)
    if Bind in parts:
        problems += _endless_problems(program)
    problems += _name_problems(program, known)
    return problems


class Alone(NamedTuple):
    """The results of checking one clause by itself: its problems, and its contents."""

    clause: Rule | Constraint
    problems: Sequence[Problem]
    parts: Collection[type]


class Checked:
    """A cache of the checks of a program's clauses; those of removed clauses are dropped."""

    def __init__(self) -> None:
        self._known: dict[int, Alone] = {}  # by the identity of the clause, which is kept alive

    def look_at(self, program: Program) -> Collection[Alone]:
        """Check the new clauses."""
        known, found = self._known, dict[int, Alone]()
        for clause in looking(_clauses(program)):
            one = known.get(id(clause))
            if one is None:
                problems = clause_problems(clause, program.prefixes)
                one = Alone(clause, problems, _parts_of(clause))
            found[id(clause)] = one
        self._known = found
        return found.values()


def _parts_of(clause: Rule | Constraint) -> frozenset[type]:
    parts = {type(item) for item in clause.body}
    parts.update([type(atom) for atom, *_ in _atoms_of(clause)])
    return frozenset(parts) if parts != _ONLY_TRIPLES else _ONLY_TRIPLES


def require(program: Program, known: Collection[bytes] | None = None) -> list[Problem]:
    """Raise `ProgramError` with all problems if there is an error; else return the warnings."""
    problems = check(program, known)
    raise_errors(problems)
    return problems


def _clauses(program: Program) -> Iterator[Rule | Constraint]:
    yield from program.rules
    yield from program.constraints


def _atoms_of(clause: Rule | Constraint) -> Iterator[tuple[Atom, Section, int]]:
    if isinstance(clause, Rule):
        for index, head in enumerate(clause.heads):
            yield head, "head", index
    for index, item in enumerate(clause.body):
        for atom, _ in atoms_in((item,)):
            yield atom, "body", index


def _arity_problems(program: Program) -> Iterator[Problem]:
    """Relations with several numbers of columns; only a class and a property may share a name."""
    arity: dict[bytes, tuple[int, Rule | Constraint]] = {}
    for clause in _clauses(program):
        for atom, section, index in _atoms_of(clause):
            if isinstance(atom, TripleAtom):
                name, given = _name_of(atom), 2 if atom.p != TYPE else 1
            else:
                name, given = atom.name.key, len(atom.args)
            if name is None:
                continue
            first, where = arity.setdefault(name, (given, clause))
            if first == given or max(first, given) <= 2:
                continue
            shown = show(Constant(name), program.prefixes)
            place = f" at {where.source}" if where.source else ""
            yield problem_at(
                clause,
                "arity",
                f"{shown} has {given} columns here, but {first}{place}",
                "rename one of them",
                section,
                index,
                prefixes=program.prefixes,
            )


def _name_of(atom: TripleAtom) -> bytes | None:
    """The key of the property or class an atom is about, if it is a constant."""
    name = atom.o if atom.p == TYPE else atom.p
    return name.key if isinstance(name, Constant) else None


def _endless_problems(program: Program) -> Iterator[Problem]:
    """Rules that use their own conclusions, which have values computed by BIND."""
    rules = [part for rule in program.rules for part in rule.split()]
    graph = DependencyGraph(rules)
    component = components(graph.needs)
    for i, rule in enumerate(rules):
        made = _made(rule)
        used = made.intersection(rule.heads[0].terms)
        own = component[graph.first_rule + i]
        if used and any(component[node] == own for node in graph.positives[i]):
            settled = {
                term
                for atom, node in zip(rule.atoms, graph.positives[i], strict=True)
                for term in atom.terms
                if component[node] != own
            }
            nesting = unlimited_triples(rule, settled)
            if nesting is not None:
                yield _nesting_problem(rule, nesting, program.prefixes)
                continue
            if not used - limited_triples(rule):
                continue  # triple terms of terms that are there: there are finitely many
            variable = min(str(term) for term in used)
            yield problem_at(
                rule,
                "endless",
                f"the head has {variable}, which BIND computes, and the rule uses its own "
                "conclusions: each round may make new values, and the closure may be infinite",
                "limit it by a FILTER; every closure has a budget in facts, bytes and seconds",
                "head",
                0,
                variable[1:],
                warning=True,
                prefixes=program.prefixes,
            )


def _nesting_problem(rule: Rule, nesting: Bind, prefixes: Mapping[str, str]) -> Problem:
    assert isinstance(nesting.expression, Call)
    inner = nesting.expression.arguments[2]
    return problem_at(
        rule,
        "endless",
        f"{nesting.variable} is a triple term that the rule makes from its own conclusions: each "
        "round may nest it one deeper, without end",
        f"limit what it may contain, by FILTER(!ISTRIPLE({inner}))",
        "head",
        0,
        prefixes=prefixes,
    )


def _made(rule: Rule) -> set[Variable]:
    """Variables whose value a BIND computes from other values; parts of triple terms are not."""
    return {
        bind.variable
        for bind in rule.binds
        if not is_part(bind.expression) and any(True for _ in variables_of(bind.expression))
    }


_ONLY_TRIPLES: frozenset[type] = frozenset((TripleAtom,))
_MOST_NAMES = 3000
_LEAST = 4  # minimum length of a name that may be misspelt
_NEAR, _NEAR_DATA = 0.85, 0.7  # if the names of data are known, a misspelling is more likely


def _name_problems(program: Program, known: Collection[bytes] | None) -> Iterator[Problem]:
    """Undefined names in bodies that are similar to a defined one."""
    defined: dict[Slice, None] = {}
    for rule in program.rules:
        for atom in rule.heads:
            defined[slice_of(atom)] = None
        if len(defined) > _MOST_NAMES:
            return
    if any(not of.name for of in defined):
        return
    uses: dict[Slice, list[tuple[Rule | Constraint, int]]] = {}
    for clause in _clauses(program):
        for index, item in enumerate(clause.body):
            if type(item) is TripleAtom:
                uses.setdefault(slice_of(item), []).append((clause, index))
                continue
            for atom, _ in atoms_in((item,)):
                uses.setdefault(slice_of(atom), []).append((clause, index))
    if len(uses) > _MOST_NAMES:
        return
    taken = {of.name for of in defined} | set(known or ())
    names: dict[str, list[_LastPart]] = {}  # by the rest: only the last part may be misspelt
    for name in sorted(_text(name) for name in taken):
        head, last = _split(name)
        if _LEAST <= len(last) <= 2 * MOST_LETTERS:
            names.setdefault(head, []).append(_last_part(last))
    for of, places in uses.items():
        if not of.name or of.name[0] != IRI or of.name in taken:
            continue
        if known is None and len(places) > 1:
            continue
        near = _near(_text(of.name), names, _NEAR if known is None else _NEAR_DATA)
        if near is not None:
            clause, index = places[0]
            shown = show(Constant(of.name), program.prefixes)
            other = show(Constant.iri(near), program.prefixes)
            nothing = "no rule" if known is None else "no rule and no fact"
            yield problem_at(
                clause,
                "unknown-name",
                f"{nothing} has {shown} (did you mean {other}?)",
                "",
                "body",
                index,
                warning=True,
                prefixes=program.prefixes,
            )


def _text(key: bytes) -> str:
    return key[1:].decode()


class _LastPart(NamedTuple):
    """The last part of an IRI, without its digits, and its pairs of neighbouring letters."""

    name: str
    plain: str
    pairs: frozenset[str]


@cache_of_short(4096)
def _last_part(name: str) -> _LastPart:
    return _LastPart(name, name.translate(_NO_DIGITS), frozenset(map(add, name, name[1:])))


def _near(name: str, names: dict[str, list[_LastPart]], cutoff: float) -> str | None:
    """The IRI that differs from a name only in its last part, by letters, not by a number."""
    head, last = _split(name)
    if not _LEAST <= len(last) <= MOST_LETTERS:
        return None
    _, letters, pairs = _last_part(last)
    third, most_pairs = len(last) // 3, len(pairs)
    least, most = len(last) - third, len(last) + third
    others = [
        other
        for other, plain, its_pairs in names.get(head, ())
        if least <= len(other) <= most
        and 3 * len(pairs & its_pairs) >= most_pairs  # a misspelling keeps most pairs
        and plain != letters
    ]
    found = nearest(last, others, cutoff)
    return None if found is None else head + found


def _split(iri: str) -> tuple[str, str]:
    end = max(iri.rfind(sign) for sign in "#/:") + 1
    return iri[:end], iri[end:]


_NO_DIGITS = str.maketrans("", "", "0123456789")
