"""Check proofs as their definition reads, against the oracle (`naive`), without the engine.

`instances` lists every rule instance of a closure; `least` gives from them the least height of
each fact and the size of its smallest proof; `check_proof` says whether a proof is one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

from tests.maintenance.naive import (
    Fact,
    Facts,
    Values,
    aggregate_rows,
    compute,
    ground,
    holds,
    matches,
)
from triplestore.datalog.program import (
    Aggregate,
    Atom,
    Bind,
    Constant,
    Filter,
    Not,
    Program,
    Rule,
    TripleAtom,
    TupleAtom,
    bound_by,
)
from triplestore.datalog.rules import signature
from triplestore.proofs import Proof, ProofPart, ProofStep

NEVER = 10**9


class Instance(NamedTuple):
    """One rule instance with one of its heads: where that stands, and what it needs."""

    rule: int
    head: Fact
    premises: tuple[Fact, ...]


def fact_of(atom: Atom) -> Fact:
    """A ground atom in the form of the oracle."""
    return ground(atom, {})


def atom_of(fact: Fact) -> Atom:
    """A fact of the oracle as an atom."""
    if fact[0] == "t":
        return TripleAtom(*map(Constant, fact[1:]))
    return TupleAtom(Constant(fact[1]), tuple(map(Constant, fact[2:])))


def instances(program: Program, closure: Facts) -> set[Instance]:
    """All rule instances over a closure; what two rules have in common is the first one's."""
    found = set()
    first: dict[Hashable, int] = {}
    for number, rule in enumerate(program.rules):
        numbers = [first.setdefault(signature(part), number) for part in rule.split()]
        for values in matches(rule.body, closure, {}):
            premises = tuple(ground(atom, values) for atom in rule.atoms)
            for head, its in zip(rule.heads, numbers, strict=True):
                found.add(Instance(its, ground(head, values), premises))
    return found


def least(
    edges: Iterable[Instance], explicit: Iterable[Fact], banned: Fact | None = None
) -> dict[Fact, tuple[int, int]]:
    """For each fact the height and the size of its smallest proof; `banned` has none."""
    edges = [edge for edge in edges if banned not in edge.premises]
    best = dict.fromkeys((fact for fact in explicit if fact != banned), (0, 0))
    height = 0
    while True:
        height += 1
        fresh: dict[Fact, tuple[int, int]] = {}
        for edge in edges:
            if (
                edge.head not in best
                and edge.head != banned
                and all(p in best for p in edge.premises)
            ):
                rank = rank_of(edge, best)
                assert rank[0] == height
                fresh[edge.head] = min(fresh.get(edge.head, rank), rank)
        if not fresh:
            return best
        best |= fresh


def rank_of(edge: Instance, best: dict[Fact, tuple[int, int]]) -> tuple[int, int]:
    """The height and size of the proof that ends with an instance."""
    needed = [best.get(fact, (NEVER, 0)) for fact in set(edge.premises)]
    return 1 + max([h for h, _ in needed], default=0), 1 + sum(size for _, size in needed)


def check_proof(proof: Proof, program: Program, explicit: Iterable[Fact], closure: Facts) -> None:
    """Assert that a proof is one."""
    explicit = set(explicit)
    assert next(iter(proof)).fact == proof.fact
    for step in proof:
        if step.rule is None:
            assert fact_of(step.fact) in explicit
            assert step.height == step.size == 0
        else:
            check_step(step, proof, program, closure)
    check_acyclic(proof)


def check_step(step: ProofStep, proof: Proof, program: Program, closure: Facts) -> None:
    rule = step.rule
    assert isinstance(rule, Rule)
    assert rule in program.rules
    assert step.values is not None
    assert set(step.values) == set(bound_by(rule.body))
    values = {variable: value.key for variable, value in step.values.items()}
    assert fact_of(step.fact) in [ground(head, values) for head in rule.heads]
    assert [part.item for part in step.parts] == list(rule.body)
    for part in step.parts:
        check_part(part, values, closure)
    for fact in step.needs if proof.least else step.premises:
        assert fact in proof.steps, "what is needed is proved"
    below = [proof.steps[fact] for fact in set(step.premises)]
    assert step.height == 1 + max([one.height for one in below], default=0)
    assert step.size == 1 + sum(one.size for one in below)


def check_part(part: ProofPart, values: Values, closure: Facts) -> None:
    item = part.item
    if isinstance(item, TripleAtom | TupleAtom):
        assert part.fact is not None
        assert fact_of(part.fact) == ground(item, values)
        assert fact_of(part.fact) in closure.all
    elif isinstance(item, Not | Filter):
        assert holds(item, closure, values)
        assert_filled(part, values)
    elif isinstance(item, Bind):
        assert part.value is not None
        assert compute(item.expression, values) == part.value.key == values[item.variable]
        assert_filled(part, values)
    else:
        check_aggregate(part, item, values, closure)


def assert_filled(part: ProofPart, values: Values) -> None:
    """The shown item says the same without the values."""
    if isinstance(part.filled, Not):
        assert next(matches(part.filled.body, Facts(), {}), None) is None
        bound = {v for v in bound_by(part.filled.body) if v in values}
        assert not bound
    elif isinstance(part.filled, Bind):
        assert compute(part.filled.expression, {}) == values[part.item.variable]  # type: ignore[union-attr]


def check_aggregate(part: ProofPart, item: Aggregate, values: Values, closure: Facts) -> None:
    names = (*item.groups, *(result.variable for result in item.results))
    row = {name: values[name] for name in names}
    assert row in list(aggregate_rows(item, closure))
    assert [one.key for one in part.results] == [values[r.variable] for r in item.results]
    groups = {name: values[name] for name in item.groups}
    every = [
        one
        for one in matches(item.body, closure, {})
        if all(one[name] == key for name, key in groups.items())
    ]
    assert part.count == len(every)
    listed = [{v: value.key for v, value in member.values.items()} for member in part.members]
    assert len(listed) == len(
        {tuple(sorted((v.name, k) for v, k in one.items())) for one in listed}
    )
    for one, member in zip(listed, part.members, strict=True):
        assert one in every
        atoms = [atom for atom in item.body if isinstance(atom, TripleAtom | TupleAtom)]
        assert [fact_of(fact) for fact in member.facts] == [ground(atom, one) for atom in atoms]


def check_acyclic(proof: Proof) -> None:
    """No fact needs itself, through members of aggregates either; every step is needed."""
    state: dict[Atom, int] = {}
    stack: list[tuple[Atom, bool]] = [(proof.fact, False)]
    while stack:
        fact, leaving = stack.pop()
        if leaving:
            state[fact] = 2
        elif fact not in state:
            state[fact] = 1
            stack.append((fact, True))
            for needed in proof.steps[fact].needs if fact in proof.steps else ():
                assert state.get(needed) != 1, "a fact needs itself"
                stack.append((needed, False))
    assert proof.steps.keys() <= state.keys()
    assert not proof.least or proof.steps.keys() == state.keys()
