"""The derivation of a changed fact as text: start at `derivation_text`.

It is the derivation that the blame is read from: what held in both states is given, and each step
says which of its premises are changes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from triplestore.comparison.term_texts import FactTexts
from triplestore.consequences.blame import Blame, BlamedChanges
from triplestore.consequences.closed_state import ClosedState
from triplestore.datalog.program import Constant, TupleAtom
from triplestore.proofs.closed_facts import Place, keys_of
from triplestore.proofs.concluding_instances import Instances, concluding

MAX_STEPS = 12
"""Maximum number of steps of a derivation that are shown."""


def derivation_text(
    states: Mapping[bool, ClosedState],
    blamed: BlamedChanges,
    came: bool,
    node: int,
    texts: FactTexts,
) -> str:
    """The steps of a derivation as a tree of lines; the first line is the fact."""
    state, blame = states[came], blamed.blames[came]
    words = ("added", "held before") if came else ("removed", "still holds")
    lines: list[str] = []
    seen: set[int] = set()
    stack: list[tuple[int | Place, int]] = [(node, 0)]
    while stack:
        at, depth = stack.pop()
        indent = "  " * depth
        place = blame.graph.nodes.place(at) if isinstance(at, int) else at
        text = _shown(state, place, texts)
        instance = int(blame.derived.chosen[at]) if isinstance(at, int) else -1
        if not isinstance(at, int) or instance < 0 or at in seen:
            note = words[1] if not isinstance(at, int) else words[0]
            lines.append(f"{indent}{text}  ({'see above' if instance >= 0 else note})")
            continue
        if len(seen) == MAX_STEPS:
            lines.append(f"{indent}...")
            break
        seen.add(at)
        rule = state.written.origins[int(blame.graph.rule[instance])]
        lines += [f"{indent}{text}", f"{indent}  by {texts.short_rule(rule)}"]
        lines += [
            f"{indent}  {other}  ({'holds no more' if came else 'holds now'})"
            for other in _others(states[not came], blamed, came, instance, texts)
        ]
        found = _premises(state, blame, at, instance)
        stack.extend((one, depth + 1) for one in reversed(found))
    return "\n".join(lines)


def _shown(state: ClosedState, place: Place, texts: FactTexts) -> str:
    relation = place[0]
    if not isinstance(relation, tuple) or not state.closed.is_helper(relation):
        return texts.fact(state.closed.fact(place))
    if relation[0] in state.violations.relations:
        return "violation"
    fact = state.closed.fact(place)
    assert isinstance(fact, TupleAtom)
    values = [texts.term(one.key) for one in fact.args if isinstance(one, Constant)]
    shown = ", ".join(value for value in values if not value.startswith("<x-triplestore:"))
    kind = "match of NOT" if b"x-triplestore:not/" in fact.name.key else "group"
    return f"{kind} ({shown})"


def _others(
    state: ClosedState, blamed: BlamedChanges, came: bool, instance: int, texts: FactTexts
) -> list[str]:
    """The facts that changed in the other direction, on which an instance depends."""
    graph = blamed.blames[came].graph
    own = graph.size - len(graph.others)
    premises = graph.premises(instance)
    nodes = graph.others[premises[premises >= own] - own].tolist()
    places = map(blamed.blames[not came].graph.nodes.place, nodes[:MAX_STEPS])
    return [_shown(state, place, texts) for place in places]


def _premises(state: ClosedState, blame: Blame, node: int, instance: int) -> list[int | Place]:
    """All premises of an instance: changed ones as nodes, others as places."""
    graph, closed = blame.graph, state.closed
    relation, key = graph.nodes.place(node)
    class_id = key >> 32 if relation == closed.type_id and isinstance(key, int) else 0
    goals = keys_of(relation, [key])
    rules = closed.rules(closed.slice_at(relation, class_id))
    own = graph.size - len(graph.others)
    wanted = {one for one in graph.premises(instance).tolist() if one < own}
    number = int(graph.rule[instance])
    for found in concluding(closed, rules, relation, goals, closed.all):
        for row in np.flatnonzero(found.rule == number).tolist():
            premises = _places(found, row)
            nodes = [int(graph.nodes.find(name, keys_of(name, [its]))[0]) for name, its in premises]
            if {one for one in nodes if one >= 0} <= wanted:
                more = wanted.difference(nodes)
                listed: list[int | Place] = sorted(n for n in more if n < len(graph.nodes))
                for one, place in zip(nodes, premises, strict=True):
                    listed.append(one if one >= 0 else place)
                return list(dict.fromkeys(listed))
    return sorted(n for n in wanted if n < len(graph.nodes))


def _places(found: Instances, row: int) -> list[Place]:
    places: list[Place] = []
    for premise in found.premises:
        name = premise.relation if premise.names is None else int(premise.names[row])
        places.append((name, premise.keys[row].item()))
    return places
