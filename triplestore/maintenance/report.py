"""The `Report` that `store.reason()` returns and the command line prints.

Start reading at `Report`. It has numbers only and refers to no facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, field
from typing import Any

from triplestore.data_classes import data_class
from triplestore.datalog.problems import Problem

MOST_STRATA = 12
"""Maximum number of strata that are printed: those that took longest."""


@data_class(frozen=False)
class StratumReport:
    """What was done in one stratum of an update.

    strategy   the algorithm or module that did it
    why        why it was chosen
    """

    number: int
    strategy: str
    seconds: float
    rounds: int
    gone: int
    added: int
    instances: dict[str, int]
    why: str = ""


@data_class(repr=False)
class Report:
    """What bringing a closure up to date did; prints as a table.

    >>> print(Report(rules=2, explicit=3, inferred=1, inferred_added=1, strategy="dred_c"))
    rules           2
    facts           3 explicit, 1 inferred (1 new, 0 gone)
    time            0.0 ms, 0 rounds
    """

    rules: int = 0
    """Rules of the program."""
    constraints: int = 0
    """Constraints of the program."""
    rules_added: int = 0
    """Rules and constraints that are new in the program."""
    rules_removed: int = 0
    """Rules and constraints that are no longer in the program."""
    explicit: int = 0
    """Asserted facts of the default graph."""
    inferred: int = 0
    """Facts that are inferred only."""
    relation_rows: int = 0
    """Rows of relations of three columns or more, which only rules make."""
    inferred_added: int = 0
    """New facts and rows that are inferred only."""
    inferred_removed: int = 0
    """Facts and rows that were inferred only, and no longer hold."""
    still_entailed: int = 0
    """Facts that were asserted before, and still hold because they are inferred."""
    violations: int = 0
    """Violations of constraints."""
    new_violations: int = 0
    """Violations that were not there before."""
    strategy: str = ""
    """The requested strategy; `strata` says what was done."""
    seconds: float = 0.0
    """Time of the inference, with making rules of axioms and compiling them; without loading and
    committing."""
    rounds: int = 0
    derivations: Mapping[str, int] = field(default_factory=dict)
    """Phase -> number of rule instances considered."""
    rows_fetched: int = 0
    """Rows that were read from relations to find these instances."""
    strata: Sequence[StratumReport] = ()
    """What was done in each stratum that the change reached, in order."""
    warnings: Sequence[Problem] = ()
    """Problems found in the rules."""

    def completed(self) -> Report:
        """The same; a report that finds a part of it when it is looked at has that part then."""
        return self

    @property
    def derivation_count(self) -> int:
        """Number of rule instances considered in all phases."""
        return sum(self.derivations.values())

    def as_dict(self) -> dict[str, Any]:
        """The numbers by name, fit for JSON."""
        values = asdict(self)
        values["warnings"] = [str(problem) for problem in self.warnings]
        return values

    def rows(self) -> list[tuple[str, str]]:
        """The lines of its table, without strata: what each is called, and what it says."""
        rows = [("rules", self._rules()), ("facts", self._facts())]
        if self.violations or self.new_violations:
            rows.append(("violations", f"{self.violations:,} ({self.new_violations:,} new)"))
        rows.append(("time", f"{1000 * self.seconds:,.1f} ms, {_many(self.rounds, 'round')}"))
        if self.derivations:
            phases = ", ".join(f"{n:,} in {phase}" for phase, n in self.derivations.items())
            rows.append(("derivations", f"{phases}; {self.rows_fetched:,} rows fetched"))
        return rows

    def __str__(self) -> str:
        lines = [f"{name:<15} {value}" for name, value in [*self.rows(), *self._strata()]]
        return "\n".join([*lines, *map(str, self.warnings)])

    def __repr__(self) -> str:
        facts = f"{self.explicit:,} explicit, {self.inferred:,} inferred"
        return f"<report: {_many(self.rules, 'rule')}; {facts}>"

    def _repr_html_(self) -> str:
        # Late: only notebooks ask for it.
        from triplestore.notebook.parts import figures, folded, line, output

        warnings = (line(warning, "bad") for warning in self.warnings)
        strata = folded(f"strata ({len(self.strata):,})", figures(self._strata()))
        return output(figures(self.rows()), strata if self.strata else "", *warnings)

    def _rules(self) -> str:
        parts = [f"{self.rules:,}"]
        if self.constraints:
            parts.append(f"{_many(self.constraints, 'constraint')}")
        text = " and ".join(parts)
        changed = [
            f"{count:,} {what}"
            for count, what in ((self.rules_added, "new"), (self.rules_removed, "gone"))
            if count
        ]
        return f"{text} ({', '.join(changed)})" if changed else text

    def _facts(self) -> str:
        rows = f", {self.relation_rows:,} in relations of rules" if self.relation_rows else ""
        text = (
            f"{self.explicit:,} explicit, {self.inferred:,} inferred{rows} "
            f"({self.inferred_added:,} new, {self.inferred_removed:,} gone)"
        )
        if self.still_entailed:
            text += f"; {self.still_entailed:,} no longer asserted still follow"
        return text

    def _strata(self) -> list[tuple[str, str]]:
        longest = sorted(self.strata, key=lambda stratum: -stratum.seconds)[:MOST_STRATA]
        shown = {id(stratum) for stratum in longest}
        rows = [
            (f"  stratum {stratum.number}", _stratum(stratum))
            for stratum in self.strata
            if id(stratum) in shown
        ]
        left = len(self.strata) - len(rows)
        return [*rows, ("", f"and {left:,} more strata")] if left else rows


def _stratum(stratum: StratumReport) -> str:
    derivations = sum(stratum.instances.values())
    text = (
        f"{stratum.strategy}: {_many(stratum.added, 'fact')} new, {stratum.gone:,} gone, "
        f"{_many(stratum.rounds, 'round')}, {_many(derivations, 'derivation')}, "
        f"{1000 * stratum.seconds:,.1f} ms"
    )
    return f"{text} ({stratum.why})" if stratum.why else text


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
