"""Some shapes whose results are kept up to date: start at `WatchedShapes.changed`.

A commit concerns the focus nodes to which the changed facts lead back (`reads.py`). These are
validated again, and their results replaced. Always true: between commits the results are those of
a validation of the committed state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from triplestore.data_classes import data_class
from triplestore.live.fact_changes import ANY as ANY_FACT
from triplestore.live.fact_changes import FactChanges
from triplestore.operators.context import Context, running
from triplestore.relations import ChangedRows
from triplestore.relations.packed_keys import U32, in_sorted
from triplestore.shacl.data_choice import DataChoice, ValidatedState
from triplestore.shacl.evaluate.data_graph import DataGraph, Kept, unique
from triplestore.shacl.evaluate.shapes_beside_data import with_shapes_graph
from triplestore.shacl.evaluate.validation import Validation
from triplestore.shacl.model import Shape, ShapeSet
from triplestore.shacl.reports.rows import ResultRow, rows_of
from triplestore.shacl.thresholds import SHACL
from triplestore.shacl.vocabulary import SUB_CLASS_OF, Key
from triplestore.shacl.watching.kept_shape_results import KeptShapeResults
from triplestore.shacl.watching.reads import ANY, ShapeRead
from triplestore.shacl.watching.shape_reads import reads_of_shape
from triplestore.terms.dictionary import FIRST_QUERY_ID


@data_class(frozen=False, eq=False)
class ShapeChanges:
    """What a commit does to the results of watched shapes.

    added, removed  results that come and go
    updates         the new results of focus nodes, by shape: (key, id, results)
    anew            shapes that were validated as a whole
    classes         the sub-classes of the classes that shapes name, after the commit
    """

    added: list[ResultRow]
    removed: list[ResultRow]
    updates: dict[Key, list[tuple[Key, int, list[ResultRow]]]]
    anew: dict[Key, KeptShapeResults]
    classes: dict[Key, U32]


class WatchedShapes:
    """The shapes of one call of `watch_shapes`, and their results.

    name    tells it from others
    choice  the data that are validated
    refuse  the rank of the least severity of new results for which a commit is refused, or None
    """

    def __init__(self, name: str, shapes: ShapeSet, choice: DataChoice, refuse: int | None) -> None:
        self.name = name
        self.shapes = shapes
        self.choice = choice
        self.refuse = refuse
        self._kept: dict[Key, KeptShapeResults] = {}
        self._reads = {
            root: reads_of_shape(shapes, shapes.shapes[root])
            for root in shapes.roots
            if not shapes.shapes[root].deactivated
        }
        self._readers: dict[Key, list[tuple[Key, ShapeRead]]] = {}
        for root, reads in self._reads.items():
            for read in reads:
                self._readers.setdefault(read.predicate, []).append((root, read))
        self._of_classes = {r.of for reads in self._reads.values() for r in reads if r.of}
        self._named = any(read.named for reads in self._reads.values() for read in reads)
        self._classes: dict[Key, U32] = {}
        self._lacks_classes = False
        self._beside = Kept()
        self._is_tentative = False  # whether plans may have ids that a transaction takes back

    def rows(self) -> Iterator[ResultRow]:
        """All results."""
        for root in self.shapes.roots:
            if root in self._kept:
                yield from self._kept[root]

    def validation(self, state: ValidatedState) -> Validation:
        """The shapes over a state."""
        asked = with_shapes_graph(self.choice.asked(state), self.shapes)
        kept = Kept() if self.shapes.graph is not None else self._beside
        return Validation(DataGraph(asked, Context(), kept), self.shapes)

    def begin(self, state: ValidatedState) -> None:
        """Validate a state, from which commits are followed."""
        run = self.validation(state)
        with running(run.data.context):
            self._kept = {root: self._anew(run, root) for root in self._reads}
            self._take_classes({of: run.data.sub_classes(of) for of in self._of_classes})

    def _take_classes(self, classes: dict[Key, U32]) -> None:
        self._classes = classes
        # A class that the data lack has another id when it comes.
        self._lacks_classes = any(ids[-1] >= FIRST_QUERY_ID for ids in classes.values())

    def _anew(self, run: Validation, root: Key) -> KeptShapeResults:
        shape = self.shapes.shapes[root]
        focus = run.focus_nodes(shape)
        return KeptShapeResults(focus, run.results(shape, focus), run.data.terms)

    # -- a commit ---------------------------------------------------------------------------------

    def changed(self, state: ValidatedState, changes: FactChanges) -> ShapeChanges | None:
        """What a commit does to the results; None if it reads none of the changed facts."""
        facts = _Facts(changes, self.choice, state, self._named)
        if not facts:
            return None
        if self._is_tentative:
            self._beside.queries.clear()
        self._is_tentative = True
        run = self.validation(state)
        with running(run.data.context):
            return self._changed(run, facts)

    def _changed(self, run: Validation, facts: _Facts) -> ShapeChanges | None:
        made = ShapeChanges([], [], {}, {}, self._classes)
        if self._lacks_classes or facts.of(run.data.id(SUB_CLASS_OF)) is not None:
            made.classes = {of: run.data.sub_classes(of) for of in self._of_classes}
        run.data.take_classes(made.classes)
        concerned = self._concerned(run, facts, made.classes)
        if not concerned:
            return None if made.classes is self._classes else made
        for root, nodes in concerned.items():
            shape = self.shapes.shapes[root]
            if nodes is None or len(nodes) > SHACL.followed_nodes:
                self._compare_all(run, shape, made)
            else:
                self._compare(run, shape, nodes, made)
        return made

    def _concerned(
        self, run: Validation, facts: _Facts, classes: dict[Key, U32]
    ) -> dict[Key, U32 | None]:
        """The nodes that may have other results, by shape; None for all of them."""
        found: dict[Key, list[U32]] = {}
        whole: set[Key] = set()
        for predicate, name in facts.predicates(run.data):
            readers, rows = self._readers.get(predicate, ()), facts.of(name)
            known: dict[tuple[bool, Key | None], U32] = {}
            for root, read in readers if rows is not None else ():
                ends = known.get((read.at_object, read.of))
                if ends is None:
                    ends = _ends(read, rows, self._classes, classes)
                    known[read.at_object, read.of] = ends
                if len(ends) == 0 or root in whole:
                    continue
                if read.whole:
                    whole.add(root)
                else:
                    found.setdefault(root, []).append(_back(run.data, read, ends))
        if classes is not self._classes:
            self._of_moved_classes(run, classes, found, whole)
        made: dict[Key, U32 | None] = {
            root: unique(parts[0] if len(parts) == 1 else np.concatenate(parts))
            for root, parts in found.items()
        }
        return {r: n for r, n in made.items() if n is None or len(n)} | dict.fromkeys(whole)

    def _of_moved_classes(
        self,
        run: Validation,
        classes: dict[Key, U32],
        found: dict[Key, list[U32]],
        whole: set[Key],
    ) -> None:
        """Add what depends on classes that have other sub-classes now."""
        for root, reads in self._reads.items():
            for read in reads:
                if read.of is None:
                    continue
                moved = np.setxor1d(self._classes[read.of], classes[read.of])
                if len(moved) == 0:
                    continue
                if read.whole:
                    whole.add(root)
                    continue
                ends = run.data.members(moved)
                found.setdefault(root, []).append(_back(run.data, read, ends))

    def _compare(self, run: Validation, shape: Shape, nodes: U32, made: ShapeChanges) -> None:
        """Validate some nodes again."""
        targets = nodes[run.are_focus_nodes(shape, nodes)]
        keys = run.data.terms.keys(nodes)
        now: dict[int, list[ResultRow]] = {}
        for each in run.results(shape, targets):
            rows = rows_of(each, run.data.terms)
            for node, row in zip(targets[each.index].tolist(), rows, strict=True):
                now.setdefault(node, []).append(row)
        kept, updates = self._kept[shape.node], []
        for key, node in zip(keys, nodes.tolist(), strict=True):
            assert key is not None
            old, new = kept.of(key, node), now.get(node, [])
            if old or new:
                updates.append((key, node, new))
                _difference(old, new, made)
        made.updates[shape.node] = updates

    def _compare_all(self, run: Validation, shape: Shape, made: ShapeChanges) -> None:
        anew = made.anew[shape.node] = self._anew(run, shape.node)
        _difference(list(self._kept[shape.node]), list(anew), made)

    def compared(self, state: ValidatedState) -> ShapeChanges:
        """What a commit does to the results, whatever it changed."""
        run = self.validation(state)
        with running(run.data.context):
            classes = {of: run.data.sub_classes(of) for of in self._of_classes}
            made = ShapeChanges([], [], {}, {}, classes)
            for root in self._reads:
                self._compare_all(run, self.shapes.shapes[root], made)
        return made

    def settle(self) -> None:
        """The transaction was committed, so its ids last."""
        self._is_tentative = False

    def apply(self, changes: ShapeChanges) -> None:
        """The commit was published."""
        if changes.classes is not self._classes:
            self._take_classes(changes.classes)
        self._kept.update(changes.anew)
        for root, updates in changes.updates.items():
            for key, node, rows in updates:
                self._kept[root].replace(key, node, rows)


def _difference(old: list[ResultRow], new: list[ResultRow], made: ShapeChanges) -> None:
    """Add what comes and goes between two lists of results."""
    before = Counter(row.identity for row in old)
    for row in new:
        if before[row.identity] > 0:
            before[row.identity] -= 1
        else:
            made.added.append(row)
    if before.total():
        for row in old:
            if before[row.identity] > 0:
                before[row.identity] -= 1
                made.removed.append(row)


def _ends(
    read: ShapeRead, rows: ChangedRows | None, old: dict[Key, U32], new: dict[Key, U32]
) -> U32:
    """The ends of the changed facts that a read is about."""
    assert rows is not None
    ends = rows.columns[2 if read.at_object else 1]
    if read.of is not None:
        objects = rows.columns[2]
        mask = in_sorted(objects, old[read.of])
        if new is not old:
            mask |= in_sorted(objects, new[read.of])
        ends = ends[mask]
    return unique(ends)


def _back(data: DataGraph, read: ShapeRead, ends: U32) -> U32:
    return ends if read.path is None else data.reaching(read.path, ends)


class _Facts:
    """The changed facts of the graphs that are validated, by predicate."""

    def __init__(
        self, changes: FactChanges, choice: DataChoice, state: ValidatedState, named: bool
    ) -> None:
        self._changes = changes
        asked = choice.asked(state)
        self._where = np.uint8(asked.where)
        self._store = 0 in asked.default
        graphs = [graph for graph in asked.default if graph]
        self._graphs = None if named else np.array(sorted(graphs), np.uint32)
        self._known: dict[int, ChangedRows | None] = {}

    def __bool__(self) -> bool:
        return self.of(ANY_FACT) is not None

    def predicates(self, data: DataGraph) -> list[tuple[Key, int]]:
        """The predicates of changed facts, and ANY, with their ids."""
        named = self._graphs is None or len(self._graphs) > 0
        found = {
            p
            for each in (False, True)
            if each is False or named
            for p in self._changes.predicates(each)
        }
        ids = np.array(sorted(found), np.uint32)
        keys = zip(data.terms.keys(ids), ids.tolist(), strict=True)
        return [(ANY, ANY_FACT), *((key, name) for key, name in keys if key is not None)]

    def of(self, predicate: int) -> ChangedRows | None:
        """The changed facts of a predicate, or of any; None if there are none."""
        if predicate not in self._known:
            self._known[predicate] = self._of(predicate)
        return self._known[predicate]

    def _of(self, predicate: int) -> ChangedRows | None:
        parts: list[tuple[U32, ...]] = []
        if self._store:
            rows = self._changes.of(predicate, False)
            if rows is not None:
                parts.append(self._visible(rows).columns[:3])
        rows = self._changes.of(predicate, True)
        if rows is not None and (self._graphs is None or len(self._graphs)):
            shown = self._visible(rows)
            graphs = shown.columns[3]
            mask = slice(None) if self._graphs is None else in_sorted(graphs, self._graphs)
            parts.append(tuple(column[mask] for column in shown.columns[:3]))
        parts = [part for part in parts if len(part[0])]
        if not parts:
            return None
        columns = tuple(np.concatenate(column) for column in zip(*parts, strict=True))
        return ChangedRows.of(columns)

    def _visible(self, rows: ChangedRows) -> ChangedRows:
        now, was = (rows.status & self._where) != 0, (rows.previous & self._where) != 0
        moved = now != was
        return rows if moved.all() else rows.take(moved)
