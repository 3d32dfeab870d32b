"""What a process measures of an ontology: from files to the closure, and changes of it.

Start at `closure` and `changes`; each runs in a child. The reasoners read the same files in the
same order.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from bench.child import Clock, peak_bytes
from bench.reasoners.base import limit

SUB_CLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


class Session(Protocol):
    """One computation of a closure, in the steps that are timed."""

    def load(self, path: str) -> None: ...

    def reason(self, regime: str) -> None: ...

    def count(self) -> int: ...


class Ours:
    def __init__(self) -> None:
        from triplestore import Store

        self.store = Store()

    def load(self, path: str) -> None:
        self.store.load(path=path, format="nt")

    def reason(self, regime: str) -> None:
        self.store.reason(regime)

    def count(self) -> int:
        return len(self.store)


class Reasonable:
    def __init__(self) -> None:
        import reasonable

        self.reasoner = reasonable.PyReasoner()
        self.triples: list[Any] = []

    def load(self, path: str) -> None:
        self.reasoner.load_file(path)

    def reason(self, regime: str) -> None:
        self.triples = self.reasoner.reason()

    def count(self) -> int:
        return len(self.triples)


class Owlrl:
    def __init__(self) -> None:
        import rdflib

        self.graph = rdflib.Graph()

    def load(self, path: str) -> None:
        self.graph.parse(path, format="nt")

    def reason(self, regime: str) -> None:
        import owlrl

        owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(self.graph)

    def count(self) -> int:
        return len(self.graph)


SESSIONS: dict[str, Callable[[], Session]] = {
    "triplestore": Ours,
    "reasonable": Reasonable,
    "owlrl": Owlrl,
}
MODULES = {"triplestore": "triplestore", "reasonable": "reasonable", "owlrl": "owlrl"}
LARGEST = {"owlrl": 150_000}
"""Statements beyond which a reasoner takes many minutes."""

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
"""Statements that our own warming needs, so that kernels for large loads are read, too."""


def warm(reasoner: str, folder: str) -> None:
    """Import what the first use in a process imports, and read compiled kernels."""
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
    """In a child: load files and compute what follows, each step timed."""
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

    ours = Ours()
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
