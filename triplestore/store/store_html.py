"""A store or a snapshot as HTML for notebooks: start at `reading_html`."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from triplestore.notebook.parts import cell, escape, folded, line, output, span, table
from triplestore.notebook.terms import names_list, quads_table

if TYPE_CHECKING:
    from triplestore.store.readable import ReadableStore
    from triplestore.store.state_view import StateView

MAX_QUADS = 10
"""Maximum number of quads that are shown."""

MAX_GRAPHS = 10
"""Maximum number of named graphs that are listed."""


def reading_html(reading: ReadableStore, view: StateView, title: str) -> str:
    """Figures, prefixes and the first quads; the latter two are folded at first."""
    total, explicit = reading.count(), reading.count("explicit")
    inferred = ""
    if view.regimes or total != explicit:
        inferred = f" ({explicit:,} explicit, {total - explicit:,} inferred)"
    rows = [("quads", escape(f"{total:,}{inferred}"))]
    if view.regimes:
        rows.append(("regimes", escape(", ".join(view.regimes))))
    graphs = view.tables.graphs()
    if len(graphs):
        named = islice(reading.named_graphs(), MAX_GRAPHS)
        listed = names_list(named, len(graphs), view.prefixes, MAX_GRAPHS)
        rows.append(("named graphs", escape(f"{len(graphs):,}: ") + listed))
    made = [(f"<th>{escape(name)}</th>", cell(html)) for name, html in rows]
    parts = [line(title, "title"), table([], made)]
    if view.prefixes:
        parts.append(folded(f"prefixes ({len(view.prefixes):,})", _prefixes(view)))
    if total:
        quads = reading.quads_for_pattern(None, None, None)
        first = quads_table(quads, total, view.prefixes, most=MAX_QUADS)
        parts.append(folded("the first quads", first))
    return output(*parts)


def _prefixes(view: StateView) -> str:
    pairs = sorted(view.prefixes.items())
    return table([], ([cell(span(f"{name}:")), cell(span(iri))] for name, iri in pairs))
