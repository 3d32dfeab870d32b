"""The files and lines that assert quads: start at `Locator`.

Lines of N-Triples and N-Quads are exact. In Turtle and TriG the line is that of the object at the
outer level of its statement, so a quad inside of brackets has the line where these begin. Quads of
other formats have a file and no line.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyoxigraph as ox

from triplestore.comparison.sides.files_of_side import SideFile
from triplestore.comparison.turtle_statements import Statement, statements_of
from triplestore.data_classes import data_class
from triplestore.loaders.formats import split_name

_LINES = (ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS)
_STATEMENTS = (ox.RdfFormat.TURTLE, ox.RdfFormat.TRIG)
_OPENERS = {"gzip": gzip.decompress, "bzip2": bz2.decompress, "xz": lzma.decompress}


@data_class
class Location:
    """A file, and the line if the syntax tells.

    >>> print(Location("onto.ttl", 88))
    onto.ttl:88
    """

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


def locate(file: SideFile, quads: Iterable[ox.Quad], base: str) -> dict[ox.Quad, Location]:
    """The location of each quad that a file asserts; blank nodes are known by their place only."""
    wanted = list(quads)
    found = dict.fromkeys(wanted, Location(file.name))
    form, packed = split_name(file.name)
    if form not in (*_LINES, *_STATEMENTS) or (packed and packed not in _OPENERS):
        return found
    data = file.read()
    data = _OPENERS[packed](data) if packed else data
    search = _Search(wanted)
    text = data.decode("utf-8", "replace")
    places = _in_lines(text, form, search) if form in _LINES else _in_turtle(text, search, base)
    for quad, line in places:
        if found[quad].line is None:
            found[quad] = Location(file.name, line)
    return found


class _Search:
    """Quads that are looked for, by what is written of them.

    left  how many were not found
    """

    def __init__(self, wanted: Sequence[ox.Quad]) -> None:
        self._by_shape: dict[tuple[str, str, str, str], list[ox.Quad]] = {}
        self._subjects = {_shape(quad.subject) for quad in wanted}
        for quad in wanted:
            self._by_shape.setdefault(_shapes(quad), []).append(quad)

    @property
    def is_open(self) -> bool:
        """Whether quads are left to be found."""
        return bool(self._by_shape)

    def may_have(self, subject: str) -> bool:
        """Whether quads with this subject, or with a blank node, are looked for."""
        return subject in self._subjects or "_:" in self._subjects

    def found_in(self, quads: Iterable[ox.Quad]) -> Iterator[ox.Quad]:
        """Those of the quads that are among some that were read, each once."""
        for quad in quads:
            shape = _shapes(quad)
            known = self._by_shape.get(shape)
            if known:
                yield known.pop(0)
                if not known:
                    del self._by_shape[shape]


def _shape(term: object) -> str:
    return "_:" if isinstance(term, ox.BlankNode) else str(term)


def _shapes(quad: ox.Quad) -> tuple[str, str, str, str]:
    s, p, o, g = quad
    return _shape(s), _shape(p), _shape(o), _shape(g)


def _in_lines(text: str, form: ox.RdfFormat, search: _Search) -> Iterator[tuple[ox.Quad, int]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not search.is_open:
            return
        head = line.lstrip()
        if not head or head[0] == "#":
            continue
        subject = head.split(None, 1)[0] if head[0] != "<" else head[: head.find(">") + 1]
        if head[0] == "<" and "\\" not in subject and not search.may_have(subject):
            continue
        for quad in search.found_in(_parsed(line, form)):
            yield quad, number


def _in_turtle(text: str, search: _Search, base: str) -> Iterator[tuple[ox.Quad, int]]:
    headings: list[str] = []
    prefixes: dict[str, str] = {}
    for one in statements_of(text):
        if not search.is_open:
            return
        if one.heading:
            headings.append(_as_heading(one.text))
            words = one.text.split()
            if len(words) > 2 and "prefix" in words[0].lower():
                prefixes[words[1].rstrip(":")] = words[2].strip("<>")
            continue
        if one.parts and not _may_have(one, search, prefixes):
            continue
        for part in one.parts:
            written = f"{part.subject} {part.predicate} {part.object} ."
            if one.graph:
                written = f"{one.graph} {{ {written} }}"
            quads = _parsed("\n".join([*headings, written]), ox.RdfFormat.TRIG, base)
            for quad in search.found_in(quads):
                yield quad, part.line


def _may_have(one: Statement, search: _Search, prefixes: Mapping[str, str]) -> bool:
    subject = one.parts[0].subject
    prefix, colon, local = subject.partition(":")
    if colon and not subject.startswith(("<", "[", "(", "_:")) and "\\" not in subject:
        namespace = prefixes.get(prefix)
        if namespace is not None and ":" in namespace and "\\" not in namespace:
            return search.may_have(f"<{namespace}{local}>")
    return True


def _as_heading(text: str) -> str:
    return f"{text} ." if text.startswith("@") else text


def _parsed(text: str, form: ox.RdfFormat, base: str | None = None) -> list[ox.Quad]:
    try:
        return list(ox.parse(text.encode(), format=form, base_iri=base))
    except (SyntaxError, ValueError):
        return []
