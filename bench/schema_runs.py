"""What a process measures of an ontology without data: its closure, and changes of the schema.

Start at `pure`; it runs in a child. The file is read before the clocks start.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.child import Clock, peak_bytes
from bench.ontology_runs import PREFIXES, SESSIONS, Ours, warm
from bench.reasoners.base import limit

CHANGED = (
    "rdfs:subClassOf",
    "owl:equivalentClass",
    "rdfs:domain",
    "rdfs:subPropertyOf",
    "owl:inverseOf",
)
"""One triple of each of these kinds, if there is one, is deleted and asserted again."""


def pure(reasoner: str, file: str, folder: str, seconds: float) -> dict[str, Any]:
    """In a child: the closure of an ontology; ours also after changes of its axioms."""
    limit(seconds)
    warm(reasoner, folder)
    return measured(reasoner, file)


def measured(reasoner: str, file: str) -> dict[str, Any]:
    """The same without a limit and without warming."""
    session, clock = SESSIONS[reasoner](), Clock()
    session.load(file)
    with clock.part("reason"):
        session.reason("owl-rl")
    found: dict[str, Any] = {"closure": session.count(), "closure peak bytes": peak_bytes()}
    if isinstance(session, Ours):
        change(session, clock)
        if session.count() != found["closure"]:
            raise AssertionError("not as it was before")
    return {**clock.seconds, **found}


def change(session: Ours, clock: Clock) -> None:
    """Delete five triples and assert them again, and the same with one equivalent property."""
    from triplestore import NamedNode, Quad

    store, chosen = session.store, list[Quad]()
    for name in CHANGED:
        prefix, _, last = name.partition(":")
        predicate = NamedNode(PREFIXES[prefix] + last)
        stated = sorted(store.quads_for_pattern(None, predicate, None, facts="explicit"), key=str)
        chosen += stated[len(stated) // 2 :][:1]
    same = NamedNode(PREFIXES["owl"] + "equivalentProperty")
    more = [Quad(NamedNode(PREFIXES["e"] + "p"), same, NamedNode(PREFIXES["e"] + "q"))]
    steps: dict[str, Callable[[], None]] = {
        "triples removed": lambda: _all(store, "remove", chosen),
        "triples stated again": lambda: _all(store, "add", chosen),
        "equivalent added": lambda: _all(store, "add", more),
        "equivalent removed": lambda: _all(store, "remove", more),
    }
    for name, step in steps.items():
        with clock.part(name):
            step()


def _all(store: Any, change: str, quads: list[Any]) -> None:
    """Several changes of one kind in one commit."""
    with store.transaction() as transaction:
        for quad in quads:
            getattr(transaction, change)(quad)


def wide(path: Path, classes: int, width: int) -> None:
    """Write an ontology in which each tenth class is an intersection of many restrictions."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(_wide(classes, width)))


def _wide(classes: int, width: int) -> Iterator[str]:
    roll = random.Random("wide")
    owl, rdf, rdfs = (PREFIXES[name] for name in ("owl", "rdf", "rdfs"))
    for i in range(1, classes):
        yield f"<http://e/C{i}> <{rdfs}subClassOf> <http://e/C{roll.randrange(i)}> .\n"
    for i in range(classes // 10):
        yield f"<http://e/D{i}> <{owl}equivalentClass> _:i{i} .\n"
        yield f"_:i{i} <{owl}intersectionOf> _:l{i}-0 .\n"
        for j in range(width):
            rest = f"_:l{i}-{j + 1}" if j + 1 < width else f"<{rdf}nil>"
            yield f"_:l{i}-{j} <{rdf}first> _:r{i}-{j} .\n_:l{i}-{j} <{rdf}rest> {rest} .\n"
            yield f"_:r{i}-{j} <{owl}onProperty> <http://e/p{roll.randrange(40)}> .\n"
            filler = roll.randrange(classes)
            yield f"_:r{i}-{j} <{owl}someValuesFrom> <http://e/C{filler}> .\n"
