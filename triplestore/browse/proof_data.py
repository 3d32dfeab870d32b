"""Proofs as plain data, with whole terms: start at `why_data` and `why_not_data`.

A proof is a tree for people to unfold, and a graph for drawing. A fact that is needed in several
places is proved once: later nodes have `shared`, the id of the node that has its proof. Always
true: the tree is at most `BROWSE.proof_depth` deep, and a node that is cut off says so by `more`;
it can be asked about by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triplestore.browse.term_data import TermData
from triplestore.browse.thresholds import BROWSE
from triplestore.datalog.program import Atom, Constant, Constraint, Rule, TripleAtom, TupleAtom
from triplestore.datalog.text import show
from triplestore.proofs import Proof, ProofStep, WhyNot
from triplestore.proofs.proof_text import fact_text, missing_text, rule_text
from triplestore.rules.simplify import is_helper
from triplestore.store.readable import view_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triplestore.proofs.steps import Attempt, ProofPart
    from triplestore.store import ReadableStore
    from triplestore.store.explain import FactLike

Node = dict[str, Any]
"""A fact of a proof, or a rule, as plain data."""

_SEARCHES = 3
"""Maximum number of searches for one proof, each within the seconds that are given for it."""


def search_seconds(most: float) -> float:
    """The seconds of a search for a proof that may take `most` seconds as a whole.

    >>> search_seconds(30.0)
    10.0
    """
    return most / _SEARCHES


def why_data(
    store: ReadableStore, fact: FactLike, *, seconds: float = 5.0, language: str = "en"
) -> dict[str, Any]:
    """The smallest proof of a fact as a tree and as a graph; for one that does not hold, why not.

    >>> from triplestore import NamedNode, Store
    >>> store = Store()
    >>> _ = store.reason(rules="@prefix : <http://e/> . rule 'r' :B[?x] :- :A[?x] . :A[:a] .")
    >>> found = why_data(store, ":a a :B")
    >>> found["asserted"], found["rule"]["id"], found["because"][0]["fact"][2]["short"]
    (False, 'r', ':A')
    """
    found = store.why(fact, seconds=seconds)
    data = TermData(view_of(store), language)
    if isinstance(found, WhyNot):
        return {"holds": False, **_absence(found, data)}
    made = _ProofTree(found, data)
    return {
        "holds": True,
        **made.root(),
        "height": found.height,
        "steps": len(found),
        "least": found.least,
        "graph": made.graph(),
        "text": found.text(most=BROWSE.proof_facts),
    }


def why_not_data(
    store: ReadableStore, fact: FactLike, *, seconds: float = 5.0, language: str = "en"
) -> dict[str, Any]:
    """What each rule that could conclude a fact lacks, the nearest first.

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.reason(rules="@prefix : <http://e/> . :A[:a] . :C[?x] :- :A[?x], :B[?x] .")
    >>> found = why_not_data(store, ":a a :C")
    >>> found["holds"], found["reasons"][0]["missing"]["text"]
    (False, ':B[:a]')
    """
    found = store.why(fact, seconds=seconds)
    data = TermData(view_of(store), language)
    if isinstance(found, WhyNot):
        return {"holds": False, **_absence(found, data)}
    return {"holds": True, "reasons": [], "rules": 0, "outside": [], "text": "the fact holds"}


class _ProofTree:
    """A proof while it is turned into data."""

    def __init__(self, proof: Proof, data: TermData) -> None:
        self._proof = proof
        self._names = proof.prefixes or {}
        self._data = data
        self._ids = {fact: number for number, fact in enumerate(proof.steps)}
        self._whole: set[Atom] = set()
        self._terms: dict[Constant, Node] = {}
        self._read_terms()

    def _read_terms(self) -> None:
        """Describe the terms of all facts at once."""
        wanted: dict[Constant, None] = {}
        for step in list(self._proof.steps.values())[: BROWSE.proof_facts]:
            for fact in (step.fact, *getattr(step.rule, "axioms", ())):
                wanted.update(dict.fromkeys(_constants(fact)))
            wanted.update(dict.fromkeys((step.values or {}).values()))
        made = self._data.terms([each.term for each in wanted])
        self._terms = dict(zip(wanted, made, strict=True))

    def term(self, constant: Constant) -> Node:
        found = self._terms.get(constant)
        if found is None:
            found = self._terms[constant] = self._data.term(constant.term)
        return found

    def root(self) -> Node:
        return self._node(self._proof.fact, 0)

    def _node(self, fact: Atom, depth: int) -> Node:
        step = self._proof.steps.get(fact)
        made = self._described(fact, step)
        if step is None:
            return {**made, "asserted": False, "more": True}
        made |= {"id": self._ids[fact], "asserted": step.stated}
        if step.rule is None:
            return made
        made |= {"rule": self.rule(step.rule), "values": self._values(step)}
        if fact in self._whole:
            return {**made, "because": [], "shared": self._ids[fact]}
        if depth >= BROWSE.proof_depth or len(self._whole) >= BROWSE.proof_facts:
            return {**made, "because": [], "more": True}
        self._whole.add(fact)
        made["because"] = [self._node(other, depth + 1) for other in step.needs]
        if conditions := [self._condition(part) for part in step.parts if part.fact is None]:
            made["conditions"] = conditions
        return made

    def _described(self, fact: Atom, step: ProofStep | None) -> Node:
        text = show(fact, self._names)
        if step is not None and isinstance(step.rule, Constraint):
            text = fact_text(fact, step, self._names)
        if isinstance(fact, TripleAtom):
            return {"fact": [self.term(each) for each in _constants(fact)], "text": text}
        made: Node = {"fact": None, "text": text}
        if isinstance(fact, TupleAtom) and not is_helper(fact.name.key):
            made["relation"] = self.term(fact.name)
            made["args"] = [self.term(each) for each in _constants(fact)[1:]]
        return made

    def rule(self, rule: Rule | Constraint) -> Node:
        axioms = [axiom for axiom in getattr(rule, "axioms", ()) if isinstance(axiom, TripleAtom)]
        return {
            **_rule(rule, self._names),
            "axioms": [[self.term(each) for each in _constants(axiom)] for axiom in axioms],
        }

    def _values(self, step: ProofStep) -> dict[str, Node]:
        return {variable.name: self.term(v) for variable, v in (step.values or {}).items()}

    def _condition(self, part: ProofPart) -> Node:
        made: Node = {"kind": part.kind, "text": show(part.filled, self._names)}
        if part.value is not None:
            made["value"] = self.term(part.value)
        if part.kind == "aggregate":
            made["count"] = part.count
            made["results"] = [self.term(result) for result in part.results]
        return made

    def graph(self) -> Node:
        """The facts as nodes, and an edge from each fact to one that follows from it."""
        shown = list(self._proof.steps.values())[: BROWSE.proof_facts]
        known = {step.fact for step in shown}
        nodes, edges = [], []
        for step in shown:
            number = self._ids[step.fact]
            nodes.append(
                {
                    "id": number,
                    **self._described(step.fact, step),
                    "asserted": step.stated,
                    "rule": None if step.rule is None else _rule(step.rule, self._names)["id"],
                }
            )
            edges += [
                {"from": self._ids[other], "to": number} for other in step.needs if other in known
            ]
        return {"nodes": nodes, "edges": edges}


def _constants(fact: Atom) -> list[Constant]:
    terms = fact.terms if isinstance(fact, TripleAtom) else (fact.name, *fact.args)
    return [term for term in terms if isinstance(term, Constant)]


def _rule(rule: Rule | Constraint, names: Mapping[str, str]) -> Node:
    """A rule: its name, its text, and where it was written."""
    is_constraint = isinstance(rule, Constraint)
    name = rule.id if isinstance(rule, Constraint) else rule.name
    return {
        "id": name,
        "kind": "constraint" if is_constraint else "rule",
        "label": getattr(rule, "message", "") or name or "rule",
        "text": rule_text(rule, names),
        "source": None if rule.source is None else str(rule.source),
    }


def _absence(absence: WhyNot, data: TermData) -> Node:
    names = absence.prefixes or {}
    made: Node = {"text": absence.text(), "rules": absence.rules, "outside": list(absence.outside)}
    if isinstance(absence.fact, TripleAtom):
        made["fact"] = data.terms([each.term for each in _constants(absence.fact)])
    made["reasons"] = [_attempt(attempt, names, data) for attempt in absence.attempts]
    return made


def _attempt(attempt: Attempt, names: Mapping[str, str], data: TermData) -> Node:
    values = list(attempt.values.items())
    terms = data.terms([value.term for _, value in values])
    return {
        "rule": _rule(attempt.rule, names),
        "values": {v.name: term for (v, _), term in zip(values, terms, strict=True)},
        "matched": [_item(attempt.fill(item), names, data) for item in attempt.matched],
        "ways": attempt.ways,
        "missing": {
            **_item(attempt.filled, names, data),
            "explanation": missing_text(attempt, names),
        },
        "in_the_way": [_item(fact, names, data) for fact in attempt.facts],
        "left": [_item(attempt.fill(item), names, data) for item in attempt.left],
        "exact": attempt.exact,
    }


def _item(item: Any, names: Mapping[str, str], data: TermData) -> Node:
    made: Node = {"text": show(item, names)}
    if isinstance(item, TripleAtom) and len(found := _constants(item)) == 3:
        made["fact"] = data.terms([each.term for each in found])
    return made
