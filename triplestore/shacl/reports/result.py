"""One result, as users see it: start at `ValidationResult`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from triplestore.expressions.text.expression_printer import Namer
from triplestore.expressions.tree import Constant
from triplestore.shacl.reading.read_paths import path_text
from triplestore.shacl.reports.messages import default_message
from triplestore.shacl.reports.rows import ResultRow
from triplestore.shacl.vocabulary import Key, lexical, local_name
from triplestore.terms.term_keys import Term, term_of

if TYPE_CHECKING:
    from triplestore.shacl.causes import Cause


class ValidationResult:
    """One result of a validation; prints as one line.

    Results are equal if they say the same of the same focus node.
    """

    __slots__ = ("_cause", "_explain", "_namer", "row")

    def __init__(
        self, row: ResultRow, namer: Namer, explain: Callable[[ValidationResult], Cause]
    ) -> None:
        self.row = row
        self._namer = namer
        self._explain = explain
        self._cause: Cause | None = None

    @property
    def focus(self) -> Term:
        """The focus node."""
        return term_of(self.row.focus)

    @property
    def value(self) -> Term | None:
        """The value that is wrong; None if the focus node lacks one, or has too many."""
        return None if self.row.value is None else term_of(self.row.value)

    @property
    def path(self) -> str | None:
        """The path from the focus node to the value, as in SPARQL; None for a node shape."""
        path = self.row.path
        if isinstance(path, Constant):
            return path.key[1:].decode()
        return None if path is None else path_text(path)

    @property
    def shape(self) -> Term:
        """The shape."""
        return term_of(self.row.shape.node)

    @property
    def component(self) -> str:
        """The IRI of the constraint component."""
        return self.row.constraint.component[1:].decode()

    @property
    def constraint(self) -> Term | None:
        """The node of `sh:sparql`, for constraints that are queries."""
        key: Key | None = getattr(self.row.constraint, "constraint", None)
        return None if key is None else term_of(key)

    @property
    def severity(self) -> str:
        """The local name of the severity: "Violation", "Warning", "Info" or one of your own."""
        return local_name(self.row.shape.severity)

    @property
    def messages(self) -> tuple[Term, ...]:
        """The messages of the shape or the constraint; none if it has none."""
        return tuple(map(term_of, self.row.messages))

    @property
    def message(self) -> str:
        """The first message, or a description of what is wrong."""
        row = self.row
        if row.messages:
            return lexical(row.messages[0])
        return default_message(row.constraint, row.value, self.show)

    def show(self, key: Key) -> str:
        """A term with prefixes."""
        return self._namer.term(Constant(key))

    def shown(self) -> Mapping[str, str]:
        """What a table shows of it, by column."""
        row = self.row
        return {
            "severity": self.severity,
            "focus node": self.show(row.focus),
            "path": "" if row.path is None else path_text(row.path, self.show),
            "value": "" if row.value is None else self.show(row.value),
            "message": self.message,
            "shape": self.show(row.shape.node),
            "component": local_name(row.constraint.component).removesuffix("ConstraintComponent"),
        }

    def why(self) -> Cause:
        """The smallest set of asserted triples behind the result, through inference.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load('''@prefix : <http://ex.org/> .
        ...     @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        ...     :Pump rdfs:subClassOf :Device . :p7 a :Pump .''', "ttl")
        >>> _ = store.reason("rdfs")
        >>> report = store.validate('''@prefix : <http://ex.org/> .
        ...     @prefix sh: <http://www.w3.org/ns/shacl#> .
        ...     :S sh:targetClass :Device ; sh:property [ sh:path :tag ; sh:minCount 1 ] .''')
        >>> for triple in report.results[0].why().triples:
        ...     print(triple)
        <http://ex.org/Pump> <http://www.w3.org/2000/01/rdf-schema#subClassOf> ...
        <http://ex.org/p7> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://ex.org/Pump>
        """
        if self._cause is None:
            self._cause = self._explain(self)
        return self._cause

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ValidationResult) and self.row.identity == other.row.identity

    def __hash__(self) -> int:
        return hash(self.row.identity)

    def __str__(self) -> str:
        shown = self.shown()
        about = " ".join(filter(None, (shown["focus node"], shown["path"], shown["value"])))
        return f"{self.severity}: {about}: {self.message}"

    def __repr__(self) -> str:
        return f"<{self}>"
