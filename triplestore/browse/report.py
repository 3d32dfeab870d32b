"""What reasoning does in a store, as plain data: start at `report`.

Nothing is run: the rules in force are read, and violations are counted where they are kept.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from triplestore.browse.term_data import TermData
from triplestore.browse.thresholds import BROWSE
from triplestore.browse.violation_data import violation_data
from triplestore.datalog.text import show
from triplestore.reasoning.program.in_force import InForce, whole_program_of
from triplestore.reasoning.reports.run_report import RegimeReport, standing_report
from triplestore.reasoning.violations import inconsistencies, violation_relations, violations
from triplestore.store.readable import view_of

if TYPE_CHECKING:
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.store import ReadableStore
    from triplestore.store.state_view import StateView


def report(
    store: ReadableStore, *, counts: bool = False, offset: int = 0, language: str = "en"
) -> dict[str, Any]:
    """Regimes, rules by id, what lies outside of the regimes, violations and warnings.

    counts  also count what each rule infers, which evaluates all rules once
    offset  the number of violations to leave out

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.load('''@prefix : <http://e/> .
    ...     @prefix owl: <http://www.w3.org/2002/07/owl#> .
    ...     :loves a owl:IrreflexiveProperty . :narcissus :loves :narcissus .''', "ttl")
    >>> _ = store.reason("owl-rl")
    >>> found = report(store)
    >>> found["regimes"], found["violations"]["total"]
    (['owl-rl'], 1)
    >>> found["violations"]["items"][0]["bindings"]["x"]["short"]
    ':narcissus'
    """
    view = view_of(store)
    rules = view.rules()
    where = violation_relations(rules, view.dictionary)
    counted = inconsistencies(view.tables, where, view.dictionary, 0)
    figures = standing_report(rules, view.tables, view.dictionary, len(counted))
    made: dict[str, Any] = {
        "regimes": list(view.regimes),
        "explicit": figures.explicit,
        "inferred": figures.inferred,
        "rules": _rules_by_id(rules, view, store.facts_by_rule() if counts else None),
        "rule_count": figures.rules,
        "constraint_count": figures.constraints,
        "violations": {
            "total": len(counted),
            "by_constraint": dict(counted.counts),
            "offset": offset,
            "items": _violations(view, offset, language),
        },
        "outside": [],
        "outside_reasons": {},
        "warnings": [str(problem) for problem in figures.warnings],
    }
    if isinstance(figures, RegimeReport):
        made["outside"] = list(figures.outside)
        made["outside_count"] = figures.outside_count
        made["outside_reasons"] = dict(figures.outside_reasons)
        made["axioms"] = figures.axioms
        made["problems"] = list(figures.problems)
        made["unresolved"] = list(figures.unresolved)
    return made


def _violations(view: StateView, offset: int, language: str) -> list[dict[str, Any]]:
    where = violation_relations(view.rules(), view.dictionary)
    found = violations(view.tables, where, view.dictionary)
    data = TermData(view, language)
    chosen = islice(found, offset, offset + BROWSE.shown_violations)
    return [
        {**violation_data(violation, data), "number": number}
        for number, violation in enumerate(chosen, offset)
    ]


def _rules_by_id(
    rules: Rules | None, view: StateView, inferred: dict[str, int] | None
) -> list[dict[str, Any]]:
    """Each id once: how many rules have it, the text of one, and whether users gave it."""
    whole = whole_program_of(rules)
    users = rules.users if isinstance(rules, InForce) else rules
    given = set() if users is None else {rule.name for rule in users.program.rules}
    given |= set() if users is None else {each.id for each in users.program.constraints}
    prefixes = {**whole.program.prefixes, **view.prefixes}
    found: dict[str, dict[str, Any]] = {}

    def count(name: str, kind: str, text: str | None, number: int = 1) -> None:
        entry = found.setdefault(
            name, {"id": name, "kind": kind, "count": 0, "text": text, "user": name in given}
        )
        entry["count"] += number

    for rule in whole.program.rules:
        known = rule.name in found
        count(rule.name, "rule", None if known else show(rule, prefixes))
    for constraint in whole.program.constraints:
        known = constraint.id in found
        count(constraint.id, "constraint", None if known else show(constraint, prefixes))
    if whole.edges is not None:
        left = whole.rule_count - len(whole.program.rules)
        count(whole.edges.name, "rule", None, left)
    for name, number in (inferred or {}).items():
        if name in found:
            found[name]["inferred"] = number
    return sorted(found.values(), key=lambda one: (not one["user"], -one["count"], one["id"]))


def violation_proof(
    store: ReadableStore,
    number: int,
    text: str | None = None,
    *,
    seconds: float = 5.0,
    language: str = "en",
) -> dict[str, Any]:
    """The proof of one violation, by its number in the report.

    text  the violation as the report writes it: if another one has this number now, a
          `ConflictError` says so

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.reason(rules="@prefix : <http://e/> . :A[:a] . constraint 'no' :- :A[?x] .")
    >>> violation_proof(store, 0)["because"][0]["fact"][0]["value"]
    'http://e/a'
    """
    # Late: proofs are not needed for a report.
    from triplestore.browse.proof_data import why_data
    from triplestore.errors import ConflictError, UsageError

    view = view_of(store)
    where = violation_relations(view.rules(), view.dictionary)
    found = violations(view.tables, where, view.dictionary)
    violation = next(islice(found, number, number + 1), None)
    if violation is None:
        raise UsageError(f"violation number {number} does not exist: read the report again")
    if text is not None and str(violation) != text:
        raise ConflictError("the violations have changed since the report: read it again")
    return why_data(store, violation, seconds=seconds, language=language)
