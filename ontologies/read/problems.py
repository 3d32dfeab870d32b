"""Problems, collected while reading continues."""

from __future__ import annotations

from triplestore.ontologies.model.axiom_text import text
from triplestore.ontologies.model.expressions import Triple
from triplestore.ontologies.model.ontology import AxiomProblem


class Problems:
    """What was found wrong so far, each once, and the triples that came to use.

    >>> problems = Problems()
    >>> problems.report("odd", "this is odd", (), "make it even")
    >>> [str(problem) for problem in problems.found]
    ['this is odd; make it even']
    """

    def __init__(self) -> None:
        self._found: dict[AxiomProblem, None] = {}
        self.used: set[Triple] = set()

    @property
    def found(self) -> tuple[AxiomProblem, ...]:
        """The problems, as they came."""
        return tuple(self._found)

    def report(self, code: str, message: str, triples: tuple[Triple, ...], remedy: str) -> None:
        """Note a problem. Its triples count as used: they are accounted for."""
        self._found[AxiomProblem(code, message, triples, remedy)] = None
        self.used.update(triples)


def show(term: object) -> str:
    """A term for a message.

    >>> from pyoxigraph import NamedNode
    >>> show(NamedNode("http://www.w3.org/2002/07/owl#Thing"))
    'owl:Thing'
    """
    return text(term)
