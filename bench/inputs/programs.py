"""Programs with data, for benchmarks of reasoning.

    lubm_program    the instance rules of LUBM's ontology (data: `lubm.py`, `data.py`)
    deep_taxonomy   a chain of many levels of classes
    hierarchy       a real hierarchy of classes with instances
    highly_recursive (in `recursive.py`)   thousands of rules that all depend on each other

Start at `Setting`. Always true: equal arguments give equal settings on every machine; each
statement occurs once.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.inputs.data import shared_data
from bench.inputs.random_numbers import I64, below
from bench.reasoners.program import TYPE_NUMBER, number_constants
from triplestore.datalog.program import TYPE, Constant, Program, Rule, TripleAtom, Variable
from triplestore.datalog.text import read
from triplestore.terms.term_keys import to_ntriples

U32 = NDArray[np.uint32]

NAMESPACE = "http://example.org/"
RULES = Path(__file__).parent.parent / "rules"
X, Y, Z = map(Variable, "xyz")


@dataclass(frozen=True)
class Setting:
    """A program, and statements as columns of numbers.

    numbers   key of each constant of the program -> its number: rdf:type has 1, the others follow
              in the order in which the program has them; all other terms have greater numbers
    """

    name: str
    program: Program
    s: U32
    p: U32
    o: U32
    numbers: Mapping[bytes, int]

    def __len__(self) -> int:
        return len(self.s)

    @cached_property
    def terms(self) -> list[str]:
        """The N-Triples form of each number; other terms than the program's get generated IRIs."""
        largest = max((int(column.max()) for column in (self.s, self.o) if len(column)), default=0)
        made = [f"<{NAMESPACE}i{number}>" for number in range(max(largest, len(self.numbers)) + 1)]
        for key, number in self.numbers.items():
            made[number] = to_ntriples(key).decode()
        return made

    def lines(self) -> Iterator[str]:
        """The statements as lines of N-Triples."""
        terms = self.terms
        for s, p, o in zip(self.s.tolist(), self.p.tolist(), self.o.tolist(), strict=True):
            yield f"{terms[s]} {terms[p]} {terms[o]} .\n"

    def write(self, path: Path) -> None:
        """The statements as a file of N-Triples."""
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(self.lines())


def iri(name: str) -> Constant:
    return Constant.iri(NAMESPACE + name)


def of_class(member: Variable, class_: Constant) -> TripleAtom:
    return TripleAtom(member, TYPE, class_)


def subclass(sub: Constant, above: Constant) -> Rule:
    """The rule that members of one class are members of another."""
    return Rule((of_class(X, above),), (of_class(X, sub),))


def types(classes: I64, members: I64) -> tuple[U32, U32, U32]:
    """The columns of statements that members are of classes."""
    p = np.full(len(members), TYPE_NUMBER, np.uint32)
    return members.astype(np.uint32), p, classes.astype(np.uint32)


# --- LUBM ----------------------------------------------------------------------------------------


def lubm_program() -> Program:
    """The 93 instance rules of univ-bench; LUBM(10) becomes 1,737,937 facts by them.

    >>> len(lubm_program())
    93
    """
    path = RULES / "lubm.dlog"
    return read(path.read_text(), file=path.name)


# --- deep taxonomy -------------------------------------------------------------------------------


def deep_taxonomy(levels: int = 10_000, instances: int = 1, unrelated: int = 0) -> Setting:
    """A chain of classes: each is below the next and two side classes, the last below a goal.

    These are 3 `levels` + 1 rules; an instance of the first class gets as many further types.

    unrelated  further statements that no rule uses: types, of 1,000 other classes

    >>> made = deep_taxonomy(levels=10_000)
    >>> len(made.program), len(made)
    (30001, 1)
    """
    rules = []
    for level in range(levels):
        own = iri(f"N{level}")
        rules += [subclass(own, iri(f"{name}{level + 1}")) for name in "NIJ"]
    rules.append(subclass(iri(f"N{levels}"), iri("Goal")))
    program = Program(rules)
    numbers = number_constants(program)
    free = len(numbers) + 1
    first = np.full(instances, numbers[iri("N0").key])
    others = free + np.arange(unrelated) % 1000
    s, p, o = types(
        np.concatenate((first, others)),
        free + 1000 + np.arange(instances + unrelated),
    )
    return Setting(f"deep taxonomy of {levels} levels", program, s, p, o, numbers)


# --- real hierarchies ----------------------------------------------------------------------------

_SUBCLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
_PARENT = "http://example.org/hier#parent"

HIERARCHIES: Mapping[str, tuple[str, str]] = {
    "go": ("go-2022/go-edges.ttl.gz", _SUBCLASS),
    "vertebrata": ("obo-hierarchies/ncbitaxon-vertebrata.ttl.gz", _SUBCLASS),
    "chebi": ("obo-hierarchies/chebi.ttl.gz", _PARENT),
    "mondo": ("obo-hierarchies/mondo.ttl.gz", _PARENT),
    "uberon": ("obo-hierarchies/uberon.ttl.gz", _PARENT),
    "fbbt": ("obo-hierarchies/fbbt.ttl.gz", _PARENT),
}
"""Real hierarchies of the shared data: the file, and the property from a class to those above."""


def hierarchy(
    name: str,
    instances: int,
    *,
    rules: int | None = None,
    seed: int = 0,
    folder: Path | None = None,
) -> Setting | None:
    """A subclass rule for each edge of a real hierarchy, and instances of its classes.

    None without the shared data. Each instance is of one class, all are equally likely.

    rules  maximum number of edges taken
    """
    path, predicate = HIERARCHIES[name]
    file = (folder or shared_data()) / path
    if not file.exists():
        return None
    edges = list(dict.fromkeys(_edges(file, predicate)))[:rules]
    program = Program(subclass(sub, above) for sub, above in edges)
    numbers = number_constants(program)
    classes = below(len(numbers) - 1, f"hierarchy {seed}", instances) + TYPE_NUMBER + 1
    s, p, o = types(classes, len(numbers) + 1 + np.arange(instances))
    title = f"{name}: {len(program)} subclass rules, {instances} instances"
    return Setting(title, program, s, p, o, numbers)


def _edges(file: Path, predicate: str) -> Iterator[tuple[Constant, Constant]]:
    """The edges of a hierarchy in the order of the file."""
    import pyoxigraph as ox

    with gzip.open(file) as packed:
        for quad in ox.parse(packed.read(), format=ox.RdfFormat.TURTLE):
            if quad.predicate.value == predicate and isinstance(quad.object, ox.NamedNode):
                yield Constant.of(quad.subject), Constant.of(quad.object)
