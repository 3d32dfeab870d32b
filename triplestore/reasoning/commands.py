"""What `reason`, `add_rules` and `remove_rules` need of a transaction.

Start reading at `applied`: rules are put in force for the run that brings the closure up to date,
and taken back if that fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from triplestore.errors import UsageError
from triplestore.maintenance.report import Report
from triplestore.reasoning.closing import Closing
from triplestore.reasoning.outcome import is_helper_in, rows_of_relations
from triplestore.reasoning.program.graph_scope import stated_elsewhere
from triplestore.reasoning.program.in_force import InForce, Regimes, whole_of
from triplestore.reasoning.tuning import Tuning
from triplestore.reasoning.violations import count_new_between, count_violations
from triplestore.relations import EXPLICIT, INFERRED, Tables
from triplestore.terms.vocabulary import RDF_TYPE

if TYPE_CHECKING:
    from triplestore.reasoning.program.stored_rules import Rules, RulesLike
    from triplestore.terms import Dictionary

KNOWN_NAMES = 200
"""With more properties and classes than this, names in rules are not compared with them."""


def chosen(regimes: Sequence[str], rules: RulesLike | None) -> tuple[str, ...] | None:
    """The regimes that are named; None if inference is to be turned off."""
    from triplestore.ontologies.translate.regimes import REGIMES

    for name in regimes:
        if name not in REGIMES and name != "none":
            near = get_close_matches(str(name), [*REGIMES, "none"], n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise UsageError(
                f"there is no regime {name!r}{hint}; rules of your own are given as rules=..."
            )
    if "none" not in regimes:
        return tuple(regimes)
    if rules is not None or len(set(regimes)) > 1:
        raise UsageError(
            'reason("none") turns inference off; give no rules with it, and no other regime'
        )
    return None


def known_names(tables: Tables, dictionary: Dictionary) -> list[bytes] | None:
    """The keys of all properties and classes that the facts have, if these are not too many."""
    names = tables.names().tolist()
    (type_id,) = dictionary.lookup_keys([b"\x01" + RDF_TYPE.encode()]).tolist()
    if type_id in names:
        types = tables.relation(type_id)
        if types.distinct_estimate(1) > KNOWN_NAMES:
            return None
        names += types.distinct(1).tolist()
    return None if len(names) > KNOWN_NAMES else [dictionary.key(name) for name in names]


@contextmanager
def applied(
    closing: Closing,
    users: Rules | None,
    regimes: Regimes,
    tuning: Tuning,
    progress: bool,
    cancel: Callable[[], bool] | None,
) -> Iterator[None]:
    """Rules, regimes and tuning in force; those of before again, if the block raises."""
    before = closing.users, closing.regimes, closing.tuning
    watched = closing.cancel, closing.progress
    closing.users, closing.regimes, closing.tuning = users, regimes, tuning
    closing.watch(progress, cancel)
    try:
        yield
    except BaseException:
        closing.users, closing.regimes, closing.tuning = before
        raise
    finally:
        closing.cancel, closing.progress = watched


def report_of(closing: Closing, was: Rules | None, warnings: Iterable[Any] = ()) -> Report:
    """The report of the last run; `was` are the rules before it."""
    report = _report_of(closing, was, warnings)
    if not isinstance(closing.rules, InForce):
        return report
    from triplestore.reasoning.reports.regime_report import regime_report

    tables, dictionary = closing.closed, closing.dictionary
    return regime_report(report, closing.rules, closing.regimes, tables, dictionary)


def _report_of(closing: Closing, was: Rules | None, warnings: Iterable[Any]) -> Report:
    now, tables = closing.rules, closing.closed
    before, after = whole_of(was), whole_of(now)
    where = closing.listed()
    violations = count_violations(tables, where)
    new = count_new_between(closing.base, tables, where) if violations else 0
    elsewhere = stated_elsewhere(tables, closing.dictionary)
    return Report(
        rules=after.rule_count,
        constraints=len(after.program.constraints),
        rules_added=0 if was is now else after.count_beyond(before),
        rules_removed=0 if was is now else before.count_beyond(after),
        explicit=tables.total(EXPLICIT) + elsewhere,
        inferred=tables.total(INFERRED) - elsewhere,
        relation_rows=rows_of_relations(tables, is_helper_in(closing.dictionary)),
        violations=violations,
        new_violations=new,
        strategy=closing.tuning.strategy,
        warnings=tuple(warnings),
        **closing.figures,
    )
