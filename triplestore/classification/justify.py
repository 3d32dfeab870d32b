"""Justifications: minimal sets of axioms from which a conclusion follows.

Start reading at `justifications`. One is found from a proof: axioms are left out one after the
other while the conclusion still follows. Others are found by Reiter's tree of hitting sets: from
each that is known, one axiom is removed, and what still follows has another one without it. All
this happens in small stores that have only the axioms that can matter (`el_module.py`).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from pyoxigraph import NamedNode, Quad, Triple

from triplestore.classification.el_module import Module, module_of
from triplestore.classification.el_proof import ElProof, Said, axiom_text
from triplestore.classification.expression_names import ExpressionNames
from triplestore.data_classes import data_class
from triplestore.errors import UsageError
from triplestore.terms import key_of
from triplestore.terms.vocabulary import (
    OWL_CLASS,
    OWL_EQUIVALENT_CLASS,
    RDF_TYPE,
    RDFS_SUB_CLASS_OF,
)

if TYPE_CHECKING:
    from triplestore.reasoning.readable_state import ReadableState

ASKED = frozenset((RDFS_SUB_CLASS_OF, OWL_EQUIVALENT_CLASS, RDF_TYPE))
"""Properties of the conclusions that can be asked about."""


@data_class
class Justification:
    """A minimal set of axioms from which a conclusion follows.

    axioms   their text, in Manchester syntax
    triples  the asserted triples that say them
    """

    axioms: tuple[str, ...]
    triples: frozenset[Triple]

    def __str__(self) -> str:
        return "\n".join(self.axioms)


class Justifications(Sequence[Justification]):
    """Those that were found, the first one first; `complete` if they are all."""

    def __init__(self, found: Sequence[Justification], complete: bool) -> None:
        self._found = tuple(found)
        self.complete = complete

    @overload
    def __getitem__(self, place: int) -> Justification: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Justification, ...]: ...
    def __getitem__(self, place: int | slice) -> Justification | tuple[Justification, ...]:
        return self._found[place]

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<{len(self)} justifications{'' if self.complete else ', and there may be more'}>"

    def __str__(self) -> str:
        parts = [f"justification {n}:\n{one}" for n, one in enumerate(self._found, 1)]
        parts += [] if self.complete else ["(there may be more)"]
        return "\n\n".join(parts)


def justifications(
    view: ReadableState,
    triple: tuple[Any, Any, Any],
    new_store: Callable[[], Any],
    prefixes: Mapping[str, str],
    *,
    limit: int,
    seconds: float,
) -> Justifications:
    """The justifications of a conclusion that holds.

    new_store  makes an empty store in memory
    limit      maximum number of justifications
    seconds    maximum time; at least one is found
    """
    subject, predicate, _ = triple
    if predicate.value not in ASKED:
        raise UsageError(
            "justifications are of rdfs:subClassOf, owl:equivalentClass and rdf:type, "
            f"not of {predicate}; ask why"
        )
    individual = predicate.value == RDF_TYPE
    module = module_of(view, key_of(subject), individual=individual)
    if predicate.value == OWL_EQUIVALENT_CLASS:
        other = module_of(view, key_of(triple[2]), individual=False)
        module = Module(view, (*module.axioms, *other.axioms))
    goals = [Quad(*triple)]
    search = _Search(module, goals, new_store)
    found, complete = search.all(limit, time.monotonic() + seconds)
    names = ExpressionNames(view, prefixes)
    made = [
        Justification(
            tuple(sorted(axiom_text(axiom, names) for axiom in axioms)),
            frozenset(triple for axiom in axioms for triple in module.triples(axiom)),
        )
        for axioms in found
    ]
    return Justifications(made, complete)


class _Search:
    """The tree of hitting sets, with a store that has all axioms and one that has those tested."""

    def __init__(self, module: Module, goals: list[Quad], new_store: Callable[[], Any]) -> None:
        self._module, self._goals = module, goals
        self._whole, self._tested = new_store(), new_store()
        names = [one for goal in goals for one in (goal.subject, goal.object)]
        about = [_declaration(one) for one in names if isinstance(one, NamedNode)]
        if goals[0].predicate.value == RDF_TYPE:
            about = about[1:]
        self._whole.extend([*about, *self._quads(module.axioms)])
        self._tested.extend(about)
        for store in (self._whole, self._tested):
            store.reason("owl-el")

    def all(self, limit: int, until: float) -> tuple[list[frozenset[Said]], bool]:
        """Minimal sets of axioms, and whether these are all."""
        found: list[frozenset[Said]] = []
        seen: set[frozenset[Said]] = set()
        waiting = deque([frozenset[Said]()])
        while waiting:
            if found and (len(found) >= limit or time.monotonic() > until):
                return found, False
            path = waiting.popleft()
            one = next((known for known in found if not known & path), None)
            if one is None:
                one = self._without(path)
                if one is None:
                    continue
                if one not in found:
                    found.append(one)
            for axiom in sorted(one):
                longer = path | {axiom}
                if longer not in seen:
                    seen.add(longer)
                    waiting.append(longer)
        return found, True

    def _without(self, removed: frozenset[Said]) -> frozenset[Said] | None:
        """A minimal set without some axioms; None if nothing follows without them."""
        with self._whole.transaction() as transaction:
            kept = self._quads(set(self._module.axioms) - removed)
            for quad in self._quads(removed) - kept:
                transaction.remove(quad)
            holds = all(goal in transaction for goal in self._goals)
            used = set[Said]()
            for goal in self._goals if holds else ():
                proof = transaction.why(goal)
                if isinstance(proof, ElProof):
                    used |= {axiom for step in proof.el_steps for axiom in step.said}
            transaction.rollback()
        if not holds:
            return None
        used &= set(self._module.axioms) - removed
        if not self._follows(used):
            used = set(self._module.axioms) - removed
        return self._least(used)

    def _least(self, axioms: Collection[Said]) -> frozenset[Said]:
        """A minimal part from which the conclusion follows: halves are left out first."""
        left, size = sorted(axioms), max(1, len(axioms) // 2)
        while True:
            for part in list(_parts(left, size)):
                rest = [axiom for axiom in left if axiom not in part]
                if self._follows(rest):
                    left = rest
            if size == 1:
                return frozenset(left)
            size = max(1, size // 2)

    def _follows(self, axioms: Collection[Said]) -> bool:
        with self._tested.transaction() as transaction:
            transaction.extend(self._quads(axioms))
            holds = all(goal in transaction for goal in self._goals)
            transaction.rollback()
        return holds

    def _quads(self, axioms: Collection[Said]) -> set[Quad]:
        return {Quad(*triple) for axiom in axioms for triple in self._module.triples(axiom)}


def _parts(axioms: list[Said], size: int) -> Iterator[set[Said]]:
    for at in range(0, len(axioms), size):
        yield set(axioms[at : at + size])


def _declaration(name: NamedNode) -> Quad:
    return Quad(name, NamedNode(RDF_TYPE), NamedNode(OWL_CLASS))
