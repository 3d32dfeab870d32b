"""No axiom is its own reason: each triple of each kind, its reason given and taken away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from pyoxigraph import NamedNode, Quad
from support import fuzzing

from tests.ontologies.in_store import inconsistent, listed
from tests.ontologies.oracle import Fact, term, turtle
from tests.ontologies.random_ontologies import EVERYTHING, make_pool
from tests.ontologies.self_support import KINDS, Case, Kind, cases
from triplestore import Store
from triplestore.datalog.program import TripleAtom
from triplestore.errors import BudgetError, UsageError
from triplestore.ontologies.translate import regimes
from triplestore.proofs import ProofStep
from triplestore.terms import key_of

STRATEGIES = ["auto", "dred_c", "fbf", "bf", "fbf_c", "counting", "rematerialise"]
GRAPH = NamedNode("http://example.org/graph")
INVERSE_OF = term("owl:inverseOf")
TWICE = "the inverse of an inverse"  # seldom enough for the random test
SHORT = [kind for kind in KINDS if TWICE not in kind.name]
each_kind = pytest.mark.parametrize("kind", SHORT, ids=[kind.name for kind in SHORT])


@contextmanager
def store_of(facts: Any, names: tuple[str, ...] = ("owl-rl",), **options: Any) -> Iterator[Store]:
    with Store() as store:
        store.extend(Quad(*fact) for fact in facts)
        store.reason(*names, **options)
        yield store


def change(store: Store, removed: Any, added: Any = ()) -> None:
    with store.transaction() as transaction:
        for fact in removed:
            transaction.remove(Quad(*fact))
        for fact in added:
            transaction.add(Quad(*fact))


def seen(store: Store) -> tuple[object, ...]:
    return listed(store), len(store), inconsistent(store)


@each_kind
def test_an_axiom__goes_with_its_reason(kind: Kind) -> None:
    for number, case in enumerate(cases(kind)):
        if "of an inverse" in kind.name and case.missing[1] != INVERSE_OF:
            continue  # as without the inverse
        missing = Quad(*case.missing)
        with store_of(case.kept, kind.regimes) as store:
            before = seen(store)
            store.add(missing)
            store.remove(missing)
            assert seen(store) == before, case
            assert missing not in store, case
            if number == 0:
                store.add(Quad(*case.goal))
                assert missing in store, f"{case}: the axiom does not infer itself"


def proves_itself(store: Store, fact: Fact) -> bool:
    """Whether the proof of a fact uses the fact, or an axiom that is the fact."""
    proof = store.why(Quad(*fact))
    steps = proof.steps.values()
    keys = [key_of(one) for one in fact]

    def is_it(atom: object) -> bool:
        return isinstance(atom, TripleAtom) and [one.key for one in atom.terms] == keys

    used = [one for step in steps for one in (*step.premises, *_axioms(step))]
    return any(map(is_it, used))


def _axioms(step: ProofStep) -> tuple[TripleAtom, ...]:
    return () if step.rule is None else step.rule.axioms


@pytest.mark.fuzz
def test_an_axiom__goes_with_its_reason__in_all_ways() -> None:
    """Any reason, strategy and kind of equality, among other axioms; audits, proofs."""
    for seed in fuzzing.seeds(2):
        random = Random(seed)
        kind = random.choice(KINDS)
        case = random.choice(list(cases(kind)))
        good, passing = random.choice(list(case.reasons))
        equality = random.choice(["rules", "rules", "rewrite"])
        options: dict[str, Any] = {
            "tuning": {"strategy": random.choice(STRATEGIES), "max_bytes": 2 << 30},
            "equality": equality,
            "trivial": equality == "rules" and random.random() < 0.2,
        }
        other = make_pool(random, EVERYTHING, random.choice([1, 1, 15]))
        kept = [fact for fact in (*case.kept, *good, *other) if fact not in passing]
        kept = [fact for fact in dict.fromkeys(kept) if fact != case.missing]
        random.shuffle(kept)
        more = random.choice([(), (), ("owl-horst",), ("rdfs",), ("skos",)])
        names = (*more, *kind.regimes)
        if random.random() < 0.2:
            names = (*more, "owl-horst", *kind.regimes[1:])
        if random.random() < 0.3:  # the reason in a named graph
            options["scope"] = "union"
            passing = tuple((*fact, GRAPH) for fact in passing)
        try:
            check_without(case, kept, passing, names, options)
        except BudgetError:
            continue  # where all names are the same as each other, hundreds of millions follow
        except UsageError as error:
            # Conclusions about rdf:first and rdf:rest may break the list that they follow from.
            if "did not reach a fixpoint" not in str(error):
                raise


def check_without(
    case: Case,
    kept: list[Fact],
    passing: tuple[tuple[Any, ...], ...],
    names: tuple[str, ...],
    options: dict[str, Any],
) -> None:
    """A store that loses what passes is a store that never had it; audits agree."""
    where = f"{case}, {passing}, {names}, {options}"
    with (
        store_of(kept, names, **options) as anew,
        store_of((*kept, *passing), names, **options) as store,
    ):
        assert Quad(*case.missing) in store, where
        if case.missing not in passing and len(passing[0]) == 3:
            assert not proves_itself(store, case.missing), where
        change(store, passing)
        assert seen(store) == seen(anew), where
        for thorough in (False, True):
            assert str(store.audit(thorough=thorough)).endswith("is exact"), where


# --- what an auditor sees ------------------------------------------------------------------------


def without_premises(rules: Any, schema: Any = (), fixed: Any = (), users: Any = ()) -> Any:
    return [*schema, *rules]


@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize(
    ("name", "equality"),
    [("domain of an inverse", "rules"), ("domain", "rewrite"), ("functional", "rewrite")],
)
def test_audit__sees_an_axiom_that_is_its_own_reason(
    name: str, equality: str, thorough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made by rules without premises, which an auditor must not take for granted."""
    (kind,) = (kind for kind in KINDS if kind.name == name)
    case = next(iter(cases(kind)))
    monkeypatch.setattr(regimes, "with_premises", without_premises)
    with store_of((*case.kept, case.missing), equality=equality) as store:
        change(store, [case.missing])
        monkeypatch.undo()
        assert Quad(*case.missing) in store
        kinds = [one.kind for one in store.audit(thorough=thorough).differences]
        assert "unfounded" in kinds


def test_a_property_of_containers__that_only_follows_from_being_one() -> None:
    kept = turtle(
        "rdfs:ContainerMembershipProperty rdfs:subClassOf _:r . "
        "_:r owl:onProperty rdf:_2 ; owl:hasValue ex:v ."
    )
    passing = turtle("ex:a rdf:_2 ex:b .")
    names = ("rdfs", "owl-rl")
    with store_of(kept, names) as anew, store_of((*kept, *passing), names) as store:
        change(store, passing)
        assert seen(store) == seen(anew)
