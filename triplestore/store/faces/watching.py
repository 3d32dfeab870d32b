"""Shapes of SHACL whose results are kept up to date: start at `WatchingShapes.watch_shapes`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from triplestore.errors import UsageError
from triplestore.storage.metadata import SHAPES
from triplestore.store.arguments import GraphLike, PathLike
from triplestore.store.querying import Querying

if TYPE_CHECKING:
    from pyoxigraph import RdfFormat

    from triplestore.reasoning.outcome import Change
    from triplestore.shacl.reports.report import ValidationReport
    from triplestore.shacl.reports.result import ValidationResult
    from triplestore.shacl.watching.watcher import Watcher
    from triplestore.storage import Database
    from triplestore.store.faces.validating import ShapesLike
    from triplestore.store.writes.writer import TransactionWriter


class ShapesWatch:
    """Watched shapes: their results as of the last commit; made by `Store.watch_shapes`."""

    def __init__(self, store: WatchingShapes, name: str) -> None:
        self._store = store
        self.name = name

    @property
    def report(self) -> ValidationReport:
        """The results as of the last commit, as `Store.validate` reports them."""
        # Late: few stores watch shapes.
        from triplestore.store.faces.shapes_sources import watched_report

        store = self._store
        report = watched_report(store._watcher(), store._database.state, self.name)
        if report is None:
            raise UsageError(f"the store does not watch shapes named {self.name!r} any more")
        return report

    @property
    def results(self) -> list[ValidationResult]:
        """The results as of the last commit."""
        return self.report.results

    @property
    def conforms(self) -> bool:
        """Whether there are no results."""
        return self.report.conforms

    def stop(self) -> Change:
        """Watch these shapes no more."""
        return self._store.unwatch_shapes(self.name)

    def __repr__(self) -> str:
        return f"<watched shapes {self.name!r}>"


class WatchingShapes(Querying, ABC):
    """A store that watches shapes."""

    _database: Database
    _shapes_watcher: Watcher | None = None

    @abstractmethod
    def _change(self, write: Callable[[TransactionWriter], object]) -> Change:
        """One transaction, in which `write` is called."""

    def watch_shapes(
        self,
        shapes: ShapesLike | None = None,
        *,
        strict: str | None = None,
        name: str = "shapes",
        facts: str = "all",
        imports: Mapping[str, ShapesLike] | Iterable[PathLike] = (),
        shapes_format: RdfFormat | str | None = None,
        shapes_iri: str | None = None,
        use_default_graph_as_union: bool = False,
        default_graph: GraphLike | Iterable[GraphLike] | None = None,
        named_graphs: Iterable[GraphLike] | None = None,
    ) -> ShapesWatch:
        """Keep the results of shapes exact with every commit, also after the store is opened again.

        A commit validates the focus nodes that its facts concern, asserted and inferred, and its
        `Change` counts the results that come and go; `Transaction.diff` lists them. With `strict`
        a commit that adds results of that severity ("Violation", "Warning" or "Info") or a graver
        one is refused with a `ShapesViolationError`; what is wrong already may stay. Shapes of the
        same `name` are replaced. The shapes are kept as they are now; the other keywords are those
        of `validate`.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.bind("", "http://example.org/")
        >>> watch = store.watch_shapes('''@prefix : <http://example.org/> .
        ...     @prefix sh: <http://www.w3.org/ns/shacl#> .
        ...     :S sh:targetClass :Pump ; sh:property [ sh:path :tag ; sh:minCount 1 ] .''')
        >>> print(store.update("INSERT DATA { :p7 a :Pump }"))
        added 1, results added 1
        >>> print(watch.results[0])
        Violation: :p7 :tag: has fewer than 1 value
        >>> print(store.update("INSERT DATA { :p7 :tag 'P-7' }"))
        added 1, results removed 1
        >>> watch.conforms
        True
        """
        # Late: few stores watch shapes.
        from triplestore.store.faces.shapes_sources import QueryChoice, watched_bytes

        choice = QueryChoice(facts, use_default_graph_as_union, default_graph, named_graphs)
        given = imports, shapes_format, shapes_iri
        view = self._view()

        def watch(writer: TransactionWriter) -> None:
            kept = writer.kept.get(SHAPES)
            writer.keep({SHAPES: watched_bytes(view, kept, name, shapes, choice, given, strict)})

        self._change(watch)
        return ShapesWatch(self, name)

    def unwatch_shapes(self, name: str = "shapes") -> Change:
        """Watch these shapes no more; an error if there are none of this name."""
        # Late: few stores watch shapes.
        from triplestore.shacl.watching.stored_watches import bytes_of, watches_of

        def unwatch(writer: TransactionWriter) -> None:
            watches = watches_of(writer.kept.get(SHAPES))
            left = [each for each in watches if each.name != name]
            if len(left) == len(watches):
                raise UsageError(f"the store does not watch shapes named {name!r}")
            writer.keep({SHAPES: bytes_of(left)})

        return self._change(unwatch)

    @property
    def watched_shapes(self) -> dict[str, ShapesWatch]:
        """The watched shapes by name.

        >>> from triplestore import Store
        >>> Store().watched_shapes
        {}
        """
        kept = self._database.state.meta.get(SHAPES)
        if kept is None:
            return {}
        # Late: few stores watch shapes.
        from triplestore.shacl.watching.stored_watches import watches_of

        return {each.name: ShapesWatch(self, each.name) for each in watches_of(kept)}

    def _watcher(self) -> Watcher:
        if self._shapes_watcher is None:
            # Late: few stores watch shapes.
            from triplestore.shacl.watching.watcher import Watcher

            self._shapes_watcher = Watcher()
        return self._shapes_watcher
