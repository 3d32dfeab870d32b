"""Traces as their definition reads, and those of a driver in the same form.

A trace is a dictionary of (stratum, round) to a counter of facts, round 1 included: there are the
facts that are asserted (once) and the conclusions of nonrecursive rules. An instance of a recursive
rule belongs to the round after the last of those of its body facts that are of its stratum, but not
to the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tests.maintenance.driver import Driver
from tests.maintenance.naive import Fact, Facts, ground, matches, naive
from tests.maintenance.notation import TYPE_KEY, show
from triplestore.datalog.program import Program, Rule, TripleAtom, TupleAtom
from triplestore.datalog.rules import signature
from triplestore.datalog.slices import Slice
from triplestore.datalog.stratify import Stratification
from triplestore.relations import EXPLICIT
from triplestore.rules.compiled_program import Compiled

TraceOfAll = dict[tuple[int, int], Counter[Fact]]


def level_of(fact: Fact, strata: Stratification) -> int:
    if fact[0] == "r":
        return strata.level_of(Slice("tuple", fact[1], len(fact) - 2))
    if fact[2] == TYPE_KEY:
        return strata.level_of(Slice("class", fact[3]))
    return strata.level_of(Slice("property", fact[2]))


def instances(rule: Rule, facts: Facts) -> Iterable[tuple[Fact, list[Fact]]]:
    """The head and the positive body facts of each instance."""
    atoms = [item for item in rule.body if isinstance(item, TripleAtom | TupleAtom)]
    for values in matches(rule.body, facts, {}):
        yield ground(rule.heads[0], values), [ground(atom, values) for atom in atoms]


def expected_trace(compiled: Compiled, explicit: Iterable[Fact]) -> TraceOfAll:
    """The trace by definition; strata without recursive rules have their first round only."""
    strata, explicit = compiled.stratification, set(explicit)
    facts = Facts(naive(compiled.rules, explicit, strata).facts)
    found: TraceOfAll = {}
    for fact in explicit:
        found.setdefault((level_of(fact, strata), 1), Counter())[fact] += 1
    for stratum in strata:
        own = stratum.number
        seen = set()
        recursive = []
        for rule, is_recursive in zip(stratum.rules, stratum.recursive, strict=True):
            if signature(rule) in seen:
                continue
            seen.add(signature(rule))
            for head, body in instances(rule, facts):
                if is_recursive:
                    recursive.append((head, [f for f in body if level_of(f, strata) == own]))
                else:
                    found.setdefault((own, 1), Counter())[head] += 1
        came = dict.fromkeys(found.get((own, 1), ()), 1)
        number = 1
        while recursive:
            ready = [i for i in recursive if all(fact in came for fact in i[1])]
            recursive = [i for i in recursive if not all(fact in came for fact in i[1])]
            if not ready and number not in came.values():
                break
            number += 1
            if ready:
                found[own, number] = Counter(head for head, _ in ready)
            for head, _ in ready:
                came.setdefault(head, number)
        assert not recursive
    return found


def trace_of(driver: Driver) -> TraceOfAll:
    """What a driver's tables say of first rounds, and its traces of others."""
    compiled = driver.compiled
    assert compiled is not None and driver.traces is not None
    strata = compiled.stratification
    found: TraceOfAll = {}
    for fact, (status, count) in driver.facts().items():
        times = count + (status == EXPLICIT)
        if times:
            found.setdefault((level_of(fact, strata), 1), Counter())[fact] = times
    key = driver.dictionary.key
    for stratum in compiled.strata:
        trace = driver.traces.of(stratum)
        for name, (keys, rounds, times) in () if trace is None else trace.relations():
            for row, number, count in zip(
                keys.tolist(), rounds.tolist(), times.tolist(), strict=True
            ):
                if isinstance(name, tuple):
                    ids = [int.from_bytes(row.ljust(4 * name[1], b"\0")[i : i + 4], "big")
                           for i in range(0, 4 * name[1], 4)]  # fmt: skip
                    fact = ("r", key(name[0]), *map(key, ids))
                else:
                    first, second = key(row >> 32), key(row & 0xFFFFFFFF)
                    s, o = (second, first) if name == driver.type_id else (first, second)
                    fact = ("t", s, key(name), o)
                found.setdefault((stratum, number), Counter())[fact] = count
    return found


def shown(trace: TraceOfAll) -> dict[tuple[int, int], str]:
    """(stratum, round) -> the facts, with how often where it is not once."""
    return {
        at: " ".join(
            show([fact]) + (f" x{times}" if times > 1 else "")
            for fact, times in sorted(facts.items(), key=lambda entry: show([entry[0]]))
        )
        for at, facts in sorted(trace.items())
    }


def traced(program: Program, explicit: Iterable[Fact], strata: object) -> TraceOfAll:
    """The trace of a program by definition."""
    driver = Driver(strata, hierarchies=False)  # type: ignore[arg-type]
    return expected_trace(Compiled(program, driver.ids, driver.strata, hierarchies=False), explicit)
