"""The report of a run: what `reason` returns, and `Transaction.report`.

Start reading at `report_of`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from triplestore.maintenance.report import Report
from triplestore.reasoning.outcome import is_helper_in, rows_of_relations
from triplestore.reasoning.program.graph_scope import stated_elsewhere
from triplestore.reasoning.program.in_force import InForce, whole_program_of
from triplestore.reasoning.reports.regime_report import regime_report
from triplestore.reasoning.violations import count_new_between, count_violations
from triplestore.relations import EXPLICIT, INFERRED

if TYPE_CHECKING:
    from triplestore.reasoning.closing import Closing
    from triplestore.reasoning.program.stored_rules import Rules


def report_of(closing: Closing, before: Rules | None, warnings: Iterable[Any] = ()) -> Report:
    """The report of the last run of a transaction.

    before  the rules before it
    """
    report, state = _figures_of(closing, before, warnings), closing.state
    if not isinstance(state.rules, InForce):
        return report
    regimes, tables = state.settings.regimes, state.tables
    return regime_report(report, state.rules, regimes, tables, closing.dictionary)


def _figures_of(closing: Closing, before: Rules | None, warnings: Iterable[Any]) -> Report:
    state, tables = closing.state, closing.state.tables
    known, now = whole_program_of(before), whole_program_of(state.rules)
    where, changed = closing.listed(), before is not state.rules
    violations = count_violations(tables, where)
    elsewhere = stated_elsewhere(tables, closing.dictionary)
    return Report(
        rules=now.rule_count,
        constraints=len(now.program.constraints),
        rules_added=now.count_beyond(known) if changed else 0,
        rules_removed=known.count_beyond(now) if changed else 0,
        explicit=tables.total(EXPLICIT) + elsewhere,
        inferred=tables.total(INFERRED) - elsewhere,
        relation_rows=rows_of_relations(tables, is_helper_in(closing.dictionary)),
        violations=violations,
        new_violations=count_new_between(closing.base, tables, where) if violations else 0,
        strategy=state.settings.tuning.strategy,
        warnings=tuple(warnings),
        **state.figures,
    )
