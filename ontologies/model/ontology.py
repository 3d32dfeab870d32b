"""What a reader finds in triples: axioms, expressions, declarations, and problems.

Start at `Ontology`. Everything is frozen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field

from pyoxigraph import NamedNode

from triplestore.data_classes import data_class
from triplestore.ontologies.model.axioms import Axiom
from triplestore.ontologies.model.expressions import Description, InverseOf, Node, Triple
from triplestore.ontologies.model.swrl import SwrlRule


@data_class
class AxiomProblem:
    """A malformed part of an axiom.

    code     a short name of the kind of problem, such as `list-cycle`
    message  what is wrong, in a sentence
    triples  where it is
    remedy   what to do about it, or how it was read
    """

    code: str
    message: str
    triples: tuple[Triple, ...] = ()
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.message}; {self.remedy}" if self.remedy else self.message


@data_class
class Header:
    """Name, version and imports of an ontology."""

    iri: Node
    version: Node | None = None
    imports: tuple[NamedNode, ...] = ()


@data_class
class Ontology:
    """All that was found.

    axioms       in the order of their kinds
    expressions  every description of a class or data range and every inverse of a property, each
                 with its node, whether or not an axiom uses it (data may be of such a type)
    rules        those of SWRL
    declared     kind (`CLASS`, `DATATYPE`, `PROPERTY`, `OBJECT_PROPERTY`, ... of `vocabulary`)
                 -> what is declared to be of it, by whatever spelling
    headers      one for each ontology among the triples; the first is imported by no other
    problems     what was not understood, and why
    unused       triples of the vocabulary that came into no axiom and no problem
    """

    axioms: tuple[Axiom, ...] = ()
    expressions: tuple[Description | InverseOf, ...] = ()
    rules: tuple[SwrlRule, ...] = ()
    declared: Mapping[NamedNode, frozenset[Node]] = field(default_factory=dict)
    headers: tuple[Header, ...] = ()
    problems: tuple[AxiomProblem, ...] = ()
    unused: tuple[Triple, ...] = ()

    @property
    def iri(self) -> Node | None:
        """The name of the ontology (the first, if there are several)."""
        return self.headers[0].iri if self.headers else None

    @property
    def version(self) -> Node | None:
        """Its version IRI."""
        return self.headers[0].version if self.headers else None

    @property
    def imports(self) -> tuple[NamedNode, ...]:
        """The imports of all its headers, each once."""
        return tuple(dict.fromkeys(iri for header in self.headers for iri in header.imports))

    def counts(self) -> Counter[str]:
        """The number of axioms of each kind."""
        return Counter(type(axiom).__name__ for axiom in self.axioms)
