"""Small documents, without kernels: loading numba would take longer than loading the data.

Start at `load_small`. The result equals that of the fast path, ids and labels included. Costs about
10 microseconds per statement.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import pyoxigraph as ox

from triplestore.terms.dictionary import Dictionary
from triplestore.terms.guards.document_limits import Chain
from triplestore.terms.term_keys import BLANK, TRIPLE, key_of

from .documents import OpenedSource
from .formats import LINE_FORMATS
from .judge import judged
from .oxi import QuadText
from .report import KEPT_PROBLEMS, BadStatement, FileReport, Loaded, ReadOptions
from .scope import Renamer
from .sources import DocumentSource
from .thresholds import LOADING

_LINES = re.compile(rb"\r\n|\n|\r")
_IGNORED = re.compile(rb"[ \t]*(?:#.*)?", re.DOTALL)
_WITH_LABELS = (BLANK, TRIPLE)
_DEFAULT = -1  # the last of the ids, which is 0


def small_inputs(
    sources: Sequence[DocumentSource], check: Callable[[], None]
) -> list[OpenedSource]:
    """The sources, opened; each has its `whole` text if all together are small enough.

    `check` is called while waiting for a pipe.
    """
    warm = "triplestore.kernels.documents.ntriples" in sys.modules
    left = LOADING.small_warm if warm else LOADING.small_cold
    inputs: list[OpenedSource] = []
    try:
        for source in sources:
            source.check = check
            inputs.append(OpenedSource(source, left))
            whole = inputs[-1].whole
            left = -1 if whole is None else left - len(whole)
    except BaseException:
        for given in inputs:
            given.close()
        raise
    return inputs


def load_small(
    inputs: Sequence[OpenedSource], dictionary: Dictionary, reading: ReadOptions, first_number: int
) -> Loaded:
    """The result of `load` for inputs whose `whole` text is known."""
    numbers: dict[bytes, int] = {}
    rows: list[int] = []
    loaded = _nothing()
    most = reading.limits.term + 1  # with the byte of its kind
    default = None if reading.to_graph is None else key_of(reading.to_graph)
    for position, given in enumerate(inputs):
        report = FileReport(given.source.name, first_number + position, size=given.position)
        loaded.files.append(report)
        renamer: Renamer | None = None  # most documents have no blank nodes
        for quad in _statements(given, reading, report, loaded):
            graph = quad.graph_name
            keys = [key_of(quad.subject), key_of(quad.predicate), key_of(quad.object)]
            if not isinstance(graph, ox.DefaultGraph):
                keys.append(key_of(graph))
            for key in keys:
                if len(key) > most:
                    reading.limits.check_term(len(key) - 1, key[1:61], report.name)
            s, o, g = keys[0][0], keys[2][0], keys[-1][0]  # their kinds; a predicate is an IRI
            if s in _WITH_LABELS or o in _WITH_LABELS or g in _WITH_LABELS:
                if renamer is None:
                    lines = given.source.format in LINE_FORMATS
                    renamer = Renamer(report.number, generated=not lines)
                keys = renamer.keys(keys)
            if len(keys) == 3 and default is not None:
                keys.append(default)
            rows.extend(numbers.setdefault(key, len(numbers)) for key in keys)
            if len(keys) == 3:
                rows.append(_DEFAULT)
            report.statements += 1
    _number(loaded, rows, list(numbers), dictionary)
    return loaded


def _nothing() -> Loaded:
    empty = np.zeros(0, np.uint32)
    return Loaded(empty, empty, empty, empty, False, None)


def _number(loaded: Loaded, rows: list[int], keys: list[bytes], dictionary: Dictionary) -> None:
    """Set the final ids: known terms keep theirs, new ones follow in the order of their keys."""
    ids = np.zeros(len(keys) + 1, np.uint32)  # the last one remains 0, for the default graph
    ids[:-1] = dictionary.lookup_keys(keys)
    new = sorted((keys[i], int(i)) for i in np.flatnonzero(ids[:-1] == 0))
    for offset, (key, i) in enumerate(new, dictionary.size + 1):
        loaded.new_keys.append(key)
        ids[i] = offset
    table = ids[np.array(rows, np.int64).reshape(-1, 4)]
    loaded.s, loaded.p, loaded.o, loaded.g = (np.ascontiguousarray(column) for column in table.T)
    loaded.has_named = bool(loaded.g.any())


def _statements(
    given: OpenedSource, reading: ReadOptions, report: FileReport, loaded: Loaded
) -> Iterable[ox.Quad]:
    if given.source.format in LINE_FORMATS:
        return _line_statements(given, reading, report, loaded)
    return _other_statements(given, reading, report, loaded)


def _other_statements(
    given: OpenedSource, reading: ReadOptions, report: FileReport, loaded: Loaded
) -> Iterator[ox.Quad]:
    text = QuadText(given.stream(), given.source, reading)
    yield from text.quads()
    for name, iri in text.prefixes.items():
        loaded.prefixes.setdefault(name, iri)
    report.bad = text.bad
    loaded.bad += text.bad
    loaded.problems += text.problems[: KEPT_PROBLEMS - len(loaded.problems)]


def _line_statements(
    given: OpenedSource, reading: ReadOptions, report: FileReport, loaded: Loaded
) -> Iterable[ox.Quad]:
    assert given.whole is not None
    quads = given.source.format == ox.RdfFormat.N_QUADS and not reading.refuse_named
    form = ox.RdfFormat.N_QUADS if quads else ox.RdfFormat.N_TRIPLES
    try:
        if Chain().too_deep(given.whole) is None:
            return list(ox.parse(given.whole, form))
    except SyntaxError:
        pass
    lines = _LINES.split(given.whole)
    places = [i for i, line in enumerate(lines) if not _IGNORED.fullmatch(line)]
    good, faults = judged([lines[i] for i in places], form, reading.lenient)
    report.bad = len(faults)
    loaded.bad += len(faults)
    for fault in faults[: KEPT_PROBLEMS - len(loaded.problems)]:
        line = places[fault.index] + 1
        problem = BadStatement(report.name, line, fault.column, fault.message, fault.text)
        if not reading.lenient:
            raise problem.error()
        loaded.problems.append(problem)
    return ox.parse(good, ox.RdfFormat.N_QUADS)
