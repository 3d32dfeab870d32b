"""RDF lists: their items, their triples, and what is wrong with malformed ones.

Start at `ListReader`. A list is a path from its head over one `rdf:rest` each to `rdf:nil`, with
one `rdf:first` each; `rdf:type rdf:List` is not required. The W3C rules look for such paths, so a
cell with two firsts or two rests makes several lists (as happens where sameAs has copied a triple):
all readings are given, so that a further triple never removes a reading.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from triplestore.data_classes import data_class
from triplestore.ontologies.model.expressions import Triple
from triplestore.ontologies.model.ontology import AxiomProblem
from triplestore.ontologies.model.schema_graph import SchemaGraph
from triplestore.ontologies.model.vocabulary import FIRST, NIL, REST
from triplestore.ontologies.thresholds import ONTOLOGIES
from triplestore.terms import Term
from triplestore.thread_limits import look


@data_class
class ListReading:
    """One way to read a list.

    items    what it has
    triples  rdf:first and rdf:rest of each cell, in order
    """

    items: tuple[Term, ...]
    triples: tuple[Triple, ...]


class ListReader:
    """Reads the lists of a graph and collects their problems, each once.

    What is not a list cell has no reading and is not a problem here.

    The cost is linear in the cells that are read. Cells from which no path leads to the end are
    looked at only once.

    >>> from pyoxigraph import BlankNode, Literal
    >>> a, head = Literal("a"), BlankNode("l")
    >>> reader = ListReader(SchemaGraph([(head, FIRST, a), (head, REST, NIL)]))
    >>> [reading.items for reading in reader.read(head)]
    [(<Literal value=a datatype=<NamedNode value=http://www.w3.org/2001/XMLSchema#string>>,)]
    >>> broken = ListReader(SchemaGraph([(head, FIRST, a)]))
    >>> broken.read(head), broken.problems[0].code
    ((), 'list-without-rest')
    """

    def __init__(self, graph: SchemaGraph) -> None:
        self._first: Mapping[Term, Sequence[Triple]] = graph.index(FIRST)
        self._rest: Mapping[Term, Sequence[Triple]] = graph.index(REST)
        self._heads: dict[Term, Term] = {}
        self._broken: set[Term] = set()
        self._known: dict[Term, tuple[ListReading, ...]] = {}
        self._reported: dict[tuple[str, Term], AxiomProblem] = {}

    @property
    def problems(self) -> tuple[AxiomProblem, ...]:
        """What was found wrong so far."""
        return tuple(self._reported.values())

    def read(self, head: Term) -> tuple[ListReading, ...]:
        """The readings of a list: one, or none if it is broken, or several if it is ambiguous."""
        if head == NIL:
            return (ListReading((), ()),)
        known = self._known.get(head)
        if known is None:
            plain = self._plain(head)
            known = self._known[head] = (plain,) if plain is not None else self._several(head)
        return known

    def _plain(self, head: Term) -> ListReading | None:
        """The reading of a list of cells with one first and one rest, if it is such a list."""
        items: list[Term] = []
        triples: list[Triple] = []
        seen: dict[Term, None] = {}
        cell = head
        while cell != NIL:
            look()
            first, rest = self._first.get(cell, ()), self._rest.get(cell, ())
            if len(first) != 1 or len(rest) != 1 or cell in seen or cell in self._broken:
                return None
            seen[cell] = None
            items.append(first[0][2])
            triples += (first[0], rest[0])
            cell = rest[0][2]
        self._own(head, seen)
        return ListReading(tuple(items), tuple(triples))

    def _own(self, head: Term, cells: Iterable[Term]) -> None:
        """Note the list of these cells; report if another list has one of them."""
        for cell in cells:
            owner = self._heads.setdefault(cell, head)
            if owner != head:
                message = f"the lists {owner} and {head} share the cell {cell}"
                remedy = "both were read; give each a list of its own"
                self._report("list-shared", cell, message, remedy)
                break

    def _several(self, head: Term) -> tuple[ListReading, ...]:
        """All paths through cells, some of which are broken or ambiguous."""
        self._examine(head)
        readings: list[ListReading] = []
        way: list[tuple[Triple, Triple]] = []
        on_way: set[Term] = set()
        stack = self._steps(0, head)
        for _ in range(ONTOLOGIES.list_steps):
            if not stack:
                break
            depth, first, rest = stack.pop()
            on_way.difference_update(pair[1][0] for pair in way[depth:])
            del way[depth:]
            if rest[0] in on_way:
                continue
            way.append((first, rest))
            on_way.add(rest[0])
            if rest[2] != NIL:
                stack += self._steps(depth + 1, rest[2])
            elif len(readings) < ONTOLOGIES.list_readings:
                items = tuple(pair[0][2] for pair in way)
                readings.append(ListReading(items, tuple(t for pair in way for t in pair)))
            else:
                break
        if stack:
            message = f"the list {head} can be read in too many ways"
            remedy = "not all were taken; give each cell one rdf:first and one rdf:rest"
            self._report("list-ambiguous", head, message, remedy)
        return tuple(readings)

    def _steps(self, depth: int, cell: Term) -> list[tuple[int, Triple, Triple]]:
        """The choices in a cell, the least last (so that it is taken first)."""
        if cell in self._broken:
            return []
        steps = [
            (depth, first, rest)
            for first in self._first.get(cell, ())
            for rest in self._rest.get(cell, ())
        ]
        return sorted(steps, key=lambda step: (str(step[1][2]), str(step[2][2])), reverse=True)

    def _examine(self, head: Term) -> None:
        """Report what is wrong with the cells that a head leads to; note those without an end."""
        cells: dict[Term, tuple[Triple, ...]] = {}
        broken_before = False
        stack: list[tuple[Term, tuple[Triple, ...]]] = [(head, ())]
        while stack:
            cell, led_here = stack.pop()
            broken_before = broken_before or cell in self._broken
            if cell != NIL and cell not in cells and cell not in self._broken:
                cells[cell] = led_here
                stack.extend((rest[2], (rest,)) for rest in self._rest.get(cell, ()))
        whole = [self._examine_cell(cell, led_here) for cell, led_here in cells.items()]
        ended = self._with_an_end(cells)
        endless = [cell for cell in cells if cell not in ended]
        if endless and all(whole) and not broken_before:
            message = f"the list {head} never ends: it comes back to a cell it has been at"
            triples = tuple(rest for cell in endless for rest in self._rest[cell])
            remedy = "close it with rdf:nil; it was not read"
            self._report("list-cycle", head, message, remedy, triples)
        self._broken.update(endless)

    def _examine_cell(self, cell: Term, led_here: tuple[Triple, ...]) -> bool:
        """Report what is wrong with a cell; whether it has an rdf:first and an rdf:rest."""
        first, rest = self._first.get(cell, ()), self._rest.get(cell, ())
        if not first:
            message = f"{cell} stands where a list is expected, and has no rdf:first"
            remedy = "give the cell a value with rdf:first; it was not read"
            if rest or led_here:
                self._report("list-without-first", cell, message, remedy, (*led_here, *rest))
        elif not rest:
            message = f"the list ends at {cell}, which has no rdf:rest"
            remedy = "close it with rdf:nil; it was not read"
            self._report("list-without-rest", cell, message, remedy)
        for name, several in (("first", first), ("rest", rest)):
            if len(several) > 1:
                message = f"the cell {cell} of a list has {len(several)} rdf:{name}"
                remedy = "every way to read it was taken; leave one"
                self._report(f"list-two-{name}s", cell, message, remedy, tuple(several))
        return bool(first and rest)

    def _with_an_end(self, cells: Iterable[Term]) -> set[Term]:
        """The cells from which a path leads to the end, found backwards from the end."""
        before: dict[Term, list[Term]] = {}
        for cell in cells:
            if self._first.get(cell):
                for rest in self._rest.get(cell, ()):
                    before.setdefault(rest[2], []).append(cell)
        ended: set[Term] = set()
        stack = list(before.get(NIL, ()))
        while stack:
            cell = stack.pop()
            if cell not in ended:
                ended.add(cell)
                stack.extend(before.get(cell, ()))
        return ended

    def _report(
        self, code: str, cell: Term, message: str, remedy: str, triples: tuple[Triple, ...] = ()
    ) -> None:
        key = (code, cell)
        if key not in self._reported:
            triples = triples or (*self._first.get(cell, ()), *self._rest.get(cell, ()))
            self._reported[key] = AxiomProblem(code, message, triples, remedy)
