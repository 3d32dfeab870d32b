"""Real ontologies: a store beside the oracle, and the oracle beside owlrl and reasonable.

A store and the oracle have the same closures; the others, too, but for explained differences.

What a peer has more or less, up to what is trivial or not RDF, must be in the table of its
differences. Both are peers in the bench extra; without them these tests are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyoxigraph import Literal

from tests.conformance.entailment import read_facts
from tests.ontologies.in_store import differences, rules_for, store_of
from tests.ontologies.oracle import Closure, Fact, Term, close, term
from tests.ontologies.oracle.closing import REFLEXIVE, is_rdf
from tests.ontologies.oracle.values import OTHERS, identity
from tests.ontologies.oracle.vocabulary import PREFIXES
from tests.ontologies.peers import closed_by_owlrl, closed_by_reasonable

DATA = Path(os.environ.get("TRIPLESTORE_DATA", Path(__file__).parents[3] / "shared" / "data"))
AXIOMS = [term(f"rdfs:{name}") for name in ("subClassOf", "subPropertyOf", "domain", "range")]
AXIOMS += [term("owl:equivalentClass"), term("owl:equivalentProperty")]


@dataclass(frozen=True)
class Difference:
    """Facts that a peer has more or less than it should, and why that is."""

    why: str
    more: Callable[[Fact, Closure], bool] = lambda fact, closure: False
    less: Callable[[Fact, Closure], bool] = lambda fact, closure: False


def is_trivial(fact: Fact, closure: Closure) -> bool:
    """Holds and is not listed, or would if its terms were declared."""
    s, p, o = fact
    return fact in closure or (s == o and p in REFLEXIVE)


def written_anew(fact: Fact, closure: Closure) -> bool:
    """A literal of the fact has the value of another one in the same place."""
    return any(identity(o) == identity(fact[2]) for o in closure.graph.objects(*fact[:2]))


def is_about_others(fact: Fact, closure: Closure) -> bool:
    """About datatypes that are not of OWL 2 RL."""
    return fact[0] in [*OTHERS, *map(term, ("rdf:HTML", "rdf:JSON", "owl:rational", "owl:real"))]


def is_value(one: Term) -> bool:
    """A literal that is more than text."""
    return isinstance(one, Literal) and one.datatype.value.startswith(PREFIXES["xsd"])


OWLRL = [
    Difference("it lists what is trivial", more=is_trivial),
    Difference("it has datatypes that OWL 2 RL has not", more=is_about_others),
    Difference(
        "it says of datatypes that they are disjoint",
        more=lambda fact, closure: (
            fact[1] == term("owl:disjointWith") or fact[0] == term("owl:disjointWith")
        ),
    ),
    Difference(
        "inconsistencies and ill-typed literals are facts",
        more=lambda fact, closure: any("daml.org/2002/03/agents" in str(one) for one in fact),
    ),
    Difference(
        "a literal gets the datatypes of equal ones, as dt-eq has it; a store does not list them",
        more=written_anew,
    ),
]
REASONABLE = [
    Difference("it lists some of what is trivial", more=is_trivial),
    Difference(
        "everything is an owl:Thing, which is trivial",
        more=lambda fact, closure: fact[2] == term("owl:Thing"),
    ),
    Difference(
        "it writes literals anew: a time zone of Z as +00:00; some get another value that way",
        more=lambda fact, closure: any(map(is_value, closure.graph.objects(*fact[:2]))),
        less=lambda fact, closure: is_value(fact[2]),
    ),
    Difference(
        "it has hardly any rules that conclude axioms",
        less=lambda fact, closure: fact[1] in AXIOMS,
    ),
]


def files() -> Iterator[Path]:
    """Ontologies and data small enough for owlrl."""
    for folder in ("inferray-rules", "sansa-forward-chaining", "owl-real", "lubm", "owl2bench"):
        for path in sorted((DATA / folder).rglob("*")):
            if path.suffix in (".rdf", ".ttl", ".owl", ".nt") and path.stat().st_size < 30_000:
                yield path


def is_rdf_file(path: Path) -> bool:
    """Whether a file can be read: others are in functional syntax, or broken (undeclared
    prefixes, mostly, as in fragments of documentation)."""
    try:
        read_facts(path)
    except SyntaxError:
        return False
    return True


READABLE = [path for path in files() if is_rdf_file(path)]

each_file = pytest.mark.parametrize(
    "path", [pytest.param(path, id=str(path.relative_to(DATA))) for path in READABLE]
)


def unexplained(facts: list[Fact], theirs: set[Fact], table: list[Difference]) -> list[str]:
    closure = close(facts)
    ours = closure.visible()
    more = [
        f"more: {' '.join(map(str, fact))}"
        for fact in theirs - ours
        if is_rdf(fact) and not any(difference.more(fact, closure) for difference in table)
    ]
    return more + [
        f"less: {' '.join(map(str, fact))} ({closure.rules[fact]})"
        for fact in ours - theirs
        if not any(difference.less(fact, closure) for difference in table)
    ]


@pytest.mark.usefixtures("shared_data")
def test_files__are_all_looked_at() -> None:
    assert (len(list(files())), len(READABLE)) == (156, 113)


@each_file
def test_store__is_as_the_oracle(path: Path) -> None:
    facts = read_facts(path)
    with store_of(facts, "owl-rl") as store:
        assert differences(store, close(facts, rules_for("owl-rl"))) == []


@each_file
def test_owlrl__is_explained(path: Path) -> None:
    pytest.importorskip("owlrl")
    facts = read_facts(path)
    assert unexplained(facts, closed_by_owlrl(facts), OWLRL) == []


@each_file
def test_reasonable__is_explained(path: Path) -> None:
    pytest.importorskip("reasonable")
    facts = read_facts(path)
    assert unexplained(facts, closed_by_reasonable(facts), REASONABLE) == []
