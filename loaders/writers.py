"""Columns of ids out, as documents: N-Triples and N-Quads by kernel, the rest by pyoxigraph.

Start at `dump`. Always true: the output is streamed (memory does not grow with it); a file is
complete or not written; a blank node keeps its label unless the label has the form that loading
gives (see scope.py). Such a label becomes `b<id>`, so labels do not grow with each dump and load.
"""

from __future__ import annotations

import io
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

import numpy as np
import pyoxigraph as ox
from numpy.typing import NDArray

from triplestore.errors import StorageError, UsageError
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.spans import worth_kernels
from triplestore.terms.term_keys import BLANK, TRIPLE, term_of, to_ntriples

from .compression import writer
from .formats import LINE_FORMATS, format_of, known_names, split_name
from .scope import IN_TRIPLE, is_scoped

U32 = NDArray[np.uint32]
IdColumns = Sequence[U32]  # s, p, o, g

_BATCH_ROWS = 1 << 15
_SORTED_ROWS = 1 << 20  # number of rows that are sorted by subject at a time
_OUT_BYTES = 1 << 23
_NUMBERED = re.compile(rb"x*b[0-9]+")


def dump(
    blocks: Iterable[IdColumns],
    dictionary: Dictionary,
    output: IO[bytes] | str | os.PathLike[str] | None = None,
    format: ox.RdfFormat | str | None = None,
    *,
    one_graph: bool = False,
    prefixes: Mapping[str, str] | None = None,
    base_iri: str | None = None,
) -> bytes | None:
    """Write rows (columns s, p, o, g of ids) to a path or a stream, or return them as bytes.

    The name of the path gives compression and, unless `format` is given, the format. With
    `one_graph` the rows are written without their graph; otherwise rows of named graphs need a
    format with graphs.

    >>> from triplestore.terms.dictionary import Dictionary
    >>> ids = Dictionary()
    >>> s, p, o = ids.encode_keys([b"\\x01http://a", b"\\x01http://p", b"\\x03x"])[:, None]
    >>> dump([(s, p, o, np.zeros(1, np.uint32))], ids, format="nt")
    b'<http://a> <http://p> "x" .\\n'
    """
    form, compression = output_format(output, format)
    rows = _without_graphs(blocks) if one_graph else _checked(blocks, form)

    def write(stream: BinaryIO) -> None:
        if form in LINE_FORMATS:
            for text in _lines(rows, dictionary):
                stream.write(text)
        else:
            _serialize(_sorted(rows), dictionary, stream, form, prefixes, base_iri)

    return write_document(output, compression, write)


def write_document(
    output: IO[bytes] | str | os.PathLike[str] | None,
    compression: str | None,
    write: Callable[[BinaryIO], None],
) -> bytes | None:
    """Call `write` with a stream: to a path (all or nothing), the caller's, or one to bytes."""
    if output is None:
        buffer = io.BytesIO()
        write(buffer)
        return buffer.getvalue()
    if isinstance(output, str | os.PathLike):
        with _new_file(Path(output)) as file, writer(file, compression) as stream:
            write(stream)
    else:
        write(cast(BinaryIO, output))
        output.flush()
    return None


def output_format(output: Any, given: ox.RdfFormat | str | None) -> tuple[ox.RdfFormat, str | None]:
    """The format and the compression of an output, from `given` or from its name."""
    form = None if given is None else format_of(given)
    compression = None
    if isinstance(output, str | os.PathLike):
        own, compression = split_name(os.fspath(output))
        form = form or own
    if form is None:
        raise UsageError(f"the output needs a format; give one of: {', '.join(known_names())}")
    return form, compression


@contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    """A file that gets its name when complete; pipes and devices are written directly."""
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                yield stream
            return
        made, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
    temporary = Path(name)
    try:
        with os.fdopen(made, "wb") as stream:
            yield stream
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


# --- rows ---------------------------------------------------------------------------------------


def _without_graphs(blocks: Iterable[IdColumns]) -> Iterator[IdColumns]:
    for s, p, o, _ in blocks:
        yield s, p, o, np.zeros(len(s), np.uint32)


def _checked(blocks: Iterable[IdColumns], form: ox.RdfFormat) -> Iterator[IdColumns]:
    for rows in blocks:
        if not form.supports_datasets and np.any(rows[3]):
            raise UsageError(
                f"{form.name} has no named graphs: name a graph to write (from_graph), or write "
                "N-Quads, TriG or JSON-LD"
            )
        yield rows


def _batches(blocks: Iterable[IdColumns], size: int) -> Iterator[tuple[U32, U32, U32, U32]]:
    """The rows in batches of about `size`; a block may be as small as a relation."""
    waiting: list[IdColumns] = []
    count = 0
    for rows in blocks:
        for lo in range(0, len(rows[0]), size):
            waiting.append([column[lo : lo + size] for column in rows])
            count += len(waiting[-1][0])
            if count >= size:
                yield _joined(waiting)
                waiting, count = [], 0
    if count:
        yield _joined(waiting)


def _joined(parts: list[IdColumns]) -> tuple[U32, U32, U32, U32]:
    s, p, o, g = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return s, p, o, g


def _sorted(blocks: Iterable[IdColumns]) -> Iterator[IdColumns]:
    """The rows sorted by graph, subject and predicate, a million at a time, for abbreviations."""
    for s, p, o, g in _batches(blocks, _SORTED_ROWS):
        order = np.lexsort((o, p, s, g))
        yield s[order], p[order], o[order], g[order]


# --- N-Triples and N-Quads ----------------------------------------------------------------------


def _lines(blocks: Iterable[IdColumns], dictionary: Dictionary) -> Iterator[Any]:
    out: NDArray[np.uint8] | None = None
    for s, p, o, g in _batches(blocks, _BATCH_ROWS):
        columns = (s, p, o, g) if g.any() else (s, p, o)
        if not worth_kernels(len(columns) * len(s)):
            yield _few_lines(columns, dictionary)
            continue
        if out is None:
            out = np.empty(_OUT_BYTES, np.uint8)
        yield from _many_lines(np.concatenate(columns), len(s), dictionary, out)


def _few_lines(columns: Sequence[U32], dictionary: Dictionary) -> bytes:
    """The lines of a small batch, without the kernel."""
    known: dict[int, bytes] = {0: b""}

    def text(number: int) -> bytes:
        found = known.get(number)
        if found is None:
            key = relabelled(dictionary.key(number), number, dictionary)
            found = known[number] = to_ntriples(key) + b" "
        return found

    rows = zip(*(column.tolist() for column in columns), strict=True)
    return b"".join(b"".join(map(text, row)) + b".\n" for row in rows)


def _many_lines(
    ids: U32, rows: int, dictionary: Dictionary, out: NDArray[np.uint8]
) -> Iterator[Any]:
    from triplestore.kernels.documents.ntriples_write import write_lines

    buf, offsets, kinds = dictionary.text(ids)
    starts, stops = offsets[:-1].copy(), offsets[1:].copy()
    buf = _with_triples(buf, starts, stops, ids, kinds, dictionary)
    used = np.zeros(1, np.int64)
    done = 0
    while done < rows:
        before = done
        done = write_lines(buf, starts, stops, kinds, ids, rows, done, out, used)
        if done == before:  # one row that is longer than the buffer
            out = np.empty(2 * len(out), np.uint8)
        else:
            yield out[: used[0]].data


def _with_triples(
    buf: NDArray[np.uint8],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    ids: U32,
    kinds: NDArray[np.uint8],
    dictionary: Dictionary,
) -> NDArray[np.uint8]:
    """The buffer, followed by the triple terms whose blank nodes get other labels."""
    changed = []
    end = len(buf)
    for i in np.flatnonzero(kinds == TRIPLE).tolist():
        text = buf[starts[i] : stops[i]].tobytes()
        if b"_:" in text:
            changed.append(relabelled(b"\x06" + text, int(ids[i]), dictionary)[1:])
            starts[i], stops[i] = end, end + len(changed[-1])
            end = int(stops[i])
    if not changed:
        return buf
    return np.concatenate([buf, np.frombuffer(b"".join(changed), np.uint8)])


# --- labels -------------------------------------------------------------------------------------


def relabelled(key: bytes, number: int, dictionary: Dictionary) -> bytes:
    """The key of a term, with its blank nodes labelled as they are written."""
    if key[0] == BLANK:
        return key[:1] + _label(key[1:], number)
    if key[0] == TRIPLE and b"_:" in key:

        def replaced(match: re.Match[bytes]) -> bytes:
            label = match.group(1)
            if label is None:
                return match.group()
            return b"_:" + _label(label, int(dictionary.lookup_keys([b"\x02" + label])[0]))

        return IN_TRIPLE.sub(replaced, key)
    return key


def _label(label: bytes, number: int) -> bytes:
    numbered = _NUMBERED.fullmatch(label)
    if number and (numbered or is_scoped(label)):
        return b"b%d" % number
    return b"x" + label if numbered else label


# --- other formats ------------------------------------------------------------------------------


def _serialize(
    blocks: Iterable[IdColumns],
    dictionary: Dictionary,
    stream: BinaryIO,
    form: ox.RdfFormat,
    prefixes: Mapping[str, str] | None,
    base_iri: str | None,
) -> None:
    try:
        ox.serialize(
            cast(Any, _quads(blocks, dictionary, form.supports_datasets)),
            cast(Any, stream),
            form,
            prefixes=dict(prefixes) if prefixes else None,
            base_iri=base_iri,
        )
    except (ValueError, TypeError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"cannot be written as {form.name}: {error}") from error


def _quads(
    blocks: Iterable[IdColumns], dictionary: Dictionary, graphs: bool
) -> Iterator[ox.Quad | ox.Triple]:
    default = ox.DefaultGraph()
    for rows in _batches(blocks, _BATCH_ROWS):
        s, p, o, g = (_terms(column, dictionary) for column in rows)
        if graphs:
            yield from map(ox.Quad, s, p, o, (default if term is None else term for term in g))
        else:
            yield from map(ox.Triple, s, p, o)


def _terms(ids: U32, dictionary: Dictionary) -> list[Any]:
    """The terms of a column, with blank nodes labelled as they are written."""
    distinct, places = np.unique(ids, return_inverse=True)
    terms = dictionary.terms(distinct) if distinct[0] else [None, *dictionary.terms(distinct[1:])]
    kinds = dictionary.kinds(distinct)
    for i in np.flatnonzero((kinds == BLANK) | (kinds == TRIPLE)).tolist():
        number = int(distinct[i])
        terms[i] = term_of(relabelled(dictionary.key(number), number, dictionary))
    return [terms[i] for i in places.tolist()]
