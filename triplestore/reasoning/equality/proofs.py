"""Why a fact holds where equals are rewritten: proofs with the rules of equality put back.

Start reading at `EqualityProofs.proof`. The engine proves facts of representatives from images of
asserted facts. Here each image becomes the asserted fact by eq-rep-s and eq-rep-o, and the goal is
made from its image in the same way. An equality between two
members is a way from one to the other through equalities that are asserted or concluded
(`equality.levels`), put together by eq-trans. What is proved with fewer equalities goes before: so
nothing is proved by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from triplestore.datalog.program import (
    TYPE,
    Atom,
    Constant,
    Constraint,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
)
from triplestore.errors import UsageError
from triplestore.maintenance.strategies import strategy
from triplestore.maintenance.update import update
from triplestore.ontologies.translate import schema_rules
from triplestore.proofs import Limits, Proof, Written, why
from triplestore.proofs.closed_facts import Closed, Passing
from triplestore.proofs.origins import fill
from triplestore.proofs.steps import ProofPart, ProofStep
from triplestore.reasoning.equality.classes import functional
from triplestore.reasoning.equality.levels import EqualityLevels
from triplestore.reasoning.program.graph_scope import is_of_scope, rule_of
from triplestore.reasoning.program.schema_reader import SchemaNames
from triplestore.reasoning.violations import variables_of
from triplestore.relations import EXPLICIT, ChangedRows, Changes, Layer, Tables
from triplestore.relations.packed_keys import U32
from triplestore.relations.views.equality import Classes, Equality
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.modules.written_out import Choice
from triplestore.terms.vocabulary import RDF_TYPE, RDFS_SUB_PROPERTY_OF

if TYPE_CHECKING:
    from triplestore.reasoning.equality.scoped_rows import AssertedRelations
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.reasoning.readable_state import ReadableState

IdTriple = tuple[int, int, int]
"""A fact: subject, predicate, object."""

TOP = 1 << 30
"""The level of what is proved with all equalities."""


class KnownStep(NamedTuple):
    """A step of a proof, and how many levels of equalities it needs."""

    level: int
    step: ProofStep


@cache
def _rule(name: str) -> Rule:
    """One of the rules of equality, for any property."""
    text = schema_rules.EQUALITY + schema_rules.OWL_RL_TRIVIAL
    found = (rule for rule in schema_rules.vocabulary_rules(text).rules if rule.name == name)
    return next(r.split()[0] for r in found if not _is_of_axioms(r))


def _is_of_axioms(rule: Rule) -> bool:
    head = rule.heads[0]
    words = isinstance(head, TripleAtom) and isinstance(head.p, Constant)
    return words and rule.name.startswith("eq-rep")


class EqualityProofs:
    """Proofs of one state."""

    def __init__(
        self,
        view: ReadableState,
        rules: Rules,
        equality: Equality,
        limits: Limits,
        members: int,
        prefixes: Mapping[str, str],
    ) -> None:
        self._dictionary = view.dictionary
        self._rules = rules
        self._written = Written(rules.program)
        self._limits, self._members, self._prefixes = limits, members, prefixes
        self._tables, self._equality = view.tables, equality
        self._words = SchemaNames(view.dictionary).predicates
        worlds = EqualityLevels(view.tables, equality, view.dictionary, self._close, self._words)
        self._worlds = worlds
        self._steps: dict[Atom, KnownStep] = {}
        self._least = True

    def holds(self, atom: Atom) -> bool:
        """Whether a fact holds, in its own terms."""
        if isinstance(atom, TupleAtom):
            tables = self._equality.tables
            return Closed(self._written, tables, self._dictionary).holds(self.image(atom))
        s, p, o = self._ids(atom)
        return bool(s and p and o and self._tables.relation(p).status(s, o))

    def proof(self, atom: Atom) -> Proof:
        """The proof of a fact that holds, in its own terms.

        Its parts are the least ones: proofs of facts of representatives, and ways of equalities.
        """
        if isinstance(atom, TupleAtom):
            image = self.image(atom)
            self._explain(image, TOP)
            atom = self._own(atom, self._steps[image].step)
        else:
            self._prove(self._ids(atom), TOP)
        steps = _measured(atom, self._steps)
        return Proof(atom, steps, least=self._least, prefixes=self._prefixes)

    def _own(self, row: TupleAtom, step: ProofStep) -> Atom:
        """A step for a violation in its own terms, from that of its image."""
        if row == step.fact or not isinstance(step.rule, Constraint):
            return step.fact
        names = variables_of(step.rule)
        values = row.args[len(row.args) - len(names) :]
        own = {Variable(n): Constant(_key(one)) for n, one in zip(names, values, strict=True)}
        parts = []
        for part in step.parts:
            filled = fill(part.item, own)
            if isinstance(filled, TripleAtom):
                self._prove(self._ids(filled), TOP)
                parts.append(replace(part, filled=filled, fact=filled))
            else:
                parts.append(part if part.fact else replace(part, filled=filled))
        self._put(TOP + 1, ProofStep(row, step.rule, own, tuple(parts)))
        return row

    def image(self, atom: Atom) -> Atom:
        """The fact of representatives that a fact is an image of."""
        ids = self._dictionary.lookup_keys([_key(term) for term in atom.terms])
        reps = np.where(ids == 0, 0, self._equality.classes.representatives(ids)).tolist()
        by = {
            term: term if not rep else Constant(self._dictionary.key(rep))
            for term, rep in zip(atom.terms, reps, strict=True)
        }
        return atom.map(lambda term: by[term])

    def _ids(self, atom: Atom) -> IdTriple:
        s, p, o = self._dictionary.lookup_keys([_key(term) for term in atom.terms]).tolist()
        return s, p, o

    def _atom(self, fact: IdTriple) -> TripleAtom:
        return TripleAtom(*(Constant(self._dictionary.key(number)) for number in fact))

    def _put(self, level: int, step: ProofStep) -> None:
        known = self._steps.get(step.fact)
        if known is None or level < known.level:
            self._steps[step.fact] = KnownStep(level, step)

    # -- facts ----------------------------------------------------------------------------------

    def _world(self, level: int) -> tuple[Classes, Tables]:
        if level == TOP:
            return self._equality.classes, self._equality.tables
        return self._worlds.known(level), self._worlds.closed(level)

    def _prove(self, fact: IdTriple, level: int) -> None:
        """Steps for a fact that holds in the world of a level."""
        s, p, o = fact
        classes, _ = self._world(level)
        image = self._image(classes, fact)
        if self._is_stated(fact):
            self._state(fact)
        elif p == self._worlds.same_as and s != o and image[0] == image[2]:
            self._same(s, o, level)
        else:
            self._explain(self._atom(image), level)
            self._replace(image, fact, level)

    def _image(self, classes: Classes, fact: IdTriple) -> IdTriple:
        s, o = classes.representatives(np.array([fact[0], fact[2]], dtype=np.uint32)).tolist()
        return s, fact[1], o

    def _is_stated(self, fact: IdTriple) -> bool:
        s, p, o = fact
        own = self._worlds.stored.relation(p).status(s, o) == EXPLICIT
        return own or self._worlds.told.in_scope(s, p, o)

    def _state(self, fact: IdTriple) -> None:
        """The step of a asserted fact; if it is a graph that states it, that this is so."""
        s, p, o = fact
        if self._worlds.stored.relation(p).status(s, o) == EXPLICIT:
            self._put(-1, ProofStep(self._atom(fact)))
            return
        key = self._dictionary.key
        rule = rule_of(key(p), key(o))
        values = {"x": s} if rule.heads[0].terms[1] == TYPE else {"x": s, "y": o}
        self._by(rule, -1, **values)

    def _explain(self, atom: Atom, level: int) -> None:
        """Steps for a fact of representatives, and for the asserted facts that it comes from."""
        _, tables = self._world(level)
        proof = why(
            self._written,
            tables,
            self._dictionary,
            atom,
            members=self._members,
            limits=self._limits,
            prefixes=self._prefixes,
        )
        self._least &= proof.least
        for step in proof:
            if is_of_scope(step.rule) or (step.stated and isinstance(step.fact, TripleAtom)):
                self._leaf(self._ids(step.fact), level)
            else:
                self._put(level + 1, step)

    def _leaf(self, image: IdTriple, level: int) -> None:
        """Steps for the image of a asserted fact."""
        s, p, o = image
        classes, _ = self._world(level)
        if self._is_stated(image):
            self._state(image)
        elif p == self._worlds.same_as and s == o:
            other = next(n for n in classes.of_same(s).tolist() if n != s)
            self._same(s, other, level)
            self._by(_rule("eq-ref"), level + 1, s=s, p=p, o=other)
        else:
            stated = self._original(classes, image)
            self._state(stated)
            self._replace(stated, image, level)

    def _original(self, classes: Classes, image: IdTriple) -> IdTriple:
        """A asserted fact with this image."""
        s, p, o = image
        relation = self._worlds.told.relation(p)
        members = classes.of_same(s), classes.of_same(o)
        place = 0 if len(members[0]) <= len(members[1]) or len(members[1]) > 1 else 1
        index, (found,) = relation.probe((place,), (members[place],), EXPLICIT)
        (rows,) = np.isin(found, members[1 - place]).nonzero()
        ends = int(members[place][index[rows[0]]]), int(found[rows[0]])
        return (ends[0], p, ends[1]) if place == 0 else (ends[1], p, ends[0])

    def _replace(self, known: IdTriple, wanted: IdTriple, level: int) -> None:
        """Steps from one name to another, in both places of a fact."""
        (s, p, o), (t, _, u) = known, wanted
        if s != t:
            self._same(s, t, level)
            self._by(_rule("eq-rep-s"), level + 1, s=s, t=t, p=p, o=o)
        if o != u:
            self._same(o, u, level)
            self._by(_rule("eq-rep-o"), level + 1, s=t, p=p, o=o, t=u)

    def _by(self, rule: Rule, level: int, **values: int) -> None:
        """A step by one of the rules of equality; what it needs has steps."""
        given = {Variable(n): Constant(self._dictionary.key(i)) for n, i in values.items()}
        parts = []
        for item in rule.body:
            filled = fill(item, given)
            fact_of = filled if isinstance(filled, TripleAtom) else None
            parts.append(ProofPart(item, filled, fact=fact_of))
        head = fill(rule.heads[0], given)
        assert isinstance(head, TripleAtom)
        self._put(level, ProofStep(head, rule, given, tuple(parts)))

    # -- equalities -----------------------------------------------------------------------------

    def _same(self, one: int, other: int, most: int) -> None:
        """Steps for an equality within a class of the world of a level."""
        known = self._steps.get(self._atom((one, self._worlds.same_as, other)))
        if known is not None and known.level <= most:
            return
        level = self._worlds.level_of(one, other, most)
        path = self._worlds.path(one, other, level)
        for first, second in pairwise(path):
            self._edge(first, second, level)
        self._chain(path, level)

    def _chain(self, path: list[int], level: int) -> None:
        """A way put together, halved again and again so that its proof is not high."""
        if len(path) < 3:
            return
        half = len(path) // 2
        self._chain(path[: half + 1], level)
        self._chain(path[half:], level)
        x, y, z = path[0], path[half], path[-1]
        self._by(_rule("eq-trans"), level, x=x, y=y, z=z)

    def _edge(self, one: int, other: int, most: int) -> None:
        """Steps for an equality that is asserted, or that rules conclude."""
        keys = np.array([one << 32 | other, other << 32 | one], dtype=np.uint64)
        for level in range(most + 1):
            there, back = self._worlds.has(keys, level).tolist()
            if there or back:
                ends = (one, other) if there else (other, one)
                self._found(*ends, level)
                if not there:
                    self._by(_rule("eq-sym"), level, x=other, y=one)
                return

    def _found(self, one: int, other: int, level: int) -> None:
        """Steps for an equality of a level."""
        fact = one, self._worlds.same_as, other
        if level == 0:
            self._state(fact)
        elif level > 1:
            self._explain(self._atom(fact), level - 1)
        else:
            try:
                steps = [*self._of_values(fact)]
            except UsageError:  # rules that need more than these values
                self._explain(self._atom(fact), 0)
                return
            for step in steps:
                if step.stated:
                    self._state(self._ids(step.fact))
                else:
                    self._put(0, step)

    def _of_values(self, fact: IdTriple) -> Proof:
        """The proof that two asserted values of a functional property are the same: from these."""
        stored = self._worlds.told
        ends = np.array([fact[0], fact[2]], dtype=np.uint32)
        type_id, below = self._dictionary.lookup_keys([_TYPE, _SUB_PROPERTY]).tolist()
        rows: set[IdTriple] = set()
        for order in (0, 1):  # the third term is the subject, or the object
            for some in functional(stored, self._dictionary, self._words, order):
                rows |= {*_shared(stored, some, ends, 1 - order)}
        waiting = sorted({p for _, p, _ in rows})
        for name in waiting:  # which grows
            for about in (type_id, below):
                told = stored.relation(about).by_first(name, EXPLICIT).tolist() if about else []
                rows |= {(name, about, one) for one in told}
                waiting += [one for one in told if about == below and one not in waiting]
        if not rows:
            raise UsageError("no property is asserted to be functional that gives this equality")
        s, p, o = (np.array(column, dtype=np.uint32) for column in zip(*rows, strict=True))
        small = Tables([Layer.build(Changes(facts=ChangedRows.of((p, s, o))))])
        closed = self._close(small)
        return why(
            self._written, closed, self._dictionary, self._atom(fact), prefixes=self._prefixes
        )

    def _close(self, stated: Tables) -> Tables:
        """The closure of asserted facts of representatives, in memory."""
        terms = Passing(self._dictionary)
        compiled = Compiled(self._rules.program, terms.encode_keys)
        choice = Choice("plain")
        closure = update(
            compiled, stated, stated, {}, {}, strategy("dredc"), terms=terms, choice=choice
        )
        closed = stated.push(closure.layer) if len(closure) else stated
        return closed.with_schemes(closure.work.schemes_after())


_TYPE = b"\x01" + RDF_TYPE.encode()
_SUB_PROPERTY = b"\x01" + RDFS_SUB_PROPERTY_OF.encode()

MAX_SHARED = 3
"""Maximum number of common values of a property that are tried for two things."""


def _key(term: object) -> bytes:
    assert isinstance(term, Constant)
    return term.key


def _shared(stored: AssertedRelations, names: U32, ends: U32, place: int) -> list[IdTriple]:
    """Asserted facts of properties with these two ends in one place, and a common third term."""
    found: list[tuple[int, int, int]] = []
    for name in names.tolist():
        index, (others,) = stored.relation(name).probe((place,), (ends,), EXPLICIT)
        of = zip(index.tolist(), others.tolist(), strict=True)
        found += [(other, i, name) for i, other in of]
    common = {other for other, i, _ in found if i == 0} & {other for other, i, _ in found if i == 1}
    chosen = sorted(common)[:MAX_SHARED]
    rows = [(int(ends[i]), name, other) for other, i, name in found if other in chosen]
    return rows if place == 0 else [(other, name, end) for end, name, other in rows]


def _measured(goal: Atom, known: Mapping[Atom, KnownStep]) -> dict[Atom, ProofStep]:
    """The steps that a goal needs, the goal first, with their heights and sizes."""
    order: list[Atom] = []
    done: set[Atom] = set()
    waiting: list[tuple[Atom, bool]] = [(goal, False)]
    while waiting:
        fact, ready = waiting.pop()
        if ready:
            order.append(fact)
        elif fact not in done and fact in known:
            done.add(fact)
            waiting.append((fact, True))
            waiting += [(need, False) for need in known[fact].step.needs]
    steps: dict[Atom, ProofStep] = {}
    for fact in order:
        step = known[fact].step
        if not step.stated:
            found = [steps[need] for need in step.premises if need in steps]
            height = 1 + max((one.height for one in found), default=0)
            step = replace(step, height=height, size=1 + sum(one.size for one in found))
        steps[fact] = step
    return dict(reversed(steps.items()))
