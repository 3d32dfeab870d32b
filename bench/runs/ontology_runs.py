"""Measurements of ontologies in a child process: from files to the closure, and changes.

Start at `closure`, `changes`, and `pure` for ontologies without data; each runs in a child. The
reasoners read the same files in the same order.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.child import Clock, peak_bytes
from bench.reasoners.base import limit
from bench.reasoners.owl import OntologySession, OwlrlSession, ReasonableSession

SUB_CLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


class OurOntologySession:
    def __init__(self) -> None:
        from triplestore import Store

        self.store = Store()

    def load(self, path: str) -> None:
        self.store.load(path=path, format="nt")

    def reason(self, regime: str) -> None:
        self.store.reason(regime)

    def count(self) -> int:
        return len(self.store)


SESSIONS: dict[str, Callable[[], OntologySession]] = {
    "triplestore": OurOntologySession,
    "reasonable": ReasonableSession,
    "owlrl": OwlrlSession,
}
MODULES = {"triplestore": "triplestore", "reasonable": "reasonable", "owlrl": "owlrl"}
LARGEST = {"owlrl": 150_000}
"""Maximum number of statements for a slow reasoner."""

PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "e": "http://e/",
}
WARMING = """e:C rdfs:subClassOf e:D
e:p rdfs:domain e:C
e:p rdfs:subPropertyOf e:q
e:q rdf:type owl:TransitiveProperty
e:a e:p e:b
e:b e:p e:c"""


def iri(name: str) -> str:
    prefix, _, local = name.partition(":")
    return f"<{PREFIXES[prefix]}{local}>"


MUCH = 30_000
"""Number of statements for warming, large enough to read the kernels of large loads."""


def warm(reasoner: str, folder: str) -> None:
    """Do the imports of a first use, and read compiled kernels."""
    session = SESSIONS[reasoner]()
    facts = WARMING.splitlines()
    if reasoner == "triplestore":
        facts += [f"e:x{number} e:r e:y{number % 1000}" for number in range(MUCH)]
        facts += [f"e:x{number} rdf:type e:C" for number in range(MUCH)]
    lines = [" ".join(map(iri, fact.split())) for fact in facts]
    path = Path(folder) / f"warming-{reasoner}.ttl"
    path.write_text(" .\n".join(lines) + " .\n")
    session.load(str(path))
    session.reason("owl-rl")


def closure(
    reasoner: str, files: list[str], regime: str, folder: str, seconds: float
) -> dict[str, Any]:
    """In a child: load files and compute the closure; each step is timed."""
    limit(seconds)
    clock = Clock()
    with clock.part("start"):
        warm(reasoner, folder)
    session = SESSIONS[reasoner]()
    with clock.part("load"):
        for path in files:
            session.load(path)
    with clock.part("reason"):
        session.reason(regime)
    peak = peak_bytes()
    found: dict[str, Any] = {**clock.seconds, "closure peak bytes": peak}
    found["total s"] = found["load s"] + found["reason s"]
    found["total cpu s"] = found["load cpu s"] + found["reason cpu s"]
    return {**found, "closure": session.count()}


def changes(
    files: list[str], regime: str, folder: str, below: str, of: str, repeats: int
) -> dict[str, Any]:
    """In a child: one instance deleted and asserted again, one axiom added and removed.

    below  the class that gets a new class above it
    of     the class of which a member is removed
    """
    from triplestore import NamedNode, Quad

    ours = OurOntologySession()
    warm("triplestore", folder)
    for path in files:
        ours.load(path)
    start = time.perf_counter()
    ours.reason(regime)
    found: dict[str, Any] = {"reason s": time.perf_counter() - start, "closure": ours.count()}
    store, one = ours.store, NamedNode(below)
    members = store.quads_for_pattern(None, NamedNode(TYPE), NamedNode(of), facts="explicit")
    member = next(iter(members))
    axiom = Quad(one, NamedNode(SUB_CLASS), NamedNode("http://example.org/bench/Above"))
    steps: dict[str, Callable[[], Any]] = {
        "instance removed": lambda: store.remove(member),
        "instance added": lambda: store.add(member),
        "axiom added": lambda: store.add(axiom),
        "axiom removed": lambda: store.remove(axiom),
    }
    for _ in range(repeats):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            taken = time.perf_counter() - start
            found[name] = min(taken, found.get(name, float("inf")))
    if ours.count() != found["closure"]:
        raise AssertionError("not as it was before")
    return found


# --- without data --------------------------------------------------------------------------------

CHANGED = (
    "rdfs:subClassOf",
    "owl:equivalentClass",
    "rdfs:domain",
    "rdfs:subPropertyOf",
    "owl:inverseOf",
)
"""One triple of each of these kinds is deleted and asserted again, if it exists."""


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
    if isinstance(session, OurOntologySession):
        change(session, clock)
        if session.count() != found["closure"]:
            raise AssertionError("not as it was before")
    return {**clock.seconds, **found}


def change(session: OurOntologySession, clock: Clock) -> None:
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
