"""How the papers' examples are run: every algorithm on a copy, with all that must always be true.

`run` checks of each algorithm that the result is that of the naive oracle, that counters and trace
are those computed from the start, that no instance is considered twice where the theorems say so,
and that deletion looks at instances of the old, insertion at those of the new materialisation. It
returns the reports, whose numbers tests compare with the papers'.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from zlib import crc32

from tests.maintenance.naive import Fact, counts, naive
from tests.maintenance.notation import facts, key, program, show
from tests.reference import (
    ADDITION,
    INSERTION,
    OVERDELETION,
    PROVING,
    REMOVAL,
    Instance,
    Materialisation,
    Report,
    always,
    bf,
    bf_c,
    by_predicate,
    counting,
    deeper_than,
    dred,
    dred_c,
    fbf,
    fbf_c,
    trace,
)
from tests.reference.facts import Order
from tests.reference.matching import Plan
from tests.reference.report import Phase
from tests.reference.search import Progress
from triplestore.datalog.program import Program
from triplestore.datalog.slices import Slice
from triplestore.datalog.stratify import Method, stratify

Algorithm = Callable[..., Report]


def sometimes(fact: Fact, progress: Progress) -> bool:
    """Give up by the flip of a coin that is another one when the fact is met again."""
    return (crc32(repr(fact).encode()) + progress.considered + progress.depth) % 3 == 0


ALGORITHMS: Mapping[str, Algorithm] = {
    "counting": counting,
    "DRed": dred,
    "B/F": bf,
    "FBF, always": lambda made, *change, **how: fbf(made, *change, abort=always, **how),
    "FBF, depth 1": lambda made, *change, **how: fbf(made, *change, abort=deeper_than(1), **how),
    "FBF, sometimes": lambda made, *change, **how: fbf(made, *change, abort=sometimes, **how),
    "DRed^c": dred_c,
    "B/F^c": bf_c,
    "FBF^c": fbf_c,
    "FBF^c, always": lambda made, *change, **how: fbf_c(made, *change, abort=always, **how),
    "FBF^c, sometimes": lambda made, *change, **how: fbf_c(made, *change, abort=sometimes, **how),
    "FBF^c, sometimes, no C_r": lambda made, *change, **how: fbf_c(
        made, *change, abort=sometimes, recursive=False, **how
    ),
    "FBF^c, always, no C_r": lambda made, *change, **how: fbf_c(
        made, *change, abort=always, recursive=False, **how
    ),
}
WITHOUT_ORDER = {"counting", "DRed^c"}

AFTER_DELETION: tuple[Phase, ...] = ("rederive", *PROVING, *INSERTION)


@dataclass
class Run:
    """One update by every algorithm.

    reports       name of an algorithm -> what it did
    lost, gained  what holds before or after only
    old, new      the rule instances before and after
    """

    reports: dict[str, Report]
    lost: str
    gained: str
    old: set[Instance]
    new: set[Instance]

    def counting(self) -> tuple[int, int]:
        """Instances removed, added."""
        return self.reports["counting"].count(*REMOVAL), self.reports["counting"].count(*ADDITION)

    def dred(self) -> tuple[int, int, int]:
        """Instances of overdeletion, one-step rederivation, insertion."""
        report = self.reports["DRed"]
        return report.count(*OVERDELETION), report.count("rederive"), report.count(*INSERTION)

    def bf(self) -> tuple[int, int, int, int, int]:
        """Instances of deletion, backward search, nonrecursive and recursive proofs, insertion."""
        report = self.reports["B/F"]
        phases: tuple[Phase, ...] = ("check", "prove nonrecursive", "prove")
        return (
            report.count(*OVERDELETION),
            *(report.count(phase) for phase in phases),
            report.count(*INSERTION),
        )

    def dred_c(self) -> tuple[int, int]:
        """Instances of overdeletion, insertion."""
        report = self.reports["DRed^c"]
        return report.count(*OVERDELETION), report.count(*INSERTION)


def by_name(default: int = 1, **levels: int) -> Method:
    """A stratification by the names of predicates, as the papers give it."""
    known = {key(name): level for name, level in levels.items()}

    def level_of(of: Slice) -> int:
        return known.get(of.name, default)

    return level_of


def run(
    rules: str | Program,
    given: str | Iterable[Fact],
    deleted: str | Iterable[Fact] = "",
    added: str | Iterable[Fact] = "",
    method: Method = "levels",
    order: Order = by_predicate,
    plan: Plan = "written",
) -> Run:
    """One update of a materialisation, by every algorithm."""
    made = program(rules) if isinstance(rules, str) else rules
    explicit = as_facts(given)
    minus, plus = as_facts(deleted), as_facts(added)
    after = (explicit - minus) | plus
    old = Materialisation(made, explicit, method, plan)
    new = Materialisation(made, after, method, plan)
    assert new.facts == naive(made, after, stratify(made, method)).facts
    assert not new.report.repeated()
    assert set(new.report.of()) == new.instances()
    for one in new.report.of("derive lower"):
        own = new.rules.level_of(one.head)
        assert all(new.rules.level_of(premise) < own for premise in one.positive)
    found = Run(
        {}, show(old.facts - new.facts), show(new.facts - old.facts), old.instances(),
        new.instances(),
    )  # fmt: skip
    for name, algorithm in ALGORITHMS.items():
        state = old.copy()
        how = {} if name in WITHOUT_ORDER else {"order": order}
        report = algorithm(state, minus, plus, **how)
        found.reports[name] = report
        check_state(state, new, name)
        check_report(report, found.old, found.new, name)
    check_ends(found)
    return found


def as_facts(some: str | Iterable[Fact]) -> set[Fact]:
    return facts(some) if isinstance(some, str) else set(some)


def check_state(state: Materialisation, new: Materialisation, name: str) -> None:
    """A maintained state is the one made from the start, with its counters or its trace."""
    assert state.facts == new.facts, name
    assert state.held == new.held, name
    assert state.explicit == new.explicit, name
    assert state.table.facts == state.held, name
    if name == "counting":
        assert state.trace == trace(new)
    else:
        assert state.trace is None
    if state.counters is not None:
        expected = new.count()
        assert state.counters.nonrecursive == expected.nonrecursive, name
        assert state.counters.recursive in (None, expected.recursive), name
    kept = {"DRed^c", "B/F^c"} | {one for one in ALGORITHMS if one.startswith("FBF^c")}
    assert (state.counters is not None) == (name in kept)


def check_counters(state: Materialisation, made: Program, method: Method) -> None:
    """The counters of a materialisation are those of the naive oracle."""
    found = counts(made, state.explicit, stratify(made, method))
    counters = state.count()
    assert counters.nonrecursive == found.nonrecursive + Counter(state.explicit)
    assert counters.recursive == found.recursive


def check_report(report: Report, old: set[Instance], new: set[Instance], name: str) -> None:
    """What theorems 12, 19 and 25 say about the instances of each group of phases."""
    groups: list[tuple[tuple[Phase, ...], set[Instance]]] = [
        (OVERDELETION, old),
        (REMOVAL, old),
        (ADDITION, new),
        (("check",), old),
    ]
    if name.startswith("FBF^c") and "no C_r" not in name:
        # What was proved after it was deleted is inserted again for the sake of C_r.
        groups += [(PROVING, new), (("rederive", *INSERTION), new)]
    else:
        groups.append((AFTER_DELETION, new))
    for phases, allowed in groups:
        assert not report.repeated(*phases), (name, phases)
        assert set(report.of(*phases)) <= allowed, (name, phases)
    left = {fact for fact in report.deleted if report.after_deletion.get(fact, (0, 0))[1]}
    if name.startswith("FBF^c") and "no C_r" not in name:
        assert left - report.proved <= report.blocked, name


def check_ends(found: Run) -> None:
    """FBF and FBF^c are DRed, B/F, DRed^c and B/F^c where they always or never give up."""
    for one, other in (
        ("DRed", "FBF, always"),
        ("DRed^c", "FBF^c, always"),
        ("B/F^c", "FBF^c"),
    ):
        first, second = found.reports[one], found.reports[other]
        for phase in {*first.instances, *second.instances}:
            assert Counter(first.of(phase)) == Counter(second.of(phase)), (other, phase)
        assert first.deleted == second.deleted
        assert first.added == second.added


def shown_trace(state: Materialisation) -> dict[tuple[int, int], str]:
    """(stratum, iteration) -> the facts derived there, with how often where it is not once."""
    return {
        at: " ".join(
            show([fact]) + (f" x{times}" if times > 1 else "")
            for fact, times in sorted(counts_.items(), key=lambda entry: show([entry[0]]))
        )
        for at, counts_ in sorted(trace(state).items())
    }
