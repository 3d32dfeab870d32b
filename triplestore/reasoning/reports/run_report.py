"""The report of a run: what `reason` returns, and `Transaction.report`.

Start reading at `report_of`. With a regime it also says which rules the axioms gave, which explains
why little is inferred. `warnings.py` looks at a sample of the data as well. Reports keep no facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any

from triplestore.data_classes import data_class
from triplestore.maintenance.report import Report
from triplestore.reasoning.outcome import is_helper_in, rows_of_relations
from triplestore.reasoning.program.graph_scope import DEFAULT, stated_elsewhere
from triplestore.reasoning.program.in_force import InForce, whole_program_of
from triplestore.reasoning.program.schema_reader import SchemaReader
from triplestore.reasoning.program.settings import Regimes
from triplestore.reasoning.reports.missing_imports import missing_imports
from triplestore.reasoning.reports.warnings import warnings_of
from triplestore.reasoning.violations import count_new_between, count_violations
from triplestore.relations import EXPLICIT, INFERRED, Tables

if TYPE_CHECKING:
    from triplestore.ontologies.translate.draft import Outside
    from triplestore.ontologies.translate.regimes import Translation
    from triplestore.reasoning.closing import Closing
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.terms import Dictionary

MAX_LISTED = 10
"""Maximum number of items of each kind that are printed."""

MAX_KEPT = 1000
"""Maximum number of axioms outside of the regimes in a report."""


@data_class(repr=False)
class RegimeReport(Report):
    """A report that also says which rules axioms gave; prints as a table."""

    regimes: Sequence[str] = ()
    """The regimes in force."""
    scope: str | Sequence[str] = DEFAULT
    """Which named graphs are used beside the default graph."""
    axioms: int = 0
    """Axioms that rules were made of."""
    rules_by_id: Mapping[str, int] = field(default_factory=dict)
    """Id of a public rule -> how many rules are cases of it; those of unfolded expressions count
    for each of their ids."""
    outside_count: int = 0
    """Axioms, or parts of axioms, for which the regimes have no rule."""
    outside_reasons: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of these with this reason."""
    outside: Sequence[str] = ()
    """The first of them, each with the reason."""
    problems: Sequence[str] = ()
    """Malformed parts of axioms."""
    unresolved: Sequence[str] = ()
    """Imports that were not found or not searched for, each with the reason."""

    def as_dict(self) -> dict[str, Any]:
        """The figures by name, fit for JSON."""
        values = asdict(self)
        values["warnings"] = [str(problem) for problem in self.warnings]
        return values

    def rows(self) -> list[tuple[str, str]]:
        """The lines of its table, without strata: what each is called, and what it says."""
        rows = [("regimes", ", ".join(self.regimes)), ("scope", self._scope())]
        rows.append(("axioms", self._axioms()))
        ids = Counter(self.rules_by_id).most_common(MAX_LISTED)
        rows.append(("rules by id", ", ".join(f"{name} {count:,}" for name, count in ids)))
        reasons = [f"{_axioms(count)}: {why}" for why, count in self.outside_reasons.items()]
        rows += _listed("outside", reasons, len(reasons))
        rows += _listed("problems", self.problems, len(self.problems))
        rows += _listed("not imported", self.unresolved, len(self.unresolved))
        return [row for row in rows if row[1]] + Report.rows(self)

    def _scope(self) -> str:
        if self.scope == DEFAULT:
            return ""
        return self.scope if isinstance(self.scope, str) else ", ".join(self.scope)

    def _axioms(self) -> str:
        left = f", {self.outside_count:,} outside" if self.outside else ""
        return f"{self.axioms:,} used{left}"


def _axioms(count: int) -> str:
    return "1 axiom" if count == 1 else f"{count:,} axioms"


def _listed(name: str, lines: Sequence[str], count: int) -> Iterator[tuple[str, str]]:
    for place, line in enumerate(lines[:MAX_LISTED]):
        yield ("" if place else name), " ".join(line.split())
    if count > MAX_LISTED:
        yield "", f"and {count - MAX_LISTED:,} more"


_LATER = frozenset(
    [
        "rules",
        "constraints",
        "rules_added",
        "rules_removed",
        "warnings",
        "axioms",
        "rules_by_id",
        "outside_count",
        "outside_reasons",
        "outside",
        "problems",
        "unresolved",
    ]
)
"""What is found in rules and axioms."""


class ReportOnDemand(RegimeReport):
    """The same of facts that are mostly axioms: what is said of the rules is found when it is first
    looked at. Until then it refers to the facts of its commit."""

    __slots__ = ("_rest",)

    def __init__(self, figures: Mapping[str, Any], rest: Callable[[], Mapping[str, Any]]) -> None:
        report = RegimeReport(**figures)
        names = (one.name for one in fields(report) if one.name not in _LATER)
        self._set({**{name: getattr(report, name) for name in names}, "_rest": rest})

    def __getattr__(self, name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(name)
        self.completed()
        return getattr(self, name)

    def completed(self) -> RegimeReport:
        """The same, complete, without a reference to facts."""
        if self._rest is not None:
            self._set({**self._rest(), "_rest": None})
        return self

    def _set(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


def report_of(closing: Closing, before: Rules | None, warnings: Iterable[Any] = ()) -> Report:
    """The report of the last run of a transaction.

    before  the rules before it
    """
    figures, rules = _figures_of(closing), closing.state.rules
    counted = partial(_counts_of, rules, before, tuple(warnings))
    if not isinstance(rules, InForce):
        return Report(**figures, **counted())
    regimes, tables = closing.state.settings.regimes, closing.state.tables
    figures |= {"regimes": regimes.names, "scope": regimes.scope}
    about = partial(_about_axioms, rules, regimes, tables, closing.dictionary)
    if SchemaReader(closing.dictionary, tables, regimes).many():
        return ReportOnDemand(figures, lambda: _joined(counted(), about()))
    return RegimeReport(**figures, **_joined(counted(), about()))


def standing_report(
    rules: Rules | None, tables: Tables, dictionary: Dictionary, violations: int
) -> Report:
    """The report of a state that is only read: nothing was run, so it has no time and no strata."""
    elsewhere = stated_elsewhere(tables, dictionary)
    figures: dict[str, Any] = {
        "explicit": tables.total(EXPLICIT) + elsewhere,
        "inferred": tables.total(INFERRED) - elsewhere,
        "relation_rows": rows_of_relations(tables, is_helper_in(dictionary)),
        "violations": violations,
    }
    counted = _counts_of(rules, rules, ())
    if not isinstance(rules, InForce):
        return Report(**figures, **counted)
    regimes = rules.regimes
    figures |= {"regimes": regimes.names, "scope": regimes.scope}
    about = _about_axioms(rules, regimes, tables, dictionary)
    return RegimeReport(**figures, **_joined(counted, about))


def _joined(counts: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    return {**counts, **about, "warnings": (*counts["warnings"], *about["warnings"])}


def _figures_of(closing: Closing) -> dict[str, Any]:
    state, tables = closing.state, closing.state.tables
    where = closing.listed()
    violations = count_violations(tables, where)
    elsewhere = stated_elsewhere(tables, closing.dictionary)
    return {
        "explicit": tables.total(EXPLICIT) + elsewhere,
        "inferred": tables.total(INFERRED) - elsewhere - state.hidden,
        "relation_rows": rows_of_relations(tables, is_helper_in(closing.dictionary)),
        "violations": violations,
        "new_violations": count_new_between(closing.base, tables, where) if violations else 0,
        "strategy": state.settings.tuning.strategy,
        **state.figures,
    }


def _counts_of(
    rules: Rules | None, before: Rules | None, warnings: Sequence[Any]
) -> dict[str, Any]:
    """How many rules there are, and how many changed."""
    known, now = whole_program_of(before), whole_program_of(rules)
    changed = before is not rules
    return {
        "rules": now.rule_count,
        "constraints": len(now.program.constraints),
        "rules_added": now.count_beyond(known) if changed else 0,
        "rules_removed": known.count_beyond(now) if changed else 0,
        "warnings": warnings,
    }


def _about_axioms(
    rules: InForce, regimes: Regimes, tables: Tables, dictionary: Dictionary
) -> dict[str, Any]:
    """What axioms gave."""
    translation, ontology = rules.translation, rules.ontology
    if regimes.has_el and not regimes.reads_axioms:
        # Late: few stores have this regime.
        from triplestore.reasoning.reports.el_axioms import el_axioms

        translation, ontology = el_axioms(tables, dictionary, regimes)
    unresolved = [f"{iri}: {why}" for iri, why in _unresolved(regimes, tables, dictionary)]
    found = warnings_of(rules, regimes, tables, dictionary, bool(unresolved))
    outside = _stated(translation, regimes, tables, dictionary)
    return {
        "warnings": tuple(found),
        "axioms": (0 if translation is None else translation.used) + len(rules.whole.edges or ()),
        "rules_by_id": dict(_by_id(rules)),
        "outside_count": len(outside),
        "outside_reasons": dict(Counter(one.reason for one in outside).most_common()),
        "outside": tuple(map(str, outside[:MAX_KEPT])),
        "problems": () if ontology is None else tuple(map(str, ontology.problems)),
        "unresolved": tuple(unresolved),
    }


def _unresolved(
    regimes: Regimes, tables: Tables, dictionary: Dictionary
) -> Iterator[tuple[str, str]]:
    """Imports that are not in the store, with reasons; of files first."""
    yield from regimes.unresolved
    reason = "the data import it; load it or give its file as ontology=..."
    known = {iri for iri, _ in regimes.unresolved}
    for iri in missing_imports(tables, dictionary):
        if iri not in known:
            yield iri, reason


def _stated(
    translation: Translation | None, regimes: Regimes, tables: Tables, dictionary: Dictionary
) -> list[Outside]:
    """The asserted axioms outside of the regimes: users cannot change inferred ones."""
    found = [] if translation is None else [*translation.outside]
    if not found or not translation or not translation.reflective:
        return found
    reader = SchemaReader(dictionary, tables, regimes)
    return [one for one in found if reader.states(getattr(one.axiom, "own", ()))]


def _by_id(rules: InForce) -> Counter[str]:
    found: Counter[str] = Counter()
    for rule in rules.whole.program.rules:
        if rule.axioms:
            found.update(rule.name.split(", "))
    if rules.whole.edges is not None:
        found[rules.whole.edges.name] += rules.rule_count - len(rules.whole.program.rules)
    for constraint in rules.constraints:
        if constraint.axioms:
            found[constraint.id] += 1
    return found
