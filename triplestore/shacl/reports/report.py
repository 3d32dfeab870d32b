"""The report of a validation: start at `ValidationReport`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from triplestore.errors import UsageError
from triplestore.expressions.text.expression_printer import Namer
from triplestore.shacl.reports.result import ValidationResult
from triplestore.shacl.reports.rows import ResultRows
from triplestore.shacl.reports.severities import rank_of, rank_of_key, summary
from triplestore.shacl.vocabulary import SH, local_name

if TYPE_CHECKING:
    import pyoxigraph as ox

    from triplestore.shacl.causes import Cause

MAX_SHOWN = 50
"""Maximum number of results that a table shows."""


class ValidationReport:
    """What is wrong with some data by some shapes; prints as a table.

    It has a length, and lists a `ValidationResult` for each result, in the order of shapes. It is
    true if the data conform.

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.load("@prefix : <http://ex.org/> . :ada a :Person ; :age 'x' .", "ttl")
    >>> report = store.validate('''@prefix : <http://ex.org/> .
    ...     @prefix sh: <http://www.w3.org/ns/shacl#> .
    ...     @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    ...     :S sh:targetClass :Person ; sh:property [ sh:path :age ; sh:datatype xsd:integer ] .''')
    >>> report.conforms, len(report)
    (False, 1)
    >>> for result in report:
    ...     print(result.focus, result.value, result.severity)
    <http://ex.org/ada> "x" Violation
    """

    def __init__(
        self,
        rows: ResultRows,
        prefixes: Mapping[str, str],
        explain: Callable[[ValidationResult], Cause],
        missing_imports: tuple[str, ...] = (),
        commit: int = 0,
    ) -> None:
        self._rows = rows
        self._explain = explain
        self.prefixes = prefixes
        self.missing_imports = missing_imports
        """The graphs that the shapes graph imports and that were not found."""
        self.commit = commit
        """The number of the commit that was validated; 0 for what is not committed."""

    @property
    def conforms(self) -> bool:
        """Whether there are no results."""
        return len(self._rows) == 0

    def __len__(self) -> int:
        return len(self._rows)

    def __bool__(self) -> bool:
        return self.conforms

    def __iter__(self) -> Iterator[ValidationResult]:
        namer = Namer({**self.prefixes, "sh": SH})
        for row in self._rows:
            yield ValidationResult(row, namer, self._explain)

    @cached_property
    def results(self) -> list[ValidationResult]:
        """All results."""
        return list(self)

    @property
    def rows(self) -> ResultRows:
        """All results as keys of terms."""
        return self._rows

    @cached_property
    def counts(self) -> dict[str, int]:
        """The number of results of each severity.

        >>> from triplestore import Store
        >>> Store().validate("").counts
        {}
        """
        counts = self._rows.severities()
        return {
            local_name(key): counts[key] for key in sorted(counts, key=rank_of_key, reverse=True)
        }

    def has(self, severity: str) -> bool:
        """Whether there are results of a severity, or of a graver one.

        Severities of your own are as grave as a violation.
        """
        least = rank_of(severity)
        return any(rank_of_key(key) >= least for key in self._rows.severities())

    # -- documents --------------------------------------------------------------------------------

    def to_graph(self) -> list[ox.Triple]:
        """The report as triples, as the standard describes it."""
        # Late: most reports are only looked at.
        from triplestore.shacl.reports.triples import report_triples

        return report_triples(self)

    def serialize(self, format: str = "turtle") -> str:
        """The report as a document: "turtle", "nt", "json", "html", "text", "sarif" or "junit".

        >>> from triplestore import Store
        >>> print(Store().validate("").serialize("json"))
        {
          "conforms": true,
          "counts": {},
          "results": []
        }
        """
        # Late: most reports are only looked at.
        from triplestore.shacl.reports.documents import FORMATS

        write = FORMATS.get(format)
        if write is None:
            raise UsageError(f"format={format!r} is not supported: use one of {', '.join(FORMATS)}")
        return write(self)

    def __str__(self) -> str:
        # Late: the writers of tables.
        from triplestore.shacl.reports.table import report_text

        return report_text(self, MAX_SHOWN)

    def __repr__(self) -> str:
        return f"<{summary(self.counts)}>"

    def _repr_html_(self) -> str:
        # Late: only notebooks ask for it.
        from triplestore.shacl.reports.table import report_html

        return report_html(self, MAX_SHOWN)

    def first(self, most: int) -> list[ValidationResult]:
        """The first results."""
        return list(islice(self, most))
