"""Proofs under `owl-el` in the ontologist's terms: what is below what, and because of which axioms.

Start reading at `ElProof`. The engine proves a conclusion from rows of the normal form; most of
its steps only say how an axiom was taken apart. Here a step is one subsumption, with the axioms
that it uses and the subsumptions before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from triplestore.classification.expression_names import ExpressionNames
from triplestore.data_classes import data_class
from triplestore.datalog.program import TYPE, Atom, Constant, Constraint, TripleAtom, TupleAtom
from triplestore.ontologies.translate.owl_el import HELPER, SAID, relation
from triplestore.proofs import Proof
from triplestore.terms.term_keys import IRI
from triplestore.terms.vocabulary import OWL, RDF_TYPE, RDFS

if TYPE_CHECKING:
    from triplestore.reasoning.readable_state import ReadableState

BELOW, _IMPOSSIBLE = relation("below"), relation("impossible")
_HIDDEN = frozenset(
    relation(name)
    for name in [
        "used",
        "class",
        "symbol",
        "needed",
        "end",
        "right",
        "linked",
        "target",
        "useful",
        "any",
        "cell",
        "option",
        "choice",
        "exclusive",
        "differing",
        "described",
        "filler",
        "datatype",
        "known",
        "property",
        "nominal",
    ]
)
"""Relations that only say how axioms are taken apart, or what is worth concluding."""
_HELPERS = frozenset(
    Constant.iri(HELPER + name)
    for name in [
        "restricted",
        "counted",
        "made",
        "asked",
        "conflict",
        "and",
        "some",
        "self",
        "universal",
    ]
)
_SIDES = frozenset(Constant.iri(HELPER + name) for name in ("wanted",))
SAYS = {
    RDFS + "subClassOf": "SubClassOf",
    OWL + "equivalentClass": "EquivalentTo",
    OWL + "disjointWith": "DisjointWith",
    RDFS + "subPropertyOf": "SubPropertyOf",
    OWL + "equivalentProperty": "EquivalentTo",
    RDFS + "domain": "Domain",
    RDFS + "range": "Range",
    OWL + "propertyChainAxiom": "SubPropertyChain",
    OWL + "intersectionOf": "EquivalentTo",
    OWL + "unionOf": "EquivalentTo",
    OWL + "disjointUnionOf": "DisjointUnionOf",
    OWL + "members": "DisjointClasses",
    OWL + "sameAs": "SameAs",
    OWL + "differentFrom": "DifferentFrom",
    RDF_TYPE: "Type",
}
"""Properties whose triples are axioms, not parts of one, in the words of Manchester syntax."""


_PLAIN = frozenset(("axiom", "subClassOf", "equivalentClass", "type"))
"""Names of rules that say no more than the axiom itself."""


class Said(NamedTuple):
    """An asserted triple that is an axiom: property, subject, object, as keys."""

    p: bytes
    s: bytes
    o: bytes


@data_class
class ElStep:
    """One subsumption, or a type.

    text      it, as `A ⊑ r some B`
    by        the rule: `axiom`, `intersection`, `exists`, ...
    axioms    the axioms that it uses itself, as text
    said      the same as triples
    premises  numbers of the steps that it follows from, all of them later in the list
    """

    text: str
    by: str
    axioms: tuple[str, ...]
    said: tuple[Said, ...]
    premises: tuple[int, ...]


@data_class(slots=False, repr=False)
class ElProof(Proof):
    """Why one class is below another, or something is in a class: `Proof`, shown as subsumptions.

    `el_steps` has the steps, the goal first, `axioms` all axioms used, as text. What the rules did
    is in `detailed`.

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.load('''@prefix : <http://e/> .
    ... @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    ... :Cat rdfs:subClassOf :Pet . :Pet rdfs:subClassOf :Animal .''', "ttl")
    >>> _ = store.reason("owl-el")
    >>> print(store.why(":Cat rdfs:subClassOf :Animal"))
    :Cat ⊑ :Animal
    │  by transitivity
    ├─ :Cat ⊑ :Pet
    │     :Cat SubClassOf :Pet
    └─ :Pet ⊑ :Animal
          :Pet SubClassOf :Animal
    """

    el_steps: tuple[ElStep, ...] = ()

    @cached_property
    def axioms(self) -> tuple[str, ...]:
        """The axioms that it uses, each once."""
        return tuple(dict.fromkeys(axiom for step in self.el_steps for axiom in step.axioms))

    @property
    def detailed(self) -> Proof:
        """The same with all steps of the rules."""
        return Proof(**{one.name: getattr(self, one.name) for one in fields(Proof)})

    def text(self, prefixes: Mapping[str, str] | None = None, most: int | None = None) -> str:
        """The proof as a tree of lines; at most `most` steps of it."""
        return "\n".join(self._lines(0, "", "", most or len(self.el_steps), set()))

    def _lines(
        self, number: int, lead: str, under: str, most: int, shown: set[int]
    ) -> Iterator[str]:
        stack = [(number, lead, under)]
        while stack:
            number, lead, under = stack.pop()
            step = self.el_steps[number]
            if number in shown:
                yield f"{lead}{step.text}  (shown above)"
                continue
            if len(shown) >= most:
                yield f"{lead}{step.text}  ..."
                continue
            shown.add(number)
            yield f"{lead}{step.text}"
            bar = "│  " if step.premises else "   "
            if step.by not in _PLAIN:
                yield f"{under}{bar}by {step.by}"
            yield from (f"{under}{bar}{axiom}" for axiom in step.axioms)
            last = len(step.premises) - 1
            for place, premise in reversed(list(enumerate(step.premises))):
                end = place == last
                stack.append(
                    (
                        premise,
                        f"{under}{'└─ ' if end else '├─ '}",
                        under + ("   " if end else "│  "),
                    )
                )

    def as_dict(self) -> dict[str, Any]:
        """The proof fit for JSON: the rules' steps, and `subsumptions` with their axioms."""
        steps = [
            {"text": s.text, "by": s.by, "axioms": list(s.axioms), "premises": list(s.premises)}
            for s in self.el_steps
        ]
        return {**super().as_dict(), "subsumptions": steps}


def el_proof(proof: Proof, view: ReadableState, prefixes: Mapping[str, str]) -> Proof:
    """The proof in the ontologist's terms, if it is of a conclusion of `owl-el`; else as it is."""
    rule = proof.last.rule
    name = rule.id if isinstance(rule, Constraint) else "" if rule is None else rule.name
    if not name.startswith("el-"):
        return proof
    steps = _Steps(proof, ExpressionNames(view, prefixes)).all()
    if not steps:
        return proof
    content = {one.name: getattr(proof, one.name) for one in fields(Proof)}
    return ElProof(**content, el_steps=steps)


class _Steps:
    """The steps of one proof, while they are found."""

    def __init__(self, proof: Proof, names: ExpressionNames) -> None:
        self._proof, self._names = proof, names
        self._places: dict[Atom, int] = {}

    def all(self) -> tuple[ElStep, ...]:
        goal = self._proof.fact
        waiting, found = [goal], list[ElStep]()
        self._places[goal] = 0
        for fact in waiting:  # grows while it is gone through
            step = self._step(fact)
            for premise in step[1]:
                if premise not in self._places:
                    self._places[premise] = len(waiting)
                    waiting.append(premise)
            places = tuple(self._places[premise] for premise in step[1])
            text, by, said = step[0], step[2], step[3]
            axioms = tuple(map(self._axiom, said))
            found.append(ElStep(text, by, axioms, said, places))
        return tuple(found)

    def _step(self, fact: Atom) -> tuple[str, list[Atom], str, tuple[Said, ...]]:
        start = self._visible(fact)
        premises, said = dict[Atom, None](), dict[Said, None]()
        stack, seen = [(start, 0)], {start}
        while stack:
            one, depth = stack.pop()
            for need in self._needs(one):
                if need in seen:
                    continue
                seen.add(need)
                if isinstance(need, TripleAtom) and need.p == BELOW:
                    premises.update(
                        self._unfolded(need) if self._is_transitive(start) else {need: None}
                    )
                elif (row := _said(need)) is not None:
                    said[row] = None
                else:
                    stack.append((need, depth + 1))
        rule = self._proof.steps[start].rule
        name = str(getattr(rule, "name", "")).removeprefix("el-")
        by = {"form": "axiom", "transitive": "transitivity"}.get(name, name)
        shown = fact if isinstance(fact, TripleAtom) else start
        return self._text(shown), list(premises), by, tuple(said)

    def _visible(self, fact: Atom) -> Atom:
        """The hidden fact that a visible conclusion repeats."""
        if isinstance(fact, TripleAtom) and fact.p == BELOW:
            return fact
        premises = [p for p in self._proof.steps[fact].premises if isinstance(p, TripleAtom)]
        inner = [p for p in premises if p.p in (BELOW, _IMPOSSIBLE)]
        if len(inner) != 1:
            return fact
        return inner[0] if inner[0].p == BELOW else self._visible(inner[0])

    def _is_transitive(self, fact: Atom) -> bool:
        rule = self._proof.steps[fact].rule
        return rule is not None and getattr(rule, "name", "") == "el-transitive"

    def _unfolded(self, fact: Atom) -> dict[Atom, None]:
        """The steps of a chain of subsumptions."""
        found, stack = dict[Atom, None](), [fact]
        while stack:
            one = stack.pop()
            if self._is_transitive(one):
                stack += reversed(self._proof.steps[one].premises)
            else:
                found[one] = None
        return found

    def _needs(self, fact: Atom) -> Iterator[Atom]:
        """The facts that a step uses, without what only takes axioms apart."""
        step = self._proof.steps.get(fact)
        for need in () if step is None else step.premises:
            if isinstance(need, TripleAtom) and need.p in _HIDDEN:
                continue
            if isinstance(need, TupleAtom) and need.name in _HELPERS:
                if need.name.key.endswith(b"conflict"):
                    yield from self._apart(need)
                continue
            yield need

    def _apart(self, fact: Atom) -> Iterator[Atom]:
        """The disjointness that a conflict is, if it is one."""
        step = self._proof.steps.get(fact)
        for need in () if step is None else step.premises:
            if not (isinstance(need, TripleAtom) and need.p in _HIDDEN):
                if isinstance(need, TupleAtom) and need.name in _HELPERS:
                    continue
                yield need

    def _text(self, fact: Atom) -> str:
        if not isinstance(fact, TripleAtom):
            return str(fact)
        s, o = (self._names.text(one.key) for one in (fact.s, fact.o) if isinstance(one, Constant))
        if fact.p == TYPE:
            return f"{s} : {o}"
        if isinstance(fact.p, Constant) and fact.p.key.endswith(b"equivalentClass"):
            return f"{s} ≡ {o}"
        return f"{s} ⊑ {o}"

    def _axiom(self, said: Said) -> str:
        """An axiom in Manchester syntax."""
        return axiom_text(said, self._names)


def axiom_text(said: Said, names: ExpressionNames) -> str:
    """An axiom in Manchester syntax, or a triple that asserts something of individuals."""
    one, other = names.text(said.s), names.text(said.o)
    word = SAYS.get(said.p[1:].decode())
    if word == "Type" and said.o.startswith(_KINDS):
        return f"{one} {word} {said.o[1:].decode().rpartition('#')[2]}"
    return f"{one} {word or names.text(said.p)} {other}"


_KINDS = b"\x01" + OWL.encode()


def _said(fact: Atom) -> Said | None:
    """The axiom that an asserted row is; None of other facts, and of parts of axioms."""
    if isinstance(fact, TupleAtom) and fact.name == SAID:
        p, s, o = (one.key for one in fact.args if isinstance(one, Constant))
        return Said(p, s, o) if p[1:].decode() in SAYS else None
    if isinstance(fact, TripleAtom) and isinstance(fact.p, Constant) and fact.p.key[0] == IRI:
        s, p, o = (one.key for one in fact.terms if isinstance(one, Constant))
        return Said(p, s, o)
    return None
